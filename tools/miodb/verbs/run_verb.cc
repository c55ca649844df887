#include "tools/miodb/verbs/run_verb.h"

#include <cstdio>

#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/terminal/manual.h"

namespace miodb::tool {

namespace {

// Fills in the call's operands. False: there is nothing to run, and *code is set.
bool Parse(const Verb& verb, const std::vector<std::string>& words, bool in_shell, OptionTable* options, Call* call,
           int* code) {
  const bench::FlagSet::Result result = options->Parse(words, &call->operands);
  const std::string help = in_shell ? "\"help " + std::string(verb.name) + "\"" : "\"" + call->program + " --help\"";
  if (result.outcome == bench::FlagSet::Outcome::kHelp) {
    Output out;
    out.Write(VerbHelp(verb, *options, call->program, in_shell));
    *code = out.Finish(*call, kDone);
    return false;
  }
  if (result.outcome == bench::FlagSet::Outcome::kVersion) {
    *code = Fail(*call, "--version stands alone", "\"miodb --version\" shows it.");
    return false;
  }
  if (!result.error.empty()) {
    *code = Fail(*call, result.error, help + " lists the options; a word behind \"--\" is taken as it is.");
    return false;
  }
  const size_t named = in_shell ? 1 : 0;  // the database
  const size_t count = call->operands.size() + named;
  if (count >= verb.least && count <= verb.most) return true;
  *code = Fail(*call, count < verb.least ? "something is missing" : "there are too many words",
               UsageLine(verb, call->program, in_shell) + "  " + help + " tells more.");
  return false;
}

}  // namespace

int RunVerb(const Verb& verb, const std::string& program, const std::vector<std::string>& words) {
  const std::unique_ptr<Command> command = verb.make();
  OptionTable options;
  command->AddOptions(&options);
  Call call{program, {}, false};
  int code = kFailed;
  if (!Parse(verb, words, false, &options, &call, &code)) return code;
  return command->Run(call);
}

int RunVerbOn(DB* db, const Verb& verb, const std::vector<std::string>& words) {
  const std::unique_ptr<Command> command = verb.make();
  auto* const on_store = static_cast<StoreCommand*>(command.get());
  OptionTable options;
  on_store->AddShellOptions(&options);
  Call call{verb.name, {}, true};
  int code = kFailed;
  if (!Parse(verb, words, true, &options, &call, &code)) return code;
  return on_store->RunIn(db, call);
}

}  // namespace miodb::tool
