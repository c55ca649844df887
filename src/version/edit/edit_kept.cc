// Kept log chunks in edits.

#include <iterator>

#include "src/format/pm_ref.h"
#include "src/format/record.h"
#include "src/util/check/check.h"
#include "src/version/edit/edit_fields.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

namespace {

bool IsWhole(const KeptChunk& chunk) {
  return chunk.bytes > 0 && chunk.bytes <= IndexWord::kMaxRef && chunk.first_sequence > 0 &&
         chunk.first_sequence <= chunk.last_sequence && chunk.last_sequence <= kMaxSequence;
}

// The last sequence is written as its distance from the first one.
bool GetKept(Slice* input, KeptChunk* chunk) {
  uint64_t more;
  DCHECK_EQ(chunk->bytes, 0u);
  if (!GetId(input, &chunk->id) || !GetNumbers(input, {&chunk->offset, &chunk->bytes, &chunk->first_sequence, &more}) ||
      chunk->first_sequence > kMostReadSequence || more > kMostReadSequence - chunk->first_sequence) {
    return false;
  }
  chunk->last_sequence = chunk->first_sequence + more;
  return IsWhole(*chunk);
}

}  // namespace

// A write that is in a gap, which only a foreign hand makes, is not found.
const KeptChunk* KeptChunks::Find(uint64_t sequence, uint64_t* begin) const {
  DCHECK_LT(sequence, *begin);
  DCHECK_EQ(by_age.size(), by_id.size());
  if (by_age.empty() || by_id.at(by_age.rbegin()->second).last_sequence + 1 != *begin) return nullptr;
  const auto behind = by_age.upper_bound({sequence, UINT64_MAX});
  if (behind != by_age.begin()) {
    const KeptChunk& chunk = by_id.at(std::prev(behind)->second);
    if (sequence <= chunk.last_sequence) return &chunk;
  }
  if (behind != by_age.end()) *begin = behind->first;
  return nullptr;
}

// Nothing, in an edit of a database that keeps no log.
void VersionEdit::EncodeKept(std::string* dst) const {
  PutRemoved(dst, kRemovedKeptChunk, removed_kept);
  for (const KeptChunk& chunk : kept) {
    CHECK(chunk.id <= kMostDrawnId && IsWhole(chunk));
    PutField(dst, kKeptChunk);
    PutNumbers(dst,
               {chunk.id, chunk.offset, chunk.bytes, chunk.first_sequence, chunk.last_sequence - chunk.first_sequence});
  }
}

bool VersionEdit::DecodeKept(uint8_t field, Slice* input) {
  DCHECK(input != nullptr);
  if (field == kKeptChunk) return GetKept(input, &kept.emplace_back());
  return field == kRemovedKeptChunk && GetVarint64(input, &removed_kept.emplace_back());
}

}  // namespace miodb
