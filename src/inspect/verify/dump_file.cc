#include <algorithm>
#include <memory>
#include <vector>

#include "miodb/dumpfile.h"
#include "src/format/expiry.h"
#include "src/format/region_table.h"
#include "src/inspect/image/pool_walk.h"
#include "src/inspect/verify/verify.h"
#include "src/util/bytes/escape.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

// DumpFile: the text of a pool that is closed and whole.

namespace miodb {

namespace {

// Writes a line for each thing that the walk meets. Damage ends the walk.
class LineWriter final : public PoolVisitor {
 public:
  LineWriter(const std::string& pool, WritableFile* dst) : pool_(pool), dst_(dst) { CHECK(dst != nullptr); }

  // A text that goes on behind damage would look whole. For the rest of a damaged pool there are miodb_dump and the
  // repair.
  Status OnDamage(const std::string& place, const std::string& reason) override {
    return Status::Corruption(pool_, place + ": " + reason);
  }

  // Chunks and tables have headlines of their own, which no record's line can look like: those begin with a quote.
  Status OnChunk(const LogChunkPlace& place) override {
    return Line("--- log chunk " + std::to_string(place.id) + ": offset " + std::to_string(place.offset) + ", " +
                std::to_string(place.size) + " bytes");
  }

  // A frame's records have its sequence and those that follow it.
  Status OnFrame(PmRef, const FrameView& frame) override {
    return Line("frame: sequence " + std::to_string(frame.first_sequence) + ", " + std::to_string(frame.count) +
                " records");
  }

  Status OnTable(const TableImage& table, const TablePlace& place) override {
    const std::string level = place.level == kRepositoryLevel ? "repository" : "level " + std::to_string(place.level);
    return Line("--- table " + std::to_string(table.number()) + ": " + level + ", run " + std::to_string(place.run) +
                ", " + std::to_string(table.header().entries) + " entries");
  }

  // Where an entry's record lies is nothing that a reader of the text could use.
  Status OnEntry(uint64_t, PmRef) override { return Status::OK(); }

  // The form of LevelDB's dumps of table files: key, sequence, and what the record does to the key. Bytes that are no
  // printable ASCII are escaped, so that a line stays a line.
  Status OnRecord(const RecordView& record) override {
    const std::string key = "'" + Escaped(record.key, '\'') + "' @ " + std::to_string(record.sequence());
    if (record.type() == kTypeDeletion) return Line(key + " : del");
    if (record.type() == kTypeSingleDeletion) return Line(key + " : single del");
    if (record.type() == kTypeExpiringValue) {
      return Line(key + " : val until " + std::to_string(ExpiryOf(record.value)) + " us => '" +
                  Escaped(UserValue(record), '\'') + "'");
    }
    return Line(key + (record.type() == kTypeMerge ? " : merge => '" : " : val => '") + Escaped(record.value, '\'') +
                "'");
  }

  // Either copy will do; they differ only if one is damaged.
  Status Superblock(const PoolHeader& header) {
    CHECK(header.has_superblock);
    const PoolHeader::Copy& copy = header.copies[0].good ? header.copies[0] : header.copies[1];
    return Line("pool: format version " + std::to_string(copy.superblock.version) + ", uuid " +
                UuidText(copy.superblock.uuid) + ", created " + std::to_string(copy.superblock.created_micros) +
                " us after 1970");
  }

  // If the manifest has a problem, nobody knows whether its state is the right one.
  Status Manifest(const ManifestImage& manifest) {
    if (!manifest.problems.empty()) return Status::Corruption(pool_, manifest.problems.front().ToString());
    const ManifestState& state = manifest.state;
    return Line("manifest: comparator " + state.comparator + ", next id " + std::to_string(state.next_id) +
                ", flushed sequence " + std::to_string(state.flushed_sequence) + ", " +
                std::to_string(state.tables.size()) + " tables, " + std::to_string(state.chunks.size()) +
                " log chunks");
  }

  // Tables and log that only a savepoint has are not walked.
  Status Savepoint(const SavepointEntry& savepoint) {
    const AreaPlace& area = savepoint.area;
    Status s = Line("--- savepoint " + std::to_string(savepoint.id) + " '" + Escaped(savepoint.name, '\'') +
                    "': sequence " + std::to_string(savepoint.sequence) + ", made " + std::to_string(savepoint.micros) +
                    " us after 1970, the first " + std::to_string(area.records) + " edits at offset " +
                    std::to_string(area.offset));
    for (const ChunkPart& part : savepoint.chunks) {
      if (s.ok()) {
        s = Line("part: " + std::to_string(part.bytes) + " bytes of log chunk " + std::to_string(part.id));
      }
    }
    return s;
  }

 private:
  Status Line(const std::string& text) { return dst_->Append(text + "\n"); }

  const std::string& pool_;
  WritableFile* const dst_;
};

// Newest first, as gets look at them.
std::vector<TablePlace> NewestFirst(const ManifestState& state) {
  std::vector<TablePlace> tables;
  for (const auto& [number, place] : state.tables) tables.push_back(place);
  std::stable_sort(tables.begin(), tables.end(), [](const TablePlace& a, const TablePlace& b) {
    return a.level != b.level ? a.level < b.level : a.run > b.run;
  });
  return tables;
}

// A file that the Env has and the system has not cannot be mapped.
Status CheckFile(Env* env, const std::string& fname) {
  if (!env->FileExists(fname)) return Status::NotFound(fname, "no such file");
  if (!Env::Default()->FileExists(fname))
    return Status::NotSupported(fname, "the Env keeps it where it cannot be mapped");
  return Status::OK();
}

// The order of the text is that of the bytes' way: log chunks first, then tables as a get meets them. The text ends
// where something cannot be read, and stays as far as it was written.
Status Dump(Env* env, const std::string& fname, WritableFile* dst) {
  std::unique_ptr<PoolImage> image;
  Status s = CheckFile(env, fname);
  if (s.ok()) s = PoolImage::Open(fname, &image);
  if (s.ok()) s = CheckReadable(*image);
  if (!s.ok()) return s;
  const PoolHeader header = image->Header();
  // Without the superblock there is no secret, and nothing would check.
  if (!header.has_superblock) return Status::Corruption(fname, "no good superblock");
  LineWriter lines(fname, dst);
  PoolWalk walk(*image, &lines);
  if (!walk.has_manifest()) return Status::Corruption(fname, "no good root");
  s = lines.Superblock(header);
  if (s.ok()) s = lines.Manifest(walk.manifest());
  for (const auto& [id, savepoint] : walk.manifest().state.savepoints) {
    if (s.ok()) s = lines.Savepoint(savepoint);
  }
  if (s.ok()) s = walk.Log();
  for (const TablePlace& place : NewestFirst(walk.manifest().state)) {
    if (s.ok()) s = walk.Table(place);
  }
  return s;
}

}  // namespace

// The pool is mapped for reading and locked while it is dumped, so a database that has it open refuses the dump.
Status DumpFile(Env* env, const std::string& fname, WritableFile* dst) {
  return NoThrow(fname, [&] { return Dump(env, fname, dst); });
}

}  // namespace miodb
