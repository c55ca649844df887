// The interface of a key-value store for workloads, and nothing more. Each store has a file in engines/.
//
// An Engine is one store with its options; Open and Close may alternate. Threads do their work through Sessions, which
// hold what a call needs again and again (options, a result buffer, a batch), so that an operation costs one virtual
// call and no allocation beyond what the store itself makes.
//
// Threads: one thread opens, closes and asks for texts; a Session and its Cursors belong to one thread.
// Ownership: sessions die before Close, cursors before their session.
// Errors: kError leaves a message that names the store's reason in Session::error() or Outcome::message.

#ifndef MIODB_BENCHMARKS_COMMON_ENGINE_H_
#define MIODB_BENCHMARKS_COMMON_ENGINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/common/outcome.h"

namespace miodb::bench {

struct EngineConfig;

// A record under a cursor. Valid until the cursor moves.
struct Entry {
  std::string_view key;
  std::string_view value;
};

// Each move stores where it arrived in *entry and returns true, or returns false at the end or on an error.
class Cursor {
 public:
  virtual ~Cursor() = default;

  virtual bool SeekToFirst(Entry* entry) = 0;
  virtual bool SeekToLast(Entry* entry) = 0;
  virtual bool Seek(std::string_view key, Entry* entry) = 0;  // The first key at or after this one.
  virtual bool Next(Entry* entry) = 0;                        // REQUIRES: the last move returned true.
  virtual bool Prev(Entry* entry) = 0;                        // REQUIRES: the last move returned true.
  virtual Outcome Check() = 0;                                // Whether the last move ended with an error.
};

struct SessionOptions {
  bool sync = false;
};

// How a trace of the store's calls is made; the words are explained in miodb/trace.h.
struct TraceSettings {
  int64_t max_file_bytes = int64_t{64} << 30;
  int64_t sampling_frequency = 1;
  int64_t filter = 0;
  bool preserve_write_order = true;
  bool own_records = true;
};

class Session {
 public:
  virtual ~Session() = default;

  virtual Code Put(std::string_view key, std::string_view value) = 0;
  virtual Code Delete(std::string_view key) = 0;

  // A merge by EngineConfig::merge_operator; the default is an error.
  virtual Code Merge(std::string_view key, std::string_view operand);
  // The deletion of a key that was put once; the default is a delete.
  virtual Code SingleDelete(std::string_view key) { return Delete(key); }

  // *value stays valid until the session's next call.
  virtual Code Get(std::string_view key, std::string_view* value) = 0;

  // Takes the value of keys[index]; the value is valid during the call.
  using FoundFunction = std::function<void(size_t index, std::string_view value)>;

  // Looks up many keys, in one call of the store where it has one, else one after the other. Calls "found" for each key
  // that is there. kNotFound does not occur.
  virtual Code MultiGet(std::span<const std::string_view> keys, const FoundFunction& found);

  // Collects updates and writes them as one atomic step; the batch is empty afterwards.
  virtual void BatchPut(std::string_view key, std::string_view value) = 0;
  virtual void BatchDelete(std::string_view key) = 0;
  virtual void BatchSingleDelete(std::string_view key) { BatchDelete(key); }
  // False: the store cannot, or was opened without a merge operator; the batch is as before.
  virtual bool BatchMerge(std::string_view, std::string_view) { return false; }
  virtual Code BatchWrite() = 0;
  // Forgets what was collected.
  virtual void BatchClear() = 0;
  // The same, then "between", which may put and delete in this session, then the same batch once more; the default is
  // an error.
  virtual Code BatchWriteTwice(const std::function<void()>& between);

  // From now on gets and new cursors see the state of this moment, until EndSnapshot. False: the store cannot.
  virtual bool BeginSnapshot() { return false; }
  virtual void EndSnapshot() {}

  virtual std::unique_ptr<Cursor> NewCursor() = 0;
  // Of the column family of this key; the default is the one family that there is.
  virtual std::unique_ptr<Cursor> NewCursorOf(std::string_view) { return NewCursor(); }

