#include "tools/miodb/terminal/command.h"

#include <cstdio>

#include "benchmarks/common/interrupt.h"

namespace miodb::tool {

void OptionTable::Switch(const std::string& name, bool* target, const std::string& help) {
  flags_.Bool(name, target, help);
  rows_.push_back({name, "", help});
}

void OptionTable::Text(const std::string& name, const std::string& argument, std::string* target,
                       const std::string& help) {
  flags_.Text(name, target, help);
  rows_.push_back({name, argument, help});
}

void OptionTable::Maybe(const std::string& name, const std::string& argument, std::optional<std::string>* target,
                        const std::string& help) {
  maybes_.push_back(std::make_unique<MaybeText>(MaybeText{name, "", target}));
  Text(name, argument, &maybes_.back()->text, help);
}

void OptionTable::List(const std::string& name, const std::string& argument, std::vector<std::string>* target,
                       const std::string& help) {
  flags_.List(name, target, help);
  rows_.push_back({name, argument, help + "; may be given several times"});
}

bench::FlagSet::Result OptionTable::Parse(const std::vector<std::string>& words, std::vector<std::string>* operands) {
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  flags_.Words(operands);
  const bench::FlagSet::Result result = flags_.Parse(static_cast<int>(argv.size()), argv.data());
  for (const auto& maybe : maybes_) {
    if (flags_.IsSet(maybe->name)) *maybe->target = maybe->text;
  }
  return result;
}

const Verb* FindVerb(const std::string& name) {
  for (const Verb& verb : Verbs()) {
    if (name == verb.name) return &verb;
  }
  return nullptr;
}

int Fail(const Call& call, const std::string& what, const std::string& advice) {
  std::fprintf(stderr, "%s: %s\n", call.program.c_str(), what.c_str());
  if (!advice.empty()) std::fprintf(stderr, "  %s\n", advice.c_str());
  return kFailed;
}

int Fail(const Call& call, const Status& status) { return Fail(call, status.ToString(), AdviceFor(status)); }

// Messages of InvalidArgument and NotSupported name the option and what is allowed, so most of them need no advice.
std::string AdviceFor(const Status& status) {
  const std::string text = status.ToString();
  const auto says = [&](const char* words) { return text.find(words) != std::string::npos; };
  if (says("(create_if_missing is false)"))
    return "Is the path right? --create, where a verb has it, makes a database.";
  if (says("holds a database of another format")) {
    return "\"miodb import\" copies a LevelDB or RocksDB database into a new one.";
  }
  if (says("without a merge_operator") || says("merge operator")) {
    return "Give --merge_operator=NAME, the one that the database is used with.";
  }
  if (status.IsIOError() && (says("in use") || says("another process has it") || says("already held")))
    return "One program at a time has a database open. End the other one, or ask that one; beside it get, scan, count "
           "and "
           "export read with --reader.";
  if (says("Permission denied")) return "Run this as the user who owns the database (ls -l shows who that is).";
  if (status.IsCorruption()) {
    return "\"miodb check\" shows what is damaged; \"miodb repair\" makes a new database of what can be read.";
  }
  if (status.IsNoSpace()) {
    return "Make room on the file system, give a larger pool_size with --option, or delete something and compact.";
  }
  return "";
}

int CodeAfter(int code) { return bench::Interrupt::Signal() != 0 ? kInterrupted : code; }

}  // namespace miodb::tool
