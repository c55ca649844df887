// Versions of runs without tables, for what looks at runs alone.

#ifndef MIODB_TESTS_COMPACTION_VERSIONS_H_
#define MIODB_TESTS_COMPACTION_VERSIONS_H_

#include <memory>
#include <vector>

#include "src/version/version.h"

namespace miodb::test {

// ids[level]: newest first.
inline std::shared_ptr<Version> MakeVersion(const std::vector<std::vector<uint64_t>>& ids) {
  auto version = std::make_shared<Version>();
  for (const std::vector<uint64_t>& level : ids) {
    auto& runs = version->levels.emplace_back();
    for (uint64_t id : level) {
      auto run = std::make_shared<miodb::Run>();
      run->id = id;
      runs.push_back(std::move(run));
    }
  }
  version->ListRuns();
  return version;
}

inline std::vector<uint64_t> Ids(const std::vector<RunRef>& runs) {
  std::vector<uint64_t> ids;
  for (const RunRef& run : runs) ids.push_back(run->id);
  return ids;
}

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMPACTION_VERSIONS_H_
