#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "miodb/comparator.h"
#include "miodb/dumpfile.h"
#include "src/log/frame_reader.h"
#include "src/version/version_set.h"

namespace miodb {

namespace {

// Stands in for a comparator that is not known here: the order of what is stored is taken as it is.
class StoredOrder final : public Comparator {
 public:
  explicit StoredOrder(const std::string& name) : name_(name) {}
  int Compare(const Slice&, const Slice&) const override { return -1; }
  const char* Name() const override { return name_.c_str(); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  const std::string name_;
};

// Writes lines until one fails.
class Printer {
 public:
  explicit Printer(WritableFile* dst) : dst_(dst) {}

  Status Line(const std::string& text) { return dst_->Append(text + "\n"); }

  Status Record(const RecordView& record) {
    std::string line = "'" + Escaped(record.key) + "' @ " + std::to_string(record.sequence());
    if (record.type() == kTypeDeletion) {
      line += " : del";
    } else {
      line += " : val => '" + Escaped(record.value) + "'";
    }
    return Line(line);
  }

 private:
  static std::string Escaped(const Slice& bytes) {
    std::string text;
    text.reserve(bytes.size());
    for (size_t i = 0; i < bytes.size(); i++) {
      const unsigned char c = static_cast<unsigned char>(bytes[i]);
      if (c >= ' ' && c <= '~' && c != '\\' && c != '\'') {
        text.push_back(static_cast<char>(c));
      } else {
        char code[5];
        snprintf(code, sizeof(code), "\\x%02x", c);
        text += code;
      }
    }
    return text;
  }

  WritableFile* const dst_;
};

Status OpenPoolFile(const std::string& fname, std::unique_ptr<Pool>* pool) {
  return Pool::Open(fname, Pool::Options{0, kExtentUnit, kPersistAuto}, pool);
}

// The name of the comparator of the database. Needs a pool of its own, because reading the manifest claims its space.
Status ReadComparatorName(const std::string& fname, std::string* name) {
  std::unique_ptr<Pool> pool;
  Status s = OpenPoolFile(fname, &pool);
  if (!s.ok()) return s;
  Manifest manifest(pool.get());
  s = manifest.Recover();
  if (s.ok()) *name = manifest.state().comparator;
  return s;
}

Status DumpSuperblock(const Pool& pool, Printer* out) {
  Superblock superblock;
  memcpy(&superblock, pool.At(kSuperblockOffset), sizeof(superblock));
  std::string uuid;
  for (const uint8_t byte : superblock.uuid) {
    char code[3];
    snprintf(code, sizeof(code), "%02x", byte);
    uuid += code;
  }
  return out->Line("pool: format version " + std::to_string(superblock.version) + ", uuid " + uuid + ", created " +
                   std::to_string(superblock.created_micros) + " us after 1970");
}

Status DumpChunk(const LogChunkPlace& place, const Extent& extent, Printer* out) {
  Status s = out->Line("--- log chunk " + std::to_string(place.id) + ": offset " + std::to_string(place.offset) + ", " +
                       std::to_string(place.size) + " bytes");
  const char* p = extent.data();
  const char* const end = p + (place.sealed ? place.sealed_size : place.size);
  FrameView frame;
  while (s.ok() && p < end && ReadFrame(p, end, place.id, &frame)) {
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

Status DumpTable(const PMTable& table, const TablePlace& place, Printer* out) {
  const std::string level = place.level == kRepositoryLevel ? "repository" : "level " + std::to_string(place.level);
  Status s = out->Line("--- table " + std::to_string(table.number()) + ": " + level + ", run " +
                       std::to_string(place.run) + ", " + std::to_string(table.entries()) + " entries");
  for (uint64_t i = 0; s.ok() && i < table.entries(); i++) {
    if (i % kNodeFanout == 0) s = table.CheckLeaf(i / kNodeFanout, true);
    RecordView record;
    if (s.ok()) s = table.RecordAt(i, true, &record);
    if (s.ok()) s = out->Record(record);
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

}  // namespace

Status DumpFile(Env* env, const std::string& fname, WritableFile* dst) {
  Status s = CheckFile(env, fname);
  std::string name;
  if (s.ok()) s = ReadComparatorName(fname, &name);
  const StoredOrder stored(name);
  const Comparator* const order = name == BytewiseComparator()->Name() ? BytewiseComparator() : &stored;
  std::unique_ptr<Pool> pool;
  if (s.ok()) s = OpenPoolFile(fname, &pool);
  if (!s.ok()) return s;
  Printer out(dst);
  VersionSet versions(pool.get(), KeyOrder(order), kMaxLevels);
  std::vector<ExtentRef> chunks;
  s = DumpSuperblock(*pool, &out);
  if (s.ok()) s = versions.Recover(false, &chunks);
  if (!s.ok()) return s;
  const ManifestState& state = versions.manifest();
  s = out.Line("manifest: comparator " + name + ", next id " + std::to_string(state.next_id) + ", flushed sequence " +
               std::to_string(state.flushed_sequence) + ", " + std::to_string(state.tables.size()) + " tables, " +
               std::to_string(state.chunks.size()) + " log chunks");
  size_t i = 0;
  for (const auto& [id, place] : state.chunks) {
    if (s.ok()) s = DumpChunk(place, *chunks[i++], &out);
  }
  for (const auto& level : versions.current()->levels) {
    for (const RunRef& run : level) {
      for (const TableRef& table : run->tables) {
        if (s.ok()) s = DumpTable(*table, versions.PlaceOf(table->number()), &out);
      }
    }
  }
  return s;
}

}  // namespace miodb
