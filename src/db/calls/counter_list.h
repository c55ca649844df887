// CounterList: the figures of "miodb.counters", and of which kind each is, in the order in which they are told.
//
// Threads: one.

#ifndef MIODB_SRC_DB_CALLS_COUNTER_LIST_H_
#define MIODB_SRC_DB_CALLS_COUNTER_LIST_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace miodb {

class CounterList {
 public:
  enum class Kind {
    kTotal,  // counts since the open and only grows
    kNow,    // may fall, or is the highest value so far
  };
  struct Entry {
    std::string name;
    uint64_t value;
    Kind kind;
  };

  void Total(std::string name, uint64_t value) { entries_.push_back({std::move(name), value, Kind::kTotal}); }
  void Now(std::string name, uint64_t value) { entries_.push_back({std::move(name), value, Kind::kNow}); }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CALLS_COUNTER_LIST_H_
