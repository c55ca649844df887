// A session that spreads keys over column families, as RocksDB's db_bench does with --num_column_families: the number
// in a key decides. An iterator, which has no key, is of the default family, as in RocksDB's db_bench.
//
// Traits: as of ApiSession. Family: the type of the store's handles, which the engine keeps while sessions live.
//
// Threads and ownership: as Session.

#ifndef MIODB_BENCHMARKS_COMMON_ENGINES_FAMILY_SESSION_H_
#define MIODB_BENCHMARKS_COMMON_ENGINES_FAMILY_SESSION_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/common/engines/family_name.h"
#include "benchmarks/common/engines/session.h"

namespace miodb::bench {

template <class Traits, class Family>
class FamilySession final : public StoreSession<Traits> {
  using Base = StoreSession<Traits>;
  using Base::batch_;
  using Base::db_;
  using Base::Finish;
  using Base::read_options_;
  using Base::ToSlice;
  using Base::write_options_;

 public:
  using Slice = typename Traits::Slice;

  FamilySession(typename Traits::DB* db, std::vector<Family*> families, typename Traits::WriteOptions write_options,
                typename Traits::ReadOptions read_options)
      : Base(db, std::move(write_options), std::move(read_options)), families_(std::move(families)) {}

  Code Put(std::string_view key, std::string_view value) override {
    return Finish(db_->Put(write_options_, Of(key), ToSlice(key), ToSlice(value)));
  }
  Code Delete(std::string_view key) override { return Finish(db_->Delete(write_options_, Of(key), ToSlice(key))); }
  Code Merge(std::string_view key, std::string_view operand) override {
    return Finish(db_->Merge(write_options_, Of(key), ToSlice(key), ToSlice(operand)));
  }
  Code SingleDelete(std::string_view key) override {
    return Finish(db_->SingleDelete(write_options_, Of(key), ToSlice(key)));
  }
  Code Get(std::string_view key, std::string_view* value) override {
    const Code code = Finish(db_->Get(read_options_, Of(key), ToSlice(key), &result_));
    if (code == Code::kOk) *value = result_;
    return code;
  }

  // RocksDB's batches return a status, which can only be of a size that no workload has.
  void BatchPut(std::string_view key, std::string_view value) override {
    static_cast<void>(batch_.Put(Of(key), ToSlice(key), ToSlice(value)));
  }
  void BatchDelete(std::string_view key) override { static_cast<void>(batch_.Delete(Of(key), ToSlice(key))); }
  void BatchSingleDelete(std::string_view key) override {
    static_cast<void>(batch_.SingleDelete(Of(key), ToSlice(key)));
  }
  bool BatchMerge(std::string_view key, std::string_view operand) override {
    static_cast<void>(batch_.Merge(Of(key), ToSlice(key), ToSlice(operand)));
    return true;
  }

 private:
  Family* Of(std::string_view key) const { return FamilyOf(families_, key); }

  const std::vector<Family*> families_;
  std::string result_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINES_FAMILY_SESSION_H_
