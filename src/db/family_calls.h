// The calls of DB that name a column family: each asks whose handle it was given, puts the family's prefix before the
// keys, and goes on as the call without a handle does. With the default family's handle it is that call.
//
// Threads: any. What a crash leaves: as Families and the calls below say.

#ifndef MIODB_SRC_DB_FAMILY_CALLS_H_
#define MIODB_SRC_DB_FAMILY_CALLS_H_

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "miodb/db.h"

namespace miodb {

struct DbContext;
struct FamilyEntry;
class Families;
class FamilyKey;
class ReadPath;
class WritePath;

class FamilyCalls : public DB {
 public:
  ~FamilyCalls() override;

  using DB::CompactRange;
  using DB::Delete;
  using DB::DeleteRange;
  using DB::Get;
  using DB::GetApproximateSizes;
  using DB::GetProperty;
  using DB::KeyMayExist;
  using DB::Merge;
  using DB::MultiGet;
  using DB::NewIterator;
  using DB::Put;
  using DB::SingleDelete;

  Status CreateColumnFamily(const std::string& name, ColumnFamilyHandle** family) override;
  Status GetColumnFamily(const std::string& name, ColumnFamilyHandle** family) override;
  Status DropColumnFamily(ColumnFamilyHandle* family) override;
  Status ListColumnFamilies(std::vector<std::string>* names) override;
  ColumnFamilyHandle* DefaultColumnFamily() override;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& value) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) override;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& operand) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) override;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
                     const Slice& end) override;
  Status WriteIfUnchanged(const WriteOptions& options, WriteBatch* updates, const std::vector<KeyAsOf>& keys) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, PinnableSlice* value) override;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value,
                   bool* value_found) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys, std::vector<std::string>* values) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys, std::vector<PinnableSlice>* values) override;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) override;
  bool GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value) override;
  void GetApproximateSizes(ColumnFamilyHandle* family, const Range* range, int n, uint64_t* sizes) override;
  void CompactRange(ColumnFamilyHandle* family, const Slice* begin, const Slice* end) override;

  // For repairs: as Families::Adopt.
  Status AdoptFamilies(uint64_t next_family, const std::vector<FamilyEntry>& families);

 protected:
  FamilyCalls();

  // Before anybody calls. The context and the paths outlive this.
  void Serve(const DbContext* context, std::unique_ptr<Families> families, WritePath* write, ReadPath* read);
  Families* families() const { return families_.get(); }

 private:
  DB* WithoutHandle() { return this; }
  Status Update(const WriteOptions& options, uint8_t type, ColumnFamilyHandle* family, const Slice& key,
                const Slice& value);
  // What the engine has a key under. NotFound: the default family does not see it, whatever there is of it.
  Status EngineKey(const ColumnFamilyHandle* family, const Slice& key, std::deque<FamilyKey>* room,
                   Slice* engine_key) const;
  template <typename Value>
  Status GetFrom(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, Value* value);
  template <typename Value>
  std::vector<Status> GetFromMany(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                  const std::vector<Slice>& keys, std::vector<Value>* values);

  const DbContext* context_of_calls_ = nullptr;
  std::unique_ptr<Families> families_;
  WritePath* write_of_calls_ = nullptr;
  ReadPath* read_of_calls_ = nullptr;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_FAMILY_CALLS_H_
