// A LevelDB program that does what a seed tells it and prints everything it sees. Built with two libraries and run with
// one seed it must print the same twice.
//
//   random_client DIRECTORY SEED STEPS     uses a fresh database in DIRECTORY; exit status 0 if no call failed

#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

// splitmix64: the same numbers everywhere, which the standard library's distributions do not promise.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t n) { return Next() % n; }

 private:
  uint64_t state_;
};

uint64_t Digest(const leveldb::Slice& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes.size(); i++) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3u;
  return hash;
}

class Program {
 public:
  Program(const std::string& path, uint64_t seed) : path_(path), random_(seed) {
    options_.create_if_missing = true;
    options_.write_buffer_size = 64 << 10;
  }

  void Run(int steps) {
    Open();
    for (int i = 0; i < steps && db_ != nullptr; i++) Step(i);
    LetGo();
    Scan(nullptr);
    db_.reset();
    Check("destroy", leveldb::DestroyDB(path_, options_));
  }

  bool failed() const { return failed_; }

 private:
  void Check(const char* what, const leveldb::Status& s) {
    if (s.ok() || s.IsNotFound()) return;
    std::printf("%s: %s\n", what, s.ToString().c_str());
    failed_ = true;
  }

  void Open() {
    db_.reset();
    options_.reuse_logs = random_.Below(2) == 0;
    options_.paranoid_checks = random_.Below(2) == 0;
    leveldb::DB* db = nullptr;
    Check("open", leveldb::DB::Open(options_, path_, &db));
    db_.reset(db);
  }

  // Keys are few, so that they meet again. Kinds: empty, with zeros, prefixes of another key.
  std::string Key() {
    const uint64_t n = random_.Below(400);
    if (n == 0) return std::string();
    std::string key = "k" + std::to_string(n / 4);
    if (n % 4 == 1) key.push_back('\0');
    if (n % 4 == 2) key.append(n % 50, '\xff');
    if (n % 4 == 3) key = key.substr(0, 2);
    return key;
  }

  std::string Value() {
    const uint64_t kind = random_.Below(20);
    const size_t size = kind == 0 ? 0 : kind == 1 ? random_.Below(30000) : random_.Below(300);
    std::string value;
    for (uint64_t word = random_.Next(); value.size() < size; word = word * 6364136223846793005u + 1) {
      value.push_back(static_cast<char>(word >> 56));
    }
    return value;
  }

  void Print(const char* what, const leveldb::Slice& key, const leveldb::Slice& value) {
    std::printf("%s %016" PRIx64 " %zu %016" PRIx64 "\n", what, Digest(key), value.size(), Digest(value));
  }

  const leveldb::Snapshot* AnySnapshot() {
    const size_t i = random_.Below(snapshots_.size() + 1);
    return i == snapshots_.size() ? nullptr : snapshots_[i];
  }

  void Get() {
    leveldb::ReadOptions options;
    options.snapshot = AnySnapshot();
    options.verify_checksums = random_.Below(2) == 0;
    options.fill_cache = random_.Below(2) == 0;
    const std::string key = Key();
    std::string value = "untouched";
    const leveldb::Status s = db_->Get(options, key, &value);
    Check("get", s);
    Print(s.ok() ? "found" : "missing", key, value);
  }

  void WriteBatch() {
    leveldb::WriteBatch batch, more;
    for (uint64_t n = random_.Below(20); n > 0; n--) {
      leveldb::WriteBatch* const to = random_.Below(4) == 0 ? &more : &batch;
      if (random_.Below(3) == 0) {
        to->Delete(Key());
      } else {
        const std::string key = Key();
        to->Put(key, Value());
      }
    }
    batch.Append(more);
    std::printf("batch of %zu bytes\n", batch.ApproximateSize());
    leveldb::WriteOptions options;
    options.sync = random_.Below(50) == 0;
    Check("write", db_->Write(options, &batch));
  }

  // Moves an iterator about; it may be an old one.
  void Iterate() {
    if (iterators_.empty() || (iterators_.size() < 5 && random_.Below(4) == 0)) {
      leveldb::ReadOptions options;
      options.snapshot = AnySnapshot();
      iterators_.emplace_back(db_->NewIterator(options));
    }
    leveldb::Iterator* const it = iterators_[random_.Below(iterators_.size())].get();
    for (uint64_t n = random_.Below(30); n > 0; n--) {
      const uint64_t move = random_.Below(12);
      if (move == 0) {
        it->SeekToFirst();
      } else if (move == 1) {
        it->SeekToLast();
      } else if (move < 4) {
        it->Seek(Key());
      } else if (it->Valid() && move < 8) {
        it->Next();
      } else if (it->Valid()) {
        it->Prev();
      }
      if (it->Valid()) {
        Print("at", it->key(), it->value());
      } else {
        std::printf("at no key\n");
      }
    }
    Check("iterate", it->status());
    if (random_.Below(10) == 0) iterators_.erase(iterators_.begin());
  }

  void Scan(const leveldb::Snapshot* snapshot) {
    leveldb::ReadOptions options;
    options.snapshot = snapshot;
    std::unique_ptr<leveldb::Iterator> it(db_->NewIterator(options));
    int forward = 0, backward = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), forward++) Print("scan", it->key(), it->value());
    for (it->SeekToLast(); it->Valid(); it->Prev(), backward++) Print("back", it->key(), it->value());
    std::printf("%d keys forward, %d backward\n", forward, backward);
    Check("scan", it->status());
  }

  void Snapshots() {
    if (snapshots_.size() < 4 && random_.Below(2) == 0) {
      snapshots_.push_back(db_->GetSnapshot());
    } else if (!snapshots_.empty()) {
      db_->ReleaseSnapshot(snapshots_[0]);
      snapshots_.erase(snapshots_.begin());
    }
  }

  void Compact() {
    const std::string a = Key(), b = Key();
    const leveldb::Slice begin(a), end(b);
    db_->CompactRange(random_.Below(3) == 0 ? nullptr : &begin, random_.Below(3) == 0 ? nullptr : &end);
    std::string value;
    std::printf("%d%d%d\n", db_->GetProperty("leveldb.stats", &value), db_->GetProperty("leveldb.nothing", &value),
                db_->GetProperty("leveldb.num-files-at-level0", &value));
  }

  void LetGo() {
    iterators_.clear();
    for (const leveldb::Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
    snapshots_.clear();
  }

  void Step(int i) {
    const uint64_t what = random_.Below(1000);
    if (what < 350) {
      const std::string key = Key();
      Check("put", db_->Put(leveldb::WriteOptions(), key, Value()));
    } else if (what < 450) {
      Check("delete", db_->Delete(leveldb::WriteOptions(), Key()));
    } else if (what < 550) {
      WriteBatch();
    } else if (what < 750) {
      Get();
    } else if (what < 900) {
      Iterate();
    } else if (what < 980) {
      Snapshots();
    } else if (what < 990) {
      Scan(AnySnapshot());
    } else if (what < 995) {
      Compact();
    } else if (what < 998) {
      std::printf("step %d: reopen\n", i);
      LetGo();
      Open();
    }
  }

  const std::string path_;
  Random random_;
  leveldb::Options options_;
  std::unique_ptr<leveldb::DB> db_;
  std::vector<const leveldb::Snapshot*> snapshots_;
  std::vector<std::unique_ptr<leveldb::Iterator>> iterators_;
  bool failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  Program program(argv[1], std::strtoull(argv[2], nullptr, 10));
  program.Run(std::atoi(argv[3]));
  return program.failed() ? 1 : 0;
}
