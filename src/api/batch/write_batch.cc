#include "miodb/write_batch.h"

#include <utility>

#include "miodb/column_family.h"
#include "src/api/batch/handle_id.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"

// Making the bytes of a batch, and walking them.

namespace miodb {

namespace {

// The length is written as 64 bits: the same bytes for every length that is allowed, while one beyond 32 bits makes a
// batch that every reader refuses instead of one that reads as something else.
constexpr size_t kCountOffset = 8;
static_assert(kCountOffset == sizeof(uint64_t) && kBatchHeaderBytes == kCountOffset + sizeof(uint32_t));

void PutString(std::string* rep, const Slice& s) {
  PutVarint64(rep, s.size());
  rep->append(s.data(), s.size());
}

Status HandlerWithoutFamilies() { return Status::NotSupported("this handler takes no updates of column families"); }

// Calls the handler for an update, by the form for column families if it is one of these.
Status CallHandler(WriteBatch::Handler* handler, uint8_t type, const Slice& key, Slice value) {
  const bool in_family = (type & kBatchFamily) != 0;
  const UserKey of = in_family ? SplitFamilyKey(key) : UserKey(key);
  switch (BaseBatchType(type)) {
    case kBatchExpiringPut:
      value.remove_prefix(kBatchExpiryBytes);
      [[fallthrough]];
    case kBatchPut:
      if (in_family) return handler->PutCF(of.family, of.key, value);
      handler->Put(key, value);
      return Status::OK();
    case kBatchMerge:
      return in_family ? handler->MergeCF(of.family, of.key, value) : handler->Merge(key, value);
    case kBatchSingleDeletion:
      return in_family ? handler->SingleDeleteCF(of.family, of.key) : handler->SingleDelete(key);
    case kBatchRangeDeletion:
      return in_family ? handler->DeleteRangeCF(of.family, of.key, KeyInFamily(value))
                       : handler->DeleteRange(key, value);
    default:
      if (in_family) return handler->DeleteCF(of.family, of.key);
      handler->Delete(key);
      return Status::OK();
  }
}

}  // namespace

ColumnFamilyHandle::~ColumnFamilyHandle() = default;

WriteBatch::Handler::~Handler() = default;

// For handlers that were written for LevelDB's interface.
Status WriteBatch::Handler::Merge(const Slice&, const Slice&) {
  return Status::NotSupported("this handler takes no merges");
}
Status WriteBatch::Handler::SingleDelete(const Slice&) {
  return Status::NotSupported("this handler takes no single deletions");
}
Status WriteBatch::Handler::DeleteRange(const Slice&, const Slice&) {
  return Status::NotSupported("this handler takes no range deletions");
}

Status WriteBatch::Handler::PutCF(uint32_t, const Slice&, const Slice&) { return HandlerWithoutFamilies(); }
Status WriteBatch::Handler::DeleteCF(uint32_t, const Slice&) { return HandlerWithoutFamilies(); }
Status WriteBatch::Handler::MergeCF(uint32_t, const Slice&, const Slice&) { return HandlerWithoutFamilies(); }
Status WriteBatch::Handler::SingleDeleteCF(uint32_t, const Slice&) { return HandlerWithoutFamilies(); }
Status WriteBatch::Handler::DeleteRangeCF(uint32_t, const Slice&, const Slice&) { return HandlerWithoutFamilies(); }

// Never without its header, whatever becomes of the batch: every function relies on it.
WriteBatch::WriteBatch() { Clear(); }

// A std::string that was moved from has some content or none; Clear makes it an empty batch again, with its header.
WriteBatch::WriteBatch(WriteBatch&& other) noexcept : rep_(std::move(other.rep_)) {
  other.Clear();
  DCHECK_GE(rep_.size(), kBatchHeaderBytes);
}

// As the constructor. A batch that is moved into itself stays as it is.
WriteBatch& WriteBatch::operator=(WriteBatch&& other) noexcept {
  if (this != &other) {
    rep_ = std::move(other.rep_);
    other.Clear();
  }
  return *this;
}

WriteBatch::~WriteBatch() = default;

// All kinds have the same form; the type says whether there is a value.
void WriteBatch::Put(const Slice& key, const Slice& value) { WriteBatchInternal::Add(this, kBatchPut, key, value); }
void WriteBatch::Delete(const Slice& key) { WriteBatchInternal::Add(this, kBatchDeletion, key, Slice()); }

// The default family's handle stands for none.
void WriteBatch::Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value) {
  WriteBatchInternal::AddToFamily(this, IdOf(family), kBatchPut, key, value);
}
void WriteBatch::Delete(ColumnFamilyHandle* family, const Slice& key) {
  WriteBatchInternal::AddToFamily(this, IdOf(family), kBatchDeletion, key, Slice());
}
void WriteBatch::Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& operand) {
  WriteBatchInternal::AddToFamily(this, IdOf(family), kBatchMerge, key, operand);
}
void WriteBatch::SingleDelete(ColumnFamilyHandle* family, const Slice& key) {
  WriteBatchInternal::AddToFamily(this, IdOf(family), kBatchSingleDeletion, key, Slice());
}
void WriteBatch::DeleteRange(ColumnFamilyHandle* family, const Slice& begin, const Slice& end) {
  WriteBatchInternal::AddToFamily(this, IdOf(family), kBatchRangeDeletion, begin, end);
}

