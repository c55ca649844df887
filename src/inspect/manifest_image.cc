#include "src/inspect/manifest_image.h"

#include <algorithm>

namespace miodb {

namespace {

// Adds the record, and its edit to the state.
void Take(const ManifestRecord& record, PmRef offset, ManifestImage* manifest) {
  ManifestImage::Record& r = manifest->records.emplace_back();
  r.offset = offset;
  r.bytes = ManifestRecordBytes(record.payload.size());
  r.number = record.edit_number;
  r.decoded = r.edit.DecodeFrom(record.payload);
  const std::string place = "manifest edit " + std::to_string(r.number) + " at offset " + std::to_string(offset);
  if (!r.decoded) {
    manifest->problems.push_back({place, "unknown or damaged edit"});
    return;
  }
  Status s = manifest->state.Apply(r.edit);
  if (!s.ok()) manifest->problems.push_back({place, s.ToString()});
}

}  // namespace

ManifestImage ReadManifestArea(const PoolImage& image, PmRef offset, uint64_t size, uint64_t generation) {
  ManifestImage manifest;
  manifest.offset = offset;
  manifest.size = size;
  manifest.generation = generation;
  const char* const area = image.At(offset);
  const uint64_t records_end = size - kAreaFooterBytes;
  const uint64_t seed = AreaSeed(image.secret(), generation);
  AreaFooter footer;
  manifest.has_footer = ReadAreaFooter(area + size, &footer) && footer.secret == image.secret() &&
                        footer.offset == offset && footer.size == size && footer.generation == generation;
  if (manifest.has_footer) manifest.epoch = footer.epoch;
  manifest.confirmed = ConfirmedRecords(area + size, seed);
  uint64_t next = 0;
  ManifestRecord record;
  for (uint64_t p = 0; p + kManifestRecordHeader <= records_end;) {
    if (!ReadManifestRecord(area, records_end, p, seed, &record) || record.edit_number < next) {
      p += 8;
      continue;
    }
    if (record.edit_number > next) {
      manifest.problems.push_back({"manifest at offset " + std::to_string(offset),
                                   "damaged before offset " + std::to_string(offset + p) + ": edits " +
                                       std::to_string(next) + " to " + std::to_string(record.edit_number - 1) +
                                       " are lost, later ones follow"});
    }
    Take(record, offset + p, &manifest);
    next = record.edit_number + 1;
    p += ManifestRecordBytes(record.payload.size());
  }
  if (manifest.confirmed > next) {
    manifest.problems.push_back({"manifest at offset " + std::to_string(offset),
                                 "edits " + std::to_string(next) + " to " + std::to_string(manifest.confirmed - 1) +
                                     " are lost, which were confirmed as durable"});
  } else if (next == 0) {
    manifest.problems.push_back({"manifest at offset " + std::to_string(offset), "snapshot damaged"});
  }
  return manifest;
}

std::vector<ManifestImage> FindManifestAreas(const PoolImage& image, const PoolHeader& header) {
  std::vector<ManifestImage> areas;
  for (const PoolImage::Range& range : image.DataRanges()) {
    for (PmRef end = range.begin + kExtentUnit; end <= range.end; end += kExtentUnit) {
      AreaFooter footer;
      if (!ReadAreaFooter(image.At(end), &footer) || footer.secret != image.secret() || footer.size > end ||
          footer.offset != end - footer.size || !image.IsExtent(footer.offset, footer.size) ||
          (header.has_superblock && footer.pool_id != header.pool_id)) {
        continue;
      }
      areas.push_back(ReadManifestArea(image, footer.offset, footer.size, footer.generation));
    }
  }
  std::stable_sort(areas.begin(), areas.end(), [](const ManifestImage& a, const ManifestImage& b) {
    return a.epoch != b.epoch ? a.epoch > b.epoch : a.confirmed > b.confirmed;
  });
  return areas;
}

}  // namespace miodb
