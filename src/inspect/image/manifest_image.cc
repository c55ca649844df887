#include "src/inspect/image/manifest_image.h"

#include <algorithm>
#include <map>

#include "src/util/check/check.h"

// Reading manifest areas record by record. Nothing here stops at damage; a walk goes on at the next place where a
// record could begin, and what it skipped is a problem with an offset.

namespace miodb {

namespace {

// For each byte of a damaged area so many are hashed of what then turns out to be no record.
constexpr uint64_t kMostWastedPerByte = 16;

// Adds the record, and its edit to the state. An edit that the state refuses leaves the state as it was, so that those
// behind it can still be tried.
void Take(const ManifestRecord& record, PmRef offset, ManifestImage* manifest) {
  DCHECK(manifest->records.empty() || manifest->records.back().number < record.edit_number);
  ManifestImage::Record& r = manifest->records.emplace_back();
  r.offset = offset;
  r.bytes = ManifestRecordBytes(record.payload.size());
  r.number = record.edit_number;
  r.decoded = r.edit.DecodeFrom(record.payload);
  const std::string place = "manifest edit " + std::to_string(r.number) + " at offset " + std::to_string(offset);
  // An edit that this version cannot read may have done anything, so the state from here on is not the right one.
  if (!r.decoded) {
    manifest->problems.push_back({place, "unknown or damaged edit"});
    return;
  }
  Status s = manifest->state.Apply(r.edit);
  if (!s.ok()) manifest->problems.push_back({place, s.ToString()});
  if (s.ok() && !r.edit.savepoints.empty()) {
    manifest->state.PlaceSavepoints({manifest->offset, manifest->size, manifest->generation, r.number + 1});
  }
}

// The footer counts what was confirmed as durable, so that damage to the last records is told from a crash before them.
// By the same count nothing is missing where the walk gave up (unread) behind the last of them: space that was used
// before may look like edits. A savepoint needs the records that it counts, and no others.
void JudgeEnd(uint64_t next, uint64_t unread, uint64_t most, ManifestImage* manifest) {
  const std::string place = "manifest at offset " + std::to_string(manifest->offset);
  if (most < UINT64_MAX) {
    if (next == most) return;
    const std::string which = std::to_string(next) + " to " + std::to_string(most - 1);
    manifest->problems.push_back({place, "edits " + which + " are lost, which the savepoint needs"});
  } else if (manifest->confirmed > next) {
    const std::string what = unread == 0 ? " are lost, which were confirmed as durable"
                                         : " were confirmed as durable, and are lost or lie behind offset " +
                                               std::to_string(unread) + ", where too much looks like edits and is none";
    manifest->problems.push_back(
        {place, "edits " + std::to_string(next) + " to " + std::to_string(manifest->confirmed - 1) + what});
  } else if (next == 0) {
    manifest->problems.push_back({place, "snapshot damaged"});
  }
}

}  // namespace

// Records begin at multiples of 8. A record counts if it checks with the area's seed, and if the edits that would lie
// between it and the one before have had room there: so bytes of a value that look like a record cannot claim to be far
// ahead. Bytes that look like a record and do not check are hashed only up to a limit.
ManifestImage ReadManifestArea(const PoolImage& image, PmRef offset, uint64_t size, uint64_t generation,
                               uint64_t most) {
  CHECK(image.Readable(offset, size));
  CHECK_GT(size, kAreaFooterBytes);
  ManifestImage manifest;
  manifest.offset = offset;
  manifest.size = size;
  manifest.generation = generation;
  const char* const area = image.At(offset);
  const uint64_t records_end = size - kAreaFooterBytes;
  const uint64_t seed = AreaSeed(image.secret(), generation);
  AreaFooter footer;
  // The footer repeats what the root says. An area whose footer does not is read all the same, by the root's word.
  manifest.has_footer = ReadAreaFooter(area + size, &footer) && footer.secret == image.secret() &&
                        footer.offset == offset && footer.size == size && footer.generation == generation;
  if (manifest.has_footer) manifest.epoch = footer.epoch;
  manifest.confirmed = ConfirmedRecords(area + size, seed);
  uint64_t next = 0, end = 0, wasted = 0, unread = 0;  // end: of the last record
  ManifestRecord record;
  for (uint64_t p = 0; next < most && p + kManifestRecordHeader <= records_end;) {
    // The edits in between must have had room.
    DCHECK(p % 8 == 0 && end <= p);
    if (!ParseManifestRecord(area, records_end, p, &record) || record.edit_number < next ||
        record.edit_number >= most || record.edit_number - next > (p - end) / ManifestRecordBytes(1)) {
      p += 8;
      continue;
    }
    // So the walk comes to an end also in an area that is full of what looks like records.
    if (wasted > kMostWastedPerByte * size) {
      unread = offset + p;
      break;
    }
    manifest.hashed_bytes += record.payload.size();
    // A checksum over a long payload is what a made-up record costs, so bytes are counted and not records.
    if (!ManifestRecordChecks(record, seed)) {
      wasted += record.payload.size();
      p += 8;
      continue;
    }
    // Several edits that are missing are one problem: what is lost is said by their numbers.
    if (record.edit_number > next) {
      manifest.problems.push_back({"manifest at offset " + std::to_string(offset),
                                   "damaged before offset " + std::to_string(offset + p) + ": edits " +
                                       std::to_string(next) + " to " + std::to_string(record.edit_number - 1) +
                                       " are lost, later ones follow"});
    }
    Take(record, offset + p, &manifest);
    next = record.edit_number + 1;
    p += ManifestRecordBytes(record.payload.size());
    end = p;
  }
  JudgeEnd(next, unread, most, &manifest);
  return manifest;
}

namespace {

struct FoundFooter {
  AreaFooter footer;
  uint64_t confirmed;
};

// An area ends with its footer, so each place where an extent could end is looked at. A footer counts if it says the
// pool's secret and describes an extent that ends right there.
std::vector<FoundFooter> FindFooters(const PoolImage& image, const PoolHeader& header) {
  std::vector<FoundFooter> found;
  for (const PoolImage::Range& range : image.DataRanges()) {
    for (PmRef end = range.begin + kExtentUnit; end <= range.end; end += kExtentUnit) {
      AreaFooter footer;
      if (!ReadAreaFooter(image.At(end), &footer) || footer.secret != image.secret() || footer.size > end ||
          footer.offset != end - footer.size || !image.IsExtent(footer.offset, footer.size) ||
          (header.has_superblock && footer.pool_id != header.pool_id)) {
        continue;
      }
      found.push_back({footer, ConfirmedRecords(image.At(end), AreaSeed(image.secret(), footer.generation))});
    }
  }
  return found;
}

}  // namespace

// Areas are taken in the order in which they count, so where two overlap the better one is read and the other is not.
std::vector<ManifestImage> FindManifestAreas(const PoolImage& image, const PoolHeader& header) {
  std::vector<FoundFooter> found = FindFooters(image, header);
  std::stable_sort(found.begin(), found.end(), [](const FoundFooter& a, const FoundFooter& b) {
    return a.footer.epoch != b.footer.epoch ? a.footer.epoch > b.footer.epoch : a.confirmed > b.confirmed;
  });
  std::vector<ManifestImage> areas;
  std::map<PmRef, PmRef> taken;  // begin by end, which are both in order: nothing overlaps
  for (const FoundFooter& f : found) {
    const PmRef end = f.footer.offset + f.footer.size;
    const auto next = taken.upper_bound(f.footer.offset);
    if (next != taken.end() && next->second < end) continue;
    DCHECK_LT(f.footer.offset, end);
    taken.emplace(end, f.footer.offset);
    areas.push_back(ReadManifestArea(image, f.footer.offset, f.footer.size, f.footer.generation));
  }
  return areas;
}

}  // namespace miodb
