// A table file as one walk over it reads it: ahead of where the walk is, once that is seen to go on block after block.
//
// The first continuation reads kFirstBytes ahead, each further one twice as many, up to a most; a jump ends it. With a
// start size reading ahead begins at once, with that. At the most, what comes next is read by a helper thread while the
// walk works on what it has.
//
// Threads: belongs to one walk. Ownership: the file outlives this; what Read gives lives until the next Read.
//
// Errors: those of the file, at the block that needs the bytes; a failure beyond it shows when it is reached.

#ifndef MIODB_SRC_SSD_READAHEAD_H_
#define MIODB_SRC_SSD_READAHEAD_H_

#include <cstdint>
#include <memory>

#include "miodb/env.h"
#include "src/util/check/check.h"
#include "src/util/files/direct_file.h"
#include "src/util/threads/helper_threads.h"

namespace miodb {

class ReadaheadFile final : public RandomAccessFile {
 public:
  static constexpr size_t kFirstBytes = 16 * 1024;

  struct Options {
    size_t start_bytes = 0;  // 0: after two blocks in a row
    size_t most_bytes = 0;   // 0: never

    // State of a walk over several files: the number of bytes that it reads ahead, start_bytes at its beginning, and
    // kept in the next file if the walk goes on there.
    size_t* ahead = nullptr;

    HelperThreads* helpers = nullptr;  // null: nothing is read before it is asked for
  };

  ReadaheadFile(const RandomAccessFile* file, uint64_t file_size, const Options& options);
  ~ReadaheadFile() override;

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override;

 private:
  // Bytes of the file, with room for kRoom more in front of them.
  struct Buffer {
    AlignedBytes space;
    size_t capacity = 0;  // behind the room
    uint64_t begin = 0;   // of the bytes in the file; less than what was read from when some were put in front
    uint64_t end = 0;
    uint64_t read_from = 0;  // of what lies behind the room

    const char* at(uint64_t offset) const {
      DCHECK(offset >= begin && offset <= end);
      DCHECK(offset + kRoom >= read_from && end - read_from <= capacity);
      return space.get() + kRoom + offset - read_from;
    }
  };

  // A block is hardly larger; one that is, and lies across the end of a buffer, is read by itself.
  static constexpr size_t kRoom = 64 * 1024;

  bool Has(uint64_t offset, size_t n) const { return offset >= now_.begin && offset + n <= now_.end; }
  Status Fill(Buffer* buffer, uint64_t from, uint64_t end) const;
  void BeginNext() const;
  void EndNext() const;
  bool TakeNext(uint64_t offset, size_t n) const;

  const RandomAccessFile* const file_;
  const uint64_t file_size_;
  const Options options_;

  // The walk's, changed by its reads.
  mutable Buffer now_;
  mutable Buffer next_;                                // what comes behind now_; the task's while there is one
  mutable std::unique_ptr<HelperThreads::Task> task_;  // reads next_
  size_t own_ahead_;                                   // *ahead_ if the walk has this file only
  size_t* const ahead_;                                // bytes of the next fill
  mutable uint64_t expected_;                          // where the next read begins if the walk goes on
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_READAHEAD_H_
