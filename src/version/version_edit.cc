#include "src/version/version_edit.h"

#include "src/util/coding.h"

namespace miodb {

namespace {

// Numbers of the format: never changed, never used again.
enum Field : uint8_t {
  kComparator = 1,
  kNextId = 2,
  kFlushedSequence = 3,
  kRemovedTable = 4,
  kTable = 5,
  kRemovedChunk = 6,
  kChunk = 7,
  kSealedChunk = 8,
  kRemovedFile = 9,
  kFile = 10,
  kFileOfLongKeys = 11,
};

// Files whose smallest and largest key are longer than this together are kept without them, or edits and areas would be
// as large as such keys are.
constexpr size_t kMostRangeBytes = 1024;

void PutField(std::string* dst, Field field) { dst->push_back(static_cast<char>(field)); }

bool GetNumbers(Slice* input, std::initializer_list<uint64_t*> numbers) {
  for (uint64_t* number : numbers) {
    if (!GetVarint64(input, number)) return false;
  }
  return true;
}

void PutNumbers(std::string* dst, std::initializer_list<uint64_t> numbers) {
  for (uint64_t number : numbers) PutVarint64(dst, number);
}

bool GetFile(Slice* input, bool has_range, SstPlace* place) {
  auto meta = std::make_shared<SstMeta>();
  uint64_t level;
  Slice smallest, largest;
  if (!GetNumbers(input, {&meta->number, &level, &meta->size, &meta->entries, &meta->tombstones}) ||
      !GetFixed64(input, &meta->fingerprint) || level >= kMaxSsdLevels) {
    return false;
  }
  if (has_range && (!GetLengthPrefixedSlice(input, &smallest) || !GetLengthPrefixedSlice(input, &largest))) {
    return false;
  }
  meta->has_range = has_range;
  meta->smallest = smallest.ToString();
  meta->largest = largest.ToString();
  place->level = static_cast<uint32_t>(level);
  place->meta = std::move(meta);
  return true;
}

}  // namespace

void VersionEdit::EncodeTo(std::string* dst) const {
  if (has_comparator) {
    PutField(dst, kComparator);
    PutLengthPrefixedSlice(dst, comparator);
  }
  if (has_next_id) {
    PutField(dst, kNextId);
    PutVarint64(dst, next_id);
  }
  if (has_flushed_sequence) {
    PutField(dst, kFlushedSequence);
    PutVarint64(dst, flushed_sequence);
  }
  for (uint64_t number : removed_tables) {
    PutField(dst, kRemovedTable);
    PutVarint64(dst, number);
  }
  for (const TablePlace& t : tables) {
    PutField(dst, kTable);
    PutNumbers(dst, {t.number, t.level, t.run, t.index_offset, t.index_size});
  }
  for (uint64_t id : removed_chunks) {
    PutField(dst, kRemovedChunk);
    PutVarint64(dst, id);
  }
  for (const LogChunkPlace& c : chunks) {
    PutField(dst, c.sealed ? kSealedChunk : kChunk);
    PutNumbers(dst, {c.id, c.offset, c.size});
    if (c.sealed) PutVarint64(dst, c.sealed_size);
  }
  for (uint64_t number : removed_files) {
    PutField(dst, kRemovedFile);
    PutVarint64(dst, number);
  }
  for (const SstPlace& f : files) {
    const bool has_range = f.meta->has_range && f.meta->smallest.size() + f.meta->largest.size() <= kMostRangeBytes;
    PutField(dst, has_range ? kFile : kFileOfLongKeys);
    PutNumbers(dst, {f.meta->number, f.level, f.meta->size, f.meta->entries, f.meta->tombstones});
    PutFixed64(dst, f.meta->fingerprint);
    if (!has_range) continue;
    PutLengthPrefixedSlice(dst, f.meta->smallest);
    PutLengthPrefixedSlice(dst, f.meta->largest);
  }
}

bool VersionEdit::DecodeFrom(Slice input) {
  while (!input.empty()) {
    const uint8_t field = static_cast<uint8_t>(input[0]);
    input.remove_prefix(1);
    uint64_t number = 0;
    switch (field) {
      case kComparator: {
        Slice name;
        if (!GetLengthPrefixedSlice(&input, &name)) return false;
        has_comparator = true;
        comparator = name.ToString();
        break;
      }
      case kNextId:
        if (!GetVarint64(&input, &next_id)) return false;
        has_next_id = true;
        break;
      case kFlushedSequence:
        if (!GetVarint64(&input, &flushed_sequence)) return false;
        has_flushed_sequence = true;
        break;
      case kRemovedTable:
        if (!GetVarint64(&input, &number)) return false;
        removed_tables.push_back(number);
        break;
      case kTable: {
        TablePlace t;
        uint64_t level;
        if (!GetNumbers(&input, {&t.number, &level, &t.run, &t.index_offset, &t.index_size})) return false;
        if (level > kRepositoryLevel) return false;
        t.level = static_cast<uint32_t>(level);
        tables.push_back(t);
        break;
      }
      case kRemovedChunk:
        if (!GetVarint64(&input, &number)) return false;
        removed_chunks.push_back(number);
        break;
      case kChunk:
      case kSealedChunk: {
        LogChunkPlace c;
        if (!GetNumbers(&input, {&c.id, &c.offset, &c.size})) return false;
        c.sealed = field == kSealedChunk;
        if (c.sealed && (!GetVarint64(&input, &c.sealed_size) || c.sealed_size > c.size)) return false;
        chunks.push_back(c);
        break;
      }
      case kRemovedFile:
        if (!GetVarint64(&input, &number)) return false;
        removed_files.push_back(number);
        break;
      case kFile:
      case kFileOfLongKeys:
        if (!GetFile(&input, field == kFile, &files.emplace_back())) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

Status ManifestState::Apply(const VersionEdit& edit) {
  if (edit.has_comparator) comparator = edit.comparator;
  if (edit.has_next_id) next_id = edit.next_id;
  if (edit.has_flushed_sequence) flushed_sequence = edit.flushed_sequence;
  for (uint64_t number : edit.removed_tables) {
    if (tables.erase(number) == 0) return Status::Corruption("manifest removes unknown table", std::to_string(number));
  }
  for (const TablePlace& t : edit.tables) tables[t.number] = t;
  for (uint64_t id : edit.removed_chunks) {
    if (chunks.erase(id) == 0) return Status::Corruption("manifest removes unknown log chunk", std::to_string(id));
  }
  for (const LogChunkPlace& c : edit.chunks) chunks[c.id] = c;
  for (uint64_t number : edit.removed_files) {
    if (files.erase(number) == 0) return Status::Corruption("manifest removes unknown file", std::to_string(number));
  }
  for (const SstPlace& f : edit.files) files[f.meta->number] = f;
  return Status::OK();
}

VersionEdit ManifestState::Snapshot() const {
  VersionEdit edit;
  edit.has_comparator = true;
  edit.comparator = comparator;
  edit.SetNextId(next_id);
  edit.SetFlushedSequence(flushed_sequence);
  for (const auto& [number, place] : tables) edit.tables.push_back(place);
  for (const auto& [id, place] : chunks) edit.chunks.push_back(place);
  for (const auto& [number, place] : files) edit.files.push_back(place);
  return edit;
}

}  // namespace miodb
