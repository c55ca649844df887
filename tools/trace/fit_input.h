// Reads the files that trace_analyzer wrote.
//
// Errors: IOError or NotFound if a file cannot be read, Corruption naming file and line if it is not what it should be.

#ifndef MIODB_TOOLS_TRACE_FIT_INPUT_H_
#define MIODB_TOOLS_TRACE_FIT_INPUT_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "miodb/status.h"
#include "tools/trace/fit_models.h"

namespace miodb::tools {

class AnalysisFiles {
 public:
  AnalysisFiles(std::string folder, std::string prefix, int64_t column_family)
      : start_(std::move(folder) + "/" + std::move(prefix) + "-"), family_(std::to_string(column_family)) {}

  // Queries by kind, of this column family: composition.csv.
  Status ReadComposition(std::map<std::string, double>* queries) const;

  // Bins of integers: (value - 1, value] for a value, (first - 1, last] for a bucket.
  Status ReadValueSizes(const std::string& access, std::vector<Bin>* bins) const;
  Status ReadScanLengths(std::vector<Bin>* bins) const;
  Status ReadKeySizes(const std::string& access, std::vector<Bin>* bins) const;
  Status ReadAccessCounts(const std::string& access, std::vector<Bin>* bins) const;

  struct Key {
    uint64_t place = 0;  // Among all keys if "is_whole", else among those accessed.
    uint64_t accesses = 0;
    uint64_t value_size = 0;  // 0 if "is_whole".
  };

  // whole_key_stats.txt if it is there, else accessed_key_stats.txt.
  Status ReadKeys(const std::string& access, bool* is_whole, std::vector<Key>* keys) const;
  Status ReadAccessedKeys(const std::string& access, std::vector<Key>* keys) const;

  // Columns of qps_stats.txt, the last one over all kinds.
  Status ReadRates(std::vector<std::vector<double>>* columns) const;

 private:
  std::string Path(const std::string& access, const std::string& ending) const {
    return start_ + access + "-" + family_ + "-" + ending;
  }

  const std::string start_;
  const std::string family_;
};

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_FIT_INPUT_H_
