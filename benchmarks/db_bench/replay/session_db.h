// A Session as a DB, so that a replay runs on every engine. Has what a replay needs: writes, gets and
// iterators with bounds; nothing else.
//
// Threads: as the session, one.

#ifndef MIODB_BENCHMARKS_DB_BENCH_REPLAY_SESSION_DB_H_
#define MIODB_BENCHMARKS_DB_BENCH_REPLAY_SESSION_DB_H_

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/common/engine.h"
#include "miodb/db.h"

namespace miodb::bench {

class SessionDb final : public DB {
 public:
  explicit SessionDb(std::unique_ptr<Session> session) : session_(std::move(session)) {}

  Status Put(const WriteOptions& options, const Slice& key, const Slice& value) override;
  Status Delete(const WriteOptions& options, const Slice& key) override;
  Status Write(const WriteOptions& options, WriteBatch* updates) override;
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) override;
  using DB::Get;
  // REQUIRES: no families.
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys, std::vector<std::string>* values) override;
  using DB::MultiGet;
  Iterator* NewIterator(const ReadOptions& options) override;

  const Snapshot* GetSnapshot() override { return nullptr; }
  void ReleaseSnapshot(const Snapshot*) override {}
  bool GetProperty(const Slice&, std::string*) override { return false; }
  void GetApproximateSizes(const Range*, int n, uint64_t* sizes) override;
  void CompactRange(const Slice*, const Slice*) override {}

 private:
  Status ToStatus(Code code) const;

  const std::unique_ptr<Session> session_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_REPLAY_SESSION_DB_H_
