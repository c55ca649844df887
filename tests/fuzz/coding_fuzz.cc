// src/util/bytes/coding.h: what decodes encodes to the same value, and nothing is read behind the end.

#include "src/util/bytes/coding.h"
#include "tests/fuzz/fuzz.h"

namespace miodb {
namespace {

template <typename Value>
void CheckVarint(Slice input, bool (*get)(Slice*, Value*), void (*put)(std::string*, Value)) {
  const Slice before = input;
  Value value;
  if (!get(&input, &value)) {
    FUZZ_CHECK(input.data() == before.data() && input.size() == before.size());
    return;
  }
  const size_t read = before.size() - input.size();
  std::string encoded;
  put(&encoded, value);
  FUZZ_CHECK(encoded.size() == static_cast<size_t>(VarintLength(value)));
  FUZZ_CHECK(encoded.size() <= read);  // it may have been longer than it has to be
  Slice again(encoded);
  Value decoded;
  FUZZ_CHECK(get(&again, &decoded) && decoded == value && again.empty());
}

}  // namespace
}  // namespace miodb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  fuzz::ExactBuffer bytes(data, size);
  CheckVarint<uint32_t>(bytes.slice(), GetVarint32, PutVarint32);
  CheckVarint<uint64_t>(bytes.slice(), GetVarint64, PutVarint64);
  Slice input = bytes.slice();
  uint32_t fixed32;
  if (GetFixed32(&input, &fixed32)) {
    std::string encoded;
    PutFixed32(&encoded, fixed32);
    FUZZ_CHECK(memcmp(encoded.data(), data, 4) == 0 && input.size() == size - 4);
  }
  uint64_t fixed64;
  if (GetFixed64(&input, &fixed64)) {
    std::string encoded;
    PutFixed64(&encoded, fixed64);
    FUZZ_CHECK(memcmp(encoded.data(), data + 4, 8) == 0);
  }
  input = bytes.slice();
  Slice piece;
  for (Slice rest = input; GetLengthPrefixedSlice(&rest, &piece);) {
    FUZZ_CHECK(piece.data() >= input.data() && piece.data() + piece.size() == rest.data());
    std::string encoded;
    PutLengthPrefixedSlice(&encoded, piece);
    Slice again(encoded), decoded;
    FUZZ_CHECK(GetLengthPrefixedSlice(&again, &decoded) && decoded == piece && again.empty());
  }
  return 0;
}
