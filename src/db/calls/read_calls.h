// The calls of DB that read, with the handle of a column family and without: what a live database and a view have in
// common. A call without a handle is that with the default family's. A get of a key alone is an exception, because it
// would pay for the look at the handle.
//
// Threads: any. After a crash: reads change nothing.

#ifndef MIODB_SRC_DB_CALLS_READ_CALLS_H_
#define MIODB_SRC_DB_CALLS_READ_CALLS_H_

#include <deque>
#include <new>
#include <string>
#include <vector>

#include "miodb/db.h"

namespace miodb {

struct DbContext;
class FamilyHandles;
class FamilyKey;
class ReadPath;
struct ReadSources;

class ReadCalls : public DB {
 public:
  using DB::GetProperty;
  using DB::KeyMayExist;
  using DB::MultiGet;

  // In a child of fork() nothing of the object is touched, not even destroyed: its threads, locks and files are the
  // parent's.
  static void operator delete(ReadCalls* db, std::destroying_delete_t);
  // Operators new and delete, for a constructor that throws.
  static void* operator new(size_t size);
  static void operator delete(void* space);

  Status Get(const ReadOptions& options, const Slice& key, std::string* value) override;
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) override;
  Iterator* NewIterator(const ReadOptions& options) override;
  const Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const Snapshot* snapshot) override;
  uint64_t GetLatestSequenceNumber() const override;
  void GetApproximateSizes(const Range* range, int n, uint64_t* sizes) override;

  Status GetColumnFamily(const std::string& name, ColumnFamilyHandle** family) override;
  Status ListColumnFamilies(std::vector<std::string>* names) override;
  ColumnFamilyHandle* DefaultColumnFamily() override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, PinnableSlice* value) override;
  Status GetWithExpiry(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value,
                       uint64_t* expiry_micros) override;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value,
                   bool* value_found) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys, std::vector<std::string>* values) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys, std::vector<PinnableSlice>* values) override;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) override;
  bool GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value) override;
  void GetApproximateSizes(ColumnFamilyHandle* family, const Range* range, int n, uint64_t* sizes) override;

 protected:
  struct ReadParts {
    const DbContext* context = nullptr;
    ReadSources* sources = nullptr;
    ReadPath* read = nullptr;
    FamilyHandles* handles = nullptr;
  };

  // Before anybody calls. The parts outlive all calls.
  void Serve(const ReadParts& parts);
  const ReadParts& reads() const { return parts_; }

  // The key in the engine for a key of a family. NotFound: the default family does not see the key, whatever its
  // records.
  Status EngineKey(const ColumnFamilyHandle* family, const Slice& key, std::deque<FamilyKey>* room,
                   Slice* engine_key) const;

 private:
  template <typename Value>
  Status GetFrom(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, Value* value);
  template <typename Value>
  Status GetOne(const ReadOptions& options, const Slice& key, Value* value);
  template <typename Value>
  std::vector<Status> GetFromMany(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                  const std::vector<Slice>& keys, std::vector<Value>* values);

  ReadParts parts_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CALLS_READ_CALLS_H_
