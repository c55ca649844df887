#include "src/db/context/background_resources.h"

#include <atomic>
#include <exception>

#include "src/db/context/open_sizes.h"
#include "src/util/check/thread_annotations.h"
#include "src/util/threads/mutex.h"

// Databases that name no resources find those of the others by a weak pointer, so that these last until the last
// database is closed: a process without databases has no threads. In a child of fork() the pointer is to the parent's,
// whose threads the child does not have, so the child makes its own and lets the parent's be.

namespace miodb {

namespace {

// Threads of a kind in a process that has not said how many.
constexpr SharedResourceOptions kDefaultOptions;

struct DefaultResources {
  const ForkGuard fork_guard;
  Mutex mutex;
  std::weak_ptr<BackgroundResources> resources GUARDED_BY(mutex);
};

// Never destroyed: databases may be closed by destructors of static objects. A child of fork() has its own, since the
// parent's mutex may have been held by a thread that the child does not have.
DefaultResources* Defaults() {
  static std::atomic<DefaultResources*> defaults{nullptr};
  DefaultResources* known = defaults.load(std::memory_order_acquire);  // acquire: pairs with the exchange
  if (known != nullptr && !known->fork_guard.InChild()) return known;
  auto made = std::make_unique<DefaultResources>();
  // acq_rel: what was made is seen by whoever finds it. Another thread may have been first.
  if (!defaults.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return known;
  return made.release();
}

}  // namespace

SharedResources::~SharedResources() = default;

std::shared_ptr<SharedResources> NewSharedResources(const SharedResourceOptions& options) {
  if (options.threads_of_a_kind < 1 || options.threads_of_a_kind > 1024) return nullptr;
  try {
    return std::make_shared<BackgroundResources>(options);
  } catch (const std::exception&) {
    return nullptr;
  }
}

BackgroundResources::BackgroundResources(const SharedResourceOptions& options)
    : block_cache_(options.block_cache_bytes > 0 ? NewLRUCache(options.block_cache_bytes) : nullptr),
      budget_(options.memory_budget, options.memory_of_each) {
  CHECK_GT(options.threads_of_a_kind, 0);
  for (auto& threads : threads_) {
    threads = std::make_unique<BackgroundThreads>(static_cast<size_t>(options.threads_of_a_kind));
  }
}

// In a child of fork() the threads and their work are the parent's, and stay untouched.
BackgroundResources::~BackgroundResources() {
  if (!fork_guard_.InChild()) return;
  for (auto& threads : threads_) static_cast<void>(threads.release());
}

std::shared_ptr<BackgroundResources> BackgroundResources::Default() {
  DefaultResources* const defaults = Defaults();
  const MutexLock lock(&defaults->mutex);
  std::shared_ptr<BackgroundResources> found = defaults->resources.lock();
  if (found == nullptr) {
    found = std::make_shared<BackgroundResources>(kDefaultOptions);
    defaults->resources = found;
  }
  return found;
}

Status BackgroundResources::Share(Options* options, const std::string& database,
                                  std::shared_ptr<BackgroundResources>* resources) {
  CHECK(*resources == nullptr);
  // BackgroundResources is the only class of it, because a program cannot call the constructor.
  *resources = options->shared_resources == nullptr
                   ? Default()
                   : std::static_pointer_cast<BackgroundResources>(options->shared_resources);
  if (options->block_cache == nullptr) options->block_cache = (*resources)->block_cache_.get();
  if (!(*resources)->fork_guard_.InChild()) return Status::OK();
  return Status::IOError(database, "Options::shared_resources was made before fork(): only its process can use it");
}

// Pools are found by what their blocks are, and last as long as a database or one of its memtables has them.
std::shared_ptr<BlockPool> BackgroundResources::BlocksOf(BackgroundResources* resources, size_t block_bytes, int node) {
  if (resources == nullptr) return std::make_shared<BlockPool>(block_bytes, kSpareBlocks, node);
  const MutexLock lock(&resources->mutex_);
  std::weak_ptr<BlockPool>& known = resources->blocks_[{block_bytes, node}];
  std::shared_ptr<BlockPool> blocks = known.lock();
  if (blocks == nullptr) known = blocks = std::make_shared<BlockPool>(block_bytes, kSpareBlocks, node);
  return blocks;
}

size_t BackgroundResources::Threads() const {
  size_t sum = 0;
  for (const auto& threads : threads_) sum += threads->threads();
  return sum;
}

}  // namespace miodb
