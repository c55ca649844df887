// The result of an operation: success, or a kind of error with a message.
//
//   miodb::Status s = db->Get(miodb::ReadOptions(), key, &value);
//   if (s.IsNotFound()) {
//     value = fallback;                        // a normal answer
//   } else if (!s.ok()) {
//     fprintf(stderr, "%s\n", s.ToString().c_str());   // "Corruption: <place>: <reason>"
//     return s;
//   }
//
// Threads: any number of threads may call const methods of one Status at once; a thread that changes it (assigns to
// it, moves from it) must be alone with it.
//
// Ownership: a Status owns its message. OK owns nothing and costs one null pointer to create, copy, test and destroy.
// An error and each copy of it take memory from the heap. Without memory for a message an error keeps its kind and
// says no more than that; so making, copying and returning a Status never throws.
//
// How to act on each kind:
//
//   NotFound         the answer to a read: the key is not there. For a file or a directory: no such name exists.
//   InvalidArgument  correct the call or the option that the message names; nothing has happened.
//   NotSupported     take another option, medium or Env; nothing has happened.
//   NoSpace          wait, delete, or give the pool more room (DB::AddRegion, a larger pool_size at the next open);
//                    nothing of the write has happened, and the same write may succeed later.
//   IOError          look at the file that the message names. From a write it may be the first error of the database,
//                    which is read-only from then on: "miodb.background-error" tells, and opening it again tries anew.
//   Corruption       the medium is damaged. Reads of other keys go on. If DB::Open returns it, RepairDB is for that.
//   Busy             somebody else has changed a key since it was read; nothing has happened. Read it again, decide
//                    anew.
//   MergeInProgress  the batch has only merges of this key, and no value to apply them to: ask the database, too.
//
// The kind is what programs decide by; the words of a message may change between versions.
//
// A Status that is dropped unread is a bug in waiting, so with C++17 and later the compiler warns about it. Where an
// error really does not matter, say so: "(void)db->Delete(...)" or "IgnoreError()". Programs written for LevelDB never
// heard of that, so behind leveldb/status.h there is no warning, and a full pool counts as the IO error that a full
// disk is there.

#ifndef MIODB_INCLUDE_STATUS_H_
#define MIODB_INCLUDE_STATUS_H_

#include <string>

#include "miodb/export.h"
#include "miodb/slice.h"

// MIODB_EXPORT for a class whose values should be looked at when a function returns them. A single macro has both
// attributes, because compilers disagree about the order in which attributes of the two kinds may stand.
#if __cplusplus >= 201703L && !defined(MIODB_AS_LEVELDB) && (defined(__GNUC__) || defined(__clang__))
#define MIODB_EXPORT_NODISCARD [[nodiscard, gnu::visibility("default")]]
#else
#define MIODB_EXPORT_NODISCARD MIODB_EXPORT
#endif

namespace miodb {

class MIODB_EXPORT_NODISCARD Status {
 public:
  // Success.
  Status() noexcept : state_(nullptr) {}
  ~Status() {
    if (state_ != nullptr) Free(state_);
  }

  // A copy has the same kind and its own message, and may be used after the original is gone, in another thread too.
  Status(const Status& other) : state_(other.state_ == nullptr ? nullptr : Clone(other.state_)) {}
  Status& operator=(const Status& other);

  // The error goes to this Status, without an allocation; the one that was moved from becomes OK. An error that this
  // one held before is dropped.
  Status(Status&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
  Status& operator=(Status&& other) noexcept;

  // ---- Making one ------------------------------------------------------------------------------------------------
  //
  // The message is "msg", or "msg: msg2" where msg2 is not empty; by custom msg names the place (a file, an option)
  // and msg2 the reason. Both are copied. Classes that implement an Env, a TraceWriter or a DB use these functions. A
  // status that such a class returns comes back to the program from the call that needed the class.

  static Status OK() { return Status(); }

  // There is no such key, file or object. For a key this is a normal answer, not a failure. An Env must use this kind,
  // and no other, for a file that is not there: the library decides by it what it has to make.
  static Status NotFound(const Slice& msg, const Slice& msg2 = Slice()) { return Status(kNotFound, msg, msg2); }

  // Stored bytes are damaged: a checksum, a length or a magic number is wrong. The message names the file or the place
  // in the pool.
  static Status Corruption(const Slice& msg, const Slice& msg2 = Slice()) { return Status(kCorruption, msg, msg2); }

  // This build, medium or implementation cannot do it: another version of a format, a persist mode that the medium
  // does not have, a call that a class leaves out.
  static Status NotSupported(const Slice& msg, const Slice& msg2 = Slice()) { return Status(kNotSupported, msg, msg2); }

  // The caller passed something out of range. Nothing happened.
  static Status InvalidArgument(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, msg, msg2);
  }

