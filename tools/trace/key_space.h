// All keys of a column family, from a text file with one key as 0x... in each line, sorted: for the places of accessed
// keys among all keys.
//
// Threads: one. Reads the file once, forward.

#ifndef MIODB_TOOLS_TRACE_KEY_SPACE_H_
#define MIODB_TOOLS_TRACE_KEY_SPACE_H_

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "miodb/status.h"

namespace miodb::tools {

class KeySpace {
 public:
  // on_key is called for every key with its place, from 0.
  KeySpace(const std::string& path, std::function<void(uint64_t, std::string_view)> on_key);

  // The place of a key. False if it is not there. REQUIRES: keys are asked for in rising order.
  bool Find(std::string_view key, uint64_t* place);

  // Reads the rest. Returns what is wrong with the file: IOError, or Corruption naming the line.
  Status Finish();

  uint64_t keys() const { return keys_; }

 private:
  bool Advance();

  const std::string path_;
  const std::function<void(uint64_t, std::string_view)> on_key_;
  std::ifstream file_;
  std::string key_;    // The last one read.
  uint64_t keys_ = 0;  // Read so far.
  Status status_;
};

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_KEY_SPACE_H_
