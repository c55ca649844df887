// The input of import: records one after the other, from lines of JSON or from another store. Another store gives its
// column families one after the other, the default one first and the others by their names; lines come as they are.
//
// Threads: one. Ownership: what Next gives is the source's, until its next call.
// Errors: Next ends and status() says why; a source never changes what it reads.

#ifndef MIODB_TOOLS_MIODB_STORES_SOURCE_H_
#define MIODB_TOOLS_MIODB_STORES_SOURCE_H_

#include <memory>
#include <optional>
#include <string>

#include "miodb/slice.h"
#include "miodb/status.h"

namespace miodb::tool {

struct SourceRecord {
  Slice key;
  Slice value;
};

class Source {
 public:
  virtual ~Source() = default;
  // The next record and its column family. No record: there is the family, and a record of it may follow.
  virtual bool Next(std::string* family, std::optional<SourceRecord>* record) = 0;
  virtual Status status() const = 0;

  // How much of it was read, about, from 0 to 1; 0: not known. May take as long as a get.
  virtual double ShareRead() = 0;
};

enum class Format { kAuto, kJson, kLevelDb, kRocksDb };

// By what is in a directory; a file is JSON.
Format FormatOf(const std::string& path);

struct SourceRequest {
  std::string path;
  Format format = Format::kAuto;
  std::string library;  // of the other store; empty: the system's
  std::string wal;      // the folder of RocksDB's log; empty: as its options say
  // This column family alone, which then is given as the default one. Not set: all of them.
  std::optional<std::string> column_family;
};

// InvalidArgument, NotFound and Corruption name the path.
Status OpenSource(const SourceRequest& request, std::unique_ptr<Source>* source);

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_STORES_SOURCE_H_
