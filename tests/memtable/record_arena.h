// Records in DRAM for trees of tests, which live as long as the object; and the second way to search a tree.

#ifndef MIODB_TESTS_MEMTABLE_RECORD_ARENA_H_
#define MIODB_TESTS_MEMTABLE_RECORD_ARENA_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/format/record.h"
#include "src/memtable/blink_tree.h"
#include "tests/common/test_secret.h"

namespace miodb::test {

struct StoredRecord {
  const char* place;
  size_t size;
};

class RecordArena {
 public:
  StoredRecord Add(const std::string& key, uint64_t tag, const std::string& value) {
    const size_t size = RecordSize(key.size(), value.size());
    char* const place = records_.emplace_back(new char[size]).get();
    uint64_t hash;
    char* const end = EncodeRecordHead(place, tag, key, value, kTestSecret, &hash);
    memcpy(end, value.data(), value.size());
    return {place, size};
  }

  // Has the records of another one from now on.
  void Take(RecordArena* other) {
    for (std::unique_ptr<char[]>& record : other->records_) records_.push_back(std::move(record));
    other->records_.clear();
  }

 private:
  std::vector<std::unique_ptr<char[]>> records_;
};

inline const BLinkTree::Entry* SeekInSteps(const BLinkTree& tree, const std::string& key, uint64_t sequence) {
  BLinkTree::Search search;
  search.Start(tree, key, sequence);
  while (!search.Step()) {
  }
  return search.entry();
}

}  // namespace miodb::test

#endif  // MIODB_TESTS_MEMTABLE_RECORD_ARENA_H_
