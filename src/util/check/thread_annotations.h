// Words for what a lock protects, which clang checks at compile time with -Wthread-safety. Empty for other compilers.
//
//   Mutex mu_;
//   int count_ GUARDED_BY(mu_);              // touched only while mu_ is held
//   void AddLocked() REQUIRES(mu_);          // the caller holds mu_
//   void Add() EXCLUDES(mu_);                // the caller does not hold mu_; this takes it

#ifndef MIODB_SRC_UTIL_CHECK_THREAD_ANNOTATIONS_H_
#define MIODB_SRC_UTIL_CHECK_THREAD_ANNOTATIONS_H_

#if defined(__clang__)
#define MIODB_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define MIODB_THREAD_ANNOTATION(x)
#endif

// On a variable: the lock that guards it; on a pointer: the lock that guards what it points to.
#define GUARDED_BY(lock) MIODB_THREAD_ANNOTATION(guarded_by(lock))
#define PT_GUARDED_BY(lock) MIODB_THREAD_ANNOTATION(pt_guarded_by(lock))

// On a lock: the order in which locks are taken.
#define ACQUIRED_BEFORE(...) MIODB_THREAD_ANNOTATION(acquired_before(__VA_ARGS__))
#define ACQUIRED_AFTER(...) MIODB_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))

// On a function: what the caller holds (alone, or shared), or does not hold.
#define REQUIRES(...) MIODB_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define REQUIRES_SHARED(...) MIODB_THREAD_ANNOTATION(requires_shared_capability(__VA_ARGS__))
#define EXCLUDES(...) MIODB_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

// On a function: what it takes or lets go of.
#define ACQUIRE(...) MIODB_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) MIODB_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...) MIODB_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define RELEASE_SHARED(...) MIODB_THREAD_ANNOTATION(release_shared_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) MIODB_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))

// On a function: it checks at run time that the lock is held.
#define ASSERT_CAPABILITY(lock) MIODB_THREAD_ANNOTATION(assert_capability(lock))

// On a function: it returns this lock.
#define RETURN_CAPABILITY(lock) MIODB_THREAD_ANNOTATION(lock_returned(lock))

// On a class: it is a lock, or holds one from construction to destruction.
#define CAPABILITY(name) MIODB_THREAD_ANNOTATION(capability(name))
#define SCOPED_CAPABILITY MIODB_THREAD_ANNOTATION(scoped_lockable)

// On a function: not checked. Say why beside it.
#define NO_THREAD_SAFETY_ANALYSIS MIODB_THREAD_ANNOTATION(no_thread_safety_analysis)

#endif  // MIODB_SRC_UTIL_CHECK_THREAD_ANNOTATIONS_H_
