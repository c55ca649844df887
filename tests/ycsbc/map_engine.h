// A store for tests: a std::map under a mutex that remembers what was asked of it, and that can fail or be slow.

#ifndef MIODB_TESTS_YCSBC_MAP_ENGINE_H_
#define MIODB_TESTS_YCSBC_MAP_ENGINE_H_

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/common/engine.h"

namespace miodb::ycsb {

struct MapStore {
  std::mutex mutex;
  std::map<std::string, std::string> records;
  std::map<std::string, int> gets;       // Of each key, found or not.
  std::vector<std::string> puts;         // Keys, in order.
  std::vector<std::string> seeks;        // Keys, in order.
  int missing = 0;                       // Gets that found nothing.
  int failing_puts = 0;                  // So many of the next puts fail.
  std::chrono::milliseconds slow_put{};  // How long the put number slow_at takes.
  size_t slow_at = ~size_t{0};
};

class MapCursor final : public bench::Cursor {
 public:
  explicit MapCursor(MapStore* store) : store_(store) {}
  bool SeekToFirst(bench::Entry* entry) override { return Seek("", entry); }
  bool SeekToLast(bench::Entry*) override { return false; }
  bool Seek(std::string_view key, bench::Entry* entry) override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    store_->seeks.emplace_back(key);
    return Arrive(store_->records.lower_bound(std::string(key)), entry);
  }
  bool Next(bench::Entry* entry) override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    return Arrive(store_->records.upper_bound(key_), entry);
  }
  bool Prev(bench::Entry*) override { return false; }
  bench::Outcome Check() override { return {}; }

 private:
  bool Arrive(std::map<std::string, std::string>::const_iterator at, bench::Entry* entry) {
    if (at == store_->records.end()) return false;
    key_ = at->first;
    value_ = at->second;
    *entry = {key_, value_};
    return true;
  }

  MapStore* const store_;
  std::string key_;
  std::string value_;
};

class MapSession final : public bench::Session {
 public:
  explicit MapSession(MapStore* store) : store_(store) {}
  bench::Code Put(std::string_view key, std::string_view value) override {
    bool is_slow = false;
    {
      const std::lock_guard<std::mutex> lock(store_->mutex);
      is_slow = store_->puts.size() == store_->slow_at;
      store_->puts.emplace_back(key);
      if (store_->failing_puts > 0) {
        store_->failing_puts--;
        error_ = "no more room";
        return bench::Code::kError;
      }
      store_->records[std::string(key)] = value;
    }
    if (is_slow) std::this_thread::sleep_for(store_->slow_put);
    return bench::Code::kOk;
  }
  bench::Code Delete(std::string_view key) override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    store_->records.erase(std::string(key));
    return bench::Code::kOk;
  }
  bench::Code Get(std::string_view key, std::string_view* value) override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    store_->gets[std::string(key)]++;
    const auto at = store_->records.find(std::string(key));
    if (at == store_->records.end()) {
      store_->missing++;
      return bench::Code::kNotFound;
    }
    value_ = at->second;
    *value = value_;
    return bench::Code::kOk;
  }
  void BatchPut(std::string_view, std::string_view) override {}
  void BatchDelete(std::string_view) override {}
  bench::Code BatchWrite() override { return bench::Code::kOk; }
  void BatchClear() override {}
  std::unique_ptr<bench::Cursor> NewCursor() override { return std::make_unique<MapCursor>(store_); }

 private:
  MapStore* const store_;
  std::string value_;
};

class MapEngine final : public bench::Engine {
 public:
  std::string Name() const override { return "Map"; }
  std::string Version() const override { return "1"; }
  bench::Outcome Open() override {
    opens++;
    return {};
  }
  void Close() override { closes++; }
  bench::Outcome Destroy() override {
    store.records.clear();
    return {};
  }
  std::unique_ptr<bench::Session> NewSession(const bench::SessionOptions&) override {
    return std::make_unique<MapSession>(&store);
  }
  bench::Outcome Flush() override { return {}; }
  bench::Outcome CompactAll() override { return {}; }
  bench::Outcome WaitForIdle() override { return {}; }
  bool Describe(Text, std::string* text) override {
    *text = "text of the store\n";
    return true;
  }

  MapStore store;
  int opens = 0;
  int closes = 0;
};

}  // namespace miodb::ycsb

#endif  // MIODB_TESTS_YCSBC_MAP_ENGINE_H_
