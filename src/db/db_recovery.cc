#include <algorithm>

#include "src/db/db_impl.h"
#include "src/log/frame_reader.h"
#include "src/util/check.h"
#include "src/util/clock.h"
#include "src/util/mutation.h"

// Recovery, step by step:
//
//   1 The pool finds its superblock and root; the manifest is replayed; every extent that it names is claimed, the rest
//     is free (pool.cc, version_set.cc). No data is read.
//   2 Every log chunk is scanned up to the last frame that checks. Chunks are put in order by their first sequence.
//     From the last flushed sequence on, sequences must follow one another without a gap.
//   3 The records go into memtables, which count as sealed and are flushed in the background like any others.
//   4 The last frame is flushed and fenced: a process that died between store and fence may have left it in the CPU's
//     cache only, and what is read from now on must not disappear at the next power failure.
//   5 One edit marks the chunks as sealed at their valid length and drops the empty ones. Nothing is ever appended to
//     a recovered chunk, so a torn frame, or a stale one behind it, can never come to count.
//
// What a crash leaves at any point: before the edit of step 5 everything as it was; after it the same state, sealed.
// So recovering twice is recovering once.

namespace miodb {

namespace {

struct ChunkScan {
  LogChunkPlace place;
  ExtentRef extent;
  uint64_t first_sequence = 0;  // 0: no frame
  uint64_t last_sequence = 0;
  uint64_t valid_bytes = 0;
  const char* last_frame = nullptr;
  bool damaged = false;  // valid frames follow after one that does not check
  std::vector<FrameView> frames;
};

// Finds the frames of a chunk.
void ScanChunk(ChunkScan* scan) {
  const char* const base = scan->extent->data();
  const uint64_t end = scan->place.sealed ? scan->place.sealed_size : scan->place.size;
  FrameView frame;
  while (scan->valid_bytes < end && ReadFrame(base + scan->valid_bytes, base + end, scan->place.id, &frame)) {
    if (scan->first_sequence == 0) {
      scan->first_sequence = frame.first_sequence;
    } else if (frame.first_sequence != scan->last_sequence + 1 && !MIODB_MUTATED(kFrameSequenceUnchecked)) {
      scan->damaged = true;
      return;
    }
    scan->frames.push_back(frame);
    scan->last_sequence = frame.first_sequence + frame.count - 1;
    scan->last_frame = frame.begin;
    scan->valid_bytes = static_cast<uint64_t>(frame.end - base);
  }
  if (scan->place.sealed) {
    scan->damaged = scan->valid_bytes != scan->place.sealed_size;
  } else if (scan->valid_bytes < end) {
    scan->damaged =
        FindLaterFrame(base + scan->valid_bytes, base + end, scan->place.id, scan->last_sequence) != nullptr;
  }
}

}  // namespace

Status DBImpl::Recover() {
  std::vector<ExtentRef> extents;
  Status s = versions_->Recover(options_.paranoid_checks, &extents);
  if (!s.ok()) return s;
  if (options_.pool_size > 0 && pool_->used_bytes() > options_.pool_size) {
    return Status::InvalidArgument(pool_->path(), "uses " + std::to_string(pool_->used_bytes()) +
                                                      " bytes; Options::pool_size is " +
                                                      std::to_string(options_.pool_size));
  }
  const uint64_t start = NowMicros();
  VersionEdit edit;
  uint64_t last_sequence = versions_->manifest().flushed_sequence;
  s = ReplayLog(std::move(extents), &last_sequence, &edit);
  if (s.ok() && !(edit.chunks.empty() && edit.removed_chunks.empty())) s = versions_->Apply(std::move(edit), {});
  if (!s.ok()) return s;
  if (ssd_ != nullptr) {
    std::set<uint64_t> named;
    for (const auto& [number, place] : versions_->manifest().files) named.insert(number);
    s = ssd_->RemoveOrphans(named);
    if (!s.ok()) return s;
  }
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

Status DBImpl::ReplayLog(std::vector<ExtentRef> extents, uint64_t* last_sequence, VersionEdit* edit) {
  std::vector<ChunkScan> scans;
  size_t i = 0;
  for (const auto& [id, place] : versions_->manifest().chunks) {
    ChunkScan& scan = scans.emplace_back();
    scan.place = place;
    scan.extent = std::move(extents[i++]);
    pool_->PopulateForReading(*scan.extent);
    ScanChunk(&scan);
  }
  std::stable_sort(scans.begin(), scans.end(),
                   [](const ChunkScan& a, const ChunkScan& b) { return a.first_sequence < b.first_sequence; });
  // Where stores reach the medium in no order (msync), an unsynced tail may have holes; elsewhere a hole is damage.
  const bool holes_are_damage = pool_->persist_mode() != kPersistFile && !MIODB_MUTATED(kLogGapUnseen);
  bool ended = false;
  MemTableRef memtable;
  const ChunkScan* last = nullptr;
  uint64_t capacity = 0;
  for (ChunkScan& scan : scans) {
    const std::string where = "log chunk " + std::to_string(scan.place.id) + " at offset " +
                              std::to_string(scan.place.offset + scan.valid_bytes);
    if (scan.damaged && (holes_are_damage || scan.place.sealed)) {
      return Status::Corruption(pool_->path(), where + ": damaged frame, later frames follow");
    }
    if (scan.first_sequence != 0 && !ended && scan.first_sequence != *last_sequence + 1) {
      if (holes_are_damage) {
        return Status::Corruption(pool_->path(), where + ": writes after " + std::to_string(*last_sequence) +
                                                     " are missing, the next is " +
                                                     std::to_string(scan.first_sequence));
      }
      ended = true;
    }
    if (scan.first_sequence == 0 || ended) {
      edit->removed_chunks.push_back(scan.place.id);
      continue;
    }
    if (memtable == nullptr || capacity >= options_.write_buffer_size) {
      memtable = NewMemTable(scan.place.id);
      immutables_.push_front(memtable);
      capacity = 0;
    }
    RecordView record;
    for (const FrameView& frame : scan.frames) {
      for (const char* p = frame.body; p < frame.end; p += record.size()) {
        CHECK(ParseRecord(p, frame.end, &record));
        if (record.type() > kTypeValue) return Status::Corruption(pool_->path(), where + ": unknown value type");
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
    capacity += scan.place.size;
    *last_sequence = scan.last_sequence;
    if (scan.damaged) ended = true;
    if (!scan.place.sealed && !MIODB_MUTATED(kLogAppendAfterOpen)) {
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
  if (last == nullptr) return Status::OK();
  char* const frame = last->extent->data() + (last->last_frame - last->extent->data());
  const uint64_t frame_bytes = last->valid_bytes - static_cast<uint64_t>(last->last_frame - last->extent->data());
  pool_->persist().Flush(Purpose::kLog, frame, frame_bytes);
  return pool_->persist().Fence(Purpose::kLog);
}

}  // namespace miodb
