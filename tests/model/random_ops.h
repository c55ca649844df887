// A random history against a database and its model.
//
// Everything follows from the seed: how many operations, the shape of the keys, every operation. So a history can be
// repeated under another option set or scale. The history holds iterators, snapshots and pinned values across writes,
// compactions and each other, and checks them late.
//
// Threads: one (the database has its own). Failures are reported to googletest; Run stops at the first one and prints
// the last operations.

#ifndef MIODB_TESTS_MODEL_RANDOM_OPS_H_
#define MIODB_TESTS_MODEL_RANDOM_OPS_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "miodb/db.h"
#include "tests/common/random/generator.h"
#include "tests/common/random/model.h"
#include "tests/common/random/random.h"

namespace miodb::test {

class RandomOps {
 public:
  // Every reopen picks one of these; the first open takes the first. All have the same comparator.
  using OptionChoice = std::vector<Options>;

  RandomOps(uint64_t seed, std::string path, OptionChoice options);
  RandomOps(uint64_t seed, std::string path, OptionChoice options, KeyStyle style);
  ~RandomOps();
  RandomOps(const RandomOps&) = delete;
  RandomOps& operator=(const RandomOps&) = delete;

  // How many operations the history of a seed has: hundreds, for one seed in ten thousands.
  static uint64_t Length(uint64_t seed) { return seed % 10 == 0 ? 5000 : 600; }

  void Run();

 private:
  struct HeldSnapshot {
    const Snapshot* handle;
    Model::State state;
  };
  struct HeldPin {
    PinnableSlice slice;
    std::string expected;
  };
  struct HeldIterator;

  void Reopen();
  void ReleaseAll();
  void Step();
  std::pair<std::string, std::string> AnyRange();
  void DeleteRange();
  void WriteStep(uint64_t dice);
  void HoldStep(uint64_t dice);
  void BackgroundStep(uint64_t dice);

  bool IsSingle(const std::string& key) const;
  void WriteSingle(const std::string& key);
  void WriteSome();
  void CheckGet(const std::string& key);
  void StartIterator();
  void MoveIterator(HeldIterator* held, uint64_t moves);
  void MoveOnce(HeldIterator* held);
  void ComparePosition(const HeldIterator& held);
  void CompareAll(const Model::State& state, const Snapshot* snapshot);
  void CompactSome();
  void AskProperties();

  size_t MaxValue() const { return style_ == KeyStyle::kMixed ? 300 * 1024 : 20 * 1024; }
  ReadOptions Reading(const Snapshot* snapshot);
  WriteOptions Writing();
  const HeldSnapshot* AnySnapshot();
  void Trace(const std::string& what);
  std::string History() const;

  const uint64_t seed_;
  const std::string path_;
  OptionChoice options_;
  Random random_;
  const KeyStyle style_;
  const KeySpace keys_;
  Model model_;
  std::unique_ptr<DB> db_;
  std::vector<HeldSnapshot> snapshots_;
  std::vector<std::unique_ptr<HeldIterator>> iterators_;
  std::vector<std::unique_ptr<HeldPin>> pins_;
  uint64_t step_ = 0;
  std::deque<std::string> trace_;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_MODEL_RANDOM_OPS_H_
