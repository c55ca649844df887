// Peers are asked before they are measured, and each wrong answer is reported; a library without the function of a flag
// is refused. The library that answers wrong, and lacks functions, is tests/benchmarks/faulty_library.cc.

#include "benchmarks/common/questions.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/engine_config.h"
#include "tests/common/paths.h"
#include "tests/common/program.h"
#include "tests/common/test_dir.h"

namespace miodb::bench {
namespace {

const std::string kLibrary = test::BinaryDir() + "/tests/benchmarks/faulty_library.so";

class QuestionsTest : public testing::Test {
 protected:
  QuestionsTest() {
    config_.engine = "leveldb";
    config_.library = kLibrary;
    config_.db = dir_ / "db";
  }
  ~QuestionsTest() override { unsetenv("FAULT"); }

  // The report on a library with this fault.
  std::string Report(const std::string& fault, int seconds = kAnswerSeconds) {
    setenv("FAULT", fault.c_str(), 1);
    std::string error;
    const std::unique_ptr<Engine> engine = NewEngine(config_, &error);
    EXPECT_NE(engine, nullptr) << error;
    return engine == nullptr ? "" : AnswersText(engine->Name(), AskEngine(config_, *engine, seconds));
  }

  test::TestDir dir_;
  EngineConfig config_;
};

TEST_F(QuestionsTest, RightAnswersAreNamed) {
  EXPECT_EQ(Report(""),
            "Answers:    right: deletes, overwrites, snapshots, batches written twice, opening again, opening after "
            "kill -9\n");
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path())) << "the working folders are removed";
}

TEST_F(QuestionsTest, EachWrongAnswerIsReported) {
  struct Wrong {
    const char* fault;
    const char* warning;
  };
  constexpr Wrong kWrongs[] = {
      {"delete", "deletes: a get finds an empty value before the flush, of a deleted key"},
      {"overwrite", "overwrites: a get finds another value before the flush"},
      {"snapshot", "snapshots: a get finds another value in a snapshot before the flush"},
      {"batch", "batches written twice: a get finds another value after the second write"},
      {"reopen", "opening again: a get finds nothing in the opened store"},
      {"kill", "opening after kill -9: a get finds nothing in the opened store"},
      {"open", "deletes: opening fails: it does not want to"},
      {"crash", "deletes: the process ends by signal 6"},
  };
  for (const auto& [fault, warning] : kWrongs) {
    const std::string report = Report(fault);
    EXPECT_NE(report.find("WARNING: LevelDB answers wrong, " + std::string(warning) + "\n"), std::string::npos)
        << fault << ":\n"
        << report;
  }
}

TEST_F(QuestionsTest, OneWrongAnswerLeavesTheOthersRight) {
  const std::string report = Report("batch");
  EXPECT_EQ(
      report.rfind("Answers:    right: deletes, overwrites, snapshots, opening again, opening after kill -9\n", 0), 0u)
      << report;
}

TEST_F(QuestionsTest, AStoreThatHangsIsEnded) {
  const std::string report = Report("hang", 1);
  EXPECT_EQ(report.rfind("Answers:    right: none\n", 0), 0u) << report;
  EXPECT_NE(report.find("deletes: there is no answer within 1 s\n"), std::string::npos) << report;
}

// Figures of a store without the option that was asked for would pass for figures with it.
TEST_F(QuestionsTest, AFlagThatTheLibraryHasNoFunctionForIsAnError) {
  const auto problem = [this] {
    std::string error;
    EXPECT_EQ(NewEngine(config_, &error), nullptr);
    return error;
  };
  config_.peer.given = {"block_restart_interval"};
  EXPECT_NE(problem().find("faulty_library.so has no option block_restart_interval"), std::string::npos) << problem();
  config_.engine = "rocksdb";
  config_.peer.given = {"readahead_size"};
  EXPECT_NE(problem().find("faulty_library.so has no option readahead_size"), std::string::npos) << problem();
  config_.peer.given.clear();
  config_.pinned_get = true;
  EXPECT_NE(problem().find("faulty_library.so has no option pinned_get"), std::string::npos) << problem();
}

class QuestionedProgramTest : public test::ProgramTestBase {
 protected:
  QuestionedProgramTest() : ProgramTestBase("questions_test") {}
  int Call(const std::string& words) {
    return Run(test::BinaryDir() + "/db_bench --engine=leveldb --library=" + kLibrary + " --db=" + Inside("db") +
               " --num=100 " + words);
  }
};

TEST_F(QuestionedProgramTest, TheHeaderOfDbBenchHasTheAnswers) {
  setenv("FAULT", "snapshot", 1);
  EXPECT_EQ(Call("--benchmarks=fillseq"), 0) << err_;
  EXPECT_EQ(out_.rfind("Library:    " + kLibrary + "\n", 0), 0u) << out_;
  EXPECT_NE(out_.find("\nAnswers:    right: deletes,"), std::string::npos) << out_;
  EXPECT_NE(out_.find("\nWARNING: LevelDB answers wrong, snapshots: "), std::string::npos) << out_;
  EXPECT_EQ(Call("--benchmarks=fillseq --questions=0"), 0) << err_;
  EXPECT_EQ(out_.find("answers wrong"), std::string::npos) << out_;
  unsetenv("FAULT");
}

}  // namespace
}  // namespace miodb::bench
