// Shows what lies in a pool. docs/tools.md.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "pmtable/table_header.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/format/expiry.h"
#include "src/inspect/image/pool_walk.h"
#include "src/inspect/verify/verify.h"
#include "src/inspect/verify/verify_ssd.h"
#include "src/inspect/verify/verify_table.h"
#include "src/log/file_log.h"
#include "src/log/log_piece.h"
#include "src/ssd/ssd_store.h"
#include "src/util/bytes/coding.h"
#include "tools/inspect/arguments.h"

namespace miodb {
namespace {

// As format.md has them.
constexpr std::pair<TableFlags, const char*> kFlagNames[] = {
    {kTableBytewise, " bytewise"}, {kTableDuplicates, " duplicates"}, {kTableSpanning, " spanning"},
    {kTableOrdered, " ordered"},   {kTableKinds, " kinds"},           {kTableChains, " chains"},
    {kTableExpiring, " expiring"}, {kTableApart, " apart"},           {kTableLogged, " logged"}};

// Prints what the walk meets. Damage is a line, and the walk goes on.
class Dumper final : public PoolVisitor {
 public:
  Dumper(const char* program, const PoolImage& image, const DumpRequest& what)
      : program_(program), image_(image), what_(what), walk_(image, this) {}

  ExitCode Run() {
    const PoolHeader header = image_.Header();
    if (what_.header) PrintHeader(header);
    if (!(what_.manifest || what_.tables || what_.table || what_.file || what_.log))
      return damage_ ? kExitDamage : kExitOk;
    if (!walk_.has_manifest()) {
      Damage("root", "leads to no manifest");
      return kExitDamage;
    }
    const ManifestImage& manifest = walk_.manifest();
    if (what_.manifest) PrintManifest(manifest);
    if (what_.tables) PrintTables(manifest.state);
    if (what_.table) {
      const auto table = manifest.state.tables.find(*what_.table);
      if (table == manifest.state.tables.end()) {
        fprintf(stderr, "%s: the manifest names no table %" PRIu64 "; --tables shows those there are\n", program_,
                *what_.table);
        return kExitCannotRun;
      }
      walk_.Table(table->second).IgnoreError();  // it goes on at damage
    }
    if (what_.file) {
      if (manifest.state.files.count(*what_.file) == 0) {
        fprintf(stderr, "%s: the manifest names no table file %" PRIu64 "; --tables shows those there are\n", program_,
                *what_.file);
        return kExitCannotRun;
      }
      PrintFile(what_.ssd + "/" + SsdStore::TableName(*what_.file));
    }
    if (what_.log) walk_.Log().IgnoreError();  // the same
    if (what_.log && !what_.wal.empty()) PrintLogFiles();
    return damage_ ? kExitDamage : kExitOk;
  }

 private:
  void Damage(const std::string& place, const std::string& reason) {
    damage_ = true;
    printf("%sDAMAGE %s: %s\n", in_line_ ? "\n" : "", place.c_str(), reason.c_str());
    in_line_ = false;
  }

  Status OnDamage(const std::string& place, const std::string& reason) override {
    Damage(place, reason);
    return Status::OK();
  }
  Status OnChunk(const LogChunkPlace& place) override;
  Status OnFrame(PmRef at, const FrameView& frame) override;
  Status OnTable(const TableImage&, const TablePlace&) override { return Status::OK(); }
  Status OnEntry(uint64_t number, PmRef record) override;
  Status OnRecord(const RecordView& record) override {
    if (!in_line_) printf("    ");
    PrintRecord(record);
    in_line_ = false;
    return Status::OK();
  }

  void PrintHeader(const PoolHeader& header);
  void PrintManifest(const ManifestImage& manifest);
  static void PrintRange(const char* indent, const RangePlace& place);
  static void PrintPayload(const char* indent, const PayloadPlace& place);
  static void PrintSavepoint(const char* indent, const SavepointEntry& savepoint);
  static void PrintKept(const char* indent, const KeptChunk& chunk);
  void PrintEdit(const VersionEdit& edit);
  void PrintTables(const ManifestState& state);
  void PrintFile(const std::string& name);
  void PrintLogFiles();
  void PrintRecord(const RecordView& record);

