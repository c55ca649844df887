// Records in log files: what is written is read, what is torn or damaged is not, and padding does what it promises.

#include "src/log/file_log_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "miodb/write_batch.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/log/file_log_reader.h"
#include "src/log/file_log_writer.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/common/string_file.h"

namespace miodb::test {
namespace {

std::string Written(const std::vector<std::string>& records, size_t block_size, bool padding,
                    uint64_t* padding_bytes = nullptr) {
  StringSink file;
  FileLogWriter writer(&file, block_size, padding);
  for (const std::string& record : records) EXPECT_OK(writer.Add(record));
  EXPECT_EQ(file.contents.size(), writer.bytes());
  if (padding_bytes != nullptr) *padding_bytes = writer.padding_bytes();
  return file.contents;
}

std::vector<std::string> Read(const std::string& content, size_t block_size) {
  FileLogReader reader(content, block_size);
  std::vector<std::string> records;
  std::string scratch;
  Slice record;
  while (reader.Next(&record, &scratch)) records.push_back(record.ToString());
  EXPECT_LE(reader.valid_bytes(), content.size());
  return records;
}

std::string Batch(uint64_t sequence, size_t value_bytes) {
  WriteBatch batch;
  batch.Put("key", std::string(value_bytes, 'v'));
  WriteBatchInternal::SetSequence(&batch, sequence);
  return WriteBatchInternal::Contents(&batch).ToString();
}

// Types of all fragments in order, for a file without damage.
std::string FragmentTypes(const std::string& content, size_t block_size) {
  std::string types;
  for (size_t block = 0; block < content.size(); block += block_size) {
    const size_t end = std::min(block + block_size, content.size());
    for (size_t p = block; p + kFragmentHeaderBytes <= end && content[p + 6] != 0;) {
      types.push_back(static_cast<char>('0' + content[p + 6]));
      p += kFragmentHeaderBytes + static_cast<uint8_t>(content[p + 4]) + 256u * static_cast<uint8_t>(content[p + 5]);
    }
  }
  return types;
}

// Whether a reader of a log that begins with write first tells damage.
bool HasLater(const std::string& bytes, size_t block_size, uint64_t first = 11) {
  FileLogReader reader(bytes, block_size);
  std::string scratch;
  Slice record;
  uint64_t last = first - 1;
  while (reader.Next(&record, &scratch)) {
    if (DecodeFixed64(record.data()) != last + 1) return true;  // zeros are taken for padding
    last++;
  }
  return reader.HasLaterBatch(last, 0);
}

TEST(FileLogFormatTest, NamesTellNumberAndBlockSize) {
  EXPECT_EQ("000017.log", LogFileName(17, kUsualLogBlock));
  EXPECT_EQ("000018-8192.log", LogFileName(18, 8192));
  EXPECT_EQ("12345678.log", LogFileName(12345678, kUsualLogBlock));
  uint64_t number;
  size_t block;
  ASSERT_TRUE(ParseLogFileName("000018-8192.log", &number, &block));
  EXPECT_EQ(18u, number);
  EXPECT_EQ(8192u, block);
  ASSERT_TRUE(ParseLogFileName("000017.log", &number, &block));
  EXPECT_EQ(kUsualLogBlock, block);
  for (const char* name : {"", "LOG", "17.log", "000017.ldb", "000017-32768.log", "000017-1000.log", "000017.log.5",
                           "000017-.log", "x000017.log", "-00017.log", "9223372036854775808.log",
                           "18446744073709551615.log", "18446744073709551616.log"}) {
    EXPECT_FALSE(ParseLogFileName(name, &number, &block)) << name;
  }
}

TEST(FileLogFormatTest, EveryRecordComesBackWithEveryBlockSize) {
  Random random(301);
  for (size_t block = kLeastLogBlock; block <= kMostLogBlock; block *= 2) {
    for (const bool padding : {false, true}) {
      std::vector<std::string> records;
      for (int i = 0; i < 60; i++) records.push_back(random.Bytes(random.Uniform(3 * block / 2)));
      // Records that just fit, just do not fit, and leave less than a header.
      for (size_t left = 0; left < 20; left++) records.push_back(std::string(block - kFragmentHeaderBytes - left, 'x'));
      records.push_back("");
      EXPECT_EQ(records, Read(Written(records, block, padding), block)) << block << " " << padding;
    }
  }
}

TEST(FileLogFormatTest, PaddingLeavesNoSmallRecordSplit) {
  const size_t sizes[] = {41, 63, 120, 300, 555, 1000};
  for (const size_t block : {8192u, 16384u, 32768u}) {
    for (const size_t size : sizes) {
      const std::vector<std::string> records(5 * block / size, std::string(size, 'r'));
      uint64_t padding_bytes;
      const std::string content = Written(records, block, true, &padding_bytes);
      EXPECT_EQ(std::string(records.size(), '1'), FragmentTypes(content, block)) << "only whole ones";
      const size_t stored = kFragmentHeaderBytes + size;
      const size_t full_blocks = (records.size() - 1) / (block / stored);
      EXPECT_EQ(full_blocks * (block % stored), padding_bytes) << block << " " << size;
      EXPECT_EQ(records, Read(content, block));
    }
  }
  // Without padding the only zeros are those that hold no header.
  uint64_t unpadded;
  const std::string content = Written(std::vector<std::string>(100, std::string(1000, 'r')), 8192, false, &unpadded);
  EXPECT_LT(unpadded, (content.size() / 8192 + 1) * kFragmentHeaderBytes);
  EXPECT_NE(std::string::npos, FragmentTypes(content, 8192).find("24")) << "some are split";
}

TEST(FileLogFormatTest, ARecordLargerThanABlockBeginsAPaddedBlock) {
  const std::vector<std::string> records = {"small", std::string(1000, 'l'), "small"};
  const std::string content = Written(records, 512, true);
  EXPECT_EQ("1241", FragmentTypes(content, 512));
  EXPECT_EQ(std::string(512 - kFragmentHeaderBytes - 5, '\0'), content.substr(kFragmentHeaderBytes + 5, 500));
  EXPECT_EQ(records, Read(content, 512));
}

TEST(FileLogFormatTest, ATornTailEndsTheLogAtAWholeRecord) {
  for (const bool padding : {false, true}) {
    std::vector<std::string> records;
    for (uint64_t i = 0; i < 12; i++) records.push_back(Batch(i + 1, i * 40));
    const std::string content = Written(records, 256, padding);
    size_t whole = 0;
    for (size_t size = 0; size <= content.size(); size++) {
      const std::vector<std::string> read = Read(content.substr(0, size), 256);
      ASSERT_LE(read.size(), records.size());
      ASSERT_GE(read.size(), whole) << "cut at " << size;
      whole = read.size();
      ASSERT_TRUE(std::equal(read.begin(), read.end(), records.begin()));
    }
    EXPECT_EQ(records.size(), whole);
  }
}

TEST(FileLogFormatTest, NoFlippedBitIsTakenForData) {
  std::vector<std::string> records;
  for (uint64_t i = 0; i < 6; i++) records.push_back(Batch(i + 1, i * 50));
  const std::string content = Written(records, 256, true);
  for (size_t bit = 0; bit < content.size() * 8; bit++) {
    std::string damaged = content;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    // Padding is nothing to anybody; anywhere else a record goes missing, and all after it.
    const std::vector<std::string> read = Read(damaged, 256);
    ASSERT_LE(read.size(), records.size());
    ASSERT_TRUE(std::equal(read.begin(), read.end(), records.begin())) << "bit " << bit;
  }
}

TEST(FileLogFormatTest, DamageIsToldFromTheEnd) {
  std::vector<std::string> records;
  for (uint64_t i = 0; i < 6; i++) records.push_back(Batch(i + 11, 100));
  for (const bool padding : {false, true}) {
    const std::string content = Written(records, 256, padding);
    EXPECT_FALSE(HasLater(content, 256));
    for (size_t size = 0; size < content.size(); size++) EXPECT_FALSE(HasLater(content.substr(0, size), 256)) << size;
    std::string damaged = content;
    damaged[kFragmentHeaderBytes + 20] ^= 1;
    EXPECT_TRUE(HasLater(damaged, 256)) << "the first record is damaged, the second is there";
    const size_t second = kFragmentHeaderBytes + records[0].size();
    EXPECT_TRUE(HasLater(content.substr(0, second) + std::string(20, '\0') + content.substr(second + 20), 256));
  }
}

// Zeros over a header are taken for padding, and the next block begins with what is left of the log's last record.
TEST(FileLogFormatTest, RecordsBehindZerosAreFoundWhateverTheNextBlockBeginsWith) {
  std::vector<std::string> records;
  for (uint64_t i = 0; i < 5; i++) records.push_back(Batch(i + 11, 100));
  const std::string zeros(20, '\0');
  const std::string split = Written(records, 512, false);
  ASSERT_EQ("111124", FragmentTypes(split, 512));
  EXPECT_TRUE(HasLater(zeros + split.substr(zeros.size()), 512)) << "a last fragment";
  records.resize(2);
  records.push_back(Batch(13, 1000));
  const std::string large = Written(records, 256, true);
  ASSERT_EQ("11233", FragmentTypes(large, 256).substr(0, 5));
  const std::string torn = large.substr(0, 600);  // as a killed process leaves it
  EXPECT_FALSE(HasLater(torn, 256));
  EXPECT_TRUE(HasLater(zeros + torn.substr(zeros.size()), 256)) << "the first fragment of a torn record";
}

// The first fragment of the last record has so many bytes of the sequence, and the next block has the others.
TEST(FileLogFormatTest, ALaterBatchIsSeenWhereverItsSequenceIsSplit) {
  constexpr uint64_t kFirst = 0x0011223344556677;
  for (const size_t value_bytes : {100, 2000}) {
    for (size_t here = 0; here < 10; here++) {
      SCOPED_TRACE(std::to_string(value_bytes) + ", split at " + std::to_string(here));
      std::vector<std::string> records;
      for (uint64_t i = 0; i < 3; i++) records.push_back(Batch(kFirst + i, 100));
      records.push_back(Batch(kFirst + 3, 105 - here));
      records.push_back(Batch(kFirst + 4, value_bytes));
      const std::string content = Written(records, 512, false);
      const size_t split = 512 - kFragmentHeaderBytes - here;
      ASSERT_EQ("11112", FragmentTypes(content, 512).substr(0, 5));
      ASSERT_EQ(static_cast<char>(here), content[split + 4]);
      EXPECT_FALSE(HasLater(content, 512, kFirst));
      std::string damaged = content;
      damaged[split - 1] ^= 1;
      EXPECT_TRUE(HasLater(damaged, 512, kFirst)) << "the record before it is damaged";
      EXPECT_FALSE(HasLater(damaged.substr(0, 512), 512, kFirst)) << "no sequence is there";
      damaged[512 + kFragmentHeaderBytes + 20] ^= 1;
      EXPECT_EQ(here >= 8, HasLater(damaged, 512, kFirst)) << "the rest of a sequence has to check";
    }
  }
}

// The size and the type of a fragment that would begin there. A reader does not ask for its checksum.
TEST(FileLogFormatTest, ANextRecordBehindDamagedPaddingIsSeen) {
  const std::vector<std::string> records = {Batch(11, 100), Batch(12, 100)};
  const size_t padding = Written(records, 512, true).size();
  for (const size_t value_bytes : {300, 1000}) {
    SCOPED_TRACE(value_bytes);
    std::vector<std::string> more = records;
    more.push_back(Batch(13, value_bytes));
    const std::string content = Written(more, 512, true);
    ASSERT_EQ(value_bytes < 512 ? "111" : "112", FragmentTypes(content, 512).substr(0, 3));
    for (size_t bit = 0; bit < 8 * kFragmentHeaderBytes; bit++) {
      std::string damaged = content;
      damaged[padding + bit / 8] = static_cast<char>(damaged[padding + bit / 8] ^ (1 << bit % 8));
      EXPECT_EQ(bit < 32 ? 3u : 2u, Read(damaged, 512).size()) << bit;
      EXPECT_EQ(bit >= 32, HasLater(damaged, 512)) << bit;
    }
    std::string damaged = content;
    damaged[padding + 4] = 1;
    FileLogReader reader(damaged, 512);
    std::string scratch;
    Slice record;
    while (reader.Next(&record, &scratch)) {
    }
    EXPECT_TRUE(reader.HasLaterBatch(12, 12));
    EXPECT_FALSE(reader.HasLaterBatch(12, 13)) << "write 13 is in tables";
    damaged[512 + 30] ^= 1;
    EXPECT_FALSE(HasLater(damaged, 512)) << "the next record is damaged, too";
  }
}

// Behind a record that is durable a loss of power takes any sectors of the next one and of the padding before it.
TEST(FileLogFormatTest, LostSectorsOfTheNextRecordAreTheEnd) {
  constexpr size_t kSectorBytes = 64;
  Random random(301);
  for (const size_t value_bytes : {100, 300, 1000}) {
    for (const bool padding : {false, true}) {
      const std::string content = Written({Batch(11, 300), Batch(12, value_bytes)}, 512, padding);
      const size_t durable = Written({Batch(11, 300)}, 512, padding).size();
      for (int i = 0; i < 1000; i++) {
        std::string left = content;
        for (size_t at = 0; at < left.size(); at += kSectorBytes) {
          const size_t from = std::max(at, durable), to = std::min(at + kSectorBytes, left.size());
          if (from < to && random.OneIn(4)) left.replace(from, to - from, to - from, '\0');
        }
        left.resize(durable + random.Uniform(left.size() - durable + 1));
        ASSERT_FALSE(HasLater(left, 512)) << value_bytes << " " << padding;
      }
    }
  }
}

TEST(FileLogFormatTest, AnyBytesAreRead) {
  Random random(17);
  for (int i = 0; i < 2000; i++) {
    std::string content = Written({Batch(1, random.Uniform(600)), Batch(2, random.Uniform(600))}, 256, random.OneIn(2));
    for (uint64_t flips = random.Uniform(20); flips > 0; flips--) {
      content[random.Uniform(content.size())] = static_cast<char>(random.Uniform(256));
    }
    content.resize(random.Uniform(content.size() + 1));
    Read(content, 256);
    FileLogReader(content, 256).HasLaterBatch(0, 0);
  }
}

}  // namespace
}  // namespace miodb::test
