// LMDB through its C functions: a put is a transaction of its own, a batch is one, and nothing is synced unless a write
// asks for it, so that a write survives the end of the process, as with the other stores. LMDB has no memtables, no
// background work and no checksums. A get points into the map; its transaction ends at the session's next call.

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/engine_config.h"
#include "benchmarks/common/engines/batching_session.h"
#include "benchmarks/common/library.h"

namespace miodb::bench {

namespace {

constexpr int kMdbNotFound = -30798;
constexpr unsigned kNoSync = 0x10000, kReadOnly = 0x20000, kNoThreadSlots = 0x200000, kNoReadAhead = 0x800000;
constexpr unsigned kReaders = 8192;
constexpr size_t kMapBytes = size_t{1} << 40;  // of addresses; the file takes what is in it

enum Move : int { kFirst = 0, kLast = 6, kNext = 8, kPrev = 12, kAtOrAfter = 17 };

struct Bytes {
  size_t size;
  const void* data;
};

Bytes ToBytes(std::string_view text) { return {text.size(), text.data()}; }
std::string_view ToText(const Bytes& bytes) { return {static_cast<const char*>(bytes.data), bytes.size}; }

#define MIODB_LMDB_FUNCTIONS(F)                                              \
  F(char*, version, (int*, int*, int*))                                      \
  F(char*, strerror, (int))                                                  \
  F(int, env_create, (void** env))                                           \
  F(int, env_set_mapsize, (void* env, size_t))                               \
  F(int, env_set_maxreaders, (void* env, unsigned))                          \
  F(int, env_open, (void* env, const char* path, unsigned flags, mode_t))    \
  F(int, env_sync, (void* env, int force))                                   \
  F(void, env_close, (void* env))                                            \
  F(int, txn_begin, (void* env, void* parent, unsigned flags, void** txn))   \
  F(int, txn_commit, (void* txn))                                            \
  F(void, txn_abort, (void* txn))                                            \
  F(void, txn_reset, (void* txn))                                            \
  F(int, txn_renew, (void* txn))                                             \
  F(int, dbi_open, (void* txn, const char* name, unsigned flags, unsigned*)) \
  F(int, get, (void* txn, unsigned dbi, Bytes* key, Bytes* value))           \
  F(int, put, (void* txn, unsigned dbi, Bytes* key, Bytes* value, unsigned)) \
  F(int, del, (void* txn, unsigned dbi, Bytes* key, Bytes* value))           \
  F(int, cursor_open, (void* txn, unsigned dbi, void** cursor))              \
  F(void, cursor_close, (void* cursor))                                      \
  F(int, cursor_get, (void* cursor, Bytes* key, Bytes* value, int move))

struct Lmdb {
#define MIODB_LMDB_MEMBER(result, name, arguments) result(*name) arguments = nullptr;  // NOLINT: names and parameters
  MIODB_LMDB_FUNCTIONS(MIODB_LMDB_MEMBER)
  Library library;

  Outcome Load(const std::string& file) {
    const std::string names[] = {"liblmdb.so.0", "liblmdb.so"};
    const Outcome loaded = library.Load(file, names, "liblmdb0");
    if (!loaded.ok()) return loaded;
#define MIODB_LMDB_NEED(result, name, arguments) library.Need("mdb_" #name, &name);  // NOLINT: as above
    MIODB_LMDB_FUNCTIONS(MIODB_LMDB_NEED)
    return library.Complete();
  }
};

// An open database.
struct Opened {
  const Lmdb& api;
  void* env = nullptr;
  unsigned dbi = 0;
};

class LmdbCursor final : public Cursor {
 public:
  explicit LmdbCursor(const Opened& db) : api_(db.api) {
    result_ = api_.txn_begin(db.env, nullptr, kReadOnly, &txn_);
    if (result_ == 0) result_ = api_.cursor_open(txn_, db.dbi, &cursor_);
  }
  ~LmdbCursor() override {
    if (cursor_ != nullptr) api_.cursor_close(cursor_);
    if (txn_ != nullptr) api_.txn_abort(txn_);
  }

  bool SeekToFirst(Entry* entry) override { return Go(kFirst, {}, entry); }
  bool SeekToLast(Entry* entry) override { return Go(kLast, {}, entry); }
  bool Seek(std::string_view key, Entry* entry) override { return Go(kAtOrAfter, key, entry); }
  bool Next(Entry* entry) override { return Go(kNext, {}, entry); }
  bool Prev(Entry* entry) override { return Go(kPrev, {}, entry); }
  Outcome Check() override {
    return result_ == 0 || result_ == kMdbNotFound ? Outcome{} : Outcome::Error(api_.strerror(result_));
  }

 private:
  bool Go(Move move, std::string_view to, Entry* entry) {
    if (cursor_ == nullptr) return false;
    Bytes key = ToBytes(to), value = {};
    result_ = api_.cursor_get(cursor_, &key, &value, move);
    if (result_ == 0) *entry = Entry{ToText(key), ToText(value)};
    return result_ == 0;
  }

  const Lmdb& api_;
  void* txn_ = nullptr;
  void* cursor_ = nullptr;
  int result_ = 0;
};

class LmdbSession final : public BatchingSession {
 public:
  LmdbSession(const Opened& db, bool sync) : db_(db), api_(db.api), sync_(sync) {}
  ~LmdbSession() override {
    if (reader_ != nullptr) api_.txn_abort(reader_);
  }

