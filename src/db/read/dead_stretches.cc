// The stretches in the order of keys, without overlaps.

#include "src/db/read/dead_stretches.h"

#include <iterator>
#include <utility>

#include "src/util/check/check.h"

namespace miodb {

bool DeadStretches::Find(const Slice& key, uint64_t sequence, uint64_t now_micros, Stretch* found) const {
  DCHECK(found != nullptr);
  if (count() == 0) return false;
  const MutexLock lock(&mutex_);
  auto at = stretches_.upper_bound(key);
  if (at == stretches_.begin()) return false;
  const Stretch& stretch = (--at)->second;
  if (order_.Compare(key, stretch.end) >= 0 || stretch.sequence > sequence || stretch.expired_by > now_micros)
    return false;
  *found = stretch;
  return true;
}

// The first that may overlap is the one that begins before the new one.
void DeadStretches::Add(Stretch stretch) {
  DCHECK_LT(order_.Compare(stretch.begin, stretch.end), 0);
  const MutexLock lock(&mutex_);
  auto first = stretches_.upper_bound(stretch.begin);
  if (first != stretches_.begin() && order_.Compare(std::prev(first)->second.end, stretch.begin) > 0) --first;
  auto end = first;
  for (; end != stretches_.end() && order_.Compare(end->first, stretch.end) < 0; ++end) {
    if (end->second.sequence > stretch.sequence) return;
  }
  while (first != end) Cut(first++, stretch);
  if (stretches_.size() >= kMost) ForgetOne();
  std::string begin = stretch.begin;
  stretches_.insert_or_assign(std::move(begin), std::move(stretch));
  count_.store(stretches_.size(), std::memory_order_relaxed);
}

// What lies outside of the new stretch stays.
void DeadStretches::Cut(Map::iterator at, const Stretch& stretch) {
  Stretch old = std::move(at->second);
  stretches_.erase(at);
  if (order_.Compare(stretch.end, old.end) < 0) {
    Stretch right = old;
    right.begin = stretch.end;
    std::string begin = right.begin;
    stretches_.emplace(std::move(begin), std::move(right));
  }
  if (order_.Compare(old.begin, stretch.begin) < 0) {
    old.end = stretch.begin;
    std::string begin = old.begin;
    stretches_.emplace(std::move(begin), std::move(old));
  }
}

void DeadStretches::ForgetOne() {
  DCHECK(!stretches_.empty());
  auto at = stretches_.upper_bound(forgotten_);
  if (at == stretches_.end()) at = stretches_.begin();
  forgotten_ = at->first;
  stretches_.erase(at);
}

}  // namespace miodb
