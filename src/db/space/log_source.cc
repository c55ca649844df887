// Functions that all sources of the log share.

#include "src/db/space/log_source.h"

#include <algorithm>
#include <string>

#include "src/util/check/check.h"

namespace miodb {

// Goes over the chunks once, without sorting them. A write that is in a gap, which only a foreign hand makes, is not
// found.
const KeptChunk* FindKept(const std::map<uint64_t, KeptChunk>& kept, uint64_t sequence, uint64_t* begin) {
  DCHECK_LT(sequence, *begin);
  const KeptChunk* hit = nullptr;
  uint64_t after = *begin, end = 0;
  for (const auto& [id, chunk] : kept) {
    if (chunk.first_sequence > sequence) after = std::min(after, chunk.first_sequence);
    end = std::max(end, chunk.last_sequence + 1);
    if (chunk.first_sequence <= sequence && sequence <= chunk.last_sequence) hit = &chunk;
  }
  if (end != *begin) return nullptr;
  if (hit == nullptr) *begin = after;
  return hit;
}

Status NoMoreInLog(uint64_t sequence, uint64_t oldest) {
  DCHECK_LT(sequence, oldest);
  return Status::NotFound("write " + std::to_string(sequence) + " is in the log no more",
                          "the oldest there is " + std::to_string(oldest) +
                              "; make the copy anew from a checkpoint, and hold more log with keep_log_bytes");
}

}  // namespace miodb
