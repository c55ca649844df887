// Has the system refuse to start threads, as it does at its limits.
//
// Included by one file of a test program: it defines pthread_create, which stands before the system's. Sanitizers have
// one of their own; with them nothing is refused.

#ifndef MIODB_TESTS_COMMON_NO_THREADS_H_
#define MIODB_TESTS_COMMON_NO_THREADS_H_

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace miodb::test {

inline std::atomic<bool> no_threads{false};

}  // namespace miodb::test

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* arg) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (miodb::test::no_threads.load()) return EAGAIN;
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, start, arg);
}
#endif

#endif  // MIODB_TESTS_COMMON_NO_THREADS_H_
