// Sorts more entries than memory holds: what does not fit goes to unnamed files in a folder, sorted, and is merged when
// it is read.
//
// Order: bytewise by key; entries of one key in the order in which they were added.
//
//   ExternalSort sort(folder, memory_bytes);
//   for (...) s = sort.Add(key, payload);
//   s = sort.Finish();
//   while (sort.Next(&key, &payload)) ...
//   s = sort.status();
//
// Threads: one. Nothing is left behind, also when the process dies: the files have no name.

#ifndef MIODB_TOOLS_TRACE_EXTERNAL_SORT_H_
#define MIODB_TOOLS_TRACE_EXTERNAL_SORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "miodb/status.h"

namespace miodb::tools {

class ExternalSort {
 public:
  // Uses about this much memory while entries are added, and less afterwards.
  ExternalSort(std::string folder, size_t memory_bytes);
  ~ExternalSort();
  ExternalSort(const ExternalSort&) = delete;
  ExternalSort& operator=(const ExternalSort&) = delete;

  Status Add(std::string_view key, std::string_view payload);

  // No Add may follow.
  Status Finish();

  // Stores the next entry and returns true; false at the end and on an error. The bytes stay until the next call.
  bool Next(std::string_view* key, std::string_view* payload);
  Status status() const { return status_; }

  uint64_t entries() const { return entries_; }
  size_t spilled_runs() const { return runs_.size(); }

 private:
  struct Run;

  // An entry in memory: where it lies, and the first bytes in which keys differ, as a number.
  struct Place {
    uint64_t head;
    size_t offset;
  };

  std::string_view KeyAt(size_t offset) const;
  void SortPlaces();
  Status Spill();
  bool NextInMemory(std::string_view* key, std::string_view* payload);

  const std::string folder_;
  const size_t memory_bytes_;
  std::vector<char> arena_;  // Entries: two lengths, key, payload.
  std::vector<Place> places_;
  size_t next_place_ = 0;
  uint64_t entries_ = 0;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<Run*> heap_;  // The runs that have an entry left, least entry first.
  Run* current_ = nullptr;  // Whose entry was handed out.
  Status status_;
};

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_EXTERNAL_SORT_H_
