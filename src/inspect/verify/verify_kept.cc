// Kept log chunks: their frames, and that they follow one another up to what is flushed.

#include "src/inspect/verify/verify_kept.h"

#include <algorithm>
#include <string>
#include <vector>

#include "src/log/log_piece.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

std::string Writes(uint64_t first, uint64_t last) {
  DCHECK_LE(first, last);
  return "writes " + std::to_string(first) + " to " + std::to_string(last);
}

// A table may have the extent as its payload, which claims it as well; so the chunk claims a part.
void VerifyChunk(const PoolImage& image, const KeptChunk& kept, SpaceClaims* claims, const ReportProblem& report) {
  const LogChunkPlace place = {kept.id, kept.offset, kept.bytes, true, kept.bytes};
  DCHECK(kept.bytes > 0 && kept.first_sequence <= kept.last_sequence);  // or the edit would not have been read
  if (!claims->ClaimPart(place, kept.bytes, report)) return;
  const LogPiece piece = ReadLogChunk(place, image.At(kept.offset), image.secret(), "kept ");
  for (const Problem& hole : piece.holes) report(hole);
  if (piece.first_sequence == kept.first_sequence && piece.last_sequence == kept.last_sequence) return;
  report({piece.name, "has " + Writes(piece.first_sequence, piece.last_sequence) + ", and should have " +
                          Writes(kept.first_sequence, kept.last_sequence)});
}

}  // namespace

void VerifyKept(const PoolImage& image, const ManifestState& state, SpaceClaims* claims, const ReportProblem& report) {
  CHECK(claims != nullptr && report != nullptr);
  if (state.kept.by_id.empty()) return;
  std::vector<KeptChunk> kept;
  for (const auto& [id, chunk] : state.kept.by_id) {
    if (id >= state.next_id) report({"kept log chunk " + std::to_string(id), "the next id is not above it"});
    VerifyChunk(image, chunk, claims, report);
    kept.push_back(chunk);
  }
  std::sort(kept.begin(), kept.end(),
            [](const KeptChunk& a, const KeptChunk& b) { return a.first_sequence < b.first_sequence; });
  for (size_t i = 1; i < kept.size(); i++) {
    if (kept[i].first_sequence == kept[i - 1].last_sequence + 1) continue;
    report(
        {"kept log chunk " + std::to_string(kept[i].id), TextOfGap(kept[i - 1].last_sequence, kept[i].first_sequence)});
  }
  if (kept.back().last_sequence != state.flushed_sequence) {
    report({"kept log", "ends with write " + std::to_string(kept.back().last_sequence) + ", and what is flushed with " +
                            std::to_string(state.flushed_sequence)});
  }
}

}  // namespace miodb
