#include "src/log/file_log_writer.h"

#include <algorithm>
#include <string>

#include "src/log/file_log_format.h"
#include "src/util/check.h"
#include "src/util/coding.h"
#include "src/util/crc32c.h"

namespace miodb {

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

Status FileLogWriter::EndBlock() {
  const size_t room = block_size_ - used_;
  used_ = 0;
  bytes_ += room;
  padding_bytes_ += room;
  return room > 0 ? file_->Append(std::string(room, '\0')) : Status::OK();
}

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
