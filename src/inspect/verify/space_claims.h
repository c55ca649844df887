// The owner of each part of a pool, as a check finds it out. Part of VerifyPool.
//
// Extents of the current state are claimed first, then extents of savepoints, the newest first. An extent that several
// savepoints name is claimed for the first of them.
//
// Threads: one. The image must outlive it.

#ifndef MIODB_SRC_INSPECT_VERIFY_SPACE_CLAIMS_H_
#define MIODB_SRC_INSPECT_VERIFY_SPACE_CLAIMS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/format/problem.h"
#include "src/log/log_chunk_place.h"
#include "src/nvm/pool/pool_image.h"
#include "src/version/edit/payload_place.h"
#include "src/version/edit/savepoint_entry.h"

namespace miodb {

class SpaceClaims {
 public:
  explicit SpaceClaims(const PoolImage& image) : image_(image) {}
  SpaceClaims(const SpaceClaims&) = delete;
  SpaceClaims& operator=(const SpaceClaims&) = delete;

  // False if the range cannot be read. Two owners of one range are a problem, and the range is read for both.
  bool Claim(PmRef offset, uint64_t size, const std::string& owner, const ReportProblem& report);
  bool ClaimChunk(const LogChunkPlace& chunk, const ReportProblem& report);

  // The same of what may be claimed already: a manifest's area, payload that states share, and the part of a log chunk
  // that a savepoint has, whose bytes may be those of a longer chunk or of payload. False also if the owners disagree.
  bool ClaimArea(const AreaPlace& area, const ReportProblem& report);
  void ClaimPayload(const PayloadPlace& place, const ReportProblem& report);
  bool ClaimPart(const LogChunkPlace& chunk, uint64_t bytes, const ReportProblem& report);

  // Reports claims that overlap. To be called after all claims.
  void CheckOverlaps(const ReportProblem& report) const;

  uint64_t extents() const { return extents_.size(); }
  uint64_t bytes() const;
  uint64_t payload_bytes() const;

 private:
  // The owner of an extent, in words for the report.
  struct Use {
    uint64_t size;
    std::string owner;
  };

  const PoolImage& image_;
  std::map<PmRef, Use> extents_;
  std::map<PmRef, AreaPlace> areas_;
  std::map<PmRef, PayloadPlace> payload_;  // as the first state describes it
  std::map<PmRef, uint64_t> chunks_;       // how much of a log chunk is claimed
};

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_VERIFY_SPACE_CLAIMS_H_
