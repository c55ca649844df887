// Checks the values of Options against the ranges that options.h states.

#ifndef MIODB_SRC_DB_OPTIONS_CHECK_H_
#define MIODB_SRC_DB_OPTIONS_CHECK_H_

#include "miodb/options.h"
#include "miodb/status.h"

namespace miodb {

// InvalidArgument naming the option, its value and the allowed range. any_sizes: sizes may be below their ranges.
Status CheckOptions(const Options& options, bool any_sizes = false);

}  // namespace miodb

#endif  // MIODB_SRC_DB_OPTIONS_CHECK_H_
