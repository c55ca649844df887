// The program as its users call it: exit status, one clear line for a wrong call, one database for all commands of a
// file, and figures that survive Ctrl-C. On every engine that it was built with.

#include "tests/common/program.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/common/clock/ticks.h"
#include "tests/common/environment.h"
#include "tests/ycsbc/map_engine.h"
#include "ycsbc/run/command_line.h"
#include "ycsbc/run/driver.h"

namespace miodb::ycsb {
namespace {

const std::string kProgram = test::BinaryDir() + "/ycsbc";
const std::string kWorkloads = test::SourceDir() + "/ycsbc/workloads/";

using test::FileContents;

class ProgramTest : public test::ProgramTestBase {
 protected:
  ProgramTest() : ProgramTestBase("ycsbc_program_test") {}

  int Call(const std::string& words) { return Run(kProgram + " " + words); }

  // The engines in "ycsbc: miodb 1.0, leveldb 1.23, basic". ThreadSanitizer does not see the locks of libraries that
  // are not compiled with it, and takes what two threads do in turns for a race.
  std::vector<std::string> Engines() {
    EXPECT_EQ(Call("--version"), 0);
    if (test::RunsUnderThreadSanitizer()) return {"miodb", "basic"};
    std::vector<std::string> engines;
    for (const char* engine : {"miodb", "leveldb", "rocksdb", "lmdb", "wiredtiger", "basic"}) {
      if (out_.find(std::string(" ") + engine) != std::string::npos) engines.push_back(engine);
    }
    EXPECT_GE(engines.size(), 2u);
    return engines;
  }

  std::string Workload(char name) const {
    return " -P " + kWorkloads + "workload" + name + " -p recordcount=500 -p operationcount=500 ";
  }
  std::string Path(const std::string& engine) const { return " -dbpath " + folder_ + "/" + engine + " "; }

