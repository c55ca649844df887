// Column families that keys are spread over, as RocksDB's db_bench does with --num_column_families: the number in a key
// decides. An iterator, which has no key, is of the default family, as in RocksDB's db_bench.

#ifndef MIODB_BENCHMARKS_COMMON_ENGINES_FAMILY_NAME_H_
#define MIODB_BENCHMARKS_COMMON_ENGINES_FAMILY_NAME_H_

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

// The number is where the generator of keys puts it: the highest byte first, in the first eight bytes.
template <class Family>
Family FamilyOf(const std::vector<Family>& families, std::string_view key) {
  uint64_t number = 0;
  for (const char byte : key.substr(0, sizeof(number))) number = number << 8 | static_cast<unsigned char>(byte);
  return families[number % families.size()];
}

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINES_FAMILY_NAME_H_
