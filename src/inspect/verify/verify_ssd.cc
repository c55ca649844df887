#include "src/inspect/verify/verify_ssd.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "src/ssd/ssd_store.h"
#include "src/ssd/sst_reader.h"
#include "src/util/check/check.h"

// Every byte of the table files that a manifest names, against what the manifest says of them.

namespace miodb {

namespace {

// Not through SsdStore, which keeps files open and caches their blocks for a database: here each is read once. Opening
// a table file reads its footer and its index.
Status OpenTableFile(Env* env, const std::string& name, const InternalKeyComparator& comparator,
                     std::unique_ptr<SstReader>* table) {
  CHECK(*table == nullptr);
  uint64_t size;
  RandomAccessFile* opened = nullptr;
  Status s = env->GetFileSize(name, &size);
  if (s.ok()) s = env->NewRandomAccessFile(name, &opened);
  if (!s.ok()) return s;
  SstFormat format;
  format.comparator = &comparator;
  return SstReader::Open(format, std::shared_ptr<const RandomAccessFile>(opened), name, size, Checksums::kVerify,
                         nullptr, table);
}

// The check of one file. Each kind of problem is told once for a file.
class FileCheck {
 public:
  FileCheck(const SsdVerifyRequest& request, const SstMeta& meta, const std::string& name, const ReportProblem& report)
      : request_(request), meta_(meta), name_(name), report_(report), comparator_(request.order) {}

  // range: the first and last key that were read; as before unless all were.
  void Run(SsdCheck* check, SstMeta* range) {
    CHECK(entries_ == 0 && !range->has_range);
    std::unique_ptr<SstReader> table;
    Status s = OpenTableFile(request_.env, name_, comparator_, &table);
    // Without the file, or with one that cannot be opened, there is nothing to count.
    if (s.IsNotFound()) return Report("missing: the manifest names it");
    if (!s.ok()) return Report(s);
    const uint64_t size = table->file_size();
    if (size != meta_.size) {
      Report("has " + std::to_string(size) + " bytes, the manifest says " + std::to_string(meta_.size));
    }
    // A file of another time under the same number would be whole, and wrong.
    if (table->fingerprint() != meta_.fingerprint) return Report("is not the file that the manifest means");
    s = table->VerifyMeta();
    if (!s.ok()) Report(s);
    const std::unique_ptr<Iterator> it(table->NewIterator({Checksums::kVerify, false}));
    // Every block of data is read and verified by this walk. Entries up to the first damage count.
    for (it->SeekToFirst(); it->Valid(); it->Next()) Take(it->key(), it->value());
    check->entries += entries_;
    check->tombstones += tombstones_;
    check->bytes += size;
    if (!it->status().ok()) return Report(it->status());
    CheckTotals();
    if (entries_ == 0) return;
    range->smallest = first_;
    range->largest = UserKeyOf(last_).ToString();
    range->has_range = true;
  }

 private:
  void Report(const std::string& reason) { report_({name_, reason}); }
  void Report(const Status& s) { report_({name_, s.ToString()}); }

  // The first of each kind is said, the others are as a rule its consequence.
  void ReportOnce(bool* said, const std::string& reason) {
    if (!*said) Report("entry " + std::to_string(entries_) + ": " + reason);
    *said = true;
  }

  // A key too short for a tag has the tag 0 and is none of ours; it is counted all the same.
  void Take(const Slice& key, const Slice& value) {
    if (key.size() < kInternalTagBytes || !IsKnownType(static_cast<uint8_t>(TagOf(key)))) {
      ReportOnce(&said_key_, "a key that is none of ours");
    } else if (request_.order_known && entries_ > 0 && comparator_.Compare(last_, key) >= 0) {
      ReportOnce(&said_order_, "does not come after the one before");
    }
    if (TagOf(key) >> 8 > request_.last_sequence) ReportOnce(&said_sequence_, "a sequence above the newest");
    if (entries_ == 0) first_ = UserKeyOf(key).ToString();
    if (IsTombstone(TagType(TagOf(key)))) tombstones_++;
    if (TagType(TagOf(key)) == kTypeExpiringValue) {
      expiring_++;
      expiry_.Add(ExpiryAt(ExpiryOf(value)));
    }
    last_.assign(key.data(), key.size());
    entries_++;
  }

  // The manifest's figures were taken when the file was written, so a difference is damage that no checksum shows.
  void CheckTotals() {
    if (expiring_ != meta_.expiring || expiry_.first < meta_.expiry.first || expiry_.last > meta_.expiry.last) {
      Report(std::to_string(expiring_) + " values that expire; the manifest says " + std::to_string(meta_.expiring) +
             ", or other moments");
    }
    if (entries_ != meta_.entries || tombstones_ != meta_.tombstones) {
      Report(std::to_string(entries_) + " entries, " + std::to_string(tombstones_) +
             " of them tombstones; the manifest says " + std::to_string(meta_.entries) + " and " +
             std::to_string(meta_.tombstones));
    }
    if (entries_ > 0 && meta_.has_range && (first_ != meta_.smallest || UserKeyOf(last_) != Slice(meta_.largest))) {
      Report("first and last key are " + PrintableKey(first_) + " and " + PrintableKey(UserKeyOf(last_)) +
             ", the manifest says " + PrintableKey(meta_.smallest) + " and " + PrintableKey(meta_.largest));
    }
  }

