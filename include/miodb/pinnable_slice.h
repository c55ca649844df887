// A value that was read without a copy: a slice, and what keeps its bytes in place.
//
// DB::Get fills it with a pin. A value that lies in the pool or in a memtable stays where it is, because the slice
// keeps the read state that it was found in; a value from a table file stays in its block, which the slice keeps in
// the block cache or, if the cache does not have it, in memory. Either costs the same, whatever the size of the value,
// so a pinned read pays for large values.
//
//   miodb::PinnableSlice value;
//   status = db->Get(miodb::ReadOptions(), key, &value);
//   if (status.ok()) Use(value.data(), value.size());
//   value.Reset();   // or let it go out of scope
//
// Threads: one thread at a time uses a PinnableSlice. Any thread may release the pin, not only the thread that read the
// value.
//
// Ownership: a PinnableSlice holds its pin until Reset(), the next Get or Pin into it, or its destruction. All pins of
// a database must be gone before the database is deleted. A PinnableSlice is movable and not copyable; a plain Slice
// made from it is a view that does not keep the bytes.
//
// Cost to others: while a pin is held, the space of the tables, files and memtables of its read state cannot be used
// again. A program that keeps many values for long should copy them.
//
// Errors: none of the calls here fails. A Get that does not return OK leaves the slice as it was.

#ifndef MIODB_INCLUDE_PINNABLE_SLICE_H_
#define MIODB_INCLUDE_PINNABLE_SLICE_H_

#include <utility>

#include "miodb/export.h"
#include "miodb/slice.h"

namespace miodb {

class MIODB_EXPORT PinnableSlice : public Slice {
 public:
  // The function that lets go of the bytes. The function is called once, with the argument that was given to Pin, in
  // whatever thread resets, overwrites or destroys the slice, and must not throw.
  typedef void (*Unpin)(void* arg);

  // An empty slice, which holds nothing.
  PinnableSlice() : unpin_(nullptr), arg_(nullptr) {}
  // The pin goes from the other slice to this one, which lets go of its own before. The other slice is empty
  // afterwards, and the bytes have not moved: views of them stay good.
  PinnableSlice(PinnableSlice&& other) noexcept : PinnableSlice() { swap(other); }
  PinnableSlice& operator=(PinnableSlice&& other) noexcept {
    if (this != &other) {
      Reset();
      swap(other);
    }
    return *this;
  }
  // No copies, because two owners of one pin would let go of it twice. For a copy of the bytes there is ToString().
  PinnableSlice(const PinnableSlice&) = delete;
  PinnableSlice& operator=(const PinnableSlice&) = delete;
  // Lets go of the bytes, as Reset() does.
  ~PinnableSlice() { Reset(); }

  // Refers to "bytes" from now on, and calls unpin(arg) when they are let go of. The slice first releases the pin that
  // it held before. With unpin == nullptr nothing is called: then the slice is a plain view of bytes that somebody else
  // keeps. For classes that implement DB; programs that only read have no use for it.
  void Pin(const Slice& bytes, Unpin unpin, void* arg) {
    Reset();
    Slice::operator=(bytes);
    unpin_ = unpin;
    arg_ = arg;
  }

  // Lets go of the bytes; the slice is empty afterwards, and views of the bytes must not be used any more. May free
  // tables, blocks and memtables that nobody else needs, in this thread. Has no effect on a slice that holds nothing.
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
