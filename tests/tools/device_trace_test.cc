// device_trace: the texts of a trace whose accesses are known, and bad traces.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/common/program.h"
#include "tests/common/test_dir.h"
#include "tests/trace/trace_files.h"

namespace miodb::test {
namespace {

class DeviceTraceTest : public testing::Test {
 protected:
  // A read of 100 bytes across the end of a line, a store of 8 bytes, a flush of 300, and a fence.
  std::string SmallTrace() {
    AccessesPayload payload;
    const TraceAccess accesses[] = {
        {.bytes = 100, .offset = 4096 + 60, .nanos = 5},
        {.kind = TraceAccess::kWrite, .purpose = TraceAccess::kLog, .thread = 1, .bytes = 8, .offset = 64, .nanos = 7},
        {.kind = TraceAccess::kFlush,
         .purpose = TraceAccess::kMemtableFlush,
         .thread = 1,
         .bytes = 300,
         .offset = 0,
         .nanos = 2000000007},
        {.kind = TraceAccess::kFence, .purpose = TraceAccess::kLog, .thread = 1, .nanos = 2000000009}};
    for (const TraceAccess& access : accesses) payload.Add(uint64_t{1} << 40, access);
    return Ended(BeginRecord() + Encoded([&](TraceEncoder e) { e.Accesses(1, payload.bytes()); }), 2);
  }

  ProgramResult Convert(const std::string& flags) {
    return RunTool("device_trace --trace_path=" + trace_ + " " + flags);
  }