  bool HasLine(const std::string& line) const { return ("\n" + out_).find("\n" + line + "\n") != std::string::npos; }
};

TEST_F(ProgramTest, AllWorkloadsRunOnAllEngines) {
  for (const std::string& engine : Engines()) {
    const std::string common = "-db " + engine + Path(engine) + "-p pool_size=268435456 ";
    ASSERT_EQ(Call("-load " + common + Workload('a')), 0) << engine << err_;
    EXPECT_TRUE(HasLine("[INSERT], Return=OK, 500")) << out_;
    for (const char workload : {'a', 'b', 'c', 'd', 'e', 'f'}) {
      ASSERT_EQ(Call("-t -threads 2 " + common + Workload(workload)), 0) << engine << workload << err_;
      EXPECT_EQ(out_.find("NOT_FOUND"), std::string::npos) << engine << workload << out_;
      EXPECT_EQ(out_.find("ERROR"), std::string::npos) << engine << workload << out_;
    }
    EXPECT_NE(out_.find("[READ-MODIFY-WRITE], Operations, "), std::string::npos);
  }
}

TEST_F(ProgramTest, WhatRunsIsNamedFirstAndSoIsAModelledMedium) {
  const std::string model = " -p pool_size=268435456 -p nvm_model=optane ";
  ASSERT_EQ(Call("-load -t -db miodb" + Path("miodb") + model + Workload('c')), 0) << err_;
  EXPECT_EQ(err_.rfind("ycsbc: MioDB ", 0), 0u) << err_;
  EXPECT_EQ(err_.substr(0, err_.find('\n')).find(" in " + folder_ + "/miodb"), err_.find(" in ")) << err_;
  EXPECT_NE(out_.find("[OVERALL], PersistMode, "), std::string::npos) << out_;
  EXPECT_NE(out_.find("MODELLED"), std::string::npos) << out_;
  std::ofstream(folder_ + "/input") << "7 ./ycsbc -db leveldb -dboption 1 -load true "
                                    << "0\n";
  const std::string input = folder_ + "/input" + Path("x") + Workload('c');
  ASSERT_EQ(Call(input), 0) << err_;
  EXPECT_EQ(err_.rfind("ycsbc: MioDB ", 0), 0u) << err_;
  EXPECT_EQ(out_.rfind("set MioDB options!\n---- dbname:miodb ", 0), 0u) << out_;
  EXPECT_NE(out_.find("\npersist mode: "), std::string::npos) << out_;
  if (Engines().at(1) == "leveldb") {
    ASSERT_EQ(Call(input + " -db leveldb" + Path("leveldb")), 0) << err_;
    EXPECT_EQ(err_.rfind("ycsbc: LevelDB ", 0), 0u) << err_;
    EXPECT_EQ(out_.rfind("set LevelDB options!\n---- dbname:leveldb ", 0), 0u) << out_;
  }
}

TEST_F(ProgramTest, DataIntegrityHoldsOnAllEngines) {
  for (const std::string& engine : Engines()) {
    if (engine == "basic") continue;
    const std::string common =
        "-db " + engine + Path(engine) + "-p pool_size=268435456 -p dataintegrity=true -threads 2 ";
    ASSERT_EQ(Call("-load -t " + common + Workload('a')), 0) << engine << err_;
    EXPECT_NE(out_.find("[VERIFY], Return=OK, "), std::string::npos) << out_;
    EXPECT_EQ(out_.find("UNEXPECTED_STATE"), std::string::npos) << out_;
  }
}

// What one run wrote, another kind of value, is damage to a run that verifies.
TEST_F(ProgramTest, FailedVerificationIsAnExitStatus) {
  const std::string common = "-db miodb" + Path("miodb") + "-p pool_size=268435456 ";
  ASSERT_EQ(Call("-load " + common + Workload('c')), 0) << err_;
  EXPECT_EQ(Call("-t -p dataintegrity=true " + common + Workload('c')), 1);
  EXPECT_NE(out_.find("[VERIFY], Return=UNEXPECTED_STATE, 500"), std::string::npos) << out_;
  EXPECT_NE(err_.find("first failure: verification of user"), std::string::npos) << err_;
}

TEST_F(ProgramTest, WrongCallsEndWithOneLineAndStatusTwoAndLeaveNothing) {
  const std::string calls[] = {
      "",
      "-load -db miodb -P /nowhere/workload",
      "-load -db miodb -p recordcount=abc",
      "-load -db miodb -p recordcount=1 -p requestdistribution=zipfy",
      "-load -db miodb -p recordcount=1 -p workload=site.ycsb.workloads.RestWorkload",
      "-load -db miodb -p recordcount=1 -p recordcuont=1",
      "-load -db oracle -p recordcount=1",
      "-load -db leveldb -p recordcount=1 -p disable_wal=true",
      "-t -db miodb -p recordcount=1 -p operationcount=1",  // There is no database yet.
      "-load -db miodb -p recordcount=1 -p intervalfile=/nowhere/x",
      "/nowhere/input",
  };
  for (const std::string& call : calls) {
    EXPECT_EQ(Call(call.empty() || call[0] == '/' ? call : call + Path("db")), 2) << call;
    EXPECT_EQ(out_, "") << call;
    EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << call << ": " << err_;
    EXPECT_EQ(err_.rfind("ycsbc: ", 0), 0u) << err_;
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/db")) << call;
  }
}

TEST_F(ProgramTest, AnIntervalFileThatCannotBeMadeLeavesTheOthersAsTheyWere) {
  std::ofstream(folder_ + "/old.csv") << "old\n";
  std::ofstream input(folder_ + "/input");
  for (const char* const file : {"/a.csv", "/old.csv", "/z/b.csv"}) {
    input << "7 ./ycsbc -db miodb -load true -p intervalfile=" << folder_ << file << "\n";
  }
  input << "0\n";
  input.close();
  EXPECT_EQ(Call(folder_ + "/input -p recordcount=1" + Path("db")), 2) << out_;
  EXPECT_EQ(err_, "ycsbc: cannot write intervalfile " + folder_ + "/z/b.csv: No such file or directory\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/a.csv"));
  EXPECT_EQ(FileContents(folder_ + "/old.csv"), "old\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/db"));
}

TEST_F(ProgramTest, ARunMakesNoDatabaseInAFolderOfSomethingElse) {
  std::filesystem::create_directories(folder_ + "/photos");
  std::ofstream(folder_ + "/photos/cat") << "meow";
  for (const std::string& engine : Engines()) {
    if (engine == "basic") continue;
    EXPECT_EQ(Call("-t -db " + engine + Workload('c') + Path("photos")), 1) << engine << out_;
    EXPECT_NE(err_.find("does not exist"), std::string::npos) << err_;
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/photos/CURRENT")) << engine;
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/photos/pool")) << engine;
  }
}

