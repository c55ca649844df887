// src/format/record.h: a record that parses lies within its limits and encodes to the same bytes.

#include "src/format/expiry.h"
#include "src/format/pm_ref.h"
#include "src/format/record.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  constexpr uint64_t kSecret = 0;  // that of the corpus
  fuzz::ExactBuffer bytes(data, size);
  RecordView record;
  if (!ParseRecord(bytes.data(), bytes.end(), &record)) return 0;
  FUZZ_CHECK(record.begin == bytes.data() && record.key.data() + record.key.size() == record.value.data());
  FUZZ_CHECK(record.value.data() + record.value.size() <= bytes.end());
  const bool verified = record.Verify(kSecret);
  if (IsPut(record.type())) FUZZ_CHECK(UserValue(record).size() <= record.value.size());
  FUZZ_CHECK(ExpiryOf(record) > 0 && HasExpired(record, ExpiryOf(record)));
  for (const ValueType type : {kTypeValue, kTypeMerge, kTypeSingleDeletion, kTypeExpiringValue}) {
    const IndexWord word(0, type, record.size());
    const uint64_t error = record.size() / (type == kTypeValue ? 1000 : type == kTypeExpiringValue ? 31 : 64);
    FUZZ_CHECK(word.type() == type && word.size() >= record.size() && word.size() - record.size() <= error);
  }
  if (record.size() != RecordSize(record.key.size(), record.value.size())) return 0;  // varints longer than need be
  FUZZ_CHECK(RecordHeaderSize(record.key.size(), record.size()) ==
             static_cast<size_t>(record.key.data() - record.begin));
  std::vector<char> head(kMaxRecordHeader + record.key.size());
  uint64_t hash;
  const char* const end = EncodeRecordHead(head.data(), record.tag, record.key, record.value, kSecret, &hash);
  const size_t head_size = static_cast<size_t>(end - head.data());
  FUZZ_CHECK(head_size + record.value.size() == record.size());
  FUZZ_CHECK(memcmp(head.data() + 4, record.begin + 4, head_size - 4) == 0);
  FUZZ_CHECK(hash == record.Hash(kSecret) && verified == (memcmp(head.data(), record.begin, 4) == 0));
  return 0;
}
