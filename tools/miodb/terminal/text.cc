#include "tools/miodb/terminal/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <iterator>

namespace miodb::tool {

namespace {

constexpr char kDigits[] = "0123456789abcdef";
constexpr char kFamilyMember[] = "column_family";

uint8_t Byte(char c) { return static_cast<uint8_t>(c); }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendHex(char c, std::string* text) {
  text->push_back(kDigits[Byte(c) >> 4]);
  text->push_back(kDigits[Byte(c) & 15]);
}

// Bytes of the character of UTF-8 that begins here; 0: none does. Surrogates and longer forms than needed are none.
size_t Utf8Length(const char* p, size_t left) {
  const uint8_t c = Byte(p[0]);
  if (c < 0x80) return 1;
  const size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
  if (c < 0xc2 || c > 0xf4 || left < length) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((Byte(p[i]) & 0xc0) != 0x80) return 0;
  }
  const uint8_t second = Byte(p[1]);
  if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f)) return 0;
  if ((c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f)) return 0;
  return length;
}

// A character of two bytes below U+00A0 is a control character, which terminals obey.
bool IsShown(const char* p, size_t length) {
  if (length == 1) return Byte(*p) >= 0x20 && Byte(*p) != 0x7f;
  return length > 1 && !(Byte(p[0]) == 0xc2 && Byte(p[1]) < 0xa0);
}

void AppendUtf8(uint32_t c, std::string* text) {
  if (c < 0x80) {
    text->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    text->push_back(static_cast<char>(0xc0 | c >> 6));
    text->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  } else if (c < 0x10000) {
    text->push_back(static_cast<char>(0xe0 | c >> 12));
    text->push_back(static_cast<char>(0x80 | (c >> 6 & 0x3f)));
    text->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  } else {
    text->push_back(static_cast<char>(0xf0 | c >> 18));
    text->push_back(static_cast<char>(0x80 | (c >> 12 & 0x3f)));
    text->push_back(static_cast<char>(0x80 | (c >> 6 & 0x3f)));
    text->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  }
}

// Reads one JSON object of strings.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  // The next character behind blanks is this one, and passed.
  bool Take(char c) {
    Blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    at_++;
    return true;
  }

  bool AtEnd() {
    Blanks();
    return at_ == text_.size();
  }

  std::string Problem(const std::string& what) const { return what + " at byte " + std::to_string(at_ + 1); }

  std::string String(std::string* result) {
    result->clear();
    if (!Take('"')) return Problem("a string in double quotes is missing");
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return IsUtf8(*result) ? "" : Problem("bytes that are not UTF-8 (they want key_hex or value_hex)");
      if (Byte(c) < 0x20) return Problem("a control character in a string");
      if (c != '\\') {
        result->push_back(c);
        continue;
      }
      const std::string problem = Escape(result);
      if (!problem.empty()) return problem;
    }
    return Problem("a string without an end");
  }

 private:
  void Blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) at_++;
  }

  bool Unit(uint32_t* unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++) {
      const int digit = at_ < text_.size() ? HexDigit(text_[at_]) : -1;
      if (digit < 0) return false;
      *unit = *unit << 4 | static_cast<uint32_t>(digit);
      at_++;
    }
    return true;
  }

  // Behind the backslash. A character above U+FFFF is a pair of surrogates.
  std::string Escape(std::string* result) {
    static constexpr std::string_view kNames = "\"\\/bfnrt", kBytes = "\"\\/\b\f\n\r\t";
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    const size_t known = kNames.find(c);
    if (known != std::string_view::npos) {
      result->push_back(kBytes[known]);
      return "";
    }
    uint32_t unit, low;
    if (c != 'u' || !Unit(&unit)) return Problem("an unknown escape");
    if (unit >= 0xd800 && unit < 0xdc00) {
      if (!Take('\\') || !Take('u') || !Unit(&low) || low < 0xdc00 || low > 0xdfff) return Problem("half a character");
      unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    } else if (unit >= 0xdc00 && unit < 0xe000) {
      return Problem("half a character");
    }
    AppendUtf8(unit, result);
    return "";
  }

  const std::string_view text_;
  size_t at_ = 0;
};

void AppendMember(const char* name, const Slice& bytes, bool hex, std::string* line) {
  *line += std::string("\"") + name;
  if (hex || !IsUtf8(bytes)) {
    *line += "_hex\": \"" + ToHex(bytes) + '"';
  } else {
    *line += "\": " + JsonString(bytes);
  }
}

}  // namespace

std::string ToText(const Slice& bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size();) {
    const char* const p = bytes.data() + i;
    const size_t length = Utf8Length(p, bytes.size() - i);
    const size_t named = std::string_view("\\\n\t\r").find(*p);
    if (named != std::string_view::npos) {
      text.push_back('\\');
      text.push_back("\\ntr"[named]);
    } else if (length > 0 && IsShown(p, length)) {
      text.append(p, length);
    } else {
      text += "\\x";
      AppendHex(*p, &text);
      i++;
      continue;
    }
    i += length;
  }
  return text;
}

std::string FromText(std::string_view text, std::string* bytes) {
  bytes->clear();
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '\\') {
      bytes->push_back(text[i]);
      continue;
    }
    i++;
    const size_t named = i < text.size() ? std::string_view("\\ntr").find(text[i]) : std::string_view::npos;
    if (named != std::string_view::npos) {
      bytes->push_back("\\\n\t\r"[named]);
      continue;
    }
    const int high = i + 2 < text.size() && text[i] == 'x' ? HexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
    if (low < 0) {
      return "'" + std::string(text.substr(i - 1)) +
             "' begins with a backslash that begins no escape: there are \\\\, \\n, "
             "\\t, \\r and \\xNN";
    }
    bytes->push_back(static_cast<char>(high << 4 | low));
    i += 2;
  }
  return "";
}

