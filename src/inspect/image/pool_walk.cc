#include "src/inspect/image/pool_walk.h"

#include "miodb/comparator.h"
#include "src/log/log_piece.h"
#include "src/util/check/check.h"

// The walk itself. Bytes that it hands out lie inside of the pool's files: every extent that the manifest names is
// looked at before it is read.

namespace miodb {

// Under an order that the program does not have, records are still found: the walk compares no keys.
PoolWalk::PoolWalk(const PoolImage& image, PoolVisitor* visitor)
    : image_(image), visitor_(visitor), order_(BytewiseComparator()) {
  CHECK(visitor != nullptr);
  // Epoch 0 is that of no root. The area that a root names may lie outside of a file that was cut.
  const RootSlot root = image.Header().current;
  if (root.epoch == 0 || !image.IsExtent(root.manifest_offset, root.manifest_size)) return;
  has_manifest_ = true;
  manifest_ = ReadManifestArea(image, root.manifest_offset, root.manifest_size, root.generation);
  has_families_ = manifest_.state.has_families();
  const bool is_known = manifest_.state.comparator == order_.comparator()->Name();
  order_ = KeyOrder(is_known ? order_.comparator() : &unknown_, &has_families_);
}

// Ids of chunks ascend with their age, and the state has them in that order.
Status PoolWalk::Log() {
  CHECK(has_manifest_);
  Status s;
  for (const auto& [id, place] : manifest_.state.chunks) {
    if (s.ok()) s = visitor_->OnChunk(place);
    if (s.ok()) s = Chunk(place);
  }
  return s;
}

// Frames behind a hole are shown as well, and the hole after them all: whether they count is the history's to judge,
// and a dump shows what lies there.
Status PoolWalk::Chunk(const LogChunkPlace& place) {
  if (!image_.IsExtent(place.offset, place.size) || place.sealed_size > place.size) {
    return visitor_->OnDamage(ChunkName(place), "lies outside of the pool");
  }
  const LogPiece chunk = ReadLogChunk(place, image_.At(place.offset), image_.secret());
  for (const FrameView& frame : chunk.frames) {
    Status s = visitor_->OnFrame(image_.RefOf(frame.begin), frame);
    RecordView record;
    // The frame has checked, so its records can be read; one of an unknown type ends what can be shown of it.
    for (const char* p = frame.body; s.ok() && p < frame.end && ParseRecord(p, frame.end, &record);
         p += record.size()) {
      s = visitor_->OnRecord(record);
    }
    if (s.ok() && frame.has_unknown_type) s = visitor_->OnDamage(chunk.NameOf(frame), kUnknownValueType);
    if (!s.ok()) return s;
  }
  // Holes are told behind the frames, because whoever ends the walk at damage has seen all that can be read by then.
  for (const Problem& hole : chunk.holes) {
    Status s = visitor_->OnDamage(hole.place, hole.reason);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// Without a good header the table is walked all the same, if the visitor wants that: its leaves check by themselves.
Status PoolWalk::Table(const TablePlace& place) {
  CHECK(has_manifest_);
  if (!image_.IsExtent(place.index_offset, place.index_size)) {
    return visitor_->OnDamage("table " + std::to_string(place.number), "lies outside of the pool");
  }
  // Leaf after leaf, so entries come in key order, as far as the table is whole.
  const TableImage table(&image_, order_, place.index_offset, place.index_size, place.number);
  Status s;
  if (!table.header_problem().empty()) s = visitor_->OnDamage(table.Name(), table.header_problem());
  if (s.ok()) s = visitor_->OnTable(table, place);
  for (uint64_t i = 0; s.ok() && i < table.leaf_slots(); i++) s = Leaf(table, i);
  return s;
}

// An entry is told before its record, because if the record is damaged, its place is all that is known.
Status PoolWalk::Leaf(const TableImage& table, uint64_t number) {
  DCHECK_LT(number, table.leaf_slots());
  // Without its checksum a leaf's count is no bound, and its words lead anywhere.
  const std::string where = table.Name() + ", leaf " + std::to_string(number);
  const std::string damage = table.LeafProblem(number);
  if (!damage.empty()) return visitor_->OnDamage(where, damage);
  const LeafNode& leaf = table.Leaf(number);
  Status s;
  for (int i = 0; s.ok() && i < leaf.header.count; i++) {
    RecordView record;
    const std::string wrong = table.ReadEntry(leaf, i, &record);
    s = visitor_->OnEntry(number * kNodeFanout + static_cast<uint64_t>(i), IndexWord(leaf.word[i]).ref());
    if (!s.ok()) return s;
    s = wrong.empty() ? visitor_->OnRecord(record) : visitor_->OnDamage(where + ", entry " + std::to_string(i), wrong);
  }
  return s;
}

}  // namespace miodb
