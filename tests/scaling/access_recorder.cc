// The functions that instrumented code calls. This file itself is compiled without the instrumentation.

#include "tests/scaling/access_recorder.h"

#include <pthread.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace miodb::test {

namespace {

struct Recorder {
  Accesses accesses;
  uintptr_t stack_begin = 0;
  uintptr_t stack_end = 0;
};

// A plain pointer, so that the callbacks need no code to run first. Null: this thread does not record.
thread_local Recorder* recorder = nullptr;

void Note(const volatile void* address, size_t bytes, bool is_write, void* code) {
  Recorder* const mine = recorder;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  if (mine == nullptr || bytes == 0 || (begin >= mine->stack_begin && begin < mine->stack_end)) return;
  recorder = nullptr;  // what the notes themselves take is not noted
  for (uintptr_t line = begin / kLineBytes; line <= (begin + bytes - 1) / kLineBytes; line++) {
    LineAccess& access = mine->accesses[line];
    (is_write ? access.writers : access.readers).insert(reinterpret_cast<uintptr_t>(code));
  }
  recorder = mine;
}

}  // namespace

void BeginRecording() {
  auto* const mine = new Recorder;
  pthread_attr_t attributes;
  void* stack = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &stack, &bytes);
    pthread_attr_destroy(&attributes);
  }
  mine->stack_begin = reinterpret_cast<uintptr_t>(stack);
  mine->stack_end = mine->stack_begin + bytes;
  recorder = mine;
}

Accesses EndRecording() {
  Recorder* const mine = recorder;
  recorder = nullptr;
  Accesses result = std::move(mine->accesses);
  delete mine;
  return result;
}

std::vector<uintptr_t> SharedLines(const Accesses& a, const Accesses& b) {
  std::vector<uintptr_t> shared;
  for (const auto& [line, by_a] : a) {
    const auto other = b.find(line);
    if (other == b.end()) continue;
    if (!by_a.writers.empty() || !other->second.writers.empty()) shared.push_back(line);
  }
  return shared;
}

// The program is not linked at a fixed address, so the place is told by its distance from a function that both know.
std::string FunctionAt(uintptr_t code) {
  static const std::map<uintptr_t, std::string>* const symbols = [] {
    auto* const all = new std::map<uintptr_t, std::string>;
    FILE* const nm = popen("nm -C /proc/$PPID/exe 2>/dev/null", "r");
    char line[4096];
    while (nm != nullptr && fgets(line, sizeof(line), nm) != nullptr) {
      unsigned long address;
      char type;
      int name = 0;
      if (sscanf(line, "%lx %c %n", &address, &type, &name) < 2 || strchr("tTwWiu", type) == nullptr) continue;
      std::string text(line + name);
      if (text.find("[clone") != std::string::npos) continue;  // what is moved out of a function lies elsewhere
      text = text.substr(0, text.find_first_of("(\n"));
      all->emplace(address, text);
    }
    if (nm != nullptr) pclose(nm);
    return all;
  }();
  static const uintptr_t moved = [] {
    for (const auto& [address, name] : *symbols) {
      if (name == "miodb::test::SharedLines") return reinterpret_cast<uintptr_t>(&SharedLines) - address;
    }
    return uintptr_t{0};
  }();
  const auto after = symbols->upper_bound(code - moved);
  return after == symbols->begin() ? "?" : std::prev(after)->second;
}

}  // namespace miodb::test

// ---- What the compiler calls

#define MIODB_CALLER __builtin_return_address(0)
using miodb::test::Note;

namespace {
bool works = false;
}
bool miodb::test::RecorderWorks() { return works; }

