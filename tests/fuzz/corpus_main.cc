// Writes the seed corpus of the fuzz targets: small inputs that reach the inside of each decoder.
//
//   corpus_main FOLDER     FOLDER/<target>/<name> for each; the tree keeps them in tests/fuzz/corpus
//
// The same every time, so that a change of a format shows in the tree.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "miodb/comparator.h"
#include "miodb/write_batch.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/db/copy/backup_format.h"
#include "src/format/manifest_area.h"
#include "src/format/owner_mark.h"
#include "src/format/region_table.h"
#include "src/format/store_descriptor.h"
#include "src/log/chunk_index.h"
#include "src/log/file_log_format.h"
#include "src/log/file_log_writer.h"
#include "src/log/frame_reader.h"
#include "src/log/record_order.h"
#include "src/nvm/pool/pool_image.h"
#include "src/ssd/internal_key.h"
#include "src/trace/trace_format.h"
#include "src/version/edit/version_edit.h"
#include "tests/common/string_file.h"
#include "tests/pmtable/table_maker.h"
#include "tests/ssd/sst_maker.h"

namespace miodb::test {
namespace {

class Corpus {
 public:
  explicit Corpus(const std::string& folder) : folder_(folder) {}

  void Add(const std::string& target, const std::string& name, const std::string& bytes) {
    const std::filesystem::path folder = folder_ / target;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / name, std::ios::binary) << bytes;
    files_++;
  }

  int files() const { return files_; }

