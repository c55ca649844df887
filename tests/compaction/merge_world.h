// Random runs in a pool, merged, and compared with what the merge has to leave.

#ifndef MIODB_TESTS_COMPACTION_MERGE_WORLD_H_
#define MIODB_TESTS_COMPACTION_MERGE_WORLD_H_

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compaction/merge/merge.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {

// Sharing of a job into this number of shares, with a thread for each.
Sharing InThreads(size_t shares);

struct MergeShape {
  const Comparator* comparator = BytewiseComparator();
  KeyShape keys = KeyShapes()[0];
  size_t key_count = 200;     // keys that runs draw from
  size_t inputs = 2;          // runs to merge
  size_t older = 1;           // runs below them
  size_t keys_per_run = 100;  // most keys of a run, from a window of all keys
  size_t window = 200;        // small: runs that overlap little
  size_t versions_per_table = 1000;
  uint64_t most_versions = 3;  // of one key in one run
  uint64_t most_value_bytes = 30;
  size_t snapshots = 2;
  bool tombstones = true;
  TableMaker::Options tables;
};

class MergeWorld {
 public:
  MergeWorld(const MergeShape& shape, uint64_t seed, uint64_t pool_bytes = uint64_t{256} << 20);

  TestPool& pool() { return pool_; }
  const KeyOrder& order() const { return maker_.order(); }
  const std::vector<uint64_t>& snapshots() const { return snapshots_; }

  // A request to merge all inputs; change it as wanted. Valid while this lives.
  MergeRequest Request();

  // The payload of all tables, and with that of a result.
  const ExtentList& payload() const { return payload_; }
  static ExtentList PayloadAfter(const ExtentList& before, const MergeResult& result) {
    ExtentList after = before;
    for (const MadePayload& made : result.payload.made) {
      after.Insert(ExtentsBefore(after, made.extent->offset()), made.extent);
    }
    return after;
  }

  // All tables of the inputs.
  std::vector<TableRef> InputTables() const;
  std::vector<TableRef> OlderTables() const;

  // Fails the test unless the outputs hold exactly the versions that reads may need, in tables that do not overlap, and
  // every byte is accounted for.
  void Check(const MergeResult& result);

  // The same of the merge of a range of keys: nothing of it is left in the inputs, and all else is.
  void CheckRange(const MergeResult& result, const KeyRange& range);

  // The outputs as one run.
  static miodb::Run RunOf(const KeyOrder& order, const MergeResult& result);

 private:
  struct InputRun {
    std::vector<TestVersion> versions;
    std::vector<TableRef> tables;
  };
  // Tables of the inputs whose key ranges overlap.
  struct Group {
    std::vector<TableRef> tables;
    std::string smallest;
    std::string largest;
  };

  std::vector<Group> Groups() const;
  bool Within(const Group& group, const std::string& key) const;
  bool OverOlder(const Group& group) const;
  std::vector<TestVersion> Expected(const MergeResult& result) const;
  void CheckTables(const MergeResult& result);
  void CheckContents(const MergeResult& result);
  void CheckReads(const std::vector<TableRef>& tables) const;
  std::vector<TableRef> LeftOf(const InputRun& run, const MergeResult& result, const KeyRange& range) const;
  void CheckPayload(const MergeResult& result, const std::vector<TableRef>& tables) const;
  void CheckCounts(const MergeResult& result) const;

  Random random_;
  TestPool pool_;
  TableMaker maker_;
  ExtentList payload_;
  std::vector<InputRun> older_;   // oldest first
  std::vector<InputRun> inputs_;  // oldest first
  std::deque<miodb::Run> older_runs_;
  std::vector<uint64_t> snapshots_;
  std::unique_ptr<VersionFilter> filter_;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMPACTION_MERGE_WORLD_H_
