#include "tools/miodb/terminal/manual.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "miodb/db.h"

namespace miodb::tool {

namespace {

constexpr char kSummary[] = "looks into MioDB databases, moves data in and out, watches and repairs them";

// Each line is a paragraph.
constexpr char kGeneral[] =
    "DATABASE is the directory of a database. Where its other parts are it says itself. One program at a time has a "
    "database open, so a verb that opens one waits for nobody: it fails while another program has it.\n"
    "Keys and values are bytes. They are written as text in which a backslash is \\\\, newline, tab and carriage "
    "return are "
    "\\n, \\t and \\r, and any byte may be \\xNN; as hex with --hex, --key_hex or --value_hex; and shown as lines of "
    "JSON "
    "with --json. A key that begins with a dash stands behind \"--\".\n"
    "Verbs that make a database are import, checkpoint and restore, and put, merge, shell and follow with --create; "
    "bench makes one and removes it. Results go to standard output and everything else to standard error.\n"
    "Ctrl-C ends a verb in good order: a database is closed, and what was begun under a temporary name is removed. The "
    "verbs check, dump, move and repair end at once, and leave what a crash leaves.\n";

constexpr char kCodes[] =
    "0: done. 1: done, and the answer is no: a key is not there, damage was found, a part is not the database's. 2: "
    "not "
    "done, or not to the end: wrong usage, a database that cannot be opened, an error, a full disk, or a reader of the "
    "output that went away. 130: interrupted.";

// Makes lines of at most so many columns out of a paragraph.
void Wrap(std::string_view paragraph, size_t indent, size_t first_column, std::string* text) {
  constexpr size_t kColumns = 100;
  size_t column = first_column;
  for (size_t at = 0; at < paragraph.size();) {
    const size_t end = std::min(paragraph.find(' ', at), paragraph.size());
    const std::string_view word = paragraph.substr(at, end - at);
    if (column > indent && column + 1 + word.size() > kColumns) {
      *text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      *text += ' ';
      column++;
    }
    *text += word;
    column += word.size();
    at = end + 1;
  }
  *text += '\n';
}

// Each line of a text as a paragraph.
template <typename Use>
void ForParagraphs(std::string_view text, Use use) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    use(text.substr(at, end - at));
    at = end + 1;
  }
}

std::string Spelled(const OptionTable::Row& row) {
  return "--" + row.name + (row.argument.empty() ? "" : "=" + row.argument);
}

std::string HelpOf(const OptionTable::Row& row) {
  std::string words;
  for (const std::string& word : row.words) words += (words.empty() ? ": " : ", ") + word;
  return row.help + words;
}

void AppendOptions(const OptionTable& options, std::string* text) {
  size_t width = 0;
  for (const OptionTable::Row& row : options.rows()) width = std::max(width, Spelled(row).size());
  const size_t indent = std::min<size_t>(width + 4, 30);
  for (const OptionTable::Row& row : options.rows()) {
    std::string left = "  " + Spelled(row);
    if (left.size() + 2 > indent) {
      *text += left + "\n";
      left.clear();
    }
    left.resize(indent, ' ');
    *text += left;
    Wrap(HelpOf(row), indent, indent, text);
  }
}

// Text in a man page: nothing in it is a command or an escape.
std::string Roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '"') {
      result += "\\(dq";
    } else if (c == '\'') {
      result += "\\(aq";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') ? "\\&" + result : result;
}

void AppendRoffParagraphs(std::string_view text, std::string* page) {
  ForParagraphs(text, [page](std::string_view paragraph) { *page += ".PP\n" + Roff(paragraph) + "\n"; });
}

std::string Operands(const Verb& verb, bool in_shell) {
  std::string operands = verb.operands;
  constexpr std::string_view kDatabase = "DATABASE";
  if (in_shell && operands.starts_with(kDatabase)) operands.erase(0, std::min(operands.size(), kDatabase.size() + 1));
  return operands;
}

}  // namespace

std::string UsageLine(const Verb& verb, const std::string& program, bool in_shell) {
  const std::string operands = Operands(verb, in_shell);
  return "Usage: " + program + " [OPTION]..." + (operands.empty() ? "" : " " + operands) + "\n";
}

std::string VerbHelp(const Verb& verb, const OptionTable& options, const std::string& program, bool in_shell) {
  std::string text = UsageLine(verb, program, in_shell) + "\n";
  ForParagraphs(verb.text, [&](std::string_view paragraph) { Wrap(paragraph, 0, 0, &text); });
  if (!options.rows().empty()) text += "\n";
  AppendOptions(options, &text);
  text += "\n";
  Wrap(std::string("Exit code: ") + kCodes, 0, 0, &text);
  return text;
}

