// src/format/manifest_area.h and src/inspect/image/manifest_image.h: records, footer and confirmed count of an area.

#include "src/inspect/image/manifest_image.h"
#include "tests/fuzz/fuzz.h"

namespace miodb {
namespace {

constexpr uint64_t kGeneration = 0x123456789abcdef;
constexpr uint64_t kAreaBytes = kExtentUnit;
constexpr uint64_t kSmallAreaBytes = 1024;  // as good for records, and four times as fast

// Makes the checksums of the records right that lie one behind the other.
void SealRecords(char* area, uint64_t end) {
  for (uint64_t p = 0; p + kManifestRecordHeader <= end;) {
    const uint64_t payload_size = DecodeFixed32(area + p);
    if (ManifestRecordBytes(payload_size) > end - p) return;
    EncodeFixed64(area + p + 16, ManifestRecordChecksum(kGeneration, DecodeFixed64(area + p + 8),
                                                        Slice(area + p + kManifestRecordHeader, payload_size)));
    p += ManifestRecordBytes(payload_size);
  }
}

}  // namespace
}  // namespace miodb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  const uint8_t seal = fuzz::TakeByte(&data, &size);
  // A pool of a header page and the area.
  alignas(64) static char pool[kPoolHeaderSize + kAreaBytes];
  char* const area = pool + kPoolHeaderSize;
  const uint64_t area_bytes = (seal & 2) != 0 ? kAreaBytes : kSmallAreaBytes;
  memset(area, 0, kAreaBytes);
  memcpy(area, data, std::min<size_t>(size, area_bytes));
  const uint64_t records_end = area_bytes - kAreaFooterBytes;
  if ((seal & 1) != 0) SealRecords(area, records_end);
  if ((seal & 2) != 0) {
    AreaFooter* const footer = reinterpret_cast<AreaFooter*>(area + records_end);
    footer->magic = kAreaMagic;
    footer->checksum = AreaFooterChecksum(*footer);
  }
  if ((seal & 4) != 0) EncodeFixed64(area + records_end + kConfirmedInFooter, ConfirmedWord(kGeneration, seal >> 3));
  const auto image = PoolImage::Wrap("pool", pool, sizeof(pool));
  const ManifestImage manifest = ReadManifestArea(*image, kPoolHeaderSize, area_bytes, kGeneration);
  uint64_t end = kPoolHeaderSize;
  for (const ManifestImage::Record& record : manifest.records) {
    FUZZ_CHECK(record.offset >= end && record.offset + record.bytes <= kPoolHeaderSize + records_end);
    end = record.offset + record.bytes;
  }
  FUZZ_CHECK(!manifest.problems.empty() || manifest.confirmed <= manifest.records.size());
  if ((seal & 2) == 0) return 0;
  for (const ManifestImage& found : FindManifestAreas(*image, PoolHeader{}))
    FUZZ_CHECK(found.offset == kPoolHeaderSize);
  return 0;
}
