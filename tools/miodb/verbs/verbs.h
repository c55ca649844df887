// The verbs: one function for each makes the command. verbs.cc has the table of them; each file named after a verb, or
// after a few that are alike, has what they do.

#ifndef MIODB_TOOLS_MIODB_VERBS_VERBS_H_
#define MIODB_TOOLS_MIODB_VERBS_VERBS_H_

#include <memory>

#include "tools/miodb/terminal/command.h"

namespace miodb::tool {

std::unique_ptr<Command> NewGet();
std::unique_ptr<Command> NewPut();
std::unique_ptr<Command> NewDelete();
std::unique_ptr<Command> NewMerge();
std::unique_ptr<Command> NewScan();
std::unique_ptr<Command> NewCount();
std::unique_ptr<Command> NewStats();
std::unique_ptr<Command> NewProperties();
std::unique_ptr<Command> NewFlush();
std::unique_ptr<Command> NewCompact();
std::unique_ptr<Command> NewSavepoint();
std::unique_ptr<Command> NewCheckpoint();
std::unique_ptr<Command> NewBackup();
std::unique_ptr<Command> NewRestore();
std::unique_ptr<Command> NewBackups();
std::unique_ptr<Command> NewFollow();
std::unique_ptr<Command> NewImport();
std::unique_ptr<Command> NewExport();
std::unique_ptr<Command> NewShell();
std::unique_ptr<Command> NewBench();
std::unique_ptr<Command> NewCheck();
std::unique_ptr<Command> NewDump();
std::unique_ptr<Command> NewMove();
std::unique_ptr<Command> NewRepair();

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_VERBS_VERBS_H_
