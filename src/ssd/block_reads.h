// Blocks of table files that somebody is about to look for, read side by side. A reader that is given them
// (SstReader::ReadMode::blocks_read) takes from here what it would have read itself. What could not be read it tries to
// read, and meets the error.
//
// Threads: one at a time.

#ifndef MIODB_SRC_SSD_BLOCK_READS_H_
#define MIODB_SRC_SSD_BLOCK_READS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "miodb/env.h"
#include "src/util/direct_file.h"
#include "src/util/read_rings.h"

namespace miodb {

class BlockReads {
 public:
  // Notes that these bytes of a file are going to be needed, or that a file cannot be read past its object.
  void Add(std::shared_ptr<const RandomAccessFile> file, uint64_t offset, size_t size);

  // Reads what was noted. False if nothing was read.
  bool Run(ReadRings* rings);

  // Forgets what was noted and read.
  void Clear() {
    reads_.clear();
    unreadable_ = 0;
  }

  size_t count() const { return reads_.size(); }
  size_t unreadable() const { return unreadable_; }

  // These bytes, until Clear; nullptr if they were not noted so, or not read.
  const char* Find(const RandomAccessFile* file, uint64_t offset, size_t size) const;

 private:
  struct Read {
    std::shared_ptr<const RandomAccessFile> file;
    RawFile raw;
    uint64_t offset;
    size_t size;
    const char* bytes;  // nullptr: not read
  };

  std::vector<Read> reads_;  // a few dozen
  size_t unreadable_ = 0;
  AlignedBytes space_;
  size_t capacity_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_BLOCK_READS_H_
