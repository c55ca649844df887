// follow.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/common/clock/sleep.h"
#include "benchmarks/common/interrupt.h"
#include "miodb/lifetime.h"
#include "miodb/updates.h"
#include "miodb/write_batch.h"
#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/terminal/text.h"
#include "tools/miodb/verbs/long_work.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

// The families of a database by their ids, but for the default one.
Status FamiliesOf(DB* db, std::map<uint32_t, ColumnFamilyHandle*>* families) {
  families->clear();
  std::vector<ColumnFamilyHandle*> all;
  const Status s = AllFamilies(db, &all);
  for (ColumnFamilyHandle* const family : all) {
    if (family->GetID() != 0) (*families)[family->GetID()] = family;
  }
  return s;
}

// The newest family that a batch has updates of.
class NewestFamily final : public WriteBatch::Handler {
 public:
  void Put(const Slice&, const Slice&) override {}
  void Delete(const Slice&) override {}
  Status Merge(const Slice&, const Slice&) override { return Status::OK(); }
  Status SingleDelete(const Slice&) override { return Status::OK(); }
  Status DeleteRange(const Slice&, const Slice&) override { return Status::OK(); }
  Status PutCF(uint32_t family, const Slice&, const Slice&) override { return See(family); }
  Status DeleteCF(uint32_t family, const Slice&) override { return See(family); }
  Status MergeCF(uint32_t family, const Slice&, const Slice&) override { return See(family); }
  Status SingleDeleteCF(uint32_t family, const Slice&) override { return See(family); }
  Status DeleteRangeCF(uint32_t family, const Slice&, const Slice&) override { return See(family); }

  uint32_t id() const { return id_; }

 private:
  Status See(uint32_t family) {
    id_ = std::max(id_, family);
    return Status::OK();
  }

  uint32_t id_ = 0;
};

// Writes to the copy what was written to the source, and makes and drops the same families.
//
// A family of the source is made in the copy with its first write, or, if it has none, when the copy has everything
// that was written before the family was seen. By then the copy has dropped an older family of the same name.
class Follower {
 public:
  // updates: all of the source's, for a copy that has none; null: from where the copy is.
  Follower(DB* source, DB* copy, std::unique_ptr<UpdateIterator> updates)
      : source_(source), copy_(copy), updates_(std::move(updates)) {}

  // Has the copy refuse a source that is not its own.
  Status Begin() {
    std::string identity;
    source_->GetProperty("miodb.identity", &identity);  // an empty one is refused
    std::map<uint32_t, ColumnFamilyHandle*> sources;
    const Status s = copy_->FollowSource(identity);
    return s.ok() ? FamiliesOfSource(&sources) : s;
  }

  // Everything that the source has at the begin of the call, however fast others write to it. did: called after each
  // batch, with the bytes of it; false: that is enough.
  template <typename Did>
  Status CatchUp(const Did& did) {
    uint32_t newest_family = 0;
    Status s = LookForNewFamilies(&newest_family);  // before the look at the log, which then has what came before them
    if (s.ok()) s = source_->Refresh();
    if (s.ok() && updates_ == nullptr) {
      s = source_->GetUpdatesSince(copy_->GetLatestSequenceNumber() + 1, &updates_);
    } else if (s.ok() && !updates_->Valid()) {
      updates_->Next();
    }
    const uint64_t last = source_->GetLatestSequenceNumber();
    for (; s.ok() && updates_->Valid() && updates_->sequence() <= last; updates_->Next()) {
      const uint64_t bytes = updates_->batch()->ApproximateSize();
      s = Apply();
      if (s.ok() && !did(bytes)) return s;
    }
    if (s.ok()) s = updates_->status();
    return s.ok() ? MakeFamilies(newest_family) : s;
  }

  // How much of what was written to the source the copy has.
  double share() const {
    return static_cast<double>(copy_->GetLatestSequenceNumber() + 1) /
           static_cast<double>(source_->GetLatestSequenceNumber() + 1);
  }

 private:
  Status Apply() {
    if (copy_->GetLatestSequenceNumber() + 1 != updates_->sequence()) return Differs("something else wrote to it");
    const uint32_t dropped = updates_->dropped_family();
    NewestFamily newest;
    Status s = updates_->batch()->Iterate(&newest);
    if (s.ok()) s = MakeFamilies(std::max(dropped, newest.id()));
    if (s.ok() && dropped != 0) {
      std::map<uint32_t, ColumnFamilyHandle*> families;
      s = FamiliesOf(copy_, &families);
      if (s.ok() && families.count(dropped) == 0) s = Differs("it lacks a column family");
      if (s.ok()) s = copy_->DropColumnFamily(families[dropped]);
      names_.clear();  // the source may have made another family of the same name
    } else if (s.ok()) {
      WriteOptions options;
      options.lifetime_seconds = kNoLifetime;  // an update that expires says so itself
      s = copy_->Write(options, updates_->batch());
    }
    if (s.ok() && copy_->GetLatestSequenceNumber() != updates_->last_sequence()) {
      s = Differs("its numbers are other ones");
    }
    return s;
  }

