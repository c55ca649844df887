// Frames that are torn, damaged, stale or hostile.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "src/log/frame_reader.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/test_secret.h"
#include "tests/log/log_pool.h"

namespace miodb::test {
namespace {

constexpr uint64_t kChunk = 77;

// Reads a frame from bytes that stand alone on the heap, so that AddressSanitizer sees any read beyond them.
bool ReadAlone(const std::string& bytes, uint64_t chunk_id, uint64_t* first_sequence = nullptr) {
  const std::unique_ptr<char[]> copy(new char[bytes.size()]);
  memcpy(copy.get(), bytes.data(), bytes.size());
  FrameView frame;
  if (!ReadFrame(copy.get(), copy.get() + bytes.size(), kTestSecret, chunk_id, &frame)) return false;
  EXPECT_LE(frame.end, copy.get() + bytes.size());
  EXPECT_LT(frame.body, frame.end);
  if (first_sequence != nullptr) *first_sequence = frame.first_sequence;
  return true;
}

// Where FindLaterFrame finds a frame in these bytes; -1 if nowhere.
ptrdiff_t FindAlone(const std::string& bytes, uint64_t chunk_id, uint64_t after) {
  const std::unique_ptr<char[]> copy(new char[bytes.size()]);
  memcpy(copy.get(), bytes.data(), bytes.size());
  const char* const found = FindLaterFrame(copy.get(), copy.get() + bytes.size(), kTestSecret, chunk_id, after);
  return found == nullptr ? -1 : found - copy.get();
}

class FrameDamageTest : public testing::Test {
 protected:
  // The bytes of a frame.
  std::string Frame(const std::vector<Update>& updates, uint64_t first_sequence, uint64_t chunk_id = kChunk) {
    std::unique_ptr<LogChunk> chunk = NewPoolChunk(&pool_, chunk_id, 1 << 20);
    WriteFrame(&writer_, chunk.get(), updates, first_sequence);
    return std::string(chunk->base, chunk->used);
  }

  static std::vector<Update> SmallGroup() {
    return {{kTypeValue, "key1", "some value"}, {kTypeDeletion, "k2", ""}, {kTypeValue, "", std::string(130, 'x')}};
  }

