// A session of MioDB: of the default family, or of families that keys are spread over (family_name.h), with the stage
// times of one call in every few (miodb/perf_context.h) where the configuration asks for them.
//
// Threads and ownership: as Session and Cursor.

#ifndef MIODB_BENCHMARKS_COMMON_ENGINES_MIODB_SESSION_H_
#define MIODB_BENCHMARKS_COMMON_ENGINES_MIODB_SESSION_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/engine_config.h"
#include "benchmarks/common/engines/family_name.h"
#include "miodb/db.h"
#include "miodb/perf_context.h"
#include "miodb/pinnable_slice.h"
#include "miodb/write_batch.h"

namespace miodb::bench {

// Names the kind of the error where scripts look for it: a full pool is what capacity experiments wait for.
inline std::string ToMessage(const Status& status) {
  return (status.IsNoSpace() ? "NoSpace: " : "") + status.ToString();
}

inline Outcome ToOutcome(const Status& status) { return status.ok() ? Outcome{} : Outcome::Error(ToMessage(status)); }

inline Slice ToSlice(std::string_view bytes) { return Slice(bytes.data(), bytes.size()); }

// The sum of the times of all sessions of an engine. Any number of threads.
class SampledTimes {
 public:
  void Add(const PerfContext& times) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sum_.Add(times);
  }

  // As text, and starts anew.
  std::string Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string text = sum_.ToString();
    sum_.Reset();
    return text;
  }

 private:
  std::mutex mutex_;
  PerfContext sum_;
};

class MioDbCursor final : public Cursor {
 public:
  explicit MioDbCursor(Iterator* iterator) : iterator_(iterator) {}

  bool SeekToFirst(Entry* entry) override {
    iterator_->SeekToFirst();
    return Arrive(entry);
  }
  bool SeekToLast(Entry* entry) override {
    iterator_->SeekToLast();
    return Arrive(entry);
  }
  bool Seek(std::string_view key, Entry* entry) override {
    iterator_->Seek(ToSlice(key));
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
  Outcome Check() override { return ToOutcome(iterator_->status()); }

 private:
  bool Arrive(Entry* entry) {
    if (!iterator_->Valid()) return false;
    const Slice key = iterator_->key(), value = iterator_->value();
    *entry = Entry{{key.data(), key.size()}, {value.data(), value.size()}};
    return true;
  }

  const std::unique_ptr<Iterator> iterator_;
};

class MioDbSession final : public Session {
 public:
  // families: empty for the default one alone; they and times outlive the session.
  MioDbSession(DB* db, const std::vector<ColumnFamilyHandle*>& families, const EngineConfig& config,
               const SessionOptions& options, SampledTimes* times)
      : db_(db),
        families_(families),
        pins_(config.pinned_get),
        has_merge_operator_(!config.merge_operator.empty()),
        every_(config.perf_sampling),
        times_(times) {
    write_options_.sync = options.sync;
    read_options_.verify_checksums = config.verify_checksum;
    read_options_.readahead_size = config.readahead_size;
  }
  ~MioDbSession() override { times_->Add(own_); }

  Code Put(std::string_view key, std::string_view value) override {
    return Call(key,
                [&](auto*... family) { return db_->Put(write_options_, family..., ToSlice(key), ToSlice(value)); });
  }
  Code Delete(std::string_view key) override {
    return Call(key, [&](auto*... family) { return db_->Delete(write_options_, family..., ToSlice(key)); });
  }
  Code Merge(std::string_view key, std::string_view operand) override {
    return Call(key,
                [&](auto*... family) { return db_->Merge(write_options_, family..., ToSlice(key), ToSlice(operand)); });
  }
  Code SingleDelete(std::string_view key) override {
    return Call(key, [&](auto*... family) { return db_->SingleDelete(write_options_, family..., ToSlice(key)); });
  }

