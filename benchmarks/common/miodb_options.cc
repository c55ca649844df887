#include "benchmarks/common/miodb_options.h"

#include <utility>

#include "miodb/merge_operator.h"

namespace miodb::bench {

namespace {

// False if MioDB has no such compression; it then uses none.
bool FindCompression(const std::string& name, CompressionType* type) {
  *type = name == "snappy" ? kSnappyCompression : name == "zstd" ? kZstdCompression : kNoCompression;
  return name == "none" || *type != kNoCompression;
}

// False if there is no such operator. The names are RocksDB's.
bool FindMergeOperator(const std::string& name, const MergeOperator** merge_operator) {
  static const MergeOperator* const append = NewStringAppendOperator(",");
  const std::pair<const char*, const MergeOperator*> operators[] = {{"", nullptr},
                                                                    {"put", PutOperator()},
                                                                    {"uint64add", UInt64AddOperator()},
                                                                    {"max", MaxOperator()},
                                                                    {"stringappend", append}};
  for (const auto& [known, found] : operators) {
    *merge_operator = found;
    if (name == known) return true;
  }
  return false;
}

}  // namespace

std::string FillMioDbOptions(const EngineConfig& config, Options* options) {
  options->create_if_missing = config.create_if_missing;
  if (!FindCompression(config.Compression(), &options->compression) && !options->ssd_path.empty()) {
    return "miodb has no compression type '" + config.Compression() + "'";
  }
  if (!FindMergeOperator(config.merge_operator, &options->merge_operator)) {
    return "miodb has no merge operator '" + config.merge_operator + "'";
  }
  if (config.open_files >= 0) options->max_open_files = static_cast<int>(config.open_files);
  if (config.num_levels >= 0) options->num_levels = static_cast<int>(config.num_levels);
  if (config.bloom_bits >= 0) options->filter_bits_per_key = static_cast<int>(config.bloom_bits);
  return "";
}

}  // namespace miodb::bench
