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
  void BatchPut(std::string_view key, std::string_view value) override { Add(key, value, Kind::kPut); }
  void BatchDelete(std::string_view key) override { Add(key, {}, Kind::kDelete); }
  Code BatchWrite() override {
    const Code code = WriteBatch();
    BatchClear();
    return code;
  }
  Code BatchWriteTwice(const std::function<void()>& between) override {
    if (WriteBatch() != Code::kOk) return Code::kError;
    between();
    return BatchWrite();
  }
  void BatchClear() override {
    updates_.clear();
    bytes_.clear();
  }

 protected:
  enum class Kind { kPut, kDelete };

  // Writes the updates as one transaction.
  virtual Code WriteBatch() = 0;

  // Calls visit(kind, key, value) for each update, until a call returns another result than 0. Returns the last result.
  template <typename Visit>
  int ForEachUpdate(const Visit& visit) const {
    std::string_view rest = bytes_;
    int result = 0;
    for (const Update& update : updates_) {
      if (result != 0) break;
      result = visit(update.kind, rest.substr(0, update.key_size), rest.substr(update.key_size, update.value_size));
      rest.remove_prefix(update.key_size + update.value_size);
    }
    return result;
  }

 private:
  struct Update {
    size_t key_size, value_size;
    Kind kind;
  };

  void Add(std::string_view key, std::string_view value, Kind kind) {
    updates_.push_back({key.size(), value.size(), kind});
    bytes_.append(key).append(value);
  }

  // Kept from batch to batch, so that a batch takes no memory beyond what the store takes.
  std::vector<Update> updates_;
  std::string bytes_;  // keys and values of the updates
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINES_BATCHING_SESSION_H_
