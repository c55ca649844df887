#include "src/api/options/option_table.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "miodb/option_table.h"
#include "src/api/options/option_rows.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

// The type of a member decides how its value is read, written and held against the range of its row (options.def).

namespace miodb {

namespace option_table {

namespace {

template <typename Test>
constexpr bool EachRow(Test test) {
  return std::ranges::all_of(kOptionRows, test);
}

constexpr bool IsPower(uint64_t size) { return size != 0 && (size & (size - 1)) == 0; }

constexpr RangeRule Rule(const OptionRow& row) { return row.range.rule; }
constexpr uint64_t kPageBytes = 4 * KiB;

// A row that says something else does not compile.
static_assert(EachRow([](const OptionRow& row) { return *row.help != '\0'; }));
static_assert(EachRow([](const OptionRow& row) {
  return row.range.least <= 0 || static_cast<uint64_t>(row.range.least) <= row.range.most;
}));
static_assert(EachRow([](const OptionRow& row) { return Rule(row) < RangeRule::kWords || *row.range.words != '\0'; }));
static_assert(EachRow([](const OptionRow& row) {
  return Rule(row) != RangeRule::kPages || (row.range.least % kPageBytes == 0 && row.range.most % kPageBytes == 0);
}));
static_assert(EachRow([](const OptionRow& row) {
  return Rule(row) != RangeRule::kPowers ||
         (IsPower(static_cast<uint64_t>(row.range.least)) && IsPower(row.range.most));
}));
static_assert(EachRow([](const OptionRow& row) {
  return *row.unit == '\0' || Rule(row) == RangeRule::kCounts || Rule(row) == RangeRule::kPowers;
}));
static_assert(EachRow([](const OptionRow& row) {
  return row.change == OptionChange::kAtEveryOpen || Rule(row) == RangeRule::kForm;
}));
static_assert(EachRow([](const OptionRow& row) {
  return (*row.elsewhere.name == '\0') == (*row.elsewhere.note == '\0');
}));

using Parts = std::vector<std::string_view>;

Parts Split(std::string_view text, std::string_view separator) {
  DCHECK(!separator.empty());
  Parts parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

const OptionRow* FindRow(std::string_view name) {
  const auto* row = std::find_if(std::begin(kOptionRows), std::end(kOptionRows),
                                 [&](const OptionRow& candidate) { return name == candidate.name; });
  return row == std::end(kOptionRows) ? nullptr : row;
}

Status NoSuchOption(const std::string& name) {
  return Status::InvalidArgument("Options::" + name, "there is no option of this name, or it has no text form");
}

Status NotAllowed(const OptionRow& row, const std::string& value, const std::string& allowed) {
  return Status::InvalidArgument(std::string("Options::") + row.name + " is " + value, "allowed: " + allowed);
}

// ---- Ranges. ----

bool IsBytes(RangeRule rule) { return rule >= RangeRule::kBytes && rule <= RangeRule::kPagesOrZero; }
bool IsPages(RangeRule rule) { return rule == RangeRule::kPages || rule == RangeRule::kPagesOrZero; }
bool AllowsZero(RangeRule rule) { return rule == RangeRule::kBytesOrZero || rule == RangeRule::kPagesOrZero; }

std::string Allowed(const OptionRange& range, uint64_t page_bytes) {
  if (range.rule == RangeRule::kWords || range.rule == RangeRule::kForm) return range.words;
  std::string text = AllowsZero(range.rule) ? "0, or " : "";
  if (IsPages(range.rule)) text += "multiples of " + std::to_string(page_bytes) + " from ";
  if (range.rule == RangeRule::kPowers) text += "powers of two from ";
  return text + std::to_string(range.least) + " to " + std::to_string(range.most);
}

template <typename Number>
bool Holds(const OptionRange& range, Number value, uint64_t page_bytes) {
  if constexpr (std::is_signed_v<Number>) {
    if (value < 0) return value >= range.least;
  }
  const uint64_t size = static_cast<uint64_t>(value);
  if (size == 0 && AllowsZero(range.rule)) return true;
  if (range.least > 0 && size < static_cast<uint64_t>(range.least)) return false;
  return size <= range.most && (!IsPages(range.rule) || size % page_bytes == 0) &&
         (range.rule != RangeRule::kPowers || IsPower(size));
}

// An enumeration is read as the integer that lies there: a caller may have put anything into it.
template <typename Enum>
int Raw(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int raw;
  memcpy(&raw, &value, sizeof(raw));
  return raw;
}

Status CheckValue(const OptionRow& row, OptionRange range, const Options& options, uint64_t page_bytes) {
  return std::visit(
      [&](auto member) {
        using Value = std::remove_cvref_t<decltype(options.*member)>;
        const Value& value = options.*member;
        if constexpr (std::is_enum_v<Value>) {
          const int raw = Raw(value);
          const int count = static_cast<int>(Split(range.words, ", ").size());
          if (raw >= 0 && raw < count) return Status::OK();
          return NotAllowed(row, std::to_string(raw), "0 to " + std::to_string(count - 1) + " (" + range.words + ")");
        } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
          if (Holds(range, value, page_bytes)) return Status::OK();
          return NotAllowed(row, std::to_string(value), Allowed(range, page_bytes));
        } else {
          return Status::OK();
        }
      },
      row.member);
}

// ---- Text. ----

template <typename Number>
bool ParseNumber(std::string_view text, Number* value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

// A number of bytes with k, m, g or t behind it, or none.
bool ParseBytes(std::string_view text, uint64_t* bytes) {
  constexpr std::string_view kUnits = "kmgtKMGT";
  const size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  if (unit == std::string_view::npos) return ParseNumber(text, bytes);
  const size_t shift = 10 * (unit % 4 + 1);
  if (!ParseNumber(text.substr(0, text.size() - 1), bytes) || *bytes > UINT64_MAX >> shift) return false;
  *bytes <<= shift;
  return true;
}

// PATH[:SIZE[:NODE]]
bool ParseRegion(std::string_view text, NvmRegion* region) {
  const Parts parts = Split(text, ":");
  region->path = parts[0];
  if (region->path.empty() || parts.size() > 3) return false;
  if (parts.size() > 1 && !parts[1].empty() && !ParseBytes(parts[1], &region->limit)) return false;
  return parts.size() < 3 || (ParseNumber(parts[2], &region->node) && region->node >= -1 && region->node <= 1023);
}

bool Parse(const OptionRange&, std::string_view text, std::string* value) {
  *value = text;
  return true;
}

bool Parse(const OptionRange&, std::string_view text, std::vector<std::string>* value) {
  value->clear();
  if (text.empty()) return true;
  for (std::string_view part : Split(text, ",")) value->emplace_back(part);
  return true;
}

bool Parse(const OptionRange&, std::string_view text, std::vector<NvmRegion>* value) {
  value->clear();
  if (text.empty()) return true;
  for (std::string_view part : Split(text, ",")) {
    value->emplace_back();
    if (!ParseRegion(part, &value->back())) return false;
  }
  return true;
}

// Numbers, and what has words: enumerations and bool.
template <typename Value>
bool Parse(const OptionRange& range, std::string_view text, Value* value) {
  if (range.rule != RangeRule::kWords) {
    if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
      return ParseNumber(text, value) && Holds(range, *value, kPageBytes);
    }
  }
  const Parts words = Split(range.words, ", ");
  const auto word = std::find(words.begin(), words.end(), text);
  *value = static_cast<Value>(word - words.begin());
  return word != words.end();
}

bool Print(const OptionRange&, const std::string& value, std::string* text) {
  *text = value;
  return true;
}

bool PrintPath(const std::string& path, const char* separators, std::string* text) {
  if (path.find_first_of(separators) != std::string::npos) return false;
  *text += (text->empty() ? "" : ",") + path;
  return true;
}

bool Print(const OptionRange&, const std::vector<std::string>& value, std::string* text) {
  text->clear();
  return std::all_of(value.begin(), value.end(), [&](const std::string& path) { return PrintPath(path, ",", text); });
}

bool Print(const OptionRange&, const std::vector<NvmRegion>& value, std::string* text) {
  text->clear();
  for (const NvmRegion& region : value) {
    if (!PrintPath(region.path, ",:", text)) return false;
    if (region.limit != 0 || region.node != -1) *text += ":";
    if (region.limit != 0) *text += std::to_string(region.limit);
    if (region.node != -1) *text += ":" + std::to_string(region.node);
  }
  return true;
}

template <typename Value>
bool Print(const OptionRange& range, const Value& value, std::string* text) {
  if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, bool>) {
    const Parts words = Split(range.words, ", ");
    size_t index;
    if constexpr (std::is_enum_v<Value>) {
      index = static_cast<size_t>(Raw(value));
    } else {
      index = value ? 1 : 0;
    }
    if (index >= words.size()) return false;
    *text = words[index];
  } else {
    *text = std::to_string(value);
  }
  return true;
}

Status PrintOption(const OptionRow& row, const Options& options, std::string* text) {
  return std::visit(
      [&](auto member) {
        if (Print(row.range, options.*member, text)) return Status::OK();
        return Status::InvalidArgument(std::string("Options::") + row.name, "its value has no text form");
      },
      row.member);
}

// ---- The table as programs see it. ----

OptionKind KindOf(const OptionRow& row) {
  if (std::holds_alternative<bool Options::*>(row.member)) return OptionKind::kSwitch;
  if (row.range.rule == RangeRule::kWords) return OptionKind::kWord;
  return row.range.rule == RangeRule::kForm ? OptionKind::kText : OptionKind::kNumber;
}

OptionInfo InfoOf(const OptionRow& row, const Options& defaults) {
  OptionInfo info = {};
  info.name = row.name;
  info.kind = KindOf(row);
  info.unit = IsBytes(row.range.rule) ? "bytes" : row.unit;
  PrintOption(row, defaults, &info.default_text).IgnoreError();  // the defaults have a text form, says a test
  info.allowed = Allowed(row.range, kPageBytes);
  info.may_be_negative = row.range.least < 0;
  info.help = row.help;
  info.needs = row.needs;
  info.change = row.change;
  info.heading = row.heading;
  info.rocksdb_name = row.elsewhere.name;
  info.rocksdb_note = row.elsewhere.note;
  info.in_leveldb = row.elsewhere.in_leveldb;
  return info;
}

// The range of an option of the SSD tier counts only where there is one: LevelDB's programs give any block size.
bool IsInForce(const OptionRow& row, const Options& options) {
  return row.needs != OptionNeeds::kSsdTier || !options.ssd_path.empty();
}

Status ParseOption(const OptionRow& row, const std::string& text, Options* options) {
  const bool is_free = KindOf(row) == OptionKind::kNumber && !IsInForce(row, *options);
  const OptionRange range = is_free ? Counts(INT64_MIN, kAny) : row.range;
  return std::visit(
      [&](auto member) {
        std::remove_cvref_t<decltype(options->*member)> value{};
        if (!Parse(range, text, &value)) return NotAllowed(row, "'" + text + "'", Allowed(row.range, kPageBytes));
        options->*member = std::move(value);
        return Status::OK();
      },
      row.member);
}

std::vector<OptionInfo>* NewTable() {
  auto* made = new std::vector<OptionInfo>;
  const Options defaults;
  for (const OptionRow& row : kOptionRows) made->push_back(InfoOf(row, defaults));
  return made;
}

}  // namespace

}  // namespace option_table

