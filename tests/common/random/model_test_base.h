// The fixture of tests that compare what is kept of a database with a model of it: savepoints, checkpoints,
// backups.

#ifndef MIODB_TESTS_COMMON_RANDOM_MODEL_TEST_BASE_H_
#define MIODB_TESTS_COMMON_RANDOM_MODEL_TEST_BASE_H_

#include <memory>
#include <string>

#include "miodb/merge_operator.h"
#include "tests/common/random/model.h"
#include "tests/common/random/random.h"
#include "tests/common/ssd_test_base.h"

namespace miodb::test {

class ModelTestBase : public SsdTestBase {
 protected:
  ModelTestBase() {
    options_ = SmallOptions();
    options_.merge_operator = append_.get();
  }
  ~ModelTestBase() override { db_.reset(); }

  // A pool that is smaller than what is written.
  void UseSsd() {
    options_.pool_size = 3 * kMiB;
    options_.ssd_path = ssd_;
    options_.nvm_budget = kMiB;
    options_.ssd_level_size = 2 * kMiB;
    options_.ssd_file_size = 256 * kKiB;
  }

  // The options that a copy of the database in this directory is opened with.
  Options OptionsOfCopy(const std::string& directory) const {
    Options options = options_;
    options.create_if_missing = false;
    options.pool_path.clear();
    options.nvm_regions.clear();
    options.wal_dir.clear();
    options.ssd_path = options_.ssd_path.empty() ? "" : directory + "/ssd";
    return options;
  }
  std::unique_ptr<DB> OpenCopy(const std::string& directory) const {
    DB* db = nullptr;
    EXPECT_OK(DB::Open(OptionsOfCopy(directory), directory, &db));
    return std::unique_ptr<DB>(db);
  }

  // The content of a copy, read in both directions. The copy is closed then.
  static std::string ContentOf(std::unique_ptr<DB> copy) {
    if (copy == nullptr) return "cannot be opened";
    const std::string forward = Forward(copy.get());
    EXPECT_EQ(forward, Backward(copy.get()));
    return forward;
  }
  // Whether a copy has the keys of Fill and no others. The copy is closed then.
  void CheckFilledIn(std::unique_ptr<DB> copy, uint64_t count, size_t value_bytes, uint64_t round = 0) {
    ASSERT_NE(nullptr, copy);
    db_.swap(copy);
    CheckFilled(count, value_bytes, round);
    db_.swap(copy);
  }

  // The content of a state, as Forward shows it.
  static std::string Text(const Model::State& state) {
    std::string text;
    for (auto at = state.begin(); !(at == state.end()); ++at) text += "(" + at.key() + "->" + at.value() + ")";
    return text;
  }

  // Some random writes, to the database and to the model.
  void WriteSome(Random* random, int count, Model* model) {
    for (int i = 0; i < count; i++) {
      const std::string key = "k" + std::to_string(random->Uniform(60));
      const std::string value = std::to_string(i) + std::string(random->Uniform(300), 'v');
      switch (random->Uniform(8)) {
        case 0:
          Delete(key);
          model->Delete(key);
          break;
        case 1:
          ASSERT_OK(db_->Merge(WriteOptions(), key, value));
          model->Merge(key, value);
          break;
        case 2: {
          const std::string end = key + std::to_string(random->Uniform(9));
          ASSERT_OK(db_->DeleteRange(WriteOptions(), key, end));
          model->DeleteRange(key, end);
          break;
        }
        default:
          Put(key, value);
          model->Put(key, value);
      }
    }
  }

  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_RANDOM_MODEL_TEST_BASE_H_
