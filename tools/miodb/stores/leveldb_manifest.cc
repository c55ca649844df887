#include "tools/miodb/stores/leveldb_manifest.h"

#include <fstream>
#include <iterator>
#include <string_view>

namespace miodb::tool {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

uint8_t ByteAt(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const uint8_t byte = ByteAt(*bytes, 0);
    bytes->remove_prefix(1);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool SkipText(std::string_view* bytes) {
  uint64_t size;
  if (!TakeVarint(bytes, &size) || size > bytes->size()) return false;
  bytes->remove_prefix(size);
  return true;
}

// A record is a list of fields, each a tag with what belongs to it.
enum Tag : uint64_t {
  kComparator = 1,      // text
  kNextFile = 3,        // number, as all that are not here
  kCompactPointer = 5,  // level, text
  kDeletedFile = 6,     // level, number
  kNewFile = 7,         // level, number, size, two texts
};

void ReadRecord(std::string_view record, uint64_t* next_file) {
  uint64_t tag, number;
  while (TakeVarint(&record, &tag)) {
    bool good = tag == kComparator ? SkipText(&record) : TakeVarint(&record, &number);
    if (good && tag == kNextFile) *next_file = number;
    if (tag == kCompactPointer) good = good && SkipText(&record);
    if (tag == kDeletedFile || tag == kNewFile) good = good && TakeVarint(&record, &number);
    if (tag == kNewFile) good = good && TakeVarint(&record, &number) && SkipText(&record) && SkipText(&record);
    if (!good) return;
  }
}

}  // namespace

// Records lie in blocks, in pieces with a header each: checksum, length, and whether the piece begins and ends a
// record.
uint64_t NextFileOfLevelDb(const std::string& directory) {
  constexpr size_t kBlock = 32768, kHeader = 7;
  enum Piece : uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };
  std::string name = Contents(directory + "/CURRENT");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  const std::string manifest = Contents(directory + "/" + name);
  uint64_t next_file = UINT64_MAX;
  std::string record;
  for (size_t at = 0; at + kHeader <= manifest.size();) {
    const size_t left = kBlock - at % kBlock;
    if (left < kHeader) {
      at += left;
      continue;
    }
    const size_t length = ByteAt(manifest, at + 4) | size_t{ByteAt(manifest, at + 5)} << 8;
    const uint8_t piece = ByteAt(manifest, at + 6);
    at += kHeader;
    if (piece < kFull || piece > kLast || length > manifest.size() - at) break;
    if (piece == kFull || piece == kFirst) record.clear();
    record.append(manifest, at, length);
    if (piece == kFull || piece == kLast) ReadRecord(record, &next_file);
    at += length;
  }
  return next_file;
}

}  // namespace miodb::tool
