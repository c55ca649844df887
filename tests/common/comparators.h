// Orders of keys other than the default.

#ifndef MIODB_TESTS_COMMON_COMPARATORS_H_
#define MIODB_TESTS_COMMON_COMPARATORS_H_

#include "miodb/comparator.h"

namespace miodb::test {

// The bytewise order backwards. Lives until the process ends.
const Comparator* ReverseComparator();

// The bytewise order of keys with A-Z taken as a-z, so that keys of different bytes are the same key. Lives until the
// process ends.
const Comparator* CaseInsensitiveComparator();

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_COMPARATORS_H_
