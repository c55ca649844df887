// Records as fragments of LevelDB's log format. Bytes are counted before they are appended: after a failure nobody
// knows how many of them are there, and nothing more is appended.

#include "src/log/file_log_writer.h"

#include <algorithm>
#include <string>

#include "src/log/file_log_format.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/crc32c.h"
#include "src/util/check/check.h"

namespace miodb {

// A record is split at the ends of blocks. With padding one that would be, and does not begin its block, begins the
// next one instead: the rest of the block is zeros, which every reader of the format skips.
Status FileLogWriter::Add(const Slice& record) {
  const char* p = record.data();
  size_t left = record.size();
  bool first = true;
  do {
    DCHECK_LE(used_, block_size_);
    const size_t room = block_size_ - used_;
    const bool would_split = used_ > 0 && room < kFragmentHeaderBytes + left;
    if (room < kFragmentHeaderBytes || (padding_ && first && would_split)) {
      Status s = EndBlock();
      if (!s.ok()) return s;
    }
    // At least a header fits now. A fragment may be empty where no more does.
    const size_t size = std::min(left, block_size_ - used_ - kFragmentHeaderBytes);
    const bool last = size == left;
    Status s = AddFragment(first ? (last ? kFullFragment : kFirstFragment) : (last ? kLastFragment : kMiddleFragment),
                           p, size);
    if (!s.ok()) return s;
    p += size;
    left -= size;
    first = false;
  } while (left > 0);
  return Status::OK();
}

// Zeros to the end of the block, fewer than a header or, with padding, as many as there are.
Status FileLogWriter::EndBlock() {
  DCHECK_LE(used_, block_size_);
  const size_t room = block_size_ - used_;
  used_ = 0;
  bytes_ += room;
  padding_bytes_ += room;
  return room > 0 ? file_->Append(std::string(room, '\0')) : Status::OK();
}

// The checksum covers the type too, so that a fragment is not taken for the first of a record which it goes on with.
Status FileLogWriter::AddFragment(uint8_t type, const char* payload, size_t size) {
  DCHECK_LE(used_ + kFragmentHeaderBytes + size, block_size_);
  char header[kFragmentHeaderBytes];
  header[4] = static_cast<char>(size & 0xff);
  header[5] = static_cast<char>(size >> 8);
  header[6] = static_cast<char>(type);
  EncodeFixed32(header, MaskedCrc(Crc32c(payload, size, Crc32c(header + 6, 1))));
  used_ += sizeof(header) + size;
  bytes_ += sizeof(header) + size;
  Status s = file_->Append(Slice(header, sizeof(header)));
  return s.ok() ? file_->Append(Slice(payload, size)) : s;
}

}  // namespace miodb
