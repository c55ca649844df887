// Where the log files of a database are: the file WAL in the database directory, so that no open depends on its options
// to find them.
//
//   "%016x %016x %d\n"  the log's id, its pool's, and whether it may hold writes that are nowhere else
//   the rest            wal_dir
//
// The log's id is that of the file WAL_OWNER in its folder. A log that begins in another folder gets another id, so
// that a folder that was left is not taken for the one that counts.
//
// Threads: one call for a file at a time.

#ifndef MIODB_SRC_LOG_LOG_PLACE_H_
#define MIODB_SRC_LOG_LOG_PLACE_H_

#include <cstdint>
#include <string>

#include "miodb/env.h"
#include "miodb/status.h"

namespace miodb {

struct LogPlace {
  std::string wal_dir;
  uint64_t log_id = 0;
  uint64_t pool_id = 0;
  bool in_use = false;  // false: there is nothing in it, wherever it is

  bool operator==(const LogPlace&) const = default;

  static uint64_t NewId();

  std::string Encode() const;

  // False if the bytes are no such file.
  bool DecodeFrom(const std::string& text);

  // NotFound if there is no such file, Corruption if it is damaged.
  static Status Read(Env* env, const std::string& path, LogPlace* place);

  // Replaces the file; what a crash leaves is as with ReplaceFile.
  Status Write(Env* env, const std::string& path) const;
};

}  // namespace miodb

#endif  // MIODB_SRC_LOG_LOG_PLACE_H_