std::string GeneralHelp() {
  std::string text = "Usage: miodb VERB [OPTION]... [OPERAND]...\n\n";
  Wrap(std::string("miodb ") + kSummary + ".", 0, 0, &text);
  text += "\n";
  for (const Verb& verb : Verbs()) {
    std::string left = std::string("  ") + verb.name;
    left.resize(14, ' ');
    text += left;
    Wrap(verb.summary, 14, 14, &text);
  }
  text += "\n";
  ForParagraphs(kGeneral, [&](std::string_view paragraph) { Wrap(paragraph, 0, 0, &text); });
  text += "\n";
  Wrap(std::string("Exit code: ") + kCodes, 0, 0, &text);
  text +=
      "\n\"miodb VERB --help\" tells more of one of them; --version, --man (the man page), --bash_completion\n"
      "(a script), --options (the options of a database) and --options_map (options of LevelDB and RocksDB, and\n"
      "what they are here) stand in the place of a verb.\n";
  return text;
}

std::string ManPage() {
  const std::string version = std::to_string(kMajorVersion) + "." + std::to_string(kMinorVersion);
  std::string page = ".TH MIODB 1 \"\" \"MioDB " + version + "\" \"User Commands\"\n.SH NAME\n";
  page += "miodb, miodb_check, miodb_dump, miodb_move \\- " + Roff(kSummary) + "\n.SH SYNOPSIS\n";
  page += ".B miodb\n.I VERB\n[\\fIOPTION\\fR]... [\\fIOPERAND\\fR]...\n.SH DESCRIPTION\n";
  AppendRoffParagraphs(kGeneral, &page);
  page +=
      ".PP\n\\fBmiodb_check\\fR, \\fBmiodb_dump\\fR and \\fBmiodb_move\\fR are the verbs check, dump and move by "
      "other names.\n.SH VERBS\n";
  for (const Verb& verb : Verbs()) {
    page += std::string(".SS miodb ") + verb.name + " [\\fIOPTION\\fR]... " + Roff(verb.operands) + "\n";
    AppendRoffParagraphs(verb.text, &page);
    const std::unique_ptr<Command> command = verb.make();
    OptionTable options;
    command->AddOptions(&options);
    for (const OptionTable::Row& row : options.rows()) {
      page += ".TP\n\\fB" + Roff("--" + row.name) + "\\fR";
      if (!row.argument.empty()) page += "=\\fI" + Roff(row.argument) + "\\fR";
      page += "\n" + Roff(HelpOf(row)) + "\n";
    }
  }
  page += ".SH \"EXIT STATUS\"\n" + Roff(kCodes) + "\n";
  page += ".SH \"SEE ALSO\"\n.PP\ntools.md, options.md and options_map.md in the documents of MioDB.\n";
  return page;
}

std::string BashCompletion() {
  std::string verbs, cases;
  for (const Verb& verb : Verbs()) {
    verbs += std::string(verb.name) + " ";
    const std::unique_ptr<Command> command = verb.make();
    OptionTable options;
    command->AddOptions(&options);
    std::string words = "--help";
    for (const OptionTable::Row& row : options.rows()) {
      words += " --" + row.name + (row.argument.empty() ? "" : "=");
      for (const std::string& word : row.words) words += " --" + row.name + "=" + word;
    }
    cases += std::string("    ") + verb.name + ") options=\"" + words + "\" ;;\n";
  }
  return "# Completion of miodb for bash: verbs, their options, and files where neither fits.\n"
         "_miodb() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} options=\n"
         "  COMPREPLY=()\n"
         "  case ${COMP_WORDS[0]##*/} in\n"
         "    miodb_*) verb=${COMP_WORDS[0]##*/miodb_} verb=${verb#miodb_} ;;\n"
         "    *)\n"
         "      if ((COMP_CWORD == 1)); then\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"" +
         verbs +
         "help --help --version\" -- \"$cur\")\n"
         "        return\n"
         "      fi ;;\n"
         "  esac\n"
         "  case $verb in\n" +
         cases +
         "  esac\n"
         "  if [[ $cur == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
         "    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi\n"
         "  fi\n"
         "}\n"
         "complete -o default -F _miodb miodb miodb_check miodb_dump miodb_move\n";
}

}  // namespace miodb::tool
