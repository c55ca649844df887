// Making the bytes of records. A size stands in front of its bytes, so sizes are computed first and checked afterwards.

#include <string>
#include <vector>

#include "src/api/batch/write_batch_internal.h"
#include "src/trace/trace_format.h"
#include "src/trace/trace_payload.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// The bytes that these keys take in a record, so that its size is known before it is made.
uint64_t LengthPrefixedBytes(const std::vector<Slice>& keys) {
  uint64_t bytes = 0;
  for (const Slice& key : keys) bytes += static_cast<uint64_t>(VarintLength(key.size())) + key.size();
  return bytes;
}

bool HasFamilyUpdates(const Slice& batch) {
  uint8_t type;
  Slice key, value;
  for (BatchReader reader(batch); reader.Next(&type, &key, &value);) {
    if ((type & kBatchFamily) != 0) return true;
  }
  return false;
}

// An update as RocksDB has it: the numbers of types are its own already, those with a column family the table's above.
void PutUpdate(std::string* dst, uint8_t type, const UserKey& key, const Slice& value) {
  DCHECK(IsBatchType(type) && (type & kBatchFamily) == 0);
  const bool of_family = key.family != kDefaultFamily;
  const uint8_t family_tag = type == kBatchSingleDeletion  ? 0x08
                             : type == kBatchRangeDeletion ? 0x0e
                                                           : static_cast<uint8_t>(type + 0x04);
  dst->push_back(static_cast<char>(of_family ? family_tag : type));
  if (of_family) PutVarint32(dst, key.family);
  PutLengthPrefixedSlice(dst, key.key);
  if (HasBatchValue(type)) PutLengthPrefixedSlice(dst, value);
}

}  // namespace

// The string's memory is kept from record to record, so that a call that is traced allocates nothing in the usual case.
void TraceEncoder::Start(uint64_t micros, TraceType type) {
  CHECK(type > 0 && type <= UINT8_MAX);
  out_->clear();
  PutFixed64(out_, micros);
  out_->push_back(static_cast<char>(type));
  PutFixed32(out_, 0);  // Finish fills it in.
  CHECK_EQ(out_->size(), kTraceHeadBytes);
}

// The payload's length is known only now, so the head is made with none and corrected here, in the string that is
// written as a whole afterwards.
void TraceEncoder::Finish() {
  CHECK_GE(out_->size(), kTraceHeadBytes);
  CHECK_LE(out_->size() - kTraceHeadBytes, kMaxTracePayload);  // or no reader would take it
  EncodeFixed32(&(*out_)[kTraceHeadBytes - 4], static_cast<uint32_t>(out_->size() - kTraceHeadBytes));
}

// A line of text in a record, with the words that RocksDB's readers look for. The version behind "RocksDB Version" is
// ours, because there is no other place for it.
void TraceEncoder::Begin(uint64_t micros, int major, int minor) {
  Start(micros, kTraceBegin);
  out_->append(std::string(kMagic) + "\t" + kVersionLabel + "0.2\t" + kWriterLabel + std::to_string(major) + "." +
               std::to_string(minor) + "\t" + kFormatField + "\n");
  Finish();
}

void TraceEncoder::End(uint64_t micros) {
  Start(micros, kTraceEnd);
  Finish();
}

void TraceEncoder::StartWrite(uint64_t micros) {
  Start(micros, kTraceWrite);
  PutFixed64(out_, Bit(kWriteBatchData));
}

// header: sequence and count, of which the first means nothing here: the order of records is the order of writes.
void TraceEncoder::PutBatch(const Slice& header, const Slice& updates) {
  DCHECK_EQ(header.size(), kBatchHeaderBytes);
  PutVarint32(out_, static_cast<uint32_t>(header.size() + updates.size()));
  out_->append(header.data(), header.size());
  out_->append(updates.data(), updates.size());
}

// The batch goes in as it is, unless it has updates of column families.
void TraceEncoder::Batch(uint64_t micros, const Slice& batch) {
  DCHECK_GE(batch.size(), kBatchHeaderBytes);
  const Slice header(batch.data(), kBatchHeaderBytes);
  StartWrite(micros);
  if (HasFamilyUpdates(batch)) {
    std::string updates;
    uint8_t type;
    Slice key, value;
    for (BatchReader reader(batch); reader.Next(&type, &key, &value);) {
      const bool of_family = (type & kBatchFamily) != 0;
      const bool has_end = of_family && BaseBatchType(type) == kBatchRangeDeletion;
      PutUpdate(&updates, BaseBatchType(type), of_family ? SplitFamilyKey(key) : key,
                has_end ? KeyInFamily(value) : value);
    }
    PutBatch(header, updates);
  } else {
    PutBatch(header, Slice(batch.data() + kBatchHeaderBytes, batch.size() - kBatchHeaderBytes));
  }
  Finish();
}

// A put is recorded by one copy of its bytes: the size of the body comes before the body, so it is computed and
// checked.
void TraceEncoder::Update(uint64_t micros, uint8_t type, const UserKey& key, const Slice& value) {
  DCHECK((value.empty() || HasBatchValue(type)) && (type & kBatchFamily) == 0);
  size_t body_bytes = 1 + static_cast<size_t>(VarintLength(key.key.size())) + key.key.size();
  if (key.family != kDefaultFamily) body_bytes += static_cast<size_t>(VarintLength(key.family));
  if (HasBatchValue(type)) body_bytes += static_cast<size_t>(VarintLength(value.size())) + value.size();
  StartWrite(micros);
  PutVarint32(out_, static_cast<uint32_t>(kBatchHeaderBytes + body_bytes));
  PutFixed64(out_, 0);
  PutFixed32(out_, 1);
  const size_t body = out_->size();
  PutUpdate(out_, type, key, value);
  CHECK_EQ(out_->size() - body, body_bytes);
  Finish();
}

