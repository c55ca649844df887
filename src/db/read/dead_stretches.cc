// The stretches in the order of keys, without overlaps.

#include "src/db/read/dead_stretches.h"

#include <iterator>
#include <utility>

#include "src/format/record.h"
#include "src/util/check/check.h"

namespace miodb {

bool DeadStretches::Find(const Slice& key, const Moment& now, Stretch* found) {
  DCHECK(found != nullptr && now.sequence <= kMaxSequence);
  if (count() == 0) return false;
  const MutexTryLock lock(&mutex_);
  return lock.held() && FindHeld(key, now, found);
}

bool DeadStretches::FindHeld(const Slice& key, const Moment& now, Stretch* found) {
  auto at = stretches_.upper_bound(key);
  if (at == stretches_.begin()) return false;
  Rest& rest = (--at)->second;
  if (order_.Compare(key, rest.end) >= 0 || !now.IsBehind(rest.as_of)) return false;
  rest.found = true;
  *found = {at->first, rest.end, rest.as_of};
  return true;
}

void DeadStretches::Add(const Stretch& stretch) {
  DCHECK_LT(order_.Compare(stretch.begin, stretch.end), 0);
  if (stretch.begin.size() > kMostKeyBytes || stretch.end.size() > kMostKeyBytes) return;
  const MutexTryLock lock(&mutex_);
  if (lock.held()) AddHeld(stretch);
}

// The first that may overlap is the one that begins before the new one.
void DeadStretches::AddHeld(const Stretch& stretch) {
  auto first = stretches_.upper_bound(stretch.begin);
  if (first != stretches_.begin() && order_.Compare(std::prev(first)->second.end, stretch.begin) > 0) --first;
  auto end = first;
  for (; end != stretches_.end() && order_.Compare(end->first, stretch.end) < 0; ++end) {
    if (end->second.as_of.sequence > stretch.as_of.sequence) return;
  }
  while (first != end) Cut(first++, stretch);
  DCHECK(stretches_.find(stretch.begin) == stretches_.end());
  while (stretches_.size() >= kMost) ForgetOne();
  stretches_.insert_or_assign(stretch.begin, Rest{stretch.end, stretch.as_of});
  count_.store(stretches_.size(), std::memory_order_relaxed);  // relaxed: a hint
}

// The parts of the old stretch outside of the new one stay.
void DeadStretches::Cut(Map::iterator at, const Stretch& stretch) {
  DCHECK_LE(at->second.as_of.sequence, stretch.as_of.sequence);
  const std::string begin = at->first;
  Rest left = at->second;
  stretches_.erase(at);
  if (order_.Compare(stretch.end, left.end) < 0) stretches_.emplace(stretch.end, left);
  if (order_.Compare(begin, stretch.begin) >= 0) return;
  left.end = stretch.begin;
  stretches_.emplace(begin, std::move(left));
}

// Each stretch that was found is passed once, so the look ends in its second round.
void DeadStretches::ForgetOne() {
  DCHECK(!stretches_.empty());
  auto at = stretches_.upper_bound(looked_at_);
  for (;; ++at) {
    if (at == stretches_.end()) at = stretches_.begin();
    if (!std::exchange(at->second.found, false)) break;
  }
  looked_at_ = at->first;
  stretches_.erase(at);
}

}  // namespace miodb
