// A session of MioDB that takes the stage times of one call in every few (miodb/perf_context.h).

#ifndef MIODB_BENCHMARKS_COMMON_ENGINES_SAMPLED_SESSION_H_
#define MIODB_BENCHMARKS_COMMON_ENGINES_SAMPLED_SESSION_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "benchmarks/common/engine.h"
#include "miodb/perf_context.h"

namespace miodb::bench {

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

class SampledSession final : public Session {
 public:
  // Takes the times of every `every`th put, delete, batch and get.
  SampledSession(std::unique_ptr<Session> session, uint64_t every, SampledTimes* times)
      : session_(std::move(session)), every_(every), times_(times) {}
  ~SampledSession() override { times_->Add(own_); }

  Code Put(std::string_view key, std::string_view value) override {
    return Sample([&] { return session_->Put(key, value); });
  }
  Code Delete(std::string_view key) override {
    return Sample([&] { return session_->Delete(key); });
  }
  Code Merge(std::string_view key, std::string_view operand) override {
    return Sample([&] { return session_->Merge(key, operand); });
  }
  Code SingleDelete(std::string_view key) override {
    return Sample([&] { return session_->SingleDelete(key); });
  }
  Code Get(std::string_view key, std::string_view* value) override {
    return Sample([&] { return session_->Get(key, value); });
  }
  Code MultiGet(std::span<const std::string_view> keys, const FoundFunction& found) override {
    return Report(session_->MultiGet(keys, found));
  }
  void BatchPut(std::string_view key, std::string_view value) override { session_->BatchPut(key, value); }
  void BatchDelete(std::string_view key) override { session_->BatchDelete(key); }
  void BatchSingleDelete(std::string_view key) override { session_->BatchSingleDelete(key); }
  bool BatchMerge(std::string_view key, std::string_view operand) override {
    return session_->BatchMerge(key, operand);
  }
  Code BatchWrite() override {
    return Sample([&] { return session_->BatchWrite(); });
  }
  std::unique_ptr<Cursor> NewCursor() override { return session_->NewCursor(); }

 private:
  template <typename Call>
  Code Sample(Call call) {
    if (++calls_ % every_ != 0) return Report(call());
    GetPerfContext()->Reset();
    SetPerfLevel(kPerfTimes);
    const Code code = call();
    SetPerfLevel(kPerfOff);
    own_.Add(*GetPerfContext());
    return Report(code);
  }

  Code Report(Code code) {
    if (code == Code::kError) error_ = session_->error();
    return code;
  }

  const std::unique_ptr<Session> session_;
  const uint64_t every_;
  SampledTimes* const times_;
  uint64_t calls_ = 0;
  PerfContext own_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINES_SAMPLED_SESSION_H_
