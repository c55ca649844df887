// BackgroundResources: what is behind SharedResources (miodb/shared_resources.h), and the one that databases share
// which name none.
//
// Threads: any.

#ifndef MIODB_SRC_DB_CONTEXT_BACKGROUND_RESOURCES_H_
#define MIODB_SRC_DB_CONTEXT_BACKGROUND_RESOURCES_H_

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "miodb/cache.h"
#include "miodb/options.h"
#include "miodb/shared_resources.h"
#include "miodb/status.h"
#include "src/db/context/db_hooks.h"
#include "src/db/context/memory_budget.h"
#include "src/memtable/block_pool.h"
#include "src/util/check/check.h"
#include "src/util/threads/background_threads.h"
#include "src/util/threads/fork_guard.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class BackgroundResources final : public SharedResources {
 public:
  explicit BackgroundResources(const SharedResourceOptions& options);
  ~BackgroundResources() override;

  // Gives the resources that the options of a database name, or the resources that all databases share whose options
  // name none. Options without a block cache get the resources' cache. In a child of fork(): IOError for resources of
  // the parent.
  static Status Share(Options* options, const std::string& database, std::shared_ptr<BackgroundResources>* resources);

  size_t Threads() const override;
  size_t MemoryBytes() const override { return budget_.used(); }

  MemoryBudget* budget() { return &budget_; }

  // A pool of blocks for memtables, which all have whose blocks are of this size and on this node. resources: nullptr:
  // a pool of the caller's own.
  static std::shared_ptr<BlockPool> BlocksOf(BackgroundResources* resources, size_t block_bytes, int node);

  BackgroundThreads* threads(BackgroundStep step) {
    DCHECK_LT(static_cast<size_t>(step), threads_.size());
    return threads_[static_cast<size_t>(step)].get();
  }

 private:
  static std::shared_ptr<BackgroundResources> Default();

  const ForkGuard fork_guard_;
  const std::unique_ptr<Cache> block_cache_;
  MemoryBudget budget_;
  Mutex mutex_;
  std::map<std::pair<size_t, int>, std::weak_ptr<BlockPool>> blocks_ GUARDED_BY(mutex_);
  std::array<std::unique_ptr<BackgroundThreads>, kBackgroundSteps> threads_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_BACKGROUND_RESOURCES_H_
