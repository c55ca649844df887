// miodb_dump: shows what lies in a pool. docs/tools.md.

#include <getopt.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "src/api/write_batch_internal.h"
#include "src/format/expiry.h"
#include "src/inspect/pool_walk.h"
#include "src/inspect/verify.h"
#include "src/inspect/verify_ssd.h"
#include "src/inspect/verify_table.h"
#include "src/log/file_log.h"
#include "src/log/log_piece.h"
#include "src/ssd/ssd_store.h"
#include "src/util/coding.h"
#include "tools/inspect/arguments.h"

namespace miodb {
namespace {

constexpr char kUsage[] =
    "Usage: miodb_dump [--header] [--manifest] [--tables] [--table=N] [--log] [--values]\n"
    "                  [--ssd=DIRECTORY --file=N] [--wal=DIRECTORY] [--region=PATH]... PATH\n"
    "\n"
    "Shows what lies in the pool of a database that nobody has open. Changes nothing. PATH is the database's "
    "directory,\n"
    "or its pool file. Without any of the first six all but the entries of tables is shown.\n"
    "\n"
    "  --header     superblocks, roots and regions\n"
    "  --manifest   the edits in the current manifest area\n"
    "  --tables     the tables and table files that they lead to\n"
    "  --table=N    the entries of table N\n"
    "  --file=N     the entries of table file N in the directory of the SSD tier (ssd_path), given with --ssd\n"
    "  --log        the frames of all log chunks and the batches of all log files, and their records\n"
    "  --values     with records, their values too\n"
    "  --wal=DIRECTORY  of the log files (wal_dir), if they are not where they were when it was last open\n"
    "  --region=PATH  a further region of the pool, if it is not where it was when the database was last open\n"
    "  --help       print this\n"
    "\n"
    "Keys are in double quotes; bytes that are not printable show as \\xNN.\n"
    "Exit code: 0, 1 if damage was met, 2 cannot be shown (usage, no such file or table, open elsewhere, another\n"
    "version).\n";

// Prints what the walk meets. Damage is a line, and the walk goes on.
class Dumper final : public PoolVisitor {
 public:
  struct What {
    bool header = false;
    bool manifest = false;
    bool tables = false;
    bool log = false;
    bool values = false;
    bool table = false;
    uint64_t number = 0;
    std::string ssd;
    std::string wal;
    bool file = false;
    uint64_t file_number = 0;
  };

  Dumper(const PoolImage& image, const What& what) : image_(image), what_(what), walk_(image, this) {}

