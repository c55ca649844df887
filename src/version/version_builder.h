// Makes a version out of another. The two versions share the levels, runs and parts of runs that do not differ. So the
// time and memory of a builder grow with the changes, not with the version.
//
// Threads: one. Ownership: a builder pins the version that it starts from. A call that throws (memory) leaves that
// version as it is, and a builder that may only be dropped.

#ifndef MIODB_SRC_VERSION_VERSION_BUILDER_H_
#define MIODB_SRC_VERSION_VERSION_BUILDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "src/version/version.h"

namespace miodb {

class VersionBuilder {
 public:
  // least_ssd_levels: the SSD tier keeps so many levels, also without files. Levels beyond stay while they have files.
  VersionBuilder(const KeyOrder& order, VersionRef base, size_t least_ssd_levels);

  // A run is there while it has tables. Tables of one run must not overlap: what is removed goes first.
  void Add(const TableRef& table, size_t level, uint64_t run);
  void Remove(const TableRef& table, size_t level, uint64_t run);

  // Payload extents of the version; an extent that goes is one of the base's.
  void AddPayload(const ExtentRef& extent);
  void RemovePayload(PmRef offset);

  void AddFile(const SstRef& file, size_t level);
  void RemoveFile(const SstRef& file, size_t level);

  void SetRanges(RangeSetRef ranges);

  // Call once, last.
  VersionRef Finish();

 private:
  TableList* TablesOf(size_t level, uint64_t run);
  SsdLevels* Ssd();

  const KeyOrder order_;
  const VersionRef base_;
  const size_t least_ssd_levels_;
  std::shared_ptr<Version> version_;
  std::map<std::pair<size_t, uint64_t>, std::shared_ptr<Run>> drafts_;  // of version_, by level and id: not of base_
  std::shared_ptr<SsdLevels> ssd_;                                      // the same; null: nothing changed there
};

// Finds what breaks the order of the version: runs that are not newest first or in two levels, tables or files of one
// run or level that overlap or are not in key order. Empty: nothing.
std::string FindDisorder(const KeyOrder& order, const Version& version);

// Whether two versions have the same tables and files in the same places, and the same deletions of ranges.
bool SameVersion(const Version& a, const Version& b);

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_VERSION_BUILDER_H_
