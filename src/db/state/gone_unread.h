// GoneUnread: tables that were dropped unread, because every record in them had expired. A condition on a key finds the
// key in no table then, and asks here.
//
// The newest 64 tables are known by the bounds of their keys, older ones by their newest write alone.
//
// Threads: any. Add comes before the edit that drops the table, so a thread that has pinned a version without the table
// is told. After a crash: nothing, as nobody has read anything yet.

#ifndef MIODB_SRC_DB_STATE_GONE_UNREAD_H_
#define MIODB_SRC_DB_STATE_GONE_UNREAD_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <string>

#include "src/format/record.h"
#include "src/util/bytes/key_order.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class GoneUnread {
 public:
  // A table with keys from smallest to largest, and no write newer than this one.
  void Add(const Slice& smallest, const Slice& largest, uint64_t sequence) {
    DCHECK(sequence > 0 && sequence <= kMaxSequence);
    const MutexLock lock(&mutex_);
    try {
      tables_.push_back({smallest.ToString(), largest.ToString(), sequence});
    } catch (const std::bad_alloc&) {
      rest_ = std::max(rest_, sequence);
    }
    if (tables_.size() > kMostTables) {
      rest_ = std::max(rest_, tables_.front().sequence);
      tables_.pop_front();
    }
    any_.store(true, std::memory_order_release);  // release: who sees it finds the table
  }

  // The newest write to the key that may have gone; 0: none has.
  uint64_t NewestOf(const KeyOrder& order, const Slice& key) const {
    if (!any_.load(std::memory_order_acquire)) return 0;  // acquire: pairs with Add
    const MutexLock lock(&mutex_);
    uint64_t newest = rest_;
    for (const Table& table : tables_) {
      if (order.Compare(key, table.smallest) < 0 || order.Compare(key, table.largest) > 0) continue;
      newest = std::max(newest, table.sequence);
    }
    return newest;
  }

 private:
  static constexpr size_t kMostTables = 64;

  struct Table {
    std::string smallest;
    std::string largest;
    uint64_t sequence;
  };

  std::atomic<bool> any_{false};
  mutable Mutex mutex_;
  std::deque<Table> tables_ GUARDED_BY(mutex_);  // the newest, in the order in which they went
  uint64_t rest_ GUARDED_BY(mutex_) = 0;         // newest write of the others
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_STATE_GONE_UNREAD_H_
