#include "src/ssd/sst_reader.h"

#include "src/ssd/readahead.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"

// A table file as gets and walks read it. The footer leads to the index, which is in memory while the table is open,
// and the index leads to blocks. A get needs one block: the filter says whether to look at all, the index says into
// which block, the block cache has it or the file is read. A walk goes from block to block in the order of the index,
// through a window of its own that reads ahead.
//
// Verification: the index is verified when the database is opened with paranoid_checks, the filter always, blocks in
// reads that verify, and in drains and compactions. A handle must lead into the file, and every length within a block
// is checked (CheckPlace, BlockIterator). Without verification a damaged block may give a wrong answer, and never one
// from outside of it.

namespace miodb {

namespace {

constexpr size_t kCacheKeyBytes = 16;

// The cache calls this when nobody has the block any more, perhaps long after the table was closed. So blocks know
// nothing of their table.
void DeleteBlock(const Slice&, void* value) { delete static_cast<const Block*>(value); }

}  // namespace

// The block that this pin held is released first; the other pin is left empty.
BlockPin& BlockPin::operator=(BlockPin&& other) noexcept {
  DCHECK(this != &other);
  Reset();
  std::swap(block_, other.block_);
  std::swap(cache_, other.cache_);
  std::swap(handle_, other.handle_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

// A block of the cache is let go of there; one that the cache did not want is the pin's own and deleted.
void BlockPin::Release() {
  DCHECK_EQ(cache_ != nullptr, handle_ != nullptr);
  if (cache_ != nullptr) {
    cache_->Release(handle_);
  } else {
    delete block_;
  }
  block_ = nullptr;
  cache_ = nullptr;
  handle_ = nullptr;
  bytes_.reset();
}

// Steps through the index, and through the data block that the index stands on.
// Reads through a ReadaheadFile of its own, so the walk's blocks come in large pieces, while gets of the same table
// read single blocks. A block is entered once: a Seek into the one where the walk is already reads nothing.
class SstIterator final : public Iterator {
 public:
  SstIterator(const SstReader* reader, SstReader::ReadMode mode)
      : reader_(reader),
        mode_(mode),
        file_(reader->file_.get(), reader->source_.size,
              {mode.readahead_start, mode.readahead_most, mode.readahead, mode.readers}),
        source_{&file_, reader->source_.name, reader->source_.size},
        index_(reader->format_.comparator),
        data_(reader->format_.comparator) {
    index_.Enter(reader->index_.get(), &reader->source_, reader->index_offset_);
  }

  bool Valid() const override { return data_.Valid(); }

  // All positions are found in two steps: a place in the index, and one in the block that it names. A block without the
  // key leads on to the next.
  void SeekToFirst() override {
    index_.SeekToFirst();
    EnterBlock();
    if (in_block_) data_.SeekToFirst();
    SkipForward();
  }

  void SeekToLast() override {
    index_.SeekToLast();
    EnterBlock();
    if (in_block_) data_.SeekToLast();
    SkipBackward();
  }

  void Seek(const Slice& target) override {
    index_.Seek(target);
    EnterBlock();
    if (in_block_) data_.Seek(target);
    SkipForward();
  }

  void Next() override {
    DCHECK(in_block_);
    data_.Next();
    SkipForward();
  }

  void Prev() override {
    DCHECK(in_block_);
    data_.Prev();
    SkipBackward();
  }

  Slice key() const override { return data_.key(); }
  Slice value() const override { return data_.value(); }

  // Damage of the index comes first, since a walk through it could lead anywhere; then the block's, and that of
  // reading it.
  Status status() const override {
    if (!index_.status().ok()) return index_.status();
    return status_.ok() ? data_.status() : status_;
  }

 private:
  // Opens the data block of the index entry. Stays in the block if it is that one already.
  void EnterBlock() {
    if (!index_.Valid()) {
      LeaveBlock();
      return;
    }
    // By the handle, which says the same as the index entry's place.
    if (in_block_ && status().ok() && index_.value() == Slice(handle_)) return;
    LeaveBlock();
    BlockHandle handle;
    status_ = reader_->DecodeHandle(index_.value(), &handle);
    if (status_.ok()) status_ = reader_->GetBlock(source_, mode_, handle, &pin_);
    if (!status_.ok()) return;
    handle_ = index_.value().ToString();
    data_.Enter(pin_.get(), &reader_->source_, handle.offset);
    in_block_ = true;
  }

  // The iterator lets go before the pin, which may free the bytes that it looks at.
  void LeaveBlock() {
    in_block_ = false;
    data_.Leave();
    pin_.Reset();
    DCHECK(!data_.Valid());
  }

  // On to the first entry of a later block if this one has no more; no further than damage.
  void SkipForward() {
    while (in_block_ && !data_.Valid() && status().ok()) {
      index_.Next();
      EnterBlock();
      if (in_block_) data_.SeekToFirst();
    }
  }

  // Back to the last entry of an earlier block, in the same way.
  void SkipBackward() {
    while (in_block_ && !data_.Valid() && status().ok()) {
      index_.Prev();
      EnterBlock();
      if (in_block_) data_.SeekToLast();
    }
  }

  const SstReader* const reader_;
  const SstReader::ReadMode mode_;
  const ReadaheadFile file_;
  const SstSource source_;
  BlockIterator index_;
  BlockIterator data_;
  BlockPin pin_;
  bool in_block_ = false;
  std::string handle_;  // of the block
  Status status_;       // of reading it
};

// A table has an id of its own in the block cache, and not its file's number: a file that is opened again finds none
// of the blocks of before, and needs no proof that they are still right.
SstReader::SstReader(const SstFormat& format, SstSource source, std::shared_ptr<const RandomAccessFile> file,
                     Cache* cache)
    : format_(format),
      source_(std::move(source)),
      file_(std::move(file)),
      cache_(cache),
      cache_id_(cache != nullptr ? cache->NewId() : 0) {
  CHECK(file_ != nullptr && format_.comparator != nullptr);
}

// The size is the caller's to say, because the manifest knows it: a file that has grown since is not asked.
Status SstReader::Open(const SstFormat& format, std::shared_ptr<const RandomAccessFile> file, const std::string& name,
                       uint64_t file_size, Checksums checksums, Cache* cache, std::unique_ptr<SstReader>* reader) {
  reader->reset();
  SstSource source{file.get(), name, file_size};
  std::unique_ptr<SstReader> fresh(new SstReader(format, std::move(source), std::move(file), cache));
  Status s = fresh->Load(checksums);
  if (s.ok()) *reader = std::move(fresh);
  return s;
}

// Footer, index, filter: all that a get needs in memory to read one block. The fingerprint is made of the bytes as
// they are stored, before they are uncompressed, as the writer made it.
Status SstReader::Load(Checksums checksums) {
  if (source_.size < kFooterBytes) {
    return Status::Corruption(source_.name, "too short for a table: " + std::to_string(source_.size) + " bytes");
  }
  char space[kFooterBytes];
  Slice bytes;
  const uint64_t footer_offset = source_.size - kFooterBytes;
  Status s = source_.file->Read(footer_offset, kFooterBytes, &bytes, space);
  if (!s.ok()) return s;
  if (bytes.size() < kFooterBytes) return source_.Corrupt(footer_offset, "the file ends inside of the footer");
  Footer footer;
  if (!footer.DecodeFrom(bytes)) return source_.Corrupt(footer_offset, "no footer of a table");
  std::string contents, tail;
  s = ReadBlock(source_, footer.index, checksums, &contents, &tail);
  if (!s.ok()) return s;
  tail.append(bytes.data(), bytes.size());
  fingerprint_ = Hash64(tail.data(), tail.size());
  index_offset_ = footer.index.offset;
  meta_index_ = footer.meta_index;
  CHECK(index_ == nullptr);
  index_ = std::make_unique<const Block>(std::move(contents));
  LoadFilter(checksums);
  return s;
}

// Reads do without a filter where the file has none, or one that cannot be read.
void SstReader::LoadFilter(Checksums checksums) {
  if (format_.filter_policy == nullptr) return;
  std::string contents;
  if (!ReadBlock(source_, meta_index_, checksums, &contents).ok()) return;
  const Block block(std::move(contents));
  BlockIterator it(BytewiseComparator());
  it.Enter(&block, &source_, meta_index_.offset);
  const std::string name = std::string("filter.") + format_.filter_policy->Name();
  it.Seek(name);
  if (!it.Valid() || it.key() != Slice(name)) return;
  Slice value = it.value();
  BlockHandle handle;
  std::string filters;
  // A filter that lies would hide keys, so it is always verified.
  if (!handle.DecodeFrom(&value) || !ReadBlock(source_, handle, Checksums::kVerify, &filters).ok()) return;
  CHECK(filter_ == nullptr);
  filter_bytes_ = filters.size();
  filter_offset_ = handle.offset;
  filter_ = std::make_unique<const FilterBlockReader>(format_.filter_policy, std::move(filters));
  filter_covers_all_ = filter_->CoversAll(meta_index_.offset);
}

// The check does not look into the blocks, because a filter has no redundancy besides its checksum.
Status SstReader::VerifyMeta() const {
  std::string contents;
  Status s = ReadBlock(source_, meta_index_, Checksums::kVerify, &contents);
  if (!s.ok()) return s;
  const Block block(std::move(contents));
  BlockIterator it(BytewiseComparator());
  it.Enter(&block, &source_, meta_index_.offset);
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    Slice value = it.value();
    BlockHandle handle;
    std::string ignored;
    if (!handle.DecodeFrom(&value)) return source_.Corrupt(meta_index_.offset, "damaged entry of the meta index");
    s = ReadBlock(source_, handle, Checksums::kVerify, &ignored);
    if (!s.ok()) return s;
  }
  return it.status();
}

// Index and filter were read from the file by now. They stay in memory beside the cache for as long as the table is
// open, so a table is in the trace with them once for each time that it is opened. Which level it lies on is not known
// here.
void SstReader::TraceTo(BlockTrace* trace, uint64_t number) {
  CHECK(trace_ == nullptr && trace != nullptr);
  trace_ = trace;
  number_ = number;
  BlockAccess access{number, index_offset_, index_->size(), 0, BlockKind::kIndex, BlockCaller::kOpen, false, true};
  trace->OnAccess(access);
  if (filter_ == nullptr) return;
  access.kind = BlockKind::kFilter;
  access.offset = filter_offset_;
  access.bytes = filter_bytes_;
  trace->OnAccess(access);
}

// Out of line, so that a read without a trace carries the test of it and nothing else.
[[gnu::noinline]] void SstReader::Trace(const ReadMode& mode, uint64_t offset, uint64_t bytes, bool is_hit) const {
  DCHECK(trace_ != nullptr);
  trace_->OnAccess({number_, offset, bytes, mode.level, BlockKind::kData, mode.caller, is_hit, !mode.fill_cache});
}

// The place that the handle names is checked when the block is read (CheckPlace).
Status SstReader::DecodeHandle(const Slice& encoded, BlockHandle* handle) const {
  Slice input = encoded;
  return handle->DecodeFrom(&input) ? Status::OK() : source_.Corrupt(index_offset_, "damaged index entry");
}

// key: kCacheKeyBytes, for what is put into the cache.
Cache::Handle* SstReader::FindCached(const BlockHandle& handle, char* key) const {
  if (cache_ == nullptr) return nullptr;
  EncodeFixed64(key, cache_id_);
  static_assert(kCacheKeyBytes == sizeof(cache_id_) + sizeof(handle.offset));
  EncodeFixed64(key + 8, handle.offset);
  return cache_->Lookup(Slice(key, kCacheKeyBytes));
}

// The block comes from the cache, from what was read side by side (blocks_read), or from the file. A block that is
// read for a get is kept only if it was read a short while before as well (recent), because a get wants one record of
// it and keeps that. The pin has the block, whatever the cache does.
Status SstReader::GetBlock(const SstSource& source, const ReadMode& mode, const BlockHandle& handle,
                           BlockPin* pin) const {
  pin->Reset();
  // A block of the cache was verified, or not, when it was read; it is not looked at again.
  char key[kCacheKeyBytes];
  pin->handle_ = FindCached(handle, key);
  if (pin->handle_ != nullptr) {
    pin->cache_ = cache_;
    pin->block_ = static_cast<const Block*>(cache_->Value(pin->handle_));
    if (trace_ != nullptr) [[unlikely]]
      Trace(mode, handle.offset, pin->block_->size(), true);
    return Status::OK();
  }
  DCHECK(!pin->holds_any());
  const size_t stored = static_cast<size_t>(handle.size) + kBlockTrailerBytes;
  const char* const bytes =
      mode.blocks_read == nullptr ? nullptr : mode.blocks_read->Find(file_.get(), handle.offset, stored);
  std::string contents;
  Status s = ReadBlock(source, handle, mode.checksums, &contents, nullptr, bytes);
  if (!s.ok()) return s;
  auto block = std::make_unique<Block>(std::move(contents));
  const size_t charge = block->size();
  if (trace_ != nullptr) [[unlikely]]
    Trace(mode, handle.offset, charge, false);
  if (cache_ != nullptr && mode.fill_cache &&
      (mode.recent == nullptr || mode.recent->Touch(cache_id_, handle.offset))) {
    pin->handle_ = cache_->Insert(Slice(key, sizeof(key)), block.get(), charge, &DeleteBlock);
    pin->cache_ = cache_;
  }
  pin->block_ = block.release();  // from here on the cache's or the pin's
  return s;
}

// The index has for each block a key at or behind its last: the first one not before the key leads to the only block
// that may have it. A filter of the whole table is asked before the index; filters of single blocks, as LevelDB makes
// them, after it.
Status SstReader::Locate(const Slice& key, bool* any, BlockHandle* handle) const {
  *any = false;
  DCHECK(index_ != nullptr);
  if (!MayHave(key)) return Status::OK();
  BlockIterator index(format_.comparator);
  index.Enter(index_.get(), &source_, index_offset_);
  index.Seek(key);
  if (!index.Valid()) return index.status();
  Status s = DecodeHandle(index.value(), handle);
  if (s.ok()) *any = filter_ == nullptr || filter_covers_all_ || filter_->KeyMayMatch(handle->offset, key);
  return s;
}

// Notes nothing for a block that the cache has. The block may have left the cache when Find comes; Find then reads it.
bool SstReader::PlanFind(const Slice& key, BlockReads* reads) const {
  bool any;
  BlockHandle handle;
  if (!Locate(key, &any, &handle).ok() || !any || !CheckPlace(source_, handle).ok()) return any;
  char cache_key[kCacheKeyBytes];
  Cache::Handle* const cached = FindCached(handle, cache_key);
  if (cached != nullptr) {
    cache_->Release(cached);
  } else {
    reads->Add(file_, handle.offset, static_cast<size_t>(handle.size) + kBlockTrailerBytes);
  }
  return true;
}

// An entry behind the key counts as found: whether it has the key is the caller's to see. If there is none in the
// block, the table does not have the key, since the next block begins behind it.
Status SstReader::Find(const ReadMode& mode, const Slice& key, BlockPin* pin, bool* found, std::string* found_key,
                       Slice* value) const {
  bool any;
  BlockHandle handle;
  *found = false;
  Status s = Locate(key, &any, &handle);
  if (!s.ok() || !any) return s;
  s = GetBlock(source_, mode, handle, pin);
  if (!s.ok()) return s;
  BlockIterator data(format_.comparator);
  data.Enter(pin->get(), &source_, handle.offset);
  data.Seek(key);
  if (!data.Valid()) return data.status();
  DCHECK(pin->get() != nullptr);
  *found = true;
  found_key->assign(data.key().data(), data.key().size());
  *value = data.value();
  return s;
}

// The reader outlives the iterator: walks of a level pin the open table for as long as they use it.
Iterator* SstReader::NewIterator(const ReadMode& mode) const { return new SstIterator(this, mode); }

// The index alone has the answer and is in memory, so this costs no read.
uint64_t SstReader::ApproximateOffsetOf(const Slice& key) const {
  DCHECK(index_ != nullptr);
  BlockIterator index(format_.comparator);
  index.Enter(index_.get(), &source_, index_offset_);
  index.Seek(key);
  if (!index.Valid()) return meta_index_.offset;
  Slice input = index.value();
  BlockHandle handle;
  return handle.DecodeFrom(&input) ? handle.offset : meta_index_.offset;
}

}  // namespace miodb
