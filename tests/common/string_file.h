// A file that is a string.

#ifndef MIODB_TESTS_COMMON_STRING_FILE_H_
#define MIODB_TESTS_COMMON_STRING_FILE_H_

#include <string>

#include "miodb/env.h"
#include "miodb/slice.h"
#include "miodb/status.h"

namespace miodb::test {

// Appends go to a string.
class StringSink final : public WritableFile {
 public:
  Status Append(const Slice& data) override {
    contents.append(data.data(), data.size());
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return Status::OK(); }

  std::string contents;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_STRING_FILE_H_