TEST_F(ProgramTest, ADatabaseThatCannotBeOpenedIsStatusOne) {
  std::ofstream(folder_ + "/file") << "no folder";
  EXPECT_EQ(Call("-load -db miodb -p recordcount=1 -dbpath " + folder_ + "/file/db"), 1);
  EXPECT_NE(err_.find("cannot open MioDB in "), std::string::npos) << err_;
}

TEST_F(ProgramTest, AFullStoreIsStatusOneWithItsReason) {
  EXPECT_EQ(
      Call("-load -db miodb -p recordcount=100000 -p pool_size=33554432 -p write_buffer_size=1048576 " + Path("miodb")),
      1);
  EXPECT_NE(err_.find("load: first failure: insert of user"), std::string::npos) << err_;
  EXPECT_NE(err_.find("NoSpace"), std::string::npos) << err_;
}

TEST_F(ProgramTest, TheSmallInputFileRunsInMioDbStyle) {
  ASSERT_EQ(Call(test::SourceDir() + "/ycsbc/input/small/1KB_busy -p recordcount=2000 -p operationcount=300" +
                 Path("miodb") + "-p pool_size=268435456"),
            0)
      << err_;
  EXPECT_EQ(out_.rfind("set MioDB options!\n---- dbname:miodb  dbpath:" + folder_ + "/miodb ----\n", 0), 0u) << out_;
  EXPECT_NE(out_.find("\nloading records:2000  use time:"), std::string::npos) << out_;
  size_t runs = 0;
  for (size_t at = 0; (at = out_.find("\nall opeartion records:300  use time:", at)) != std::string::npos; at++) runs++;
  EXPECT_EQ(runs, 6u);
  EXPECT_NE(out_.find("\nscan ops  :"), std::string::npos);
  EXPECT_NE(out_.find("\nread not found:0\n"), std::string::npos);
  EXPECT_NE(out_.find("\nstall time: "), std::string::npos);
  EXPECT_NE(err_.find("start delete\n"), std::string::npos);
}

TEST_F(ProgramTest, TimeSeriesLinesComeForEveryHundredOperations) {
  ASSERT_EQ(Call("-load -t -db basic -timeseries true" + Workload('c')), 0) << err_;
  for (int i = 1; i <= 5; i++) {
    EXPECT_NE(out_.find("No." + std::to_string(i) + " 100 opeartions: use time:"), std::string::npos) << out_;
  }
  EXPECT_EQ(out_.find("No.0 "), std::string::npos);
  EXPECT_EQ(out_.find("No.6 "), std::string::npos);
}

TEST_F(ProgramTest, ExportsGoToFiles) {
  ASSERT_EQ(
      Call("-load -t -db basic -p exporter=json -p exportfile=" + folder_ + "/x.json -p intervalfile=" + folder_ +
           "/x.csv -p hdrhistogram.fileoutput=true -p hdrhistogram.output.path=" + folder_ + "/h_" +
           " -p measurementtype=hdrhistogram+raw -p measurement.raw.output_file=" + folder_ + "/raw" + Workload('a')),
      0)
      << err_;
  EXPECT_EQ(out_, "");
  const std::string json = FileContents(folder_ + "/x.json");
  EXPECT_NE(json.find(R"({"metric":"INSERT","measurement":"Operations","value":500})"), std::string::npos);
  EXPECT_NE(json.find(R"({"metric":"READ","measurement":"Operations")"), std::string::npos);
  EXPECT_NE(FileContents(folder_ + "/x.csv").find("\nload,"), std::string::npos);
  EXPECT_NE(FileContents(folder_ + "/x.csv").find("\nrun,"), std::string::npos);
  EXPECT_NE(FileContents(folder_ + "/h_INSERT.hgrm").find("TotalCount"), std::string::npos);
  const std::string log = FileContents(folder_ + "/h_READ.hdr");
  EXPECT_EQ(log.rfind("#[Histogram log format version 1.3]\n", 0), 0u) << log;
  EXPECT_NE(log.find("\nTag=run,"), std::string::npos) << log;
  EXPECT_NE(log.find(",HISTFAAA"), std::string::npos) << log;
  EXPECT_NE(FileContents(folder_ + "/h_INSERT.hdr").find("\nTag=load,"), std::string::npos);
  const std::string raw = FileContents(folder_ + "/raw");
  EXPECT_EQ(std::count(raw.begin(), raw.end(), '\n'), 500 + 1 + 500 + 1 + 2);  // Two titles, two CLEANUPs.
  EXPECT_EQ(Call("-load -db basic -p exportfile=/nowhere/x" + Workload('a')), 1);
  EXPECT_NE(err_.find("cannot write /nowhere/x: "), std::string::npos) << err_;
}