  TestDir dir_;
  const std::string trace_ = dir_ / "trace";
};

TEST_F(DeviceTraceTest, WritesEveryFormat) {
  WriteFile(trace_, SmallTrace());
  const struct {
    const char* flags;
    const char* text;
  } cases[] = {
      {"--format=csv",
       "nanos,thread,kind,purpose,offset,bytes\n5,0,read,-,4156,100\n7,1,write,log,64,8\n"
       "2000000007,1,flush,flush,0,300\n2000000009,1,fence,log,0,0\n"},
      {"--format=counts",
       "kind,purpose,accesses,bytes,lines_64,units_256\nread,-,1,100,3,1\nwrite,log,1,8,1,1\nflush,flush,1,300,5,2\n"
       "fence,log,1,0,0,0\n"},
      {"--format=ramulator --to_seconds=1", "0x1000 R\n0x1040 R\n0x1080 R\n0x40 W\n"},
      {"--format=vans --from_seconds=1 --base=4096", "0x1000 W\n0x1040 W\n0x1080 W\n0x10c0 W\n0x1100 W\n"},
      {"--format=ramulator2 --to_seconds=1", "LD 0x1000\nLD 0x1040\nLD 0x1080\nST 0x40\n"},
      {"--format=gem5 --to_seconds=1", "r,4096,64,5000\nr,4160,64,5000\nr,4224,64,5000\nw,64,64,7000\n"},
      {"--format=cxlmemsim --to_seconds=1 --from_seconds=0.000000006",
       "O3PipeView:fetch:7001:0x0:0:1:store\nO3PipeView:retire:7001:store:7001\nO3PipeView:address:64\n"},
  };
  for (const auto& c : cases) {
    const ProgramResult result = Convert(c.flags);
    EXPECT_EQ(0, result.code) << c.flags;
    EXPECT_EQ(c.text, result.text) << c.flags;
  }
}

TEST_F(DeviceTraceTest, CountsWritesOfBlocksAndEnergy) {
  WriteFile(trace_, SmallTrace());
  const ProgramResult result = Convert("--format=wear --write_picojoules_per_bit=10 --read_picojoules_per_bit=2");
  EXPECT_EQ(0, result.code);
  // Two units are written, the first of them twice; the page twice; spans have doubled to 2.048 ms. Of the log there
  // are 8 bytes.
  EXPECT_EQ(
      "figure,x,series,value\nblocks_256,1,-,1\nblocks_256,2,-,1\nblocks_4096,2,-,1\npool,0,log,1\npool,0,flush,2\n"
      "bytes,0.000,log,256\namplification,0.000,-,32.000\nbytes,2.000,flush,512\namplification,2.000,-,96.000\n"
      "joules,0,read,4.096e-09\njoules,0,write,6.144e-08\n",
      result.text);
  if (RunProgram("gnuplot --version").code != 0) GTEST_SKIP() << "needs gnuplot: Debian package gnuplot-nox";
  const std::string plot = SourceDir() + "/tools/trace_plot --wearfile=";
  WriteFile(dir_ / "wear.csv", result.text);
  const ProgramResult drawn = RunProgram(plot + dir_ / "wear.csv");
  EXPECT_EQ(0, drawn.code) << drawn.text;
  EXPECT_TRUE(drawn.Says("wear-report.html: 4 figures, 0 left out")) << drawn.text;
  WriteFile(dir_ / "cut.csv", result.text + "pool,1");
  EXPECT_TRUE(RunProgram(plot + dir_ / "cut.csv").Says("line 13: 'pool,1' is not a row of this wear file"));
  EXPECT_TRUE(RunProgram(plot + trace_).Says("is no wear file"));
}

// The last of 2049 pages has a stretch of two pages to itself, which would be the 1025th.
TEST_F(DeviceTraceTest, ThePoolIsDividedIntoAtMost1024Stretches) {
  for (const auto& [pages, stretches] : {std::pair<uint64_t, int>{1, 1}, {1024, 1024}, {2048, 1024}, {2049, 513}}) {
    AccessesPayload payload;
    for (uint64_t page = 0; page < pages; page++) {
      const TraceAccess write = {
          .kind = TraceAccess::kWrite, .purpose = TraceAccess::kLog, .bytes = 8, .offset = page * 4096, .nanos = page};
      payload.Add(uint64_t{1} << 40, write);
    }
    WriteFile(trace_, Ended(BeginRecord() + Encoded([&](TraceEncoder e) { e.Accesses(1, payload.bytes()); }), 2));
    const ProgramResult result = Convert("--format=wear");
    EXPECT_EQ(0, result.code) << result.text;
    int found = 0;
    for (size_t at = 0; (at = result.text.find("\npool,", at)) != std::string::npos; at++) found++;
    EXPECT_EQ(stretches, found) << pages;
  }
}

TEST_F(DeviceTraceTest, ACutTraceIsWarnedOfAndADamagedOneIsAnError) {
  const std::string whole = SmallTrace();
  WriteFile(trace_, whole.substr(0, whole.size() - 40));
  ProgramResult result = Convert("");
  EXPECT_EQ(1, result.code) << result.text;
  EXPECT_TRUE(result.Says("warning: ")) << result.text;
  EXPECT_TRUE(result.Says("is cut short by the end of the file")) << result.text;
  EXPECT_TRUE(result.Says("has no accesses")) << result.text;

  WriteFile(trace_, whole.substr(0, whole.size() - 20));
  result = Convert("");
  EXPECT_EQ(0, result.code) << result.text;
  EXPECT_TRUE(result.Says("warning: ")) << result.text;
  EXPECT_TRUE(result.Says("flush,flush,1,300,5,2")) << result.text;

  std::string damaged = whole;
  damaged[whole.size() - 60] = static_cast<char>(damaged[whole.size() - 60] ^ 1);
  WriteFile(trace_, damaged);
  result = Convert("");
  EXPECT_EQ(1, result.code);
  EXPECT_TRUE(result.Says(trace_ + ": offset ")) << result.text;
}

TEST_F(DeviceTraceTest, SaysWhatIsWrongWithACommandLine) {
  WriteFile(trace_, Ended(BeginRecord() + Encoded([](TraceEncoder e) { e.Get(1, "a"); }), 2));
  const struct {
    std::string flags;
    const char* told;
  } cases[] = {{"", "has no accesses: Options::device_trace makes them"},
               {"--format=most", "--format=most is none of the formats of --help"},
               {"--base=100", "--base is no multiple of 256"},
               {"--trace_path=", "--trace_path is missing"},
               {"--trace_path=" + (dir_ / "nothing"), "nothing"}};
  for (const auto& c : cases) {
    const ProgramResult result = Convert(c.flags);
    EXPECT_EQ(1, result.code) << c.flags;
    EXPECT_TRUE(result.Says(c.told)) << result.text;
  }
  const ProgramResult help = Convert("--help");
  EXPECT_EQ(0, help.code);
  EXPECT_TRUE(help.Says("O3PipeView")) << help.text;
}

}  // namespace
}  // namespace miodb::test
