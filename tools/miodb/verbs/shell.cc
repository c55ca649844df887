// shell: verbs line by line, with one database that stays open.

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/common/interrupt.h"
#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/line_editor.h"
#include "tools/miodb/verbs/run_verb.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

using bench::Interrupt;

// Words are separated by blanks; between quotes, of either kind, everything stands for itself. False: a quote is open.
bool SplitWords(const std::string& line, std::vector<std::string>* words) {
  bool in_word = false;
  char quote = '\0';
  for (const char c : line) {
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        words->back().push_back(c);
      }
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\r') {
      in_word = false;
      continue;
    }
    if (!in_word) words->emplace_back();
    in_word = true;
    if (c == '"' || c == '\'') {
      quote = c;
    } else {
      words->back().push_back(c);
    }
  }
  return quote == '\0';
}

bool IsInShell(const Verb& verb) { return verb.kind == Verb::Kind::kStore; }

std::vector<std::string> Completions(const std::string& beginning) {
  std::vector<std::string> words = {"help", "quit"}, typed;
  for (const Verb& verb : Verbs()) {
    if (IsInShell(verb)) words.emplace_back(verb.name);
  }
  SplitWords(beginning, &typed);
  const bool is_first = typed.size() < 2 && !beginning.ends_with(' ');
  if (is_first || (!typed.empty() && typed[0] == "help")) return words;
  const Verb* const verb = typed.empty() ? nullptr : FindVerb(typed[0]);
  if (verb == nullptr || !IsInShell(*verb)) return {};
  const std::unique_ptr<Command> command = verb->make();
  OptionTable options;
  static_cast<StoreCommand*>(command.get())->AddShellOptions(&options);
  words.clear();
  for (const OptionTable::Row& row : options.rows())
    words.push_back("--" + row.name + (row.argument.empty() ? "" : "="));
  return words;
}

class Shell final : public Command {
 public:
  void AddOptions(OptionTable* options) override {
    open_.AddCreate(options, "make the database if there is none");
    open_.AddOptions(options);
  }

  int Run(const Call& call) override {
    db_ = open_.Open(call, call.operands[0]);
    if (db_ == nullptr) return kFailed;
    LineEditor editor(Completions);
    if (editor.is_interactive()) std::printf("\"help\" lists what can be done, Ctrl-D ends.\n");
    std::string line;
    for (;;) {
      std::fflush(stdout);
      const LineEditor::Result read = editor.Read("miodb> ", &line);
      if (read == LineEditor::Result::kEnd) return kDone;
      if (read == LineEditor::Result::kFailed) return Fail(call, editor.status());
      if (read == LineEditor::Result::kInterrupted) {
        if (!GoesOn(editor)) return kInterrupted;
        continue;
      }
      bool quits = false;
      const int code = RunLine(call, line, &quits);
      if (quits) return kDone;
      if (code == kInterrupted && !(GoesOn(editor) && Reopen(call))) return kInterrupted;
      if (code == kFailed && !editor.is_interactive()) return kFailed;
    }
  }

 private:
  // A person's Ctrl-C ends what the line did, and nothing else.
  static bool GoesOn(const LineEditor& editor) {
    if (Interrupt::Signal() == SIGTERM || !editor.is_interactive()) return false;
    Interrupt::Install();
    std::printf("\n");
    return true;
  }

  // A database whose waits were ended by a signal does not wait any more.
  bool Reopen(const Call& call) {
    db_.reset();
    db_ = open_.Open(call, call.operands[0]);
    return db_ != nullptr;
  }

  int RunLine(const Call& call, const std::string& line, bool* quits) {
    std::vector<std::string> words;
    if (!SplitWords(line, &words))
      return Fail(call, "a quote has no end", "Quotes are ' and \"; what is in them is one word.");
    if (words.empty() || words[0].starts_with('#')) return kDone;
    if (words[0] == "quit" || words[0] == "exit") {
      *quits = true;
      return kDone;
    }
    if (words[0] == "help" && words.size() == 1) return Help(call);
    if (words[0] == "help") words = {words[1], "--help"};
    const Verb* const verb = FindVerb(words[0]);
    if (verb == nullptr || !IsInShell(*verb)) {
      return Fail(call, "there is no verb '" + words[0] + "' here", "\"help\" lists them.");
    }
    return RunVerbOn(db_.get(), *verb, words);
  }

  static int Help(const Call& call) {
    Output out;
    for (const Verb& verb : Verbs()) {
      if (!IsInShell(verb)) continue;
      std::string left = std::string("  ") + verb.name;
      left.resize(14, ' ');
      out.Write(left + verb.summary + "\n");
    }
    out.Write("  help VERB   its options\n  quit        end, as Ctrl-D does\n");
    return out.Finish(call, kDone);
  }

  OpenOptions open_;
  std::unique_ptr<DB> db_;
};

}  // namespace

std::unique_ptr<Command> NewShell() { return std::make_unique<Shell>(); }

}  // namespace miodb::tool
