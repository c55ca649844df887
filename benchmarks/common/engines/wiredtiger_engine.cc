// WiredTiger through its C interface: a put is a transaction of its own, a batch is one. The log is on and written at
// each commit, and is not synced unless a write asks for it, so that a write survives the end of the process, as with
// the other stores. A get points into a page until the session's next call.
//
// The interface is structs of functions, whose order differs between versions; what stands here is that of version 3.2.

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "benchmarks/common/engine_config.h"
#include "benchmarks/common/engines/batching_session.h"
#include "benchmarks/common/library.h"

namespace miodb::bench {

namespace {

constexpr int kMajor = 3, kMinor = 2;
constexpr int kWtNotFound = -31803, kWtRollback = -31800;
constexpr const char* kTable = "table:data";

// Checkpoints let go of the log as often as MongoDB's do. Each thread needs two sessions.
constexpr const char* kSettings = "log=(enabled=true),checkpoint=(wait=60,log_size=2GB),session_max=8192";

struct Item {
  const void* data;
  size_t size;
  void* memory;
  size_t memory_size;
  uint32_t flags;
};

Item ToItem(std::string_view text) { return {text.data(), text.size(), nullptr, 0, 0}; }
std::string_view ToText(const Item& item) { return {static_cast<const char*>(item.data), item.size}; }

using Unused = void (*)();

struct WtCursor {
  void* session;
  const char *uri, *key_format, *value_format;
  int (*get_key)(WtCursor*, ...);
  int (*get_value)(WtCursor*, ...);
  void (*set_key)(WtCursor*, ...);
  void (*set_value)(WtCursor*, ...);
  Unused compare, equals;
  int (*next)(WtCursor*);
  int (*prev)(WtCursor*);
  int (*reset)(WtCursor*);
  int (*search)(WtCursor*);
  int (*search_near)(WtCursor*, int* order);
  int (*insert)(WtCursor*);
  Unused modify, update;
  int (*remove)(WtCursor*);
  Unused reserve;
  int (*close)(WtCursor*);
};

struct WtSession {
  void *connection, *app_private;
  int (*close)(WtSession*, const char*);
  Unused reconfigure, strerror;
  int (*open_cursor)(WtSession*, const char* uri, WtCursor* copied, const char*, WtCursor**);
  Unused alter;
  int (*create)(WtSession*, const char* uri, const char*);
  Unused import;
  int (*compact)(WtSession*, const char* uri, const char*);
  Unused drop, join;
  int (*log_flush)(WtSession*, const char*);
  Unused log_printf, rebalance, rename, reset, salvage, truncate, upgrade, verify;
  int (*begin_transaction)(WtSession*, const char*);
  int (*commit_transaction)(WtSession*, const char*);
  Unused prepare_transaction;
  int (*rollback_transaction)(WtSession*, const char*);
  Unused timestamp_transaction, query_timestamp;
  int (*checkpoint)(WtSession*, const char*);
};

struct WtConnection {
  Unused async_flush, async_new_op;
  int (*close)(WtConnection*, const char*);
  Unused debug_info, reconfigure, get_home, configure_method, is_new;
  int (*open_session)(WtConnection*, void* handler, const char*, WtSession**);
};

struct WiredTiger {
  Outcome Load(const std::string& file) {
    const std::string names[] = {"libwiredtiger.so.0", "libwiredtiger.so"};
    Outcome loaded = library.Load(file, names, "libwiredtiger0");
    if (!loaded.ok()) return loaded;
    library.Need("wiredtiger_version", &version);
    library.Need("wiredtiger_strerror", &strerror);
    library.Need("wiredtiger_open", &open);
    loaded = library.Complete();
    if (!loaded.ok()) return loaded;
    int major = 0, minor = 0;
    text = version(&major, &minor, nullptr);
    text = std::to_string(major) + "." + std::to_string(minor);
    if (major == kMajor && minor == kMinor) return {};
    return Outcome::Error(library.path() + " is WiredTiger " + text + "; version 3.2 is wanted");
  }

