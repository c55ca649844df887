// Families: the column families of a database, as the manifest has them: names, ids, handles, making and dropping.
//
// A family is made by one edit, which gives its id to a name. It is dropped in two steps:
//
//   1 one edit takes the name away; the id stays, as one that may have content. No call gets a handle any more, and the
//     gate (family_gate.h) sees to it that no write of the family is under way or begins.
//   2 the range of the family's keys is deleted.
//
// An open looks at the ids without a name. Of those with nothing to read it takes away the id as well; the others'
// content is deleted once more. So it does not matter whether step 2 was done, or lost with a log that is not kept.
// Numbers of ids are in the manifest and never given twice.
//
// Threads: all calls by any, but for Begin and FinishDrops, which are the open's. What a crash leaves: before an edit
// the families without it, after it with it.

#ifndef MIODB_SRC_DB_FAMILIES_H_
#define MIODB_SRC_DB_FAMILIES_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "miodb/column_family.h"
#include "src/db/log_floor.h"
#include "src/db/read_path.h"
#include "src/db/tree.h"
#include "src/db/write_path.h"
#include "src/util/check.h"
#include "src/util/mutex.h"

namespace miodb {

// The database's own; a program has a pointer to it.
class FamilyHandle final : public ColumnFamilyHandle {
 public:
  FamilyHandle(const void* database, uint32_t id, const std::string& name) : database_(database), id_(id), name_(name) {
    DCHECK(database != nullptr && !name.empty());
  }
  ~FamilyHandle() override = default;

  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return id_; }
  bool IsOf(const void* database) const { return database_ == database; }
  void SetDropped() { dropped_.store(true, std::memory_order_release); }     // release: with dropped()
  bool dropped() const { return dropped_.load(std::memory_order_acquire); }  // acquire: what the drop has done is seen

 private:
  const void* const database_;
  const uint32_t id_;
  const std::string name_;
  std::atomic<bool> dropped_{false};
};

class Families {
 public:
  struct Parts {
    Control* control;
    Tree* tree;
    LogFloor* floor;
    WritePath* write;
    ReadPath* read;
  };

  Families(DbContext& db, const Parts& parts);
  Families(const Families&) = delete;
  Families& operator=(const Families&) = delete;

  // ---- the open: takes up what the manifest has; then, when writes are possible, finishes drops
  void Begin() EXCLUDES(db_mutex);
  void FinishDrops() EXCLUDES(db_mutex);

  // As DB's calls of these names.
  Status Create(const std::string& name, ColumnFamilyHandle** family);
  Status Drop(ColumnFamilyHandle* family);
  Status Find(const std::string& name, ColumnFamilyHandle** family);
  Status List(std::vector<std::string>* names);
  ColumnFamilyHandle* default_family() { return &default_family_; }

  // For a repair, whose new database gets the old one's families under the ids that they had.
  Status Adopt(uint64_t next_family, const std::vector<FamilyEntry>& families);

  // The id that a call with this handle is for.
  Status IdOf(const ColumnFamilyHandle* family, uint32_t* id) const;

  // As DB's, of one family.
  void SumSizes(uint32_t family, const Range* range, int n, uint64_t* sizes);
  uint64_t EstimateKeys(uint32_t family);
  uint64_t ApproximateBytes(uint32_t family);

  // A line for each: id, name, entries, bytes.
  std::string Describe();

 private:
  Status CheckName(const std::string& name) const REQUIRES(mutex_);
  Status CheckFirst() REQUIRES(mutex_);
  Status Apply(VersionEdit edit) EXCLUDES(db_mutex);
  Status TakeName(ColumnFamilyHandle* family, uint32_t id) REQUIRES(mutex_);
  Status Erase(uint32_t family);
  void AddHandle(uint32_t id, const std::string& name) REQUIRES(mutex_);

  DbContext& db_;
  const Parts parts_;
  FamilyHandle default_family_;

  Mutex mutex_;                                                            // one change at a time
  std::vector<std::unique_ptr<FamilyHandle>> handles_ GUARDED_BY(mutex_);  // dropped ones too
  std::map<std::string, FamilyHandle*> by_name_ GUARDED_BY(mutex_);        // those that are there, but the default one
  uint64_t next_family_ GUARDED_BY(mutex_) = 1;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_FAMILIES_H_
