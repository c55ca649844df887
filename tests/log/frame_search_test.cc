// The search for frames where nothing says what lies where: what it finds, and what it costs at most.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "src/log/frame_reader.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/test_secret.h"

namespace miodb::test {
namespace {

constexpr uint64_t kMaxId = 1000;

std::string Record(uint64_t sequence, const std::string& key, const std::string& value, uint64_t* hash,
                   uint64_t secret = kTestSecret) {
  std::string record(kMaxRecordHeader + key.size(), '\0');
  const char* const end = EncodeRecordHead(record.data(), PackTag(sequence, kTypeValue), key, value, secret, hash);
  record.resize(static_cast<size_t>(end - record.data()));
  return record + value;
}

std::string Frame(uint64_t chunk_id, uint64_t first_sequence, const std::vector<std::string>& values,
                  uint64_t secret = kTestSecret) {
  std::string body;
  std::vector<uint64_t> hashes(values.size());
  for (size_t i = 0; i < values.size(); i++) {
    body += Record(first_sequence + i, "key" + std::to_string(i), values[i], &hashes[i], secret);
  }
  uint64_t checksum = FrameSeed(secret, chunk_id, body.size());
  for (const uint64_t hash : hashes) checksum = FrameFold(checksum, hash);
  std::string frame;
  PutFixed64(&frame, checksum);
  PutVarint32(&frame, static_cast<uint32_t>(body.size()));
  return frame + body;
}

// Looks at every few bytes like a frame that ends where these bytes end, and is none.
std::string LooksLikeFrames(size_t size) {
  constexpr size_t kHead = 32;
  std::string bytes;
  while (bytes.size() + 2 * kHead < size) {
    const uint64_t body = size - bytes.size() - FrameHeaderSize(size - bytes.size());
    const uint64_t value = body - kRecordFixedSize - 1 - static_cast<uint64_t>(VarintLength(body));
    std::string head(8, 'c');
    PutVarint32(&head, static_cast<uint32_t>(body));
    head.append(4, 'r');
    PutFixed64(&head, PackTag(5 + bytes.size(), kTypeValue));
    PutVarint32(&head, 0);
    PutVarint32(&head, static_cast<uint32_t>(value));
    const bool fits = FrameHeaderSize(body) + body == size - bytes.size() &&
                      RecordSize(0, value) == body;  // else a length at a border, where one size fits none
    bytes += fits ? head : std::string(kHead, 'x');
    bytes.resize((bytes.size() + kHead - 1) / kHead * kHead, 'x');
  }
  bytes.resize(size, 'x');
  return bytes;
}

// Bytes whose addresses are as offsets in a pool are.
class Memory {
 public:
  explicit Memory(const std::string& bytes)
      : size_(bytes.size()),
        base_(
            static_cast<char*>(std::aligned_alloc(kExtentUnit, bytes.size() / kExtentUnit * kExtentUnit + kExtentUnit)),
            &std::free) {
    memcpy(base_.get(), bytes.data(), bytes.size());
  }
  const char* begin() const { return base_.get(); }
  const char* end() const { return base_.get() + size_; }

