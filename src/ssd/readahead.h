// A table file as one walk over it reads it: ahead of where the walk is, once that is seen to go on block after block.
//
// The first continuation reads kFirstBytes ahead, each further one twice as many, up to a most; a jump ends it. With a
// start size reading ahead begins at once, with that.
//
// Threads: belongs to one walk. Ownership: the file outlives this; what Read gives lives until the next Read.
//
// Errors: those of the file, at the block that needs the bytes; a failure beyond it shows when it is reached.

#ifndef MIODB_SRC_SSD_READAHEAD_H_
#define MIODB_SRC_SSD_READAHEAD_H_

#include <cstdint>

#include "miodb/env.h"
#include "src/util/direct_file.h"

namespace miodb {

class ReadaheadFile final : public RandomAccessFile {
 public:
  static constexpr size_t kFirstBytes = 16 * 1024;

  // start_bytes 0: after two blocks in a row. most_bytes 0: never.
  ReadaheadFile(const RandomAccessFile* file, uint64_t file_size, size_t start_bytes, size_t most_bytes);

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override;

 private:
  bool Has(uint64_t offset, size_t n) const { return offset >= begin_ && offset + n <= begin_ + filled_; }
  Status Fill(uint64_t offset, size_t n) const;

  const RandomAccessFile* const file_;
  const uint64_t file_size_;
  const size_t start_bytes_;
  const size_t most_bytes_;

  // The walk's, changed by its reads.
  mutable AlignedBytes buffer_;
  mutable size_t capacity_ = 0;
  mutable uint64_t begin_ = 0;  // of the buffer's bytes in the file
  mutable size_t filled_ = 0;
  mutable size_t ahead_;                    // bytes of the next fill
  mutable uint64_t expected_ = UINT64_MAX;  // where the next read begins if the walk goes on
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_READAHEAD_H_
