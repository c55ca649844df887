// Data files of a backup folder: writing the one of a generation that is made, and reading those of all.
//
// A data file is blocks, each behind its header, one after the other. If a run was cut off, its data file is read as
// far as it goes; a block is there if header and bytes fit their checksums, whatever was durable by then.
//
// Threads: one for an object.

#ifndef MIODB_SRC_DB_COPY_BACKUP_DATA_H_
#define MIODB_SRC_DB_COPY_BACKUP_DATA_H_

#include <cstdint>
#include <map>
#include <string>

#include "src/db/copy/backup_folder.h"
#include "src/db/copy/backup_format.h"
#include "src/util/files/posix_file.h"

namespace miodb {

class DataWriter {
 public:
  // Writes the data file of the generation with this number, in a folder that outlives this.
  DataWriter(const BackupFolder& folder, uint64_t generation, uint64_t secret)
      : folder_(folder), generation_(generation), secret_(secret), path_(folder.DataPath(generation)) {
    CHECK_GT(generation, 0u);
  }
  DataWriter(const DataWriter&) = delete;
  DataWriter& operator=(const DataWriter&) = delete;

  Status Open();

  // Blocks that an earlier run has left, by offsets in the pool.
  const std::map<PmRef, BackupBlock>& left() const { return left_; }

  // Adds a block with these bytes, whose hash it has, and sets where it is.
  Status Append(PmRef offset, const char* bytes, BackupBlock* block);

  // Makes it durable, with its name. A file without blocks goes.
  Status Finish();

  uint64_t size() const { return end_; }

 private:
  Status TakeUp();

  const BackupFolder& folder_;
  const uint64_t generation_;
  const uint64_t secret_;
  const std::string path_;
  Descriptor file_{-1};
  uint64_t end_ = 0;
  std::map<PmRef, BackupBlock> left_;
};

class DataReader {
 public:
  DataReader(const BackupFolder& folder, uint64_t secret) : folder_(folder), secret_(secret) {}
  DataReader(const DataReader&) = delete;
  DataReader& operator=(const DataReader&) = delete;

  // *bytes are the reader's until the next call. Corruption names file and place.
  Status Read(PmRef offset, const BackupBlock& block, const char** bytes);

 private:
  Status Open(uint64_t file, int* fd);

  const BackupFolder& folder_;
  const uint64_t secret_;
  std::map<uint64_t, Descriptor> files_;
  std::string buffer_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_COPY_BACKUP_DATA_H_