  Code Get(std::string_view key, std::string_view* value) override {
    if (!pins_) return GetInto(&copied_, key, value);
    pinned_.Reset();
    return GetInto(&pinned_, key, value);
  }
  Code MultiGet(std::span<const std::string_view> keys, const FoundFunction& found) override {
    if (!families_.empty()) return Session::MultiGet(keys, found);
    looked_up_.clear();
    for (const std::string_view key : keys) looked_up_.push_back(ToSlice(key));
    const std::vector<Status> statuses = db_->MultiGet(read_options_, looked_up_, &values_);
    if (statuses.size() != keys.size()) return Finish(Status::IOError("MultiGet", "out of memory"));
    for (size_t i = 0; i < keys.size(); i++) {
      if (statuses[i].ok()) {
        found(i, values_[i]);
      } else if (!statuses[i].IsNotFound()) {
        return Finish(statuses[i]);
      }
    }
    return Code::kOk;
  }

  void BatchPut(std::string_view key, std::string_view value) override {
    InFamily(key, [&](auto*... family) { batch_.Put(family..., ToSlice(key), ToSlice(value)); });
  }
  void BatchDelete(std::string_view key) override {
    InFamily(key, [&](auto*... family) { batch_.Delete(family..., ToSlice(key)); });
  }
  void BatchSingleDelete(std::string_view key) override {
    InFamily(key, [&](auto*... family) { batch_.SingleDelete(family..., ToSlice(key)); });
  }
  bool BatchMerge(std::string_view key, std::string_view operand) override {
    if (!has_merge_operator_) return false;
    InFamily(key, [&](auto*... family) { batch_.Merge(family..., ToSlice(key), ToSlice(operand)); });
    return true;
  }
  Code BatchWrite() override {
    const Code code = Call([&] { return db_->Write(write_options_, &batch_); });
    batch_.Clear();
    return code;
  }
  void BatchClear() override { batch_.Clear(); }

  std::unique_ptr<Cursor> NewCursor() override {
    return std::make_unique<MioDbCursor>(db_->NewIterator(read_options_));
  }
  std::unique_ptr<Cursor> NewCursorOf(std::string_view key) override {
    return std::make_unique<MioDbCursor>(
        InFamily(key, [&](auto*... family) { return db_->NewIterator(read_options_, family...); }));
  }

 private:
  // Calls with the family of a key as an argument, or without any where the default family alone is used.
  template <typename Function>
  std::invoke_result_t<const Function&> InFamily(std::string_view key, const Function& function) {
    return families_.empty() ? function() : function(FamilyOf(families_, key));
  }

  template <typename Result>
  Code GetInto(Result* result, std::string_view key, std::string_view* value) {
    const Code code =
        Call(key, [&](auto*... family) { return db_->Get(read_options_, family..., ToSlice(key), result); });
    if (code == Code::kOk) *value = std::string_view(result->data(), result->size());
    return code;
  }

  template <typename Function>
  Code Call(std::string_view key, const Function& function) {
    return Call([&] { return InFamily(key, function); });
  }

  template <typename Function>
  Code Call(Function function) {
    if (every_ <= 0 || ++calls_ % every_ != 0) return Finish(function());
    GetPerfContext()->Reset();
    SetPerfLevel(kPerfTimes);
    const Code code = Finish(function());
    SetPerfLevel(kPerfOff);
    own_.Add(*GetPerfContext());
    return code;
  }

  Code Finish(const Status& status) {
    if (status.ok()) return Code::kOk;
    if (status.IsNotFound()) return Code::kNotFound;
    error_ = ToMessage(status);
    return Code::kError;
  }

  DB* const db_;
  const std::vector<ColumnFamilyHandle*>& families_;
  const bool pins_;
  const bool has_merge_operator_;
  const int64_t every_;  // calls of which the times of one are taken; 0: of none
  SampledTimes* const times_;
  WriteOptions write_options_;
  ReadOptions read_options_;
  WriteBatch batch_;
  std::string copied_;
  PinnableSlice pinned_;
  std::vector<Slice> looked_up_;  // kept from call to call, as copied_ is
  std::vector<std::string> values_;
  int64_t calls_ = 0;
  PerfContext own_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINES_MIODB_SESSION_H_
