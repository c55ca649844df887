// Records the cache lines that a thread reads and writes: the runtime of a build whose memory accesses call back.
//
// The compiler's instrumentation for ThreadSanitizer calls a function before every load and store; access_recorder.cc
// has functions of these names, and links in place of the sanitizer's library. memcpy and its like are wrapped by the
// linker. Nothing is checked: accesses are only noted while the thread records, by cache line, with the code that made
// them. The thread's own stack is left out.
//
// Threads: each records for itself. Costs: a hash table per access, so nothing here is to be timed.

#ifndef MIODB_TESTS_SCALING_ACCESS_RECORDER_H_
#define MIODB_TESTS_SCALING_ACCESS_RECORDER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace miodb::test {

inline constexpr uintptr_t kLineBytes = 64;

// Accesses to a cache line: the places in the code that read it and that wrote it.
struct LineAccess {
  std::set<uintptr_t> readers;
  std::set<uintptr_t> writers;
};

// By line: the address divided by kLineBytes.
using Accesses = std::map<uintptr_t, LineAccess>;

// From now on the calling thread's accesses are noted; until EndRecording, which returns them.
void BeginRecording();
Accesses EndRecording();

// Whether this program was built so that accesses call back: else nothing is ever noted.
bool RecorderWorks();

// Lines that one of two threads writes and the other one touches.
std::vector<uintptr_t> SharedLines(const Accesses& a, const Accesses& b);

// The function that has a place of the code, as the program's symbols say; "?" if they do not.
std::string FunctionAt(uintptr_t code);

}  // namespace miodb::test

#endif  // MIODB_TESTS_SCALING_ACCESS_RECORDER_H_
