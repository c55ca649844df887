// DbContext: what a database is and works with, from its open to its close. The parts of a database hold a reference
// to it, and none of them knows the others' owner.
//
// Threads: the open sets the fields, before any other thread knows of them, and the close lets go of them. Objects that
// change in between have locks or atomics of their own: statistics, tracer, pool, SSD tier's store, blocks. Ownership:
// everything that lies in the pool (tables, chunks, memtables) is gone before the context is, and so are the views of
// the database (view_db.h), which share its pool and its SSD tier's store.

#ifndef MIODB_SRC_DB_CONTEXT_DB_CONTEXT_H_
#define MIODB_SRC_DB_CONTEXT_DB_CONTEXT_H_

#include <cstdarg>
#include <cstdint>
#include <memory>
#include <string>

#include "miodb/env.h"
#include "miodb/options.h"
#include "src/db/context/background_resources.h"
#include "src/db/context/db_hooks.h"
#include "src/db/context/family_gate.h"
#include "src/db/context/family_operator.h"
#include "src/db/context/memory_budget.h"
#include "src/db/stats/events.h"
#include "src/db/stats/statistics.h"
#include "src/format/checksums.h"
#include "src/format/store_descriptor.h"
#include "src/memtable/memtable.h"
#include "src/nvm/pool/memory_env.h"
#include "src/nvm/pool/pool.h"
#include "src/ssd/ssd_store.h"
#include "src/trace/access_trace.h"
#include "src/trace/block_trace.h"
#include "src/trace/tracer.h"
#include "src/util/bytes/key_order.h"
#include "src/util/check/mutation.h"
#include "src/util/check/no_throw.h"
#include "src/util/clock/clock.h"
#include "src/util/threads/fork_guard.h"

namespace miodb {

struct DbContext {
  DbContext(const Options& user_options, const std::string& directory, const DbHooks& test_hooks);
  DbContext(const DbContext&) = delete;
  DbContext& operator=(const DbContext&) = delete;

  // A pool in memory that tests gave, about which there are no files.
  bool PoolIsOfTests() const { return hooks.memory != nullptr && env_memory == nullptr; }

  bool HasLog() const { return options.log_mode != kLogOff; }

  // The pool is volatile, and the log keeps every write until it is on SSD.
  bool LogsUntilSsd() const { return ssd != nullptr && pool->is_volatile(); }

  // As the database was opened with, for another context over the same state.
  Options UserOptions() const {
    Options user = options;
    user.merge_operator = merge_operator.user();
    return user;
  }

  // Each version is in one place: such a log brings back versions that files have already.
  bool VersionsOnce() const { return !LogsUntilSsd() || MIODB_MUTATED(kVersionsOnceAssumed); }

  // Reads could make nothing of operands without an operator. A repair reads none.
  bool MayMerge() const { return options.merge_operator != nullptr || hooks.opener == Opener::kRepair; }

  // How tables and files are read for these options.
  Checksums ChecksumsOf(const ReadOptions& read) const {
    return ChecksumsIf(read.verify_checksums || options.paranoid_checks);
  }
  SstReader::ReadMode SsdReadMode(const ReadOptions& read, BlockCaller caller) const {
    return {.checksums = ChecksumsOf(read), .fill_cache = read.fill_cache, .caller = caller};
  }

  // The moment up to which records have expired. The moment may go back when somebody sets the system's clock.
  uint64_t WallMicros() const { return hooks.wall_micros != nullptr ? hooks.wall_micros() : ::miodb::WallMicros(); }

  // A line of the info log, if it takes such lines. Without memory for it there is a message less.
  void Log(const char* format, ...) const __attribute__((format(printf, 2, 3)));
  void LogWarning(const char* format, ...) const __attribute__((format(printf, 2, 3)));
  // An error.
  void LogStatus(const char* what, const Status& s) const;

  Status OutOfMemory() const { return Status::IOError(name, "out of memory"); }
  Status InChild() const {
    return Status::IOError(name, "was opened before fork(): only the process that opened a database can use it");
  }

  // Returns the status of call(), or an error for an exception. Every call of the API that returns a status goes
  // through this.
  template <typename Call>
  Status WithMemory(Call call) const {
    if (fork_guard.InChild()) [[unlikely]]
      return InChild();
    return NoThrow(name, call);
  }

  // Starts the trace of the pool's memory, if options ask for one. REQUIRES: the directory is locked, so that an open
  // which is refused leaves the file to the one that has the database; there is a model, and no pool yet.
  Status StartDeviceTrace();

  const ForkGuard fork_guard;
  FamilyGate families;
  const FamilyOperator merge_operator;  // what options has, if the user gave one
  const Options options;
  const PoolPlace pool_place;  // as options name it
  const std::string name;      // the database directory
  const DbHooks hooks;
  const KeyOrder order;

  std::shared_ptr<BackgroundResources> resources;  // null: background work has no threads
  MemoryBudget::Account memory;                    // what memtables take of the resources' budget
  Placement placement;
  std::unique_ptr<AccessTrace> device_trace;  // null: none
  std::unique_ptr<BlockTrace> block_trace;    // null: none
  std::unique_ptr<NvmModel> nvm_model;        // null: none
  std::unique_ptr<Logger> own_log;
  Logger* info_log = nullptr;
  MemoryEnv::Memory env_memory;       // where the pool lies if options.env keeps its files in memory
  std::shared_ptr<Pool> pool;         // with the views of a database, which are gone before it
  std::shared_ptr<SsdStore> ssd;      // the same; null: no SSD tier
  std::shared_ptr<BlockPool> blocks;  // with other databases
  uint64_t chunk_bytes = 0;           // of a log chunk, in a database that is not small

  Statistics statistics;
  Events events{options.listeners};
  Tracer tracer{families.has_families()};

 private:
  void Logv(InfoLogLevel level, const char* format, va_list arguments) const;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_DB_CONTEXT_H_
