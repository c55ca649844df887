// From the frames of log chunks, or the indexes of these, to records in the order of keys.

#include "src/db/state/chunk_memtable.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "src/log/log_history.h"
#include "src/log/record_order.h"
#include "src/util/check/check.h"

namespace miodb {

// Records stay where they are: the memtable refers to the chunk in the pool, as it did when they were written. They are
// sorted and not inserted, or were sorted when the chunk was full: the tree over them is the flush's to build, while
// the database is in use. The chunk's capacity becomes its valid length, so nothing is ever appended behind it.
Status TakeUpChunk(const KeyOrder& order, const LogPiece& piece, const ExtentRef& extent, MemTable* memtable) {
  const SortedChunk::Bytes bytes = {extent->data(), piece.valid_bytes, piece.first_sequence, piece.last_sequence};
  if (piece.valid_bytes > kMaxOrderedBytes) return Status::NotSupported(piece.name, "is longer than 4 GiB");
  DCHECK(piece.replayed() && !piece.in_file());
  if (piece.index.has_value()) {
    DCHECK(piece.frames.empty());
    memtable->AddSorted(std::make_unique<SortedChunk>(order, bytes, piece.index->places, piece.index->count));
  } else {
    std::vector<uint32_t> places;
    std::vector<RecordView> ranges;
    places.reserve(piece.writes);
    RecordView record;
    for (const FrameView& frame : piece.frames) {
      CHECK(!frame.has_unknown_type);
      for (const char* p = frame.body; p < frame.end; p += record.size()) {
        CHECK(ParseRecord(p, frame.end, &record));
        if (record.type() == kTypeRangeDeletion) {
          ranges.push_back(record);
        } else {
          places.push_back(static_cast<uint32_t>(p - bytes.base));
        }
      }
    }
    SortByKey(order, bytes.base, bytes.base + bytes.size, &places);
    memtable->AddSorted(std::make_unique<SortedChunk>(order, bytes, std::move(places)));
    for (const RecordView& range : ranges) memtable->AddSortedRange(range.key, range.value, range.sequence());
    memtable->ShowRanges();
  }
  auto chunk = std::make_unique<LogChunk>();
  chunk->id = piece.place.id;
  chunk->extent = extent;
  chunk->base = extent->data();
  chunk->capacity = piece.valid_bytes;
  chunk->used = piece.valid_bytes;
  chunk->first_sequence = piece.first_sequence;
  if (piece.index.has_value()) chunk->stage = LogChunk::Stage::kRead;
  memtable->segment().chunks.push_back(std::move(chunk));
  return Status::OK();
}

// The chunks count as sealed, so every frame in them has to be good, and between them no write may be missing.
Status TakeUpLog(const KeyOrder& order, const Pool& pool, const Savepoint& savepoint, MemTable* memtable) {
  DCHECK(memtable != nullptr && memtable->empty());
  if (savepoint.log.empty()) return Status::OK();
  LogHistory log({LogPolicy::kRecover, LogHoles::kAreDamage, LogHoles::kAreDamage, pool.path()}, [](const Problem&) {});
  for (const SavedChunk& chunk : savepoint.log) log.AddChunk(chunk.place, chunk.extent->data(), pool.secret());
  Status s = log.Judge(savepoint.flushed_sequence, 0);
  if (!s.ok()) return s;
  if (log.last_sequence() != savepoint.entry.sequence) {
    return Status::Corruption(pool.path(), "the log of savepoint " + savepoint.entry.name + " ends at sequence " +
                                               std::to_string(log.last_sequence()) + " and not at " +
                                               std::to_string(savepoint.entry.sequence));
  }
  for (const LogPiece& piece : log.pieces()) {
    if (!piece.replayed()) continue;
    const auto chunk = std::find_if(savepoint.log.begin(), savepoint.log.end(),
                                    [&](const SavedChunk& saved) { return saved.place.id == piece.place.id; });
    CHECK(chunk != savepoint.log.end());
    s = TakeUpChunk(order, piece, chunk->extent, memtable);
    if (!s.ok()) return s;
  }
  return s;
}

}  // namespace miodb
