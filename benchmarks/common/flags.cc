#include "benchmarks/common/flags.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace miodb::bench {

namespace {

std::string Lowercase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool ParseBool(const std::string& text, bool* value) {
  const std::string word = Lowercase(text);
  for (const char* yes : {"1", "true", "t", "yes", "y"}) {
    if (word == yes) {
      *value = true;
      return true;
    }
  }
  for (const char* no : {"0", "false", "f", "no", "n"}) {
    if (word == no) {
      *value = false;
      return true;
    }
  }
  return false;
}

bool ParseReal(const std::string& text, double* value) {
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string::npos) return false;
  char* end = nullptr;
  errno = 0;
  *value = std::strtod(text.c_str(), &end);
  return errno == 0 && end == text.c_str() + text.size() && std::isfinite(*value);
}

std::string RealText(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%g", value);
  return buffer;
}

}  // namespace

// Plain decimal with an optional sign; no blanks, no other base, no suffix.
std::string FlagSet::ParseInt(const std::string& text, int64_t min, int64_t max, int64_t* value) {
  const size_t digits = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  errno = 0;
  *value = std::strtoll(text.c_str(), nullptr, 10);
  const bool decimal = digits < text.size() && text.find_first_not_of("0123456789", digits) == std::string::npos;
  if (decimal && errno == 0 && *value >= min && *value <= max) return "";
  return "'" + text + "' is not a decimal integer from " + std::to_string(min) + " to " + std::to_string(max);
}

std::string FlagSet::Flag::Assign(const std::string& value) {
  is_set = kind != Kind::kOption || value != "-1";
  return IsIgnored() ? "" : assign(value);
}

void FlagSet::Add(const std::string& name, Flag flag) {
  if (!flag.IsIgnored()) order_.emplace_back(name, "");
  flags_.emplace(name, std::move(flag));
}

void FlagSet::Bool(const std::string& name, bool* target, const std::string& help) {
  const auto assign = [=](const std::string& text) {
    return ParseBool(text, target) ? "" : "'" + text + "' is not a boolean";
  };
  Add(name, Flag{Kind::kBool, assign, *target ? "true" : "false", help});
}

void FlagSet::Assigned(const std::string& name, Form form,
                       const std::function<std::string(const std::string& value)>& assign,
                       const std::string& default_text, const std::string& help) {
  const auto assign_switch = [=](const std::string& text) {
    bool value = false;
    return ParseBool(text, &value) ? assign(value ? "true" : "false") : "'" + text + "' is not a boolean";
  };
  switch (form) {
    case Form::kSwitch:
      return Add(name, Flag{Kind::kBool, assign_switch, default_text, help});
    case Form::kNumber:
      return Add(name, Flag{Kind::kOption, assign, default_text, help});
    case Form::kText:
      return Add(name, Flag{Kind::kValue, assign, '"' + default_text + '"', help});
    case Form::kSwitchOrText:
      return Add(name, Flag{Kind::kBoolOrValue, assign, '"' + default_text + '"', help});
  }
}

void FlagSet::Real(const std::string& name, double* target, double min, double max, const std::string& help) {
  const auto assign = [=](const std::string& text) -> std::string {
    double value = 0;
    if (!ParseReal(text, &value) || value < min || value > max) {
      return "'" + text + "' is not a number from " + RealText(min) + " to " + RealText(max);
    }
    *target = value;
    return "";
  };
  Add(name, Flag{Kind::kValue, assign, RealText(*target), help});
}

void FlagSet::Text(const std::string& name, std::string* target, const std::string& help) {
  const auto assign = [=](const std::string& text) {
    *target = text;
    return "";
  };
  Add(name, Flag{Kind::kValue, assign, '"' + *target + '"', help});
}

void FlagSet::List(const std::string& name, std::vector<std::string>* target, const std::string& help) {
  const auto assign = [=](const std::string& text) {
    target->push_back(text);
    return "";
  };
  Add(name, Flag{Kind::kValue, assign, "\"\"", help});
}

void FlagSet::Section(const std::string& title) { order_.emplace_back("", title); }

void FlagSet::IgnoreBool(const std::string& name) { Add(name, Flag{Kind::kIgnoredBool, nullptr, "", ""}); }

void FlagSet::IgnoreValue(const std::string& name) { Add(name, Flag{Kind::kIgnoredValue, nullptr, "", ""}); }

FlagSet::Flag* FlagSet::Find(const std::string& name) {
  auto it = flags_.find(name);
  return it == flags_.end() ? nullptr : &it->second;
}

