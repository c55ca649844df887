// The parts of the database object, for the files that tell its calls, its open and its close.

#ifndef MIODB_SRC_DB_DB_PARTS_H_
#define MIODB_SRC_DB_DB_PARTS_H_

#include "src/db/checkpoint.h"
#include "src/db/control.h"
#include "src/db/cpu_census.h"
#include "src/db/db_context.h"
#include "src/db/families.h"
#include "src/db/flusher.h"
#include "src/db/kept_log.h"
#include "src/db/log_files.h"
#include "src/db/log_floor.h"
#include "src/db/merger.h"
#include "src/db/properties.h"
#include "src/db/read_path.h"
#include "src/db/recovery.h"
#include "src/db/requests.h"
#include "src/db/savepoints.h"
#include "src/db/space.h"
#include "src/db/ssd_tier.h"
#include "src/db/store_keeper.h"
#include "src/db/tree.h"
#include "src/db/workers.h"
#include "src/db/write_path.h"

#endif  // MIODB_SRC_DB_DB_PARTS_H_
