// The form of a row of the options' table, options.def.

#ifndef MIODB_SRC_API_OPTIONS_OPTION_ROWS_H_
#define MIODB_SRC_API_OPTIONS_OPTION_ROWS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "miodb/option_table.h"

namespace miodb::option_table {

// The member of an option. A new type gets its alternative here.
using OptionMember =
    std::variant<bool Options::*, int Options::*, uint64_t Options::*, std::string Options::*, PersistMode Options::*,
                 LogMode Options::*, FileAccess Options::*, InfoLogLevel Options::*, CompressionType Options::*,
                 std::vector<NvmRegion> Options::*, std::vector<std::string> Options::*>;

enum class RangeRule {
  kCounts,       // least to most
  kBytes,        // the same; tests may go below the least
  kBytesOrZero,  // or 0
  kPages,        // bytes in multiples of the pool's pages
  kPagesOrZero,  // or 0
  kPowers,       // powers of two
  kWords,        // words, whose values are 0, 1, ...
  kForm,         // a text; words says of which form
};

struct OptionRange {
  RangeRule rule;
  int64_t least;
  uint64_t most;
  const char* words;  // with a comma and a blank between them
};

struct OptionElsewhere {
  const char* name = "";
  const char* note = "";
  bool in_leveldb = false;
};

struct OptionRow {
  const char* name;
  OptionMember member;
  OptionRange range;
  const char* unit = "";
  const char* help;
  OptionNeeds needs = OptionNeeds::kNothing;
  OptionChange change = OptionChange::kAtEveryOpen;
  OptionHeading heading = OptionHeading::kMioDb;
  OptionElsewhere elsewhere = {};
};

constexpr OptionRange Counts(int64_t least, uint64_t most) { return {RangeRule::kCounts, least, most, ""}; }
constexpr OptionRange Bytes(int64_t least, uint64_t most) { return {RangeRule::kBytes, least, most, ""}; }
constexpr OptionRange BytesOrZero(int64_t least, uint64_t most) { return {RangeRule::kBytesOrZero, least, most, ""}; }
constexpr OptionRange Pages(int64_t least, uint64_t most) { return {RangeRule::kPages, least, most, ""}; }
constexpr OptionRange PagesOrZero(int64_t least, uint64_t most) { return {RangeRule::kPagesOrZero, least, most, ""}; }
constexpr OptionRange Powers(int64_t least, uint64_t most) { return {RangeRule::kPowers, least, most, ""}; }
constexpr OptionRange Words(const char* words) { return {RangeRule::kWords, 0, 0, words}; }
constexpr OptionRange Switch() { return Words("false, true"); }
constexpr OptionRange Text(const char* form = "any text") { return {RangeRule::kForm, 0, 0, form}; }
constexpr OptionElsewhere RocksDb(const char* name, const char* note) { return {name, note, false}; }
constexpr OptionElsewhere Both(const char* name, const char* note) { return {name, note, true}; }

constexpr int64_t KiB = 1024;
constexpr int64_t MiB = KiB * KiB;
constexpr int64_t GiB = KiB * MiB;
constexpr int64_t TiB = KiB * GiB;
constexpr uint64_t kAny = UINT64_MAX;
constexpr OptionNeeds kSsdTier = OptionNeeds::kSsdTier;
constexpr OptionNeeds kLogInFiles = OptionNeeds::kLogInFiles;
constexpr OptionChange kOnlyByMove = OptionChange::kOnlyByMove;
constexpr OptionHeading kOther = OptionHeading::kOther;
constexpr OptionHeading kEveryEngine = OptionHeading::kEveryEngine;
constexpr OptionHeading kLogFiles = OptionHeading::kLogFiles;
constexpr OptionHeading kTableFiles = OptionHeading::kTableFiles;
constexpr OptionHeading kLevelDb = OptionHeading::kLevelDb;

#define OPTION(option) .name = #option, .member = &Options::option

inline constexpr OptionRow kOptionRows[] = {
#include "src/api/options/options.def"
};

#undef OPTION

}  // namespace miodb::option_table

#endif  // MIODB_SRC_API_OPTIONS_OPTION_ROWS_H_
