// A value read without a copy: a slice and what keeps its bytes in place.
//
// Threads: one thread at a time. Ownership: holds a pin on the database until Reset() or destruction; both must come
// before the database is deleted. Movable, not copyable.

#ifndef MIODB_INCLUDE_PINNABLE_SLICE_H_
#define MIODB_INCLUDE_PINNABLE_SLICE_H_

#include <utility>

#include "miodb/export.h"
#include "miodb/slice.h"

namespace miodb {

class MIODB_EXPORT PinnableSlice : public Slice {
 public:
  // Called once with the argument given to Pin, when the bytes are no longer needed.
  typedef void (*Unpin)(void* arg);

  PinnableSlice() : unpin_(nullptr), arg_(nullptr) {}
  PinnableSlice(PinnableSlice&& other) noexcept : PinnableSlice() { swap(other); }
  PinnableSlice& operator=(PinnableSlice&& other) noexcept {
    if (this != &other) {
      Reset();
      swap(other);
    }
    return *this;
  }
  PinnableSlice(const PinnableSlice&) = delete;
  PinnableSlice& operator=(const PinnableSlice&) = delete;
  ~PinnableSlice() { Reset(); }

  // Refers to "bytes" from now on and calls unpin(arg) when they are let go.
  void Pin(const Slice& bytes, Unpin unpin, void* arg) {
    Reset();
    Slice::operator=(bytes);
    unpin_ = unpin;
    arg_ = arg;
  }

  // Lets go of the bytes; the slice is empty afterwards.
  void Reset() {
    if (unpin_ != nullptr) unpin_(arg_);
    unpin_ = nullptr;
    arg_ = nullptr;
    Slice::operator=(Slice());
  }

 private:
  void swap(PinnableSlice& other) {
    std::swap(static_cast<Slice&>(*this), static_cast<Slice&>(other));
    std::swap(unpin_, other.unpin_);
    std::swap(arg_, other.arg_);
  }

  Unpin unpin_;
  void* arg_;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_PINNABLE_SLICE_H_
