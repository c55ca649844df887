// A map from keys to values with a capacity: when it is full it lets go of entries to make room for new ones.
//
// A database with an SSD tier keeps blocks and records of its table files in one (Options::block_cache), by their
// bytes. Tables in the pool need none: they are read where they are. A cache may serve several databases, and the
// program's own entries beside them, if every user puts a number from NewId() in front of its keys.
//
// An entry counts against the capacity by its charge, in any unit as long as it is always the same: bytes, or 1 for
// each entry. The memory that the cache itself needs for an entry and its key is not counted.
//
//   const uint64_t id = cache->NewId();   // once, for keys of this kind
//   std::string key(reinterpret_cast<const char*>(&id), sizeof(id));
//   key += name;
//   miodb::Cache::Handle* handle = cache->Lookup(key);
//   if (handle == nullptr) handle = cache->Insert(key, new Thing(name), bytes, &DeleteThing);
//   Use(static_cast<Thing*>(cache->Value(handle)));
//   cache->Release(handle);
//
// A derived class may have another policy. The library relies only on what is said of each call here.
//
// After a crash: nothing, a cache is in memory alone.
//
// Threads: every method may be called from any number of threads at once.
//
// Ownership: the cache copies the key and takes over the value, which it gives to the deleter passed with it. The
// deleter is called once the entry is out of the cache and no handle to it is left. A handle is what Insert and Lookup
// return; while it is not released, the value stays. All handles must be released before the cache is deleted.
//
// A deleter may be called from any thread that uses the cache, inside Insert, Release, Erase, Prune and the
// destructor, with no lock of the cache held: it may use the cache itself. The key that it is given lives during the
// call.
//
// Errors: no call has any. Without memory Insert throws std::bad_alloc, has not taken the value over, and never calls
// the deleter for it; the library turns that into a status of the call that it was working for.

#ifndef MIODB_INCLUDE_CACHE_H_
#define MIODB_INCLUDE_CACHE_H_

#include <cstddef>
#include <cstdint>

#include "miodb/export.h"
#include "miodb/slice.h"

namespace miodb {

class Cache;

// A cache with the given capacity, in units of charge, that lets go of what was not used for the longest time. The
// cache is split into 16 parts with a lock and a sixteenth of the capacity each, so the order of use holds within a
// part. An entry heavier than a sixteenth is dropped as soon as it is released, together with all entries of its part
// that nobody uses. With capacity 0 nothing is kept: Insert returns a handle that is good until it is released, and
// Lookup finds nothing. The caller deletes the cache, after all databases that use it.
//
// Entries in use are never let go of and count as well, so while much is in use the charges may be above the capacity.
MIODB_EXPORT Cache* NewLRUCache(size_t capacity);

class MIODB_EXPORT Cache {
 public:
  Cache() = default;

  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // Gives all remaining values to their deleters. REQUIRES: no handle is left.
  virtual ~Cache();

  // Stands for one use of an entry. Belongs to the cache that returned it. Two uses of one entry have one address, and
  // each has to be released.
  struct Handle {};

  // Adds an entry, in place of one with the same key, and lets go of others if the charges are now above capacity.
  // Returns a handle to the entry, never nullptr, for the caller to release. A handle to the replaced entry stays good,
  // with the value of that entry. The value may be null; two threads that insert one key at once both get their own
  // entry, and the later one is found from then on.
  virtual Handle* Insert(const Slice& key, void* value, size_t charge,
                         void (*deleter)(const Slice& key, void* value)) = 0;

  // Returns a handle to the entry of this key for the caller to release, or nullptr if there is none, which is the
  // normal answer to a key that was let go of.
  virtual Handle* Lookup(const Slice& key) = 0;

  // Ends a use. An entry that nobody uses any more counts as used last at this moment; one that is not in the cache
  // any more goes to its deleter, in this thread. REQUIRES: handle came from this cache and was not released.
  virtual void Release(Handle* handle) = 0;

  // The value behind a handle, as Insert was given it. Takes no lock. REQUIRES: handle came from this cache and was
  // not released.
  virtual void* Value(Handle* handle) = 0;

  // Takes the entry of this key, if any, out of the cache: nobody finds it any more. The value lives on until the last
  // handle is released.
  virtual void Erase(const Slice& key) = 0;

  // A number that no earlier call on this cache returned. Users that share a cache put it in front of their keys to
  // keep them apart. The number means nothing to another cache, or in another process.
  virtual uint64_t NewId() = 0;

  // Lets go of every entry without a handle, for programs that need the memory now. The default does nothing.
  virtual void Prune() {}

  // The sum of the charges of all entries in the cache, used ones too; not of those that were erased or replaced and
  // are still in use. Approximate while other threads change it.
  virtual size_t TotalCharge() const = 0;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_CACHE_H_