  Code Put(std::string_view key, std::string_view value) override {
    return Write([&](void* txn) { return PutIn(txn, key, value); });
  }
  Code Delete(std::string_view key) override {
    return Write([&](void* txn) { return DeleteIn(txn, key); });
  }
  Code Get(std::string_view key, std::string_view* value) override {
    EndRead();
    const int begun =
        reader_ == nullptr ? api_.txn_begin(db_.env, nullptr, kReadOnly, &reader_) : api_.txn_renew(reader_);
    if (begun != 0) return Finish(begun);
    is_reading_ = true;
    Bytes name = ToBytes(key), found = {};
    const int result = api_.get(reader_, db_.dbi, &name, &found);
    if (result == kMdbNotFound) return Code::kNotFound;
    if (result == 0) *value = ToText(found);
    return Finish(result);
  }

  std::unique_ptr<Cursor> NewCursor() override { return std::make_unique<LmdbCursor>(db_); }

 private:
  // A reader that goes on would keep pages from being used again.
  void EndRead() {
    if (is_reading_) api_.txn_reset(reader_);
    is_reading_ = false;
  }
  int PutIn(void* txn, std::string_view key, std::string_view value) {
    Bytes name = ToBytes(key), bytes = ToBytes(value);
    return api_.put(txn, db_.dbi, &name, &bytes, 0);
  }
  Code WriteBatch() override {
    return Write([&](void* txn) {
      return ForEachUpdate([&](Kind kind, std::string_view key, std::string_view value) {
        return kind == Kind::kDelete ? DeleteIn(txn, key) : PutIn(txn, key, value);
      });
    });
  }
  int DeleteIn(void* txn, std::string_view key) {
    Bytes name = ToBytes(key);
    const int result = api_.del(txn, db_.dbi, &name, nullptr);
    return result == kMdbNotFound ? 0 : result;
  }
  template <typename Updates>
  Code Write(Updates updates) {
    EndRead();
    void* txn = nullptr;
    int result = api_.txn_begin(db_.env, nullptr, 0, &txn);
    if (result != 0) return Finish(result);
    result = updates(txn);
    if (result != 0) {
      api_.txn_abort(txn);
      return Finish(result);
    }
    result = api_.txn_commit(txn);
    return Finish(result == 0 && sync_ ? api_.env_sync(db_.env, 1) : result);
  }
  Code Finish(int result) {
    if (result == 0) return Code::kOk;
    error_ = api_.strerror(result);
    return Code::kError;
  }

  const Opened& db_;
  const Lmdb& api_;
  const bool sync_;
  void* reader_ = nullptr;
  bool is_reading_ = false;
};

class LmdbEngine final : public Engine {
 public:
  explicit LmdbEngine(const EngineConfig& config) : config_(config) {}
  ~LmdbEngine() override { Close(); }

  Outcome Load() { return api_.Load(config_.library); }

  std::string Name() const override { return "LMDB"; }
  std::string Version() const override {
    int major = 0, minor = 0, patch = 0;
    api_.version(&major, &minor, &patch);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  }
  std::string LibraryPath() const override { return api_.library.path(); }
  bool HasChecksums() const override { return false; }

  Outcome Open() override {
    const std::string data = config_.db + "/data.mdb";
    if (!config_.create_if_missing && access(data.c_str(), F_OK) != 0) return Outcome::Error(data + ": does not exist");
    if (mkdir(config_.db.c_str(), 0755) != 0 && errno != EEXIST) return Failed(config_.db, errno);
    const unsigned flags = kNoSync | kNoThreadSlots | kNoReadAhead | (config_.readonly ? kReadOnly : 0);
    int result = api_.env_create(&db_.env);
    if (result != 0) return Failed(config_.db, result);
    api_.env_set_mapsize(db_.env, kMapBytes);
    api_.env_set_maxreaders(db_.env, kReaders);
    result = api_.env_open(db_.env, config_.db.c_str(), flags, 0644);
    void* txn = nullptr;
    if (result == 0) result = api_.txn_begin(db_.env, nullptr, config_.readonly ? kReadOnly : 0, &txn);
    if (result == 0) result = api_.dbi_open(txn, nullptr, 0, &db_.dbi);
    if (result == 0) result = api_.txn_commit(txn);
    if (result == 0) return {};
    Close();
    return Failed(config_.db, result);
  }
  void Close() override {
    if (db_.env != nullptr) api_.env_close(db_.env);
    db_.env = nullptr;
  }
  Outcome Destroy() override {
    for (const char* name : {"/data.mdb", "/lock.mdb"}) unlink((config_.db + name).c_str());
    if (rmdir(config_.db.c_str()) == 0 || errno == ENOENT) return {};
    return Failed(config_.db, errno);
  }

  std::unique_ptr<Session> NewSession(const SessionOptions& options) override {
    return std::make_unique<LmdbSession>(db_, options.sync);
  }
  Outcome Flush() override { return {}; }
  Outcome CompactAll() override { return {}; }
  Outcome WaitForIdle() override { return {}; }
  bool Describe(Text, std::string*) override { return false; }

 private:
  Outcome Failed(const std::string& place, int result) const {
    return Outcome::Error(place + ": " + api_.strerror(result));
  }

  const EngineConfig& config_;
  Lmdb api_;
  Opened db_{api_};
};

}  // namespace

std::unique_ptr<Engine> NewLmdbEngine(const EngineConfig& config, std::string* error) {
  return NewLoadedEngine<LmdbEngine>(config, error);
}

}  // namespace miodb::bench
