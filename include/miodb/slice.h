// A view of bytes that live elsewhere: a pointer and a length.
//
//   db->Put(options, "apple", "green");                        // literals
//   db->Put(options, name, miodb::Slice(bytes, sizeof(bytes)));   // a string, and bytes with zeros in them
//   miodb::Slice wrong = name + "/suffix";                     // dangles: the sum is gone at the end of the line
//
// Ownership: none. The user of a Slice makes sure that the bytes live and stay the same for as long as the Slice is
// read. A Slice of a temporary std::string dangles as soon as the statement ends.
//
// Threads: any number of threads may read one Slice; a thread that changes it must be alone with it.
//
// The bytes are arbitrary: a zero is a byte like any other, and nothing need follow the last one. So data() is not a C
// string; use ToString() for one.
//
// Keys and values are passed to the database as slices that need to live only for the call. A slice that the database
// hands out says where its bytes belong: those of an iterator to its position, those of a PinnableSlice to its pin.
//
// Errors: none. A call whose precondition (REQUIRES) does not hold is stopped by an assertion in debug builds, and in
// others reads or makes a view outside of the bytes. Only ToString allocates, and throws what std::string throws.

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

  // The n bytes at data. For keys and values with zeros in them, such as integers in binary form, this is the
  // constructor to use: the one for C strings below ends at the first zero.
  Slice(const char* data, size_t n) : data_(data), size_(n) {}

  // The bytes of a string, which must outlive the Slice and not change: any change of the string may move its bytes.
  // Implicit, so that strings can be passed as keys and values.
  Slice(const std::string& s) : data_(s.data()), size_(s.size()) {}

  // A C string without its final zero, which is looked for. Implicit, so that literals can be passed as keys and
  // values. REQUIRES: s is not null.
  Slice(const char* s) : data_(s), size_(std::strlen(s)) {}

  // Copies the view, never the bytes.
  Slice(const Slice&) = default;
  Slice& operator=(const Slice&) = default;

  // The first byte in view. The address is not aligned to anything, and with size() == 0 there is no byte to read.
  const char* data() const { return data_; }

  // Bytes in view, and whether there are none. An empty slice is a key like any other, the first one in bytewise
  // order, and a value like any other: a key with an empty value is there.
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The byte at index i, counted from 0, as a char, which may be negative; compare() takes bytes as unsigned.
  // REQUIRES: i < size().
  char operator[](size_t i) const {
    assert(i < size_);
    return data_[i];
  }

  // Makes this a view of no bytes, as a new Slice is. The bytes themselves are not touched, and nobody is told that
  // they are not needed: a PinnableSlice has Reset() for that.
  void clear() {
    data_ = "";
    size_ = 0;
  }

  // Moves the start of the view n bytes forward, for parsers that take a slice apart from its beginning; no byte is
  // copied or changed. REQUIRES: n <= size().
  void remove_prefix(size_t n) {
    assert(n <= size_);
    data_ += n;
    size_ -= n;
  }

  // A copy of the bytes, zeros included, which does not depend on the Slice any more: the way to keep what an iterator
  // or a handler showed.
  std::string ToString() const { return std::string(data_, size_); }

  // Three-way comparison as unsigned bytes; a proper prefix comes before the longer one. Negative if *this < other,
  // zero if equal, positive if *this > other. This is the order of BytewiseComparator(), the default order of keys:
  // integers that are to be in order as keys are therefore stored with their highest byte first.
  int compare(const Slice& other) const;

  // Whether the view begins with the bytes of prefix. Everything begins with the empty one. A scan of all keys with a
  // prefix is a Seek to it and a loop that ends where this becomes false; ReadOptions::iterate_upper_bound spares the
  // look behind it.
  bool starts_with(const Slice& prefix) const {
    return size_ >= prefix.size_ && std::memcmp(data_, prefix.data_, prefix.size_) == 0;
  }

 private:
  const char* data_;
  size_t size_;
};

// Whether both views have the same bytes, wherever they lie. With a comparator of one's own two keys may be the same
// key and their slices not equal; the comparator decides there.
inline bool operator==(const Slice& a, const Slice& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// The opposite; for an order there is compare(), and no operator, because the comparator of a database may have
// another.
inline bool operator!=(const Slice& a, const Slice& b) { return !(a == b); }

inline int Slice::compare(const Slice& other) const {
  const size_t shared = size_ < other.size_ ? size_ : other.size_;
  const int order = std::memcmp(data_, other.data_, shared);
  if (order != 0) return order;
  return size_ < other.size_ ? -1 : static_cast<int>(size_ > other.size_);
}

}  // namespace miodb

#endif  // MIODB_INCLUDE_SLICE_H_
