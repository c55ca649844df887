#include "src/db/recovery.h"

#include <algorithm>
#include <set>

#include "src/api/write_batch_internal.h"
#include "src/util/check.h"
#include "src/util/clock.h"
#include "src/util/coding.h"
#include "src/util/mutation.h"

// Recovery, step by step:
//
//   1 The pool finds its superblock and root; the manifest is replayed; every extent that it names is claimed, the rest
//     is free (pool.cc, version_set.cc). No data is read.
//   2 Every log chunk is scanned up to the last frame that checks, every log file up to the last batch that does
//     (log_scan.h). Both are put in order by their first sequence. From the last flushed sequence on, sequences must
//     follow one another without a gap.
//   3 The records go into memtables, which count as sealed and are flushed in the background like any others.
//   4 The last frame is flushed and fenced: a process that died between store and fence may have left it in the CPU's
//     cache only, and what is read from now on must not disappear at the next power failure.
//     Log files are synced; those behind a gap are removed, because what will be written could close the gap.
//   5 One edit marks the chunks as sealed at their valid length and drops the empty ones. Nothing is ever appended to
//     a recovered chunk, so a torn frame, or a stale one behind it, can never come to count.
//
// What a crash leaves at any point: before the edit of step 5 everything as it was; after it the same state, sealed.
// So recovering twice is recovering once.

