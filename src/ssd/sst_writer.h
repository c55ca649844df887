// Writes a table file.
//
// Threads: one. Ownership: the file stays the caller's, who syncs and closes it. After a crash: part of a file,
// which nobody names yet. Errors: the first of the file is kept, given by every later call, and nothing more is
// written.

#ifndef MIODB_SRC_SSD_SST_WRITER_H_
#define MIODB_SRC_SSD_SST_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "miodb/env.h"
#include "src/ssd/block.h"
#include "src/ssd/filter_block.h"
#include "src/ssd/table_format.h"
#include "src/util/check/check.h"

namespace miodb {

class SstWriter {
 public:
  SstWriter(const SstFormat& format, WritableFile* file);
  SstWriter(const SstWriter&) = delete;
  SstWriter& operator=(const SstWriter&) = delete;

  // Block size, restart interval of later blocks and compression may change on the way.
  void SetFormat(const SstFormat& format) {
    CHECK(format.comparator == format_.comparator && format.filter_policy == format_.filter_policy);
    format_ = format;
  }
  const SstFormat& format() const { return format_; }

  // REQUIRES: key comes after the last one; Finish was not called.
  void Add(const Slice& key, const Slice& value);

  // Ends the data block, so that what comes next lies in another one.
  void Flush();

  // Writes filters, indexes and footer.
  Status Finish();

  const Status& status() const { return status_; }
  uint64_t entries() const { return entries_; }

  // Bytes given to the file so far; after Finish its size.
  uint64_t file_size() const { return offset_; }

  // Bytes with the block that is being made and the index, which is as large as the data where keys are long.
  uint64_t size_estimate() const { return offset_ + data_block_.CurrentSize() + index_block_.CurrentSize(); }

  // The fingerprint that SstReader::fingerprint will give for this file. After Finish.
  uint64_t fingerprint() const {
    DCHECK_NE(fingerprint_, 0u);
    return fingerprint_;
  }

 private:
  void WriteBlock(const Slice& block, CompressionType type, BlockHandle* handle, std::string* stored = nullptr);
  void AddToIndex(const std::string& separator);

  SstFormat format_;
  WritableFile* const file_;
  Status status_;
  uint64_t offset_ = 0;
  uint64_t entries_ = 0;
  uint64_t fingerprint_ = 0;
  BlockBuilder data_block_;
  BlockBuilder index_block_;
  std::unique_ptr<FilterBlockBuilder> filter_;
  std::string last_key_;

  // A data block that was written but is not in the index yet: its separator may be shorter once the next key is known.
  bool index_pending_ = false;
  BlockHandle pending_handle_;

  std::string compressed_;
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_SST_WRITER_H_
