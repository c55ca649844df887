#include "tests/common/random/generator.h"

#include <algorithm>
#include <cstdio>

#include "src/util/bytes/hash.h"

namespace miodb::test {

namespace {

std::string FromAlphabet(Random* random, const std::string& alphabet, size_t length) {
  std::string result;
  for (size_t i = 0; i < length; i++) result.push_back(alphabet[random->Uniform(alphabet.size())]);
  return result;
}

std::string Digits(uint64_t n, int width) {
  char text[32];
  const int length = std::snprintf(text, sizeof(text), "%0*llu", width, static_cast<unsigned long long>(n));
  return std::string(text, static_cast<size_t>(length));
}

// Prefixes differ late, some after more bytes than an index node compares at once.
std::string SharedPrefix(uint64_t which) {
  std::string prefix(50 + 14 * (which % 6), 'p');
  prefix.back() = static_cast<char>('a' + which % 3);
  return prefix;
}

std::string MakeKey(KeyStyle style, uint64_t number, Random* random) {
  switch (style) {
    case KeyStyle::kShort:
      return FromAlphabet(random, "abcd", random->Uniform(5));
    case KeyStyle::kLongShared:
      return SharedPrefix(random->Uniform(6)) + Digits(number, random->OneIn(2) ? 1 : 10);
    case KeyStyle::kBinary:
      return FromAlphabet(random, std::string("\x00\x01\xff", 3), random->Uniform(13));
    case KeyStyle::kNumbers:
      return Digits(number * 7919, 16);
    case KeyStyle::kLetters:
      return FromAlphabet(random, "abcABC", 1 + random->Uniform(3));
    case KeyStyle::kMixed:
      break;
  }
  if (random->OneIn(64)) return SharedPrefix(5) + std::string(1000 + random->Uniform(3000), 'L') + Digits(number, 1);
  constexpr KeyStyle kStyles[] = {KeyStyle::kShort, KeyStyle::kLongShared, KeyStyle::kBinary, KeyStyle::kNumbers};
  return MakeKey(kStyles[random->Uniform(4)], number, random);
}

}  // namespace

std::string KeySpace::Key(uint64_t i) const {
  Random random(Mix64(seed_, i));
  return MakeKey(style_, i, &random);
}

std::string KeySpace::Near(Random* random) const {
  std::string key = Any(random);
  switch (random->Uniform(6)) {
    case 0:
      key.push_back('\0');
      break;
    case 1:
      if (!key.empty()) key.pop_back();
      break;
    case 2:
      if (!key.empty()) key.back() = static_cast<char>(key.back() + 1);
      break;
    case 3:
      key.push_back('\xff');
      break;
    default:
      break;
  }
  return key;
}

std::string AnyValue(Random* random, size_t max_bytes) {
  const uint64_t dice = random->Uniform(400);
  size_t limit = 120;
  if (dice < 32) return "";
  if (dice < 34) {
    limit = max_bytes;
  } else if (dice < 50) {
    limit = 6000;
  } else if (dice < 120) {
    limit = 1000;
  }
  return random->Bytes(random->Uniform(std::min(limit, max_bytes) + 1));
}

}  // namespace miodb::test
