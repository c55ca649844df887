// ReadOnlyDb: the calls of a database that only reads: those that write are refused, and those that wait have nothing
// to wait for.
//
// Threads: any.

#ifndef MIODB_SRC_DB_CALLS_READ_ONLY_DB_H_
#define MIODB_SRC_DB_CALLS_READ_ONLY_DB_H_

#include <memory>
#include <string>
#include <vector>

#include "src/db/calls/read_calls.h"

namespace miodb {

class ReadOnlyDb : public ReadCalls {
 public:
  using DB::CompactRange;
  using DB::Delete;
  using DB::Put;
  using ReadCalls::GetProperty;

  // There are "miodb.estimate-num-keys", "miodb.identity", and of a family the two that it has in every one.
  bool GetProperty(const Slice& property, std::string* value) override;

  // There is nothing that waits to be done.
  void CompactRange(const Slice*, const Slice*) override {}
  void CompactRange(ColumnFamilyHandle*, const Slice*, const Slice*) override {}
  Status Flush() override { return Status::OK(); }
  Status WaitForIdle() override { return Status::OK(); }

  // Nobody can write to it. The other calls for one update write a batch.
  Status Write(const WriteOptions&, WriteBatch*) override { return Refusal(); }
  Status WriteIfUnchanged(const WriteOptions&, WriteBatch*, const std::vector<KeyAsOf>&) override { return Refusal(); }
  Status Put(const WriteOptions&, const Slice&, const Slice&) override { return Refusal(); }
  Status Delete(const WriteOptions&, const Slice&) override { return Refusal(); }
  Status CreateColumnFamily(const std::string& name, ColumnFamilyHandle** family) override;
  Status DropColumnFamily(ColumnFamilyHandle*) override { return Refusal(); }
  Status StartTrace(const TraceOptions&, std::unique_ptr<TraceWriter>) override { return Refusal(); }
  Status EndTrace() override { return Refusal(); }
  Status AddRegion(const NvmRegion&) override { return Refusal(); }
  Status FollowSource(const Slice&) override { return Refusal(); }

 protected:
  // Why nobody writes here.
  virtual Status Refusal() const = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CALLS_READ_ONLY_DB_H_
