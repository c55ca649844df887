// The parts of the database object, for the files that tell its calls, its open and its close.

#ifndef MIODB_SRC_DB_OPEN_DB_PARTS_H_
#define MIODB_SRC_DB_OPEN_DB_PARTS_H_

#include "src/db/background/flusher.h"
#include "src/db/background/merger.h"
#include "src/db/background/ssd_tier.h"
#include "src/db/calls/families.h"
#include "src/db/calls/properties.h"
#include "src/db/calls/requests.h"
#include "src/db/context/control.h"
#include "src/db/context/cpu_census.h"
#include "src/db/context/db_context.h"
#include "src/db/context/workers.h"
#include "src/db/copy/checkpoint.h"
#include "src/db/copy/savepoints.h"
#include "src/db/open/recovery.h"
#include "src/db/read/read_path.h"
#include "src/db/space/kept_log.h"
#include "src/db/space/log_files.h"
#include "src/db/space/log_floor.h"
#include "src/db/space/space.h"
#include "src/db/state/tree.h"
#include "src/db/store/directory_lock.h"
#include "src/db/store/store_keeper.h"
#include "src/db/write/write_path.h"

#endif  // MIODB_SRC_DB_OPEN_DB_PARTS_H_
