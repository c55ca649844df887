// Blocks of table files that somebody is about to look for, read side by side. A reader that is given these blocks
// (SstReader::ReadMode::blocks_read) takes them from here instead of reading them. If a block is not here, the reader
// reads it, and meets the error.
//
// Threads: one at a time.

#ifndef MIODB_SRC_SSD_BLOCK_READS_H_
#define MIODB_SRC_SSD_BLOCK_READS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "miodb/env.h"
#include "src/util/files/direct_file.h"
#include "src/util/files/read_rings.h"

namespace miodb {

class BlockReads {
 public:
  // Notes that these bytes of a file are going to be needed.
  void Add(std::shared_ptr<const RandomAccessFile> file, uint64_t offset, size_t size);

  // Reads what was noted, once. False if nothing was read, because that is not possible, or not for one of the files.
  bool Run(ReadRings* rings);

  size_t count() const { return reads_.size(); }

  // The bytes of a block; nullptr if Add did not have this block, or if it was not read.
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
  bool possible_ = true;     // all files can be read past their objects
  AlignedBytes space_;
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_BLOCK_READS_H_
