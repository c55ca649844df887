#include "src/inspect/verify/verify_savepoints.h"

#include <algorithm>
#include <utility>

#include "src/inspect/image/manifest_image.h"
#include "src/log/log_history.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// Records behind the last that counts are another state's.
void ReadSavedState(const PoolImage& image, const AreaPlace& area, SavedState* saved) {
  ManifestImage manifest = ReadManifestArea(image, area.offset, area.size, area.generation, area.records);
  for (Problem& problem : manifest.problems) saved->report(std::move(problem));
  saved->state = std::move(manifest.state);
}

}  // namespace

std::vector<SavedState> ReadSavepoints(const PoolImage& image, const ManifestState& current, SpaceClaims* claims,
                                       const ReportProblem& report) {
  CHECK(claims != nullptr && report != nullptr);
  std::vector<SavedState> all;
  for (auto item = current.savepoints.rbegin(); item != current.savepoints.rend(); ++item) {
    SavedState& saved = all.emplace_back();
    saved.entry = item->second;
    const std::string name = "savepoint " + PrintableKey(saved.entry.name, SIZE_MAX);
    saved.report = [name, report](Problem p) { report({name + ", " + p.place, std::move(p.reason)}); };
    if (saved.entry.id >= current.next_id) report({name, "the next id is not above it"});
    if (claims->ClaimArea(saved.entry.area, saved.report)) {
      ReadSavedState(image, saved.entry.area, &saved);
    } else {
      all.pop_back();
    }
  }
  return all;
}

// The parts count as sealed chunks do: nothing in them may be missing, and nothing behind them belongs to the
// savepoint.
void VerifySavedLog(const PoolImage& image, const SavedState& saved, SpaceClaims* claims) {
  LogHistory log({LogPolicy::kVerify, LogHoles::kAreDamage, LogHoles::kAreDamage}, saved.report);
  for (const ChunkPart& part : saved.entry.chunks) {
    const auto chunk = saved.state.chunks.find(part.id);
    if (chunk == saved.state.chunks.end()) continue;  // its records are in tables of the state
    LogChunkPlace place = chunk->second;
    if (part.bytes > place.frame_limit()) {
      saved.report({ChunkName(place), "is shorter than the savepoint says"});
      continue;
    }
    if (!claims->ClaimPart(place, part.bytes, saved.report)) continue;
    place.sealed = true;
    place.sealed_size = part.bytes;
    log.AddChunk(place, image.At(place.offset), image.secret());
  }
  Status s = log.Judge(saved.state.flushed_sequence, 0);
  CHECK(s.ok());  // everything is told
  if (saved.entry.sequence < saved.state.flushed_sequence) saved.report({"savepoint", "is older than its state"});
  // Without a log all of it is in tables, and what was flushed meanwhile too.
  const uint64_t last = log.last_sequence();
  if (last < saved.entry.sequence || (last > saved.entry.sequence && !log.pieces().empty())) {
    saved.report(
        {"log", "ends at sequence " + std::to_string(last) + " and not at " + std::to_string(saved.entry.sequence)});
  }
}

}  // namespace miodb
