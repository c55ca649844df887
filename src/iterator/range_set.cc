// Cutting ranges into fragments is one sweep over their bounds; finding one is a look into a table of integers, and
// keys are compared where these are equal.

#include "src/iterator/range_set.h"

#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <set>

namespace miodb {

namespace {

// The deletions that begin and end at a bound.
struct Bound {
  std::vector<uint64_t> begins;
  std::vector<uint64_t> ends;
};

// Heads are divided by their value into about as many buckets as there are, up to so many.
constexpr size_t kMostBuckets = 1 << 16;

// By how many bits heads are shifted for the numbers of so many buckets, a power of two.
int BucketShift(uint64_t first, uint64_t last, size_t buckets) {
  return std::max(0, static_cast<int>(std::bit_width(last - first)) - std::countr_zero(buckets));
}

// Appends, of deletions of the same keys, newest first, only the deletions that some read tells apart: behind one comes
// the newest that the newest snapshot before it sees.
void AppendNeeded(const std::multiset<uint64_t, std::greater<>>& active, const std::vector<uint64_t>* snapshots,
                  std::vector<uint64_t>* result) {
  DCHECK(!active.empty());
  for (auto needed = active.begin(); needed != active.end();) {
    const uint64_t sequence = *needed;
    result->push_back(sequence);
    if (snapshots == nullptr) {
      needed = active.upper_bound(sequence);
      continue;
    }
    const auto seen = std::lower_bound(snapshots->begin(), snapshots->end(), sequence);
    if (seen == snapshots->begin()) return;
    needed = active.lower_bound(*std::prev(seen));
  }
}

}  // namespace

RangeSetRef RangeSet::Make(const KeyOrder& order, const std::vector<RangeDeletion>& ranges,
                           const std::vector<uint64_t>* snapshots) {
  const auto before = [&](const Slice& a, const Slice& b) { return order.Compare(a, b) < 0; };
  std::map<Slice, Bound, decltype(before)> bounds(before);
  for (const RangeDeletion& range : ranges) {
    DCHECK_GT(range.sequence, 0u);
    if (order.Compare(range.begin, range.end) >= 0) continue;
    bounds[range.begin].begins.push_back(range.sequence);
    bounds[range.end].ends.push_back(range.sequence);
  }
  if (bounds.empty()) return nullptr;
  const std::shared_ptr<RangeSet> set(new RangeSet(order));
  set->keys_.reserve(bounds.size());  // fragments refer to them
  std::multiset<uint64_t, std::greater<>> active;
  std::vector<size_t> first;  // of each fragment's sequences
  for (const auto& [key, bound] : bounds) {
    set->keys_.push_back(key.ToString());
    if (!active.empty()) {
      first.push_back(set->sequences_.size());
      AppendNeeded(active, snapshots, &set->sequences_);
      set->fragments_.push_back({set->keys_[set->keys_.size() - 2], set->keys_.back(), nullptr, 0});
    }
    for (const uint64_t sequence : bound.ends) active.erase(active.find(sequence));
    active.insert(bound.begins.begin(), bound.begins.end());
  }
  // Each range that began has ended, or the last fragment would have no end.
  CHECK(active.empty());
  first.push_back(set->sequences_.size());
  // Neighbours that are hidden by the same deletions become one.
  std::vector<RangeFragment> fragments;
  for (size_t i = 0; i < set->fragments_.size(); i++) {
    RangeFragment fragment = set->fragments_[i];
    fragment.sequences = &set->sequences_[first[i]];
    fragment.count = first[i + 1] - first[i];
    if (!fragments.empty() && fragments.back().end.data() == fragment.begin.data() &&
        std::equal(fragments.back().sequences, fragments.back().sequences + fragments.back().count, fragment.sequences,
                   fragment.sequences + fragment.count)) {
      fragments.back().end = fragment.end;
    } else {
      fragments.push_back(fragment);
    }
  }
  set->fragments_ = std::move(fragments);
  set->NoteHeads();
  return set;
}

// All bounds lie between the first and the last, so what these two begin with all of them do.
void RangeSet::NoteHeads() {
  CHECK(!fragments_.empty());
  if (!order_.bytewise()) return;
  const Slice a = bound(0), b = bound(bounds() - 1);
  while (prefix_ < std::min(a.size(), b.size()) && a[prefix_] == b[prefix_]) prefix_++;
  const size_t count = bounds();
  heads_.reserve(count);
  for (size_t i = 0; i < count; i++) heads_.push_back(KeyHead(bound(i), prefix_));
  DCHECK(std::is_sorted(heads_.begin(), heads_.end()));
  const size_t buckets = std::clamp<size_t>(std::bit_floor(count), 1, kMostBuckets);
  bucket_shift_ = BucketShift(heads_[0], heads_[count - 1], buckets);
  for (size_t bucket = 0, at = 0; bucket <= buckets; bucket++) {
    while (at < count && (heads_[at] - heads_[0]) >> bucket_shift_ < bucket) at++;
    buckets_.push_back(static_cast<uint32_t>(at));
  }
  if (prefix_ > sizeof(begin_)) return;
  plain_size_ = prefix_ + sizeof(uint64_t);
  memcpy(&begin_, a.data(), prefix_);
  memset(&begin_mask_, 0xff, prefix_);
}

// The answer of HasPlainHead for keys that HasPlainHead cannot decide.
bool RangeSet::HasHead(const Slice& key, uint64_t* head) const {
  DCHECK(heads_.empty() || heads_.size() == bounds());
  if (heads_.empty() || !key.starts_with(Slice(keys_[0].data(), prefix_))) return false;
  *head = KeyHead(key, prefix_);
  return true;
}

// Not inlined, so that what calls IsBefore keeps its registers.
bool RangeSet::IsBeforeByBytes(const Slice& key, size_t i) const { return order_.Compare(key, bound(i)) < 0; }

// The first of all heads that is not below this one, or their number.
size_t RangeSet::FindHead(uint64_t head) const {
  const size_t count = heads_.size();
  DCHECK_EQ(count, bounds());
  if (head <= heads_[0]) return 0;
  if (head > heads_[count - 1]) return count;
  const uint64_t bucket = (head - heads_[0]) >> bucket_shift_;
  DCHECK_LT(bucket + 1, buckets_.size());
  const uint64_t* at = &heads_[buckets_[bucket]];
  for (size_t left = buckets_[bucket + 1] - buckets_[bucket]; left > 0;) {
    const size_t half = left / 2;
    const bool below = at[half] < head;
    at += below ? half + 1 : 0;
    left = below ? left - half - 1 : half;
  }
  return static_cast<size_t>(at - heads_.data());
}

// Heads leave those bounds to be compared with whose heads are the key's.
size_t RangeSet::CountBounds(const Slice& key) const {
  size_t low = 0, high = bounds();
  DCHECK_GT(high, 0u);
  uint64_t head;
  if (HasPlainHead(key, &head) || HasHead(key, &head)) {
    low = FindHead(head);
    if (low == high || heads_[low] != head) return low;
    const auto first = heads_.begin() + static_cast<ptrdiff_t>(low);
    high = static_cast<size_t>(std::upper_bound(first, heads_.end(), head) - heads_.begin());
  } else if (!heads_.empty()) {
    return order_.Compare(key, bound(0)) < 0 ? 0 : high;  // all of them lie on one side
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    order_.Compare(key, bound(middle)) < 0 ? high = middle : low = middle + 1;
  }
  return low;
}

// A range goes on while the next fragment begins where this one ends and has its sequence too.
std::vector<RangeDeletion> RangeSet::Ranges() const {
  std::vector<RangeDeletion> ranges;
  std::map<uint64_t, size_t> open, next;  // by sequence: the range that ends at the fragment before
  DCHECK(!fragments_.empty());
  Slice end;
  for (const RangeFragment& fragment : fragments_) {
    if (end.data() != fragment.begin.data()) open.clear();
    next.clear();
    for (size_t i = 0; i < fragment.count; i++) {
      const auto found = open.find(fragment.sequences[i]);
      if (found != open.end()) {
        ranges[found->second].end = fragment.end.ToString();
        next.insert(*found);
      } else {
        next[fragment.sequences[i]] = ranges.size();
        ranges.push_back({fragment.begin.ToString(), fragment.end.ToString(), fragment.sequences[i]});
      }
    }
    open.swap(next);
    end = fragment.end;
  }
  return ranges;
}

size_t RangeSet::memory_bytes() const {
  size_t bytes = sizeof(*this) + sequences_.size() * sizeof(uint64_t) + heads_.size() * sizeof(uint64_t) +
                 buckets_.size() * sizeof(uint32_t) + fragments_.size() * sizeof(RangeFragment);
  DCHECK_GE(keys_.size(), 2u);
  for (const std::string& key : keys_) bytes += sizeof(key) + key.size();
  return bytes;
}

}  // namespace miodb
