// From the words of a command line to the run of a verb, on the command line and in the shell.

#ifndef MIODB_TOOLS_MIODB_VERBS_RUN_VERB_H_
#define MIODB_TOOLS_MIODB_VERBS_RUN_VERB_H_

#include <string>
#include <vector>

#include "miodb/db.h"
#include "tools/miodb/terminal/command.h"

namespace miodb::tool {

// Runs the verb with words[1..]; words[0] is not looked at. Returns the exit code.
int RunVerb(const Verb& verb, const std::string& program, const std::vector<std::string>& words);

// The same with a database that is open, for a verb of the kind kStore.
int RunVerbOn(DB* db, const Verb& verb, const std::vector<std::string>& words);

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_VERBS_RUN_VERB_H_
