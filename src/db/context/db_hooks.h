// How a repair, or a test, drives a database.

#ifndef MIODB_SRC_DB_CONTEXT_DB_HOOKS_H_
#define MIODB_SRC_DB_CONTEXT_DB_HOOKS_H_

#include <cstddef>
#include <cstdint>

namespace miodb {

struct MemoryMedium;

// Kinds of background work.
enum class BackgroundStep { kPrepare, kFlush, kMerge, kSsd };
inline constexpr size_t kBackgroundSteps = 4;

// Who opens a database.
enum class Opener {
  kProgram,
  kRepair,  // writes what it has found: records of families, and operands without an operator
};

// The threads that do background work.
enum class BackgroundMode {
  kThreads,
  kBySteps,  // RunStep, or a call that cannot go on without the work; there are no threads
};

struct DbHooks {
  BackgroundMode background = BackgroundMode::kThreads;

  // The memory in which the pool lies, instead of in a file. The memory outlives the database.
  MemoryMedium* memory = nullptr;

  Opener opener = Opener::kProgram;

  // CPUs that writers and background threads are said to share; 0: those that the machine has.
  size_t cpus = 0;

  // The date in microseconds since 1970, by which records expire; null: that of the system.
  uint64_t (*wall_micros)() = nullptr;

  // The clock by which writers are quiet, in microseconds; null: with threads that of the system, without threads
  // writers never are.
  uint64_t (*quiet_micros)() = nullptr;

  // Called between the pin of a state and the look at the newest sequence, where the two have to fit.
  void (*after_pin)() = nullptr;

  // Called before each step of background work that a caller without threads does; it may call the database.
  void (*before_step)() = nullptr;

  // Space that was free for so long is given back to the file system.
  uint64_t give_back_micros = 10 * 1000 * 1000;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_DB_HOOKS_H_
