// miodb: one tool for operators. docs/tools.md.
//
// The word behind the program's name is the verb. By the names miodb_check, miodb_dump and miodb_move the program is
// that verb. SIGPIPE: a verb that has a database open sees the failed write and closes it; one that only reads ends.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "benchmarks/common/interrupt.h"
#include "miodb/db.h"
#include "src/util/files/descriptors.h"
#include "tools/miodb/stores/option_map.h"
#include "tools/miodb/terminal/command.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/terminal/manual.h"
#include "tools/miodb/verbs/run_verb.h"

namespace miodb::tool {
namespace {

void EndAtOnce(int signal) { _exit(signal == SIGPIPE ? kFailed : kInterrupted); }

void InstallSignals(Verb::Kind kind) {
  if (kind != Verb::Kind::kClosed) {
    std::signal(SIGPIPE, SIG_IGN);
    bench::Interrupt::Install();
    return;
  }
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) std::signal(signal, EndAtOnce);
}

int Run(const Verb& verb, const std::string& program, const std::vector<std::string>& words) {
  InstallSignals(verb.kind);
  const int code = RunVerb(verb, program, words);
  // For verbs that print by stdio.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return Fail({program, {}, false}, std::string("standard output: ") + strerror(errno),
              "Make room there, or write elsewhere.");
}

int Show(const std::string& text) {
  InstallSignals(Verb::Kind::kOther);
  Output out;
  out.Write(text);
  return out.Finish({"miodb", {}, false}, kDone);
}

int Main(int argc, char** argv) {
  if (!miodb::FillStandardDescriptors()) return kFailed;
  std::string name = argc > 0 ? argv[0] : "miodb";
  name.erase(0, name.rfind('/') + 1);
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  constexpr char kPrefix[] = "miodb_";
  const Verb* const own = name.starts_with(kPrefix) ? FindVerb(name.substr(strlen(kPrefix))) : nullptr;
  if (own != nullptr) {
    words.insert(words.begin(), name);
    return Run(*own, name, words);
  }
  const std::string word = words.empty() ? "" : words[0];
  if (word == "help" && words.size() == 2 && FindVerb(words[1]) != nullptr) {
    return Run(*FindVerb(words[1]), "miodb " + words[1], {words[1], "--help"});
  }
  if (word == "--help" || word == "help") return Show(GeneralHelp());
  if (word == "--man") return Show(ManPage());
  if (word == "--bash_completion") return Show(BashCompletion());
  if (word == "--options") return Show(OptionTableText());
  if (word == "--options_map") return Show(OptionMapText());
  if (word == "--version") {
    return Show("miodb " + std::to_string(kMajorVersion) + "." + std::to_string(kMinorVersion) + "\n");
  }
  const Verb* const verb = FindVerb(word);
  if (verb != nullptr) return Run(*verb, "miodb " + word, words);
  return Fail({"miodb", {}, false}, word.empty() ? "a verb is missing" : "there is no verb '" + word + "'",
              "\"miodb --help\" lists them.");
}

}  // namespace
}  // namespace miodb::tool

int main(int argc, char** argv) { return miodb::tool::Main(argc, argv); }
