// Elements of the list of benchmarks with counts behind their names, and the figures of repeated runs.

#include "benchmarks/db_bench/repeats.h"

#include <gtest/gtest.h>

#include <string>

namespace miodb::bench {
namespace {

TEST(TaskTest, ANameAloneRunsOnce) {
  Task task;
  EXPECT_EQ(ParseTask("fillseq", &task), "");
  EXPECT_STREQ(task.benchmark->name, "fillseq");
  EXPECT_EQ(task.runs, 1);
  EXPECT_EQ(task.warmups, 0);
}

TEST(TaskTest, RunsAndWarmUpsComeInAnyOrder) {
  for (const char* text : {"readrandom[X5-W2]", "readrandom[W2-X5]"}) {
    Task task;
    EXPECT_EQ(ParseTask(text, &task), "") << text;
    EXPECT_EQ(task.runs, 5) << text;
    EXPECT_EQ(task.warmups, 2) << text;
  }
  Task task;
  EXPECT_EQ(ParseTask("readrandom[W3]", &task), "");
  EXPECT_EQ(task.runs, 1);
  EXPECT_EQ(task.warmups, 3);
}

TEST(TaskTest, AnythingElseBehindTheNameIsAnError) {
  for (const char* text : {"fillseq[", "fillseq[]", "fillseq[X]", "fillseq[X0]", "fillseq[X-1]", "fillseq[Y2]",
                           "fillseq[X2", "fillseq[X2]x", "fillseq[X2-X3]", "fillseq[X2,W1]", "fillseq[X99999999]"}) {
    Task task;
    EXPECT_NE(ParseTask(text, &task), "") << text;
  }
  Task task;
  EXPECT_EQ(ParseTask("fillsomehow[X2]", &task), "unknown benchmark 'fillsomehow'");
}

Totals Figures(int64_t done, uint64_t bytes) {
  Totals totals;
  totals.done = done;
  totals.bytes = bytes;
  totals.wall_seconds = 2;
  return totals;
}

TEST(RepeatedTotalsTest, AveragesAndIntervals) {
  RepeatedTotals repeated;
  repeated.Add(Figures(2000, 2 << 20));
  EXPECT_EQ(repeated.Line("x", false), "x [AVG 1 runs] : 1000 (± 0) ops/sec; 1.0 (± 0.0) MB/sec\n");
  repeated.Add(Figures(4000, 4 << 20));
  repeated.Add(Figures(12000, 6 << 20));
  // Rates 1000, 2000, 6000: mean 3000, deviation 2645.75, 1.959964 * 2645.75 / sqrt(3) = 2993.9; MB 1, 2, 3.
  EXPECT_EQ(repeated.Line("x", false), "x [AVG 3 runs] : 3000 (± 2994) ops/sec; 2.0 (± 1.1) MB/sec\n");
  EXPECT_EQ(repeated.Line("x", true), "x [CI95 3 runs] : (6, 5994) ops/sec; (0.9, 3.1) MB/sec\n");
  EXPECT_EQ(repeated.FinalLines("x", false),
            "x [AVG    3 runs] : 3000 (± 2994) ops/sec; 2.0 (± 1.1) MB/sec\n"
            "x [MEDIAN 3 runs] : 2000 ops/sec; 2.0 MB/sec\n");
}

TEST(RepeatedTotalsTest, BytesAreLeftOutIfARunCountedNone) {
  RepeatedTotals repeated;
  repeated.Add(Figures(2000, 0));
  repeated.Add(Figures(4000, 0));
  EXPECT_EQ(repeated.FinalLines("x", false),
            "x [AVG    2 runs] : 1500 (± 980) ops/sec\nx [MEDIAN 2 runs] : 1500 ops/sec\n");
}

}  // namespace
}  // namespace miodb::bench
