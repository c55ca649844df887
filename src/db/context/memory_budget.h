// MemoryBudget: the DRAM that the memtables of several databases may take together, and who gives some back when they
// take more.
//
// A database says what it takes whenever it has taken some or given some back: at each log chunk, seal and flush. Above
// the budget those with the largest memtables are asked to seal them, as many as bring it down once they are flushed;
// none whose memtable is at most the least that each may have. So the sum may be above the budget by what is being
// flushed and by what writers take meanwhile.
//
// Threads: any; its mutex is taken below those of databases, and the one of BackgroundThreads below it.

#ifndef MIODB_SRC_DB_CONTEXT_MEMORY_BUDGET_H_
#define MIODB_SRC_DB_CONTEXT_MEMORY_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>

#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class MemoryBudget {
 public:
  class Account;

  // bytes: 0: no limit.
  MemoryBudget(uint64_t bytes, uint64_t least) : bytes_(bytes), least_(least) {}
  ~MemoryBudget() { CHECK(accounts_.empty()); }
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // ask: called when the account's memtable is to be sealed, under the mutex; it waits for nothing.
  void Open(Account* account, std::function<void()> ask) EXCLUDES(mutex_);
  void Close(Account* account) EXCLUDES(mutex_);

  // Sets the memory of the account's memtable, and of the memtables that wait for their flush. Asks the databases that
  // are to seal.
  void Set(Account* account, uint64_t memtable, uint64_t sealed) EXCLUDES(mutex_);

  uint64_t used() const EXCLUDES(mutex_) {
    const MutexLock lock(&mutex_);
    return used_;
  }

 private:
  void AskTheLargest() REQUIRES(mutex_);

  const uint64_t bytes_;
  const uint64_t least_;
  mutable Mutex mutex_;
  std::set<Account*> accounts_ GUARDED_BY(mutex_);
  uint64_t used_ GUARDED_BY(mutex_) = 0;
};

// Of one database. The fields are those of MemoryBudget, under its mutex.
class MemoryBudget::Account {
 public:
  Account() = default;
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  // The memtable is to be sealed. relaxed: a wish
  bool asked() const { return asked_.load(std::memory_order_relaxed); }

 private:
  friend class MemoryBudget;

  std::function<void()> ask_;
  uint64_t memtable_ = 0;
  uint64_t sealed_ = 0;
  std::atomic<bool> asked_{false};
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_MEMORY_BUDGET_H_
