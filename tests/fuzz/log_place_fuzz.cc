// src/log/log_place.h: what says where the log is, of any bytes, is read as it was written or refused.

#include "src/log/log_place.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  LogPlace place;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (place.DecodeFrom(text)) FUZZ_CHECK(place.Encode() == text);
  if (size < 9) return 0;
  place.in_use = (fuzz::TakeByte(&data, &size) & 1) != 0;
  fuzz::TakeInto(&place.log_id, &data, &size);
  fuzz::TakeInto(&place.pool_id, &data, &size);
  place.wal_dir.assign(reinterpret_cast<const char*>(data), size);
  LogPlace read;
  FUZZ_CHECK(read.DecodeFrom(place.Encode()) && read == place);
  return 0;
}
