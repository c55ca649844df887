// The bytes of traces, and what reading any bytes gives.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "miodb/write_batch.h"
#include "src/api/batch/write_batch_internal.h"
#include "tests/common/test_dir.h"
#include "tests/trace/trace_files.h"

namespace miodb::test {
namespace {

using Records = std::vector<std::string>;

std::string Footer() { return FromHex("0900000000000000 02 00000000"); }

class TraceFormatTest : public testing::Test {
 protected:
  // Reads a trace of these bytes.
  Records Read(const std::string& bytes) {
    WriteFile(path_, bytes);
    torn_ = false;  // where the trace cannot be opened
    return ReadTrace(path_, &status_, &torn_);
  }

  // A trace with all that a tracer writes.
  std::string OwnTrace() {
    const Slice lower("b"), upper("x");
    uint64_t checksum = 0;
    std::string bytes;
    const auto add = [&](const std::function<void(TraceEncoder)>& encode) {
      const std::string record = Encoded(encode);
      checksum = ChainChecksum(checksum, record);
      bytes += record;
    };
    add([](TraceEncoder e) { e.Begin(1000, 1, 0); });
    add([&](TraceEncoder e) { e.Checksum(1000, checksum); });
    add([](TraceEncoder e) { e.Update(1001, kBatchPut, "key", "value"); });
    add([](TraceEncoder e) { e.Get(1002, "key"); });
    add([&](TraceEncoder e) { e.Seek(1003, kTraceSeek, "k", &lower, &upper); });
    add([](TraceEncoder e) { e.Scan(1004, 1003, "k", 300, 1); });
    add([](TraceEncoder e) { e.Seek(1005, kTraceSeekToLast, "", nullptr, nullptr); });
    add([](TraceEncoder e) { e.Update(1006, kBatchDeletion, "key", ""); });
    add([&](TraceEncoder e) { e.Checksum(1007, checksum); });
    add([](TraceEncoder e) { e.End(1007); });
    return bytes;
  }

