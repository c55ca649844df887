// Checks the values of Options against the ranges that options.h states.

#ifndef MIODB_SRC_DB_CONTEXT_OPTIONS_CHECK_H_
#define MIODB_SRC_DB_CONTEXT_OPTIONS_CHECK_H_

#include <string>

#include "miodb/options.h"
#include "miodb/status.h"
#include "src/db/context/db_hooks.h"
#include "src/format/store_descriptor.h"

namespace miodb {

// InvalidArgument naming the option, its value and the allowed range. Sizes may be below their ranges, down to a few
// cache lines, where background work is done by steps, and in the database that a repair makes.
Status CheckOptions(const Options& options, const DbHooks& hooks = DbHooks());

// The place that Options::pool_path, or the path of one of nvm_regions, names.
PoolPlace PlaceOfPool(const std::string& path);

// LevelDB takes any write_buffer_size and uses the nearest one that it likes. Programs written for it rely on that, so
// the C API and libleveldb do the same, with LevelDB's limits: 64 KiB to 1 GiB.
void ClipAsLevelDB(Options* options);

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_OPTIONS_CHECK_H_
