// The part of an open between finding the pool and the first write: the log becomes memtables again.

#include "src/db/open/recovery.h"

#include <algorithm>
#include <set>
#include <utility>

#include "src/api/batch/write_batch_internal.h"
#include "src/db/state/chunk_memtable.h"
#include "src/db/write/batch_records.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/clock/clock.h"

// Recovery, step by step:
//
//   1 The pool finds its superblock and root; the manifest is replayed; every extent that it names is claimed, the rest
//     is free (pool.cc, version_set.cc). No data is read.
//   2 Every log chunk is read up to the last frame that checks, every log file up to the last batch that does, and both
//     are put in order and judged (log_history.h). From the last flushed sequence on, sequences must follow one another
//     without a gap. The index of a full chunk (chunk_index.h) gives the same, and the frames are not read: the flush
//     verifies them, and with Options::paranoid_checks this step does.
//   3 Memtables take the chunks, with their records sorted by key, and the records of files. They count as sealed and
//     are flushed in the background like any others; a flush of chunks builds the memtable's tree first.
//   4 The frames that the last writers may have left in the CPU's cache are flushed and fenced: a process may have died
//     between store and fence, and a record that is read from now on must not disappear at the next power failure.
//     Log files are synced; those behind a gap are removed, because what will be written could close the gap.
//   5 A single edit marks the chunks as sealed at their valid length, drops the empty chunks, and drops kept chunks
//     above the limit (kept_log.h). Nothing is ever appended to a recovered chunk, so a torn frame, or a stale one
//     behind it, can never come to count.
//
// After a crash: before the edit of step 5 everything is as it was; after the edit the same state, sealed. So
// recovering twice is recovering once.