  Library library;
  std::string text;  // of the version
  const char* (*version)(int*, int*, int*);
  const char* (*strerror)(int);
  int (*open)(const char* home, void* handler, const char*, WtConnection**);
};

// Goes to the first key at or after this one.
int SeekTo(WtCursor* cursor, std::string_view key) {
  const Item item = ToItem(key);
  cursor->set_key(cursor, &item);
  int order = 0;
  const int result = cursor->search_near(cursor, &order);
  return result == 0 && order < 0 ? cursor->next(cursor) : result;
}

class WiredTigerCursor final : public Cursor {
 public:
  WiredTigerCursor(const WiredTiger& api, WtSession* session) : api_(api) {
    result_ = session->open_cursor(session, kTable, nullptr, nullptr, &cursor_);
  }
  ~WiredTigerCursor() override {
    if (cursor_ != nullptr) cursor_->close(cursor_);
  }

  bool SeekToFirst(Entry* entry) override { return FromEnd(&WtCursor::next, entry); }
  bool SeekToLast(Entry* entry) override { return FromEnd(&WtCursor::prev, entry); }
  bool Seek(std::string_view key, Entry* entry) override {
    return cursor_ != nullptr && Arrive(SeekTo(cursor_, key), entry);
  }
  bool Next(Entry* entry) override { return Arrive(cursor_->next(cursor_), entry); }
  bool Prev(Entry* entry) override { return Arrive(cursor_->prev(cursor_), entry); }
  Outcome Check() override {
    return result_ == 0 || result_ == kWtNotFound ? Outcome{} : Outcome::Error(api_.strerror(result_));
  }

 private:
  bool FromEnd(int (*WtCursor::*step)(WtCursor*), Entry* entry) {
    if (cursor_ == nullptr) return false;
    cursor_->reset(cursor_);
    return Arrive((cursor_->*step)(cursor_), entry);
  }
  bool Arrive(int result, Entry* entry) {
    Item key = {}, value = {};
    if (result == 0) result = cursor_->get_key(cursor_, &key);
    if (result == 0) result = cursor_->get_value(cursor_, &value);
    result_ = result;
    if (result == 0) *entry = Entry{ToText(key), ToText(value)};
    return result == 0;
  }

  const WiredTiger& api_;
  WtCursor* cursor_ = nullptr;
  int result_ = 0;
};

// Reads have a session of their own, so that a snapshot does not see what is written beside it.
class WiredTigerSession final : public BatchingSession {
 public:
  WiredTigerSession(const WiredTiger& api, WtConnection* connection, bool sync) : api_(api), sync_(sync) {
    for (Half* const half : {&reads_, &writes_}) {
      opened_ = connection->open_session(connection, nullptr, nullptr, &half->session);
      if (opened_ == 0) opened_ = half->session->open_cursor(half->session, kTable, nullptr, nullptr, &half->cursor);
      if (opened_ != 0) return;
    }
  }
  ~WiredTigerSession() override {
    for (const Half& half : {reads_, writes_}) {
      if (half.session != nullptr) half.session->close(half.session, nullptr);
    }
  }

  Code Put(std::string_view key, std::string_view value) override { return Finish(Write(key, &value)); }
  Code Delete(std::string_view key) override { return Finish(Write(key, nullptr)); }
  Code Get(std::string_view key, std::string_view* value) override {
    if (opened_ != 0) return Finish(opened_);
    const Item name = ToItem(key);
    Item found = {};
    reads_.cursor->set_key(reads_.cursor, &name);
    int result = reads_.cursor->search(reads_.cursor);
    if (result == kWtNotFound) return Code::kNotFound;
    if (result == 0) result = reads_.cursor->get_value(reads_.cursor, &found);
    if (result != 0) return Finish(result);
    *value = ToText(found);
    return Code::kOk;
  }

  bool BeginSnapshot() override {
    EndSnapshot();
    if (opened_ != 0) return false;
    reads_.cursor->reset(reads_.cursor);
    has_snapshot_ = reads_.session->begin_transaction(reads_.session, "isolation=snapshot") == 0;
    return has_snapshot_;
  }
  void EndSnapshot() override {
    if (has_snapshot_) reads_.session->rollback_transaction(reads_.session, nullptr);
    has_snapshot_ = false;
  }

  std::unique_ptr<Cursor> NewCursor() override { return std::make_unique<WiredTigerCursor>(api_, reads_.session); }

 private:
  struct Half {
    WtSession* session = nullptr;
    WtCursor* cursor = nullptr;
  };