  int Run() {
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
      const auto table = manifest.state.tables.find(what_.number);
      if (table == manifest.state.tables.end()) {
        fprintf(stderr, "miodb_dump: the manifest names no table %" PRIu64 "\n", what_.number);
        return kExitCannotRun;
      }
      walk_.Table(table->second).IgnoreError();  // it goes on at damage
    }
    if (what_.file) {
      if (manifest.state.files.count(what_.file_number) == 0) {
        fprintf(stderr, "miodb_dump: the manifest names no table file %" PRIu64 "\n", what_.file_number);
        return kExitCannotRun;
      }
      PrintFile(what_.ssd + "/" + SsdStore::TableName(what_.file_number));
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
  void PrintEdit(const VersionEdit& edit);
  void PrintTables(const ManifestState& state);
  void PrintFile(const std::string& name);
  void PrintLogFiles();
  void PrintRecord(const RecordView& record);

  const PoolImage& image_;
  const What what_;
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
  for (const uint64_t number : edit.removed_tables) printf("  removed_table %" PRIu64 "\n", number);
  for (const TablePlace& t : edit.tables) {
    printf("  table %" PRIu64 " level %" PRIu32 " run %" PRIu64 " index_offset %" PRIu64 " index_size %" PRIu64 "\n",
           t.number, t.level, t.run, t.index_offset, t.index_size);
  }
  for (const uint64_t number : edit.removed_files) printf("  removed_file %" PRIu64 "\n", number);
  for (const SstPlace& f : edit.files) {
    printf("  file %" PRIu64 " level %" PRIu32 " size %" PRIu64 "\n", f.meta->number, f.level, f.meta->size);
  }
  for (const uint64_t id : edit.removed_chunks) printf("  removed_log_chunk %" PRIu64 "\n", id);
  for (const LogChunkPlace& c : edit.chunks) {
    printf("  log_chunk %" PRIu64 " offset %" PRIu64 " size %" PRIu64, c.id, c.offset, c.size);
    if (c.sealed) printf(" sealed_size %" PRIu64, c.sealed_size);
    printf("\n");
  }
}

void Dumper::PrintTables(const ManifestState& state) {
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
           " to %" PRIu64 "%s%s%s%s%s%s\n",
           h.entries, h.tombstones, h.leaf_count, h.inner_count, h.min_sequence, h.max_sequence,
           (h.flags & kTableBytewise) != 0 ? " bytewise" : "", (h.flags & kTableDuplicates) != 0 ? " duplicates" : "",
           (h.flags & kTableSpanning) != 0 ? " spanning" : "", (h.flags & kTableOrdered) != 0 ? " ordered" : "",
           (h.flags & kTableKinds) != 0 ? " kinds" : "", (h.flags & kTableChains) != 0 ? " chains" : "");
    TableMeta meta;
    if (h.meta_offset > place.index_size || h.meta_size > place.index_size - h.meta_offset ||
        !meta.DecodeFrom(Slice(image_.At(place.index_offset) + h.meta_offset, h.meta_size))) {
      Damage("table " + std::to_string(number), "meta block damaged");
      continue;
    }
    for (const PayloadMeta& p : meta.payload) {
      printf("  payload offset %" PRIu64 " size %" PRIu64 " kind %s payload_bytes %" PRIu64 " live_bytes %" PRIu64 "\n",
             p.offset, p.size, p.kind == ExtentKind::kLog ? "log" : "settled", p.payload_bytes, p.live_bytes);
    }
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
  }
}

void Dumper::PrintRecord(const RecordView& record) {
  const std::string key = PrintableKey(record.key, SIZE_MAX);
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

int Main(int argc, char** argv) {
  enum { kHeader, kManifest, kTables, kTable, kSsd, kFile, kLog, kValues, kWal, kRegion, kHelp };
  const option options[] = {{"header", no_argument, nullptr, kHeader}, {"manifest", no_argument, nullptr, kManifest},
                            {"tables", no_argument, nullptr, kTables}, {"table", required_argument, nullptr, kTable},
                            {"ssd", required_argument, nullptr, kSsd}, {"file", required_argument, nullptr, kFile},
                            {"log", no_argument, nullptr, kLog},       {"values", no_argument, nullptr, kValues},
                            {"wal", required_argument, nullptr, kWal}, {"region", required_argument, nullptr, kRegion},
                            {"help", no_argument, nullptr, kHelp},     {nullptr, 0, nullptr, 0}};
  std::vector<std::string> regions;
  Dumper::What what;
  bool bad = false;
  for (int c; (c = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
    char* end = nullptr;
    switch (c) {
      case kHeader:
        what.header = true;
        break;
      case kManifest:
        what.manifest = true;
        break;
      case kTables:
        what.tables = true;
        break;
      case kTable:
        what.table = true;
        what.number = strtoull(optarg, &end, 10);
        bad = bad || *optarg < '0' || *optarg > '9' || *end != '\0';
        break;
      case kSsd:
        what.ssd = optarg;
        break;
      case kFile:
        what.file = true;
        what.file_number = strtoull(optarg, &end, 10);
        bad = bad || *optarg < '0' || *optarg > '9' || *end != '\0';
        break;
      case kLog:
        what.log = true;
        break;
      case kValues:
        what.values = true;
        break;
      case kWal:
        what.wal = optarg;
        break;
      case kRegion:
        regions.emplace_back(optarg);
        break;
      case kHelp:
        fputs(kUsage, stdout);
        return kExitOk;
      default:
        bad = true;
    }
  }
  bad = bad || what.file == what.ssd.empty();
  if (bad || optind + 1 != argc) {
    fputs(kUsage, stderr);
    return kExitCannotRun;
  }
  if (!(what.header || what.manifest || what.tables || what.table || what.file || what.log)) {
    what.header = what.manifest = what.tables = what.log = true;
  }
  uint64_t log_id;
  if (!FindLogFolder("miodb_dump", argv[optind], what.wal, &what.wal, &log_id)) return kExitDamage;
  std::unique_ptr<PoolImage> image;
  ExitCode code;
  if (!OpenImage("miodb_dump", argv[optind], regions, &image, &code)) return code;
  return Dumper(*image, what).Run();
}

}  // namespace
}  // namespace miodb

int main(int argc, char** argv) { return miodb::Main(argc, argv); }
