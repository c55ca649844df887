#include "src/inspect/verify.h"

#include <algorithm>

#include "miodb/comparator.h"
#include "miodb/env.h"
#include "src/inspect/unknown_order.h"
#include "src/inspect/verify_ssd.h"
#include "src/inspect/verify_table.h"
#include "src/log/file_log.h"
#include "src/log/log_history.h"
#include "src/util/check.h"

// The checks of a whole pool, in the order in which each relies on those before: header, manifest, log, tables, runs,
// files, space.

namespace miodb {

namespace {

std::string At(const char* what, PmRef offset) { return std::string(what) + " at offset " + std::to_string(offset); }

// For parts that report one problem at a time.
ReportProblem Into(std::vector<Problem>* problems) {
  return [problems](Problem p) { problems->push_back(std::move(p)); };
}

// How much of the work is done, in bytes of the pool and of table files.
class Progress {
 public:
  Progress(const VerifyOptions& options, const ManifestState& state, uint64_t pool_bytes)
      : tell_(options.on_progress), pool_bytes_(static_cast<double>(pool_bytes)) {
    uint64_t index_bytes = 0, file_bytes = 0;
    for (const auto& [number, table] : state.tables) index_bytes += table.index_size;
    for (const auto& [number, file] : state.files) file_bytes += file.meta->size;
    // Pools differ in how many records a leaf stands for, so a leaf's share follows from how many leaves there are.
    if (index_bytes > 0) leaf_bytes_ = pool_bytes_ * sizeof(LeafNode) / static_cast<double>(index_bytes);
    // Table files count by their bytes, since all of these are read.
    all_bytes_ = pool_bytes_ + (options.ssd_path.empty() ? 0 : static_cast<double>(file_bytes));
  }

  // A leaf stands for its part of the pool: verifying it reads the records that it refers to, wherever they lie.
  void AddLeaf() { Tell(std::min(done_bytes_ + leaf_bytes_, pool_bytes_)); }
  void FinishPool() { Tell(pool_bytes_); }
  void AddFile(uint64_t bytes) { Tell(std::min(done_bytes_ + static_cast<double>(bytes), all_bytes_)); }

 private:
  // A part that is damaged is not walked, so a share may jump ahead. It never goes back.
  void Tell(double done_bytes) {
    DCHECK(done_bytes >= done_bytes_ && done_bytes <= all_bytes_);
    done_bytes_ = done_bytes;
    if (tell_) tell_(all_bytes_ > 0 ? done_bytes_ / all_bytes_ : 1);
  }

  const std::function<void(double share)>& tell_;
  const double pool_bytes_;
  double all_bytes_ = 0;
  double leaf_bytes_ = 0;
  double done_bytes_ = 0;
};

// Without the directory of the SSD tier its files are not missing but not looked at: a note, no problem.
void CheckFiles(const VerifyOptions& options, uint64_t store_id, const ManifestState& state, const KeyOrder& order,
                Progress* progress, VerifyResult* result) {
  result->ssd_files = state.files.size();
  if (options.ssd_path.empty()) {
    if (!state.files.empty()) {
      result->notes.push_back({"SSD tier", std::to_string(state.files.size()) + " table files were not looked at"});
    }
    return;
  }
  const SsdVerifyRequest request{Env::Default(),
                                 options.ssd_path,
                                 store_id,
                                 &state.files,
                                 order,
                                 result->order_checked,
                                 result->last_sequence,
                                 [progress](uint64_t bytes) { progress->AddFile(bytes); }};
  const SsdCheck check = VerifySsd(request, Into(&result->problems), Into(&result->notes));
  result->ssd_entries = check.entries;
  result->ssd_bytes = check.bytes;
}

// Problems are told and nothing is refused: a check goes through the whole log, as far as it can be read.
LogRules RulesOfCheck(const VerifyOptions& options) {
  const LogHoles holes = options.holes_end_log ? LogHoles::kEndTheLog : LogHoles::kAreDamage;
  return {LogPolicy::kVerify, holes, holes};
}

// Adds the log files, if there is a folder for them, to the chunks of a log, and checks that all are whole and follow
// one another from the first write that is not flushed on.
void CheckHistory(const VerifyOptions& options, uint64_t log_id, uint64_t flushed_sequence, uint64_t reach,
                  LogHistory* log, VerifyResult* result) {
  CHECK(log != nullptr && result != nullptr);
  Status s = log->AddFiles(Env::Default(), options.wal_folder, log_id);
  if (s.ok()) s = log->Judge(flushed_sequence, reach);
  CHECK(s.ok());  // everything is told
  result->log_files = log->files();
  result->log_writes = log->writes();
  result->last_sequence = log->last_sequence();
}

// Collects problems and goes on: one that is found must not hide the next. extents_ has all that was claimed, payload_
// what tables say of the extents that they share.
class Verifier {
 public:
  Verifier(const PoolImage& image, const Comparator* comparator, const VerifyOptions& options)
      : image_(image), options_(options), order_(comparator, &has_families_) {
    result_.file_bytes = image.file_size();
  }

