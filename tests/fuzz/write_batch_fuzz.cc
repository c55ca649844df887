// api/batch/write_batch_internal.h: bytes that are a batch can be walked, replayed and appended; others are refused.

#include "miodb/write_batch.h"
#include "src/api/batch/write_batch_internal.h"
#include "tests/fuzz/fuzz.h"

namespace miodb {
namespace {

class Rebuild final : public WriteBatch::Handler {
 public:
  void Put(const Slice& key, const Slice& value) override { batch.Put(key, value); }
  void Delete(const Slice& key) override { batch.Delete(key); }
  Status Merge(const Slice& key, const Slice& operand) override {
    batch.Merge(key, operand);
    return Status::OK();
  }
  Status SingleDelete(const Slice& key) override {
    batch.SingleDelete(key);
    return Status::OK();
  }
  Status DeleteRange(const Slice& begin, const Slice& end) override {
    batch.DeleteRange(begin, end);
    return Status::OK();
  }

  WriteBatch batch;
};

}  // namespace
}  // namespace miodb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  fuzz::ExactBuffer bytes(data, size);
  BatchReader reader(bytes.slice());
  uint8_t type;
  Slice key, value;
  uint32_t count = 0;
  for (; reader.Next(&type, &key, &value); count++) {
    FUZZ_CHECK(IsBatchType(type));
    FUZZ_CHECK(type != kBatchExpiringPut || value.size() >= kBatchExpiryBytes);
    FUZZ_CHECK(key.data() >= bytes.data() && key.data() + key.size() <= bytes.end());
  }
  FUZZ_CHECK(!reader.Next(&type, &key, &value));
  WriteBatch batch;
  batch.Put("a", "b");
  const Status s = WriteBatchInternal::SetContents(&batch, bytes.slice());
  FUZZ_CHECK(s.ok() == !reader.corrupt());
  if (!s.ok()) {
    FUZZ_CHECK(s.IsCorruption() && WriteBatchInternal::Count(&batch) == 1);
    return 0;
  }
  FUZZ_CHECK(WriteBatchInternal::Count(&batch) == count);
  Rebuild rebuild;
  FUZZ_CHECK(batch.Iterate(&rebuild).ok() && WriteBatchInternal::Count(&rebuild.batch) == count);
  WriteBatchInternal::Append(&rebuild.batch, &batch);
  FUZZ_CHECK(WriteBatchInternal::Count(&rebuild.batch) == count + count);
  return 0;
}
