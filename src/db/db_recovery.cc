#include <algorithm>

#include "src/api/write_batch_internal.h"
#include "src/db/db_impl.h"
#include "src/inspect/log_scan.h"
#include "src/util/check.h"
#include "src/util/clock.h"
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

Status DBImpl::Recover() {
  std::vector<ExtentRef> extents;
  Status s = versions_->Recover(options_.paranoid_checks, &extents);
  if (!s.ok()) return s;
  s = CheckRegionLimits();
  if (!s.ok()) return s;
  const uint64_t start = NowMicros();
  VersionEdit edit;
  uint64_t last_sequence = versions_->manifest().flushed_sequence;
  s = ReplayLog(std::move(extents), &last_sequence, &edit);
  if (s.ok() && !(edit.chunks.empty() && edit.removed_chunks.empty())) s = versions_->Apply(std::move(edit), {});
  if (!s.ok()) return s;
  RetireFileLog();
  s = RemoveOrphans();
  if (!s.ok()) return s;
  for (const auto& level : versions_->current()->levels) {
    for (const RunRef& run : level) unfiltered_.insert(unfiltered_.end(), run->tables.begin(), run->tables.end());
  }
  Log("replayed %llu writes in %llu us",
      static_cast<unsigned long long>(last_sequence - versions_->manifest().flushed_sequence),
      static_cast<unsigned long long>(NowMicros() - start));
  allocated_sequence_ = last_sequence;
  last_sequence_.store(last_sequence, std::memory_order_release);  // release: as by a leader
  return s;
}

// Removes table files that the manifest does not name.
Status DBImpl::RemoveOrphans() {
  if (ssd_ == nullptr) return Status::OK();
  std::set<uint64_t> named;
  for (const auto& [number, place] : versions_->manifest().files) named.insert(number);
  return ssd_->RemoveOrphans(named);
}

// Finds what is in every chunk and every log file, in the order in which it was written.
Status DBImpl::ScanLog(std::vector<ExtentRef> extents, std::vector<LogScan>* scans) {
  size_t i = 0;
  for (const auto& [id, place] : versions_->manifest().chunks) {
    LogScan& scan = scans->emplace_back();
    scan.place = place;
    scan.extent = std::move(extents[i++]);
    pool_->PopulateForReading(*scan.extent);
    ScanChunk(pool_->secret(), &scan);
    scan.order = scan.first_sequence;
  }
  std::vector<LogFile> files;
  Status s = file_log_ != nullptr ? FileLog::List(options_.env, file_log_->folder(), &files) : Status::OK();
  const uint64_t flushed = versions_->manifest().flushed_sequence;
  uint64_t before = flushed;  // the last sequence before the file
  for (const LogFile& file : files) {
    LogScan& scan = scans->emplace_back();
    scan.file = file;
    if (s.ok()) s = ScanLogFile(options_.env, file_log_->folder(), flushed, &scan);
    scan.order = scan.first_sequence != 0 ? scan.first_sequence : before + 1;
    before = std::max(before, scan.last_sequence);
  }
  std::stable_sort(scans->begin(), scans->end(), [](const LogScan& a, const LogScan& b) { return a.order < b.order; });
  return s;
}

// Step 2: what of the scan counts. Corruption where what is missing was promised to be there.
Status DBImpl::JudgeScan(const LogScan& scan, uint64_t last_sequence, bool* ended) {
  // Where stores reach the medium in no order (msync, files), an unsynced tail may have holes; elsewhere a hole is
  // damage.
  const bool holes_are_damage = scan.in_file() ? options_.paranoid_checks
                                               : pool_->persist_mode() != kPersistFile && !MIODB_MUTATED(kLogGapUnseen);
  const std::string& place = scan.in_file() ? file_log_->folder() : pool_->path();
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
    Log("%s: what follows after write %llu is left out: something is missing in between", scan.Where().c_str(),
        static_cast<unsigned long long>(std::max(last_sequence, scan.last_sequence)));
  }
  return Status::OK();
}

Status DBImpl::ReplayChunk(const LogScan& scan, MemTable* memtable) {
  RecordView record;
  for (const FrameView& frame : scan.frames) {
    for (const char* p = frame.body; p < frame.end; p += record.size()) {
      CHECK(ParseRecord(p, frame.end, &record));
      if (record.type() > kTypeValue) return Status::Corruption(pool_->path(), scan.Where() + ": unknown value type");
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
Status DBImpl::ReplayFile(const LogScan& scan, MemTable* memtable) {
  std::vector<std::unique_ptr<LogChunk>>& chunks = memtable->segment().chunks;
  for (const std::string& batch : scan.batches) {
    std::vector<LogRecord> records;
    const uint64_t body_bytes = AppendRecords(batch, &records);
    const uint64_t frame_bytes = FrameWriter::FrameSize(body_bytes);
    if (chunks.empty() || chunks.back()->in_pool() || chunks.back()->room() < frame_bytes) {
      std::unique_ptr<LogChunk> chunk;
      Status s = NewMemoryChunk(std::max(NextChunkBytes(), frame_bytes), frame_bytes, Pool::Leave(), &chunk);
      if (!s.ok()) return s;
      chunks.push_back(std::move(chunk));
    }
    uint64_t sequence = DecodeFixed64(batch.data());
    frame_writer_->Write(chunks.back().get(), &records, body_bytes, sequence);
    for (const LogRecord& record : records) {
      memtable->Add(record.key, PackTag(sequence++, record.type), record.place, record.size());
    }
  }
  return Status::OK();
}

Status DBImpl::ReplayLog(std::vector<ExtentRef> extents, uint64_t* last_sequence, VersionEdit* edit) {
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
    if (memtable == nullptr || capacity >= options_.write_buffer_size) {
      memtable = NewMemTable(BloomFilter::Pages::kAsUsed);
      immutables_.push_front(memtable);
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
      if (pool_->persist().fence_is_slow()) {
        pool_->persist().Flush(Purpose::kLog, scan.extent->data(), scan.valid_bytes);
      }
    }
  }
  if (file_log_ != nullptr) {
    s = file_log_->Adopt(kept_files, unwanted_files);
    if (file_log_to_write_ == nullptr) file_log_->EndFile();  // the one that made the removals durable
  }
  if (!s.ok() || last == nullptr) return s;
  char* const frame = last->extent->data() + (last->last_frame - last->extent->data());
  const uint64_t frame_bytes = last->valid_bytes - static_cast<uint64_t>(last->last_frame - last->extent->data());
  pool_->persist().Flush(Purpose::kLog, frame, frame_bytes);
  return pool_->persist().Fence(Purpose::kLog);
}

}  // namespace miodb
