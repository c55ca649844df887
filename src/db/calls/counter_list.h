// CounterList: the figures of "miodb.counters", and of which kind each is, in the order in which they are told.
//
// Threads: one.

#ifndef MIODB_SRC_DB_CALLS_COUNTER_LIST_H_
#define MIODB_SRC_DB_CALLS_COUNTER_LIST_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "miodb/slice.h"

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

  // null: there is none of this name.
  const Entry* Find(const Slice& name) const {
    const auto is_wanted = [&](const Entry& entry) { return name == Slice(entry.name); };
    const auto found = std::find_if(entries_.begin(), entries_.end(), is_wanted);
    return found != entries_.end() ? &*found : nullptr;
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CALLS_COUNTER_LIST_H_
