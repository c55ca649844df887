// Patterns where log-structured stores are weak: what seeks cost over what is dead, and how much storage stays.
//
//   pattern_cost DIRECTORY PATTERN [COUNT]    makes a database there, and removes it
//
//   hot       COUNT (500,000) puts to one key between two others; scans of the three keys in both directions
//   queue     a queue with 1,000 items: COUNT (2,000,000) times a put at its tail, a seek to its head, a delete there
//   popped    a queue of COUNT (100,000) items of which 90 % are popped: seeks to the head and back over the popped
//   ranges    COUNT (1,000,000) keys, every second of 200 ranges of them deleted key by key: a scan, and one of a
//   database
//             that never had the deleted keys
//   deleted   COUNT (500,000) keys of which 50 stay: storage while nobody calls, and after CompactRange
//   series    COUNT (500,000) values with lifetimes of 3 seconds, of which the last tenth is alive at the end: storage
//             without a write after it
//   settled   COUNT (2,000,000) puts of random keys: storage over what is alive, while it settles and afterwards
//
// Values have 100 bytes. Storage is that of all blocks of the directory's files.

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/common/draw/random.h"
#include "benchmarks/cost/cost.h"
#include "miodb/db.h"
#include "miodb/options.h"

using miodb::cost::Check;
using miodb::cost::Clock;
using miodb::cost::Since;

namespace {

constexpr double kMiB = 1 << 20;

// In the order of the numbers.
std::string Key(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof(text), "%016llu", static_cast<unsigned long long>(number));
  return text;
}

double StorageMiB(const std::string& directory) {
  uint64_t blocks = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    struct stat file;
    if (stat(entry.path().c_str(), &file) == 0) blocks += static_cast<uint64_t>(file.st_blocks);
  }
  return static_cast<double>(blocks) * 512 / kMiB;
}

// The times of equal calls, in microseconds.
class Times {
 public:
  void Time(const std::function<void()>& call) {
    const Clock::time_point start = Clock::now();
    call();
    times_.push_back(Since<std::micro>(start));
  }
  void Print(const char* name) {
    std::sort(times_.begin(), times_.end());
    double sum = 0;
    for (const double time : times_) sum += time;
    const size_t n = times_.size();
    std::printf("%-24s mean %.2f us, median %.2f, p99 %.2f, p99.9 %.2f, longest %.1f\n", name,
                sum / static_cast<double>(n), times_[n / 2], times_[n * 99 / 100], times_[n * 999 / 1000],
                times_.back());
  }

 private:
  std::vector<double> times_;
};

class Patterns {
 public:
  Patterns(std::string directory, uint64_t count) : directory_(std::move(directory)), count_(count) { Open(); }
  ~Patterns() { Remove(); }

  void Hot() {
    Put("a");
    Put("c");
    for (uint64_t i = 0; i < count_; i++) Put("b");
    Times forward, backward;
    for (int i = 0; i < 11; i++) {
      forward.Time([this] { Count([](miodb::Iterator* it) { it->SeekToFirst(); }, &miodb::Iterator::Next, 3); });
      backward.Time([this] { Count([](miodb::Iterator* it) { it->SeekToLast(); }, &miodb::Iterator::Prev, 3); });
    }
    forward.Print("scan forward");
    backward.Print("scan backward");
  }

  void Queue() {
    constexpr uint64_t kWindow = 1000;
    for (uint64_t i = 0; i < kWindow; i++) Put(Key(i));
    Times seeks;
    for (uint64_t i = 0; i < count_; i++) {
      Put(Key(i + kWindow));
      seeks.Time([&] { SeekToHead(Key(i)); });
      Delete(Key(i));
      if (i % (count_ / 16) == 0) NoteStorage();
    }
    seeks.Print("seek to the head");
    std::printf("storage at most %.1f MiB\n", most_storage_);
    PrintStorage({0, 2, 10});
  }

  void Popped() {
    const uint64_t head = count_ * 9 / 10;
    for (uint64_t i = 0; i < count_; i++) Put(Key(i));
    for (uint64_t i = 0; i < head; i++) Delete(Key(i));
    Times first, back, later_first, later_back;
    SeekOverPopped(head, &first, &back);
    for (int i = 0; i < 1000; i++) SeekOverPopped(head, &later_first, &later_back);
    first.Print("first seek to the head");
    back.Print("first way back");
    later_first.Print("later seeks");
    later_back.Print("later ways back");
    PrintStorage({0, 2, 10});
  }

  void Ranges() {
    const uint64_t range = count_ / 200;
    const auto is_dead = [range](uint64_t i) { return i / range % 2 == 1; };
    for (uint64_t i = 0; i < count_; i++) Put(Key(i));
    Check(db_->WaitForIdle());
    uint64_t live = count_;
    for (uint64_t i = 0; i < count_; i++) {
      if (!is_dead(i)) continue;
      Delete(Key(i));
      live--;
    }
    ScanAll("over the dead", live);
    Remove();
    Open();
    for (uint64_t i = 0; i < count_; i++) {
      if (!is_dead(i)) Put(Key(i));
    }
    Check(db_->WaitForIdle());
    ScanAll("without them", live);
  }

  void Deleted() {
    for (uint64_t i = 0; i < count_; i++) Put(Key(i));
    for (uint64_t i = 50; i < count_; i++) Delete(Key(i));
    PrintStorage({0, 2, 10, 30});
    db_->CompactRange(nullptr, nullptr);
    std::printf("after CompactRange: ");
    PrintStorage({0});
  }

