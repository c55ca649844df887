// The options by their names, and their values as text: for programs that read them from a file or a command line, for
// bindings and for documents. options.h says what each option means; docs/options.md is this table.
//
//   miodb::Options options;
//   miodb::Status s = miodb::SetOption(&options, "write_buffer_size", "16777216");
//   if (!s.ok()) fprintf(stderr, "%s\n", s.ToString().c_str());   // names the option, the text and what is allowed
//
// The table has every member of Options but the objects: comparator, env, info_log, block_cache, filter_policy,
// merge_operator, lifetime_policy, compaction_filter, shared_resources, listeners.
//
// Threads: any number of threads may call at once; as with any struct, each Options is for one of them at a time.
// Ownership: the table belongs to the library and lives as long as the process. Errors: InvalidArgument, and the
// Options are as they were. No call touches a database, so a crash leaves nothing.

#ifndef MIODB_INCLUDE_OPTION_TABLE_H_
#define MIODB_INCLUDE_OPTION_TABLE_H_

#include <string>
#include <vector>

#include "miodb/export.h"
#include "miodb/options.h"
#include "miodb/status.h"

namespace miodb {

// How the text of a value is written.
enum class OptionKind : int {
  kSwitch = 0,  // true or false
  kNumber = 1,  // a decimal number, without a unit
  kWord = 2,    // a word of a list
  kText = 3,    // a path, a list of paths, or another text; empty: none
};

// Another option that has to be set, or the option has no effect.
enum class OptionNeeds : int {
  kNothing = 0,
  kSsdTier = 1,     // Options::ssd_path
  kLogInFiles = 2,  // Options::log_mode kLogFile
};

enum class OptionChange : int {
  kAtEveryOpen = 0,  // each open may give another value
  kOnlyByMove = 1,  // the first open that gives the value fixes it, until miodb_move says that the file or folder moved
};

// The heading below which db_bench and ycsbc have the flag of an option: by the engines that get it, too.
enum class OptionHeading : int {
  kOther = 0,  // these programs have flags of their own for it
  kEveryEngine = 1,
  kLogFiles = 2,
  kTableFiles = 3,
  kMioDb = 4,
  kLevelDb = 5,
};

struct OptionInfo {
  const char* name;  // the member of Options
  OptionKind kind;
  const char* unit;          // of a number, such as "bytes"; empty: the number is a count
  std::string default_text;  // as GetOption of Options() gives it
  std::string allowed;       // the range, the words or the form, such as "2 to 64"
  bool may_be_negative;      // a number whose range has negative values
  const char* help;          // one line
  OptionNeeds needs;
  OptionChange change;
  OptionHeading heading;
  const char* rocksdb_name;  // the option of RocksDB that comes nearest; empty: there is none
  const char* rocksdb_note;  // how the two differ
  bool in_leveldb;           // LevelDB has that option, too
};

// All of them, in the order of options.h.
MIODB_EXPORT const std::vector<OptionInfo>& AllOptions();

// Gives one option the value that the text says. InvalidArgument: there is no option of this name, or the value is none
// that is allowed; the message says what is. Ranges of options that need the SSD tier are looked at only if ssd_path is
// set already; an open looks at all that have an effect.
MIODB_EXPORT Status SetOption(Options* options, const std::string& name, const std::string& text);

// The value of one option, in the form that SetOption takes. InvalidArgument: there is no option of this name, or its
// value has no such form (a region whose path has a comma or a colon).
MIODB_EXPORT Status GetOption(const Options& options, const std::string& name, std::string* text);

}  // namespace miodb

#endif  // MIODB_INCLUDE_OPTION_TABLE_H_
