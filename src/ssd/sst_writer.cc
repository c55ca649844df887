#include "src/ssd/sst_writer.h"

#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"

// The order of a file is the order of writing: data blocks, filter block, meta index, index, footer. Nothing is ever
// written twice or out of order, so the file may be any that can be appended to. Until Finish the index is in memory,
// a separator and a handle for each block, and so are the keys for the filter.

namespace miodb {

namespace {

// Places in a block are 32 bits.
constexpr uint64_t kMaxBlockBytes = UINT32_MAX;

}  // namespace

// The file has to be empty, or places in it would be wrong: offsets are counted here and not asked of the file.
SstWriter::SstWriter(const SstFormat& format, WritableFile* file)
    : format_(format),
      file_(file),
      data_block_(format.restart_interval),
      index_block_(1) {  // every entry of the index is whole, so that a search in it is binary to the end
  CHECK(file_ != nullptr && format_.comparator != nullptr);
  if (format.filter_policy != nullptr) {
    filter_ = std::make_unique<FilterBlockBuilder>(format.filter_policy);
    filter_->StartBlock(0);
  }
}

// The index entry of a block waits for the first key of the next one: what separates the two may then be shorter than
// either.
void SstWriter::Add(const Slice& key, const Slice& value) {
  if (!status_.ok()) return;
  CHECK_EQ(fingerprint_, 0u);  // not finished
  CHECK(entries_ == 0 || format_.comparator->Compare(key, last_key_) > 0);
  // last_key_ becomes the separator; it is given the new key below.
  if (index_pending_) {
    format_.comparator->FindShortestSeparator(&last_key_, key);
    AddToIndex(last_key_);
  }
  if (filter_ != nullptr) filter_->AddKey(key);
  last_key_.assign(key.data(), key.size());
  entries_++;
  data_block_.Add(key, value);
  if (data_block_.CurrentSize() >= format_.block_size) Flush();
}

// The block is given to the file, which buffers; nothing is durable before the caller syncs.
void SstWriter::Flush() {
  if (!status_.ok() || data_block_.empty()) return;
  CHECK(!index_pending_);
  WriteBlock(data_block_.Finish(), format_.compression, &pending_handle_);
  data_block_.Reset();
  if (!status_.ok()) return;
  index_pending_ = true;
  if (filter_ != nullptr) filter_->StartBlock(offset_);
}

// The separator is not before any key of its block and before every key of the next one, so one search in the index
// finds the only block that can have a key.
void SstWriter::AddToIndex(const std::string& separator) {
  CHECK(index_pending_);
  std::string handle;
  pending_handle_.EncodeTo(&handle);
  index_block_.Add(separator, handle);
  index_pending_ = false;
}

// *stored: a copy of what went to the file, trailer included.
// A block that compression does not make much smaller is stored as it is, and says so in its trailer; readers need no
// option for it.
void SstWriter::WriteBlock(const Slice& block, CompressionType type, BlockHandle* handle, std::string* stored) {
  if (block.size() > kMaxBlockBytes) {
    status_ = Status::NotSupported("table file", "a block of " + std::to_string(block.size()) +
                                                     " bytes: too many long keys, or versions of one that snapshots " +
                                                     "keep; the limit is " + std::to_string(kMaxBlockBytes));
    return;
  }
  compressed_.clear();
  const bool worth_it = CompressBlock(type, format_.zstd_level, block, &compressed_);
  const Slice bytes = worth_it ? Slice(compressed_) : block;
  const std::string trailer = BlockTrailer(worth_it ? type : kNoCompression, bytes);
  CHECK(bytes.size() <= block.size() && trailer.size() == kBlockTrailerBytes);
  *handle = {offset_, bytes.size()};
  status_ = file_->Append(bytes);
  if (status_.ok()) status_ = file_->Append(trailer);
  if (!status_.ok()) return;
  offset_ += bytes.size() + trailer.size();
  if (stored != nullptr) *stored = bytes.ToString() + trailer;
}

// The footer comes last and alone tells where everything is: a file without it is no table, whatever a crash has left
// of it. The fingerprint covers the index block as it is stored and the footer, so files with other content have
// another one.
Status SstWriter::Finish() {
  Flush();
  CHECK(!status_.ok() || index_pending_ == (entries_ > 0));
  Footer footer;
  BlockBuilder meta_index(1);
  if (status_.ok() && filter_ != nullptr) {
    BlockHandle handle;
    WriteBlock(filter_->Finish(), kNoCompression, &handle);
    std::string value;
    handle.EncodeTo(&value);
    meta_index.Add(std::string("filter.") + format_.filter_policy->Name(), value);
  }
  if (status_.ok()) WriteBlock(meta_index.Finish(), format_.compression, &footer.meta_index);
  std::string tail;
  if (status_.ok()) {
    if (index_pending_) {
      format_.comparator->FindShortSuccessor(&last_key_);
      AddToIndex(last_key_);
    }
    WriteBlock(index_block_.Finish(), format_.compression, &footer.index, &tail);
  }
  if (!status_.ok()) return status_;
  std::string encoded;
  footer.EncodeTo(&encoded);
  CHECK_EQ(footer.index.offset + footer.index.size + kBlockTrailerBytes, offset_);
  status_ = file_->Append(encoded);
  if (!status_.ok()) return status_;
  offset_ += encoded.size();
  tail += encoded;
  fingerprint_ = Hash64(tail.data(), tail.size());
  return status_;
}

}  // namespace miodb
