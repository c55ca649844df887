// The parts of Session and Cursor that read the same for MioDB, LevelDB and RocksDB, because the three public APIs do.
//
// An engine names its types in a Traits struct: DB, Slice, Status, Iterator, WriteBatch, ReadOptions, WriteOptions,
// and a static function std::string Message(const Status&). A store that looks up many keys in one call also has a
// static function MultiGet(DB*, const ReadOptions&, keys, MultiGetRoom*, found) that returns the Status of the first
// failure. The room is kept from call to call, as the result of a Get is.

#ifndef MIODB_BENCHMARKS_COMMON_ENGINES_SESSION_H_
#define MIODB_BENCHMARKS_COMMON_ENGINES_SESSION_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "benchmarks/common/engine.h"

namespace miodb::bench {

// The text of `memstats` of the stores with LevelDB's properties.
template <class DB>
bool DescribeMemory(DB* db, std::string* text) {
  if (!db->GetProperty("leveldb.approximate-memory-usage", text)) return false;
  *text = "memory bytes: " + *text + "\n";
  return true;
}

template <class Traits>
class ApiCursor final : public Cursor {
 public:
  explicit ApiCursor(typename Traits::Iterator* iterator) : iterator_(iterator) {}

  bool SeekToFirst(Entry* entry) override {
    iterator_->SeekToFirst();
    return Arrive(entry);
  }
  bool SeekToLast(Entry* entry) override {
    iterator_->SeekToLast();
    return Arrive(entry);
  }
  bool Seek(std::string_view key, Entry* entry) override {
    iterator_->Seek(typename Traits::Slice(key.data(), key.size()));
    return Arrive(entry);
  }
  bool Next(Entry* entry) override {
    iterator_->Next();
    return Arrive(entry);
  }
  bool Prev(Entry* entry) override {
    iterator_->Prev();
    return Arrive(entry);
  }
  Outcome Check() override {
    const auto status = iterator_->status();
    return status.ok() ? Outcome{} : Outcome::Error(Traits::Message(status));
  }

 private:
  bool Arrive(Entry* entry) {
    if (!iterator_->Valid()) return false;
    const auto key = iterator_->key();
    const auto value = iterator_->value();
    entry->key = std::string_view(key.data(), key.size());
    entry->value = std::string_view(value.data(), value.size());
    return true;
  }

  std::unique_ptr<typename Traits::Iterator> iterator_;
};

struct NoMultiGet {};

template <class Traits>
struct MultiGetRoomOf {
  using Type = NoMultiGet;
};
template <class Traits>
requires requires { typename Traits::MultiGetRoom; }
struct MultiGetRoomOf<Traits> {
  using Type = typename Traits::MultiGetRoom;
};

// The common part of sessions of such a store, however they find the place of a key.
template <class Traits>
class StoreSession : public Session {
 public:
  using Slice = typename Traits::Slice;

  Code BatchWrite() override {
    const Code code = Finish(db_->Write(write_options_, &batch_));
    batch_.Clear();
    return code;
  }

  std::unique_ptr<Cursor> NewCursor() override {
    return std::make_unique<ApiCursor<Traits>>(db_->NewIterator(read_options_));
  }

 protected:
  StoreSession(typename Traits::DB* db, typename Traits::WriteOptions write_options,
               typename Traits::ReadOptions read_options)
      : db_(db), write_options_(std::move(write_options)), read_options_(std::move(read_options)) {}

  static Slice ToSlice(std::string_view bytes) { return Slice(bytes.data(), bytes.size()); }

  template <class Status>
  Code Finish(const Status& status) {
    if (status.ok()) return Code::kOk;
    if (status.IsNotFound()) return Code::kNotFound;
    error_ = Traits::Message(status);
    return Code::kError;
  }

  typename Traits::DB* const db_;
  const typename Traits::WriteOptions write_options_;
  const typename Traits::ReadOptions read_options_;
  typename Traits::WriteBatch batch_;
};

// Pinned is the engine's slice that reads without a copy, or std::string.
template <class Traits, class Pinned>
class ApiSession final : public StoreSession<Traits> {
  using Base = StoreSession<Traits>;
  using Base::batch_;
  using Base::db_;
  using Base::Finish;
  using Base::read_options_;
  using Base::ToSlice;
  using Base::write_options_;

 public:
  using Slice = typename Traits::Slice;

  ApiSession(typename Traits::DB* db, typename Traits::WriteOptions write_options,
             typename Traits::ReadOptions read_options)
      : Base(db, std::move(write_options), std::move(read_options)) {}

  Code Put(std::string_view key, std::string_view value) override {
    return Finish(db_->Put(write_options_, ToSlice(key), ToSlice(value)));
  }
  Code Delete(std::string_view key) override { return Finish(db_->Delete(write_options_, ToSlice(key))); }

  Code Merge(std::string_view key, std::string_view operand) override {
    if constexpr (kHasKinds) {
      return Finish(db_->Merge(write_options_, ToSlice(key), ToSlice(operand)));
    } else {
      return Session::Merge(key, operand);
    }
  }
  Code SingleDelete(std::string_view key) override {
    if constexpr (kHasKinds) {
      return Finish(db_->SingleDelete(write_options_, ToSlice(key)));
    } else {
      return Delete(key);
    }
  }

  Code Get(std::string_view key, std::string_view* value) override {
    if constexpr (!std::is_same_v<Pinned, std::string>) result_.Reset();
    const Code code = Finish(Traits::Get(db_, read_options_, ToSlice(key), &result_));
    if (code == Code::kOk) *value = std::string_view(result_.data(), result_.size());
    return code;
  }

  Code MultiGet(std::span<const std::string_view> keys, const Session::FoundFunction& found) override {
    if constexpr (requires { typename Traits::MultiGetRoom; }) {
      return Finish(Traits::MultiGet(db_, read_options_, keys, &room_, found));
    } else {
      return Session::MultiGet(keys, found);
    }
  }

  void BatchPut(std::string_view key, std::string_view value) override { batch_.Put(ToSlice(key), ToSlice(value)); }
  void BatchDelete(std::string_view key) override { batch_.Delete(ToSlice(key)); }
  void BatchSingleDelete(std::string_view key) override {
    if constexpr (kHasKinds) {
      batch_.SingleDelete(ToSlice(key));
    } else {
      batch_.Delete(ToSlice(key));
    }
  }
  bool BatchMerge(std::string_view key, std::string_view operand) override {
    if constexpr (kHasKinds) batch_.Merge(ToSlice(key), ToSlice(operand));
    return kHasKinds;
  }

 private:
  // Whether the store has merges and single deletions.
  static constexpr bool kHasKinds = requires(typename Traits::WriteBatch * batch, Slice key) {
    batch->Merge(key, key);
    batch->SingleDelete(key);
  };

  Pinned result_;
  [[no_unique_address]] typename MultiGetRoomOf<Traits>::Type room_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINES_SESSION_H_
