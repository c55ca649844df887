// The database's own info log: the file LOG, which becomes LOG.old at every open and when it has grown large.
//
// Threads: messages by any. Errors: a message may get lost; a file that cannot be begun leaves the old one in use.

#ifndef MIODB_SRC_DB_STATS_INFO_LOG_H_
#define MIODB_SRC_DB_STATS_INFO_LOG_H_

#include <memory>
#include <string>

#include "miodb/env.h"
#include "miodb/options.h"
#include "miodb/status.h"

namespace miodb {

// The name of the n-th file before LOG: LOG.old, LOG.old.2 and so on; LOG for 0.
std::string InfoLogPath(const std::string& name, size_t n);

// Opens the info log: options.info_log, or a fresh LOG in the directory, which *own then holds.
Status OpenInfoLog(const Options& options, const std::string& name, std::unique_ptr<Logger>* own, Logger** log);

}  // namespace miodb

#endif  // MIODB_SRC_DB_STATS_INFO_LOG_H_
