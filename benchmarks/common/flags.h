// Command-line flags of the benchmark programs: a table that binds names to variables, and the parser over it.
//
// Why not a library: published command lines come in two dialects (LevelDB's --name=value with 0/1 booleans, gflags'
// -name value, -name, -noname, yes/no) and both must run unchanged, down to the text of the error. gflags cannot
// take a bare name=value, ignores other stray words silently, cannot announce flags that are recognised but mean
// nothing here, and words its errors differently. CLI11 knows one-dash names of one letter only.
//
// Accepted forms, for a flag called name:
//   --name=value  -name=value  --name value  -name value   any flag but a boolean (booleans take no next word)
//   --name  -name  --noname  -noname                        booleans
//   --name=V                                                booleans: 1 0 true false t f yes no y n, any case
//   --name  --name=value                                    a switch that may have a text (Form::kSwitchOrText)
//   name=value                                              with a warning: the dash was probably lost
//   --                                                      ends the flags
//   --help  --version                                       tell the caller to print and leave
//   words                                                   of a program that takes some (Words)
// The last occurrence wins. Anything else is an error that begins with: Invalid flag '<word>'
//
// Threads: one. Ownership: the bound variables outlive the FlagSet. Nothing here prints or exits.

#ifndef MIODB_BENCHMARKS_COMMON_FLAGS_H_
#define MIODB_BENCHMARKS_COMMON_FLAGS_H_

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace miodb::bench {

// A bound of a number that no value passes.
inline constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();

class FlagSet {
 public:
  enum class Outcome { kRun, kHelp, kVersion, kError };

  struct Result {
    Outcome outcome = Outcome::kRun;
    std::string error;                  // Set with kError.
    std::vector<std::string> warnings;  // To be shown to the user, one line each.
  };

  // Each call adds a flag; the value of *target at that moment is the default that Help shows. A value outside
  // [min, max] is an error when parsed. Names are unique.
  void Bool(const std::string& name, bool* target, const std::string& help);
  void Real(const std::string& name, double* target, double min, double max, const std::string& help);
  void Text(const std::string& name, std::string* target, const std::string& help);

  // A flag that may be given several times: each value is added.
  void List(const std::string& name, std::vector<std::string>* target, const std::string& help);

  // Words that are no flags go here instead of being refused: those without a dash in front, "-", and all behind "--".
  void Words(std::vector<std::string>* target) { words_ = target; }

  template <std::integral T>
  void Int(const std::string& name, T* target, int64_t min, int64_t max, const std::string& help) {
    const auto assign = [=](const std::string& text) {
      int64_t value = 0;
      std::string problem = ParseInt(text, min, max, &value);
      if (problem.empty()) *target = static_cast<T>(value);
      return problem;
    };
    Add(name, Flag{Kind::kValue, assign, std::to_string(*target), help});
  }

  // How the value of a flag is written that a function takes: as a boolean, which it gets as "true" or "false"; as a
  // number, where -1 stands for the default, as if the flag was not given; as any text; as any text behind an equals
  // sign, or not at all, for which it gets an empty text.
  enum class Form { kSwitch, kNumber, kText, kSwitchOrText };

  // A flag whose value goes to assign, which returns what is wrong with it, or nothing.
  void Assigned(const std::string& name, Form form, const std::function<std::string(const std::string& value)>& assign,
                const std::string& default_text, const std::string& help);

  // A flag whose words, given by a table, stand for values.
  template <typename T>
  void Word(const std::string& name, T* target, const std::vector<std::pair<const char*, T>>& table,
            const std::string& help) {
    const auto assign = [=](const std::string& text) {
      std::string words;
      for (const auto& [word, value] : table) {
        if (text == word) {
          *target = value;
          return std::string();
        }
        words += (words.empty() ? "one of " : ", ") + std::string(word);
      }
      return words;
    };
    const auto initial =
        std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.second == *target; });
    Add(name, Flag{Kind::kValue, assign, '"' + std::string(initial->first) + '"', help});
  }

  // A heading that Help prints before the flags added next.
  void Section(const std::string& title);

  // Names that other programs know and that mean nothing here. Parse takes them, checks nothing, and warns once.
  void IgnoreBool(const std::string& name);
  void IgnoreValue(const std::string& name);

  // Parses argv[1..argc-1] into the bound variables. After kError they hold what was parsed until then.
  Result Parse(int argc, const char* const* argv);

  // Assigns to one flag what a program read elsewhere than on its command line. Returns what is wrong with the value,
  // or nothing. REQUIRES: Knows(name).
  std::string Set(const std::string& name, const std::string& value);
  bool Knows(const std::string& name) const { return flags_.count(name) > 0; }

  // Whether the last Parse, or a Set, met the flag.
  bool IsSet(const std::string& name) const;

  // The flags below this heading that are set.
  std::vector<std::string> SetInSection(const std::string& title) const;

  // All flags with defaults and help, by section. "dashes" stand before each name.
  std::string Help(const std::string& dashes = "--") const;

 private:
  enum class Kind { kBool, kValue, kOption, kBoolOrValue, kIgnoredBool, kIgnoredValue };

  struct Flag {
    Kind kind;
    std::function<std::string(const std::string& value)> assign;  // returns what is wrong with the value, or nothing
    std::string default_text;
    std::string help;
    bool is_set = false;

    bool IsIgnored() const { return kind == Kind::kIgnoredBool || kind == Kind::kIgnoredValue; }
    bool IsBool() const { return kind == Kind::kBool || kind == Kind::kIgnoredBool; }
    bool TakesNextWord() const { return !IsBool() && kind != Kind::kBoolOrValue; }
    std::string Assign(const std::string& value);
  };

  static std::string ParseInt(const std::string& text, int64_t min, int64_t max, int64_t* value);
  void Add(const std::string& name, Flag flag);
  Flag* Find(const std::string& name);
  std::string ParseWord(const std::string& word, const std::string* next, bool* used_next, Result* result);
  bool IsWord(const std::string& word, bool only_words) const;
  std::string ParseBareWord(const std::string& word, Result* result);

  std::map<std::string, Flag> flags_;
  // Help's order: names of flags, and headings with an empty first part.
  std::vector<std::pair<std::string, std::string>> order_;
  std::vector<std::string> ignored_seen_;
  std::vector<std::string>* words_ = nullptr;  // null: there may be none
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_FLAGS_H_
