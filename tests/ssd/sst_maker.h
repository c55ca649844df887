// Table files in memory, for tests.

#ifndef MIODB_TESTS_SSD_SST_MAKER_H_
#define MIODB_TESTS_SSD_SST_MAKER_H_

#include <map>
#include <memory>
#include <string>

#include "miodb/env.h"
#include "src/ssd/sst_reader.h"
#include "src/ssd/sst_writer.h"
#include "tests/common/string_file.h"

namespace miodb::test {

// Reads come from a string; counts them.
class StringSource final : public RandomAccessFile {
 public:
  explicit StringSource(std::string contents) : contents_(std::move(contents)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override;

  mutable uint64_t reads = 0;

 private:
  const std::string contents_;
};

using Entries = std::map<std::string, std::string>;

// The table file of these entries, whose keys are in the order of std::string.
std::string MakeSst(const SstFormat& format, const Entries& entries, uint64_t* fingerprint = nullptr);

// Opens a table file called "some.sst".
Status OpenSst(const SstFormat& format, const std::string& contents, std::unique_ptr<SstReader>* reader,
               Checksums checksums = Checksums::kVerify, Cache* cache = nullptr);

}  // namespace miodb::test

#endif  // MIODB_TESTS_SSD_SST_MAKER_H_
