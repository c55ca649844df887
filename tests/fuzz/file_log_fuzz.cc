// src/log/file_log_reader.h: any bytes are a row of whole records and an end.

#include "src/log/file_log_format.h"
#include "src/log/file_log_reader.h"
#include "src/log/file_log_writer.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/crc32c.h"
#include "tests/common/string_file.h"
#include "tests/fuzz/fuzz.h"

namespace miodb {
namespace {

// Makes the checksums of all fragments right, as far as they can be walked.
void Seal(char* bytes, size_t size, size_t block) {
  for (size_t at = 0; at + kFragmentHeaderBytes <= size;) {
    const size_t block_left = block - at % block;
    if (block_left < kFragmentHeaderBytes) {
      at += block_left;
      continue;
    }
    char* const header = bytes + at;
    const size_t payload = static_cast<uint8_t>(header[4]) | static_cast<size_t>(static_cast<uint8_t>(header[5])) << 8;
    if (header[6] == kPaddingFragment && payload == 0) {
      at += block_left;
      continue;
    }
    if (kFragmentHeaderBytes + payload > std::min(block_left, size - at)) return;
    EncodeFixed32(header, MaskedCrc(Crc32c(header + 6, payload + 1)));
    at += kFragmentHeaderBytes + payload;
  }
}

std::vector<std::string> ReadRecords(const Slice& content, size_t block, uint64_t* valid_bytes) {
  std::vector<std::string> records;
  FileLogReader reader(content, block);
  Slice record;
  std::string scratch;
  uint64_t end = 0;
  while (reader.Next(&record, &scratch)) {
    FUZZ_CHECK(reader.valid_bytes() > end && reader.valid_bytes() <= content.size());
    end = reader.valid_bytes();
    FUZZ_CHECK(record.size() + kFragmentHeaderBytes <= end);
    records.push_back(record.ToString());
  }
  FUZZ_CHECK(!reader.Next(&record, &scratch) && reader.valid_bytes() == end);
  reader.HasLaterBatch(records.size(), 0);
  *valid_bytes = end;
  return records;
}

}  // namespace
}  // namespace miodb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  const uint8_t how = fuzz::TakeByte(&data, &size);
  const size_t block = kLeastLogBlock << (how >> 1 & 3);
  fuzz::ExactBuffer bytes(data, size);
  if ((how & 1) != 0) Seal(bytes.data(), size, block);
  uint64_t valid_bytes, again_bytes;
  const std::vector<std::string> records = ReadRecords(bytes.slice(), block, &valid_bytes);
  // What follows the end has no part in what comes before it.
  const Slice front(bytes.data(), valid_bytes);
  FUZZ_CHECK(records == ReadRecords(front, block, &again_bytes) && again_bytes == valid_bytes);
  // Records written anew are read as they were.
  test::StringSink file;
  FileLogWriter writer(&file, block, (how & 8) != 0);
  for (const std::string& record : records) FUZZ_CHECK(writer.Add(record).ok());
  FUZZ_CHECK(records == ReadRecords(file.contents, block, &again_bytes) && again_bytes == file.contents.size());
  return 0;
}