std::string ToHex(const Slice& bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (size_t i = 0; i < bytes.size(); i++) AppendHex(bytes[i], &text);
  return text;
}

std::string FromHex(std::string_view hex, std::string* bytes) {
  bytes->clear();
  if (hex.size() % 2 != 0) return "'" + std::string(hex) + "' is not hex: it has an odd number of digits";
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = HexDigit(hex[i]), low = HexDigit(hex[i + 1]);
    if (high < 0 || low < 0) return "'" + std::string(hex) + "' is not hex: two digits are a byte";
    bytes->push_back(static_cast<char>(high << 4 | low));
  }
  return "";
}

bool IsUtf8(const Slice& bytes) {
  for (size_t i = 0; i < bytes.size();) {
    const size_t length = Utf8Length(bytes.data() + i, bytes.size() - i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string JsonString(const Slice& text) {
  std::string json = "\"";
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    const size_t named = std::string_view("\"\\\n\t\r").find(c);
    if (named != std::string_view::npos) {
      json.push_back('\\');
      json.push_back("\"\\ntr"[named]);
    } else if (Byte(c) < 0x20 || Byte(c) == 0x7f) {
      json += "\\u00";
      AppendHex(c, &json);
    } else {
      json.push_back(c);
    }
  }
  return json + '"';
}

std::string ToJsonLine(const Slice& family, const Slice& key, const Slice& value, bool all_hex) {
  std::string line = "{";
  if (!family.empty()) {
    AppendMember(kFamilyMember, family, all_hex, &line);
    line += ", ";
  }
  AppendMember("key", key, all_hex, &line);
  line += ", ";
  AppendMember("value", value, all_hex, &line);
  return line + "}";
}

std::string ToJsonFamilyLine(const Slice& family, bool all_hex) {
  std::string line = "{";
  AppendMember(kFamilyMember, family, all_hex, &line);
  return line + "}";
}

std::string FromJsonLine(std::string_view text, JsonLine* line) {
  JsonReader reader(text);
  std::optional<std::string> family;
  const struct {
    std::string name;
    std::optional<std::string>* target;
  } members[] = {{"key", &line->key}, {"value", &line->value}, {kFamilyMember, &family}};
  *line = JsonLine();
  if (!reader.Take('{')) return reader.Problem("'{' is missing");
  do {
    std::string name, content, bytes;
    std::string problem = reader.String(&name);
    if (!problem.empty()) return problem;
    if (!reader.Take(':')) return reader.Problem("':' is missing");
    problem = reader.String(&content);
    if (!problem.empty()) return problem;
    const auto is_meant = [&](const auto& member) { return name == member.name || name == member.name + "_hex"; };
    const auto* const member = std::find_if(std::begin(members), std::end(members), is_meant);
    if (member == std::end(members)) {
      return "the member \"" + name + "\" is none of key, value, column_family, each also with _hex";
    }
    if (member->target->has_value()) return "there are two of \"" + member->name + "\"";
    problem = name.ends_with("_hex") ? FromHex(content, &bytes) : "";
    if (!problem.empty()) return problem;
    *member->target = name.ends_with("_hex") ? bytes : content;
  } while (reader.Take(','));
  if (!reader.Take('}')) return reader.Problem("'}' is missing");
  if (!reader.AtEnd()) return reader.Problem("something follows the object");
  if (family.has_value() && family->empty()) return "the name of the column family is empty";
  line->family = family.value_or("");
  if (family.has_value() && !line->key.has_value() && !line->value.has_value()) return "";
  if (!line->key.has_value() || !line->value.has_value()) {
    return line->key.has_value() ? "there is no value" : "there is no key";
  }
  return "";
}

void Coding::AddOptions(OptionTable* options, bool has_json) {
  options->Switch("hex", &hex_, "keys and values are hex, two digits a byte");
  options->Switch("key_hex", &key_hex_, "keys are");
  options->Switch("value_hex", &value_hex_, "values are");
  if (has_json) options->Switch("json", &json_, "show each record as a line of JSON");
}

std::string Coding::ReadKey(const std::string& operand, std::string* key) const {
  return hex_ || key_hex_ ? FromHex(operand, key) : FromText(operand, key);
}

std::string Coding::ReadValue(const std::string& operand, std::string* value) const {
  return hex_ || value_hex_ ? FromHex(operand, value) : FromText(operand, value);
}

std::string Coding::ShowKey(const Slice& key) const { return hex_ || key_hex_ ? ToHex(key) : ToText(key); }
std::string Coding::ShowValue(const Slice& value) const { return hex_ || value_hex_ ? ToHex(value) : ToText(value); }

std::string Coding::ShowRecord(const Slice& family, const Slice& key, const Slice& value) const {
  if (json_) return ShowJson(family, key, value);
  return (family.empty() ? "" : ToText(family) + '\t') + ShowKey(key) + '\t' + ShowValue(value) + '\n';
}

std::string Coding::ShowKeyLine(const Slice& family, const Slice& key) const {
  return (family.empty() ? "" : ToText(family) + '\t') + ShowKey(key) + '\n';
}

std::string TimeText(uint64_t micros) {
  const time_t seconds = static_cast<time_t>(micros / (1000 * 1000));
  tm parts{};
  char text[32] = "";
  if (gmtime_r(&seconds, &parts) != nullptr) strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace miodb::tool
