// A store in memory for tests of the driver, and the fixture that runs it.

#ifndef MIODB_TESTS_BENCHMARKS_MAP_ENGINE_H_
#define MIODB_TESTS_BENCHMARKS_MAP_ENGINE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/engine.h"
#include "benchmarks/common/interrupt.h"
#include "benchmarks/db_bench/config/config.h"
#include "benchmarks/db_bench/driver.h"

namespace miodb::bench {

// A map behind one mutex, with counters, that fails or raises a signal at a chosen put.
struct Store {
  std::mutex mutex;
  std::map<std::string, std::string> map;
  std::set<std::string> get_keys;
  uint64_t puts = 0;
  uint64_t deletes = 0;
  uint64_t single_deletes = 0;
  uint64_t merges = 0;
  uint64_t batches = 0;
  uint64_t gets = 0;
  uint64_t synced = 0;
  size_t largest_value = 0;
  std::string first_put;
  uint64_t cursor_moves = 0;  // Next and Prev; of one thread.
  int opens = 0;
  int closes = 0;
  int destroys = 0;
  int compactions = 0;
  int flushes = 0;
  int waits = 0;
  uint64_t fail_at_put = std::numeric_limits<uint64_t>::max();
  uint64_t signal_at_put = std::numeric_limits<uint64_t>::max();
  bool signal_at_wait = false;
  uint64_t least_get_nanos = 0;  // so long takes a get at least
  std::string persist_mode = "emulated";
  bool has_counters = true;
};

class MapCursor : public Cursor {
 public:
  MapCursor(std::map<std::string, std::string> copy, uint64_t* moves)
      : map_(std::move(copy)), at_(map_.end()), moves_(moves) {}

  bool SeekToFirst(Entry* entry) override { return Arrive(map_.begin(), entry); }
  bool SeekToLast(Entry* entry) override { return Arrive(map_.empty() ? map_.end() : std::prev(map_.end()), entry); }
  bool Seek(std::string_view key, Entry* entry) override { return Arrive(map_.lower_bound(std::string(key)), entry); }
  bool Next(Entry* entry) override {
    ++*moves_;
    return Arrive(std::next(at_), entry);
  }
  bool Prev(Entry* entry) override {
    ++*moves_;
    return Arrive(at_ == map_.begin() ? map_.end() : std::prev(at_), entry);
  }
  Outcome Check() override { return {}; }

 private:
  using Map = std::map<std::string, std::string>;

  bool Arrive(Map::iterator it, Entry* entry) {
    at_ = it;
    if (at_ == map_.end()) return false;
    *entry = Entry{at_->first, at_->second};
    return true;
  }

  Map map_;
  Map::iterator at_;
  uint64_t* moves_;
};

class MapSession : public Session {
 public:
  MapSession(Store* store, SessionOptions options) : store_(store), options_(options) {}

  Code Put(std::string_view key, std::string_view value) override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    if (store_->puts == store_->fail_at_put) {
      error_ = "NoSpace: the pool is full";
      return Code::kError;
    }
    if (store_->puts == store_->signal_at_put) std::raise(SIGINT);
    if (store_->puts++ == 0) store_->first_put = key;
    if (options_.sync) store_->synced++;
    store_->largest_value = std::max(store_->largest_value, value.size());
    store_->map[std::string(key)] = std::string(value);
    return Code::kOk;
  }
  Code Delete(std::string_view key) override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    store_->deletes++;
    store_->map.erase(std::string(key));
    return Code::kOk;
  }
  Code SingleDelete(std::string_view key) override {
    {
      const std::lock_guard<std::mutex> lock(store_->mutex);
      store_->single_deletes++;
    }
    return Delete(key);
  }
  Code Merge(std::string_view key, std::string_view operand) override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    store_->merges++;
    store_->map[std::string(key)] += operand;
    return Code::kOk;
  }
  Code Get(std::string_view key, std::string_view* value) override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    store_->gets++;
    const uint64_t begin = Ticks::Now();
    while (Ticks::NanosBetween(begin, Ticks::Now()) < store_->least_get_nanos) {
    }
    store_->get_keys.insert(std::string(key));
    const auto it = store_->map.find(std::string(key));
    if (it == store_->map.end()) return Code::kNotFound;
    result_ = it->second;
    *value = result_;
    return Code::kOk;
  }
  void BatchPut(std::string_view key, std::string_view value) override { batch_.emplace_back(key, value); }
  void BatchDelete(std::string_view key) override { batch_.emplace_back(key, "\xff"); }
  Code BatchWrite() override {
    store_->batches++;
    for (const auto& [key, value] : batch_) {
      if (value == "\xff") {
        Delete(key);
      } else if (Put(key, value) == Code::kError) {
        return Code::kError;
      }
    }
    batch_.clear();
    return Code::kOk;
  }
  void BatchClear() override { batch_.clear(); }
  std::unique_ptr<Cursor> NewCursor() override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    return std::make_unique<MapCursor>(store_->map, &store_->cursor_moves);
  }

 private:
  Store* store_;
  SessionOptions options_;
  std::string result_;
  std::vector<std::pair<std::string, std::string>> batch_;
};

class MapEngine : public Engine {
 public:
  explicit MapEngine(Store* store) : store_(store) {}

  std::string Name() const override { return "Map"; }
  std::string Version() const override { return "1"; }
  Outcome Open() override {
    store_->opens++;
    return {};
  }
  void Close() override { store_->closes++; }
  Outcome Destroy() override {
    store_->destroys++;
    store_->map.clear();
    return {};
  }
  std::unique_ptr<Session> NewSession(const SessionOptions& options) override {
    return std::make_unique<MapSession>(store_, options);
  }
  Outcome Flush() override {
    store_->flushes++;
    return {};
  }
  Outcome CompactAll() override {
    store_->compactions++;
    if (store_->signal_at_wait) std::raise(SIGINT);
    return {};
  }
  Outcome WaitForIdle() override {
    store_->waits++;
    if (store_->signal_at_wait) std::raise(SIGINT);
    return {};
  }
  bool Describe(Text which, std::string* text) override {
    *text = "the stats\n";
    return which == Text::kStats;
  }
  Counters ReadCounters() override {
    if (!store_->has_counters) return {};
    return {{"user-bytes-written", 100}, {"nvm-bytes-total", 150}, {"nvm-bytes-flush", 30}, {"stall-micros", 4}};
  }
  std::string PersistMode() override { return store_->persist_mode; }

 private:
  Store* store_;
};

inline size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) count++;
  return count;
}

class DriverTest : public testing::Test {
 protected:
  DriverTest() {
    config_.num = 1000;
    config_.value_size = 10;
    config_.db = "nowhere";
    config_.progress_reports = false;
  }

  // Runs the list and keeps what was printed.
  int Run(const std::string& benchmarks) {
    Interrupt::Install();
    config_.benchmarks = benchmarks;
    MapEngine engine(&store_);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = Driver(config_, &engine).Run();
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return status;
  }

  bool Printed(const std::string& part) const { return out_.find(part) != std::string::npos; }

  Config config_;
  Store store_;
  std::string out_;
  std::string err_;
};

}  // namespace miodb::bench

#endif  // MIODB_TESTS_BENCHMARKS_MAP_ENGINE_H_