 private:
  const std::filesystem::path folder_;
  int files_ = 0;
};

// Of all that has one.
constexpr uint64_t kSecret = 0;

std::string Record(uint64_t sequence, ValueType type, const std::string& key, const std::string& value) {
  std::string record(kMaxRecordHeader + key.size(), '\0');
  uint64_t hash;
  record.resize(static_cast<size_t>(
      EncodeRecordHead(record.data(), PackTag(sequence, type), key, value, kSecret, &hash) - record.data()));
  return record + value;
}

std::string Frame(uint64_t chunk_id, uint64_t sequence, int records) {
  std::string body;
  for (int i = 0; i < records; i++) {
    body += Record(sequence + static_cast<uint64_t>(i), i % 3 == 2 ? kTypeDeletion : kTypeValue,
                   "key" + std::to_string(i), i % 3 == 2 ? "" : std::string(static_cast<size_t>(i) * 20, 'v'));
  }
  uint64_t checksum = FrameSeed(kSecret, chunk_id, body.size());
  RecordView record;
  for (const char* p = body.data(); p < body.data() + body.size(); p += record.size()) {
    ParseRecord(p, body.data() + body.size(), &record);
    checksum = FrameFold(checksum, record.Hash(kSecret));
  }
  std::string frame;
  PutFixed64(&frame, checksum);
  PutVarint32(&frame, static_cast<uint32_t>(body.size()));
  return frame + body;
}

VersionEdit FullEdit() {
  VersionEdit edit;
  edit.has_comparator = true;
  edit.comparator = "leveldb.BytewiseComparator";
  edit.SetNextId(300);
  edit.SetFlushedSequence(1 << 20);
  edit.tables.push_back({5, 0, 6, 8192, 4096});
  edit.tables.push_back({9, kRepositoryLevel, 0, 1 << 20, 8192});
  edit.chunks.push_back({12, 65536, 8192, false, 0});
  edit.chunks.push_back({13, 73728, 8192, true, 1000});
  return edit;
}

VersionEdit NextEdit() {
  VersionEdit edit;
  edit.removed_tables.push_back(5);
  edit.removed_chunks.push_back(12);
  edit.SetFlushedSequence((1 << 20) + 7);
  return edit;
}

VersionEdit FilesEdit() {
  VersionEdit edit;
  edit.SetNextId(40);
  edit.files.push_back(
      {0, std::make_shared<SstMeta>(SstMeta{11, 4096, 100, 3, 0x1234567, "a", "m", true, 0, 0, {}, 0})});
  edit.files.push_back(
      {2, std::make_shared<SstMeta>(SstMeta{12, 8192, 200, 0, 0x89abcde, "b", "z", true, 0, 0, {}, 0})});
  return edit;
}

VersionEdit ExpiringFilesEdit() {
  VersionEdit edit = FilesEdit();
  SstMeta meta = *edit.files[0].meta;
  meta.expiring = 97;
  meta.expiry = {1700000000000000, 1700000900000000};
  edit.files[0].meta = std::make_shared<SstMeta>(meta);
  return edit;
}

VersionEdit FamiliesEdit() {
  VersionEdit edit;
  edit.next_family = 4;
  edit.families.push_back({1, "index"});
  edit.families.push_back({2, ""});
  edit.families.push_back({3, std::string("b\0c", 3)});
  return edit;
}

VersionEdit RangesEdit() {
  VersionEdit edit = FilesEdit();
  SstMeta meta = *edit.files.back().meta;
  meta.ranges_applied = 900;
  edit.files.back().meta = std::make_shared<SstMeta>(meta);
  edit.removed_ranges.push_back(20);
  edit.ranges.push_back({21, {"a", "b", 900}});
  edit.ranges.push_back({22, {"b", std::string(200, 'b'), kMostReadSequence}});
  return edit;
}

VersionEdit SavepointsEdit() {
  VersionEdit edit = FullEdit();
  edit.removed_savepoints.push_back(20);
  edit.savepoints.push_back({21, "before", kMostReadSequence, 1700000000000000, {{12, 500}, {13, 1000}}, {}});
  edit.savepoints.push_back({22, std::string(kMostSavepointName, 's'), 0, 0, {}, {65536, 8192, 0x1234567, 3}});
  return edit;
}

VersionEdit NewSavepointsEdit() {
  VersionEdit edit = SavepointsEdit();
  edit.removed_savepoints.clear();
  return edit;
}

VersionEdit KeptLogEdit() {
  VersionEdit edit;
  edit.SetNextId(40);
  edit.kept.push_back({23, 65536, 1000, 900, 1000});
  edit.kept.push_back({24, 69632, 4096, 1001, kMostReadSequence});
  return edit;
}

std::string Encoded(const VersionEdit& edit) {
  std::string bytes;
  edit.EncodeTo(&bytes);
  return bytes;
}

void AddSmall(Corpus* corpus) {
  std::string varints, slices;
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{UINT32_MAX}, UINT64_MAX}) {
    std::string one;
    PutVarint64(&one, value);
    corpus->Add("coding", "varint_" + std::to_string(one.size()), one);
    varints += one;
    PutLengthPrefixedSlice(&slices, one);
  }
  corpus->Add("coding", "varints", varints);
  corpus->Add("coding", "slices", slices);
  StoreDescriptor store;
  corpus->Add("store", "making", std::string(1, '\1') + store.Encode());
  store.state = StoreState::kInUse;
  store.pool.fill(7);
  store.pool_path = "/mnt/pool";
  store.directory = "/db";
  store.log = {0x1234, 3, true, "/mnt/log"};
  store.ssd_path = std::string("\0/ssd", 5);
  store.regions = {{store.pool, "/mnt/region"}};
  store.former_ids = {0x5678};
  corpus->Add("store", "in_use", std::string(1, '\1') + store.Encode());
  store.origin = {StoreDescriptor::Origin::State::kUpTo, store.pool, store.pool, 900};
  corpus->Add("store", "copy", std::string(1, '\1') + store.Encode());
  store.origin = {StoreDescriptor::Origin::State::kFollows, store.pool, store.pool, 0};
  corpus->Add("store", "follower", std::string(1, '\1') + store.Encode());
  store.origin = StoreDescriptor::Origin();
  store.pool.fill(0);
  store.log_reach = (1 << 20) + 9;
  store.ssd_state = Encoded(FilesEdit());
  corpus->Add("store", "volatile", std::string(1, '\0') + store.Encode());
  corpus->Add("store", "owner", std::string(1, '\1') + OwnerMark{OwnerKind::kLog, 0x1234, 0x5678, 3}.Encode());
  corpus->Add("store", "ssd_owner", std::string(1, '\1') + OwnerMark{OwnerKind::kSsd, 0x1234, 0x1234, 77}.Encode());
  corpus->Add("version_edit", "full", Encoded(FullEdit()));
  corpus->Add("version_edit", "next", Encoded(NextEdit()));
  corpus->Add("version_edit", "files", Encoded(FilesEdit()));
  corpus->Add("version_edit", "families", Encoded(FamiliesEdit()));
  corpus->Add("version_edit", "expiring_files", Encoded(ExpiringFilesEdit()));
  corpus->Add("version_edit", "ranges", Encoded(RangesEdit()));
  corpus->Add("version_edit", "savepoints", Encoded(SavepointsEdit()));
  corpus->Add("version_edit", "new_savepoints", Encoded(NewSavepointsEdit()));
  corpus->Add("version_edit", "kept_log", Encoded(KeptLogEdit()));
  corpus->Add("record", "value", Record(7, kTypeValue, "key", "value"));
  corpus->Add("record", "long", Record(kMaxSequence, kTypeValue, std::string(200, 'k'), std::string(300, 'v')));
  corpus->Add("record", "expiring", Record(9, kTypeExpiringValue, "key", "\1\2\3\4\5\6\7\10value"));
  corpus->Add("record", "expiring_short", Record(9, kTypeExpiringValue, "key", "\1\2"));
  corpus->Add("record", "deletion", Record(8, kTypeDeletion, "", ""));
  corpus->Add("record", "long_varint", Record(1, kTypeValue, "k", "").replace(12, 1, "\x81\x80\0", 3));
  WriteBatch batch;
  corpus->Add("write_batch", "empty", WriteBatchInternal::Contents(&batch).ToString());
  batch.Put("key", "value");
  batch.Delete("other");
  batch.Put(std::string(200, 'k'), "");
  WriteBatch expiring = batch;
  WriteBatchInternal::Add(&expiring, kBatchExpiringPut, "key", "\1\2\3\4\5\6\7\10value");
  corpus->Add("write_batch", "expiring", WriteBatchInternal::Contents(&expiring).ToString());
  corpus->Add("write_batch", "three", WriteBatchInternal::Contents(&batch).ToString());
  batch.DeleteRange("a", "z");
  batch.DeleteRange("", std::string(200, 'z'));
  batch.Put("m", "");
  corpus->Add("write_batch", "ranges", WriteBatchInternal::Contents(&batch).ToString());
}

