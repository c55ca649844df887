// Column families that keys are spread over, as RocksDB's db_bench does with --num_column_families: the number in a key
// decides. An iterator, which has no key, is of the default family, as in RocksDB's db_bench.

#ifndef MIODB_BENCHMARKS_COMMON_ENGINES_FAMILY_NAME_H_
#define MIODB_BENCHMARKS_COMMON_ENGINES_FAMILY_NAME_H_

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace miodb::bench {

// The name of a family in RocksDB's db_bench.
inline std::string FamilyName(int64_t number) {
  char name[64];
  std::snprintf(name, sizeof(name), "column_family_name_%06lld", static_cast<long long>(number));
  return number == 0 ? "default" : name;
}

// The number in a key of the generator (db_bench/config/generator.h): in decimal, or in eight bytes, the highest first.
// Eight such bytes never begin with a digit, because numbers are below 2^56.
inline uint64_t NumberIn(std::string_view key) {
  key.remove_prefix(std::min(key.find_first_not_of('a'), key.size()));
  const std::string_view digits = key.substr(0, key.find_first_not_of("0123456789"));
  uint64_t number = 0;
  for (const char digit : digits) number = number * 10 + static_cast<uint64_t>(digit - '0');
  if (!digits.empty()) return number;
  for (const char byte : key.substr(0, sizeof(number))) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

template <class Family>
Family FamilyOf(const std::vector<Family>& families, std::string_view key) {
  return families[NumberIn(key) % families.size()];
}

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINES_FAMILY_NAME_H_
