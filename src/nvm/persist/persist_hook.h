// Where the crash simulator stands: behind the door, beside the memory. Only the simulator build (MIODB_SIMULATOR, see
// cmake/MiodbSimulation.cmake) calls it; in every other build a call of the door has no argument and no branch more.
//
// A site is the place in the sources that called the door. Reports name it, and mutation tests disable it.
//
// Threads: as the door is called; a hook that is not thread-safe needs a database without threads.

#ifndef MIODB_SRC_NVM_PERSIST_PERSIST_HOOK_H_
#define MIODB_SRC_NVM_PERSIST_PERSIST_HOOK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <version>
#ifdef __cpp_lib_source_location
#include <source_location>
#endif

#include "miodb/options.h"

namespace miodb {

enum class Purpose : int;

#ifdef __cpp_lib_source_location
using PersistSite = std::source_location;
#else
// For clang 14, which lacks it. Functions go by their bare names.
class PersistSite {
 public:
  static constexpr PersistSite current(const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                                       uint32_t line = __builtin_LINE()) {
    return PersistSite(file, function, line);
  }
  const char* file_name() const { return file_; }
  const char* function_name() const { return function_; }
  uint32_t line() const { return line_; }

 private:
  constexpr PersistSite(const char* file, const char* function, uint32_t line)
      : file_(file), function_(function), line_(line) {}

  const char* file_;
  const char* function_;
  uint32_t line_;
};
#endif

class PersistHook {
 public:
  virtual ~PersistHook() = default;

  // Performs the store of Persist::Copy. streamed: with non-temporal instructions, which keep no order among
  // themselves. False: its way to the medium is not to be started.
  virtual bool OnCopy(const PersistSite& site, Purpose purpose, char* dst, const void* src, size_t n,
                      bool streamed) = 0;

  // Persist::Flush. False: as above.
  virtual bool OnFlush(const PersistSite& site, char* addr, size_t n) = 0;

  // Persist::Fence has begun. False: the fence is to do nothing.
  virtual bool OnFence(const PersistSite& site) = 0;

  // Stands for msync of [addr, addr + n) in file mode, between OnFence and the return of Persist::Fence.
  virtual void OnSync(char* addr, size_t n) = 0;

  // Calls from here to OnShareEnd are those of the thread that does this share of a job that stores for this purpose.
  virtual void OnShareBegin(Purpose purpose, size_t share) = 0;
  virtual void OnShareEnd() = 0;
};

// Memory of the caller that a pool lies in, instead of a file. The memory and its content stay the caller's. For tests:
// there is no lock, no name, and nothing survives but what the caller keeps.
struct MemoryMedium {
  char* base = nullptr;   // aligned to 4096
  uint64_t size = 0;      // bytes that the pool has now; grows with it. A new pool: bytes to start with
  uint64_t capacity = 0;  // bytes there are; those above size are zero
  uint64_t split = 0;     // where a second region may begin, a multiple of 4096; 0: nowhere
  PersistMode mode = kPersistEmulated;
  uint64_t created_micros = 0;                 // when a new pool is made, as it says itself
  std::function<uint64_t()> random = nullptr;  // what the pool draws ids from
  PersistHook* hook = nullptr;
};

}  // namespace miodb

#ifdef MIODB_SIMULATOR
#define MIODB_SITE_PARAMETER , const ::miodb::PersistSite& site = ::miodb::PersistSite::current()
#define MIODB_SITE_ARGUMENT , const ::miodb::PersistSite& site
#define MIODB_SITE_PASSED , site
#else
#define MIODB_SITE_PARAMETER
#define MIODB_SITE_ARGUMENT
#define MIODB_SITE_PASSED
#endif

#endif  // MIODB_SRC_NVM_PERSIST_PERSIST_HOOK_H_