  Code WriteBatch() override {
    WtSession* const session = writes_.session;
    int result = kWtRollback;
    while (opened_ == 0 && result == kWtRollback) {  // with the transaction of another thread
      result = session->begin_transaction(session, "isolation=snapshot");
      if (result == 0) {
        result = ForEachUpdate([&](Kind kind, std::string_view key, std::string_view value) {
          return Write(key, kind == Kind::kDelete ? nullptr : &value);
        });
      }
      if (result == 0) {
        result = session->commit_transaction(session, nullptr);
      } else {
        session->rollback_transaction(session, nullptr);
      }
    }
    return Finish(opened_ == 0 ? result : opened_);
  }
  int Write(std::string_view key, const std::string_view* value) {
    if (opened_ != 0) return opened_;
    reads_.cursor->reset(reads_.cursor);
    WtCursor* const cursor = writes_.cursor;
    const Item name = ToItem(key);
    cursor->set_key(cursor, &name);
    if (value == nullptr) {
      const int result = cursor->remove(cursor);
      return result == kWtNotFound ? 0 : result;
    }
    const Item bytes = ToItem(*value);
    cursor->set_value(cursor, &bytes);
    return cursor->insert(cursor);
  }
  Code Finish(int result) {
    if (result == 0 && sync_) result = writes_.session->log_flush(writes_.session, "sync=on");
    if (result == 0) return Code::kOk;
    error_ = api_.strerror(result);
    return Code::kError;
  }

  const WiredTiger& api_;
  const bool sync_;
  Half reads_, writes_;
  int opened_ = 0;
  bool has_snapshot_ = false;
};

class WiredTigerEngine final : public Engine {
 public:
  explicit WiredTigerEngine(const EngineConfig& config) : config_(config) {}
  ~WiredTigerEngine() override { Close(); }

  Outcome Load() { return api_.Load(config_.library); }

  std::string Name() const override { return "WiredTiger"; }
  std::string Version() const override { return api_.text; }
  std::string LibraryPath() const override { return api_.library.path(); }

  Outcome Open() override {
    if (!config_.create_if_missing && access((config_.db + "/WiredTiger").c_str(), F_OK) != 0) {
      return Outcome::Error(config_.db + ": does not exist");
    }
    std::error_code failed;
    std::filesystem::create_directory(config_.db, failed);
    if (failed) return Outcome::Error(config_.db + ": " + failed.message());
    // Method none: the log goes to the system at each commit, and is not synced.
    std::string settings = std::string("create,transaction_sync=(enabled=true,method=none),") + kSettings;
    if (config_.cache_size >= 0) settings += ",cache_size=" + std::to_string(config_.cache_size);
    int result = api_.open(config_.db.c_str(), nullptr, settings.c_str(), &connection_);
    if (result == 0) result = connection_->open_session(connection_, nullptr, nullptr, &session_);
    if (result == 0) result = session_->create(session_, kTable, "key_format=u,value_format=u");
    const Outcome outcome = ToOutcome(result);
    if (!outcome.ok()) Close();
    return outcome;
  }
  void Close() override {
    if (connection_ != nullptr) connection_->close(connection_, nullptr);
    connection_ = nullptr;
  }
  Outcome Destroy() override {
    std::error_code failed;
    for (const auto& file : std::filesystem::directory_iterator(config_.db, failed)) {
      const std::string name = file.path().filename();
      if (name.starts_with("WiredTiger") || name == "data.wt") std::filesystem::remove(file.path(), failed);
    }
    if (rmdir(config_.db.c_str()) == 0 || errno == ENOENT) return {};
    return Outcome::Error(config_.db + ": " + std::error_code(errno, std::generic_category()).message());
  }

  std::unique_ptr<Session> NewSession(const SessionOptions& options) override {
    return std::make_unique<WiredTigerSession>(api_, connection_, options.sync);
  }
  Outcome Flush() override { return ToOutcome(session_->checkpoint(session_, nullptr)); }
  Outcome CompactAll() override { return ToOutcome(session_->compact(session_, kTable, nullptr)); }
  Outcome WaitForIdle() override { return {}; }
  bool Describe(Text, std::string*) override { return false; }

 private:
  Outcome ToOutcome(int result) const {
    return result == 0 ? Outcome{} : Outcome::Error(config_.db + ": " + api_.strerror(result));
  }

  const EngineConfig& config_;
  WiredTiger api_;
  WtConnection* connection_ = nullptr;
  WtSession* session_ = nullptr;  // of connection_
};

}  // namespace

std::unique_ptr<Engine> NewWiredTigerEngine(const EngineConfig& config, std::string* error) {
  return NewLoadedEngine<WiredTigerEngine>(config, error);
}

}  // namespace miodb::bench
