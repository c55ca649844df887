// The option sets under which the random tests run. Each turns a different screw far from its default, so that every
// branch that an option selects sees the same histories.

#ifndef MIODB_TESTS_COMMON_RANDOM_OPTION_SETS_H_
#define MIODB_TESTS_COMMON_RANDOM_OPTION_SETS_H_

#include <string>
#include <vector>

#include "miodb/options.h"

namespace miodb::test {

struct OptionSet {
  std::string name;  // a C identifier
  Options options;   // with create_if_missing
};

// As Options::ssd_path: OpenDb puts the SSD tier into the folder "ssd" of the database's directory.
inline constexpr char kSsdInDirectory[] = "(in the database's directory)";

// As the path of a region: the file "region" in the database's directory.
inline constexpr char kRegionInDirectory[] = "(a file in the database's directory)";

// The options of a database with this path: kSsdInDirectory becomes that folder, kRegionInDirectory that file.
Options AtPath(Options options, const std::string& path);

// Memtables of 64 KiB and all other sizes in proportion: what tests start from.
Options SmallOptions();

// All sets; the first is SmallOptions().
const std::vector<OptionSet>& OptionSets();

// Ends the program if there is no set of this name.
const OptionSet& FindOptionSet(const std::string& name);

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_RANDOM_OPTION_SETS_H_
