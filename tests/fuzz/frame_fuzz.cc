// src/log/frame_reader.h: frames of a known chunk, of any chunk, and behind damage.

#include "src/log/frame_reader.h"
#include "tests/fuzz/fuzz.h"

namespace miodb {
namespace {

constexpr uint64_t kChunkId = 7;
constexpr uint64_t kSecret = 0;  // that of the corpus

// Makes the checks of the records and the checksum of the frame at the front right, as far as it can be read.
void Seal(char* p, const char* limit) {
  uint32_t body_size;
  if (limit - p < 9) return;
  const char* const body = GetVarint32Ptr(p + 8, limit, &body_size);
  if (body == nullptr || static_cast<uint64_t>(limit - body) < body_size) return;
  uint64_t checksum = FrameSeed(kSecret, kChunkId, body_size);
  RecordView record;
  for (char* q = p + (body - p); q < body + body_size; q += record.size()) {
    if (!ParseRecord(q, body + body_size, &record)) return;
    EncodeFixed32(q, static_cast<uint32_t>(record.Hash(kSecret)));
    checksum = FrameFold(checksum, record.Hash(kSecret));
  }
  EncodeFixed64(p, checksum);
}

void CheckFrame(const FrameView& frame, const char* begin, const char* limit) {
  FUZZ_CHECK(frame.begin >= begin && frame.body > frame.begin && frame.end > frame.body && frame.end <= limit);
  uint64_t count = 0;
  RecordView record;
  for (const char* p = frame.body; p < frame.end; p += record.size(), count++) {
    FUZZ_CHECK(ParseRecord(p, frame.end, &record) && record.Verify(kSecret));
    FUZZ_CHECK(record.sequence() == frame.first_sequence + count);
  }
  FUZZ_CHECK(count == frame.count);
}

}  // namespace
}  // namespace miodb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  const uint8_t seal = fuzz::TakeByte(&data, &size);
  fuzz::ExactBuffer bytes(data, size);
  const char* const begin = bytes.data();
  const char* const limit = bytes.end();
  // A sealed frame may stand behind damage.
  const size_t skip = std::min<size_t>(seal >> 1, size);
  if ((seal & 1) != 0) Seal(bytes.data() + skip, limit);
  FrameView frame;
  const bool found = ReadFrame(begin, limit, kSecret, kChunkId, &frame);
  if (found) CheckFrame(frame, begin, limit);
  FrameView any;
  uint64_t id;
  RecordView first;
  const char* p = begin;
  for (FrameSearch search(kSecret, kChunkId); search.Next(p, limit, &any, &id); p = any.end) {
    FUZZ_CHECK(any.begin >= p && id <= kChunkId);
    CheckFrame(any, begin, limit);
    FUZZ_CHECK(ReadFrame(any.begin, limit, kSecret, id, &frame) && frame.end == any.end);
  }
  if (found && ParseRecord(frame.body, frame.end, &first) && first.type() <= kTypeValue && first.sequence() > 0) {
    FUZZ_CHECK(FrameSearch(kSecret, kChunkId).Next(begin, limit, &any, &id));
  }
  const char* const later = FindLaterFrame(begin, limit, kSecret, kChunkId, 0);
  if (later != nullptr) {
    FUZZ_CHECK(later > begin && ReadFrame(later, limit, kSecret, kChunkId, &frame));
    FrameSearch search(kSecret, kChunkId);
    FUZZ_CHECK(search.Next(begin, limit, &any, &id) || search.passed_over() > 0);
  }
  return 0;
}