  // The operating system refused, or there is no memory. The message has the name of the file and the system's reason.
  static Status IOError(const Slice& msg, const Slice& msg2 = Slice()) { return Status(kIOError, msg, msg2); }

  // The pool is at its limit, or its file system is full. Goes away when deletes and compactions have freed space. Not
  // in LevelDB.
  static Status NoSpace(const Slice& msg, const Slice& msg2 = Slice()) { return Status(kNoSpace, msg, msg2); }

  // Somebody else was faster: what a write was to depend on has changed. Not in LevelDB.
  static Status Busy(const Slice& msg, const Slice& msg2 = Slice()) { return Status(kBusy, msg, msg2); }

  // Operands of merges were found, and what they apply to was not looked for. Not in LevelDB.
  static Status MergeInProgress(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kMergeInProgress, msg, msg2);
  }

  // ---- Asking one ------------------------------------------------------------------------------------------------

  // Exactly one of these is true of every Status. Behind leveldb/status.h NoSpace is an IOError as well, because
  // programs written for LevelDB know a full disk as that.
  bool ok() const { return state_ == nullptr; }
  bool IsNotFound() const { return code() == kNotFound; }
  bool IsCorruption() const { return code() == kCorruption; }
  bool IsNotSupportedError() const { return code() == kNotSupported; }
  bool IsInvalidArgument() const { return code() == kInvalidArgument; }
#ifdef MIODB_AS_LEVELDB
  bool IsIOError() const { return code() == kIOError || code() == kNoSpace; }
#else
  bool IsIOError() const { return code() == kIOError; }
#endif
  bool IsNoSpace() const { return code() == kNoSpace; }
  bool IsBusy() const { return code() == kBusy; }
  bool IsMergeInProgress() const { return code() == kMergeInProgress; }

  // For people and logs: "OK", or the kind and the message, such as "IO error: /db/LOCK: No such file or directory".
  // The kinds print as "NotFound", "Corruption", "Not implemented", "Invalid argument", "IO error", "No space",
  // "Resource busy" and "Merge in progress", the first five as LevelDB prints them.
  std::string ToString() const;

  // Does nothing; tells reader and compiler that this error is dropped on purpose. A comment beside the call should
  // say why.
  void IgnoreError() const {}

 private:
  // The first six are in LevelDB's order. The numbers are in no file and in no interface.
  enum Code {
    kOk = 0,
    kNotFound = 1,
    kCorruption = 2,
    kNotSupported = 3,
    kInvalidArgument = 4,
    kIOError = 5,
    kNoSpace = 6,
    kBusy = 7,
    kMergeInProgress = 8,
  };

  // Kind and message of an error. Lives on the heap and never changes, so that threads may read it without a lock; or
  // is one of the static ones for an error that found no memory (Brief), which nobody frees.
  struct State;

  Status(Code code, const Slice& msg, const Slice& msg2);

  Code code() const { return state_ == nullptr ? kOk : CodeOf(state_); }

  static Code CodeOf(const State* state);
  static const State* Clone(const State* state);
  static const State* Brief(Code code);
  static void Free(const State* state);

  // nullptr is OK.
  const State* state_;
};

inline Status& Status::operator=(const Status& other) {
  if (state_ != other.state_) {
    const State* copy = other.state_ == nullptr ? nullptr : Clone(other.state_);
    if (state_ != nullptr) Free(state_);
    state_ = copy;
  }
  return *this;
}

inline Status& Status::operator=(Status&& other) noexcept {
  if (this != &other) {
    if (state_ != nullptr) Free(state_);
    state_ = other.state_;
    other.state_ = nullptr;
  }
  return *this;
}

}  // namespace miodb

#endif  // MIODB_INCLUDE_STATUS_H_