  const SsdVerifyRequest& request_;
  const SstMeta& meta_;
  const std::string name_;
  const ReportProblem& report_;
  const InternalKeyComparator comparator_;
  uint64_t entries_ = 0;
  uint64_t tombstones_ = 0;
  uint64_t expiring_ = 0;
  ExpiryRange expiry_;
  std::string first_;  // user key
  std::string last_;   // internal key
  bool said_key_ = false;
  bool said_order_ = false;
  bool said_sequence_ = false;
};

// Known figures of files that were looked at, with the ranges of the manifest or, if it has none, the ranges that were
// found.
using KnownFiles = std::map<uint64_t, SstMeta>;

// A get looks into one file of a level alone, so a key in two of them could show an old value.
void CheckLevels(const SsdVerifyRequest& request, const SsdState& state, const KnownFiles& known) {
  std::map<uint32_t, std::vector<const SstMeta*>> levels;
  for (const auto& [number, place] : *state.files) {
    const SstMeta& file = known.at(number);
    if (file.has_range) levels[place.level].push_back(&file);
  }
  for (auto& [level, files] : levels) {
    std::sort(files.begin(), files.end(),
              [&](const SstMeta* a, const SstMeta* b) { return request.order.Compare(a->smallest, b->smallest) < 0; });
    // In key order, neighbours tell of every overlap.
    for (size_t i = 1; i < files.size(); i++) {
      if (request.order.Compare(files[i - 1]->largest, files[i]->smallest) < 0) continue;
      state.report({"SSD level " + std::to_string(level), "files " + std::to_string(files[i - 1]->number) + " and " +
                                                              std::to_string(files[i]->number) + " overlap"});
    }
  }
}

// The files of a state that no state before has.
SsdCheck CheckState(const SsdVerifyRequest& request, const SsdState& state, KnownFiles* known) {
  SsdCheck check;
  for (const auto& [number, place] : *state.files) {
    if (known->count(number) > 0) continue;
    SstMeta found;
    found.has_range = false;
    FileCheck(request, *place.meta, request.path + "/" + SsdStore::TableName(number), state.report).Run(&check, &found);
    request.on_file(place.meta->size);
    // The manifest has no range for files with long keys. Then the range that was read stands for it, if all could be
    // read.
    SstMeta& file = known->emplace(number, place.meta->has_range ? *place.meta : found).first->second;
    file.number = number;
  }
  if (request.order_known) CheckLevels(request, state, *known);
  return check;
}

}  // namespace

// The mark comes first: with a directory of another pool, every file would be reported as missing or foreign.
SsdCheck VerifySsd(const SsdVerifyRequest& request, const ReportProblem& report, const ReportProblem& note) {
  CHECK(request.env != nullptr && !request.states.empty());
  CHECK(request.on_file != nullptr && report != nullptr && note != nullptr);
  SsdCheck check;
  uint64_t owner = 0;
  Status s = SsdStore::ReadOwner(request.env, request.path, &owner);
  if (!s.ok() || owner != request.pool_id) {
    // The tier is left alone then: a check that goes on would find every file to be wrong.
    report({request.path, s.ok() ? "is the SSD tier of another pool" : "has no file POOL that says whose it is"});
    return check;
  }
  KnownFiles known;
  for (const SsdState& state : request.states) {
    const SsdCheck found = CheckState(request, state, &known);
    if (&state == &request.states.front()) {
      check = found;
    } else {
      check.saved_bytes += found.bytes;
    }
  }
  // Files that no manifest names are what a job that was cut off leaves, and cost space alone.
  SsdStore::TableFiles files;
  s = SsdStore::FindTables(request.env, request.path, &files);
  if (!s.ok()) report({request.path, s.ToString()});
  for (const auto& [number, name] : files) {
    if (known.count(number) > 0 && name == request.path + "/" + SsdStore::TableName(number)) continue;
    note({name, "no manifest names it; the next open removes it"});
  }
  return check;
}

// For dumps, which show entries as they are stored, in whatever order.
Status WalkTableFile(Env* env, const std::string& name, const KeyOrder& order,
                     const std::function<void(const Slice& key, const Slice& value)>& use) {
  const InternalKeyComparator comparator(order);
  std::unique_ptr<SstReader> table;
  Status s = OpenTableFile(env, name, comparator, &table);
  if (!s.ok()) return s;
  const std::unique_ptr<Iterator> it(table->NewIterator({Checksums::kVerify, false}));
  for (it->SeekToFirst(); it->Valid(); it->Next()) use(it->key(), it->value());
  return it->status();
}

}  // namespace miodb
