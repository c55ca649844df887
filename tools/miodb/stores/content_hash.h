// The content of a database as one number: databases with the same records in the same column families, in the same
// order, have the same number. Records of the default family, and of a family that stands alone, come without a family
// before them.
//
// Threads: one.

#ifndef MIODB_TOOLS_MIODB_STORES_CONTENT_HASH_H_
#define MIODB_TOOLS_MIODB_STORES_CONTENT_HASH_H_

#include <cstdint>
#include <memory>
#include <string>

#include "miodb/slice.h"

namespace miodb::tool {

class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(const ContentHash&) = delete;
  ContentHash& operator=(const ContentHash&) = delete;

  // The records that follow are of this column family, which counts also if none follow. Empty: they are of none.
  void BeginFamily(const Slice& name);
  void Add(const Slice& key, const Slice& value);

  uint64_t records() const { return records_; }
  uint64_t bytes() const { return key_bytes_ + value_bytes_; }
  uint64_t hash() const;

  // A line for each: records, key_bytes, value_bytes, hash; before them families, if there are others than the default.
  std::string Describe() const;

 private:
  struct State;

  const std::unique_ptr<State> state_;
  uint64_t families_ = 1;  // the default one counts
  uint64_t records_ = 0;
  uint64_t key_bytes_ = 0;
  uint64_t value_bytes_ = 0;
};

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_STORES_CONTENT_HASH_H_
