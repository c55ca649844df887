// FamilyHandles: the column families that calls may name, and how large they are.
//
// Threads: all calls by any. After a crash: nothing; the manifest has the families.

#ifndef MIODB_SRC_DB_CALLS_FAMILY_HANDLES_H_
#define MIODB_SRC_DB_CALLS_FAMILY_HANDLES_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "miodb/column_family.h"
#include "src/db/read/read_path.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"
#include "src/version/edit/version_edit.h"

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

class FamilyHandles {
 public:
  // Makes handles for the families that have a name. The context and the path outlive this.
  FamilyHandles(const DbContext& db, ReadPath* read, const std::map<uint64_t, FamilyEntry>& families = {});
  FamilyHandles(const FamilyHandles&) = delete;
  FamilyHandles& operator=(const FamilyHandles&) = delete;

  // As DB's calls of these names.
  Status Find(const std::string& name, ColumnFamilyHandle** family);
  Status List(std::vector<std::string>* names);
  ColumnFamilyHandle* default_family() { return &default_family_; }

  // The id that a call with this handle is for.
  Status IdOf(const ColumnFamilyHandle* family, uint32_t* id) const;

  // Returns what use(id of the family) returns, after a look if this is a reader's (ReadSources::before_read); or the
  // error of the handle or of the look. Nothing is thrown.
  template <typename Use>
  Status InFamily(const ColumnFamilyHandle* family, Use use) const {
    return db_.WithMemory([&] {
      uint32_t id;
      Status s = IdOf(family, &id);
      if (s.ok()) s = read_->BeforeRead();
      return s.ok() ? use(id) : s;
    });
  }

  // The same with the key in the engine for a key of the family. NotFound: the default family does not see the key,
  // whatever its records.
  template <typename Use>
  Status WithKey(const ColumnFamilyHandle* family, const Slice& key, Use use) const {
    return InFamily(family, [&](uint32_t id) {
      if (id != kDefaultFamily) return use(FamilyKey(id, key).slice());
      return db_.families.Hides(key) ? Status::NotFound(Slice()) : use(key);
    });
  }

  // As DB's, of one family.
  void SumSizes(uint32_t family, const Range* range, int n, uint64_t* sizes);
  uint64_t EstimateKeys(uint32_t family);
  uint64_t ApproximateBytes(uint32_t family);

  // A line for each: id, name, entries, bytes.
  std::string Describe();

 protected:
  // Without memory nothing is changed.
  void Add(uint32_t id, const std::string& name) REQUIRES(mutex_);

  Mutex mutex_;
  std::vector<std::unique_ptr<FamilyHandle>> handles_ GUARDED_BY(mutex_);  // dropped ones too
  std::map<std::string, FamilyHandle*> by_name_ GUARDED_BY(mutex_);        // those that are there, but the default one

 private:
  const DbContext& db_;
  ReadPath* const read_;
  FamilyHandle default_family_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CALLS_FAMILY_HANDLES_H_
