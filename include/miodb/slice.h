// A view of bytes that live elsewhere: a pointer and a length.
//
// Ownership: none. Whoever uses a Slice makes sure that the bytes live and stay the same for as long as the Slice is
// read. A Slice of a temporary std::string dangles as soon as the statement ends.
//
// Threads: any number of threads may read one Slice; a thread that changes it must be alone with it.
//
// The bytes are arbitrary: a zero is a byte like any other and nothing need follow the last one.

#ifndef MIODB_INCLUDE_SLICE_H_
#define MIODB_INCLUDE_SLICE_H_

#include <cassert>
#include <cstddef>
#include <cstring>
#include <string>

#include "miodb/export.h"

namespace miodb {

class MIODB_EXPORT Slice {
 public:
  // No bytes. data() is not null, so it may be handed to functions that forbid null.
  Slice() : data_(""), size_(0) {}

  // The n bytes at data.
  Slice(const char* data, size_t n) : data_(data), size_(n) {}

  // The bytes of a string, which must outlive the Slice and not change. Implicit, so that strings can be passed as
  // keys and values.
  Slice(const std::string& s) : data_(s.data()), size_(s.size()) {}

  // A C string without its final zero. Implicit, so that literals can be passed as keys and values.
  Slice(const char* s) : data_(s), size_(std::strlen(s)) {}

  // Copies the view, never the bytes.
  Slice(const Slice&) = default;
  Slice& operator=(const Slice&) = default;

  const char* data() const { return data_; }

  // Bytes in view.
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The byte at index i. REQUIRES: i < size().
  char operator[](size_t i) const {
    assert(i < size_);
    return data_[i];
  }

  // Makes this a view of no bytes. The bytes themselves are not touched.
  void clear() {
    data_ = "";
    size_ = 0;
  }

  // Moves the start of the view n bytes forward. REQUIRES: n <= size().
  void remove_prefix(size_t n) {
    assert(n <= size_);
    data_ += n;
    size_ -= n;
  }

  // A copy of the bytes.
  std::string ToString() const { return std::string(data_, size_); }

  // Three-way comparison as unsigned bytes; a proper prefix comes before the longer one.
  // Negative if *this < other, zero if equal, positive if *this > other.
  int compare(const Slice& other) const;

  // Whether the view begins with the bytes of prefix. Everything begins with the empty one.
  bool starts_with(const Slice& prefix) const {
    return size_ >= prefix.size_ && std::memcmp(data_, prefix.data_, prefix.size_) == 0;
  }

 private:
  const char* data_;
  size_t size_;
};

inline bool operator==(const Slice& a, const Slice& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

inline bool operator!=(const Slice& a, const Slice& b) { return !(a == b); }

inline int Slice::compare(const Slice& other) const {
  const size_t shared = size_ < other.size_ ? size_ : other.size_;
  const int order = std::memcmp(data_, other.data_, shared);
  if (order != 0) return order;
  return size_ < other.size_ ? -1 : static_cast<int>(size_ > other.size_);
}

}  // namespace miodb

#endif  // MIODB_INCLUDE_SLICE_H_
