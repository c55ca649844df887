// A LevelDB program that brings its own Comparator, Env, Logger, FilterPolicy and Cache.
//
//   own_objects_client DIRECTORY     uses a fresh database in DIRECTORY; exit status 0 if everything was as it should
//   be

#include <leveldb/cache.h>
#include <leveldb/comparator.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

namespace {

using leveldb::Slice;
using leveldb::Status;

// Numbers in decimal, by value: "9" before "10", and "7" is "007".
class NumberComparator : public leveldb::Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    const long long x = std::stoll(a.ToString()), y = std::stoll(b.ToString());
    return x < y ? -1 : x > y ? 1 : 0;
  }
  const char* Name() const override { return "example.NumberComparator"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// Ignores leading zeros, as the comparator does.
class NumberPolicy : public leveldb::FilterPolicy {
 public:
  NumberPolicy() : bloom_(leveldb::NewBloomFilterPolicy(10)) {}
  const char* Name() const override { return "example.NumberPolicy"; }
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    std::string numbers;
    std::unique_ptr<std::string[]> texts(new std::string[static_cast<size_t>(n)]);
    std::unique_ptr<Slice[]> slices(new Slice[static_cast<size_t>(n)]);
    for (int i = 0; i < n; i++) {
      texts[static_cast<size_t>(i)] = std::to_string(std::stoll(keys[i].ToString()));
      slices[static_cast<size_t>(i)] = texts[static_cast<size_t>(i)];
    }
    bloom_->CreateFilter(slices.get(), n, dst);
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return bloom_->KeyMayMatch(std::to_string(std::stoll(key.ToString())), filter);
  }

 private:
  std::unique_ptr<const leveldb::FilterPolicy> bloom_;
};

class CountingLogger : public leveldb::Logger {
 public:
  void Logv(const char* format, std::va_list ap) override {
    char line[500];
    std::vsnprintf(line, sizeof(line), format, ap);
    messages++;
  }
  std::atomic<int> messages{0};
};

class LockCountingEnv : public leveldb::EnvWrapper {
 public:
  LockCountingEnv() : EnvWrapper(leveldb::Env::Default()) {}
  Status LockFile(const std::string& name, leveldb::FileLock** lock) override {
    locks++;
    return target()->LockFile(name, lock);
  }
  Status UnlockFile(leveldb::FileLock* lock) override {
    locks--;
    return target()->UnlockFile(lock);
  }
  std::atomic<int> locks{0};
};

Status Wrong(const char* what) { return Status::Corruption("wrong", what); }

Status Use(leveldb::DB* db) {
  Status s;
  for (int i = 0; i < 1000 && s.ok(); i++) {
    s = db->Put(leveldb::WriteOptions(), std::to_string(i * 7919 % 1000), std::to_string(i));
  }
  if (s.ok()) s = db->Put(leveldb::WriteOptions(), "007", "seven");
  db->CompactRange(nullptr, nullptr);
  std::string value;
  if (s.ok()) s = db->Get(leveldb::ReadOptions(), "7", &value);
  if (s.ok() && value != "seven") return Wrong("7 is 007");
  std::unique_ptr<leveldb::Iterator> it(db->NewIterator(leveldb::ReadOptions()));
  long long expected = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (std::stoll(it->key().ToString()) != expected++) return Wrong("order");
  }
  if (s.ok()) s = it->status();
  return s.ok() && expected != 1000 ? Wrong("number of keys") : s;
}

Status Run(const std::string& path) {
  const NumberComparator comparator;
  const NumberPolicy policy;
  CountingLogger logger;
  LockCountingEnv env;
  const std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(1 << 20));
  leveldb::Options options;
  options.create_if_missing = true;
  options.comparator = &comparator;
  options.filter_policy = &policy;
  options.info_log = &logger;
  options.env = &env;
  options.block_cache = cache.get();
  options.write_buffer_size = 0;  // moved to the least that there may be
  leveldb::DB* opened = nullptr;
  Status s = leveldb::DB::Open(options, path, &opened);
  if (!s.ok()) return s;
  std::unique_ptr<leveldb::DB> db(opened);
  if (env.locks != 1) return Wrong("the Env was not asked for the lock");
  s = Use(db.get());
  db.reset();
  if (s.ok() && env.locks != 0) return Wrong("the lock was not returned");
  if (s.ok() && logger.messages == 0) return Wrong("the Logger got nothing");
  return s.ok() ? leveldb::DestroyDB(path, options) : s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const Status s = Run(argv[1]);
  std::cout << s.ToString() << "\n";
  return s.ok() ? 0 : 1;
}