extern "C" {

void __tsan_init() { works = true; }
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define MIODB_PLAIN(bytes)                                                            \
  void __tsan_read##bytes(void* p) { Note(p, bytes, false, MIODB_CALLER); }           \
  void __tsan_write##bytes(void* p) { Note(p, bytes, true, MIODB_CALLER); }           \
  void __tsan_unaligned_read##bytes(void* p) { Note(p, bytes, false, MIODB_CALLER); } \
  void __tsan_unaligned_write##bytes(void* p) { Note(p, bytes, true, MIODB_CALLER); } \
  void __tsan_volatile_read##bytes(void* p) { Note(p, bytes, false, MIODB_CALLER); }  \
  void __tsan_volatile_write##bytes(void* p) { Note(p, bytes, true, MIODB_CALLER); }
MIODB_PLAIN(1)
MIODB_PLAIN(2)
MIODB_PLAIN(4)
MIODB_PLAIN(8)
MIODB_PLAIN(16)

void __tsan_read_range(void* p, size_t bytes) { Note(p, bytes, false, MIODB_CALLER); }
void __tsan_write_range(void* p, size_t bytes) { Note(p, bytes, true, MIODB_CALLER); }
void __tsan_vptr_read(void* p) { Note(p, 8, false, MIODB_CALLER); }
void __tsan_vptr_update(void* p, void*) { Note(p, 8, true, MIODB_CALLER); }

// Orders are made the strongest: nobody times this.
#define MIODB_ATOMIC(bits, T)                                                                          \
  T __tsan_atomic##bits##_load(const volatile T* p, int) {                                             \
    Note(p, sizeof(T), false, MIODB_CALLER);                                                           \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                    \
  void __tsan_atomic##bits##_store(volatile T* p, T value, int) {                                      \
    Note(p, sizeof(T), true, MIODB_CALLER);                                                            \
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                    \
  T __tsan_atomic##bits##_exchange(volatile T* p, T value, int) {                                      \
    Note(p, sizeof(T), true, MIODB_CALLER);                                                            \
    return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                            \
  }                                                                                                    \
  T __tsan_atomic##bits##_fetch_add(volatile T* p, T value, int) {                                     \
    Note(p, sizeof(T), true, MIODB_CALLER);                                                            \
    return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);                                             \
  }                                                                                                    \
  T __tsan_atomic##bits##_fetch_sub(volatile T* p, T value, int) {                                     \
    Note(p, sizeof(T), true, MIODB_CALLER);                                                            \
    return __atomic_fetch_sub(p, value, __ATOMIC_SEQ_CST);                                             \
  }                                                                                                    \
  T __tsan_atomic##bits##_fetch_and(volatile T* p, T value, int) {                                     \
    Note(p, sizeof(T), true, MIODB_CALLER);                                                            \
    return __atomic_fetch_and(p, value, __ATOMIC_SEQ_CST);                                             \
  }                                                                                                    \
  T __tsan_atomic##bits##_fetch_or(volatile T* p, T value, int) {                                      \
    Note(p, sizeof(T), true, MIODB_CALLER);                                                            \
    return __atomic_fetch_or(p, value, __ATOMIC_SEQ_CST);                                              \
  }                                                                                                    \
  T __tsan_atomic##bits##_fetch_xor(volatile T* p, T value, int) {                                     \
    Note(p, sizeof(T), true, MIODB_CALLER);                                                            \
    return __atomic_fetch_xor(p, value, __ATOMIC_SEQ_CST);                                             \
  }                                                                                                    \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* expected, T value, int, int) {   \
    Note(p, sizeof(T), true, MIODB_CALLER);                                                            \
    return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                    \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* expected, T value, int, int) {     \
    Note(p, sizeof(T), true, MIODB_CALLER);                                                            \
    return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                    \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T value, int, int) {         \
    Note(p, sizeof(T), true, MIODB_CALLER);                                                            \
    __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    return expected;                                                                                   \
  }
MIODB_ATOMIC(8, uint8_t)
MIODB_ATOMIC(16, uint16_t)
MIODB_ATOMIC(32, uint32_t)
MIODB_ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

// ---- What the linker wraps

void* __real_memcpy(void* to, const void* from, size_t n);
void* __real_memmove(void* to, const void* from, size_t n);
void* __real_memset(void* to, int value, size_t n);
int __real_memcmp(const void* a, const void* b, size_t n);
void* __real_pmem_memcpy(void* to, const void* from, size_t n, unsigned flags);

void* __wrap_memcpy(void* to, const void* from, size_t n) {
  Note(from, n, false, MIODB_CALLER);
  Note(to, n, true, MIODB_CALLER);
  return __real_memcpy(to, from, n);
}
void* __wrap_memmove(void* to, const void* from, size_t n) {
  Note(from, n, false, MIODB_CALLER);
  Note(to, n, true, MIODB_CALLER);
  return __real_memmove(to, from, n);
}
void* __wrap_memset(void* to, int value, size_t n) {
  Note(to, n, true, MIODB_CALLER);
  return __real_memset(to, value, n);
}
int __wrap_memcmp(const void* a, const void* b, size_t n) {
  Note(a, n, false, MIODB_CALLER);
  Note(b, n, false, MIODB_CALLER);
  return __real_memcmp(a, b, n);
}
void* __wrap_pmem_memcpy(void* to, const void* from, size_t n, unsigned flags) {
  Note(from, n, false, MIODB_CALLER);
  Note(to, n, true, MIODB_CALLER);
  return __real_pmem_memcpy(to, from, n, flags);
}

}  // extern "C"
