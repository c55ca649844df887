// The files that an analysis writes. Each gets its name only when all of them are whole, so nobody takes a part for the
// result; until then it is called <name>.partial, and is removed if the analysis fails.
//
// Threads: one.

#ifndef MIODB_TOOLS_TRACE_OUTPUT_FILES_H_
#define MIODB_TOOLS_TRACE_OUTPUT_FILES_H_

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "miodb/status.h"

namespace miodb::tools {

class OutputFile {
 public:
  void Print(const char* format, ...) __attribute__((format(printf, 2, 3)));

 private:
  friend class OutputFiles;
  std::string path_;
  FILE* file_ = nullptr;
};

class OutputFiles {
 public:
  // All files lie in this folder and begin with this prefix and a dash.
  OutputFiles(std::string folder, std::string prefix) : folder_(std::move(folder)), prefix_(std::move(prefix)) {}
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  // Makes the folder if it is not there. If this call made the folder and no file gets its name in it, the folder is
  // removed again.
  Status MakeFolder();

  // A new file, which stays open until Finish. Errors show there.
  OutputFile* Create(const std::string& name);

  // Writes what is still in buffers. The first error of any file. No Create may follow.
  Status Finish();

  // Gives all files their names. On an error all are removed. REQUIRES: Finish returned OK.
  Status Commit();

  const std::string& folder() const { return folder_; }

 private:
  Status Close(OutputFile* file);

  const std::string folder_;
  const std::string prefix_;
  bool has_made_folder_ = false;
  std::vector<std::unique_ptr<OutputFile>> files_;
  Status status_;
};

// "0x" and two upper-case digits for each byte.
std::string Hex(std::string_view bytes);

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_OUTPUT_FILES_H_