  TestPool pool_;
  FrameWriter writer_{&pool_->persist(), pool_->secret()};
};

TEST_F(FrameDamageTest, AnotherChunksFrameIsRefused) {
  const std::string frame = Frame(SmallGroup(), 100);
  EXPECT_TRUE(ReadAlone(frame, kChunk));
  for (uint64_t id : {kChunk - 1, kChunk + 1, uint64_t{0}, kChunk << 32, ~kChunk}) EXPECT_FALSE(ReadAlone(frame, id));
}

TEST_F(FrameDamageTest, AFrameThatIsCutShortIsRefused) {
  const std::string frame = Frame(SmallGroup(), 100);
  for (size_t size = 0; size < frame.size(); size++) EXPECT_FALSE(ReadAlone(frame.substr(0, size), kChunk)) << size;
}

// Torn at every byte, over zeros, noise, and the same frame of an earlier life of the chunk.
TEST_F(FrameDamageTest, ATornFrameIsRefused) {
  Random random(1);
  const std::string frame = Frame(SmallGroup(), 100);
  std::vector<Update> others = SmallGroup();
  others[0].value = "SOME VALUE";
  others[2].value = std::string(130, 'y');
  const std::string backgrounds[] = {std::string(frame.size() + 100, '\0'), random.Bytes(frame.size() + 100),
                                     Frame(SmallGroup(), 100, kChunk - 1) + std::string(100, '\0'),
                                     Frame(others, 100, kChunk - 1) + std::string(100, '\0')};
  for (const std::string& background : backgrounds) {
    for (size_t arrived = 0; arrived < frame.size(); arrived++) {
      std::string head = background, tail = background;
      head.replace(0, arrived, frame, 0, arrived);
      const bool head_is_whole = head.compare(0, frame.size(), frame) == 0;
      EXPECT_EQ(head_is_whole, ReadAlone(head, kChunk)) << "the first " << arrived << " bytes";
      tail.replace(arrived, frame.size() - arrived, frame, arrived);
      const bool tail_is_whole = tail.compare(0, frame.size(), frame) == 0;
      EXPECT_EQ(tail_is_whole, ReadAlone(tail, kChunk)) << "all but the first " << arrived << " bytes";
    }
  }
}

// A chunk of an earlier life whose frames had the same shape, and sequences with the same low bits.
TEST_F(FrameDamageTest, AFrameThatLacksOneWordOverASimilarOneIsRefused) {
  const std::string old_frame = Frame({{kTypeValue, "key", "old value"}}, 100, kChunk - 1);
  const std::string frame = Frame({{kTypeValue, "key", "new value"}}, 100 + (1 << 16));
  ASSERT_EQ(old_frame.size(), frame.size());
  for (size_t word = 0; word * 8 < frame.size(); word++) {
    std::string torn = frame;
    torn.replace(word * 8, 8, old_frame, word * 8, 8);
    EXPECT_EQ(torn == frame, ReadAlone(torn, kChunk)) << "without word " << word;
  }
}

// The unit of atomicity is 8 bytes: any single one, or any but one, may have arrived.
TEST_F(FrameDamageTest, AFrameThatLacksAnyWordIsRefused) {
  const std::string frame = Frame(SmallGroup(), 100);
  for (size_t start = 0; start < 8; start++) {  // of the frame within its first word
    for (size_t word = 0; word * 8 < frame.size() + start; word++) {
      std::string missing = frame;
      for (size_t i = word * 8; i < word * 8 + 8; i++) {
        if (i >= start && i - start < frame.size()) missing[i - start] = '\xa5';
      }
      EXPECT_EQ(missing == frame, ReadAlone(missing, kChunk)) << "word " << word << " from " << start;
    }
  }
}

TEST_F(FrameDamageTest, EveryFlippedBitIsRefused) {
  for (const std::vector<Update>& updates : {SmallGroup(), {{kTypeValue, "key", "value"}}, {{kTypeDeletion, "", ""}}}) {
    const std::string frame = Frame(updates, 100);
    for (size_t bit = 0; bit < frame.size() * 8; bit++) {
      std::string damaged = frame;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      EXPECT_FALSE(ReadAlone(damaged, kChunk)) << "byte " << bit / 8 << " bit " << bit % 8 << " of " << frame.size();
      EXPECT_FALSE(ReadAlone(damaged + std::string(40000, '\0'), kChunk)) << "byte " << bit / 8 << " bit " << bit % 8;
    }
  }
}

TEST_F(FrameDamageTest, RecordsInAnotherOrderAreRefused) {
  const std::string frame = Frame({{kTypeValue, "a", "1"}, {kTypeValue, "b", "2"}}, 100);
  const size_t size = RecordSize(1, 1), body = frame.size() - 2 * size;
  const std::string swapped = frame.substr(0, body) + frame.substr(body + size) + frame.substr(body, size);
  EXPECT_FALSE(ReadAlone(swapped, kChunk));
  EXPECT_FALSE(ReadAlone(frame.substr(0, body) + frame.substr(body, size) + frame.substr(body, size), kChunk));
}

TEST_F(FrameDamageTest, HostileBytesAreNeverReadBeyondTheirEnd) {
  const std::string good = Frame(SmallGroup(), 100);
  for (uint64_t seed : Seeds(ByScale(4, 10, 500))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    for (int i = 0; i < 20000; i++) {
      std::string bytes = random.OneIn(2) ? good : random.Bytes(random.Uniform(80));
      for (uint64_t n = random.Uniform(4); n > 0 && !bytes.empty(); n--) {
        bytes[random.Uniform(bytes.size())] = static_cast<char>(random.Next64());
      }
      bytes.resize(random.Uniform(bytes.size() + 1));
      EXPECT_EQ(bytes.compare(0, good.size(), good) == 0, ReadAlone(bytes, kChunk));
      FindAlone(bytes, kChunk, random.Uniform(200));
    }
  }
}

TEST_F(FrameDamageTest, FindsAFrameBehindDamageWhereverItBegins) {
  const std::string later = Frame({{kTypeValue, "key", "value"}}, 101);
  const std::string smallest = Frame({{kTypeDeletion, "", ""}}, 101);
  const std::string large = Frame({{kTypeValue, "key", std::string(200 * 1024, 'v')}}, 101);
  for (size_t distance = 1; distance < 60; distance++) {
    Random random(distance);
    for (const std::string& frame : {later, smallest, large}) {
      const std::string bytes = random.Bytes(distance) + frame;
      EXPECT_EQ(static_cast<ptrdiff_t>(distance), FindAlone(bytes, kChunk, 100));
      EXPECT_EQ(static_cast<ptrdiff_t>(distance), FindAlone(bytes + "x", kChunk, 0));
      EXPECT_EQ(-1, FindAlone(bytes, kChunk, 101)) << "that frame is not later";
      EXPECT_EQ(-1, FindAlone(bytes, kChunk + 1, 100)) << "that frame is of another chunk";
      EXPECT_EQ(-1, FindAlone(bytes.substr(0, bytes.size() - 1), kChunk, 100)) << "that frame is cut short";
    }
  }
}

TEST_F(FrameDamageTest, TheSearchBeginsBehindTheDamage) {
  const std::string frame = Frame({{kTypeValue, "key", "value"}}, 101);
  EXPECT_EQ(-1, FindAlone(frame, kChunk, 100));
  EXPECT_EQ(static_cast<ptrdiff_t>(frame.size()), FindAlone(frame + frame, kChunk, 100));
}

// Users may store anything, even what a log once held.
TEST_F(FrameDamageTest, NoFrameInsideOfAPayloadIsTakenForOneOfTheLog) {
  const std::string of_other_chunk = Frame(SmallGroup(), 500, kChunk + 1);
  const std::string older = Frame(SmallGroup(), 50);
  for (const std::string& payload :
       {of_other_chunk, older, of_other_chunk + older, older + std::string(20000, 'x') + older}) {
    const std::string frame = Frame({{kTypeValue, "key", payload}}, 100);
    EXPECT_TRUE(ReadAlone(frame, kChunk));
    EXPECT_EQ(-1, FindAlone(frame, kChunk, 100));
    std::string torn = frame;
    torn[0] = static_cast<char>(torn[0] ^ 1);
    EXPECT_FALSE(ReadAlone(torn, kChunk));
    EXPECT_EQ(-1, FindAlone(torn, kChunk, 99)) << "what a torn frame holds must not look like a later frame";
  }
}

}  // namespace
}  // namespace miodb::test
