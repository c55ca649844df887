// Cutting ranges into fragments is one sweep over their bounds; finding one is a look into a table of integers, and
// keys are compared where these are equal.

#include "src/iterator/range_set.h"

#include <bit>
#include <functional>
#include <map>
#include <set>

namespace miodb {

namespace {

// What begins and ends at a bound.
struct Bound {
  std::vector<uint64_t> begins;
  std::vector<uint64_t> ends;
};

// Heads are divided by their value into about as many buckets as there are, up to so many. Where a bucket has more than
// a few of them, these are halved first.
constexpr size_t kMostBuckets = 1 << 16;
constexpr size_t kFewHeads = 8;

// By how many bits heads are shifted for the numbers of so many buckets, a power of two.
int BucketShift(uint64_t first, uint64_t last, size_t buckets) {
  return std::max(0, static_cast<int>(std::bit_width(last - first)) - std::countr_zero(buckets));
}

// Of deletions of the same keys, newest first, those that some read tells apart.
void AppendNeeded(const std::multiset<uint64_t, std::greater<>>& active, const std::vector<uint64_t>* snapshots,
                  std::vector<uint64_t>* result) {
  DCHECK(!active.empty());
  uint64_t last = 0;
  for (const uint64_t sequence : active) {
    if (sequence == last) continue;
    if (last != 0 && snapshots != nullptr) {
      const auto seen = std::lower_bound(snapshots->begin(), snapshots->end(), sequence);
      if (seen == snapshots->end() || *seen >= last) continue;
    }
    result->push_back(sequence);
    last = sequence;
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
  const Slice a = fragments_.front().begin, b = fragments_.back().end;
  while (prefix_ < std::min(a.size(), b.size()) && a[prefix_] == b[prefix_]) prefix_++;
  const size_t count = fragments_.size();
  for (const RangeFragment& fragment : fragments_) head_.push_back(KeyHead(fragment.end, prefix_));
  DCHECK(std::is_sorted(head_.begin(), head_.end()));
  const size_t buckets = std::clamp<size_t>(std::bit_floor(count), 1, kMostBuckets);
  const int shift = BucketShift(head_[0], head_[count - 1], buckets);
  for (size_t bucket = 0, at = 0; bucket <= buckets; bucket++) {
    while (at < count && (head_[at] - head_[0]) >> shift < bucket) at++;
    head_.push_back(at);
  }
}

size_t RangeSet::FindEnd(const Slice& key) const {
  size_t low = 0, high = fragments_.size();
  DCHECK_GT(high, 0u);
  if (order_.bytewise()) {
    const int c = memcmp(key.data(), fragments_.front().begin.data(), std::min(prefix_, key.size()));
    if (c != 0 || key.size() < prefix_) return c > 0 ? high : 0;
    const uint64_t head = KeyHead(key, prefix_);
    const uint64_t* const heads = head_.data();
    const size_t count = high;
    if (head > heads[count - 1]) return count;
    if (head > heads[0]) {
      const uint64_t* const starts = heads + count;
      const uint64_t bucket = (head - heads[0]) >> BucketShift(heads[0], heads[count - 1], head_.size() - count - 1);
      DCHECK_LT(bucket, head_.size() - count - 1);
      low = starts[bucket];
      high = starts[bucket + 1];
      while (high - low > kFewHeads) {
        const size_t middle = low + (high - low) / 2;
        (heads[middle] < head ? low : high) = middle;
      }
      while (low < high && heads[low] < head) low++;
    }
    DCHECK(low < count && heads[low] >= head && (low == 0 || heads[low - 1] < head));
    if (heads[low] != head) return low;
    high = static_cast<size_t>(std::upper_bound(heads + low, heads + count, head) - heads);
  }
  const auto behind = [&](const Slice& k, const RangeFragment& fragment) {
    return order_.Compare(k, fragment.end) < 0;
  };
  const auto found = std::upper_bound(fragments_.begin() + static_cast<ptrdiff_t>(low),
                                      fragments_.begin() + static_cast<ptrdiff_t>(high), key, behind);
  return static_cast<size_t>(found - fragments_.begin());
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
  size_t bytes = sizeof(*this) + sequences_.size() * sizeof(uint64_t) + head_.size() * sizeof(uint64_t) +
                 fragments_.size() * sizeof(RangeFragment);
  DCHECK_GE(keys_.size(), 2u);
  for (const std::string& key : keys_) bytes += sizeof(key) + key.size();
  return bytes;
}

}  // namespace miodb