void TraceEncoder::Get(uint64_t micros, const UserKey& key) {
  Start(micros, kTraceGet);
  PutFixed64(out_, Bit(kGetColumnFamily) | Bit(kGetKey));
  PutFixed32(out_, key.family);
  PutLengthPrefixedSlice(out_, key.key);
  Finish();
}

uint64_t TraceEncoder::MultiGetPayload(const std::vector<Slice>& keys) {
  constexpr uint64_t kMembers = 8 + 4 + 2 * kMaxVarint32Bytes;  // bitmap, count, the lengths of families and keys
  return kMembers + kFamilyBytes * keys.size() + LengthPrefixedBytes(keys);
}

void TraceEncoder::MultiGet(uint64_t micros, const std::vector<UserKey>& keys) {
  const size_t count = keys.size();
  std::vector<Slice> slices;
  for (const UserKey& key : keys) slices.push_back(key.key);
  CHECK_LE(MultiGetPayload(slices), kMaxTracePayload);
  Start(micros, kTraceMultiGet);
  PutFixed64(out_, Bit(kMultiGetSize) | Bit(kMultiGetColumnFamilies) | Bit(kMultiGetKeys));
  PutFixed32(out_, static_cast<uint32_t>(count));
  PutVarint32(out_, static_cast<uint32_t>(kFamilyBytes * count));
  for (const UserKey& key : keys) PutFixed32(out_, key.family);
  PutVarint32(out_, static_cast<uint32_t>(LengthPrefixedBytes(slices)));
  for (const Slice& key : slices) PutLengthPrefixedSlice(out_, key);
  CHECK_LE(out_->size() - kTraceHeadBytes, MultiGetPayload(slices));
  Finish();
}

// An empty bound is written as none: the format cannot tell the two apart, and an empty lower bound bounds nothing.
void TraceEncoder::Seek(uint64_t micros, TraceType type, const UserKey& key, const Slice* lower, const Slice* upper) {
  CHECK(type == kTraceSeek || type == kTraceSeekForPrev || type == kTraceSeekToFirst || type == kTraceSeekToLast);
  const bool has_lower = lower != nullptr && !lower->empty();
  const bool has_upper = upper != nullptr && !upper->empty();
  Start(micros, type);
  PutFixed64(out_, Bit(kIteratorColumnFamily) | Bit(kIteratorKey) | (has_lower ? Bit(kIteratorLowerBound) : 0) |
                       (has_upper ? Bit(kIteratorUpperBound) : 0));
  PutFixed32(out_, key.family);
  PutLengthPrefixedSlice(out_, key.key);
  if (has_lower) PutLengthPrefixedSlice(out_, *lower);
  if (has_upper) PutLengthPrefixedSlice(out_, *upper);
  Finish();
}

void TraceEncoder::Scan(uint64_t micros, uint64_t seek_micros, const UserKey& key, uint64_t nexts, uint64_t prevs) {
  Start(micros, kTraceScan);
  PutFixed64(out_, seek_micros);
  PutFixed32(out_, key.family);
  PutVarint64(out_, nexts);
  PutVarint64(out_, prevs);
  PutLengthPrefixedSlice(out_, key.key);
  Finish();
}

// Covers its own head too, so that a damaged type or time of this record is found like one of any other.
void TraceEncoder::Checksum(uint64_t micros, uint64_t checksum) {
  Start(micros, kTraceChecksum);
  PutFixed64(out_, 0);
  Finish();
  CHECK_EQ(out_->size(), kTraceHeadBytes + sizeof(checksum));
  EncodeFixed64(&(*out_)[kTraceHeadBytes], ChainChecksum(checksum, Slice(out_->data(), kTraceHeadBytes)));
}

void TraceEncoder::Accesses(uint64_t micros, const Slice& accesses) {
  CHECK_GE(accesses.size(), kAccessHeadBytes + kAccessBytes);
  CHECK_EQ((accesses.size() - kAccessHeadBytes) % kAccessBytes, 0u);
  Start(micros, kTraceAccesses);
  out_->append(accesses.data(), accesses.size());
  Finish();
}

bool AccessesPayload::Takes(uint64_t nanos) const {
  DCHECK(empty() || nanos >= nanos_);
  return empty() || nanos - nanos_ <= UINT32_MAX;
}

// Sixteen bytes for each, so that a reader needs no state but the time.
void AccessesPayload::Add(uint64_t base, const TraceAccess& access) {
  CHECK(Takes(access.nanos));
  DCHECK_EQ(access.bytes == 0, access.kind == TraceAccess::kFence);
  CHECK_LE(access.offset, kMaxAccessOffset);
  CHECK_LE(access.bytes, TraceAccess::kMostBytes);
  if (empty()) {
    PutFixed64(&bytes_, base);
    PutFixed64(&bytes_, access.nanos);
    nanos_ = access.nanos;
  }
  PutFixed64(&bytes_, access.offset | uint64_t{access.thread} << kAccessOffsetBits);
  PutFixed32(&bytes_, access.bytes | static_cast<uint32_t>(access.kind) << kAccessBytesBits |
                          static_cast<uint32_t>(access.purpose) << kAccessPurposeShift);
  PutFixed32(&bytes_, static_cast<uint32_t>(access.nanos - nanos_));
  DCHECK_EQ((bytes_.size() - kAccessHeadBytes) % kAccessBytes, 0u);
  nanos_ = access.nanos;
}

}  // namespace miodb
