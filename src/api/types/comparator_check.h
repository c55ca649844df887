// Whether a comparator is the one that a database was made with.

#ifndef MIODB_SRC_API_TYPES_COMPARATOR_CHECK_H_
#define MIODB_SRC_API_TYPES_COMPARATOR_CHECK_H_

#include <string>

#include "miodb/comparator.h"
#include "miodb/status.h"

namespace miodb {

// place: what was made with the comparator of the name made_with. LevelDB's words come first, for programs look for
// them.
inline Status CheckComparator(const Comparator& comparator, const std::string& made_with, const std::string& place) {
  if (made_with == comparator.Name()) return Status::OK();
  return Status::InvalidArgument(made_with + " does not match existing comparator ",
                                 std::string(comparator.Name()) + " (" + place + " was made with the first)");
}

}  // namespace miodb

#endif  // MIODB_SRC_API_TYPES_COMPARATOR_CHECK_H_
