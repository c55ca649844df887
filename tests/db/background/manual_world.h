// A database without threads, driven step by step in an order that a seed decides, beside its model. At any step
// boundary the pool file can be copied: that is what a crash of the process would leave, and it must open to the state
// of that moment.

#ifndef MIODB_TESTS_DB_BACKGROUND_MANUAL_WORLD_H_
#define MIODB_TESTS_DB_BACKGROUND_MANUAL_WORLD_H_

#include <memory>
#include <string>
#include <vector>

#include "src/db/open/db_impl.h"
#include "tests/common/random/generator.h"
#include "tests/common/random/model.h"
#include "tests/common/test_dir.h"

namespace miodb::test {

class ManualWorld {
 public:
  // Everything follows from the seed. crashes: copy the pool now and then and open the copy.
  ManualWorld(uint64_t seed, const Options& options, bool crashes);
  ~ManualWorld();
  ManualWorld(const ManualWorld&) = delete;
  ManualWorld& operator=(const ManualWorld&) = delete;

  // Options far from their defaults, drawn from the seed.
  static Options AnyOptions(uint64_t seed);

  // Does a write, a read, a background step, a snapshot, a reopening or a crash.
  void Step();

  // Everything against the model, by gets and scans in both directions.
  void CheckAll();

  // A crash now: what the copy opens to, is written to, and opens to again.
  void CheckCrash();

  uint64_t crashes() const { return crashes_; }
  uint64_t refused() const { return refused_; }

 private:
  struct Held {
    const Snapshot* snapshot;
    Model::State state;
  };

  std::unique_ptr<DBImpl> OpenAt(const std::string& path, BackgroundMode mode);
  void Reopen();
  void Write();
  void Read(const Snapshot* snapshot, const Model::State& state);
  void ReadMany(const ReadOptions& options, const Model::State& state);
  void CheckRead(const Model::State& state, const std::string& key, const Status& s, const std::string& value) const;
  void Background();
  void Scan(DB* db, const Snapshot* snapshot, const Model::State& state);
  void ReleaseAll();

  Random random_;
  const Options options_;
  const bool crash_;
  const KeySpace keys_;
  TestDir dir_;
  Model model_;
  std::unique_ptr<DBImpl> db_;
  std::vector<Held> held_;
  uint64_t crashes_ = 0;
  uint64_t refused_ = 0;  // writes, for lack of space
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_DB_BACKGROUND_MANUAL_WORLD_H_
