// The calls of DB that change something and name a column family: each asks whose handle it was given, puts the
// family's prefix before the keys, and goes on as the call without a handle does. With the default family's handle it
// is that call. Calls that read are those of ReadCalls.
//
// Threads: any. After a crash: as Families and the calls below say.

#ifndef MIODB_SRC_DB_CALLS_FAMILY_CALLS_H_
#define MIODB_SRC_DB_CALLS_FAMILY_CALLS_H_

#include <memory>
#include <string>
#include <vector>

#include "src/db/calls/read_calls.h"

namespace miodb {

struct FamilyEntry;
class Families;
class WritePath;

class FamilyCalls : public ReadCalls {
 public:
  ~FamilyCalls() override;

  using DB::CompactRange;
  using DB::Delete;
  using DB::DeleteRange;
  using DB::Merge;
  using DB::Put;
  using DB::SingleDelete;

  Status CreateColumnFamily(const std::string& name, ColumnFamilyHandle** family) override;
  Status DropColumnFamily(ColumnFamilyHandle* family) override;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& value) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) override;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& operand) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) override;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
                     const Slice& end) override;
  Status WriteIfUnchanged(const WriteOptions& options, WriteBatch* updates, const std::vector<KeyAsOf>& keys) override;
  void CompactRange(ColumnFamilyHandle* family, const Slice* begin, const Slice* end) override;

  // For repairs: as Families::Adopt.
  Status AdoptFamilies(uint64_t next_family, const std::vector<FamilyEntry>& families);

 protected:
  FamilyCalls();

  // Before anybody calls. The paths outlive this.
  void Serve(const ReadParts& reads, std::unique_ptr<Families> families, WritePath* write);
  Families* families() const { return families_.get(); }

 private:
  Status Update(const WriteOptions& options, uint8_t type, ColumnFamilyHandle* family, const Slice& key,
                const Slice& value);

  std::unique_ptr<Families> families_;
  WritePath* write_of_calls_ = nullptr;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CALLS_FAMILY_CALLS_H_
