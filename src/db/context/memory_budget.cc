#include "src/db/context/memory_budget.h"

#include <utility>

namespace miodb {

// An account that has not said anything takes nothing.
void MemoryBudget::Open(Account* account, std::function<void()> ask) {
  CHECK(account != nullptr && ask != nullptr);
  const MutexLock lock(&mutex_);
  account->ask_ = std::move(ask);
  const bool added = accounts_.insert(account).second;
  CHECK(added);
}

// Memory of a closed database is free.
void MemoryBudget::Close(Account* account) {
  const MutexLock lock(&mutex_);
  if (accounts_.erase(account) == 0) return;
  CHECK_GE(used_, account->memtable_ + account->sealed_);
  used_ -= account->memtable_ + account->sealed_;
}

// A memtable that is smaller than before is another one, which nobody has asked for. An empty one takes nothing, so
// that a seal always shows.
void MemoryBudget::Set(Account* account, uint64_t memtable, uint64_t sealed) {
  const MutexLock lock(&mutex_);
  if (accounts_.count(account) == 0) return;
  CHECK_GE(used_, account->memtable_ + account->sealed_);
  used_ += memtable + sealed - account->memtable_ - account->sealed_;
  if (memtable < account->memtable_) account->asked_.store(false, std::memory_order_relaxed);  // relaxed: a wish
  account->memtable_ = memtable;
  account->sealed_ = sealed;
  if (bytes_ > 0 && used_ > bytes_) AskTheLargest();
}

// Sealed memtables, and memtables that were asked for, come free without asking anybody else. Asking the largest brings
// the sum down with the fewest flushes.
void MemoryBudget::AskTheLargest() {
  uint64_t coming = 0;
  for (const Account* const account : accounts_) {
    coming += account->sealed_ + (account->asked() ? account->memtable_ : 0);
  }
  while (used_ > bytes_ + coming) {
    Account* largest = nullptr;
    for (Account* const account : accounts_) {
      if (account->asked() || account->memtable_ <= least_) continue;
      if (largest == nullptr || account->memtable_ > largest->memtable_) largest = account;
    }
    if (largest == nullptr) return;
    largest->asked_.store(true, std::memory_order_relaxed);  // relaxed: a wish
    coming += largest->memtable_;
    largest->ask_();
  }
}

}  // namespace miodb