  // The newest family of the source, if the source has other families than at the last look; else 0.
  Status LookForNewFamilies(uint32_t* newest) {
    std::vector<std::string> names;
    Status s = source_->ListColumnFamilies(&names);
    if (!s.ok() || names == names_) return s;
    names_ = std::move(names);
    std::map<uint32_t, ColumnFamilyHandle*> sources;
    s = FamiliesOfSource(&sources);
    if (s.ok() && !sources.empty()) *newest = sources.rbegin()->first;
    return s;
  }

  // Makes the families that the copy lacks, up to this id. A family that the source has dropped gets no name, and later
  // updates drop it again.
  Status MakeFamilies(uint32_t last) {
    if (last < next_family_) return Status::OK();
    std::map<uint32_t, ColumnFamilyHandle*> sources;
    Status s = FamiliesOfSource(&sources);
    for (; s.ok() && next_family_ <= last; next_family_++) {
      const auto named = sources.find(static_cast<uint32_t>(next_family_));
      const std::string name =
          named != sources.end() ? named->second->GetName() : "dropped " + std::to_string(next_family_);
      ColumnFamilyHandle* family = nullptr;
      s = copy_->CreateColumnFamily(name, &family);
      if (s.ok() && family->GetID() != next_family_) s = Differs("its column families have other ids");
    }
    return s;
  }

  // The families of the source. If the copy has another family under the id of one of them, or has dropped one, it is
  // refused: updates name families by ids. The copy may have families that the source has dropped since.
  Status FamiliesOfSource(std::map<uint32_t, ColumnFamilyHandle*>* sources) {
    std::string next;
    if (copy_->GetProperty("miodb.next-family-id", &next)) next_family_ = std::stoul(next);
    std::map<uint32_t, ColumnFamilyHandle*> copies;
    Status s = FamiliesOf(source_, sources);
    if (s.ok()) s = FamiliesOf(copy_, &copies);
    for (const auto& [id, family] : *sources) {
      if (!s.ok() || id >= next_family_) break;
      const auto copied = copies.find(id);
      if (copied == copies.end()) {
        s = Differs("it lacks the column family '" + ToText(family->GetName()) + "'");
      } else if (copied->second->GetName() != family->GetName()) {
        s = Differs("its column family '" + ToText(copied->second->GetName()) + "' has the id of '" +
                    ToText(family->GetName()) + "'");
      }
    }
    return s;
  }

  Status Differs(const std::string& why) const {
    return Status::InvalidArgument("the copy is not one of the source as it was: " + why,
                                   "make it anew from a checkpoint or a backup");
  }

  DB* const source_;
  DB* const copy_;
  std::unique_ptr<UpdateIterator> updates_;
  uint64_t next_family_ = 1;  // id of the next one that the copy makes
  // Names of the source's families at the last look. A drop that came to the copy empties the list.
  std::vector<std::string> names_;
};

class Follow final : public Command {
 public:
  void AddOptions(OptionTable* options) override {
    options->Switch("once", &once_, "end when the copy has what the source has");
    options->Number("interval_ms", &interval_ms_, 1, 60000, "milliseconds between two looks at the source");
    options->Switch("progress", &progress_, "show progress also where standard error is no terminal");
    copy_.AddCreate(options, "make the database if there is none");
    copy_.AddOptions(options);
    copy_.AddSetting("keep_log_bytes=0");  // the copy is written to all the time, and few copies have followers
  }

  int Run(const Call& call) override {
    const std::unique_ptr<DB> source = OpenOptions().OpenReader(call, call.operands[0]);
    if (source == nullptr) return kFailed;
    std::unique_ptr<UpdateIterator> updates;  // asked for before anything is made
    Status s;
    if (copy_.WouldCreate(call.operands[1])) s = source->GetUpdatesSince(1, &updates);
    if (!s.ok()) return Fail(call, s);
    const std::unique_ptr<DB> copy = copy_.Open(call, call.operands[1]);
    if (copy == nullptr) return kFailed;
    Follower follower(source.get(), copy.get(), std::move(updates));
    s = follower.Begin();
    if (!s.ok()) return Fail(call, s);
    LongWork work("applied", progress_, [&] { return follower.share(); });
    do {
      s = follower.CatchUp([&](uint64_t bytes) {
        work.Did(bytes);
        return !bench::Interrupt::StopRequested();
      });
      if (s.ok() && !once_) Wait();
    } while (s.ok() && !once_ && !bench::Interrupt::StopRequested());
    if (!s.ok()) return Fail(call, s);
    Output out;
    out.Write(std::to_string(work.records()) + " batches, up to write " +
              std::to_string(copy->GetLatestSequenceNumber()) + "\n");
    return out.Finish(call, CodeAfter(kDone));
  }

 private:
  void Wait() const {
    bench::SleepUntil(bench::Ticks::MonotonicNanos() + static_cast<uint64_t>(interval_ms_) * 1000000,
                      bench::Interrupt::StopRequested);
  }

  OpenOptions copy_;
  bool once_ = false;
  bool progress_ = false;
  int interval_ms_ = 10;
};

}  // namespace

std::unique_ptr<Command> NewFollow() { return std::make_unique<Follow>(); }

}  // namespace miodb::tool
