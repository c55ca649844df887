// The LRU cache: 16 shards, each a hash map and a list of entries nobody uses, under a lock of its own.
//
// An entry is in one of three states:
//
//   idle       in the map, no handles; on the idle list, which is ordered by last use and from which room is made
//   used       in the map, with handles; on no list
//   detached   erased, replaced or never kept, with handles; the last release destroys it
//
// Deleters run after the lock was let go: entries to destroy are first collected in a list.

#include "miodb/cache.h"

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

namespace {

struct Entry : public Cache::Handle {
  std::string key;
  uint64_t hash = 0;
  void* value = nullptr;
  size_t charge = 0;
  void (*deleter)(const Slice& key, void* value) = nullptr;

  // The rest is guarded by the shard's lock.
  uint32_t handles = 0;
  bool in_map = false;
  Entry* prev = nullptr;  // towards the oldest of the idle list
  Entry* next = nullptr;  // towards the newest; also links entries to destroy
};

// A key and its hash, so that the key is hashed once for shard and map. The bytes are somebody else's: of the caller in
// a search, of the entry in the map.
struct HashedKey {
  std::string_view key;
  uint64_t hash;

  bool operator==(const HashedKey& other) const { return hash == other.hash && key == other.key; }
};

struct HashOf {
  size_t operator()(const HashedKey& k) const { return static_cast<size_t>(k.hash); }
};

HashedKey MakeKey(const Slice& key) {
  return {std::string_view(key.data(), key.size()), Hash64(key.data(), key.size())};
}

// Deleters run without the shard's lock: a deleter may use the cache, and may take as long as it likes. Nobody else
// has these entries any more, since they are in no map and have no handles.
void Destroy(Entry* list) {
  while (list != nullptr) {
    DCHECK(list->handles == 0 && !list->in_map);
    Entry* next = list->next;
    list->deleter(list->key, list->value);
    delete list;
    list = next;
  }
}

// Destroys what was collected in it, however its scope is left; made before the lock is taken.
struct Doomed {
  Doomed() = default;
  ~Doomed() { Destroy(list); }
  Doomed(const Doomed&) = delete;
  Doomed& operator=(const Doomed&) = delete;

  Entry* list = nullptr;
};

class alignas(64) Shard {
 public:
  Shard() { idle_.prev = idle_.next = &idle_; }

  // A handle that was not released would be used after this, so it ends the process here instead.
  ~Shard() {
    Entry* dead = nullptr;
    {
      MutexLock lock(&mu_);
      for (auto& [key, entry] : map_) {
        CHECK_EQ(entry->handles, 0u);  // a handle was not released
        entry->in_map = false;
        usage_ -= entry->charge;
        entry->next = dead;
        dead = entry;
      }
      CHECK_EQ(usage_, 0u);  // what was charged is the sum of what was there
      map_.clear();
    }
    Destroy(dead);
  }

  // Called once, before anybody uses the shard; a lower capacity would take effect with the next entry.
  void SetCapacity(size_t capacity) EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    CHECK(map_.empty());
    capacity_ = capacity;
  }

  // The entry begins with one handle, the caller's, so making room cannot take it away again. An entry that is in use
  // is never detached for room: usage_ is above the capacity then, until handles are released.
  // If there is no memory for its place in the map, the map does not have the new entry, and the entry of the same key
  // is gone all the same.
  void Insert(const HashedKey& key, Entry* entry) EXCLUDES(mu_) {
    Doomed dead;
    MutexLock lock(&mu_);
    DCHECK(entry->handles == 0 && !entry->in_map);
    entry->handles = 1;
    // A cache without capacity keeps nothing: the caller's handle is all that the entry has.
    if (capacity_ == 0) return;
    DetachLocked(key, &dead.list);
    // The map's key refers to the bytes in the entry, which live as long as it is in the map.
    const bool is_new = map_.emplace(HashedKey{entry->key, key.hash}, entry).second;
    CHECK(is_new);
    entry->in_map = true;
    usage_ += entry->charge;
    EvictLocked(capacity_, &dead.list);
  }

  // Takes the entry off the idle list, so that nobody makes room with it while it is used.