namespace miodb {

// Log files are retired, and orphans removed, only after the edit of step 5: until then a crash may need them.
Status Recovery::Recover() {
  std::vector<ExtentRef> extents;
  Status s = tree_->versions->Recover(db_.options.paranoid_checks, &extents);
  if (!s.ok()) return s;
  s = CheckRegionLimits();
  if (!s.ok()) return s;
  const uint64_t start = NowMicros();
  VersionEdit edit;
  uint64_t last_sequence = tree_->versions->manifest().flushed_sequence;
  s = ReplayLog(std::move(extents), &last_sequence, &edit);
  if (s.ok() && !(edit.chunks.empty() && edit.removed_chunks.empty())) s = tree_->versions->Apply(std::move(edit), {});
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

// Removes table files that the manifest does not name.
Status Recovery::RemoveOrphans() {
  if (db_.ssd == nullptr) return Status::OK();
  std::set<uint64_t> named;
  for (const auto& [number, place] : tree_->versions->manifest().files) named.insert(number);
  return db_.ssd->RemoveOrphans(named);
}

// Finds what is in every chunk and every log file, in the order in which it was written.
Status Recovery::ScanLog(std::vector<ExtentRef> extents, std::vector<LogScan>* scans) {
  size_t i = 0;
  for (const auto& [id, place] : tree_->versions->manifest().chunks) {
    LogScan& scan = scans->emplace_back();
    scan.place = place;
    scan.extent = std::move(extents[i++]);
    scan.extent->PopulateForReading();
    ScanChunk(db_.pool->secret(), &scan);
    scan.order = scan.first_sequence;
  }
  std::vector<LogFile> files;
  Status s =
      logs_->files() != nullptr ? FileLog::List(db_.options.env, logs_->files()->folder(), &files) : Status::OK();
  const uint64_t flushed = tree_->versions->manifest().flushed_sequence;
  uint64_t before = flushed;  // the last sequence before the file
  for (const LogFile& file : files) {
    LogScan& scan = scans->emplace_back();
    scan.file = file;
    if (s.ok()) s = ScanLogFile(db_.options.env, logs_->files()->folder(), flushed, &scan);
    scan.order = scan.first_sequence != 0 ? scan.first_sequence : before + 1;
    before = std::max(before, scan.last_sequence);
  }
  std::stable_sort(scans->begin(), scans->end(), [](const LogScan& a, const LogScan& b) { return a.order < b.order; });
  return s;
}

// Step 2: what of the scan counts. Corruption where what is missing was promised to be there.
Status Recovery::JudgeScan(const LogScan& scan, uint64_t last_sequence, bool* ended) {
  // Where stores reach the medium in no order (msync, files), an unsynced tail may have holes; elsewhere a hole is
  // damage.
  const bool holes_are_damage = scan.in_file()
                                    ? db_.options.paranoid_checks
                                    : db_.pool->persist_mode() != kPersistFile && !MIODB_MUTATED(kLogGapUnseen);
  const std::string& place = scan.in_file() ? logs_->files()->folder() : db_.pool->path();
  if (scan.damaged && (holes_are_damage || scan.place.sealed)) {
    return Status::Corruption(place, scan.Where() + ": damaged frame, later frames follow");
  }
  if (scan.first_sequence != 0 && (*ended || scan.first_sequence != last_sequence + 1)) {
    if (holes_are_damage) {
      return Status::Corruption(place, scan.Where() + ": writes after " + std::to_string(last_sequence) +
                                           " are missing, the next is " + std::to_string(scan.first_sequence));
    }
    *ended = !(scan.in_file() && MIODB_MUTATED(kLogFileGapUnseen));
  }
  if (scan.in_file() && (*ended || scan.damaged)) {
    db_.Log("%s: what follows after write %llu is left out: something is missing in between", scan.Where().c_str(),
            static_cast<unsigned long long>(std::max(last_sequence, scan.last_sequence)));
  }
  return Status::OK();
}

// Records stay where they are: the memtable refers to the chunk in the pool, as it did when they were written. The
// chunk's capacity becomes its valid length, so nothing is ever appended behind it.
// Each file is read again, one at a time, so that a log of any length needs the memory of one file.
Status Recovery::ReplayChunk(const LogScan& scan, MemTable* memtable) {
  RecordView record;
  for (const FrameView& frame : scan.frames) {
    for (const char* p = frame.body; p < frame.end; p += record.size()) {
      CHECK(ParseRecord(p, frame.end, &record));
      if (record.type() > kTypeValue)
        return Status::Corruption(db_.pool->path(), scan.Where() + ": unknown value type");
      memtable->Add(record.key, record.tag, p, record.size());
    }
  }
  auto chunk = std::make_unique<LogChunk>();
  chunk->id = scan.place.id;
  chunk->extent = scan.extent;
  chunk->base = scan.extent->data();
  chunk->capacity = scan.valid_bytes;
  chunk->used = scan.valid_bytes;
  memtable->segment().chunks.push_back(std::move(chunk));
  return Status::OK();
}

// The payload of batches from files goes into chunks in DRAM, as when they were written.
Status Recovery::ReplayFile(const LogScan& scan, MemTable* memtable) {
  std::vector<std::unique_ptr<LogChunk>>& chunks = memtable->segment().chunks;
  for (const std::string& batch : scan.batches) {
    std::vector<LogRecord> records;
    const uint64_t body_bytes = WritePath::AppendRecords(batch, &records);
    const uint64_t frame_bytes = FrameWriter::FrameSize(body_bytes);
    if (chunks.empty() || chunks.back()->in_pool() || chunks.back()->room() < frame_bytes) {
      std::unique_ptr<LogChunk> chunk;
      Status s =
          space_->NewMemoryChunk(std::max(space_->NextChunkBytes(), frame_bytes), frame_bytes, Pool::Leave(), &chunk);
      if (!s.ok()) return s;
      chunks.push_back(std::move(chunk));
    }
    uint64_t sequence = DecodeFixed64(batch.data());
    write_->frame_writer()->Write(chunks.back().get(), &records, body_bytes, sequence);
    for (const LogRecord& record : records) {
      memtable->Add(record.key, PackTag(sequence++, record.type), record.place, record.size());
    }
  }
  return Status::OK();
}

// A memtable takes chunks and files up to the size of a full one, so that recovery needs no more DRAM, and its flushes
// no more space, than the writes did. The flush and the fence at the end are for frames that only the CPU's cache may
// have had when the process died.
Status Recovery::ReplayLog(std::vector<ExtentRef> extents, uint64_t* last_sequence, VersionEdit* edit) {
  std::vector<LogScan> scans;
  Status s = ScanLog(std::move(extents), &scans);
  if (!s.ok()) return s;
  bool ended = false;
  MemTableRef memtable;
  const LogScan* last = nullptr;
  uint64_t capacity = 0;
  std::vector<FileLog::Kept> kept_files;
  std::vector<LogFile> unwanted_files;
  for (LogScan& scan : scans) {
    s = JudgeScan(scan, *last_sequence, &ended);
    if (!s.ok()) return s;
    if (scan.first_sequence == 0 || ended) {
      if (!scan.in_file()) {
        edit->removed_chunks.push_back(scan.place.id);
      } else if (scan.last_sequence != 0 && !ended) {
        kept_files.push_back(scan.AsKept());  // flushed already
      } else {
        unwanted_files.push_back(scan.file);
      }
      if (scan.in_file() && scan.damaged) ended = true;
      continue;
    }
    if (memtable == nullptr || capacity >= db_.options.write_buffer_size) {
      memtable = tree_->NewMemTable(BloomFilter::Pages::kAsUsed);
      tree_->immutables.push_front(memtable);
      capacity = 0;
    }
    s = scan.in_file() ? ReplayFile(scan, memtable.get()) : ReplayChunk(scan, memtable.get());
    if (!s.ok()) return s;
    capacity += scan.in_file() ? scan.valid_bytes : scan.place.size;
    *last_sequence = scan.last_sequence;
    if (scan.damaged) ended = true;
    if (scan.in_file()) kept_files.push_back(scan.AsKept());
    if (!scan.in_file() && !scan.place.sealed && !MIODB_MUTATED(kLogAppendAfterOpen)) {
      LogChunkPlace sealed = scan.place;
      sealed.sealed = true;
      sealed.sealed_size = scan.valid_bytes;
      edit->chunks.push_back(sealed);
      last = &scan;
      if (db_.pool->persist().fence_is_slow()) {
        db_.pool->persist().Flush(Purpose::kLog, scan.extent->data(), scan.valid_bytes);
      }
    }
  }
  if (logs_->files() != nullptr) {
    s = logs_->files()->Adopt(kept_files, unwanted_files);
    if (logs_->to_write() == nullptr) logs_->files()->EndFile();  // the one that made the removals durable
  }
  if (!s.ok() || last == nullptr) return s;
  char* const frame = last->extent->data() + (last->last_frame - last->extent->data());
  const uint64_t frame_bytes = last->valid_bytes - static_cast<uint64_t>(last->last_frame - last->extent->data());
  db_.pool->persist().Flush(Purpose::kLog, frame, frame_bytes);
  return db_.pool->persist().Fence(Purpose::kLog);
}

// ---- a volatile pool

// Takes up the files of the SSD tier, and finds out which log files are to be read.
// The log must reach as far as it did when files on SSD were made (SsdManifest::log_reach), or else reads could see
// newer files beside a log that has lost what came before. Nothing is replayed here: that takes threads.
Status Recovery::RecoverVolatile() {
  floor_->Begin();
  const uint64_t floor = floor_->manifest().state.flushed_sequence;
  std::vector<LogFile> files, unwanted;
  std::vector<FileLog::Kept> kept;
  Status s = FileLog::List(db_.options.env, logs_->files()->folder(), &files);
  uint64_t last_sequence = floor;
  bool ended = false;
  for (const LogFile& file : files) {
    LogScan scan;
    scan.file = file;
    if (s.ok()) s = ScanLogFile(db_.options.env, logs_->files()->folder(), floor, &scan);
    if (s.ok()) s = JudgeScan(scan, last_sequence, &ended);
    if (!s.ok()) return s;
    if (ended || scan.last_sequence == 0) {
      unwanted.push_back(file);
    } else {
      kept.push_back(scan.AsKept());
      if (scan.first_sequence != 0) to_replay_.push_back(file);
      last_sequence = std::max(last_sequence, scan.last_sequence);
    }
    ended = ended || scan.damaged;
  }
  if (s.ok() && last_sequence < floor_->manifest().log_reach) {
    s = Status::Corruption(logs_->files()->folder(),
                           "the log ends with write " + std::to_string(last_sequence) + "; it went on to " +
                               std::to_string(floor_->manifest().log_reach) + " when files on SSD were made");
  }
  if (s.ok()) s = logs_->files()->Adopt(kept, unwanted);
  if (s.ok()) logs_->files()->EndFile();  // the one that made the removals durable
  if (s.ok()) s = RemoveOrphans();
  if (!s.ok()) return s;
  floor_->RetireLog();
  write_->SetSequence(floor);
  return s;
}

// Writes what the log files hold into the pool once more. Before the database is anybody else's.
Status Recovery::Replay() {
  Status s;
  for (size_t i = 0; s.ok() && i < to_replay_.size(); i++) {
    LogScan scan;
    scan.file = to_replay_[i];
    s = ScanLogFile(db_.options.env, logs_->files()->folder(), floor_->manifest().state.flushed_sequence, &scan);
    for (size_t b = 0; s.ok() && b < scan.batches.size(); b++) s = write_->Replay(scan.batches[b]);
    if (s.ok()) {
      db_.Log("replayed log file %s, %zu of %zu, up to write %llu", scan.file.name().c_str(), i + 1, to_replay_.size(),
              static_cast<unsigned long long>(write_->sequence()));
    }
  }
  to_replay_.clear();
  floor_->ForgetFiles();
  return s;
}

// A limit below what is in use could be kept only by refusing every write, which the user would find out later and
// elsewhere.
Status Recovery::CheckRegionLimits() {
  for (int i = 0; i < db_.pool->regions().count(); i++) {
    const uint64_t limit = db_.pool->space().limit_of(i), used = db_.pool->space().used_in(i);
    if (limit == 0 || used <= limit) continue;
    const std::string option = i == 0 ? "Options::pool_size" : "its limit in Options::nvm_regions";
    return Status::InvalidArgument(
        db_.pool->regions().at(i).region->path(),
        "uses " + std::to_string(used) + " bytes; " + option + " is " + std::to_string(limit));
  }
  return Status::OK();
}

}  // namespace miodb
