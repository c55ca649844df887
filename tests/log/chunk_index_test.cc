// The index of a log chunk says what its frames say, or is refused.

#include "src/log/chunk_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "src/log/log_piece.h"
#include "src/log/record_order.h"
#include "tests/common/environment.h"
#include "tests/common/random/generator.h"
#include "tests/common/random/random.h"
#include "tests/log/log_pool.h"

namespace miodb::test {
namespace {

constexpr uint64_t kChunk = 77;

class ChunkIndexTest : public testing::Test {
 protected:
  void NewChunk(uint64_t size, uint64_t first_sequence) {
    chunk_ = NewPoolChunk(&pool_, kChunk, size);
    chunk_->first_sequence = next_ = first_sequence;
  }
  void Write(const std::vector<Update>& updates) {
    WriteFrame(&writer_, chunk_.get(), updates, next_);
    next_ += updates.size();
  }
  // Frames of some updates each until so many bytes are free, or fewer.
  void Fill(Random* random, uint64_t free) {
    const KeySpace keys(KeyStyle::kMixed, 1 + random->Uniform(500), random->Next64());
    for (;;) {
      std::vector<Update> updates;
      for (uint64_t i = 1 + random->Uniform(4); i > 0; i--) {
        updates.push_back({random->OneIn(4) ? kTypeDeletion : kTypeValue, keys.Any(random), ""});
        if (updates.back().type == kTypeValue) updates.back().value = random->Bytes(random->Uniform(100));
      }
      if (FrameWriter::FrameSize(BodySize(updates)) + free > chunk_->room()) return;
      Write(updates);
    }
  }
  LogChunkPlace Place() const {
    LogChunkPlace place;
    place.id = kChunk;
    place.size = chunk_->extent->size();
    return place;
  }
  bool Make() { return WriteChunkIndex(&pool_->persist(), order_, pool_->secret(), *chunk_); }
  bool Read(const LogChunkPlace& place, ChunkIndex* index) const {
    return ReadChunkIndex(place, chunk_->base, pool_->secret(), index);
  }
  bool Read() const {
    ChunkIndex index;
    return Read(Place(), &index);
  }

