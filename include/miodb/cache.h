// A map from keys to values with a capacity: when it is full it lets go of entries to make room for new ones.
//
// What an entry weighs against the capacity is its charge, in any unit as long as it is always the same: bytes, or 1
// for each entry.
//
// Threads: every method may be called from any number of threads at once.
//
// Ownership: the cache copies the key and takes over the value, which it gives to the deleter passed with it. That
// happens once the entry is out of the cache and no handle to it is left. A handle is what Insert and Lookup return;
// while it is not released, the value stays. All handles must be released before the cache is deleted.
//
// A deleter may be called from any thread that uses the cache, inside Insert, Release, Erase, Prune and the
// destructor, with no lock of the cache held: it may use the cache itself.

#ifndef MIODB_INCLUDE_CACHE_H_
#define MIODB_INCLUDE_CACHE_H_

#include <cstddef>
#include <cstdint>

#include "miodb/export.h"
#include "miodb/slice.h"

namespace miodb {

class Cache;

// A cache with the given capacity, in units of charge, that lets go of what was not used for the longest time. It is
// split into 16 parts with a lock and a sixteenth of the capacity each, so the order of use holds within a part, and
// a single entry heavier than a sixteenth is dropped as soon as it is released. With capacity 0 nothing is kept.
// The caller deletes it.
MIODB_EXPORT Cache* NewLRUCache(size_t capacity);

class MIODB_EXPORT Cache {
 public:
  Cache() = default;

  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // Gives all remaining values to their deleters.
  virtual ~Cache();

  // Stands for one use of an entry. Belongs to the cache that returned it.
  struct Handle {};

  // Adds an entry, in place of one with the same key, and lets go of others if the charges are now above capacity.
  // Returns a handle to the entry, never nullptr, for the caller to release.
  virtual Handle* Insert(const Slice& key, void* value, size_t charge,
                         void (*deleter)(const Slice& key, void* value)) = 0;

  // Returns a handle to the entry of this key for the caller to release, or nullptr if there is none.
  virtual Handle* Lookup(const Slice& key) = 0;

  // Ends a use. REQUIRES: handle came from this cache and was not released.
  virtual void Release(Handle* handle) = 0;

  // The value behind a handle. REQUIRES: handle came from this cache and was not released.
  virtual void* Value(Handle* handle) = 0;

  // Takes the entry of this key, if any, out of the cache. Its value lives on until the last handle is released.
  virtual void Erase(const Slice& key) = 0;

  // A number that no earlier call on this cache returned. Users that share a cache put it in front of their keys to
  // keep them apart.
  virtual uint64_t NewId() = 0;

  // Lets go of every entry without a handle. The default does nothing.
  virtual void Prune() {}

  // The sum of the charges of all entries in the cache. Approximate while other threads change it.
  virtual size_t TotalCharge() const = 0;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_CACHE_H_
