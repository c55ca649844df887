// src/ssd/sst_reader.h: whatever a file holds, walks end, seeks stay inside, and verified reads that end without an
// error gave keys in order.

#include <algorithm>
#include <memory>

#include "src/ssd/internal_key.h"
#include "src/ssd/sst_reader.h"
#include "tests/fuzz/fuzz.h"

namespace miodb {
namespace {

class FuzzedFile final : public RandomAccessFile {
 public:
  FuzzedFile(const uint8_t* data, size_t size) : bytes_(data, size) {}

  // Gives bytes of the file itself, so that a sanitizer sees what is read behind its end.
  Status Read(uint64_t offset, size_t n, Slice* result, char*) const override {
    const size_t begin = static_cast<size_t>(std::min<uint64_t>(offset, bytes_.size()));
    *result = Slice(bytes_.slice().data() + begin, std::min(n, bytes_.size() - begin));
    return Status::OK();
  }

 private:
  mutable fuzz::ExactBuffer bytes_;
};

}  // namespace
}  // namespace miodb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  const uint8_t flags = fuzz::TakeByte(&data, &size);
  const Checksums checksums = ChecksumsIf((flags & 1) != 0);
  static const FilterPolicy* const policy = NewBloomFilterPolicy(10);
  static const InternalKeyComparator comparator{KeyOrder(BytewiseComparator())};
  static const InternalFilterPolicy internal_policy(policy);
  SstFormat format;
  format.comparator = &comparator;
  if ((flags & 2) != 0) format.filter_policy = &internal_policy;
  std::unique_ptr<SstReader> reader;
  if (!SstReader::Open(format, std::make_shared<FuzzedFile>(data, size), "fuzzed", size, checksums, nullptr, &reader)
           .ok())
    return 0;
  const SstReader::ReadMode mode{checksums, true};
  const std::unique_ptr<Iterator> it(reader->NewIterator(mode));
  constexpr int kSteps = 300;
  int steps = 0;
  std::string some_key = SeekKey("key", 5);
  for (it->SeekToFirst(); it->Valid() && steps < kSteps; it->Next(), steps++) some_key = it->key().ToString();
  for (it->SeekToLast(); it->Valid() && steps < 2 * kSteps; it->Prev()) steps++;
  it->Seek(some_key);
  for (; it->Valid() && steps < 3 * kSteps; it->Next()) steps++;
  BlockPin pin;
  bool found;
  std::string key;
  Slice value;
  if (reader->Find(mode, some_key, &pin, &found, &key, &value).ok() && found) {
    FUZZ_CHECK(comparator.Compare(key, some_key) >= 0);
    FUZZ_CHECK(std::string(value.data(), value.size()).size() == value.size());  // readable
  }
  reader->ApproximateOffsetOf(some_key);
  return 0;
}
