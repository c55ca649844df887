#include "src/trace/trace_format.h"

#include <cstdio>
#include <cstdlib>

#include "src/api/batch/write_batch_internal.h"
#include "src/trace/trace_payload.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"

// Reading the bytes of records. They come from a file that anybody may have written:
// what is wrong with them is said in words, and nothing is believed before it was compared with the bytes that are
// there.

namespace miodb {

namespace {

// Tags of updates in a batch; those with a column family have its number, a varint32, behind the tag.
struct UpdateTag {
  TraceUpdate::Kind kind;
  bool has_column_family;
  bool has_value;
};

// The tags are RocksDB's, of which LevelDB's two are the first.
bool FindUpdateTag(unsigned char tag, UpdateTag* found) {
  switch (tag) {
    case 0x00:
    case 0x04:
      *found = {TraceUpdate::kDelete, tag == 0x04, false};
      return true;
    case 0x01:
    case 0x05:
      *found = {TraceUpdate::kPut, tag == 0x05, true};
      return true;
    case 0x02:
    case 0x06:
      *found = {TraceUpdate::kMerge, tag == 0x06, true};
      return true;
    case 0x07:
    case 0x08:
      *found = {TraceUpdate::kSingleDelete, tag == 0x08, false};
      return true;
    case 0x0f:
    case 0x0e:
      *found = {TraceUpdate::kDeleteRange, tag == 0x0e, true};
      return true;
    default:
      return false;
  }
}

// Entries of a batch that change nothing and are not counted: data for the log, and marks of transactions. False if the
// tag is none of them.
bool SkipUncounted(unsigned char tag, Slice* rest, bool* damaged) {
  Slice ignored;
  switch (tag) {
    case 0x0d:  // nothing at all
    case 0x09:  // the beginning of a prepared part
      return true;
    case 0x03:  // data for the log
    case 0x0a:  // the names of transactions
    case 0x0b:
    case 0x0c:
      *damaged = !GetLengthPrefixedSlice(rest, &ignored);
      return true;
    default:
      return false;
  }
}

// Walks the whole batch once more than its user will: a reader promises that what it delivers has no damage.
bool IsDamagedBatch(const Slice& batch) {
  TraceUpdates updates(batch);
  TraceUpdate update;
  while (updates.Next(&update)) {
  }
  return updates.damaged();
}

const char* DecodeAccesses(Slice payload, TraceRecord* record) {
  TraceAccesses accesses(payload);
  TraceAccess access;
  while (accesses.Next(&access)) {
  }
  record->accesses = payload;
  return accesses.damaged() ? "a record of accesses that is damaged or cut short" : nullptr;
}

// Takes text from the front of *input up to a tab or line end, which is dropped. False without one.
bool TakeField(Slice* input, std::string* field) {
  for (size_t i = 0; i < input->size(); i++) {
    if ((*input)[i] != '\t' && (*input)[i] != '\n') continue;
    field->assign(input->data(), i);
    input->remove_prefix(i + 1);
    return true;
  }
  return false;
}

// The text behind a label, as "0.2" behind "Trace Version: ". False if that is not digits around a dot.
bool TakeVersion(Slice* input, const char* label, std::string* version) {
  std::string field;
  if (!TakeField(input, &field) || field.rfind(label, 0) != 0) return false;
  *version = field.substr(std::string(label).size());
  int major = 0, minor = 0;
  char behind = 0;
  return std::sscanf(version->c_str(), "%d.%d%c", &major, &minor, &behind) == 2;
}

// A problem is returned as a text of the program, so that a damaged record costs no allocation; nullptr says that all
// is well.
const char* DecodeMultiGet(uint32_t count, Slice families, Slice keys, std::vector<TraceKey>* result) {
  result->clear();
  // Every key takes at least a byte, so a large count with few bytes does not ask for much memory.
  if (count > keys.size() || families.size() != kFamilyBytes * count) return "a multi-get of another size than it says";
  result->reserve(count);
  for (uint32_t i = 0; i < count; i++) {
    TraceKey key;
    if (!GetFixed32(&families, &key.column_family) || !GetLengthPrefixedSlice(&keys, &key.key)) {
      return "a key of a multi-get is cut short";
    }
    result->push_back(key);
  }
  CHECK_EQ(result->size(), count);
  return keys.empty() ? nullptr : "bytes behind the keys of a multi-get";
}

// The members that a record of this type must have, and those that it may have besides.
bool RightMembers(TraceType type, uint64_t members) {
  constexpr uint64_t kBounds = Bit(kIteratorLowerBound) | Bit(kIteratorUpperBound);
  switch (type) {
    case kTraceWrite:
      return members == Bit(kWriteBatchData);
    case kTraceGet:
      return members == (Bit(kGetColumnFamily) | Bit(kGetKey));
    case kTraceMultiGet:
      return members == (Bit(kMultiGetSize) | Bit(kMultiGetColumnFamilies) | Bit(kMultiGetKeys));
    default:
      return (members & ~kBounds) == (Bit(kIteratorColumnFamily) | Bit(kIteratorKey));
  }
}

// The bitmap says which members follow, in the order of its bits. The bitmap is compared with the members of the type
// before anything is read by it, so a damaged bitmap cannot make one type look like another.
const char* DecodeMembers(Slice payload, TraceRecord* record) {
  uint64_t members;
  if (!GetFixed64(&payload, &members)) return "a payload without its bitmap";
  if (!RightMembers(record->type, members)) return "a bitmap that does not fit the type of the record";
  uint32_t count = 0;
  Slice families, keys;
  bool whole = true;
  for (int bit = 0; bit < kPayloadBits && whole; bit++) {
    if ((members >> bit & 1) == 0) continue;
    switch (bit) {
      case kWriteBatchData:
        whole = GetLengthPrefixedSlice(&payload, &record->batch);
        break;
      case kGetColumnFamily:
      case kIteratorColumnFamily:
        whole = GetFixed32(&payload, &record->column_family);
        break;
      case kGetKey:
      case kIteratorKey:
        whole = GetLengthPrefixedSlice(&payload, &record->key);
        break;
      case kIteratorLowerBound:
        whole = GetLengthPrefixedSlice(&payload, &record->lower_bound);
        break;
      case kIteratorUpperBound:
        whole = GetLengthPrefixedSlice(&payload, &record->upper_bound);
        break;
      case kMultiGetSize:
        whole = GetFixed32(&payload, &count);
        break;
      case kMultiGetColumnFamilies:
        whole = GetLengthPrefixedSlice(&payload, &families);
        break;
      case kMultiGetKeys:
        whole = GetLengthPrefixedSlice(&payload, &keys);
        break;
      default:
        break;
    }
  }
  if (!whole) return "a member of the payload is cut short";
  if (!payload.empty()) return "bytes behind the last member of the payload";
  if (record->type == kTraceMultiGet) return DecodeMultiGet(count, families, keys, &record->keys);
  return nullptr;
}

const char* DecodeScan(Slice payload, TraceRecord* record) {
  const bool whole = GetFixed64(&payload, &record->seek_micros) && GetFixed32(&payload, &record->column_family) &&
                     GetVarint64(&payload, &record->nexts) && GetVarint64(&payload, &record->prevs) &&
                     GetLengthPrefixedSlice(&payload, &record->key);
  return whole && payload.empty() ? nullptr : "a scan record of the wrong size";
}

// Version 0.1 has no bitmap and no bounds; a write is the bare batch.
const char* DecodeVersion1(Slice payload, TraceRecord* record) {
  if (record->type == kTraceWrite) {
    record->batch = payload;
    return nullptr;
  }
  const bool whole =
      GetFixed32(&payload, &record->column_family) && GetLengthPrefixedSlice(&payload, &record->key) && payload.empty();
  return whole ? nullptr : "a get or seek of the wrong size";
}

}  // namespace

// The sequence in front means nothing in a trace. The count is believed only as far as updates are really there.
TraceUpdates::TraceUpdates(const Slice& batch) : rest_(batch) {
  if (batch.size() < kBatchHeaderBytes) {
    damaged_ = true;
    return;
  }
  remaining_ = DecodeFixed32(batch.data() + 8);
  rest_.remove_prefix(kBatchHeaderBytes);
}

// Passes entries of transactions and comments on the way, which RocksDB writes into batches and which are not counted.
// An update too few or too many for the count is damage, found at the end.
bool TraceUpdates::Next(TraceUpdate* update) {
  while (!damaged_ && !rest_.empty()) {
    const unsigned char tag = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    UpdateTag found;
    if (FindUpdateTag(tag, &found) && remaining_ > 0) {
      remaining_--;
      update->kind = found.kind;
      update->column_family = 0;
      update->value.clear();
      damaged_ = (found.has_column_family && !GetVarint32(&rest_, &update->column_family)) ||
                 !GetLengthPrefixedSlice(&rest_, &update->key) ||
                 (found.has_value && !GetLengthPrefixedSlice(&rest_, &update->value));
      return !damaged_;
    }
    if (!SkipUncounted(tag, &rest_, &damaged_)) damaged_ = true;
  }
  if (remaining_ != 0) damaged_ = true;
  return false;
}

TraceAccesses::TraceAccesses(const Slice& accesses) : rest_(accesses) {
  damaged_ = !GetFixed64(&rest_, &base_) || !GetFixed64(&rest_, &nanos_);
}

// Numbers that no access has are damage: a kind or purpose that is unknown, and bytes where there can be none.
bool TraceAccesses::Next(TraceAccess* access) {
  if (damaged_ || rest_.empty()) return false;
  uint64_t place;
  uint32_t what, since;
  damaged_ = !GetFixed64(&rest_, &place) || !GetFixed32(&rest_, &what) || !GetFixed32(&rest_, &since);
  if (damaged_) return false;
  const uint32_t kind = what >> kAccessBytesBits & kMostAccessKinds, purpose = what >> kAccessPurposeShift;
  nanos_ += since;
  access->offset = place & kMaxAccessOffset;
  access->thread = static_cast<uint16_t>(place >> kAccessOffsetBits);
  access->bytes = what & ((uint32_t{1} << kAccessBytesBits) - 1);
  access->nanos = nanos_;
  damaged_ = kind > TraceAccess::kFence || (purpose > TraceAccess::kManifest && purpose != TraceAccess::kNoPurpose) ||
             access->bytes > TraceAccess::kMostBytes || (access->bytes == 0) != (kind == TraceAccess::kFence);
  if (damaged_) return false;
  access->kind = static_cast<TraceAccess::Kind>(kind);
  access->purpose = static_cast<TraceAccess::Purpose>(purpose);
  return true;
}

TraceHead DecodeTraceHead(const char* p) {
  return {DecodeFixed64(p), static_cast<unsigned char>(p[8]), DecodeFixed32(p + 9)};
}

// Strict: everything of the line has to be there, because this is how a trace is told from any other file.
bool DecodeTraceBegin(const Slice& payload, int* format_version, std::string* writer) {
  Slice rest = payload;
  std::string field, version;
  if (!TakeField(&rest, &field) || field != kMagic) return false;
  if (!TakeVersion(&rest, kVersionLabel, &version) || !TakeVersion(&rest, kWriterLabel, writer)) return false;
  if (!TakeField(&rest, &field) || field.rfind("Format: ", 0) != 0 || !rest.empty()) return false;
  const size_t dot = version.find('.');
  *format_version = std::atoi((version.substr(0, dot) + version.substr(dot + 1)).c_str());
  return true;
}

// Resets the record first, so that one record may be used for a whole trace and never shows a member of the call
// before.
const char* DecodeTracePayload(int format_version, Slice payload, TraceRecord* record) {
  record->batch.clear();
  record->key.clear();
  record->lower_bound.clear();
  record->upper_bound.clear();
  record->accesses.clear();
  record->keys.clear();
  record->column_family = 0;
  record->seek_micros = record->nexts = record->prevs = 0;
  const char* problem = nullptr;
  switch (record->type) {
    case kTraceScan:
      return DecodeScan(payload, record);
    case kTraceAccesses:
      return DecodeAccesses(payload, record);
    case kTraceSeekToFirst:
    case kTraceSeekToLast:
    case kTraceMultiGet:
      return DecodeMembers(payload, record);
    case kTraceWrite:
    case kTraceGet:
    case kTraceSeek:
    case kTraceSeekForPrev:
      problem = format_version == 1 ? DecodeVersion1(payload, record) : DecodeMembers(payload, record);
      break;
    default:
      break;  // Of an unknown type nothing is known.
  }
  if (problem == nullptr && record->type == kTraceWrite && IsDamagedBatch(record->batch)) {
    problem = "a write batch that is damaged or cut short";
  }
  return problem;
}

}  // namespace miodb
