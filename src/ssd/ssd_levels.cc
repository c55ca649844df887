// The SSD tier of one version, read from level 0 down. Files that a version names exist: its SstRefs keep them.

#include "src/ssd/ssd_levels.h"

#include <algorithm>

namespace miodb {

namespace {

// The file of a level whose range has the key, or nullptr. At most one has, since files of a level do not overlap; a
// key between two files is in neither.
const SstFile* FileOf(const KeyOrder& order, const FileList& files, const Slice& key) {
  const size_t i = FindFile(order, files, key);
  return i < files.size() && order.Compare(key, files[i]->meta().smallest) >= 0 ? files[i].get() : nullptr;
}

}  // namespace

// Binary over the largest keys, which the manifest's description of each file has in memory.
size_t FindFile(const KeyOrder& order, const FileList& files, const Slice& key) {
  const size_t i = files.CountBefore([&](const SstRef& file) { return order.Compare(file->meta().largest, key) < 0; });
  DCHECK(i == files.size() || order.Compare(files[i]->meta().largest, key) >= 0);
  return i;
}

// Files of one level are in order and do not overlap, so those that overlap a range are neighbours.
FileList OverlappingFiles(const KeyOrder& order, const FileList& files, const Slice& smallest, const Slice& largest) {
  FileList result;
  for (size_t i = FindFile(order, files, smallest); i < files.size(); i++) {
    if (order.Compare(files[i]->meta().smallest, largest) > 0) break;
    result.push_back(files[i]);
  }
  return result;
}

// A walk over the list: for jobs, which have a few files.
uint64_t TotalBytes(const FileList& files) {
  uint64_t sum = 0;
  for (const SstRef& file : files) sum += file->meta().size;
  return sum;
}

// In each level a single file can have the key. The first version found is the newest, because a level is older than
// those above it in all keys that both have.
Status SsdLevels::Get(const LookupKey& key, SstReader::ReadMode mode, bool newest, BlockPin* pin, bool* found,
                      RecordView* record) const {
  DCHECK(store != nullptr);
  *found = false;
  for (size_t level = 0; level < levels.size(); level++) {
    const SstFile* const file = FileOf(store->order(), levels[level], key.key);
    if (file == nullptr) continue;
    mode.level = static_cast<uint32_t>(level);
    Status s = store->Get(*file, key, mode, newest, pin, found, record);
    if (!s.ok() || *found) return s;
  }
  return Status::OK();
}

// Follows Get as far as filters and what is cached allow, and notes the one block that it would read first. If the key
// is not in that block after all, the levels below are read by Get itself.
void SsdLevels::PlanGet(const LookupKey& key, BlockReads* reads) const {
  DCHECK(store != nullptr);
  for (const FileList& files : levels) {
    const SstFile* const file = FileOf(store->order(), files, key.key);
    if (file != nullptr && store->PlanGet(*file, key, reads)) return;
  }
}

// Adds an iterator for each level and not for each file: a merge of all sources then has as many as there are levels,
// however many files lie in them.
void SsdLevels::AddIterators(const SstReader::ReadMode& mode,
                             std::vector<std::unique_ptr<InternalIterator>>* iterators) const {
  DCHECK(store != nullptr);
  SstReader::ReadMode of_level = mode;
  for (const FileList& files : levels) {
    if (!files.empty()) iterators->push_back(store->NewIterator(&files, of_level));
    of_level.level++;
  }
}

// A file inside of the range counts by its size; one that reaches beyond is opened, and its index tells. A file that
// cannot be opened counts nothing: this is an estimate, and the read that needs the file will tell the error.
uint64_t SsdLevels::BytesIn(const Slice& start, const Slice& limit) const {
  const KeyOrder& order = store->order();
  uint64_t sum = 0;
  for (const FileList& files : levels) {
    for (const SstRef& file : OverlappingFiles(order, files, start, limit)) {
      const SstMeta& meta = file->meta();
      if (order.Compare(start, meta.smallest) <= 0 && order.Compare(meta.largest, limit) < 0) {
        sum += meta.size;
        continue;
      }
      SsdStore::Pin table;
      if (!store->OpenTable(meta, &table).ok()) continue;
      const uint64_t from = table->ApproximateOffsetOf(SeekKey(start, kMaxSequence));
      const uint64_t to = table->ApproximateOffsetOf(SeekKey(limit, kMaxSequence));
      if (to > from) sum += to - from;
    }
  }
  return sum;
}

// Merges ask this before they drop a tombstone: a file with the key's range anywhere below may have what the tombstone
// hides. The range alone is looked at, so the answer errs on the side of keeping it.
bool SsdLevels::OverlapsFrom(size_t level, const Slice& smallest, const Slice& largest) const {
  for (; level < levels.size(); level++) {
    const FileList& files = levels[level];
    const size_t i = FindFile(store->order(), files, smallest);
    // Files before it end before the range, those behind it begin later still.
    if (i < files.size() && store->order().Compare(files[i]->meta().smallest, largest) <= 0) return true;
  }
  return false;
}

// By the sums that edits keep, without a walk over files.
uint64_t SsdLevels::bytes() const {
  DCHECK_EQ(level_bytes.size(), levels.size());
  uint64_t sum = 0;
  for (const uint64_t bytes : level_bytes) sum += bytes;
  return sum;
}

// Of all levels. Bytes are kept beside the lists; their lengths are known to the lists themselves.
size_t SsdLevels::file_count() const {
  size_t sum = 0;
  for (const FileList& files : levels) sum += files.size();
  return sum;
}

}  // namespace miodb