  // The message of the last kError.
  const std::string& error() const { return error_; }

 protected:
  std::string error_;
};

class Engine {
 public:
  enum class Text { kStats, kLevelStats, kSstables, kMemory };
  using Counters = std::map<std::string, uint64_t>;
  using ReadCounts = std::vector<std::pair<std::string, uint64_t>>;

  virtual ~Engine() = default;

  virtual std::string Name() const = 0;     // As people write it: "RocksDB".
  virtual std::string Version() const = 0;  // "7.8.3"
  // The file of the shared library; empty: the store is part of this program.
  virtual std::string LibraryPath() const { return ""; }
  // Whether the store computes checksums of what it writes.
  virtual bool HasChecksums() const { return true; }

  // Opens the store at EngineConfig::db; whether it may be made there says EngineConfig::create_if_missing. REQUIRES:
  // closed.
  virtual Outcome Open() = 0;
  // REQUIRES: no session. Closing what is closed does nothing.
  virtual void Close() = 0;
  // Removes the store from the disk. REQUIRES: closed. A store that is not there is fine.
  virtual Outcome Destroy() = 0;

  // All below: REQUIRES: open.
  virtual std::unique_ptr<Session> NewSession(const SessionOptions& options) = 0;
  virtual Outcome Flush() = 0;       // The memtable becomes a table.
  virtual Outcome CompactAll() = 0;  // Returns when the manual compaction of everything is done.
  // Returns when no flush or compaction is running or due, or when the run is interrupted.
  virtual Outcome WaitForIdle() = 0;
  // False if the store has no such text.
  virtual bool Describe(Text which, std::string* text) = 0;

  // Records the calls to the store in a file, in RocksDB's format, until EndTrace, which comes before Close.
  virtual Outcome StartTrace(const std::string& path, const TraceSettings& settings);
  virtual Outcome EndTrace() { return {}; }

  // The store's own counters by name; empty if it has none.
  virtual Counters ReadCounters() { return {}; }
  // The durability that the medium gives; empty if the store does not say.
  virtual std::string PersistMode() { return ""; }
  // Reads of the medium since the start, if they are counted (EngineConfig::perf_level): names and numbers.
  virtual ReadCounts CountReads() { return {}; }
  // Comparator calls since the start, with EngineConfig::comparisons; else 0.
  virtual uint64_t Comparisons() const { return 0; }
};

// The engine that EngineConfig::engine names, not yet open. nullptr with *error set if its library is not there or if
// it cannot do what the configuration asks for. The config outlives the engine.
std::unique_ptr<Engine> NewEngine(const EngineConfig& config, std::string* error);

// "miodb 1.0, leveldb 1.23": every engine whose library is there, with its version.
std::string EngineVersions();

// Each file in engines/ has such a function, which NewEngine alone calls.
std::unique_ptr<Engine> NewMioDbEngine(const EngineConfig& config, std::string* error);
std::unique_ptr<Engine> NewLevelDbEngine(const EngineConfig& config, std::string* error);
std::unique_ptr<Engine> NewRocksDbEngine(const EngineConfig& config, std::string* error);
std::unique_ptr<Engine> NewLmdbEngine(const EngineConfig& config, std::string* error);
std::unique_ptr<Engine> NewWiredTigerEngine(const EngineConfig& config, std::string* error);

// Makes such an engine of a class that loads a library.
template <class Loaded>
std::unique_ptr<Engine> NewLoadedEngine(const EngineConfig& config, std::string* error) {
  auto engine = std::make_unique<Loaded>(config);
  *error = engine->Load().message;
  return error->empty() ? std::move(engine) : nullptr;
}

// The texts of a store that has LevelDB's properties. property: stores one by its name, or returns false.
bool DescribeByProperties(const std::function<bool(const char* name, std::string* text)>& property, Engine::Text which,
                          int levels, std::string* text);

// The text of `levelstats`, made from the table of compaction work that "leveldb.stats" begins with.
std::string LevelStatsFromTable(const std::string& stats, int levels);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINE_H_
