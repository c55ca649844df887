// Files of all kinds but pools (hostile_pool.cc): changes go through their frames.

#include "tests/faults/hostile_bytes.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "src/format/record.h"
#include "src/format/sealed.h"
#include "src/log/file_log_format.h"
#include "src/ssd/block.h"
#include "src/ssd/table_format.h"
#include "src/util/bytes/crc32c.h"

namespace miodb::test {

uint64_t EdgeNumber(Random* random, uint64_t usual) {
  static constexpr uint64_t kNumbers[] = {0,
                                          1,
                                          2,
                                          7,
                                          127,
                                          128,
                                          255,
                                          4095,
                                          4096,
                                          65535,
                                          1 << 20,
                                          UINT32_MAX,
                                          uint64_t{1} << 40,
                                          kMaxSequence / 2,
                                          kMaxSequence,
                                          UINT64_MAX / 4,
                                          UINT64_MAX / 2,
                                          uint64_t{1} << 63,
                                          UINT64_MAX - 4095,
                                          UINT64_MAX};
  return random->OneIn(3) ? usual : kNumbers[random->Uniform(std::size(kNumbers))];
}

namespace {

// A place that is likely to mean something: not in the midst of zeros.
size_t Place(const std::string& bytes, Random* random) {
  size_t at = random->Uniform(bytes.size());
  for (int i = 0; i < 50 && bytes[at] == '\0'; i++) at = random->Uniform(bytes.size());
  return random->OneIn(2) ? at : at / 8 * 8;
}

std::string Number(Random* random, size_t size) {
  const uint64_t number = EdgeNumber(random, size);
  return std::string(reinterpret_cast<const char*>(&number), random->OneIn(2) ? 4 : 8);
}

void Overwrite(std::string* bytes, size_t at, const std::string& with) {
  bytes->replace(at, std::min(with.size(), bytes->size() - at), with.substr(0, bytes->size() - at));
}

// A data block, with its checksum. The index and the footer are what the manifest knows the file by.
std::string ChangeBlock(std::string* bytes, Random* random) {
  Footer footer;
  if (bytes->size() < kFooterBytes || !footer.DecodeFrom(Slice(&(*bytes)[bytes->size() - kFooterBytes], kFooterBytes)))
    return "";
  const auto inside = [&](const BlockHandle& h) {
    return h.offset <= bytes->size() && h.size + kBlockTrailerBytes <= bytes->size() - h.offset;
  };
  if (!inside(footer.index)) return "";
  const Block index(bytes->substr(footer.index.offset, footer.index.size));
  const SstSource source{nullptr, "index", bytes->size()};
  BlockIterator it(BytewiseComparator());
  it.Enter(&index, &source, footer.index.offset);
  std::vector<BlockHandle> handles;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    Slice value = it.value();
    BlockHandle handle;
    if (handle.DecodeFrom(&value) && handle.size > 0 && handle.size < bytes->size() && inside(handle)) {
      handles.push_back(handle);
    }
  }
  if (handles.empty()) return "";
  const BlockHandle& handle = handles[random->Uniform(handles.size())];
  char* const block = &(*bytes)[handle.offset];
  ChangeStretch(block, handle.size, random);
  EncodeFixed32(block + handle.size + 1, MaskedCrc(Crc32c(block, handle.size + 1)));
  return "a block";
}

// The payload of a fragment, with its checksum.
std::string ChangeFragment(std::string* bytes, Random* random) {
  std::vector<size_t> fragments;
  for (size_t at = 0; at + kFragmentHeaderBytes < bytes->size();) {
    const size_t length = static_cast<uint8_t>((*bytes)[at + 4]) + 256u * static_cast<uint8_t>((*bytes)[at + 5]);
    if (length == 0 || at + kFragmentHeaderBytes + length > bytes->size()) break;
    fragments.push_back(at);
    at += kFragmentHeaderBytes + length;
  }
  if (fragments.empty()) return "";
  char* const p = &(*bytes)[fragments[random->Uniform(fragments.size())]];
  const size_t length = static_cast<uint8_t>(p[4]) + 256u * static_cast<uint8_t>(p[5]);
  ChangeStretch(p + kFragmentHeaderBytes, length, random);
  EncodeFixed32(p, MaskedCrc(Crc32c(p + 6, length + 1)));
  return "a fragment";
}

std::string ChangeSealed(std::string* bytes, Random* random) {
  if (bytes->size() <= kSealBytes) return "";
  char* const content = &(*bytes)[kSealBytes];
  const size_t size = bytes->size() - kSealBytes;
  ChangeStretch(content, size, random);
  EncodeFixed32(content - sizeof(uint32_t), MaskedCrc(Crc32c(content, size)));
  return "what is sealed";
}

}  // namespace

void ChangeStretch(char* bytes, size_t size, Random* random) {
  for (uint64_t n = 1 + random->Uniform(3); n > 0; n--) {
    char* const at = bytes + random->Uniform(size);
    switch (random->Uniform(4)) {
      case 0:
        *at = static_cast<char>(*at ^ (1 << random->Uniform(8)));
        break;
      case 1:
        *at = static_cast<char>(random->OneIn(2) ? random->Uniform(3) : 0xff - random->Uniform(3));
        break;
      case 2: {
        const std::string number = Number(random, size);
        memcpy(at, number.data(), std::min<size_t>(number.size(), static_cast<size_t>(bytes + size - at)));
        break;
      }
      default:
        *at = bytes[random->Uniform(size)];
    }
  }
}

void ChangeBlindly(std::string* bytes, Random* random) {
  if (bytes->empty()) return;
  const size_t at = Place(*bytes, random);
  switch (random->Uniform(8)) {
    case 0:
    case 1:
      (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << random->Uniform(8)));
      break;
    case 2:
      Overwrite(bytes, at, random->Bytes(1 + random->Uniform(64)));
      break;
    case 3:
      Overwrite(bytes, at, Number(random, bytes->size()));
      break;
    case 4:
      Overwrite(bytes, at / 4096 * 4096, std::string(4096, '\0'));
      break;
    case 5:
      Overwrite(bytes, at / 64 * 64, bytes->substr(Place(*bytes, random) / 64 * 64, 64 << random->Uniform(7)));
      break;
    case 6:
      bytes->resize(random->OneIn(2) ? at : at / 4096 * 4096);
      break;
    case 7:
      bytes->append(random->OneIn(2) ? random->Bytes(random->Uniform(10000)) : std::string(4096, '\0'));
      break;
  }
}

std::string ChangeKnowingly(const std::string& file, std::string* bytes, Random* random) {
  if (file.ends_with("/pool")) return ChangePool(bytes, random);
  if (file.ends_with(".sst")) return ChangeBlock(bytes, random);
  if (file.ends_with(".log")) return ChangeFragment(bytes, random);
  return ChangeSealed(bytes, random);
}

}  // namespace miodb::test
