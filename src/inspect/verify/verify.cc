#include "src/inspect/verify/verify.h"

#include <algorithm>
#include <set>

#include "miodb/comparator.h"
#include "miodb/env.h"
#include "src/inspect/image/unknown_order.h"
#include "src/inspect/verify/space_claims.h"
#include "src/inspect/verify/verify_kept.h"
#include "src/inspect/verify/verify_savepoints.h"
#include "src/inspect/verify/verify_ssd.h"
#include "src/inspect/verify/verify_state.h"
#include "src/log/file_log.h"
#include "src/log/log_history.h"
#include "src/util/check/check.h"

// The checks of a whole pool, in the order in which each relies on those before: header, manifest, log, tables,
// savepoints, files, space.

namespace miodb {

namespace {

std::string At(const char* what, PmRef offset) { return std::string(what) + " at offset " + std::to_string(offset); }

// For parts that report one problem at a time.
ReportProblem Into(std::vector<Problem>* problems) {
  return [problems](Problem p) { problems->push_back(std::move(p)); };
}

// The current state, then those of savepoints.
using States = std::vector<const ManifestState*>;

// How much of the work is done, in bytes of the pool and of table files.
class Progress {
 public:
  Progress(const VerifyOptions& options, const States& states, uint64_t pool_bytes)
      : tell_(options.on_progress), pool_bytes_(static_cast<double>(pool_bytes)) {
    std::map<uint64_t, uint64_t> indexes, files;  // sizes by number: what several states name counts once
    for (const ManifestState* state : states) {
      for (const auto& [number, table] : state->tables) indexes.emplace(number, table.index_size);
      for (const auto& [number, file] : state->files) files.emplace(number, file.meta->size);
    }
    uint64_t index_bytes = 0, file_bytes = 0;
    for (const auto& [number, bytes] : indexes) index_bytes += bytes;
    for (const auto& [number, bytes] : files) file_bytes += bytes;
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
  // A part that is damaged is not walked, so a share may jump ahead. The share never falls.
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
void CheckFiles(const VerifyOptions& options, uint64_t store_id, const KeyOrder& order,
                const std::vector<SsdState>& states, Progress* progress, VerifyResult* result) {
  std::set<uint64_t> numbers;
  for (const SsdState& state : states) {
    for (const auto& [number, place] : *state.files) numbers.insert(number);
  }
  result->ssd_files = states.front().files->size();
  if (options.ssd_path.empty()) {
    if (!numbers.empty()) {
      result->notes.push_back({"SSD tier", std::to_string(numbers.size()) + " table files were not looked at"});
    }
    return;
  }
  const SsdVerifyRequest request{Env::Default(),
                                 options.ssd_path,
                                 store_id,
                                 states,
                                 order,
                                 result->order_checked,
                                 result->last_sequence,
                                 [progress](uint64_t bytes) { progress->AddFile(bytes); }};
  const SsdCheck check = VerifySsd(request, Into(&result->problems), Into(&result->notes));
  result->ssd_entries = check.entries;
  result->ssd_bytes = check.bytes;
  result->savepoints.ssd_bytes = check.saved_bytes;
}

// Problems are told and nothing is refused: a check goes through the whole log, as far as it can be read.
LogRules RulesOfCheck(const VerifyOptions& options) {
  return {LogPolicy::kVerify, options.log_holes, options.log_holes};
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

// Collects problems and goes on: one that is found must not hide the next.
class Verifier {
 public:
  Verifier(const PoolImage& image, const Comparator* comparator, const VerifyOptions& options)
      : image_(image),
        options_(options),
        order_(comparator, &has_families_),
        report_(Into(&result_.problems)),
        claims_(image) {
    result_.file_bytes = image.file_size();
  }

  // The check looks only at structures to which the manifest leads. Without a root or a manifest nothing can be said of
  // the rest.
  VerifyResult Run() {
    for (const std::string& missing : image_.missing()) Report("region", missing);
    const PoolHeader header = image_.Header();
    CheckHeader(header);
    if (header.current.epoch == 0 || !CheckManifest(header)) return std::move(result_);
    if (result_.comparator != order_.comparator()->Name()) {
      result_.order_checked = false;
      order_ = KeyOrder(&unknown_);
    }
    // The log's last sequence is what no table file may exceed, so it comes before these.
    CheckLog();
    CheckAreas();
    States states{&state_};
    for (const SavedState& saved : saved_) states.push_back(&saved.state);
    Progress progress(options_, states, image_.size());
    CheckStates(At("manifest", header.current.manifest_offset), &progress);
    progress.FinishPool();
    std::vector<SsdState> tiers{{&state_.files, report_}};
    for (const SavedState& saved : saved_) tiers.push_back({&saved.state.files, saved.report});
    CheckFiles(options_, header.pool_id, order_, tiers, &progress, &result_);
    CheckSpace();
    return std::move(result_);
  }

 private:
  void Report(std::string place, std::string reason) { report_({std::move(place), std::move(reason)}); }

  void CheckHeader(const PoolHeader& header);
  bool CheckManifest(const PoolHeader& header);
  void CheckLog();
  void CheckAreas();
  void CheckStates(const std::string& manifest, Progress* progress);
  void CheckSpace();

  const PoolImage& image_;
  const VerifyOptions options_;
  const UnknownOrder unknown_;
  std::atomic<bool> has_families_{false};
  KeyOrder order_;
  VerifyResult result_;
  const ReportProblem report_;
  ManifestState state_;
  std::vector<SavedState> saved_;
  SpaceClaims claims_;
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
  for (const auto& slot : header.roots) {
    // A crash may leave one copy torn. Of the very first write into a slot that is the first copy, and the second one
    // is blank, as the slot is before.
    const bool is_first = header.current.epoch <= 1 && !slot[0].good && !slot[1].good;
    const bool harmless = slot[0].good || slot[1].good || (header.current.epoch == 1 && slot[1].blank);
    for (const PoolHeader::Root& root : slot) {
      if (root.good || (root.blank && is_first)) continue;
      if (!harmless) {
        Report(At("root copy", root.offset), "checksum mismatch");
      } else {
        result_.notes.push_back({At("root copy", root.offset), is_first ? "torn before its root was in force"
                                                                        : "damaged or torn; the other one is good"});
      }
    }
  }
}

// False if there is nothing to go on from.
bool Verifier::CheckManifest(const PoolHeader& header) {
  const RootSlot& root = header.current;
  const std::string place = At("manifest", root.manifest_offset);
  // The area takes space like any other extent.
  if (!claims_.ClaimArea({root.manifest_offset, root.manifest_size, root.generation, 0}, report_)) return false;
  // The check looks at the area's records one by one, as a recovery does, and besides behind the first damaged record.
  ManifestImage manifest = ReadManifestArea(image_, root.manifest_offset, root.manifest_size, root.generation);
  result_.manifest_records = manifest.records.size();
  for (const Problem& problem : manifest.problems) Report(problem.place, problem.reason);
  if (!manifest.has_footer || manifest.epoch != root.epoch) Report(place, "footer damaged");
  state_ = std::move(manifest.state);
  result_.comparator = state_.comparator;
  has_families_ = state_.has_families();
  return true;
}

// Chunks are claimed like any other extent. The history judges the order of the pieces, and where the log may end.
void Verifier::CheckLog() {
  LogHistory log(RulesOfCheck(options_), Into(&result_.problems));
  for (const auto& [id, place] : state_.chunks) {
    if (!claims_.ClaimChunk(place, report_)) continue;
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

// Areas that savepoints need besides the one in force.
void Verifier::CheckAreas() {
  const uint64_t needed = claims_.bytes();
  saved_ = ReadSavepoints(image_, state_, &claims_, report_);
  result_.savepoints.count = state_.savepoints.size();
  result_.savepoints.bytes = claims_.bytes() - needed;
}

// Figures are those of the current state, but for what savepoints alone hold. Tables may refer to all of a log chunk,
// the update stream needs all of it, savepoints need parts: in this order each claim finds what it needs.
void Verifier::CheckStates(const std::string& manifest, Progress* progress) {
  CHECK(progress != nullptr);
  StateVerifier verifier(image_, order_, result_.order_checked, &claims_, [progress] { progress->AddLeaf(); });
  const StateCheck check = verifier.Verify(manifest, state_, report_);
  result_.tables = state_.tables.size();
  result_.runs = check.runs;
  result_.entries = check.entries;
  result_.tombstones = check.tombstones;
  result_.live_bytes = check.live_bytes;
  result_.payload_bytes = claims_.payload_bytes();
  const uint64_t needed = claims_.bytes();
  for (const SavedState& saved : saved_) {
    verifier.Verify(At("manifest", saved.entry.area.offset), saved.state, saved.report);
  }
  const uint64_t with_tables = claims_.bytes();
  VerifyKept(image_, state_, &claims_, report_);
  result_.kept_log.chunks = state_.kept.by_id.size();
  result_.kept_log.bytes = claims_.bytes() - with_tables;
  for (const SavedState& saved : saved_) VerifySavedLog(image_, saved, &claims_);
  result_.savepoints.bytes += claims_.bytes() - needed - result_.kept_log.bytes;
}

void Verifier::CheckSpace() {
  claims_.CheckOverlaps(report_);
  result_.extents = claims_.extents();
  result_.used_bytes = kPoolHeaderSize * image_.parts().size() + claims_.bytes();
  // With overlaps more may be claimed than there is.
  result_.free_bytes = image_.size() - std::min(image_.size(), result_.used_bytes);
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
  Progress progress(options, {&state}, 0);
  const std::atomic<bool> has_families{state.has_families()};
  const KeyOrder order(result.order_checked ? comparator : &unknown, &has_families);
  CheckFiles(options, store.log.id, order, {{&state.files, Into(&result.problems)}}, &progress, &result);
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