  // What the manifest does not lead to is not looked at. Without a root or a manifest nothing can be said of the rest.
  VerifyResult Run() {
    for (const std::string& missing : image_.missing()) Report("region", missing);
    const PoolHeader header = image_.Header();
    CheckHeader(header);
    if (header.current.epoch == 0 || !CheckManifest(header)) return std::move(result_);
    if (result_.comparator != order_.comparator()->Name()) {
      result_.order_checked = false;
      order_ = KeyOrder(&unknown_);
    }
    CheckRanges();
    // The log's last sequence is what no table file may exceed, so it comes before these.
    CheckLog();
    Progress progress(options_, state_, image_.size());
    CheckTables(&progress);
    CheckRuns();
    progress.FinishPool();
    CheckFiles(options_, header.pool_id, state_, order_, &progress, &result_);
    CheckSpace();
    return std::move(result_);
  }

 private:
  // Whose an extent is, in words for the report.
  struct Use {
    uint64_t size;
    std::string owner;
  };

  void Report(std::string place, std::string reason) {
    result_.problems.push_back({std::move(place), std::move(reason)});
  }

  void CheckHeader(const PoolHeader& header);
  bool CheckManifest(const PoolHeader& header);
  void CheckRanges();
  void CheckLog();
  void CheckTables(Progress* progress);
  void CheckRuns();
  void CheckSpace();
  bool Claim(PmRef offset, uint64_t size, const std::string& owner);
  bool ClaimPayload(const std::vector<PayloadMeta>& payload, const std::string& owner);

