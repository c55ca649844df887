#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "miodb/comparator.h"
#include "miodb/dumpfile.h"
#include "src/format/region_table.h"
#include "src/inspect/log_image.h"
#include "src/inspect/manifest_image.h"
#include "src/inspect/table_image.h"
#include "src/inspect/unknown_order.h"
#include "src/inspect/verify.h"
#include "src/log/frame_reader.h"
#include "src/util/escape.h"
#include "src/util/no_throw.h"

namespace miodb {

namespace {

// Writes lines until one fails.
class Printer {
 public:
  explicit Printer(WritableFile* dst) : dst_(dst) {}

  Status Line(const std::string& text) { return dst_->Append(text + "\n"); }

  Status Record(const RecordView& record) {
    std::string line = "'" + Escaped(record.key, '\'') + "' @ " + std::to_string(record.sequence());
    if (record.type() == kTypeDeletion) {
      line += " : del";
    } else {
      line += " : val => '" + Escaped(record.value, '\'') + "'";
    }
    return Line(line);
  }

 private:
  WritableFile* const dst_;
};

Status DumpSuperblock(const Superblock& superblock, Printer* out) {
  return out->Line("pool: format version " + std::to_string(superblock.version) + ", uuid " +
                   UuidText(superblock.uuid) + ", created " + std::to_string(superblock.created_micros) +
                   " us after 1970");
}

Status DumpManifest(const ManifestState& state, Printer* out) {
  return out->Line("manifest: comparator " + state.comparator + ", next id " + std::to_string(state.next_id) +
                   ", flushed sequence " + std::to_string(state.flushed_sequence) + ", " +
                   std::to_string(state.tables.size()) + " tables, " + std::to_string(state.chunks.size()) +
                   " log chunks");
}

Status DumpChunk(const PoolImage& image, const LogChunkPlace& place, Printer* out) {
  Status s = out->Line("--- log chunk " + std::to_string(place.id) + ": offset " + std::to_string(place.offset) + ", " +
                       std::to_string(place.size) + " bytes");
  const uint64_t used = place.sealed ? place.sealed_size : place.size;
  if (!image.IsExtent(place.offset, place.size) || used > place.size) {
    return Status::Corruption(image.path(), ChunkName(place) + " lies outside of the pool");
  }
  const char* p = image.At(place.offset);
  const char* const end = p + used;
  FrameView frame;
  while (s.ok() && p < end && ReadFrame(p, end, image.secret(), place.id, &frame)) {
    s = out->Line("frame: sequence " + std::to_string(frame.first_sequence) + ", " + std::to_string(frame.count) +
                  " records");
    RecordView record;
    for (const char* r = frame.body; s.ok() && r < frame.end && ParseRecord(r, frame.end, &record);
         r += record.size()) {
      s = out->Record(record);
    }
    p = frame.end;
  }
  return s;
}

Status DumpTable(const PoolImage& image, const KeyOrder& order, const TablePlace& place, Printer* out) {
  if (!image.IsExtent(place.index_offset, place.index_size)) {
    return Status::Corruption(image.path(), "table " + std::to_string(place.number) + " lies outside of the pool");
  }
  const TableImage table(&image, order, place.index_offset, place.index_size, place.number);
  if (!table.header_problem().empty()) {
    return Status::Corruption(image.path(), table.Name() + ": " + table.header_problem());
  }
  const std::string level = place.level == kRepositoryLevel ? "repository" : "level " + std::to_string(place.level);
  Status s = out->Line("--- table " + std::to_string(table.number()) + ": " + level + ", run " +
                       std::to_string(place.run) + ", " + std::to_string(table.header().entries) + " entries");
  for (uint64_t i = 0; s.ok() && i < table.leaf_slots(); i++) {
    const std::string where = table.Name() + ", leaf " + std::to_string(i) + ": ";
    const std::string damage = table.LeafProblem(i);
    if (!damage.empty()) return Status::Corruption(image.path(), where + damage);
    const LeafNode& leaf = table.Leaf(i);
    for (int j = 0; s.ok() && j < leaf.header.count; j++) {
      RecordView record;
      const std::string problem = table.ReadEntry(leaf, j, &record);
      s = problem.empty() ? out->Record(record) : Status::Corruption(image.path(), where + problem);
    }
  }
  return s;
}

// A file that the Env has and the system has not cannot be mapped.
Status CheckFile(Env* env, const std::string& fname) {
  if (!env->FileExists(fname)) return Status::NotFound(fname, "no such file");
  if (!Env::Default()->FileExists(fname))
    return Status::NotSupported(fname, "the Env keeps it where it cannot be mapped");
  return Status::OK();
}

Status Dump(Env* env, const std::string& fname, WritableFile* dst) {
  std::unique_ptr<PoolImage> image;
  Status s = CheckFile(env, fname);
  if (s.ok()) s = PoolImage::Open(fname, &image);
  if (s.ok()) s = CheckReadable(*image);
  if (!s.ok()) return s;
  const PoolHeader header = image->Header();
  const RootSlot& root = header.current;
  if (!header.has_superblock) return Status::Corruption(fname, "no good superblock");
  if (!image->IsExtent(root.manifest_offset, root.manifest_size)) return Status::Corruption(fname, "no good root");
  Printer out(dst);
  const PoolHeader::Copy& copy = header.copies[0].good ? header.copies[0] : header.copies[1];
  s = DumpSuperblock(copy.superblock, &out);
  const ManifestImage manifest = ReadManifestArea(*image, root.manifest_offset, root.manifest_size, root.generation);
  if (s.ok() && !manifest.problems.empty()) s = Status::Corruption(fname, manifest.problems.front().ToString());
  const ManifestState& state = manifest.state;
  if (s.ok()) s = DumpManifest(state, &out);
  for (const auto& [id, place] : state.chunks) {
    if (s.ok()) s = DumpChunk(*image, place, &out);
  }
  // Newest first, as gets look at them.
  std::vector<TablePlace> tables;
  for (const auto& [number, place] : state.tables) tables.push_back(place);
  std::stable_sort(tables.begin(), tables.end(), [](const TablePlace& a, const TablePlace& b) {
    return a.level != b.level ? a.level < b.level : a.run > b.run;
  });
  const UnknownOrder unknown;
  const KeyOrder order(state.comparator == BytewiseComparator()->Name() ? BytewiseComparator() : &unknown);
  for (const TablePlace& place : tables) {
    if (s.ok()) s = DumpTable(*image, order, place, &out);
  }
  return s;
}

}  // namespace

Status DumpFile(Env* env, const std::string& fname, WritableFile* dst) {
  return NoThrow(fname, [&] { return Dump(env, fname, dst); });
}

}  // namespace miodb
