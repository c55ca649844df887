// Resources that databases of one process share: the threads that do their background work, DRAM for memtables, a block
// cache.
//
// Databases that are opened with the same SharedResources have their flushes, merges and all other background work done
// by its threads. A database with nothing to do has no thread. Options::shared_resources names it; databases that name
// none share one that the process has from the first of them on until the last is closed.
//
//   miodb::SharedResourceOptions shared;
//   options.shared_resources = miodb::NewSharedResources(shared);
//   for (const std::string& name : names) status = miodb::DB::Open(options, name, &dbs[name]);
//
// Threads of one kind (preparing space, flushes, merges, jobs of the SSD tier) do nothing else, so that no flush waits
// behind merges. They serve their databases in turn, one piece of work at a time, and those first that none of them
// works for. Options of a database (max_background_merges, max_background_ssd_jobs) limit how many threads work for it
// at once. A database that is closed waits for its own work alone. Code of the program that runs in these threads
// (compaction filters, merge operators, comparators) must not wait for another database with the same resources,
// because all threads may be at such code. They have the CPUs and the memory policy of the thread that opened the first
// database, unless Options name others. Listeners, readers (DB::OpenReader) and MultiGet on SSD have threads of one
// database each, as options.h says.
//
// Ownership: shared by whoever has the pointer and by the databases, from their open to their close. The threads start
// with the first database that needs them and end with the object. After fork() it is the parent's: what the child
// opens with it is refused with IOError.
//
// Threads: all calls by any.

#ifndef MIODB_INCLUDE_SHARED_RESOURCES_H_
#define MIODB_INCLUDE_SHARED_RESOURCES_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "miodb/export.h"

namespace miodb {

struct MIODB_EXPORT SharedResourceOptions {
  // Threads of each kind for all databases together: as many as they want, but no more than this or the one database
  // that wants most. 1 to 1024. With one, a piece of work that takes long, or waits in code of the program, such as a
  // compaction filter, holds up all other databases.
  int threads_of_a_kind = 2;

  // Bytes of DRAM that the memtables of all databases take together, about; 0: as much as their options let each take.
  // If the databases take more, the database with the largest memtable flushes it, whichever database was written to
  // last. Databases that take no more than memory_of_each are left alone. Writers do not wait for that, so for the time
  // of a flush there may be more. An idle database takes a few KiB. The options of a single database
  // (write_buffer_size) hold besides.
  size_t memory_budget = 0;
  size_t memory_of_each = 256 * 1024;

  // Bytes of a cache for blocks of table files that all databases share which name none (Options::block_cache). 0: each
  // has its own.
  size_t block_cache_bytes = 0;
};

class MIODB_EXPORT SharedResources {
 public:
  SharedResources(const SharedResources&) = delete;
  SharedResources& operator=(const SharedResources&) = delete;
  virtual ~SharedResources();

  // Threads that there are now, and bytes of DRAM that memtables took when they last got or gave back a log chunk.
  virtual size_t Threads() const = 0;
  virtual size_t MemoryBytes() const = 0;

 protected:
  SharedResources() = default;
};

// nullptr: an option is out of its range, or there is no memory.
MIODB_EXPORT std::shared_ptr<SharedResources> NewSharedResources(
    const SharedResourceOptions& options = SharedResourceOptions());

}  // namespace miodb

#endif  // MIODB_INCLUDE_SHARED_RESOURCES_H_
