// Internal keys under any order of user keys. Tags are compared as numbers: a sequence is the upper part of its tag.

#include "src/ssd/internal_key.h"

#include <vector>

namespace miodb {

// User keys ascend, and of one key the newest version comes first: a Seek to a key and a sequence then stands on the
// version that a read at that sequence sees.
int InternalKeyComparator::Compare(const Slice& a, const Slice& b) const {
  const int c = order_.Compare(UserKeyOf(a), UserKeyOf(b));
  if (c != 0) return c;
  const uint64_t tag_a = TagOf(a), tag_b = TagOf(b);
  return tag_a > tag_b ? -1 : tag_a < tag_b ? 1 : 0;
}

// Shortens the user key only, by the user's comparator, and checks that the result is shorter and lies between: a
// comparator that returns something else is not believed, and the whole key is used. At the limit itself the separator
// would be what a get of that key seeks.
void InternalKeyComparator::FindShortestSeparator(std::string* start, const Slice& limit) const {
  DCHECK_GE(start->size(), kInternalTagBytes);  // only writers of files ask
  const Slice user_start = UserKeyOf(*start);
  if (!MayShorten(user_start) || !MayShorten(UserKeyOf(limit))) return;
  std::string shorter = user_start.ToString();
  order_.comparator()->FindShortestSeparator(&shorter, UserKeyOf(limit));
  if (shorter.size() < user_start.size() && order_.Compare(user_start, shorter) < 0 &&
      order_.Compare(shorter, UserKeyOf(limit)) < 0) {
    // Before every version of the shorter key, so after all of start's.
    PutFixed64(&shorter, PackTag(kMaxSequence, kTypeForSeek));
    *start = std::move(shorter);
  }
}

// The same for the last key of a file, which has no next one.
void InternalKeyComparator::FindShortSuccessor(std::string* key) const {
  DCHECK_GE(key->size(), kInternalTagBytes);
  const Slice user_key = UserKeyOf(*key);
  if (!MayShorten(user_key)) return;
  std::string shorter = user_key.ToString();
  order_.comparator()->FindShortSuccessor(&shorter);
  if (shorter.size() < user_key.size() && order_.Compare(user_key, shorter) < 0) {
    PutFixed64(&shorter, PackTag(kMaxSequence, kTypeForSeek));
    *key = std::move(shorter);
  }
}

// Filters are of user keys: a get does not know the sequence of the version that it is going to find. A key with
// several versions is given as often.
void InternalFilterPolicy::CreateFilter(const Slice* keys, int n, std::string* dst) const {
  CHECK_GE(n, 0);
  std::vector<Slice> user_keys;
  user_keys.reserve(static_cast<size_t>(n));
  for (int i = 0; i < n; i++) user_keys.push_back(UserKeyOf(keys[i]));
  policy_->CreateFilter(user_keys.data(), n, dst);
}

// The key that is looked for has a tag as well, that of the read's sequence.
bool InternalFilterPolicy::KeyMayMatch(const Slice& key, const Slice& filter) const {
  return policy_->KeyMayMatch(UserKeyOf(key), filter);
}

}  // namespace miodb