// The first byte asks for a checksum.
void AddBackups(Corpus* corpus) {
  BackupRecord record;
  record.generation = 3;
  record.micros = 1700000000000000;
  record.new_bytes = 4096;
  record.pool.fill(7);
  record.secret = 0x1234;
  corpus->Add("backup", "mark", std::string(1, '\1') + EncodeBackupMark(record.pool));
  corpus->Add("backup", "empty", std::string(1, '\0') + record.Encode());
  record.state = FilesEdit();
  for (const SstPlace& file : record.state.files) record.tables.emplace_back(*file.meta).hash = {IdOf(file), 2};
  const BackupBlock block = {kMostBlockBytes, 1, 0, {5, 6}};
  record.extents.push_back({{8192, kMostBlockBytes + 100, ExtentKind::kLog}, {block, {100, 3, 4096, {7, 8}}}});
  record.extents.push_back({{uint64_t{8} << 20, 4096, ExtentKind::kIndex}, {{4096, 2, 64, {9, 10}}}});
  corpus->Add("backup", "full", std::string(1, '\1') + record.Encode());
  const BlockHeader header = EncodeBlockHeader(8192, block);
  corpus->Add("backup", "block", std::string(1, '\0') + std::string(header.data(), header.size()));
}

void AddFrames(Corpus* corpus) {
  corpus->Add("frame", "one", std::string(1, '\0') + Frame(7, 1, 1));
  corpus->Add("frame", "batch", std::string(1, '\0') + Frame(7, 100, 6));
  corpus->Add("frame", "sealed", std::string(1, '\1') + Frame(8, 100, 3));
  corpus->Add("frame", "behind_damage", std::string(1, '\x29') + std::string(20, 'x') + Frame(7, 100, 2));
  corpus->Add("frame", "two", std::string(1, '\0') + Frame(7, 1, 1) + Frame(7, 2, 1));
}