  void Series() {
    miodb::WriteOptions write;
    for (uint64_t i = 0; i < count_; i++) {
      write.lifetime_seconds = i < count_ * 9 / 10 ? 3 : 3600;
      Check(db_->Put(write, Key(i), value_));
    }
    PrintStorage({0, 3, 6, 10, 20});
    std::printf("alive: %.1f MiB\n", static_cast<double>(count_ * (16 + value_.size())) / 10 / kMiB);
  }

  void Settled() {
    miodb::bench::Random random(1);
    std::vector<bool> drawn(count_);
    uint64_t alive = 0;
    for (uint64_t i = 0; i < count_; i++) {
      const uint64_t key = random.Uniform(count_);
      if (!drawn[key]) alive++;
      drawn[key] = true;
      Put(Key(key));
    }
    std::atomic<bool> settled{false};
    std::thread watch([&] {
      while (!settled) {
        NoteStorage();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    Check(db_->WaitForIdle());
    settled = true;
    watch.join();
    const double live = static_cast<double>(alive * (16 + value_.size())) / kMiB;
    std::printf("alive %.1f MiB; storage at most %.2f times as much\n", live, most_storage_ / live);
    PrintStorage({0, 2, 10, 20});
  }

 private:
  void Open() {
    miodb::Options options;
    options.create_if_missing = options.error_if_exists = true;
    miodb::DB* db;
    Check(miodb::DB::Open(options, directory_, &db));
    db_.reset(db);
  }
  void Remove() {
    db_.reset();
    Check(miodb::DestroyDB(directory_, miodb::Options()));
  }

  void Put(const std::string& key) { Check(db_->Put(miodb::WriteOptions(), key, value_)); }
  void Delete(const std::string& key) { Check(db_->Delete(miodb::WriteOptions(), key)); }
  std::unique_ptr<miodb::Iterator> NewIterator() {
    return std::unique_ptr<miodb::Iterator>(db_->NewIterator(miodb::ReadOptions()));
  }

  void Count(const std::function<void(miodb::Iterator*)>& start, void (miodb::Iterator::*step)(), uint64_t expected) {
    const auto it = NewIterator();
    uint64_t keys = 0;
    for (start(it.get()); it->Valid(); (it.get()->*step)()) keys++;
    if (keys != expected) Check(miodb::Status::Corruption("a scan found " + std::to_string(keys) + " keys"));
  }

  void SeekToHead(const std::string& head) {
    const auto it = NewIterator();
    it->SeekToFirst();
    if (!it->Valid() || it->key() != miodb::Slice(head)) Check(miodb::Status::Corruption("not the head: " + head));
  }

  void SeekOverPopped(uint64_t head, Times* first, Times* back) {
    const auto it = NewIterator();
    first->Time([&] { it->SeekToFirst(); });
    if (!it->Valid() || it->key() != miodb::Slice(Key(head))) Check(miodb::Status::Corruption("not the head"));
    back->Time([&] { it->Prev(); });
    if (it->Valid()) Check(miodb::Status::Corruption("a key before the head"));
    Check(it->status());
  }

  void ScanAll(const char* name, uint64_t expected) {
    Times scans;
    for (int i = 0; i < 11; i++) {
      scans.Time([&] { Count([](miodb::Iterator* it) { it->SeekToFirst(); }, &miodb::Iterator::Next, expected); });
    }
    scans.Print(name);
  }

  void NoteStorage() { most_storage_ = std::max(most_storage_, StorageMiB(directory_)); }

  // Storage so many seconds after now, while nobody calls.
  void PrintStorage(const std::vector<int>& seconds) {
    const Clock::time_point start = Clock::now();
    std::printf("storage");
    for (const int second : seconds) {
      std::this_thread::sleep_until(start + std::chrono::seconds(second));
      std::printf("%s %.1f MiB after %d s", second == seconds.front() ? "" : ",", StorageMiB(directory_), second);
    }
    std::printf("\n");
  }

  const std::string directory_;
  const uint64_t count_;
  const std::string value_ = std::string(100, 'v');
  std::unique_ptr<miodb::DB> db_;
  double most_storage_ = 0;
};

struct Pattern {
  uint64_t count;
  void (Patterns::*run)();
};

const std::map<std::string, Pattern> kPatterns = {
    {"hot", {500000, &Patterns::Hot}},         {"queue", {2000000, &Patterns::Queue}},
    {"popped", {100000, &Patterns::Popped}},   {"ranges", {1000000, &Patterns::Ranges}},
    {"deleted", {500000, &Patterns::Deleted}}, {"series", {500000, &Patterns::Series}},
    {"settled", {2000000, &Patterns::Settled}}};

}  // namespace

int main(int argc, char** argv) {
  const auto pattern = argc >= 3 && argc <= 4 ? kPatterns.find(argv[2]) : kPatterns.end();
  const uint64_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (pattern == kPatterns.end() || (argc > 3 && count < 1000)) {
    std::fprintf(stderr,
                 "usage: pattern_cost DIRECTORY hot|queue|popped|ranges|deleted|series|settled [COUNT]\n"
                 "COUNT is at least 1000\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Patterns patterns(argv[1], argc > 3 ? count : pattern->second.count);
  (patterns.*pattern->second.run)();
  return 0;
}
