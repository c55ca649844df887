// Helpers for tests beside RocksDB, where that is installed: its merge operator, and moves of two iterators that have
// to agree.

#ifndef MIODB_TESTS_BENCHMARKS_ROCKSDB_PEER_H_
#define MIODB_TESTS_BENCHMARKS_ROCKSDB_PEER_H_

#include <gtest/gtest.h>
#include <rocksdb/iterator.h>
#include <rocksdb/merge_operator.h>

#include <string>

#include "miodb/iterator.h"
#include "tests/common/random/random.h"

namespace miodb::test {

// As NewStringAppendOperator(",").
class RocksAppend final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value, std::string* result,
             rocksdb::Logger*) const override {
    result->clear();
    if (existing != nullptr) *result = existing->ToString() + ",";
    result->append(value.data(), value.size());
    return true;
  }
  const char* Name() const override { return "append"; }
};

inline void ComparePosition(const Iterator& a, const rocksdb::Iterator& b) {
  ASSERT_TRUE(a.status().ok()) << a.status().ToString();
  ASSERT_TRUE(b.status().ok()) << b.status().ToString();
  ASSERT_EQ(b.Valid(), a.Valid()) << (b.Valid() ? b.key().ToString() : a.key().ToString());
  if (!a.Valid()) return;
  ASSERT_EQ(b.key().ToString(), a.key().ToString());
  ASSERT_EQ(b.value().ToString(), a.value().ToString()) << a.key().ToString();
}

// Moves both iterators to the same place.
template <typename AnyKey>
void MoveBoth(Random* random, Iterator* a, rocksdb::Iterator* b, AnyKey any_key) {
  const uint64_t dice = random->Uniform(100);
  if (dice < 5) {
    a->SeekToFirst(), b->SeekToFirst();
  } else if (dice < 10) {
    a->SeekToLast(), b->SeekToLast();
  } else if (dice < 30 || !b->Valid()) {
    const std::string target = any_key();
    a->Seek(target), b->Seek(target);
  } else if (dice < 65) {
    a->Next(), b->Next();
  } else {
    a->Prev(), b->Prev();
  }
  ComparePosition(*a, *b);
}

}  // namespace miodb::test

#endif  // MIODB_TESTS_BENCHMARKS_ROCKSDB_PEER_H_
