// Blocks of a table file: sorted entries, with keys that leave out what they share with the one before.
//
//   entry    varint32 shared, varint32 unshared, varint32 value size, unshared key bytes, value
//   block    entries | u32 offset of each restart | u32 number of restarts
//
// At a restart the key is stored whole, so that a search can begin there.
//
// Threads: a Block is immutable; builder and iterator belong to one thread.

#ifndef MIODB_SRC_SSD_BLOCK_H_
#define MIODB_SRC_SSD_BLOCK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "miodb/comparator.h"
#include "miodb/slice.h"
#include "miodb/status.h"
#include "src/ssd/table_format.h"
#include "src/util/check/check.h"

namespace miodb {

class BlockBuilder {
 public:
  explicit BlockBuilder(int restart_interval) : restart_interval_(restart_interval) { CHECK_GT(restart_interval_, 0); }

  // Keys come in ascending order.
  void Add(const Slice& key, const Slice& value);

  // Ends the block; the bytes live until Reset.
  Slice Finish();

  void Reset();
  bool empty() const { return buffer_.empty(); }
  size_t CurrentSize() const { return buffer_.size() + (restarts_.size() + 1) * sizeof(uint32_t); }

 private:
  const int restart_interval_;
  std::string buffer_;
  std::vector<uint32_t> restarts_{0};
  int since_restart_ = 0;
  std::string last_key_;
};

class Block {
 public:
  // Any bytes; what cannot be a block has no entries, and its iterators say so.
  explicit Block(std::string contents);

  size_t size() const { return contents_.size(); }

 private:
  friend class BlockIterator;

  const std::string contents_;
  bool valid_ = false;
  uint32_t restarts_offset_ = 0;
  uint32_t restart_count_ = 0;
};

// A walk over a block. Positions are those of public iterators; Enter comes before anything else. The slices of key()
// and value() live until the next move; the bytes of a value live as long as the block.
class BlockIterator {
 public:
  explicit BlockIterator(const Comparator* comparator) : comparator_(comparator) { DCHECK(comparator_ != nullptr); }

  // Turns to this block, which lies at this offset of a file, without a position. The block outlives its use.
  void Enter(const Block* block, const SstSource* source, uint64_t offset);

  // Lets go of the block.
  void Leave() { block_ = nullptr; }

  bool Valid() const { return block_ != nullptr && current_ < block_->restarts_offset_; }
  void SeekToFirst();
  void SeekToLast();
  void Seek(const Slice& target);
  void Next();  // REQUIRES: Valid()
  void Prev();  // REQUIRES: Valid()
  Slice key() const {
    DCHECK(Valid());
    return key_;
  }
  Slice value() const {
    DCHECK(Valid());
    return value_;
  }
  const Status& status() const { return status_; }

 private:
  uint32_t RestartPoint(uint32_t index) const;
  void GoToRestart(uint32_t index);
  bool ParseNext();
  void Fail(const char* what);

  const Comparator* const comparator_;
  const Block* block_ = nullptr;
  const SstSource* source_ = nullptr;
  uint64_t offset_ = 0;         // of the block in its file
  uint32_t current_ = 0;        // offset of the entry in the block; restarts_offset_ if there is none
  uint32_t next_ = 0;           // offset of the entry behind it
  uint32_t restart_index_ = 0;  // the last restart at or before the entry
  std::string key_;
  Slice value_;
  Status status_;
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_BLOCK_H_