TEST_F(ProgramTest, AnInterruptedRunPrintsWhatWasDone) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (std::freopen((folder_ + "/out").c_str(), "w", stdout) == nullptr ||
        std::freopen((folder_ + "/err").c_str(), "w", stderr) == nullptr) {
      _exit(99);
    }
    execl(kProgram.c_str(), "ycsbc", "-t", "-db", "basic", "-p", "recordcount=10", "-p", "operationcount=0", "-target",
          "100", "-s", "-p", "status.interval=1", nullptr);
    _exit(98);
  }
  // The first status line: it runs and handles signals.
  for (int i = 0; i < 600 && FileContents(folder_ + "/err").find("operations;") == std::string::npos; i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_NE(FileContents(folder_ + "/out").find("[OVERALL], Throughput(ops/sec), "), std::string::npos);
  EXPECT_NE(FileContents(folder_ + "/err").find("interrupted"), std::string::npos);
}

TEST_F(ProgramTest, HelpNamesOptionsAndProperties) {
  EXPECT_EQ(Call("--help"), 0);
  for (const char* text : {"-threads", "  recordcount=", "  write_buffer_size=", "Engines: miodb"}) {
    EXPECT_NE(out_.find(text), std::string::npos) << text;
  }
}

// ---- The driver on a store that counts
// ---------------------------------------------------------------------------------

TEST(DriverTest, TheDatabaseIsOpenedOnceAndNothingLeaksBetweenCommands) {
  const std::string input = testing::TempDir() + "/ycsbc_driver_test";
  std::ofstream(input) << "12 x -p recordcount=300 -p fieldcount=1 -p fieldlength=8 -p maxscanlength=3 -load true -s\n"
                       << "14 x -p recordcount=300 -p operationcount=100 -p readproportion=0 -p updateproportion=0 "
                          "-p scanproportion=1 -run true -s\n"
                       << "8 x -p recordcount=300 -p operationcount=100 -run true -s\n0\n";
  Invocation call = ParseCommandLine({input, "-p", "status=false"});
  ASSERT_EQ(call.error, "");
  ASSERT_EQ(call.commands.size(), 3u);
  bench::Ticks::Calibrate();
  MapEngine engine;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(Driver(call.commands, &engine).Run(), 0);
  const std::string out = testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(engine.opens, 1);
  EXPECT_EQ(engine.closes, 1);
  EXPECT_EQ(engine.store.records.size(), 300u);
  EXPECT_EQ(engine.store.seeks.size(), 100u);  // None in the third command.
  EXPECT_EQ(call.commands[1].settings.maxscanlength, 1000);
  // The third command has the default mix again, and its own counts.
  const size_t third = out.rfind("all opeartion records:100 ");
  ASSERT_NE(third, std::string::npos) << out;
  EXPECT_EQ(out.find("scan ops", third), std::string::npos) << out;
  EXPECT_NE(out.find("read ops", third), std::string::npos) << out;
}

TEST(DriverTest, AFailedLoadEndsTheCall) {
  Invocation call = ParseCommandLine({"-load", "-t", "-p", "recordcount=10", "-p", "operationcount=10"});
  ASSERT_EQ(call.error, "");
  MapEngine engine;
  engine.store.failing_puts = 1;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(Driver(call.commands, &engine).Run(), 1);
  testing::internal::GetCapturedStdout();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("load: first failure: insert of "), std::string::npos);
  EXPECT_TRUE(engine.store.gets.empty());
  EXPECT_EQ(engine.closes, 1);
}

}  // namespace
}  // namespace miodb::ycsb