 private:
  const size_t size_;
  const std::unique_ptr<char, void (*)(void*)> base_;
};

struct Found {
  uint64_t offset;
  uint64_t size;
  uint64_t chunk_id;
  uint64_t first_sequence;
  bool operator==(const Found&) const = default;
};

std::vector<Found> SearchAll(const std::string& bytes, FrameSearch* search) {
  const Memory memory(bytes);
  std::vector<Found> found;
  FrameView frame;
  uint64_t id;
  for (const char* p = memory.begin(); search->Next(p, memory.end(), &frame, &id); p = frame.end) {
    found.push_back({static_cast<uint64_t>(frame.begin - memory.begin()),
                     static_cast<uint64_t>(frame.end - frame.begin), id, frame.first_sequence});
  }
  return found;
}

// The true records of a damaged batch look like frames of their own, and use up what places anywhere may take.
TEST(FrameSearchTest, ADamagedBatchCostsNoOther) {
  for (const uint64_t seed : Seeds(ByScale(2, 5, 50))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    std::vector<std::string> frames;
    uint64_t sequence = 1;
    for (int i = 0; i < 20; i++) {
      std::vector<std::string> values(6000);
      for (std::string& value : values) value = random.Bytes(150);
      frames.push_back(Frame(7, sequence, values));
      sequence += values.size();
    }
    for (const size_t first : {size_t{0}, size_t{2}}) {  // at the begin of a chunk, and behind a good one
      std::string bytes;
      std::vector<Found> expected;
      for (size_t i = 0; i < frames.size(); i++) {
        const bool damaged = i == first || i == first + 1;
        if (!damaged) expected.push_back({bytes.size(), frames[i].size(), 7, 1 + 6000 * i});
        bytes += frames[i];
        if (damaged) bytes[bytes.size() - 1 - random.Uniform(frames[i].size() / 2)] ^= 1;
      }
      FrameSearch search(kTestSecret, kMaxId);
      EXPECT_EQ(expected, SearchAll(bytes, &search));
    }
  }
}

TEST(FrameSearchTest, FindsEveryFrameWhereverItLies) {
  for (const uint64_t seed : Seeds(ByScale(20, 200, 2000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    std::string bytes;
    std::vector<Found> expected;
    uint64_t sequence = 1;
    for (int chunk = 0; chunk < 6; chunk++) {
      const uint64_t id = 1 + random.Uniform(kMaxId);
      if (random.OneIn(2)) bytes.resize((bytes.size() + kExtentUnit - 1) / kExtentUnit * kExtentUnit);
      for (uint64_t frames = random.Uniform(20); frames > 0; frames--) {
        std::vector<std::string> values(1 + random.Uniform(4));
        for (std::string& value : values) value = random.Bytes(random.Skewed(14));
        const std::string frame = Frame(id, sequence, values);
        expected.push_back({bytes.size(), frame.size(), id, sequence});
        sequence += values.size();
        bytes += frame;
      }
      bytes += random.OneIn(2) ? random.Bytes(random.Skewed(13)) : std::string(random.Skewed(13), '\0');
      // A frame whose last byte is damaged.
      std::string damaged = Frame(id, sequence, {random.Bytes(1 + random.Skewed(12))});
      damaged.back() = static_cast<char>(damaged.back() ^ 1);
      bytes += damaged;
    }
    FrameSearch search(kTestSecret, kMaxId);
    EXPECT_EQ(expected, SearchAll(bytes, &search));
    EXPECT_EQ(0u, search.passed_over());
    EXPECT_LE(search.hashed_bytes(), FrameSearch::MostHashed(bytes.size(), bytes.size()));
  }
}

TEST(FrameSearchTest, TakesNoFrameOfAnotherPoolOrOfAChunkThatCannotBe) {
  FrameSearch search(kTestSecret, kMaxId);
  EXPECT_TRUE(SearchAll(Frame(kMaxId + 1, 1, {"value"}) + Frame(7, 1, {"value"}, kTestSecret + 1), &search).empty());
}

TEST(FrameSearchTest, LooksForNoFrameInAFrame) {
  const std::string inner = Frame(7, 100, {"forged"});
  const std::string outer = Frame(8, 1, {inner});
  FrameSearch search(kTestSecret, kMaxId);
  EXPECT_EQ((std::vector<Found>{{0, outer.size(), 8, 1}}), SearchAll(outer, &search));
  // Nothing hides the inner one where the outer one is damaged.
  std::string damaged = outer;
  damaged[0] ^= 1;
  EXPECT_EQ((std::vector<Found>{{outer.size() - inner.size(), inner.size(), 7, 100}}), SearchAll(damaged, &search));
}

TEST(FrameSearchTest, RandomBytesCostNextToNoHashing) {
  Random random(301);
  const std::string bytes = random.Bytes(ByScale(uint64_t{4} << 20, uint64_t{16} << 20, uint64_t{256} << 20));
  FrameSearch search(kTestSecret, kMaxId);
  EXPECT_TRUE(SearchAll(bytes, &search).empty());
  EXPECT_LT(search.hashed_bytes(), bytes.size() / 10);
  EXPECT_EQ(0u, search.passed_over());
}

TEST(FrameSearchTest, BytesThatLookLikeFramesEverywhereCostABoundedAmount) {
  for (const size_t size : {size_t{1} << 14, size_t{1} << 17, size_t{1} << 20}) {
    const std::string bytes = LooksLikeFrames(size);
    FrameSearch search(kTestSecret, kMaxId);
    EXPECT_TRUE(SearchAll(bytes, &search).empty());
    EXPECT_GT(search.hashed_bytes(), bytes.size()) << "they do not look like frames";
    EXPECT_LE(search.hashed_bytes(), FrameSearch::MostHashed(bytes.size(), bytes.size()));
    EXPECT_GT(search.passed_over(), 0u);
  }
}

// The same of an open, which looks behind the last frame; and the frame behind a damaged one is seen all the same.
TEST(FrameSearchTest, ALaterFrameIsLookedForAtABoundedCost) {
  for (const size_t size : {size_t{1} << 14, size_t{1} << 17, size_t{1} << 20}) {
    const std::string bytes = LooksLikeFrames(size);
    const char* const begin = bytes.data();
    uint64_t hashed = 0;
    EXPECT_EQ(nullptr, FindLaterFrame(begin, begin + size, kTestSecret, 9, 0, &hashed));
    EXPECT_GT(hashed, size) << "they do not look like frames";
    EXPECT_LE(hashed, HashAllowance::Most(size, size));
  }
  std::string damaged = Frame(9, 1, {LooksLikeFrames(1 << 20)});
  damaged[8 + 40] ^= 1;
  const std::string both = damaged + Frame(9, 100, {std::string(1000000, 'x')});
  EXPECT_EQ(both.data() + damaged.size(), FindLaterFrame(both.data(), both.data() + both.size(), kTestSecret, 9, 0));
}

// Large bytes of the one do not use up what the other may take, and chunks begin where they are expected.
TEST(FrameSearchTest, AChunkBehindBytesThatLookLikeFramesIsFound) {
  Random random(7);
  std::string bytes = LooksLikeFrames(1 << 20);
  std::vector<Found> expected;
  uint64_t sequence = 1;
  for (const size_t value : {100, 3000, 70, 100000, 50, 1000000}) {
    const std::string frame = Frame(9, sequence, {random.Bytes(value), "small"});
    expected.push_back({bytes.size(), frame.size(), 9, sequence});
    sequence += 2;
    bytes += frame;
  }
  bytes += LooksLikeFrames(1 << 17);
  FrameSearch search(kTestSecret, kMaxId);
  EXPECT_EQ(expected, SearchAll(bytes, &search));
  EXPECT_GT(search.passed_over(), 0u);
  EXPECT_LE(search.hashed_bytes(), FrameSearch::MostHashed(bytes.size(), bytes.size()));
}

}  // namespace
}  // namespace miodb::test
