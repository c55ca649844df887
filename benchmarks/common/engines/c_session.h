// The parts of engines that LevelDB's and RocksDB's C functions have alike: cursors, batches, snapshots, counted order.
//
// Threads and ownership: as Session and Cursor.

#ifndef MIODB_BENCHMARKS_COMMON_ENGINES_C_SESSION_H_
#define MIODB_BENCHMARKS_COMMON_ENGINES_C_SESSION_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/engine_config.h"
#include "benchmarks/common/engines/c_api.h"

namespace miodb::bench {

class CCursor final : public Cursor {
 public:
  CCursor(const CApi& api, void* iterator) : api_(api), iterator_(iterator) {}
  ~CCursor() override { api_.iter_destroy_(iterator_); }

  bool SeekToFirst(Entry* entry) override {
    api_.iter_seek_to_first_(iterator_);
    return Arrive(entry);
  }
  bool SeekToLast(Entry* entry) override {
    api_.iter_seek_to_last_(iterator_);
    return Arrive(entry);
  }
  bool Seek(std::string_view key, Entry* entry) override {
    api_.iter_seek_(iterator_, key.data(), key.size());
    return Arrive(entry);
  }
  bool Next(Entry* entry) override {
    api_.iter_next_(iterator_);
    return Arrive(entry);
  }
  bool Prev(Entry* entry) override {
    api_.iter_prev_(iterator_);
    return Arrive(entry);
  }
  Outcome Check() override {
    char* error = nullptr;
    api_.iter_get_error_(iterator_, &error);
    return api_.Take(error);
  }

 private:
  bool Arrive(Entry* entry) {
    if (!api_.iter_valid_(iterator_)) return false;
    size_t size;
    const char* const key = api_.iter_key_(iterator_, &size);
    entry->key = std::string_view(key, size);
    const char* const value = api_.iter_value_(iterator_, &size);
    entry->value = std::string_view(value, size);
    return true;
  }

  const CApi& api_;
  void* const iterator_;
};

class CSession : public Session {
 public:
  ~CSession() override {
    EndSnapshot();
    if (value_ != nullptr) api_.free_(value_);
    api_.writebatch_destroy_(batch_);
    api_.readoptions_destroy_(read_options_);
    api_.writeoptions_destroy_(write_options_);
  }

  Code BatchWrite() override {
    const Code code = WriteBatch();
    api_.writebatch_clear_(batch_);
    return code;
  }
  void BatchClear() override { api_.writebatch_clear_(batch_); }
  Code BatchWriteTwice(const std::function<void()>& between) override {
    if (WriteBatch() != Code::kOk) return Code::kError;
    between();
    return BatchWrite();
  }

  bool BeginSnapshot() override {
    EndSnapshot();
    snapshot_ = api_.create_snapshot_(db_);
    api_.readoptions_set_snapshot_(read_options_, snapshot_);
    return snapshot_ != nullptr;
  }
  void EndSnapshot() override {
    if (snapshot_ == nullptr) return;
    api_.readoptions_set_snapshot_(read_options_, nullptr);
    api_.release_snapshot_(db_, snapshot_);
    snapshot_ = nullptr;
  }

 protected:
  CSession(const CApi& api, void* db, const EngineConfig& config, const SessionOptions& options)
      : api_(api),
        db_(db),
        write_options_(api.writeoptions_create_()),
        read_options_(api.readoptions_create_()),
        batch_(api.writebatch_create_()) {
    api.writeoptions_set_sync_(write_options_, options.sync ? 1 : 0);
    api.readoptions_set_verify_checksums_(read_options_, config.verify_checksum ? 1 : 0);
  }

  Code Finish(char* error) {
    if (error == nullptr) return Code::kOk;
    error_ = api_.Take(error).message;
    return Code::kError;
  }

  // The value that a get has stored belongs to this session until the next get.
  Code Found(char* found, size_t size, char* error, std::string_view* value) {
    if (value_ != nullptr) api_.free_(value_);
    value_ = found;
    if (found == nullptr) return error == nullptr ? Code::kNotFound : Finish(error);
    *value = std::string_view(found, size);
    return Code::kOk;
  }

  const CApi& api_;
  void* const db_;
  void* const write_options_;
  void* const read_options_;
  void* const batch_;

 private:
  Code WriteBatch() {
    char* error = nullptr;
    api_.write_(db_, write_options_, batch_, &error);
    return Finish(error);
  }

  char* value_ = nullptr;
  const void* snapshot_ = nullptr;
};

// The order of bytes, with the name that both stores have for it, so that a store written without opens with it.
class CountedOrder {
 public:
  // Makes the comparator of a store's options if the configuration asks for counts.
  void Use(const CApi& api, void* options) {
    static constexpr auto compare = [](void* self, const char* a, size_t a_size, const char* b, size_t b_size) {
      // Relaxed: a statistic, read when the threads are done.
      static_cast<CountedOrder*>(self)->calls_.fetch_add(1, std::memory_order_relaxed);
      const int order = std::memcmp(a, b, std::min(a_size, b_size));
      return order != 0 ? order : a_size < b_size ? -1 : a_size > b_size;
    };
    static constexpr auto name = [](void*) -> const char* { return "leveldb.BytewiseComparator"; };
    // Belongs to the process, because stores ask it until they are closed.
    if (comparator_ == nullptr)
      comparator_ = api.comparator_create_(
          this, [](void*) {}, compare, name);
    api.options_set_comparator_(options, comparator_);
  }
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }

 private:
  void* comparator_ = nullptr;
  std::atomic<uint64_t> calls_{0};
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINES_C_SESSION_H_
