// PMTables made of given versions, and the model that they are compared with: a sorted list of the same versions.

#ifndef MIODB_TESTS_PMTABLE_TABLE_MAKER_H_
#define MIODB_TESTS_PMTABLE_TABLE_MAKER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pmtable/run.h"
#include "pmtable/table_builder.h"
#include "src/iterator/internal_iterator.h"
#include "src/nvm/pool/extent_list.h"
#include "tests/common/random/random.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {

// A version of a key.
struct TestVersion {
  std::string key;
  uint64_t sequence;
  ValueType type;
  std::string value;

  bool operator==(const TestVersion&) const = default;
};

// Versions in the order of internal iterators: keys ascending, of one key the newest first.
class SortedVersions {
 public:
  SortedVersions(const KeyOrder& order, std::vector<TestVersion> versions);

  const KeyOrder& order() const { return order_; }
  const std::vector<TestVersion>& all() const { return versions_; }
  size_t size() const { return versions_.size(); }
  const TestVersion& operator[](size_t i) const { return versions_[i]; }

  // Index of the first version that is not before (key, sequence), or size().
  size_t LowerBound(const std::string& key, uint64_t sequence) const;

  // The newest version of key at or below sequence, or nullptr.
  const TestVersion* Find(const std::string& key, uint64_t sequence) const;

 private:
  KeyOrder order_;
  std::vector<TestVersion> versions_;
};

// Shapes of keys that are hard for nodes with prefixes and heads.
struct KeyShape {
  const char* name;
  size_t prefix;  // bytes that all keys, or halves of them, share
  enum Tail {
    kDigits8,    // 8 digits: whole keys known
    kDigits20,   // 20 digits: keys go on after their heads
    kBytes,      // 0 to 12 bytes, many of them zero
    kAnyLength,  // 0 to 80 bytes
  } tail;
};
const std::vector<KeyShape>& KeyShapes();

// Up to count different keys of this shape, sorted; fewer if the shape has no more.
std::vector<std::string> MakeKeys(const KeyShape& shape, size_t count, const KeyOrder& order, Random* random);

// A key of the list or something near it that may lie between two of them.
std::string NearKey(const std::vector<std::string>& keys, Random* random);

// Versions of these keys, most with one, some with up to five, and key number spanning (if there is one) with 150.
// Sequences are drawn from [first, first + returned size).
std::vector<TestVersion> MakeVersions(const std::vector<std::string>& keys, size_t spanning, uint64_t first,
                                      Random* random);

class TableMaker {
 public:
  struct Options {
    int filter_bits = 10;
    ExtentKind kind = ExtentKind::kLog;
    uint64_t extent_bytes = 64 * 1024;  // of a payload extent; a larger record gets one of its own
    bool ordered = false;               // records lie in key order, not in that of their sequences
  };

  TableMaker(Pool* pool, const Comparator* comparator) : pool_(pool), order_(comparator) {}
  TableMaker(TestPool* pool, const Comparator* comparator) : TableMaker(pool->get(), comparator) {}

  const KeyOrder& order() const { return order_; }
  Pool* pool() const { return pool_; }
  uint64_t NewNumber() { return ++last_number_; }
  void SetLastNumber(uint64_t number) { last_number_ = number; }

  // A table of these versions. REQUIRES: at least one.
  TableRef Make(const SortedVersions& versions, const Options& options);
  TableRef Make(const SortedVersions& versions) { return Make(versions, Options()); }

  // Tables of count keys each, or of fewer versions where a key has many: a run.
  std::vector<TableRef> MakeRun(const SortedVersions& versions, size_t versions_per_table, const Options& options);

  // Opens the table once more from its index extent.
  Status Reopen(const TableRef& table, Checksums checksums, TableRef* reopened);

  // Only stores the records; words in the order of the versions.
  std::vector<IndexWord> Store(const SortedVersions& versions, const Options& options,
                               std::vector<MadePayload>* payload);

  // Extents of the tables made since the last call, whose owner the caller becomes.
  std::vector<MadePayload> TakeMade() { return std::exchange(made_, {}); }
  const std::vector<MadePayload>& made() const { return made_; }

  // The list of a version that has these extents.
  ExtentList payload() const;

 private:
  Pool* const pool_;
  const KeyOrder order_;
  std::atomic<uint64_t> last_number_{0};
  std::vector<MadePayload> made_;
};

// Extents of the list to which the table refers, each with the bytes of its words.
std::map<Extent*, uint64_t> UsesOf(const PMTable& table, const ExtentList& payload);

// The version in a record.
TestVersion VersionOf(const RecordView& record);

// Fails the test unless the record is this version.
void ExpectVersion(const TestVersion& expected, const RecordView& record);

// Fails the test unless the table holds exactly these versions, by walk, Seek and Get. probes: of keys near its own.
void CheckTable(const PMTable& table, const SortedVersions& versions, int probes, Random* random);

// Walks the iterator over all versions in both directions, then at random with seeks and turns.
void CheckIterator(InternalIterator* iterator, const SortedVersions& versions, int moves, Random* random);

}  // namespace miodb::test

#endif  // MIODB_TESTS_PMTABLE_TABLE_MAKER_H_
