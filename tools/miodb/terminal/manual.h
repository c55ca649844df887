// The texts of the tool about itself: the help of a verb and of all, the man page and the completion for bash, all of
// them made from the table of verbs and the options that each verb adds.
//
// Threads: any.

#ifndef MIODB_TOOLS_MIODB_TERMINAL_MANUAL_H_
#define MIODB_TOOLS_MIODB_TERMINAL_MANUAL_H_

#include <string>

#include "tools/miodb/terminal/command.h"

namespace miodb::tool {

// "Usage: miodb get [OPTION]... DATABASE KEY...", with a newline. In the shell there is no database to name.
std::string UsageLine(const Verb& verb, const std::string& program, bool in_shell);

std::string VerbHelp(const Verb& verb, const OptionTable& options, const std::string& program, bool in_shell);
std::string GeneralHelp();

// In the language of man(7), for section 1.
std::string ManPage();

// A script for /usr/share/bash-completion/completions.
std::string BashCompletion();

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_TERMINAL_MANUAL_H_
