// Databases of LevelDB, which are read and written, and of RocksDB, which are read, by their own libraries.
//
// LevelDB has no way to open a database without writing to it, and RocksDB writes its info log. So what is opened is a
// folder of its own below the system's for temporary files, with links to the source's files: what the library makes or
// removes is there, and the source stays as it is.
//
// Threads: one. Errors: whatever the library says, with the source's path; damage is found with its paranoid checks and
// with verified checksums.

#ifndef MIODB_TOOLS_MIODB_STORES_FOREIGN_STORE_H_
#define MIODB_TOOLS_MIODB_STORES_FOREIGN_STORE_H_

#include <memory>
#include <string>

#include "benchmarks/common/engines/c_api.h"
#include "tools/miodb/stores/source.h"

namespace miodb::tool {

Status OpenForeignSource(const SourceRequest& request, std::unique_ptr<Source>* source);

// Makes a LevelDB database in a directory that does not exist.
class LevelDbWriter {
 public:
  // library: as in SourceRequest.
  static Status Open(const std::string& directory, const std::string& library, std::unique_ptr<LevelDbWriter>* writer);
  ~LevelDbWriter();
  LevelDbWriter(const LevelDbWriter&) = delete;
  LevelDbWriter& operator=(const LevelDbWriter&) = delete;

  Status Put(const Slice& key, const Slice& value);
  // Writes what is left, makes everything durable and closes the database.
  Status Finish();

 private:
  explicit LevelDbWriter(const std::string& directory) : directory_(directory) {}
  enum class Sync : unsigned char { kNo = 0, kYes = 1 };
  Status WriteBatch(Sync sync);

  const std::string directory_;
  bench::CApi library_;
  void* db_ = nullptr;
  void* batch_ = nullptr;
  size_t batch_bytes_ = 0;
};

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_STORES_FOREIGN_STORE_H_