std::string FlagSet::Set(const std::string& name, const std::string& value) { return Find(name)->Assign(value); }

bool FlagSet::IsSet(const std::string& name) const {
  auto it = flags_.find(name);
  return it != flags_.end() && it->second.is_set;
}

std::vector<std::string> FlagSet::SetInSection(const std::string& title) const {
  std::vector<std::string> names;
  bool inside = false;
  for (const auto& [name, heading] : order_) {
    if (name.empty()) {
      inside = heading == title;
    } else if (inside && IsSet(name)) {
      names.push_back(name);
    }
  }
  return names;
}

bool FlagSet::IsWord(const std::string& word, bool only_words) const {
  return words_ != nullptr && (only_words || !word.starts_with('-') || word == "-");
}

std::string FlagSet::ParseBareWord(const std::string& word, Result* result) {
  const size_t equals = word.find('=');
  Flag* flag = equals == std::string::npos ? nullptr : Find(word.substr(0, equals));
  if (flag == nullptr) return "Invalid flag '" + word + "': a flag starts with a dash";
  result->warnings.push_back("'" + word + "' taken as '--" + word + "'");
  bool used_next = false;
  return ParseWord("--" + word, nullptr, &used_next, result);
}

// Returns an error or nothing. "next" is the following word, nullptr if there is none.
std::string FlagSet::ParseWord(const std::string& word, const std::string* next, bool* used_next, Result* result) {
  const std::string invalid = "Invalid flag '" + word + "'";
  const size_t start = word.rfind("--", 0) == 0 ? 2 : 1;
  const size_t equals = word.find('=', start);
  const bool has_value = equals != std::string::npos;
  const std::string name = word.substr(start, has_value ? equals - start : std::string::npos);
  if (!has_value && (name == "help" || name == "version")) {
    result->outcome = name == "help" ? Outcome::kHelp : Outcome::kVersion;
    return "";
  }

  Flag* flag = Find(name);
  std::string value = has_value ? word.substr(equals + 1) : "true";
  if (flag == nullptr && !has_value && name.rfind("no", 0) == 0) {
    flag = Find(name.substr(2));
    if (flag != nullptr && !flag->IsBool()) flag = nullptr;
    value = "false";
  }
  if (flag == nullptr) return invalid;
  if (!has_value && flag->kind == Kind::kBoolOrValue) value.clear();
  if (!has_value && flag->TakesNextWord()) {
    if (next == nullptr) return invalid + ": it needs a value";
    value = *next;
    *used_next = true;
  }
  if (flag->IsIgnored() && !flag->is_set) ignored_seen_.push_back(name);
  const std::string problem = flag->Assign(value);
  return problem.empty() ? "" : invalid + ": " + problem;
}

FlagSet::Result FlagSet::Parse(int argc, const char* const* argv) {
  Result result;
  for (auto& [name, flag] : flags_) flag.is_set = false;
  ignored_seen_.clear();
  bool only_words = false;
  for (int i = 1; i < argc && result.outcome == Outcome::kRun; i++) {
    const std::string word = argv[i];
    if (word == "--" && !only_words) {
      only_words = true;
      continue;
    }
    if (IsWord(word, only_words)) {
      words_->push_back(word);
    } else if (only_words || word == "-" || word.empty()) {
      result.error = "Invalid flag '" + word + "'";
    } else if (word[0] != '-') {
      result.error = ParseBareWord(word, &result);
    } else {
      const std::string next = i + 1 < argc ? argv[i + 1] : "";
      bool used_next = false;
      result.error = ParseWord(word, i + 1 < argc ? &next : nullptr, &used_next, &result);
      if (used_next) i++;
    }
    if (!result.error.empty()) result.outcome = Outcome::kError;
  }
  if (!ignored_seen_.empty()) {
    std::string names;
    for (const std::string& name : ignored_seen_) names += (names.empty() ? "--" : ", --") + name;
    result.warnings.push_back("recognised, no effect: " + names);
  }
  return result;
}

std::string FlagSet::Help(const std::string& dashes) const {
  std::string text;
  for (const auto& [name, title] : order_) {
    if (name.empty()) {
      text += "\n" + title + "\n";
      continue;
    }
    const Flag& flag = flags_.at(name);
    const std::string left = "  " + dashes + name + "=" + flag.default_text;
    text += left + (left.size() < 40 ? std::string(40 - left.size(), ' ') : "\n" + std::string(40, ' ')) + flag.help;
    text += "\n";
  }
  return text;
}

}  // namespace miodb::bench
