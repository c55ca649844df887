// A session of a store whose batches are transactions: it keeps the updates until the batch is written.
//
// Threads and ownership: as Session.

#ifndef MIODB_BENCHMARKS_COMMON_ENGINES_BATCHING_SESSION_H_
#define MIODB_BENCHMARKS_COMMON_ENGINES_BATCHING_SESSION_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/common/engine.h"

namespace miodb::bench {

class BatchingSession : public Session {
 public:
  void BatchPut(std::string_view key, std::string_view value) override {
    batch_.push_back({std::string(key), std::string(value), false});
  }
  void BatchDelete(std::string_view key) override { batch_.push_back({std::string(key), "", true}); }
  Code BatchWrite() override {
    const Code code = WriteBatch();
    batch_.clear();
    return code;
  }
  Code BatchWriteTwice(const std::function<void()>& between) override {
    if (WriteBatch() != Code::kOk) return Code::kError;
    between();
    return BatchWrite();
  }

 protected:
  struct Update {
    std::string key, value;
    bool is_delete;
  };

  // Writes batch_ as one transaction.
  virtual Code WriteBatch() = 0;

  std::vector<Update> batch_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINES_BATCHING_SESSION_H_
