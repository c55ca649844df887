// Allocations that fail when a test wants it: replaces the program's operators new and delete.
//
// Threads: allocations are counted, and refused, in all threads that are not Exempt; Arm and Disarm by the test's own.
// Ownership: a program includes this in one of its sources.

#ifndef MIODB_TESTS_DB_FAULTS_FAILING_MEMORY_H_
#define MIODB_TESTS_DB_FAULTS_FAILING_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace miodb::test {
namespace {

std::atomic<bool> armed{false};
std::atomic<uint64_t> allocations{0};
std::atomic<uint64_t> refused{0};
uint64_t fail_at = 0;
uint64_t fail_count = 0;
thread_local int exempt = 0;

bool Refuse() {
  if (!armed.load() || exempt > 0) return false;
  const uint64_t number = allocations.fetch_add(1) + 1;
  if (number < fail_at || number - fail_at >= fail_count) return false;
  refused.fetch_add(1);
  return true;
}

void* Allocate(size_t size) {
  void* const p = Refuse() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

void* AllocateAligned(size_t size, std::align_val_t alignment) {
  const size_t a = static_cast<size_t>(alignment);
  void* const p = Refuse() ? nullptr : std::aligned_alloc(a, (size + a - 1) / a * a);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

// The allocations from number at on fail, count of them, whichever threads make them.
void Arm(uint64_t at, uint64_t count) {
  fail_at = at;
  fail_count = count;
  allocations.store(0);
  refused.store(0);
  armed.store(true);
}

// Returns whether any allocation was refused.
bool Disarm() {
  armed.store(false);
  return refused.load() > 0;
}

// The test's own work, which always has memory.
class Exempt {
 public:
  Exempt() { exempt++; }
  ~Exempt() { exempt--; }
  Exempt(const Exempt&) = delete;
  Exempt& operator=(const Exempt&) = delete;
};

}  // namespace
}  // namespace miodb::test

void* operator new(size_t size) { return miodb::test::Allocate(size); }
void* operator new[](size_t size) { return miodb::test::Allocate(size); }
void* operator new(size_t size, std::align_val_t alignment) { return miodb::test::AllocateAligned(size, alignment); }
void* operator new[](size_t size, std::align_val_t alignment) { return miodb::test::AllocateAligned(size, alignment); }
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return miodb::test::Refuse() ? nullptr : std::malloc(size);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return miodb::test::Refuse() ? nullptr : std::malloc(size);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
// If it is inlined, gcc warns in builds without batches that free is given memory of another allocator.
__attribute__((noinline)) void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { std::free(p); }

#endif  // MIODB_TESTS_DB_FAULTS_FAILING_MEMORY_H_