// Frames, some free bytes and an index, of chunk 7; the first byte asks for a checksum.
std::string IndexedChunk(std::string bytes, size_t free) {
  std::vector<uint32_t> places;
  FrameView frame;
  RecordView record;
  for (const char* p = bytes.data(); ReadFrame(p, bytes.data() + bytes.size(), kSecret, 7, &frame); p = frame.end) {
    for (const char* r = frame.body; r < frame.end; r += record.size()) {
      ParseRecord(r, frame.end, &record);
      places.push_back(static_cast<uint32_t>(r - bytes.data()));
    }
  }
  SortByKey(KeyOrder(BytewiseComparator()), bytes.data(), bytes.data() + bytes.size(), &places);
  const ChunkIndex index{places.data(), places.size(), 1, bytes.size()};
  bytes.append(free, '\0');
  while ((bytes.size() + ChunkIndexBytes(places.size())) % 8 != 0) bytes.push_back('\0');
  bytes.append(reinterpret_cast<const char*>(places.data()), places.size() * sizeof(uint32_t));
  for (const uint64_t figure :
       {ChunkIndexChecksum(index, kSecret, 7), index.first_sequence, index.count, index.frame_bytes}) {
    PutFixed64(&bytes, figure);
  }
  return bytes;
}

void AddChunkIndexes(Corpus* corpus) {
  const std::string two = Frame(7, 1, 5) + Frame(7, 6, 3);
  corpus->Add("chunk_index", "one", std::string(1, '\0') + IndexedChunk(Frame(7, 1, 1), 0));
  corpus->Add("chunk_index", "two_frames", std::string(1, '\0') + IndexedChunk(two, 100));
  corpus->Add("chunk_index", "sealed", std::string(1, '\1') + IndexedChunk(two, 8));
  std::string damaged = IndexedChunk(two, 8);
  damaged[40] ^= 4;
  corpus->Add("chunk_index", "damaged_frames", std::string(1, '\0') + damaged);
}

// Log files with blocks of 256 bytes; the first byte asks for seals (1), larger blocks (6) and padding (8).
void AddLogFiles(Corpus* corpus) {
  for (const bool padding : {false, true}) {
    StringSink file;
    FileLogWriter writer(&file, kLeastLogBlock, padding);
    uint64_t sequence = 5;
    for (const size_t value_bytes : {0, 40, 200, 600, 3}) {
      std::string batch;
      PutFixed64(&batch, sequence++);
      PutFixed32(&batch, 1);
      batch.push_back(static_cast<char>(kTypeValue));
      PutLengthPrefixedSlice(&batch, "key");
      PutLengthPrefixedSlice(&batch, std::string(value_bytes, 'v'));
      writer.Add(batch).IgnoreError();  // a string takes everything
    }
    const std::string name = padding ? "padded" : "split";
    corpus->Add("file_log", name, std::string(1, padding ? '\x08' : '\0') + file.contents);
    corpus->Add("file_log", name + "_sealed", std::string(1, padding ? '\x09' : '\1') + file.contents);
    std::string damaged = file.contents;
    damaged[60] ^= 1;
    corpus->Add("file_log", name + "_damaged", std::string(1, '\0') + damaged);
  }
}

void AddHeaders(Corpus* corpus) {
  Superblock superblock = {};
  superblock.magic = kPoolMagic;
  superblock.version = kPoolFormatVersion;
  superblock.uuid[0] = 1;
  superblock.checksum = SuperblockChecksum(superblock);
  const std::string block(reinterpret_cast<const char*>(&superblock), sizeof(superblock));
  std::string header = block + block;
  for (uint64_t epoch = 2; epoch < 4; epoch++) {
    RootSlot slot = {epoch, kPoolHeaderSize, kExtentUnit, 99 + epoch, 0};
    slot.checksum = RootChecksum(slot, PoolId(superblock));
    for (int copy = 0; copy < kRootCopies; copy++) header.append(reinterpret_cast<const char*>(&slot), sizeof(slot));
  }
  corpus->Add("header", "good", std::string(1, '\0') + header);
  corpus->Add("header", "sealed", std::string(1, '\x3f') + header);
  corpus->Add("header", "one_superblock",
              std::string(1, '\0') + std::string(sizeof(superblock), '\0') + header.substr(sizeof(superblock)));
}