const std::vector<OptionInfo>& AllOptions() {
  static const std::vector<OptionInfo>* const all = option_table::NewTable();
  return *all;
}

Status SetOption(Options* options, const std::string& name, const std::string& text) {
  DCHECK(options != nullptr);
  return NoThrow("SetOption", [&] {
    const option_table::OptionRow* const row = option_table::FindRow(name);
    return row == nullptr ? option_table::NoSuchOption(name) : option_table::ParseOption(*row, text, options);
  });
}

Status GetOption(const Options& options, const std::string& name, std::string* text) {
  DCHECK(text != nullptr);
  return NoThrow("GetOption", [&] {
    const option_table::OptionRow* const row = option_table::FindRow(name);
    return row == nullptr ? option_table::NoSuchOption(name) : option_table::PrintOption(*row, options, text);
  });
}

Status CheckRanges(const Options& options, int64_t least_bytes, uint64_t page_bytes) {
  using namespace option_table;
  DCHECK(least_bytes > 0 && page_bytes > 0);
  for (const OptionRow& row : kOptionRows) {
    if (!IsInForce(row, options)) continue;
    OptionRange range = row.range;
    if (IsBytes(range.rule)) range.least = std::min(range.least, least_bytes);
    const Status s = CheckValue(row, range, options, page_bytes);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace miodb