namespace miodb {

// Log files are retired, and orphans removed, only after the edit of step 5: until then a crash may need them.
Status Recovery::Recover() {
  std::vector<ExtentRef> extents;
  Status s = tree_->versions->Recover(ChecksumsIf(db_.options.paranoid_checks), &extents);
  if (!s.ok()) return s;
  s = CheckRegionLimits();
  if (!s.ok()) return s;
  const uint64_t start = NowMicros();
  VersionEdit edit;
  uint64_t last_sequence = tree_->versions->manifest().flushed_sequence;
  s = ReplayLog(extents, &last_sequence, &edit);
  kept_->Fit(&edit);
  const bool changes = !edit.chunks.empty() || !edit.removed_chunks.empty() || !edit.removed_kept.empty();
  if (s.ok() && changes) s = tree_->Apply(std::move(edit), {});
  if (!s.ok()) return s;
  floor_->RetireLog();
  s = RemoveOrphans();
  if (!s.ok()) return s;
  flusher_->AddUnfiltered(*tree_->versions->current());
  db_.Log("replayed %llu writes in %llu us",
          static_cast<unsigned long long>(last_sequence - tree_->versions->manifest().flushed_sequence),
          static_cast<unsigned long long>(NowMicros() - start));
  write_->SetSequence(last_sequence);
  return s;
}

// Removes table files that the manifest does not name, nor a savepoint.
Status Recovery::RemoveOrphans() {
  if (db_.ssd == nullptr) return Status::OK();
  std::set<uint64_t> named;
  for (const auto& [number, place] : tree_->versions->manifest().files) named.insert(number);
  for (const auto& [id, savepoint] : tree_->versions->savepoints()) {
    for (const FileList& level : savepoint->version->ssd->levels) {
      for (const SstRef& file : level) named.insert(file->meta().number);
    }
  }
  return db_.ssd->RemoveOrphans(named);
}

// Where stores reach the medium in no order (msync, files), an unsynced tail may have holes; elsewhere a hole is
// damage.
std::unique_ptr<LogHistory> Recovery::NewHistory(LogPolicy policy) const {
  LogRules rules;
  rules.policy = policy;
  const bool any_order = db_.pool->persist_mode() == kPersistFile || MIODB_MUTATED(kLogGapUnseen);
  rules.in_chunks = any_order ? LogHoles::kEndTheLog : LogHoles::kAreDamage;
  rules.in_files = db_.options.paranoid_checks ? LogHoles::kAreDamage : LogHoles::kEndTheLog;
  rules.pool_path = db_.pool->path();
  return std::make_unique<LogHistory>(rules, [this](const Problem& p) { db_.Log("%s", p.ToString().c_str()); });
}

// The payload of batches from files goes into chunks in DRAM, as when they were written.
Status Recovery::ReplayBatch(const Slice& batch, MemTable* memtable) {
  std::vector<std::unique_ptr<LogChunk>>& chunks = memtable->segment().chunks;
  std::vector<LogRecord> records;
  const uint64_t body_bytes = AppendRecords(batch, &records);
  const uint64_t frame_bytes = FrameWriter::FrameSize(body_bytes);
  if (chunks.empty() || chunks.back()->in_pool() || chunks.back()->room() < frame_bytes) {
    std::unique_ptr<LogChunk> chunk;
    Status s = space_->NewMemoryChunk(std::max(space_->NextChunkBytes(), frame_bytes), frame_bytes, 0, &chunk);
    if (!s.ok()) return s;
    chunk->first_sequence = DecodeFixed64(batch.data());
    chunks.push_back(std::move(chunk));
  }
  uint64_t sequence = DecodeFixed64(batch.data());
  write_->frame_writer()->Write(chunks.back().get(), &records, body_bytes, sequence);
  for (const LogRecord& record : records) {
    memtable->AddRecord(record.key, record.value, PackTag(sequence++, record.type), record.place, record.size());
  }
  return Status::OK();
}

// Tells how many chunks with writes there are, and how many of them nobody has read.
void Recovery::LogChunks(const LogHistory& log) const {
  size_t chunks = 0, indexed = 0;
  for (const LogPiece& piece : log.pieces()) {
    if (piece.in_file() || !piece.replayed()) continue;
    chunks++;
    if (piece.index.has_value()) indexed++;
  }
  if (chunks > 0) db_.Log("took up %zu of %zu log chunks by their index", indexed, chunks);
}

// Step 3. A memtable takes chunks or files up to the size of a full one, so that recovery needs no more DRAM, and its
// flushes no more space, than the writes did. The edit drops the chunks of which nothing counts, and seals those that
// count and were not sealed before; the newest of these becomes *last_sealed.
Status Recovery::ReplayHistory(const LogHistory& log, const std::map<uint64_t, ExtentRef>& extents, VersionEdit* edit,
                               const LogPiece** last_sealed) {
  MemTableRef memtable;
  uint64_t capacity = 0;
  bool of_files = false;
  for (const LogPiece& piece : log.pieces()) {
    if (!piece.replayed()) {
      if (!piece.in_file()) edit->removed_chunks.push_back(piece.place.id);
      continue;
    }
    if (memtable == nullptr || capacity >= db_.options.write_buffer_size || of_files != piece.in_file()) {
      memtable = tree_->NewMemTable(MemTable::Filter::kLater);
      tree_->immutables.push_front(memtable);
      capacity = 0;
      of_files = piece.in_file();
    }
    if (piece.in_file()) {
      capacity += piece.valid_bytes;
      Status s = log.ForEachBatch(piece, [&](const Slice& batch) { return ReplayBatch(batch, memtable.get()); });
      if (!s.ok()) return s;
      memtable->ShowRanges();  // not of each batch: nobody reads yet, and views stay as long as the memtable
      continue;
    }
    capacity += piece.place.size;
    const ExtentRef& extent = extents.at(piece.place.id);
    CHECK_LE(piece.valid_bytes, extent->size());
    Status s = TakeUpChunk(db_.order, piece, extent, memtable.get());
    if (!s.ok()) return s;
    if (piece.place.sealed || MIODB_MUTATED(kLogAppendAfterOpen)) continue;
    edit->chunks.push_back(piece.place);
    edit->chunks.back().sealed = true;
    edit->chunks.back().sealed_size = piece.valid_bytes;
    *last_sealed = &piece;
    if (db_.pool->persist().fence_is_slow()) {
      db_.pool->persist().Flush(Purpose::kLog, extent->data(), piece.valid_bytes);
    }
  }
  return Status::OK();
}

// The flush and the fence at the end are for frames that only the CPU's cache may have had when the process died: of
// writers beside one another as many as the window holds.
Status Recovery::ReplayLog(const std::vector<ExtentRef>& extents, uint64_t* last_sequence, VersionEdit* edit) {
  const ManifestState& manifest = tree_->versions->manifest();
  CHECK_EQ(manifest.chunks.size(), extents.size());
  const std::unique_ptr<LogHistory> log = NewHistory(LogPolicy::kRecover);
  const bool by_index = !db_.options.paranoid_checks && db_.order.bytewise();  // others may order keys otherwise now
  std::map<uint64_t, ExtentRef> extent_of;
  size_t i = 0;
  for (const auto& [id, place] : manifest.chunks) {
    const ExtentRef& extent = extent_of[id] = extents[i++];
    ChunkIndex index;
    if (by_index && ReadChunkIndex(place, extent->data(), db_.pool->secret(), &index)) {
      log->AddIndexedChunk(place, index);
      continue;
    }
    extent->PopulateForReading();
    log->AddChunk(place, extent->data(), db_.pool->secret());
  }
  FileLog* const files = logs_->files();
  Status s = log->AddFiles(db_.options.env, files != nullptr ? files->folder() : "");
  if (s.ok()) s = log->Judge(manifest.flushed_sequence, 0);
  const LogPiece* last = nullptr;
  if (s.ok()) LogChunks(*log);
  if (s.ok()) s = ReplayHistory(*log, extent_of, edit, &last);
  if (!s.ok()) return s;
  *last_sequence = log->last_sequence();
  if (files != nullptr) {
    s = files->Adopt(log->pieces());
    if (logs_->to_write() == nullptr) files->EndFile();  // the one that made the removals durable
  }
  // A chunk with an index was durable when that was made.
  if (!s.ok() || last == nullptr || last->index.has_value()) return s;
  // Frames that a crash may have left unfenced lie in the last chunk, within the window.
  auto first = last->frames.end() - 1;
  while (first != last->frames.begin() && (first - 1)->last_sequence() + kLogWindow > last->last_sequence &&
         !MIODB_MUTATED(kRecoveredTailUnflushed)) {
    --first;
  }
  char* const base = extent_of.at(last->place.id)->data();
  db_.pool->persist().Flush(Purpose::kLog, base + (first->begin - base),
                            static_cast<size_t>(last->frames.back().end - first->begin));
  return db_.pool->persist().Fence(Purpose::kLog);
}

// ---- a volatile pool

// Takes up the files of the SSD tier, and finds out which log files are to be read.
// The log must reach as far as it did when files on SSD were made (StoreDescriptor::log_reach), or else reads could see
// newer files beside a log that has lost what came before. Nothing is replayed here: that takes threads.
Status Recovery::RecoverVolatile() {
  CHECK(to_replay_ == nullptr && logs_->files() != nullptr);
  floor_->Begin();
  const uint64_t floor = floor_->found().flushed_sequence;
  to_replay_ = NewHistory(LogPolicy::kRecoverVolatile);
  Status s = to_replay_->AddFiles(db_.options.env, logs_->files()->folder());
  if (s.ok()) s = to_replay_->Judge(floor, floor_->log_reach());
  if (s.ok()) s = logs_->files()->Adopt(to_replay_->pieces());
  if (s.ok()) logs_->files()->EndFile();  // the one that made the removals durable
  if (s.ok()) s = RemoveOrphans();
  if (!s.ok()) return s;
  floor_->RetireLog();
  write_->SetSequence(floor);
  return s;
}

// Writes what the log files hold into the pool once more. Before the database is anybody else's.
Status Recovery::Replay() {
  if (to_replay_ == nullptr) return Status::OK();
  for (const LogPiece& piece : to_replay_->pieces()) {
    if (!piece.replayed()) continue;
    Status s = to_replay_->ForEachBatch(piece, [this](const Slice& batch) { return write_->Replay(batch); });
    if (!s.ok()) return s;
    db_.Log("replayed %s, up to write %llu of %llu", piece.name.c_str(),
            static_cast<unsigned long long>(write_->sequence()),
            static_cast<unsigned long long>(to_replay_->last_sequence()));
  }
  CHECK_EQ(write_->sequence(), to_replay_->last_sequence());
  to_replay_.reset();
  floor_->ForgetFiles();
  return Status::OK();
}

// A limit below what is in use could be kept only by refusing every write, which the user would find out later and
// elsewhere. Space that only readers in other processes need comes free by itself.
Status Recovery::CheckRegionLimits() {
  for (int i = 0; i < db_.pool->regions().count(); i++) {
    const PoolSpace& space = db_.pool->space();
    const uint64_t limit = space.limit_of(i), used = space.used_in(i) - space.held_in(i);
    if (limit == 0 || used <= limit) continue;
    const std::string option = i == 0 ? "Options::pool_size" : "its limit in Options::nvm_regions";
    return Status::InvalidArgument(
        db_.pool->regions().at(i).region->path(),
        "uses " + std::to_string(used) + " bytes; " + option + " is " + std::to_string(limit));
  }
  return Status::OK();
}

}  // namespace miodb
