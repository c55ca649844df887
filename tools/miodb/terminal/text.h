// How keys and values, which are bytes, are written on command lines and shown: as text, hex or JSON.
//
// Text is what can be printed and typed. UTF-8 stands for itself; a backslash is \\, newline, tab and carriage return
// are \n, \t and \r, and every other byte that is not printable is \xNN. So a line never holds a tab or newline of a
// key, and what is shown can be given back.
//
// A line of JSON is an object with the members "key" and "value", strings; bytes that are not UTF-8 have "key_hex" and
// "value_hex" instead. A record of another column family than the default one has the member "column_family" (or
// "column_family_hex") besides; a line with this member alone says that there is the family.
//
// Threads: any. Errors: a function that reads returns what is wrong, or nothing.

#ifndef MIODB_TOOLS_MIODB_TERMINAL_TEXT_H_
#define MIODB_TOOLS_MIODB_TERMINAL_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "miodb/slice.h"
#include "tools/miodb/terminal/command.h"

namespace miodb::tool {

std::string ToText(const Slice& bytes);
std::string FromText(std::string_view text, std::string* bytes);

std::string ToHex(const Slice& bytes);
std::string FromHex(std::string_view hex, std::string* bytes);

bool IsUtf8(const Slice& bytes);

// A quoted JSON string. REQUIRES: UTF-8.
std::string JsonString(const Slice& text);

// The content of a line of JSON. A line with neither key nor value says that there is the family.
struct JsonLine {
  std::string family;  // empty: the default one
  std::optional<std::string> key;
  std::optional<std::string> value;
};

// JSON objects without a newline, of a record (family empty: it has none) and of a family; all_hex: also bytes that are
// UTF-8.
std::string ToJsonLine(const Slice& family, const Slice& key, const Slice& value, bool all_hex);
std::string ToJsonFamilyLine(const Slice& family, bool all_hex);

// Members besides those named above are errors, and so is whatever follows the object but blanks.
std::string FromJsonLine(std::string_view text, JsonLine* line);

// A moment, in microseconds since 1970: "2026-01-31T23:59:59Z".
std::string TimeText(uint64_t micros);

// The options that say how keys and values are written.
class Coding {
 public:
  void AddOptions(OptionTable* options, bool has_json);

  bool json() const { return json_; }
  std::string ReadKey(const std::string& operand, std::string* key) const;
  std::string ReadValue(const std::string& operand, std::string* value) const;
  std::string ShowKey(const Slice& key) const;
  std::string ShowValue(const Slice& value) const;

  // A line for a record, with its newline: JSON, or key and value with a tab between them; before them the family, if
  // it is not empty.
  std::string ShowRecord(const Slice& family, const Slice& key, const Slice& value) const;
  // The same without the value.
  std::string ShowKeyLine(const Slice& family, const Slice& key) const;
  std::string ShowJson(const Slice& family, const Slice& key, const Slice& value) const {
    return ToJsonLine(family, key, value, hex_) + '\n';
  }
  std::string ShowJsonFamily(const Slice& family) const { return ToJsonFamilyLine(family, hex_) + '\n'; }

 private:
  bool hex_ = false;
  bool key_hex_ = false;
  bool value_hex_ = false;
  bool json_ = false;
};

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_TERMINAL_TEXT_H_