  Entry* Lookup(const HashedKey& key) EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    auto found = map_.find(key);
    if (found == map_.end()) return nullptr;
    Entry* entry = found->second;
    DCHECK(entry->in_map);
    if (entry->handles++ == 0) UnlinkLocked(entry);
    return entry;
  }

  // The last handle decides what becomes of the entry: the newest of the idle ones if it is still in the map, else
  // gone. Room is made here as well as in Insert, because only now there may be something to make it with.
  void Release(Entry* entry) EXCLUDES(mu_) {
    Entry* dead = nullptr;
    {
      MutexLock lock(&mu_);
      CHECK_GT(entry->handles, 0u);
      if (--entry->handles == 0) {
        if (entry->in_map) {
          LinkNewestLocked(entry);
          EvictLocked(capacity_, &dead);
        } else {
          entry->next = nullptr;
          dead = entry;
        }
      }
    }
    Destroy(dead);
  }

  // A handle keeps the value; a search does not find the entry any more.
  void Erase(const HashedKey& key) EXCLUDES(mu_) {
    Entry* dead = nullptr;
    {
      MutexLock lock(&mu_);
      DetachLocked(key, &dead);
    }
    Destroy(dead);
  }

  // All idle entries go, however much room there is.
  void Prune() EXCLUDES(mu_) {
    Entry* dead = nullptr;
    {
      MutexLock lock(&mu_);
      EvictLocked(0, &dead);
    }
    Destroy(dead);
  }

  size_t Usage() const EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    return usage_;
  }

 private:
  // An idle entry leaves the list in which only idle ones are: somebody uses it, or it is to be destroyed.
  void UnlinkLocked(Entry* entry) REQUIRES(mu_) {
    DCHECK(entry->prev != nullptr && entry->next != nullptr);
    DCHECK(entry->prev->next == entry && entry->next->prev == entry);
    entry->prev->next = entry->next;
    entry->next->prev = entry->prev;
    entry->prev = entry->next = nullptr;
  }

  // The last handle was released just now, so the entry is the last from which room is made.
  void LinkNewestLocked(Entry* entry) REQUIRES(mu_) {
    DCHECK(entry->handles == 0 && entry->prev == nullptr);
    entry->prev = idle_.prev;
    entry->next = &idle_;
    entry->prev->next = entry;
    idle_.prev = entry;
    DCHECK(idle_.next != &idle_ && idle_.next->handles == 0);
  }

  // Takes the entry of this key, if any, out of the map; puts it in front of *dead if nobody uses it.
  void DetachLocked(const HashedKey& key, Entry** dead) REQUIRES(mu_) {
    auto found = map_.find(key);
    if (found == map_.end()) return;
    Entry* entry = found->second;
    map_.erase(found);
    CHECK(entry->in_map);
    DCHECK_GE(usage_, entry->charge);
    entry->in_map = false;
    usage_ -= entry->charge;
    if (entry->handles == 0) {
      UnlinkLocked(entry);
      entry->next = *dead;
      *dead = entry;
    }
  }

  // Detaches idle entries, the oldest first, until the usage is at most "limit" or none is left.
  void EvictLocked(size_t limit, Entry** dead) REQUIRES(mu_) {
    while ((usage_ > limit || limit == 0) && idle_.next != &idle_) {
      const Entry* oldest = idle_.next;
      DetachLocked(HashedKey{oldest->key, oldest->hash}, dead);
    }
    DCHECK(usage_ <= limit || idle_.next == &idle_);
  }

  mutable Mutex mu_;
  size_t capacity_ GUARDED_BY(mu_) = 0;

  // Sum of the charges of all entries in the map.
  size_t usage_ GUARDED_BY(mu_) = 0;

  std::unordered_map<HashedKey, Entry*, HashOf> map_ GUARDED_BY(mu_);

  // Ends of the idle list: next is the oldest, prev the newest.
  Entry idle_ GUARDED_BY(mu_);
};

// Shards keep threads from meeting at one lock. A shard has its part of the capacity for good: moving capacity between
// shards would need a lock over all of them.
class ShardedLRUCache final : public Cache {
 public:
  explicit ShardedLRUCache(size_t capacity) {
    // Rounded up, so that a small capacity is not none.
    const size_t share = capacity / kShards + (capacity % kShards != 0 ? 1 : 0);
    for (Shard& shard : shards_) shard.SetCapacity(share);
  }

  // The key is hashed once, here; shard and map go by the same number. Without memory this throws before the value has
  // changed hands.
  Handle* Insert(const Slice& key, void* value, size_t charge,
                 void (*deleter)(const Slice& key, void* value)) override {
    const HashedKey hashed = MakeKey(key);
    auto entry = std::make_unique<Entry>();
    entry->key.assign(key.data(), key.size());
    entry->hash = hashed.hash;
    entry->value = value;
    entry->charge = charge;
    entry->deleter = deleter;
    ShardOf(hashed.hash).Insert(hashed, entry.get());
    return entry.release();
  }

  Handle* Lookup(const Slice& key) override {
    const HashedKey hashed = MakeKey(key);
    return ShardOf(hashed.hash).Lookup(hashed);
  }

  // The shard is found by the hash that the entry keeps: the key is not hashed again.
  void Release(Handle* handle) override {
    DCHECK(handle != nullptr);
    auto* entry = static_cast<Entry*>(handle);
    ShardOf(entry->hash).Release(entry);
  }

  void* Value(Handle* handle) override { return static_cast<Entry*>(handle)->value; }

  void Erase(const Slice& key) override {
    const HashedKey hashed = MakeKey(key);
    ShardOf(hashed.hash).Erase(hashed);
  }

  // Relaxed: the numbers only have to differ.
  uint64_t NewId() override { return last_id_.fetch_add(1, std::memory_order_relaxed) + 1; }

  void Prune() override {
    for (Shard& shard : shards_) shard.Prune();
  }

  // Shard by shard, so the sum is of no one moment.
  size_t TotalCharge() const override {
    size_t total = 0;
    for (const Shard& shard : shards_) total += shard.Usage();
    return total;
  }

 private:
  static constexpr int kShardBits = 4;
  static constexpr size_t kShards = size_t{1} << kShardBits;

  // By the top bits, because the map in the shard goes by the low ones.
  Shard& ShardOf(uint64_t hash) {
    static_assert(UINT64_MAX >> (64 - kShardBits) == kShards - 1);
    return shards_[hash >> (64 - kShardBits)];
  }

  Shard shards_[kShards];
  std::atomic<uint64_t> last_id_{0};
};

}  // namespace

Cache::~Cache() = default;

Cache* NewLRUCache(size_t capacity) { return new ShardedLRUCache(capacity); }

}  // namespace miodb
