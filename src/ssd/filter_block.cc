#include "src/ssd/filter_block.h"

#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// A file has one filter. LevelDB makes a filter for each 2 KiB. Such small filters take thrice the space and, where
// keys of digits lie side by side, let nearly every absent key pass.
constexpr int kBaseLog = 40;

}  // namespace

// Makes the filters of all spans that end before this block. With one span for the whole file that is none, and Finish
// makes the only one.
void FilterBlockBuilder::StartBlock(uint64_t offset) {
  const uint64_t index = offset >> kBaseLog;
  CHECK_GE(index, offsets_.size());
  while (offsets_.size() < index) MakeFilter();
}

// Keys are gathered one behind the other, as the policy wants all of them at once: 8 bytes and the key for each until
// Finish.
void FilterBlockBuilder::AddKey(const Slice& key) {
  starts_.push_back(keys_.size());
  keys_.append(key.data(), key.size());
}

// A span without a key gets an empty filter, by which a reader knows that it has none.
void FilterBlockBuilder::MakeFilter() {
  offsets_.push_back(static_cast<uint32_t>(result_.size()));
  if (starts_.empty()) return;
  std::vector<Slice> keys;
  keys.reserve(starts_.size());
  for (size_t i = 0; i < starts_.size(); i++) {
    const size_t end = i + 1 < starts_.size() ? starts_[i + 1] : keys_.size();
    keys.emplace_back(keys_.data() + starts_[i], end - starts_[i]);
  }
  policy_->CreateFilter(keys.data(), static_cast<int>(keys.size()), &result_);
  keys_.clear();
  starts_.clear();
}

// The list of offsets stands behind the filters and its own offset behind the list, so that every filter has an end
// and a reader finds all of it from the last five bytes.
Slice FilterBlockBuilder::Finish() {
  if (!starts_.empty()) MakeFilter();
  CHECK(keys_.empty());
  const uint32_t list_offset = static_cast<uint32_t>(result_.size());
  for (uint32_t offset : offsets_) PutFixed32(&result_, offset);
  PutFixed32(&result_, list_offset);
  result_.push_back(static_cast<char>(kBaseLog));
  return result_;
}

// Bytes that are no filter block leave count_ at 0, and then every key may match: a filter is never needed for a right
// answer.
FilterBlockReader::FilterBlockReader(const FilterPolicy* policy, std::string contents)
    : policy_(policy), contents_(std::move(contents)) {
  const size_t size = contents_.size();
  if (size < 5) return;
  const uint32_t list_offset = DecodeFixed32(contents_.data() + size - 5);
  const uint8_t base_log = static_cast<uint8_t>(contents_[size - 1]);
  if (list_offset > size - 5 || base_log > 63) return;
  list_offset_ = list_offset;
  base_log_ = base_log;
  count_ = (size - 5 - list_offset) / sizeof(uint32_t);
  CHECK_LE(list_offset_ + count_ * sizeof(uint32_t), size - 5);
}

// A filter that does not fit into the block is taken for damage and says "perhaps". The policy knows what an empty one
// means.
bool FilterBlockReader::KeyMayMatch(uint64_t block_offset, const Slice& key) const {
  const uint64_t index = block_offset >> base_log_;
  DCHECK(base_log_ >= 0 && base_log_ < 64);
  if (index >= count_) return true;
  // The list's own offset stands behind the last one, so there is an end for every filter.
  const char* const entry = contents_.data() + list_offset_ + index * sizeof(uint32_t);
  const uint32_t begin = DecodeFixed32(entry), end = DecodeFixed32(entry + sizeof(uint32_t));
  if (begin > end || end > list_offset_) return true;
  return policy_->KeyMayMatch(key, Slice(contents_.data() + begin, end - begin));
}

}  // namespace miodb