void AddManifests(Corpus* corpus) {
  constexpr uint64_t kGeneration = 0x123456789abcdef;
  std::string records;
  uint64_t number = 0;
  for (const VersionEdit& edit : {FullEdit(), NextEdit()}) {
    const std::string payload = Encoded(edit);
    std::string record;
    PutFixed32(&record, static_cast<uint32_t>(payload.size()));
    PutFixed32(&record, 0);
    PutFixed64(&record, number);
    PutFixed64(&record, ManifestRecordChecksum(kGeneration, number, payload));
    record += payload;
    record.resize(ManifestRecordBytes(payload.size()), '\0');
    records += record;
    number++;
  }
  corpus->Add("manifest", "records", std::string(1, '\0') + records);
  corpus->Add("manifest", "sealed", std::string(1, '\1') + records);
  corpus->Add("manifest", "confirmed", std::string(1, '\x15') + records);
  std::string area = records;
  area.resize(kExtentUnit, '\0');
  AreaFooter footer = {kAreaMagic, 1, kPoolHeaderSize, kExtentUnit, 2, kGeneration, 0, 0};
  footer.checksum = AreaFooterChecksum(footer);
  area.replace(kExtentUnit - kAreaFooterBytes, sizeof(footer), reinterpret_cast<const char*>(&footer), sizeof(footer));
  corpus->Add("manifest", "footer", std::string(1, '\2') + area);
}

// A header and entries of regions; the first byte is that of region_fuzz.cc.
void AddRegions(Corpus* corpus) {
  RegionHeader header = {};
  header.magic = kRegionMagic;
  header.version = kRegionFormatVersion;
  header.ordinal = 1;
  header.base = kRegionAlignment;
  header.range = kRegionAlignment;
  header.checksum = RegionHeaderChecksum(header);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  for (uint64_t ordinal = 1; ordinal <= 2; ordinal++) {
    RegionEntry entry = {};
    entry.ordinal = ordinal;
    entry.base = ordinal * kRegionAlignment;
    entry.range = kRegionAlignment;
    for (int copy = 0; copy < kEntryCopies; copy++) bytes.append(reinterpret_cast<const char*>(&entry), sizeof(entry));
  }
  corpus->Add("region", "two", std::string(1, '\x3d') + bytes);
  corpus->Add("region", "a_copy_each", std::string(1, '\x15') + bytes);
  corpus->Add("region", "a_gap", std::string(1, '\x31') + bytes);
}

// Entries of regions, laid out as in pool_image_fuzz.cc.
void AddPoolImages(Corpus* corpus) {
  const auto region = [](uint32_t base, uint32_t range, char range_unit = 30) {
    std::string bytes;
    PutFixed32(&bytes, base);
    PutFixed32(&bytes, range);
    return bytes + std::string({30, range_unit, 32, 0});
  };
  const std::string two("\x42"), one("\x41");
  corpus->Add("pool_image", "good", two + region(1, 1) + region(2, 4));
  corpus->Add("pool_image", "descending", two + region(100, 1) + region(1, 1));
  corpus->Add("pool_image", "overlapping", two + region(1, 2) + region(2, 1));
  corpus->Add("pool_image", "too_small", one + region(1, 1, 12));
  corpus->Add("pool_image", "too_large", one + region(1, UINT32_MAX));
}

void AddTables(Corpus* corpus) {
  for (const int keys : {1, 80}) {
    // Laid out as in table_fuzz.cc: the payload first.
    TestPool pool;
    TableMaker maker(&pool, BytewiseComparator());
    std::vector<TestVersion> versions;
    for (int i = 0; i < keys; i++) {
      versions.push_back(
          {"key" + std::to_string(100 + i), static_cast<uint64_t>(i) + 1, kTypeValue, "v" + std::to_string(i)});
    }
    TableMaker::Options options;
    options.extent_bytes = kExtentUnit;
    const TableRef table = maker.Make(SortedVersions(maker.order(), versions), options);
    const std::string index(table->index()->data(), table->index()->size());
    const size_t end = index.find_last_not_of('\0') + 1;
    for (const char how : {'\x08', '\x05', '\x07'}) {
      corpus->Add("table", std::to_string(keys) + "_keys_" + std::to_string(int{how}),
                  std::string(1, how) + index.substr(0, end));
    }
  }
}

