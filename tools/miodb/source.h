// The input of import: records one after the other, from lines of JSON or from another store.
//
// Threads: one. Ownership: the slices of a record are the source's, until its next call.
// Errors: Next ends and status() says why; a source never changes what it reads.

#ifndef MIODB_TOOLS_MIODB_SOURCE_H_
#define MIODB_TOOLS_MIODB_SOURCE_H_

#include <memory>
#include <string>

#include "miodb/slice.h"
#include "miodb/status.h"

namespace miodb::tool {

class Source {
 public:
  virtual ~Source() = default;
  virtual bool Next(Slice* key, Slice* value) = 0;
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
  std::string library;        // of the other store; empty: the system's
  std::string column_family;  // of RocksDB; empty: the default one, if there is no other
};

// InvalidArgument, NotFound and Corruption name the path.
Status OpenSource(const SourceRequest& request, std::unique_ptr<Source>* source);

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_SOURCE_H_
