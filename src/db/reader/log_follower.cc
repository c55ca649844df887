// Frame by frame, or by the index of a chunk.

#include "src/db/reader/log_follower.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "src/db/state/chunk_memtable.h"
#include "src/log/chunk_index.h"
#include "src/log/frame_reader.h"
#include "src/util/check/check.h"

// A chunk that is full has an index and is taken up by it, as a recovery does; of others the frames are inserted, one
// after the other, as far as they check and follow. The updates of a call are in one frame, so the records up to the
// last frame are a state that the database had at some moment.

// Rules for frames:
//
//   a frame that checks and follows the last write     is inserted, or passed over if tables have its writes
//   one that checks and does not follow                waits: what comes before it is in another chunk, or on its way
//   one that does not check                            is the end of the chunk, for now
//
// Chunks come and go with the edits. A chunk that an edit takes out was flushed, whether its log is kept for followers
// or not, and its writes are in the tables of that edit. So the chunk goes with its memtable, and a write is never seen
// twice.

namespace miodb {

namespace {

// A frame that is being stored may be the old bytes for one step of the reading and the new ones for the next, which
// checks. If the frame checks, all of it was there by then, so a second reading reads the new bytes alone.
bool ReadStoredFrame(const char* p, const char* end, uint64_t secret, uint64_t chunk_id, FrameView* frame) {
  if (!ReadFrame(p, end, secret, chunk_id, frame)) return false;
  std::atomic_thread_fence(std::memory_order_acquire);  // the second reading comes after the first
  return ReadFrame(p, end, secret, chunk_id, frame);
}

}  // namespace

// A filter that fits the chunk: what lies in it is not known yet.
MemTableRef LogFollower::NewMemTable(const Chunk& chunk) const {
  DCHECK(db_.pool != nullptr && db_.blocks != nullptr);
  const size_t filter_bytes = MemTable::FilterBytes(db_.options.filter_bits_per_key, chunk.place.size);
  return std::make_shared<MemTable>(db_.order, db_.blocks.get(), filter_bytes, db_.pool->secret());
}

// A state from after a flush names the chunks that are left, so those before are forgotten with their memtables. The
// last sequence counts the writes in tables, however much of the log was read.
Status LogFollower::SetChunks(const ManifestState& state) {
  std::erase_if(chunks_, [&](const auto& item) { return state.chunks.count(item.first) == 0; });
  for (const auto& [id, place] : state.chunks) {
    Chunk& chunk = chunks_[id];
    chunk.place = place;
    if (chunk.extent != nullptr) continue;
    Status s =
        db_.pool->Claim(place.offset, RoundToUnit(std::max<uint64_t>(place.size, 1)), ExtentKind::kLog, &chunk.extent);
    if (!s.ok()) return s;
  }
  first_sequence_ = state.flushed_sequence + 1;
  last_sequence_ = std::max(last_sequence_, state.flushed_sequence);
  return Status::OK();
}

// Keys that are compared by the user's comparator may have another order than when the index was made.
bool LogFollower::TakeUpByIndex(Chunk* chunk, Status* s) {
  DCHECK_EQ(chunk->position, 0u);
  ChunkIndex index;
  if (!db_.order.bytewise() || !ReadChunkIndex(chunk->place, chunk->extent->data(), db_.pool->secret(), &index)) {
    return false;
  }
  std::atomic_thread_fence(std::memory_order_acquire);  // what is read by the index was there before it
  if (index.last_sequence() > last_sequence_ && index.first_sequence != last_sequence_ + 1) return false;
  if (index.last_sequence() > last_sequence_) {
    LogPiece piece;
    piece.place = chunk->place;
    piece.index = index;
    piece.valid_bytes = index.frame_bytes;
    piece.first_sequence = index.first_sequence;
    piece.last_sequence = index.last_sequence();
    piece.writes = index.count;
    piece.verdict = LogVerdict::kReplay;
    MemTableRef memtable = NewMemTable(*chunk);
    *s = TakeUpChunk(db_.order, piece, chunk->extent, memtable.get());
    if (!s->ok()) return true;
    chunk->memtable = std::move(memtable);
    chunk->first_sequence = piece.first_sequence;
    last_sequence_ = piece.last_sequence;
  }
  chunk->position = index.frame_bytes;
  return true;
}

// The memtable keeps the chunk's extent for whoever reads it after the chunk was flushed.
void LogFollower::Begin(Chunk* chunk) {
  DCHECK(chunk->memtable == nullptr);
  MemTableRef memtable = NewMemTable(*chunk);
  auto log = std::make_unique<LogChunk>();
  log->id = chunk->place.id;
  log->extent = chunk->extent;
  log->base = chunk->extent->data();
  log->capacity = chunk->place.size;
  memtable->segment().chunks.push_back(std::move(log));
  chunk->memtable = std::move(memtable);
}

// A frame of which the insertion was cut off, for want of memory, goes on where it ended: no record is inserted twice.
// Ranges of the part that was inserted before are shown with the rest.
Status LogFollower::Insert(const FrameView& frame, Chunk* chunk) {
  DCHECK_GT(frame.last_sequence(), last_sequence_);
  if (frame.has_unknown_type) return Status::Corruption(ChunkName(chunk->place), kUnknownValueType);
  if (chunk->memtable == nullptr) {
    Begin(chunk);
    chunk->first_sequence = frame.first_sequence;
  }
  RecordView record;
  for (const char* p = frame.body; p < frame.end; p += record.size()) {
    CHECK(ParseRecord(p, frame.end, &record));
    if (record.sequence() <= std::max(chunk->memtable->max_sequence(), inserted_)) continue;
    chunk->memtable->AddRecord(record.key, record.value, PackTag(record.sequence(), record.type()), p, record.size());
    inserted_ = record.sequence();
  }
  chunk->memtable->ShowRanges();
  return Status::OK();
}

bool LogFollower::Waits(const FrameView& frame) const {
  if (db_.order.bytewise() || db_.families.HasFamilies() || passed_ == frame.first_sequence) return false;
  RecordView record;
  for (const char* p = frame.body; p < frame.end; p += record.size()) {
    CHECK(ParseRecord(p, frame.end, &record));
    if (HasFamilyMark(record.key)) return true;
  }
  return false;
}

// A frame that does not follow waits for those before it, which are in another chunk, or on their way.
Status LogFollower::Read(Chunk* chunk, uint64_t last) {
  DCHECK(chunk->extent != nullptr);
  Status s;
  if (chunk->position == 0 && TakeUpByIndex(chunk, &s)) return s;
  const char* const base = chunk->extent->data();
  const char* const end = base + chunk->place.frame_limit();
  FrameView frame;
  while (chunk->position < chunk->place.frame_limit() &&
         ReadStoredFrame(base + chunk->position, end, db_.pool->secret(), chunk->place.id, &frame)) {
    const bool known = frame.last_sequence() <= last_sequence_;
    if (!known && (frame.first_sequence != last_sequence_ + 1 || frame.first_sequence > last)) break;
    waits_ = !known && Waits(frame);
    if (waits_) break;
    if (!known) s = Insert(frame, chunk);
    if (!s.ok()) return s;
    if (!known) last_sequence_ = frame.last_sequence();
    chunk->position += frame.bytes();
  }
  return s;
}

// A chunk is begun when the one before is complete, so each has writes that follow one another; which comes next only
// the sequences say.
Status LogFollower::Follow(uint64_t end) {
  uint64_t before;
  waits_ = false;
  do {
    before = last_sequence_;
    for (auto& [id, chunk] : chunks_) {
      Status s = Read(&chunk, end);
      if (!s.ok() || waits_) return s;
    }
  } while (last_sequence_ > before);
  return Status::OK();
}

// As Follow, but nothing is taken up: that is so much faster that the writer does not keep ahead of it.
uint64_t LogFollower::FindEnd() {
  end_ = std::max(end_, last_sequence_);
  uint64_t before;
  FrameView frame;
  ChunkIndex index;
  do {
    before = end_;
    for (auto& [id, chunk] : chunks_) {
      const char* const base = chunk.extent->data();
      const uint64_t limit = chunk.place.frame_limit();
      chunk.found = std::max(chunk.found, chunk.position);
      if (chunk.found == 0 && ReadChunkIndex(chunk.place, base, db_.pool->secret(), &index)) {
        if (index.first_sequence > end_ + 1) continue;
        end_ = std::max(end_, index.last_sequence());
        chunk.found = limit;
      }
      while (chunk.found < limit && ReadFrame(base + chunk.found, base + limit, db_.pool->secret(), id, &frame)) {
        if (frame.first_sequence > end_ + 1) break;
        end_ = std::max(end_, frame.last_sequence());
        chunk.found += frame.bytes();
      }
    }
  } while (end_ > before);
  return end_;
}

// A chunk ends where the next one with frames begins.
bool LogFollower::FindPart(uint64_t sequence, LogPart* part) const {
  const Chunk* hit = nullptr;
  uint64_t end = last_sequence_ + 1;
  for (const auto& [id, chunk] : chunks_) {
    if (chunk.memtable == nullptr) continue;
    if (chunk.first_sequence > sequence) end = std::min(end, chunk.first_sequence);
    if (chunk.first_sequence <= sequence && (hit == nullptr || hit->first_sequence < chunk.first_sequence))
      hit = &chunk;
  }
  if (hit == nullptr || sequence >= end) return false;
  *part = {hit->place.id, hit->extent, hit->place.frame_limit(), hit->first_sequence, end - 1};
  return true;
}

std::vector<MemTableRef> LogFollower::MemTables() const {
  std::vector<const Chunk*> filled;
  for (const auto& [id, chunk] : chunks_) {
    if (chunk.memtable != nullptr) filled.push_back(&chunk);
  }
  std::sort(filled.begin(), filled.end(),
            [](const Chunk* a, const Chunk* b) { return a->first_sequence > b->first_sequence; });
  std::vector<MemTableRef> memtables;
  for (const Chunk* chunk : filled) memtables.push_back(chunk->memtable);
  return memtables;
}

}  // namespace miodb