  const char* const program_;
  const PoolImage& image_;
  const DumpRequest what_;
  PoolWalk walk_;
  bool damage_ = false;
  bool in_line_ = false;  // the number of an entry is printed, its record is not
};

void Dumper::PrintHeader(const PoolHeader& header) {
  for (int copy = 0; copy < kSuperblockCopies; copy++) {
    const std::string place = "superblock at offset " + std::to_string(SuperblockOffset(copy));
    if (!header.copies[copy].good) {
      Damage(place, "checksum mismatch");
      continue;
    }
    const Superblock& s = header.copies[copy].superblock;
    printf("%s: version %" PRIu32 " uuid ", place.c_str(), s.version);
    for (const uint8_t byte : s.uuid) printf("%02x", byte);
    printf(" created_micros %" PRIu64 "\n", s.created_micros);
  }
  std::vector<RegionEntry> entries;
  Status s;
  if (header.has_superblock) s = ReadRegionTable(image_.At(0), header.pool_id, "", &entries);
  if (!s.ok()) Damage("regions", s.ToString());
  for (const RegionEntry& entry : entries) {
    printf("region %" PRIu64 ": uuid %s base %" PRIu64 " range %" PRIu64 "\n", entry.ordinal,
           UuidText(entry.uuid).c_str(), entry.base, entry.range);
  }
  for (const std::string& missing : image_.missing()) Damage("region", missing);
  for (const auto& slot : header.roots) {
    for (const PoolHeader::Root& root : slot) {
      const std::string place = "root at offset " + std::to_string(root.offset);
      if (root.good) {
        printf("%s: epoch %" PRIu64 " manifest_offset %" PRIu64 " manifest_size %" PRIu64 " generation %016" PRIx64
               "%s\n",
               place.c_str(), root.slot.epoch, root.slot.manifest_offset, root.slot.manifest_size, root.slot.generation,
               root.slot.epoch == header.current.epoch ? " current" : "");
      } else if (root.blank) {
        printf("%s: blank\n", place.c_str());
      } else {
        Damage(place, "checksum mismatch");
      }
    }
  }
}

void Dumper::PrintManifest(const ManifestImage& manifest) {
  printf("manifest at offset %" PRIu64 ": size %" PRIu64 " epoch %" PRIu64 " records %zu confirmed %" PRIu64 "\n",
         manifest.offset, manifest.size, manifest.epoch, manifest.records.size(), manifest.confirmed);
  for (const ManifestImage::Record& record : manifest.records) {
    printf("edit %" PRIu64 " at offset %" PRIu64 ": bytes %" PRIu64 "\n", record.number, record.offset, record.bytes);
    if (record.decoded) PrintEdit(record.edit);
  }
  for (const Problem& problem : manifest.problems) Damage(problem.place, problem.reason);
  if (!manifest.has_footer) Damage("manifest at offset " + std::to_string(manifest.offset), "footer damaged");
}

void Dumper::PrintEdit(const VersionEdit& edit) {
  if (edit.has_comparator) printf("  comparator %s\n", PrintableKey(edit.comparator, SIZE_MAX).c_str());
  if (edit.has_next_id) printf("  next_id %" PRIu64 "\n", edit.next_id);
  if (edit.has_flushed_sequence) printf("  flushed_sequence %" PRIu64 "\n", edit.flushed_sequence);
  if (edit.next_family > 0) printf("  next_family %" PRIu64 "\n", edit.next_family);
  for (const uint64_t id : edit.removed_families) printf("  removed_family %" PRIu64 "\n", id);
  for (const FamilyEntry& family : edit.families) {
    printf("  family %" PRIu64 " %s\n", family.id,
           family.dropped() ? "dropped" : PrintableKey(family.name, SIZE_MAX).c_str());
  }
  for (const uint64_t number : edit.removed_tables) printf("  removed_table %" PRIu64 "\n", number);
  for (const TablePlace& t : edit.tables) {
    printf("  table %" PRIu64 " level %" PRIu32 " run %" PRIu64 " index_offset %" PRIu64 " index_size %" PRIu64 "\n",
           t.number, t.level, t.run, t.index_offset, t.index_size);
  }
  for (const uint64_t number : edit.removed_files) printf("  removed_file %" PRIu64 "\n", number);
  for (const SstPlace& f : edit.files) {
    printf("  file %" PRIu64 " level %" PRIu32 " size %" PRIu64 "\n", f.meta->number, f.level, f.meta->size);
  }
  for (const uint64_t id : edit.removed_ranges) printf("  removed_range %" PRIu64 "\n", id);
  for (const RangePlace& r : edit.ranges) PrintRange("  ", r);
  for (const uint64_t id : edit.removed_chunks) printf("  removed_log_chunk %" PRIu64 "\n", id);
  for (const LogChunkPlace& c : edit.chunks) {
    printf("  log_chunk %" PRIu64 " offset %" PRIu64 " size %" PRIu64, c.id, c.offset, c.size);
    if (c.sealed) printf(" sealed_size %" PRIu64, c.sealed_size);
    printf("\n");
  }
  for (const uint64_t id : edit.removed_savepoints) printf("  removed_savepoint %" PRIu64 "\n", id);
  for (const SavepointEntry& savepoint : edit.savepoints) PrintSavepoint("  ", savepoint);
  for (const uint64_t id : edit.removed_kept) printf("  removed_kept_chunk %" PRIu64 "\n", id);
  for (const KeptChunk& chunk : edit.kept) PrintKept("  ", chunk);
  for (const PayloadPlace& place : edit.payload) PrintPayload("  ", place);
  for (const PayloadDrop& drop : edit.dropped) {
    printf("  dropped_payload offset %" PRIu64 " bytes %" PRIu64 "\n", drop.offset, drop.bytes);
  }
}

void Dumper::PrintKept(const char* indent, const KeptChunk& chunk) {
  printf("%skept_chunk %" PRIu64 " offset %" PRIu64 " bytes %" PRIu64 " @ %" PRIu64 " to %" PRIu64 "\n", indent,
         chunk.id, chunk.offset, chunk.bytes, chunk.first_sequence, chunk.last_sequence);
}

// A savepoint that an edit names for the first time has no area: its state is that of the records up to and with that
// edit.
void Dumper::PrintSavepoint(const char* indent, const SavepointEntry& savepoint) {
  printf("%ssavepoint %" PRIu64 " %s @ %" PRIu64 " made_micros %" PRIu64, indent, savepoint.id,
         PrintableKey(savepoint.name, SIZE_MAX).c_str(), savepoint.sequence, savepoint.micros);
  const AreaPlace& area = savepoint.area;
  if (area.records > 0) {
    printf(" area_offset %" PRIu64 " area_size %" PRIu64 " generation %016" PRIx64 " records %" PRIu64, area.offset,
           area.size, area.generation, area.records);
  }
  printf("\n");
  for (const ChunkPart& part : savepoint.chunks) {
    printf("%s  part of log_chunk %" PRIu64 " bytes %" PRIu64 "\n", indent, part.id, part.bytes);
  }
}

void Dumper::PrintRange(const char* indent, const RangePlace& place) {
  printf("%srange %" PRIu64 " @ %" PRIu64 " %s to %s\n", indent, place.id, place.range.sequence,
         PrintableKey(place.range.begin).c_str(), PrintableKey(place.range.end).c_str());
}

void Dumper::PrintPayload(const char* indent, const PayloadPlace& place) {
  printf("%spayload offset %" PRIu64 " size %" PRIu64 " kind %s payload_bytes %" PRIu64 " live_bytes %" PRIu64 "\n",
         indent, place.offset, place.size, place.kind == ExtentKind::kLog ? "log" : "settled", place.payload_bytes,
         place.live_bytes);
}

void Dumper::PrintTables(const ManifestState& state) {
  for (const auto& [id, savepoint] : state.savepoints) PrintSavepoint("", savepoint);
  for (const auto& [id, chunk] : state.kept.by_id) PrintKept("", chunk);
  for (const auto& [id, place] : state.ranges) PrintRange("", place);
  for (const auto& [offset, place] : state.payload) PrintPayload("", place);
  for (const auto& [number, place] : state.files) {
    const SstMeta& m = *place.meta;
    printf("file %" PRIu64 ": level %" PRIu32 " size %" PRIu64 " entries %" PRIu64 " tombstones %" PRIu64
           " fingerprint %016" PRIx64 " %s\n",
           number, place.level, m.size, m.entries, m.tombstones, m.fingerprint,
           m.has_range ? (PrintableKey(m.smallest) + " to " + PrintableKey(m.largest)).c_str() : "long keys");
  }
  for (const auto& [number, place] : state.tables) {
    printf("table %" PRIu64 ": level %" PRIu32 " run %" PRIu64 " index_offset %" PRIu64 " index_size %" PRIu64, number,
           place.level, place.run, place.index_offset, place.index_size);
    if (!image_.IsExtent(place.index_offset, place.index_size)) {
      printf("\n");
      Damage("table " + std::to_string(number), "lies outside of the pool");
      continue;
    }
    TableHeader h;
    if (!ReadTableHeader(image_.At(place.index_offset), image_.secret(), &h)) {
      printf("\n");
      Damage("table " + std::to_string(number), "header checksum mismatch");
      continue;
    }
    printf(" entries %" PRIu64 " tombstones %" PRIu64 " leaves %" PRIu64 " inner %" PRIu64 " sequences %" PRIu64
           " to %" PRIu64 " payload_bytes %" PRIu64,
           h.entries, h.tombstones, h.leaf_count, h.inner_count, h.min_sequence, h.max_sequence, h.payload_bytes);
    for (const auto& [flag, name] : kFlagNames) printf("%s", (h.flags & flag) != 0 ? name : "");
    printf("\n");
  }
}

Status Dumper::OnEntry(uint64_t number, PmRef record) {
  printf("%" PRIu64 " ref %" PRIu64 " ", number, record);
  in_line_ = true;
  return Status::OK();
}

void Dumper::PrintFile(const std::string& name) {
  uint64_t i = 0;
  Status s = WalkTableFile(Env::Default(), name, walk_.order(), [&](const Slice& key, const Slice& value) {
    RecordView record;
    record.tag = TagOf(key);
    record.key = UserKeyOf(key);
    record.value = value;
    printf("%" PRIu64 " ", i++);
    PrintRecord(record);
  });
  if (!s.ok()) Damage(name, s.ToString());
}

Status Dumper::OnChunk(const LogChunkPlace& place) {
  printf("%s: size %" PRIu64, ChunkName(place).c_str(), place.size);
  if (place.sealed) printf(" sealed_size %" PRIu64, place.sealed_size);
  printf("\n");
  return Status::OK();
}

Status Dumper::OnFrame(PmRef at, const FrameView& frame) {
  printf("  frame at offset %" PRIu64 ": sequence %" PRIu64 " records %" PRIu64 " bytes %" PRIu64 "\n", at,
         frame.first_sequence, frame.count, static_cast<uint64_t>(frame.end - frame.begin));
  return Status::OK();
}

void Dumper::PrintLogFiles() {
  std::vector<LogFile> files;
  Status s = FileLog::List(Env::Default(), what_.wal, &files);
  if (!s.ok()) Damage(what_.wal, s.ToString());
  for (const LogFile& file : files) {
    LogPiece piece;
    piece.file = file;
    piece.name = what_.wal + "/" + file.name();
    printf("log file %s: block_size %zu\n", piece.name.c_str(), file.block_size);
    const auto print = [this](const Slice& batch) {
      RecordView record;
      uint64_t sequence = DecodeFixed64(batch.data());
      printf("  batch: sequence %" PRIu64 " records %" PRIu32 " bytes %zu\n", sequence, DecodeFixed32(batch.data() + 8),
             batch.size());
      BatchReader reader(batch);
      for (uint8_t type; reader.Next(&type, &record.key, &record.value); sequence++) {
        record.tag = PackTag(sequence, static_cast<ValueType>(type));
        printf("    ");
        PrintRecord(record);
      }
      return Status::OK();
    };
    s = ReadLogFile(Env::Default(), what_.wal, 0, print, &piece);
    if (!s.ok()) Damage(piece.name, s.ToString());
    for (const Problem& hole : piece.holes) Damage(hole.place, hole.reason);
    if (piece.has_unknown_batch) Damage(piece.End(), kUnknownBatch);
  }
}

void Dumper::PrintRecord(const RecordView& record) {
  const std::string key = PrintableKey(record.key, SIZE_MAX);
  if (record.type() == kTypeRangeDeletion) {
    printf("%s @ %" PRIu64 " deletion up to %s\n", key.c_str(), record.sequence(),
           PrintableKey(record.value, SIZE_MAX).c_str());
    return;
  }
  const char* const kind = record.type() == kTypeDeletion         ? "deletion"
                           : record.type() == kTypeSingleDeletion ? "single deletion"
                           : record.type() == kTypeMerge          ? "operand"
                           : record.type() == kTypeExpiringValue  ? "expiring value"
                                                                  : "value";
  printf("%s @ %" PRIu64 " %s", key.c_str(), record.sequence(), kind);
  if (IsTombstone(record.type())) {
    printf("\n");
    return;
  }
  const bool expires = record.type() == kTypeExpiringValue;
  const Slice value = expires ? UserValue(record) : record.value;
  if (what_.values) {
    printf(" %s", PrintableKey(value, SIZE_MAX).c_str());
  } else {
    printf(" of %zu bytes", value.size());
  }
  if (expires) printf(" until %" PRIu64 " us", ExpiryOf(record.value));
  printf("\n");
}

}  // namespace

ExitCode DumpDatabase(const char* program, const DumpRequest& request) {
  DumpRequest what = request;
  if (!(what.header || what.manifest || what.tables || what.table || what.file || what.log)) {
    what.header = what.manifest = what.tables = what.log = true;
  }
  uint64_t log_id;
  ExitCode code;
  if (!FindLogFolder(program, what.path, what.wal, &what.wal, &log_id, &code)) return code;
  std::unique_ptr<PoolImage> image;
  if (!OpenImage(program, what.path, what.regions, &image, &code)) return code;
  return Dumper(program, *image, what).Run();
}

}  // namespace miodb
