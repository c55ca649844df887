// The three ways to call ycsbc, and what is said about wrong calls.

#include "ycsbc/run/command_line.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/common/paths.h"

namespace miodb::ycsb {
namespace {

std::vector<std::string> Split(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> list;
  for (std::string word; words >> word;) list.push_back(word);
  return list;
}

Invocation Parse(const std::string& line) { return ParseCommandLine(Split(line)); }

class CommandLineTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/command_line_test";
    std::filesystem::create_directories(folder_);
    Write("a", "recordcount=100\noperationcount=50\nreadproportion=1\nupdateproportion=0\n");
    Write("b", "recordcount=200\nmaxscanlength=7\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(Path(name)) << text; }

  std::string folder_;
};

TEST_F(CommandLineTest, JavaStyle) {
  const Invocation call = Parse("-load -db leveldb -P " + Path("a") + " -P " + Path("b") +
                                " -p operationcount=9 -threads 3 -target 1000 -s -l x: -p recordcount=300");
  ASSERT_EQ(call.error, "");
  ASSERT_EQ(call.commands.size(), 1u);
  const Command& command = call.commands[0];
  EXPECT_TRUE(command.load);
  EXPECT_FALSE(command.run);
  EXPECT_EQ(command.settings.db, "leveldb");
  EXPECT_EQ(command.settings.recordcount, 300);  // The command line wins over files.
  EXPECT_EQ(command.settings.operationcount, 9);
  EXPECT_EQ(command.settings.maxscanlength, 7);
  EXPECT_EQ(command.settings.threadcount, 3);
  EXPECT_EQ(command.settings.target, 1000);
  EXPECT_EQ(command.schedule.RateAt(0), 1000);
  EXPECT_TRUE(command.settings.status);
  EXPECT_EQ(command.settings.label, "x:");
  EXPECT_EQ(command.settings.OutputStyle(), Style::kJava);
}

TEST_F(CommandLineTest, LaterFilesWinWhereverTheyStand) {
  const Invocation call = Parse("-p maxscanlength=9 -P " + Path("b") + " -P " + Path("a"));
  ASSERT_EQ(call.error, "");
  EXPECT_EQ(call.commands[0].settings.recordcount, 100);
  EXPECT_EQ(call.commands[0].settings.maxscanlength, 9);
}

TEST_F(CommandLineTest, PhasesOfEachStyle) {
  const std::string file = " -P " + Path("a");
  const struct {
    const char* words;
    bool load;
    bool run;
    Style style;
  } kCases[] = {
      {"-t", false, true, Style::kJava},
      {"-run", false, true, Style::kJava},
      {"-load -t", true, true, Style::kJava},
      {"-db basic", false, true, Style::kJava},
      {"load basic", true, false, Style::kJava},
      {"run basic", false, true, Style::kJava},
      {"load", true, false, Style::kJava},
      {"-p dotransactions=false", true, false, Style::kJava},
      {"-p doload=true", true, false, Style::kJava},
      {"-p doload=true -p dotransaction=true", true, true, Style::kJava},
      {"-load true -run true", true, true, Style::kMioDb},
      {"-load true -run false", true, false, Style::kMioDb},
      {"-load true -p outputstyle=cpp", true, false, Style::kCpp},
  };
  for (const auto& c : kCases) {
    const Invocation call = Parse(c.words + file);
    ASSERT_EQ(call.error, "") << c.words;
    EXPECT_EQ(call.commands[0].load, c.load) << c.words;
    EXPECT_EQ(call.commands[0].run, c.run) << c.words;
    EXPECT_EQ(call.commands[0].settings.OutputStyle(), c.style) << c.words;
  }
}

TEST_F(CommandLineTest, WrongCallsAreNamedInOneLine) {
  const std::string file = " -P " + Path("a");
  Write("rates", "0 100\n5\n");
  const std::pair<std::string, std::string> kCases[] = {
      {"", "no arguments; see --help"},
      {"-load -P " + Path("none"), "cannot read property file " + Path("none")},
      {"-frobnicate" + file, "unknown option -frobnicate; see --help"},
      {"-load stray" + file, "unexpected word 'stray'; see --help"},
      {"-load" + file + " -threads", "option -threads needs a value"},
      {"-load" + file + " -p novalue", "option -p: 'novalue' is not name=value"},
      {"-load" + file + " -threads 0", "property threadcount=0: '0' is not a decimal integer from 1 to 4096"},
      {"-load false -run false" + file, "nothing to do: neither -load nor -run is true"},
      {"-load -p operationcount=1", "property recordcount is not set"},
      {"-t -p recordcount=1", "property operationcount is not set"},
      {"-t" + file + " -p limit.file=" + Path("rates"), Path("rates") + ":2: not seconds and a rate above 0"},
      {Path("none"), "cannot read input file " + Path("none")},
      {folder_, "cannot read input file " + folder_},
  };
  for (const auto& [line, problem] : kCases) {
    const Invocation call = Parse(line);
    EXPECT_EQ(call.outcome, Invocation::Outcome::kError) << line;
    EXPECT_EQ(call.error, problem) << line;
    EXPECT_EQ(call.error.find('\n'), std::string::npos);
  }
}

TEST_F(CommandLineTest, HelpAndVersion) {
  EXPECT_EQ(Parse("--help").outcome, Invocation::Outcome::kHelp);
  EXPECT_EQ(Parse("-h").outcome, Invocation::Outcome::kHelp);
  EXPECT_EQ(Parse("-load --version").outcome, Invocation::Outcome::kVersion);
}

TEST_F(CommandLineTest, InputFilesHoldCommandsThatShareNothing) {
  Write("input", "7\n./ycsbc -db miodb -P a -load true\n9 ./ycsbc -db miodb\n-P b -run true -p operationcount=4\n0\n");
  const Invocation call = Parse(Path("input") + " -dbpath /tmp/p");
  ASSERT_EQ(call.error, "");
  ASSERT_EQ(call.commands.size(), 2u);
  EXPECT_TRUE(call.commands[0].load);
  EXPECT_EQ(call.commands[0].settings.OutputStyle(), Style::kMioDb);
  EXPECT_EQ(call.commands[0].settings.readproportion, 1);
  EXPECT_EQ(call.commands[0].settings.maxscanlength, 1000);
  EXPECT_FALSE(call.commands[1].load);
  EXPECT_TRUE(call.commands[1].run);
  EXPECT_EQ(call.commands[1].settings.readproportion, 0.95);  // Not that of the first command.
  EXPECT_EQ(call.commands[1].settings.maxscanlength, 7);
  EXPECT_EQ(call.commands[1].settings.engine.db, "/tmp/p");  // What stands behind the file counts for all.
}

// Its driver's files say "-db leveldb", which is the prototype of MioDB there.
TEST_F(CommandLineTest, LeveldbInAnInputFileOfMioDbsDriverIsMioDb) {
  const std::string command =
      "19 ./ycsbc -db leveldb -dbpath /tmp/p -threads 1 -P a -load true -dboption 1"
      " -dbstatistics true -dbwaitforbalance false -timeseries false\n";
  Write("input", command + command + "0\n");
  const Invocation call = Parse(Path("input"));
  ASSERT_EQ(call.error, "");
  for (const Command& each : call.commands) {
    EXPECT_EQ(each.settings.engine.engine, "miodb");
    ASSERT_EQ(each.settings.notes.size(), 1u);
    EXPECT_NE(each.settings.notes[0].find("means MioDB"), std::string::npos) << each.settings.notes[0];
  }
  for (const std::string engine : {"leveldb", "rocksdb"}) {
    const Invocation chosen = Parse(Path("input") + " -db " + engine);
    ASSERT_EQ(chosen.error, "");
    EXPECT_EQ(chosen.commands[1].settings.engine.engine, engine);
    EXPECT_TRUE(chosen.commands[1].settings.notes.empty());
  }
  // Without the mark of that driver the word means what it says.
  Write("input", "7 ./ycsbc -db leveldb -P a -load true\n0\n");
  EXPECT_EQ(Parse(Path("input")).commands[0].settings.engine.engine, "leveldb");
}

TEST_F(CommandLineTest, WrongInputFilesAreNamedWithTheCommand) {
  const std::string start = "5 ./ycsbc -P a -load true\n";
  const std::pair<std::string, std::string> kCases[] = {
      {"", ": command 1: the number of its words is missing (a 0 ends the file)"},
      {"0\n", ": no command"},
      {start, ": command 2: the number of its words is missing (a 0 ends the file)"},
      {start + "4 ./ycsbc -P a", ": command 2: 3 of 4 words are there"},
      {start + "-3 a b c", ": command 2: -3 is no number of words"},
      {start + "3 ./ycsbc -P none\n0", ": command 2: cannot read property file none"},
      {start + "7 ./ycsbc -P a -db leveldb -run true\n0",
       ": command 2: database or engine options differ from those of command 1, which opens it for all"},
  };
  for (const auto& [text, problem] : kCases) {
    Write("input", text);
    EXPECT_EQ(Parse(Path("input")).error, Path("input") + problem);
  }
}

TEST_F(CommandLineTest, WorkloadsDrawDifferentNumbers) {
  const Invocation a = Parse("-t -P " + Path("a"));
  const Invocation b = Parse("-t -P " + Path("b") + " -p operationcount=1");
  EXPECT_NE(a.commands[0].stream, b.commands[0].stream);
  EXPECT_EQ(a.commands[0].stream, Parse("-load -db leveldb -P " + Path("a")).commands[0].stream);
}

// ---- The files that come with the program
// ----------------------------------------------------------------------------

const std::string kFolder = test::SourceDir() + "/ycsbc/";

TEST(WorkloadFilesTest, TheSixHaveTheReferencesMixes) {
  const struct {
    char name;
    double read, update, insert, scan, rmw;
    Distribution distribution;
  } kMixes[] = {
      {'a', .5, .5, 0, 0, 0, Distribution::kZipfian},   {'b', .95, .05, 0, 0, 0, Distribution::kZipfian},
      {'c', 1, 0, 0, 0, 0, Distribution::kZipfian},     {'d', .95, 0, .05, 0, 0, Distribution::kLatest},
      {'e', 0, 0, .05, .95, 0, Distribution::kZipfian}, {'f', .5, 0, 0, 0, .5, Distribution::kZipfian},
  };
  for (const auto& mix : kMixes) {
    for (const char* form : {"workload%c", "workload%c.spec", "workload%c_1k.spec", "small/workload%c.spec",
                             "small/workload%c_1k.spec", "1M_workload%c.spec"}) {
      std::string name = form;
      if (name[0] == '1' && mix.name == 'a') continue;
      name.replace(name.find("%c"), 2, 1, mix.name);
      const Invocation call = Parse("-t -P " + kFolder + "workloads/" + name);
      ASSERT_EQ(call.error, "") << name;
      const Settings& s = call.commands[0].settings;
      EXPECT_EQ(s.readproportion, mix.read) << name;
      EXPECT_EQ(s.updateproportion, mix.update) << name;
      EXPECT_EQ(s.insertproportion, mix.insert) << name;
      EXPECT_EQ(s.scanproportion, mix.scan) << name;
      EXPECT_EQ(s.readmodifywriteproportion, mix.rmw) << name;
      EXPECT_EQ(s.RequestDistribution(), mix.distribution) << name;
      if (mix.name == 'e') {
        EXPECT_EQ(s.maxscanlength, 100);
        EXPECT_EQ(s.scanlengthdistribution, "uniform");
      }
      const bool is_standard = name.find('.') == std::string::npos;
      EXPECT_EQ(s.fieldcount * s.fieldlength, is_standard ? 1000 : name.find("_1k") != std::string::npos ? 1024 : 4096);
    }
  }
}

TEST(WorkloadFilesTest, EveryInputFileParses) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder + "input")) {
    if (!entry.is_regular_file()) continue;
    files++;
    const Invocation call = Parse(entry.path().string());
    EXPECT_EQ(call.error, "");
    ASSERT_GE(call.commands.size(), 2u) << entry.path();
    EXPECT_TRUE(call.commands[0].load && !call.commands[0].run) << entry.path();
    for (size_t i = 1; i < call.commands.size(); i++) {
      EXPECT_TRUE(call.commands[i].run && !call.commands[i].load) << entry.path();
      EXPECT_EQ(call.commands[i].settings.MaxFieldBytes(), call.commands[0].settings.MaxFieldBytes()) << entry.path();
      if (entry.path().string().find("/small/") == std::string::npos) continue;
      // The small set runs on all that it loads.
      EXPECT_EQ(call.commands[i].settings.LoadedRecords(), call.commands[0].settings.LoadedRecords()) << entry.path();
    }
  }
  EXPECT_EQ(files, 36);
}

}  // namespace
}  // namespace miodb::ycsb
