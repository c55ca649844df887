// A walk over the files of one SSD level, as one source of a merging iterator.

#include <algorithm>

#include "src/ssd/ssd_levels.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// A single file of the level is open at a time. Files of a level do not overlap, so a walk goes through them one after
// the other. The table is pinned in the cache of open files while it is being walked, and the files themselves by the
// version that the walk belongs to.
class LevelIterator final : public RecordIterator {
 public:
  // The mode's readahead counter is this walk's own, so reading ahead goes on at full size from one file into the
  // next.
  LevelIterator(const SsdStore* store, const FileList* files, const SstReader::ReadMode& mode)
      : store_(store), files_(files), mode_(mode), readahead_(mode.readahead_start), index_(files->size()) {
    CHECK(store_ != nullptr);
    mode_.readahead = &readahead_;
  }

  bool Valid() const override { return valid_; }

  // A file without entries is passed over; one that cannot be read stops the walk.
  void SeekToFirst() override {
    Jump(0);
    if (it_ != nullptr) it_->SeekToFirst();
    SettleForward();
  }

  void SeekToLast() override {
    Jump(files_->empty() ? 0 : files_->size() - 1);
    if (it_ != nullptr) it_->SeekToLast();
    SettleBackward();
  }

  // Only the first file whose largest key is not before the key can have it or what comes after it.
  void Seek(const Slice& key, uint64_t sequence) override {
    Jump(FindFile(store_->order(), *files_, key));
    if (it_ != nullptr) it_->Seek(SeekKey(key, sequence));
    SettleForward();
  }

  void Next() override {
    DCHECK(valid_ && it_ != nullptr);
    it_->Next();
    SettleForward();
  }

  void Prev() override {
    DCHECK(valid_ && it_ != nullptr);
    it_->Prev();
    SettleBackward();
  }

 private:
  // To a file that the walk does not lead to. In the one where it is already, its own reads show whether it goes on.
  // Reading ahead begins anew after a jump, because nothing says that the walk will go on from there.
  void Jump(size_t index) {
    if (index != index_) readahead_ = mode_.readahead_start;
    Enter(index);
  }

  // Opens the file with this index; none behind the last.
  void Enter(size_t index) {
    valid_ = false;
    if (it_ != nullptr && index == index_ && status_.ok()) return;
    it_.reset();
    index_ = index;
    DCHECK_LE(index, files_->size());
    if (index >= files_->size()) return;
    status_ = store_->OpenTable((*files_)[index]->meta(), &table_);
    if (status_.ok()) it_.reset(table_->NewIterator(mode_));
  }

  // Goes on to the next file where this one has no more entries. Stops at damage: entries behind it could be hidden by
  // those that cannot be read.
  void SettleForward() {
    while (it_ != nullptr && !it_->Valid() && it_->status().ok()) {
      Enter(index_ + 1);
      if (it_ != nullptr) it_->SeekToFirst();
    }
    Load();
  }

  // Goes on to the file before this one; before the first there is none, which the index behind the last stands for.
  void SettleBackward() {
    while (it_ != nullptr && !it_->Valid() && it_->status().ok()) {
      Enter(index_ > 0 ? index_ - 1 : files_->size());
      if (it_ != nullptr) it_->SeekToLast();
    }
    Load();
  }

  // Takes the internal key apart. A key that is too short for a tag, or has a type that no version of this library
  // writes, is Corruption: the block's checksum may be right and the file still another program's.
  void Load() {
    valid_ = false;
    if (it_ == nullptr) return;
    if (!it_->Valid()) {
      status_ = it_->status();
      return;
    }
    DCHECK_LT(index_, files_->size());
    const Slice key = it_->key();
    record_.begin = nullptr;
    record_.tag = TagOf(key);
    record_.key = UserKeyOf(key);
    record_.value = it_->value();
    if (key.size() < kInternalTagBytes || !IsKnownType(record_.type())) {
      status_ = Status::Corruption(store_->FileName((*files_)[index_]->meta().number), "a key that is none of ours");
      return;
    }
    valid_ = true;
  }

  const SsdStore* const store_;
  const FileList* const files_;
  SstReader::ReadMode mode_;
  size_t readahead_;  // see ReadMode
  size_t index_;
  SsdStore::Pin table_;
  std::unique_ptr<Iterator> it_;  // null: behind the last file, before the first, or the file cannot be opened
  bool valid_ = false;
};

}  // namespace

// Defined here, so that the store itself does not need to know how a level is walked. The store's helpers read ahead
// for all walks together.
std::unique_ptr<InternalIterator> SsdStore::NewIterator(const FileList* files, const SstReader::ReadMode& mode) const {
  SstReader::ReadMode with_readers = mode;
  with_readers.readers = &readers_;
  return std::make_unique<LevelIterator>(this, files, with_readers);
}

}  // namespace miodb
