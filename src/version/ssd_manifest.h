// What remains of a database whose pool is volatile: the state of its SSD tier, as a file in the database directory.
//
//   8 bytes "MIODBSSD" | u32 format version | u32 masked CRC-32C of all that follows
//   u64 store id | u64 log reach | an edit that leads from nothing to the state (version_edit.h)
//
// The file is replaced as a whole. Of the state only comparator, next id, flushed sequence and files are set.
//
// Threads: one call for a file at a time.

#ifndef MIODB_SRC_VERSION_SSD_MANIFEST_H_
#define MIODB_SRC_VERSION_SSD_MANIFEST_H_

#include <cstdint>
#include <string>

#include "miodb/env.h"
#include "miodb/slice.h"
#include "miodb/status.h"
#include "src/version/version_edit.h"

namespace miodb {

struct SsdManifest {
  uint64_t store_id = 0;  // whose table files and log files these are; as a pool's id, but it outlives the pool

  // Writes up to this one were durable in the log when the file was written, and files may hold any of them. So a log
  // that ends earlier is damaged.
  uint64_t log_reach = 0;

  // Its flushed sequence: writes up to this one are in files, or hidden by others that are; the log goes on from there.
  VersionEdit state;

  std::string Encode() const;

  // False if the bytes are no such file.
  bool DecodeFrom(const Slice& bytes);

  // Reads the file. Corruption with its path if it is damaged.
  static Status Read(Env* env, const std::string& path, SsdManifest* manifest);
};

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_SSD_MANIFEST_H_
