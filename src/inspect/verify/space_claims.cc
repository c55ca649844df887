#include "src/inspect/verify/space_claims.h"

#include <algorithm>

#include "src/nvm/pool/extent.h"
#include "src/util/check/check.h"

namespace miodb {

bool SpaceClaims::Claim(PmRef offset, uint64_t size, const std::string& owner, const ReportProblem& report) {
  const std::string place = "extent at offset " + std::to_string(offset) + " of " + std::to_string(size) + " bytes";
  if (!image_.IsExtent(offset, size)) {
    report({place, owner + " lies outside of the pool's " + std::to_string(image_.size()) + " bytes"});
    return false;
  }
  // Overlaps are found by CheckOverlaps, once all are known.
  const auto [at, fresh] = extents_.emplace(offset, Use{size, owner});
  if (!fresh) {
    report({place, "belongs to " + owner + " and to " + at->second.owner});
    // The larger range is kept, so that no overlap with a third owner is missed.
    at->second.size = std::max(at->second.size, size);
  }
  return true;
}

// The area in force may be the one that savepoints need, and several of them may need the same records.
bool SpaceClaims::ClaimArea(const AreaPlace& area, const ReportProblem& report) {
  const std::string place = "manifest at offset " + std::to_string(area.offset);
  const auto [at, fresh] = areas_.emplace(area.offset, area);
  if (fresh) {
    const bool good = Claim(area.offset, area.size, "manifest", report);
    if (!good) areas_.erase(at);
    return good;
  }
  if (at->second.size == area.size && at->second.generation == area.generation) return true;
  report({place, "is described in two ways"});
  return false;
}

// The first state that names an extent claims it, and the others have to agree. Live bytes are each state's own.
void SpaceClaims::ClaimPayload(const PayloadPlace& place, const ReportProblem& report) {
  const auto [at, fresh] = payload_.emplace(place.offset, place);
  const std::string name = "payload extent at offset " + std::to_string(place.offset);
  if (fresh) {
    if (!Claim(place.offset, place.size, "payload", report)) payload_.erase(at);  // nobody finds bytes there
    return;
  }
  const PayloadPlace& known = at->second;
  if (known.size == place.size && known.kind == place.kind && known.payload_bytes == place.payload_bytes) return;
  report({name, "is described in two ways"});
}

bool SpaceClaims::ClaimChunk(const LogChunkPlace& chunk, const ReportProblem& report) {
  if (!Claim(chunk.offset, chunk.size, ChunkName(chunk), report)) return false;
  chunks_.emplace(chunk.offset, chunk.size);
  return true;
}

// A chunk that was flushed is the payload of tables, and was cut off behind its last frame. A chunk that was not
// flushed may have become longer. So if the bytes are claimed already, the claim has to be of a log.
bool SpaceClaims::ClaimPart(const LogChunkPlace& chunk, uint64_t bytes, const ReportProblem& report) {
  const std::string name = ChunkName(chunk);
  uint64_t known = 0;
  const auto payload = payload_.find(chunk.offset);
  if (payload != payload_.end() && payload->second.kind == ExtentKind::kLog) known = payload->second.size;
  const auto part = chunks_.find(chunk.offset);
  if (part != chunks_.end()) known = std::max(known, part->second);
  if (known == 0) {
    const uint64_t size = bytes > image_.size() ? bytes : RoundToUnit(std::max<uint64_t>(bytes, 1));
    if (!Claim(chunk.offset, size, name, report)) return false;
    chunks_.emplace(chunk.offset, size);
    return true;
  }
  if (known < bytes)
    report({name, "has " + std::to_string(known) + " bytes, and should have " + std::to_string(bytes)});
  return known >= bytes;
}

// Extents lie in order of their offsets, so an overlap is seen at the next one. Space without an extent is free: there
// is nothing else to compare it with.
void SpaceClaims::CheckOverlaps(const ReportProblem& report) const {
  PmRef end = kPoolHeaderSize;
  std::string last = "the header page";
  for (const auto& [offset, use] : extents_) {
    if (offset < end) {
      report({"extent at offset " + std::to_string(offset), "of " + use.owner + " overlaps that of " + last});
    }
    DCHECK(use.size > 0 && use.size <= UINT64_MAX - offset);  // Claim has seen that it lies in the pool
    end = std::max(end, offset + use.size);
    last = use.owner;
  }
}

uint64_t SpaceClaims::bytes() const {
  uint64_t bytes = 0;
  for (const auto& [offset, use] : extents_) bytes += use.size;
  return bytes;
}

uint64_t SpaceClaims::payload_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [offset, payload] : payload_) bytes += payload.payload_bytes;
  return bytes;
}

}  // namespace miodb