// Table files; the first byte asks for verification (1) and filters (2).
void AddSsts(Corpus* corpus) {
  static const InternalKeyComparator comparator{KeyOrder(BytewiseComparator())};
  const std::unique_ptr<const FilterPolicy> policy(NewBloomFilterPolicy(10));
  const InternalFilterPolicy internal_policy(policy.get());
  for (const CompressionType compression : {kNoCompression, kSnappyCompression, kZstdCompression}) {
    SstFormat format;
    format.comparator = &comparator;
    format.filter_policy = &internal_policy;
    format.block_size = 100;
    format.compression = compression;
    Entries entries;
    for (char c = 'a'; c < 'm'; c++)
      entries[SeekKey(std::string("key") + c, 5)] = std::string(3u * static_cast<size_t>(c - 'a'), 'v');
    const std::string file = MakeSst(format, entries);
    corpus->Add("sst", "unverified_" + std::to_string(compression), std::string(1, '\x02') + file);
    corpus->Add("sst", "verified_" + std::to_string(compression), std::string(1, '\x03') + file);
  }
}

std::string TraceRecordOf(const std::function<void(TraceEncoder)>& encode) {
  std::string record;
  encode(TraceEncoder(&record));
  return record;
}

// Records for behind a begin record; the first byte is that of trace_fuzz.cc.
void AddTraces(Corpus* corpus) {
  const Slice lower("a"), upper("m");
  WriteBatch batch;
  batch.Put("key", "value");
  batch.Delete("other");
  const std::string calls = TraceRecordOf([](TraceEncoder e) { e.Update(2, kBatchPut, "key", "value"); }) +
                            TraceRecordOf([](TraceEncoder e) { e.Update(3, kBatchDeletion, "key", ""); }) +
                            TraceRecordOf([&](TraceEncoder e) { e.Batch(4, WriteBatchInternal::Contents(&batch)); }) +
                            TraceRecordOf([](TraceEncoder e) { e.Get(5, "key"); }) +
                            TraceRecordOf([&](TraceEncoder e) { e.Seek(6, kTraceSeek, "b", &lower, &upper); }) +
                            TraceRecordOf([](TraceEncoder e) { e.Scan(7, 6, "b", 300, 1); }) +
                            TraceRecordOf([](TraceEncoder e) { e.Seek(8, kTraceSeekForPrev, "c", nullptr, nullptr); });
  const std::string checksum = TraceRecordOf([](TraceEncoder e) { e.Checksum(9, 0); });
  const std::string end = TraceRecordOf([](TraceEncoder e) { e.End(10); });
  const std::string begin = TraceRecordOf([](TraceEncoder e) { e.Begin(1, 7, 8); });
  // Two keys, of column families 0 and 1.
  const std::string multi_get("\5\0\0\0\0\0\0\0\x0d\x1a\0\0\0\0\7\0\0\0\0\0\0\2\0\0\0\10\0\0\0\0\1\0\0\0\4\1k\1l", 39);
  // Version 0.1: a column family and a key.
  const std::string old_get("\5\0\0\0\0\0\0\0\4\6\0\0\0\0\0\0\0\1k", 19);
  corpus->Add("trace", "calls", std::string(1, '\1') + calls + end);
  corpus->Add("trace", "checksummed", std::string(1, '\3') + calls + checksum + end);
  corpus->Add("trace", "multi_get", std::string(1, '\1') + multi_get + end);
  corpus->Add("trace", "version_1", std::string(1, '\5') + old_get + end);
  corpus->Add("trace", "own_begin", std::string(1, '\2') + begin + calls + checksum + end);
  corpus->Add("trace", "torn", std::string(1, '\1') + calls.substr(0, calls.size() - 3));
}

}  // namespace
}  // namespace miodb::test

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: corpus_main FOLDER\n");
    return 2;
  }
  miodb::test::Corpus corpus(argv[1]);
  miodb::test::AddSmall(&corpus);
  miodb::test::AddBackups(&corpus);
  miodb::test::AddFrames(&corpus);
  miodb::test::AddChunkIndexes(&corpus);
  miodb::test::AddLogFiles(&corpus);
  miodb::test::AddHeaders(&corpus);
  miodb::test::AddManifests(&corpus);
  miodb::test::AddRegions(&corpus);
  miodb::test::AddPoolImages(&corpus);
  miodb::test::AddTables(&corpus);
  miodb::test::AddSsts(&corpus);
  miodb::test::AddTraces(&corpus);
  printf("%d files\n", corpus.files());
  return 0;
}
