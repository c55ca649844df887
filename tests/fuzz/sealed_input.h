// Input for decoders of the small files that src/format/sealed.h frames.

#ifndef MIODB_TESTS_FUZZ_SEALED_INPUT_H_
#define MIODB_TESTS_FUZZ_SEALED_INPUT_H_

#include "src/format/sealed.h"
#include "tests/fuzz/fuzz.h"

namespace miodb::fuzz {

// The input but for its first byte, which says whether the checksum is made right.
class SealedInput : public ExactBuffer {
 public:
  SealedInput(const uint8_t* input, size_t input_size)
      : ExactBuffer(input_size > 0 ? input + 1 : input, input_size > 0 ? input_size - 1 : 0) {
    if (input_size == 0 || (input[0] & 1) == 0 || size() < kSealBytes) return;
    const uint32_t crc = MaskedCrc(Crc32c(data() + kSealBytes, size() - kSealBytes));
    EncodeFixed32(data() + kSealBytes - sizeof(crc), crc);
  }
};

}  // namespace miodb::fuzz

#endif  // MIODB_TESTS_FUZZ_SEALED_INPUT_H_