  TestDir dir_;
  const std::string path_ = dir_ / "trace";
  Status status_;
  bool torn_ = false;
};

TEST_F(TraceFormatTest, RecordsHaveTheBytesThatRocksDbWrites) {
  EXPECT_EQ(FromHex("0100000000000000 04 10000000 0c00000000000000 00000000 03616263"),
            Encoded([](TraceEncoder e) { e.Get(1, "abc"); }));
  const std::string put =
      FromHex("0200000000000000 03 1a000000 0200000000000000 11 0000000000000000 01000000 01 016b 0176");
  EXPECT_EQ(put, Encoded([](TraceEncoder e) { e.Update(2, kBatchPut, "k", "v"); }));
  WriteBatch batch;
  batch.Put("k", "v");
  EXPECT_EQ(put, Encoded([&](TraceEncoder e) { e.Batch(2, WriteBatchInternal::Contents(&batch)); }));
  EXPECT_EQ(FromHex("0300000000000000 05 0e000000 3000000000000000 00000000 0161"),
            Encoded([](TraceEncoder e) { e.Seek(3, kTraceSeek, "a", nullptr, nullptr); }));
  EXPECT_EQ(Footer(), Encoded([](TraceEncoder e) { e.End(9); }));
  const Slice upper("zz");
  EXPECT_EQ(FromHex("0300000000000000 05 11000000 b000000000000000 00000000 0161 027a7a"),
            Encoded([&](TraceEncoder e) { e.Seek(3, kTraceSeek, "a", nullptr, &upper); }));
  EXPECT_EQ("feedcafedeadbeef\tTrace Version: 0.2\tRocksDB Version: 1.0\tFormat: Timestamp OpType Payload\n",
            Encoded([](TraceEncoder e) { e.Begin(1, 1, 0); }).substr(kTraceHeadBytes));
}

TEST_F(TraceFormatTest, ReadsWhatItsTracerWrites) {
  const Records expected = {"put(key=value)",  "get(key)", "seek(k from b to x)",
                            "scan(k +300 -1)", "last()",   "delete(key)"};
  EXPECT_EQ(expected, Read(OwnTrace()));
  EXPECT_OK(status_);
}

TEST_F(TraceFormatTest, ReadsTimesOffsetsAndTheHeader) {
  WriteFile(path_, OwnTrace());
  std::unique_ptr<TraceReader> reader;
  ASSERT_OK(TraceReader::Open(path_, &reader));
  EXPECT_EQ(1000u, reader->start_micros());
  EXPECT_EQ(2, reader->format_version());
  EXPECT_EQ("1.0", reader->writer());
  for (int round = 0; round < 2; round++) {
    TraceRecord record;
    ASSERT_TRUE(reader->Next(&record));
    EXPECT_TRUE(reader->has_own_records());
    EXPECT_EQ(1001u, record.micros);
    EXPECT_EQ(static_cast<int>('\0'), ReadFile(path_)[record.offset + 2]);
    EXPECT_EQ(kTraceWrite, ReadFile(path_)[record.offset + 8]);
    while (reader->Next(&record)) {
    }
    EXPECT_TRUE(reader->ended());
    EXPECT_EQ(reader->file_bytes(), reader->offset());
    ASSERT_OK(reader->Rewind());
  }
}

TEST_F(TraceFormatTest, ReadsMultiGetsAndEveryKindOfUpdate) {
  const std::string multiget = FromHex(
      "0400000000000000 0d 22000000 0007000000000000 02000000"
      "08 00000000 05000000 05 0161 026263");
  std::string bytes = BeginRecord() + multiget;
  bytes[BeginRecord().size() + 9] = static_cast<char>(multiget.size() - kTraceHeadBytes);
  // A put in column family 2, log data, a merge, a single delete, a deleted range, the marks of a transaction.
  const std::string batch = FromHex(
      "0000000000000000 05000000 05 02 0161 0162 03 0178 0d 02 0163 0164 07 0165 0f 0166 0167 09 0a 0174 00 0168");
  bytes += Encoded([&](TraceEncoder e) { e.Batch(5, batch); }) + Footer();
  EXPECT_EQ((Records{"multiget( 0:a 5:bc)", "put(2:a=b)+merge(c=d)+single delete(e)+delete range(f=g)+delete(h)"}),
            Read(bytes));
  EXPECT_OK(status_);
}

TEST_F(TraceFormatTest, ReadsVersion01) {
  const std::string batch = FromHex("0000000000000000 01000000 01 016b 0176");
  std::string write = FromHex("0200000000000000 03 11000000") + batch;
  EXPECT_EQ((Records{"get(abc)", "put(k=v)", "seek(a)"}),
            Read(BeginRecord("0.1") + FromHex("0100000000000000 04 08000000 00000000 03616263") + write +
                 FromHex("0300000000000000 05 06000000 00000000 0161")));
  EXPECT_OK(status_);
}

TEST_F(TraceFormatTest, DeliversUnknownTypesWithoutContents) {
  EXPECT_EQ((Records{"type 12", "get(abc)"}), Read(BeginRecord() + FromHex("0100000000000000 0c 02000000 ffff") +
                                                   Encoded([](TraceEncoder e) { e.Get(1, "abc"); }) + Footer()));
  EXPECT_OK(status_);
}

TEST_F(TraceFormatTest, ATraceCutAnywhereIsReadUpToTheCut) {
  const std::string whole = OwnTrace();
  const Records all = Read(whole);
  const size_t begin = BeginRecord().size();
  for (size_t bytes = begin; bytes < whole.size(); bytes++) {
    SCOPED_TRACE(bytes);
    const Records some = Read(whole.substr(0, bytes));
    ASSERT_LE(some.size(), all.size());
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
    // Between two records the end of the file is a normal end: the process died after a flush.
    EXPECT_EQ(torn_, !status_.ok());
    if (torn_) {
      EXPECT_STATUS(Corruption, status_);
      EXPECT_TRUE(Mentions(status_, path_ + ": offset "));
    }
  }
}

TEST_F(TraceFormatTest, ACutHeaderIsNoTrace) {
  for (size_t bytes = 0; bytes < BeginRecord().size(); bytes++) {
    Read(BeginRecord().substr(0, bytes));
    EXPECT_STATUS(Corruption, status_);
    EXPECT_TRUE(Mentions(status_, "offset 0: "));
  }
}

TEST_F(TraceFormatTest, EveryFlippedBitIsFound) {
  const std::string whole = OwnTrace();
  const size_t footer = whole.size() - kTraceHeadBytes;
  for (size_t at = 0; at < whole.size(); at++) {
    // The time of the end record lies behind the last checksum and is used for nothing.
    if (at >= footer && at < footer + 8) continue;
    for (int bit = 0; bit < 8; bit++) {
      SCOPED_TRACE(std::to_string(at) + ", bit " + std::to_string(bit));
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      Read(damaged);
      // The type of the end record can become one that is not known.
      if (at == footer + 8 && status_.ok()) continue;
      EXPECT_FALSE(status_.ok());
      EXPECT_FALSE(torn_) << "programs only warn of a cut";
      EXPECT_TRUE(status_.IsCorruption() || status_.IsNotSupportedError()) << status_.ToString();
      EXPECT_TRUE(Mentions(status_, path_ + ": offset "));
    }
  }
}

TEST_F(TraceFormatTest, ALengthThatGoesBeyondTheEndOfAWholeTraceIsNoCut) {
  const std::string scan = Encoded([](TraceEncoder e) { e.Scan(1, 1, "a", 2, 0); });
  const std::string get = Encoded([](TraceEncoder e) { e.Get(2, "abc"); });
  const std::string whole = Ended(BeginRecord() + scan + get + get, 3);
  const size_t length = BeginRecord().size() + scan.size() + kTraceHeadBytes - 4;
  for (const size_t byte : {length + 1, length + 2}) {
    std::string damaged = whole;
    damaged[byte] = '\x40';
    EXPECT_EQ(Records{"scan(a +2 -0)"}, Read(damaged));
    EXPECT_STATUS(Corruption, status_);
    EXPECT_FALSE(torn_);
    EXPECT_TRUE(Mentions(status_, "is damaged"));
    Read(damaged.substr(0, damaged.size() - 1));
    EXPECT_TRUE(torn_);
  }
}

TEST_F(TraceFormatTest, NamesTheOffsetOfDamageInTracesWithoutChecksums) {
  const std::string get = Encoded([](TraceEncoder e) { e.Get(1, "abc"); });
  const size_t second = BeginRecord().size() + get.size();
  std::string damaged = BeginRecord() + get + get + get + Footer();
  damaged[second + kTraceHeadBytes] = 2;  // the bitmap of a write
  EXPECT_EQ(Records{"get(abc)"}, Read(damaged));
  EXPECT_STATUS(Corruption, status_);
  EXPECT_TRUE(Mentions(status_, "offset " + std::to_string(second) + ": "));
  EXPECT_FALSE(torn_);
}

TEST_F(TraceFormatTest, AHugeLengthAsksForNoMemory) {
  std::string damaged = BeginRecord() + Encoded([](TraceEncoder e) { e.Get(1, "abc"); });
  damaged[BeginRecord().size() + 12] = '\x7f';
  Read(damaged);
  EXPECT_TRUE(torn_);
  damaged[BeginRecord().size() + 12] = '\xff';
  Read(damaged);
  EXPECT_FALSE(torn_);
  EXPECT_TRUE(Mentions(status_, "which no call makes"));
}

TEST_F(TraceFormatTest, RefusesOtherVersionsAndOtherFiles) {
  Read(BeginRecord("0.3"));
  EXPECT_STATUS(NotSupportedError, status_);
  EXPECT_TRUE(Mentions(status_, "trace version 0.3"));
  Read(std::string(1000, 'x'));
  EXPECT_STATUS(Corruption, status_);
  Read("");
  EXPECT_TRUE(Mentions(status_, "the file is empty"));
  Read(BeginRecord() + Footer() + "x");
  EXPECT_TRUE(Mentions(status_, "behind the end record"));
  ReadTrace(dir_ / "missing", &status_);
  EXPECT_STATUS(NotFound, status_);
}

}  // namespace
}  // namespace miodb::test
