#include "src/db/context/pool_full.h"

#include <algorithm>
#include <cstdint>

#include "src/nvm/pool/pool.h"
#include "src/util/check/check.h"
#include "src/version/version_set.h"

namespace miodb {

namespace {

// HeldBytes counts an extent for each savepoint that keeps it, so the figures are not added up: the savepoint that
// keeps most is named.
std::string DescribeSavepoints(const VersionSet& versions) {
  const Savepoint* most = nullptr;
  uint64_t bytes = 0;
  for (const auto& [id, savepoint] : versions.savepoints()) {
    DCHECK(savepoint != nullptr);
    const uint64_t held = versions.HeldBytes(*savepoint);
    if (held > bytes) most = savepoint.get();
    bytes = std::max(bytes, held);
  }
  if (most == nullptr) return "";
  return "; savepoints keep some of these, of " + std::to_string(versions.savepoints().size()) + " \"" +
         most->entry.name + "\" most, " + std::to_string(bytes) + " bytes, which are free when it is dropped";
}

}  // namespace

Status PoolFull(const Pool& pool, const VersionSet& versions, const std::string& what) {
  return Status::NoSpace(
      pool.path(), (what.empty() ? "" : what + "; ") + pool.space().DescribeFull() + DescribeSavepoints(versions));
}

}  // namespace miodb
