// The parts of a verb of the program miodb: its options, from which the command line is parsed and the help, the man
// page and the completion are written (manual.h), and its work.
//
// Threads: one, but for bench. Ownership: a command lives from the parsing of its options to the end of its run.
// Errors: Run says on stderr what is wrong and what to do next, and returns the exit code.

#ifndef MIODB_TOOLS_MIODB_TERMINAL_COMMAND_H_
#define MIODB_TOOLS_MIODB_TERMINAL_COMMAND_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/common/flags.h"
#include "miodb/status.h"

namespace miodb::tool {

enum Code : int {
  kDone = 0,
  kNo = 1,             // done, and the answer is no: no such key, damage, a part that is not the database's
  kFailed = 2,         // not done, or not to the end: usage, a database that cannot be opened, an error, a full disk
  kInterrupted = 130,  // by Ctrl-C or SIGTERM
};

// The options of one verb.
class OptionTable {
 public:
  struct Row {
    std::string name;
    std::string argument;  // what the value is; empty: the option is a switch
    std::string help;
    std::vector<std::string> words = {};  // that the value may be, if it is one of a few
  };

  void Switch(const std::string& name, bool* target, const std::string& help);
  void Text(const std::string& name, const std::string& argument, std::string* target, const std::string& help);
  // Not set if the option is not given.
  void Maybe(const std::string& name, const std::string& argument, std::optional<std::string>* target,
             const std::string& help);
  // May be given several times.
  void List(const std::string& name, const std::string& argument, std::vector<std::string>* target,
            const std::string& help);

  template <std::integral T>
  void Number(const std::string& name, T* target, int64_t min, int64_t max, const std::string& help) {
    flags_.Int(name, target, min, max, help);
    rows_.push_back({name, "N", help});
  }

  template <typename T>
  void Word(const std::string& name, T* target, const std::vector<std::pair<const char*, T>>& table,
            const std::string& help) {
    flags_.Word(name, target, table, help);
    Row row{name, "WORD", help};
    for (const auto& entry : table) row.words.emplace_back(entry.first);
    rows_.push_back(std::move(row));
  }

  const std::vector<Row>& rows() const { return rows_; }

  // Parses words[1..], as a program's arguments, into the bound variables and the operands. A word behind "--" is an
  // operand whatever it looks like.
  bench::FlagSet::Result Parse(const std::vector<std::string>& words, std::vector<std::string>* operands);

 private:
  // For options whose targets the flags cannot bind themselves.
  struct MaybeText {
    std::string name;
    std::string text;
    std::optional<std::string>* target;
  };

  bench::FlagSet flags_;
  std::vector<Row> rows_;
  std::vector<std::unique_ptr<MaybeText>> maybes_;
};

// A run of a verb.
struct Call {
  std::string program;  // as its user wrote it: "miodb get", "miodb_check"; errors begin with it
  std::vector<std::string> operands;
  bool in_shell = false;  // standard input is the shell's
};

class Command {
 public:
  virtual ~Command() = default;
  virtual void AddOptions(OptionTable*) {}
  virtual int Run(const Call& call) = 0;
};

struct Verb {
  const char* name;
  const char* operands;  // "DATABASE KEY..."
  size_t least;          // operands, and most of them
  size_t most;
  const char* summary;  // one line, for the list of verbs
  const char* text;     // paragraphs, each on one line
  std::unique_ptr<Command> (*make)();

  // The kinds of verbs: those that open a database and work with it, which the shell has, too; those that look at the
  // bytes of a closed one, move or repair it, which a signal ends at once and leaves what a crash leaves; and the rest.
  enum class Kind { kStore, kClosed, kOther } kind;
};

// All verbs, in the order of the help.
std::span<const Verb> Verbs();
const Verb* FindVerb(const std::string& name);

// Says on stderr, after the program's name, what is wrong and, in a line of its own, what to do next. Returns kFailed.
int Fail(const Call& call, const std::string& what, const std::string& advice = "");
int Fail(const Call& call, const Status& status);

// Advice for an error of the library: a sentence, or nothing where the message says it all.
std::string AdviceFor(const Status& status);

// kInterrupted if a signal has come, else the code.
int CodeAfter(int code);

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_TERMINAL_COMMAND_H_