// The count rises first: if there is no memory for the bytes the batch says more updates than it has, and every reader
// refuses it.
void WriteBatchInternal::Add(WriteBatch* batch, uint8_t type, const Slice& key, const Slice& value) {
  DCHECK(value.empty() || HasBatchValue(type));
  SetCount(batch, Count(batch) + 1);
  batch->rep_.push_back(static_cast<char>(type));
  PutString(&batch->rep_, key);
  if (HasBatchValue(type)) PutString(&batch->rep_, value);
}

// The prefix goes in here, once, so that whoever writes the batch finds its keys as a log has them.
void WriteBatchInternal::AddToFamily(WriteBatch* batch, uint32_t family, uint8_t type, const Slice& key,
                                     const Slice& value) {
  DCHECK((type & kBatchFamily) == 0 && family <= kMostFamilyId);
  if (family == kDefaultFamily) return Add(batch, type, key, value);
  SetCount(batch, Count(batch) + 1);
  std::string* const rep = &batch->rep_;
  const auto put_key = [&](const Slice& family_key) {
    PutVarint64(rep, kFamilyPrefixBytes + family_key.size());
    const FamilyPrefix prefix(family);
    rep->append(prefix.slice().data(), prefix.slice().size());
    rep->append(family_key.data(), family_key.size());
  };
  rep->push_back(static_cast<char>(type | kBatchFamily));
  put_key(key);
  if (type == kBatchRangeDeletion) {
    put_key(value);
  } else if (HasBatchValue(type)) {
    PutString(rep, value);
  }
}

// Short enough for the bytes inside a std::string, so that a move, which clears, cannot throw.
void WriteBatch::Clear() { rep_.assign(kBatchHeaderBytes, '\0'); }

size_t WriteBatch::ApproximateSize() const { return rep_.size(); }

// source may be this batch.
void WriteBatch::Append(const WriteBatch& source) { WriteBatchInternal::Append(this, &source); }

// The handler has seen the updates before the damage by the time that it is found; whoever wants all or nothing looks
// first.
Status WriteBatch::Iterate(Handler* handler) const {
  BatchReader reader(rep_);
  uint8_t type;
  Slice key, value;
  Status s;
  while (s.ok() && reader.Next(&type, &key, &value)) s = CallHandler(handler, type, key, value);
  if (!s.ok()) return s;
  if (reader.corrupt()) return Status::Corruption("write batch", "damaged or cut short");
  return Status::OK();
}

// The count is a fixed32 behind the sequence. Sequence and count are read and written as bytes, at any alignment.
uint32_t WriteBatchInternal::Count(const WriteBatch* batch) {
  DCHECK_GE(batch->rep_.size(), kBatchHeaderBytes);
  return DecodeFixed32(batch->rep_.data() + kCountOffset);
}

void WriteBatchInternal::SetCount(WriteBatch* batch, uint32_t count) {
  DCHECK_GE(batch->rep_.size(), kBatchHeaderBytes);
  EncodeFixed32(&batch->rep_[kCountOffset], count);
}

void WriteBatchInternal::SetSequence(WriteBatch* batch, uint64_t sequence) {
  DCHECK_GE(batch->rep_.size(), kBatchHeaderBytes);
  EncodeFixed64(&batch->rep_[0], sequence);
}

// Walks the bytes before it takes them: what comes from a log or over a network must not become a batch that says one
// thing and holds another.
Status WriteBatchInternal::SetContents(WriteBatch* batch, const Slice& contents) {
  BatchReader reader(contents);
  uint8_t type;
  Slice key, value;
  while (reader.Next(&type, &key, &value)) {
  }
  if (reader.corrupt()) return Status::Corruption("write batch", "damaged or cut short");
  batch->rep_.assign(contents.data(), contents.size());
  return Status::OK();
}

void WriteBatchInternal::Truncate(WriteBatch* batch, size_t bytes, uint32_t count) {
  DCHECK(bytes >= kBatchHeaderBytes && bytes <= batch->rep_.size());
  batch->rep_.resize(bytes);
  SetCount(batch, count);
}

// Counts add up, and the updates are the source's bytes as they are: none is looked at.
void WriteBatchInternal::Append(WriteBatch* target, const WriteBatch* source) {
  // The two numbers are read before anything changes, because source and target may be the same batch.
  const uint32_t count = Count(target) + Count(source);
  const size_t source_bytes = source->rep_.size();
  DCHECK_GE(source_bytes, kBatchHeaderBytes);
  DCHECK_GE(target->rep_.size(), kBatchHeaderBytes);
  target->rep_.append(source->rep_, kBatchHeaderBytes, source_bytes - kBatchHeaderBytes);
  SetCount(target, count);
}

}  // namespace miodb