  const KeyOrder order_{BytewiseComparator()};
  TestPool pool_;
  FrameWriter writer_{&pool_->persist(), pool_->secret()};
  std::unique_ptr<LogChunk> chunk_;
  uint64_t next_ = 1;
};

TEST_F(ChunkIndexTest, SaysWhatTheFramesSay) {
  for (const uint64_t seed : Seeds(ByScale(10, 40, 200))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    NewChunk(1 << (12 + random.Uniform(5)), 1 + random.Uniform(1000));
    Fill(&random, chunk_->capacity / 4);
    if (chunk_->used == 0) continue;
    ASSERT_TRUE(Make());
    const LogPiece frames = ReadLogChunk(Place(), chunk_->base, pool_->secret());
    ChunkIndex index;
    ASSERT_TRUE(Read(Place(), &index));
    EXPECT_EQ(frames.valid_bytes, index.frame_bytes);
    EXPECT_EQ(frames.first_sequence, index.first_sequence);
    EXPECT_EQ(frames.last_sequence, index.last_sequence());
    EXPECT_EQ(frames.writes, index.count);
    EXPECT_FALSE(frames.damaged());
    std::vector<uint32_t> places;
    RecordView record;
    for (const FrameView& frame : frames.frames) {
      for (const char* p = frame.body; p < frame.end; p += record.size()) {
        ASSERT_TRUE(ParseRecord(p, frame.end, &record));
        places.push_back(static_cast<uint32_t>(p - chunk_->base));
      }
    }
    SortByKey(order_, chunk_->base, chunk_->base + frames.valid_bytes, &places);
    EXPECT_TRUE(std::equal(places.begin(), places.end(), index.places, index.places + index.count));
    EXPECT_EQ("", ChunkIndexProblem(order_, chunk_->base, index));
  }
}

TEST_F(ChunkIndexTest, IsRefusedWhateverByteOfItIsDamaged) {
  NewChunk(4096, 9);
  Random random(1);
  Fill(&random, 3000);
  ASSERT_TRUE(Make());
  ASSERT_TRUE(Read());
  const uint64_t size = chunk_->extent->size();
  for (uint64_t at = size - ChunkIndexBytes(next_ - 9); at < size; at++) {
    chunk_->base[at] ^= 1;
    EXPECT_FALSE(Read()) << at;
    chunk_->base[at] ^= 1;
  }
  EXPECT_TRUE(Read());
}

// A mistake of the engine, which no crash can imitate: an index that checks and differs from the frames.
TEST_F(ChunkIndexTest, IsComparedWithTheFramesByAChecker) {
  NewChunk(4096, 9);
  Random random(1);
  Fill(&random, 3000);
  ASSERT_TRUE(Make());
  ChunkIndex index;
  ASSERT_TRUE(Read(Place(), &index));
  ASSERT_GT(index.count, 2u);
  std::vector<uint32_t> places(index.places, index.places + index.count);
  std::swap(places.front(), places.back());
  EXPECT_EQ("its index is not in the order of the keys",
            ChunkIndexProblem(order_, chunk_->base, {places.data(), index.count, 9, index.frame_bytes}));
  for (const ChunkIndex& wrong : {ChunkIndex{index.places, index.count - 1, 9, index.frame_bytes},
                                  ChunkIndex{index.places, index.count, 10, index.frame_bytes},
                                  ChunkIndex{index.places, index.count, 9, index.frame_bytes - 1}}) {
    EXPECT_NE(std::string::npos, ChunkIndexProblem(order_, chunk_->base, wrong).find("does not go with its frames"));
  }
}

TEST_F(ChunkIndexTest, IsNotAnotherChunksNorAnotherPools) {
  NewChunk(4096, 1);
  Write({{kTypeValue, "key", "value"}});
  EXPECT_FALSE(Read()) << "nobody has made one";
  ASSERT_TRUE(Make());
  ChunkIndex index;
  LogChunkPlace place = Place();
  place.id++;
  EXPECT_FALSE(Read(place, &index));
  EXPECT_FALSE(ReadChunkIndex(Place(), chunk_->base, pool_->secret() + 1, &index));
  place = Place();
  place.sealed = true;
  place.sealed_size = chunk_->used;
  EXPECT_TRUE(Read(place, &index));
  place.sealed_size--;
  EXPECT_FALSE(Read(place, &index)) << "a recovery has kept other frames";
}

TEST_F(ChunkIndexTest, NeedsRoomWritesInSequenceAndKeysOfTheirOwn) {
  NewChunk(4096, 1);
  Random random(1);
  Fill(&random, 0);
  const std::string before(chunk_->base, chunk_->extent->size());
  EXPECT_FALSE(Make());
  EXPECT_TRUE(before == std::string(chunk_->base, chunk_->extent->size())) << "something was stored";
  NewChunk(4096, 1);
  EXPECT_FALSE(Make()) << "nothing was written";
  Write({{kTypeValue, "a", "value"}});
  next_++;
  Write({{kTypeValue, "b", "value"}});
  EXPECT_FALSE(Make()) << "a write is missing";
  NewChunk(4096, 1);
  Write({{kTypeValue, "a", "value"}, {kTypeRangeDeletion, "b", "c"}});
  EXPECT_FALSE(Make()) << "what concerns a range is not found by its key";
}

TEST_F(ChunkIndexTest, HasTheRoomThatIsKeptForItWhereRecordsAreAlike) {
  for (const uint64_t bytes : {20, 100, 1000}) {
    NewChunk(1 << 16, 1);
    const std::vector<Update> updates = {{kTypeValue, "key", std::string(bytes, 'v')}};
    const uint64_t frame = FrameWriter::FrameSize(BodySize(updates));
    const uint64_t room = ChunkIndexRoom(chunk_->capacity, frame);
    EXPECT_LT(room, chunk_->capacity / 6);
    while (chunk_->room() >= frame + room) Write(updates);
    EXPECT_TRUE(Make()) << bytes;
  }
}

}  // namespace
}  // namespace miodb::test