  const PoolImage& image_;
  const VerifyOptions options_;
  const UnknownOrder unknown_;
  std::atomic<bool> has_families_{false};
  KeyOrder order_;
  VerifyResult result_;
  ManifestState state_;
  std::map<PmRef, Use> extents_;
  // A payload extent as the first table describes it, and what all tables together refer to of it.
  struct Payload {
    PayloadMeta meta;
    uint64_t live = 0;
  };
  std::map<PmRef, Payload> payload_;
  std::map<uint64_t, std::pair<std::string, std::string>> ranges_;  // first and last key by table
  RangeSetRef deleted_;                                             // null: none, or an unknown order
};

// Copies are there so that one may be torn; a damaged one of a superblock is a problem all the same, because
// superblocks are written once, while a torn root is what a crash leaves.
void Verifier::CheckHeader(const PoolHeader& header) {
  for (int copy = 0; copy < kSuperblockCopies; copy++) {
    if (!header.copies[copy].good) Report(At("superblock", SuperblockOffset(copy)), "checksum mismatch");
  }
  // Each may check and still not be the same as the other, if one is of another pool.
  if (header.copies[0].good && header.copies[1].good &&
      memcmp(&header.copies[0].superblock, &header.copies[1].superblock, sizeof(Superblock)) != 0) {
    Report("superblock", "its copies differ");
  }
  if (header.current.epoch == 0) Report("root", "no good copy in any slot");
  // A slot that was never written is blank in both copies, and no problem.
  for (const auto& slot : header.roots) {
    // A crash may leave one copy torn, or, of the very first write into a slot, both.
    const bool harmless = slot[0].good || slot[1].good || header.current.epoch == 1;
    for (const PoolHeader::Root& root : slot) {
      if (root.good || (root.blank && !slot[0].good && !slot[1].good)) continue;
      if (!harmless) {
        Report(At("root copy", root.offset), "checksum mismatch");
      } else {
        result_.notes.push_back({At("root copy", root.offset), "damaged or torn; the other one is good"});
      }
    }
  }
}

// False if there is nothing to go on from.
bool Verifier::CheckManifest(const PoolHeader& header) {
  const RootSlot& root = header.current;
  const std::string place = At("manifest", root.manifest_offset);
  // The area takes space like any other extent.
  if (!Claim(root.manifest_offset, root.manifest_size, "manifest")) return false;
  // Its records are looked at one by one, as a recovery does, and besides behind the first that is damaged.
  ManifestImage manifest = ReadManifestArea(image_, root.manifest_offset, root.manifest_size, root.generation);
  result_.manifest_records = manifest.records.size();
  for (const Problem& problem : manifest.problems) Report(problem.place, problem.reason);
  if (!manifest.has_footer || manifest.epoch != root.epoch) Report(place, "footer damaged");
  state_ = std::move(manifest.state);
  result_.comparator = state_.comparator;
  has_families_ = state_.has_families();
  // The repository is one run, number 0; levels of the buffer have a bound in the format.
  for (const auto& [number, table] : state_.tables) {
    if (table.level == kRepositoryLevel ? table.run == 0 : table.level < kMaxLevels) continue;
    Report(place, "table " + std::to_string(number) + " has no proper place");
  }
  // Ids are never given out twice, so those in use lie below the next one.
  for (const auto& [number, table] : state_.tables) {
    if (std::max(number, table.run) >= state_.next_id)
      Report(place, "next id is not above table " + std::to_string(number));
  }
  return true;
}

// Flushes name them, so none is newer than what is flushed.
void Verifier::CheckRanges() {
  std::vector<RangeDeletion> ranges;
  for (const auto& [id, place] : state_.ranges) {
    const std::string name = "deletion of a range " + std::to_string(id);
    if (id >= state_.next_id) Report(name, "the next id is not above it");
    if (place.range.sequence > state_.flushed_sequence) Report(name, "is newer than the flushed sequence");
    if (!result_.order_checked) continue;
    if (order_.Compare(place.range.begin, place.range.end) >= 0) Report(name, "ends before it begins");
    ranges.push_back(place.range);
  }
  deleted_ = RangeSet::Make(order_, ranges, nullptr);
}

// Chunks are claimed like any other extent. What follows what, and where the log may end, the history judges.
void Verifier::CheckLog() {
  LogHistory log(RulesOfCheck(options_), Into(&result_.problems));
  for (const auto& [id, place] : state_.chunks) {
    if (!Claim(place.offset, place.size, ChunkName(place))) continue;
    const char* const base = image_.At(place.offset);
    const LogPiece& chunk = log.AddChunk(place, base, image_.secret());
    result_.frames += chunk.frames.size();
    ChunkIndex index;
    if (chunk.damaged() || !result_.order_checked || !ReadChunkIndex(place, base, image_.secret(), &index)) continue;
    const std::string problem = ChunkIndexProblem(order_, base, index);
    if (!problem.empty()) Report(chunk.name, problem);
  }
  result_.chunks = state_.chunks.size();
  CheckHistory(options_, options_.log_id, state_.flushed_sequence, 0, &log, &result_);
}

// Live bytes are added up from what tables say of their extents; that each says the truth, VerifyTable has checked.
void Verifier::CheckTables(Progress* progress) {
  CHECK(progress != nullptr && payload_.empty());
  result_.tables = state_.tables.size();
  for (const auto& [number, place] : state_.tables) {
    const std::string name = "table " + std::to_string(number);
    if (!Claim(place.index_offset, place.index_size, name)) continue;
    // Without a good header nothing else of a table can be judged: not where its parts lie, nor how many there are.
    const TableImage table(&image_, order_, place.index_offset, place.index_size, number);
    if (!table.header_problem().empty()) {
      Report(table.Name(), table.header_problem());
      continue;
    }
    const TableCheck check = VerifyTable(
        image_, table, order_, result_.order_checked, Into(&result_.problems), [progress] { progress->AddLeaf(); },
        deleted_.get());
    if (has_families_ && check.highest_family >= state_.next_family) {
      Report(table.Name(),
             "has keys of column family " + std::to_string(check.highest_family) + ", which was never made");
    }
    result_.entries += check.entries;
    result_.tombstones += check.tombstones;
    if (check.complete) ranges_[number] = {check.smallest, check.largest};
    if (!ClaimPayload(check.meta.payload, table.Name())) continue;
    for (const PayloadMeta& p : check.meta.payload) payload_[p.offset].live += p.live_bytes;
  }
}

// Tables of one run lie side by side.
void Verifier::CheckRuns() {
  std::map<std::pair<uint32_t, uint64_t>, std::vector<uint64_t>> runs;
  for (const auto& [number, place] : state_.tables) runs[{place.level, place.run}].push_back(number);
  result_.runs = runs.size();
  if (!result_.order_checked) return;
  // Only tables of which every entry could be read have a known range.
  for (auto& [id, tables] : runs) {
    std::erase_if(tables, [this](uint64_t number) { return ranges_.count(number) == 0; });
    // By first keys, each table has to end before the next begins.
    std::sort(tables.begin(), tables.end(),
              [this](uint64_t a, uint64_t b) { return order_.Compare(ranges_[a].first, ranges_[b].first) < 0; });
    for (size_t i = 1; i < tables.size(); i++) {
      if (order_.Compare(ranges_[tables[i - 1]].second, ranges_[tables[i]].first) < 0) continue;
      Report("run " + std::to_string(id.second) + " of level " + std::to_string(id.first),
             "tables " + std::to_string(tables[i - 1]) + " and " + std::to_string(tables[i]) + " overlap");
    }
  }
}

// False if the range cannot be read. Two owners of one range are a problem, and the range is read for both.
bool Verifier::Claim(PmRef offset, uint64_t size, const std::string& owner) {
  const std::string place = "extent at offset " + std::to_string(offset) + " of " + std::to_string(size) + " bytes";
  if (!image_.IsExtent(offset, size)) {
    Report(place, owner + " lies outside of the pool's " + std::to_string(image_.size()) + " bytes");
    return false;
  }
  // Overlaps are found by CheckSpace, once all are known.
  const auto [at, fresh] = extents_.emplace(offset, Use{size, owner});
  if (!fresh) {
    Report(place, "belongs to " + owner + " and to " + at->second.owner);
    // The larger range is kept, so that no overlap with a third owner is missed.
    at->second.size = std::max(at->second.size, size);
  }
  return true;
}

// Tables share payload extents by reference, so the first that names one claims it, and the others have to agree.
bool Verifier::ClaimPayload(const std::vector<PayloadMeta>& payload, const std::string& owner) {
  bool good = true;
  for (const PayloadMeta& p : payload) {
    const auto [at, fresh] = payload_.emplace(p.offset, Payload{p, 0});
    if (fresh) {
      good = Claim(p.offset, p.size, "payload of " + owner) && good;
      continue;
    }
    // Live bytes are each table's own; the extent's place, kind and size are the same for all.
    const PayloadMeta& known = at->second.meta;
    if (known.size == p.size && known.kind == p.kind && known.payload_bytes == p.payload_bytes) continue;
    Report(owner, "disagrees with another table about the payload extent at offset " + std::to_string(p.offset));
    good = false;
  }
  return good;
}

// Extents lie in order of their offsets, so an overlap is seen at the next one. What no extent takes is free: there is
// nothing else to compare it with.
void Verifier::CheckSpace() {
  result_.extents = extents_.size();
  result_.used_bytes = kPoolHeaderSize * image_.parts().size();
  PmRef end = kPoolHeaderSize;
  std::string last = "the header page";
  for (const auto& [offset, use] : extents_) {
    if (offset < end) {
      Report("extent at offset " + std::to_string(offset), "of " + use.owner + " overlaps that of " + last);
    }
    DCHECK(use.size > 0 && use.size <= UINT64_MAX - offset);  // Claim has seen that it lies in the pool
    result_.used_bytes += use.size;
    end = std::max(end, offset + use.size);
    last = use.owner;
  }
  // With overlaps more may be claimed than there is.
  result_.free_bytes = image_.size() - std::min(image_.size(), result_.used_bytes);
  for (const auto& [offset, payload] : payload_) {
    result_.payload_bytes += payload.meta.payload_bytes;
    result_.live_bytes += payload.live;
  }
}

}  // namespace

// The pool went with its process, so the log and the files are all that there is to check.
VerifyResult VerifyVolatile(const StoreDescriptor& store, const Comparator* comparator, const VerifyOptions& options) {
  CHECK(comparator != nullptr && !options.wal_folder.empty());
  VerifyResult result;
  const UnknownOrder unknown;
  ManifestState state;
  VersionEdit edit;
  if (!edit.DecodeSsdState(store.ssd_state) || !state.Apply(edit).ok()) {
    result.problems.push_back({"STORE", "the state of the SSD tier is damaged"});
    return result;
  }
  // Under another comparator files are read and counted, and their order is left alone.
  result.comparator = state.comparator;
  result.order_checked = result.comparator == comparator->Name();
  LogHistory log(RulesOfCheck(options), Into(&result.problems));
  CheckHistory(options, store.log.id, state.flushed_sequence, store.log_reach, &log, &result);
  Progress progress(options, state, 0);
  const std::atomic<bool> has_families{state.has_families()};
  const KeyOrder order(result.order_checked ? comparator : &unknown, &has_families);
  CheckFiles(options, store.log.id, state, order, &progress, &result);
  return result;
}

// Damage is no reason: a pool with damaged copies of its superblock can be looked at, and one of a version that this
// program does not know cannot.
Status CheckReadable(const PoolImage& image) {
  CHECK(!image.parts().empty());
  if (image.parts()[0].size < 2 * kPoolHeaderSize) return Status::Corruption(image.path(), "too short to be a pool");
  const PoolHeader header = image.Header();
  if (!header.another_version) return Status::OK();
  return Status::NotSupported(image.path(), "pool format version " + std::to_string(header.version) +
                                                "; this program reads version " + std::to_string(kPoolFormatVersion));
}

VerifyResult VerifyPool(const PoolImage& image, const Comparator* comparator, const VerifyOptions& options) {
  CHECK(comparator != nullptr);
  return Verifier(image, comparator, options).Run();
}

}  // namespace miodb
