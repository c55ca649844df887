#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/log/frame_reader.h"
#include "src/log/frame_writer.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/test_secret.h"
#include "tests/log/log_pool.h"

namespace miodb::test {
namespace {

// Values from this size on bypass the writer's staging buffer.
constexpr size_t kUnstagedFrom = 16 * 1024;

// Reads the frame at p and compares it with what was written.
void ExpectFrame(const char* p, const char* limit, uint64_t chunk_id, const std::vector<Update>& updates,
                 const std::vector<const char*>& places, uint64_t first_sequence) {
  FrameView frame;
  ASSERT_TRUE(ReadFrame(p, limit, kTestSecret, chunk_id, &frame));
  EXPECT_EQ(p, frame.begin);
  EXPECT_EQ(p + FrameWriter::FrameSize(BodySize(updates)), frame.end);
  EXPECT_EQ(frame.end - BodySize(updates), frame.body);
  EXPECT_EQ(first_sequence, frame.first_sequence);
  ASSERT_EQ(updates.size(), frame.count);
  const char* q = frame.body;
  for (size_t i = 0; i < updates.size(); i++) {
    EXPECT_EQ(places[i], q);
    RecordView record;
    ASSERT_TRUE(ParseRecord(q, frame.end, &record));
    EXPECT_TRUE(record.Verify(kTestSecret));
    EXPECT_EQ(first_sequence + i, record.sequence());
    EXPECT_EQ(updates[i].type, record.type());
    EXPECT_TRUE(updates[i].key == record.key.ToString());
    EXPECT_TRUE(updates[i].value == record.value.ToString());
    q += record.size();
  }
  EXPECT_EQ(frame.end, q);
}

TEST(FrameTest, RoundTripsWithValuesOfAllSizesAroundTheStagingLimit) {
  TestPool pool;
  FrameWriter writer(&pool->persist(), pool->secret());
  for (size_t size = kUnstagedFrom - 40; size <= kUnstagedFrom + 40; size++) {
    std::unique_ptr<LogChunk> chunk = NewPoolChunk(&pool, size, 128 * 1024);
    // Alone; between small ones; several in one frame; and a small frame after it, through the same staging buffer.
    const Update small{kTypeValue, "small", "v"}, large{kTypeValue, "large", std::string(size, 'L')};
    uint64_t sequence = 1;
    for (const std::vector<Update>& updates :
         {std::vector<Update>{large}, {small, large}, {large, small}, {large, large, small, large}, {small}}) {
      const char* const at = chunk->base + chunk->used;
      const auto places = WriteFrame(&writer, chunk.get(), updates, sequence);
      ExpectFrame(at, chunk->base + chunk->capacity, size, updates, places, sequence);
      ASSERT_EQ(at + FrameWriter::FrameSize(BodySize(updates)), chunk->base + chunk->used);
      sequence += updates.size();
    }
    EXPECT_EQ('\xcc', chunk->base[chunk->used]) << "wrote beyond its frame";
  }
}

TEST(FrameTest, RoundTripsRandomGroups) {
  for (uint64_t seed : Seeds(ByScale(10, 30, 300))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    TestPool pool;
    FrameWriter writer(&pool->persist(), pool->secret());
    std::unique_ptr<LogChunk> chunk = NewPoolChunk(&pool, random.Next64(), 1 << 20);
    uint64_t sequence = 1 + random.Uniform(kMaxSequence / 2);
    for (;;) {
      std::vector<Update> updates(1 + random.Skewed(7));
      for (Update& u : updates) {
        u.type = random.OneIn(5) ? kTypeDeletion : kTypeValue;
        u.key = random.Bytes(random.Skewed(8));
        if (u.type == kTypeValue) u.value = random.Bytes(random.OneIn(10) ? random.Uniform(40000) : random.Skewed(9));
      }
      if (FrameWriter::FrameSize(BodySize(updates)) > chunk->room()) break;
      const char* const at = chunk->base + chunk->used;
      const auto places = WriteFrame(&writer, chunk.get(), updates, sequence);
      ExpectFrame(at, chunk->base + chunk->capacity, chunk->id, updates, places, sequence);
      sequence += updates.size();
    }
  }
}

TEST(FrameTest, FillsAChunkToItsLastByte) {
  TestPool pool;
  FrameWriter writer(&pool->persist(), pool->secret());
  for (size_t value_size = 3000; value_size < 3200; value_size++) {
    std::unique_ptr<LogChunk> chunk = NewPoolChunk(&pool, 9, 4096);
    const std::vector<Update> first{{kTypeValue, "key", std::string(value_size, 'v')}};
    WriteFrame(&writer, chunk.get(), first, 5);
    // A second frame that ends where the chunk does.
    Update last{kTypeValue, "k", ""};
    while (FrameWriter::FrameSize(BodySize({last})) < chunk->room()) last.value.push_back('x');
    if (FrameWriter::FrameSize(BodySize({last})) != chunk->room()) continue;  // a size that no frame has
    const char* const at = chunk->base + chunk->used;
    const auto places = WriteFrame(&writer, chunk.get(), {last}, 6);
    EXPECT_EQ(0u, chunk->room());
    ExpectFrame(at, chunk->base + chunk->capacity, 9, {last}, places, 6);
    FrameView frame;
    EXPECT_FALSE(ReadFrame(at, chunk->base + chunk->capacity - 1, kTestSecret, 9, &frame));
    EXPECT_FALSE(ReadFrame(chunk->base + chunk->capacity, chunk->base + chunk->capacity, kTestSecret, 9, &frame));
  }
}

TEST(FrameTest, CountsEachByteOnceAsLogBytes) {
  TestPool pool;
  FrameWriter writer(&pool->persist(), pool->secret());
  std::unique_ptr<LogChunk> chunk = NewPoolChunk(&pool, 9, 1 << 20);
  const PersistCounters& log = pool->persist().counters(Purpose::kLog);
  WriteFrame(&writer, chunk.get(), {{kTypeValue, "a", "1"}, {kTypeDeletion, "b", ""}}, 1);
  EXPECT_EQ(chunk->used, log.bytes.load());
  // A frame that is written in pieces writes its checksum twice.
  WriteFrame(&writer, chunk.get(), {{kTypeValue, "a", std::string(kUnstagedFrom, 'v')}}, 3);
  EXPECT_EQ(chunk->used + 8, log.bytes.load());
  EXPECT_EQ(0u, log.fences.load()) << "the fence is the leader's";
}

TEST(FrameTest, WithTheLogOffRecordsLieBareInDram) {
  TestPool pool;
  FrameWriter writer(&pool->persist(), pool->secret());
  std::unique_ptr<LogChunk> chunk = NewMemoryChunk(200 * 1024);
  std::vector<Update> updates;
  for (size_t size : {size_t{0}, size_t{100}, kUnstagedFrom, 3 * kUnstagedFrom}) {
    updates.push_back({kTypeValue, "key" + std::to_string(size), std::string(size, 'v')});
  }
  updates.push_back({kTypeDeletion, "key", ""});
  const auto places = WriteFrame(&writer, chunk.get(), updates, 10);
  EXPECT_EQ(BodySize(updates), chunk->used);
  EXPECT_EQ(0u, pool->persist().TotalBytes() - pool->persist().counters(Purpose::kManifest).bytes.load());
  const char* p = chunk->base;
  for (size_t i = 0; i < updates.size(); i++) {
    EXPECT_EQ(p, places[i]);
    RecordView record;
    ASSERT_TRUE(ParseRecord(p, chunk->base + chunk->used, &record));
    EXPECT_TRUE(record.Verify(kTestSecret));
    EXPECT_EQ(10 + i, record.sequence());
    EXPECT_EQ(updates[i].key, record.key.ToString());
    EXPECT_TRUE(updates[i].value == record.value.ToString());
    p += record.size();
  }
}

TEST(SegmentTest, SumsWhatItsChunksUse) {
  Segment segment;
  EXPECT_EQ(0u, segment.used_bytes());
  for (uint64_t used : {0, 10, 4096}) {
    segment.chunks.push_back(NewMemoryChunk(4096));
    segment.chunks.back()->used = used;
    EXPECT_EQ(4096 - used, segment.chunks.back()->room());
    EXPECT_FALSE(segment.chunks.back()->in_pool());
  }
  EXPECT_EQ(4106u, segment.used_bytes());
  const LogChunk& chunk = *segment.chunks[1];
  EXPECT_TRUE(chunk.Contains(chunk.base) && chunk.Contains(chunk.base + 4095));
  EXPECT_FALSE(chunk.Contains(chunk.base + 4096) || chunk.Contains(chunk.base - 1));
}

}  // namespace
}  // namespace miodb::test
