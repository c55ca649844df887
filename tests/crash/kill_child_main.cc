// The process that the kill test kills: opens the database and writes until it is told or forced to end.
//
//   kill_child_main DATABASE OPTION_SET SHARED_FILE SEED WRITERS MOST_OPERATIONS

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/write_batch.h"
#include "src/util/hash.h"
#include "src/util/random.h"
#include "tests/common/db_test_base.h"
#include "tests/common/option_sets.h"
#include "tests/crash/kill_workload.h"

namespace miodb::test {
namespace {

class Child {
 public:
  Child(KillShared* shared, uint64_t seed, int writers, uint64_t most)
      : shared_(shared), seed_(seed), writers_(writers), most_(most) {}

  int Run(const Options& options, const std::string& path) {
    shared_->phase.store(KillPhase::kOpening);
    Status s = OpenDb(options, path, &db_);
    if (!s.ok()) return Fail("open", s);
    shared_->phase.store(KillPhase::kWriting);
    std::vector<std::thread> threads;
    for (int w = 0; w < writers_; w++) threads.emplace_back([this, w] { Write(w); });
    Disturb();
    for (std::thread& thread : threads) thread.join();
    shared_->phase.store(KillPhase::kClosing);
    db_.reset();
    for (int w = 0; w < writers_; w++) shared_->writers[w].flushed.store(shared_->writers[w].acknowledged.load());
    if (failed_.load()) return 1;
    shared_->phase.store(KillPhase::kClosed);
    return 0;
  }

 private:
  int Fail(const char* what, const Status& s) {
    std::fprintf(stderr, "kill_child_main: %s: %s\n", what, s.ToString().c_str());
    failed_.store(true);
    shared_->phase.store(KillPhase::kFailed);
    return 1;
  }

  bool Done() const { return failed_.load() || shared_->operations.load() >= most_; }

  Status WriteOne(int writer, uint64_t n) {
    const std::vector<KillUpdate> updates = KillOperation(seed_, writer, n);
    WriteOptions options;
    options.sync = n % 16 == 0;
    if (updates.size() == 1) {
      const KillUpdate& update = updates.front();
      return update.deletion ? db_->Delete(options, update.key) : db_->Put(options, update.key, update.value);
    }
    WriteBatch batch;
    for (const KillUpdate& update : updates) {
      if (update.deletion) {
        batch.Delete(update.key);
      } else {
        batch.Put(update.key, update.value);
      }
    }
    return db_->Write(options, &batch);
  }

  void Write(int writer) {
    KillShared::Writer& mine = shared_->writers[writer];
    while (!Done()) {
      const uint64_t n = mine.begun.load() + 1;
      mine.begun.store(n);
      const Status s = WriteOne(writer, n);
      if (!s.ok()) {
        Fail("write", s);
        return;
      }
      mine.acknowledged.store(n);
      shared_->operations.fetch_add(1);
    }
  }

  // Flushes and compacts now and then.
  void Disturb() {
    Random random(Mix64(seed_, shared_->writers[0].begun.load()));
    while (!Done()) {
      std::this_thread::sleep_for(std::chrono::microseconds(random.Uniform(8000)));
      if (random.OneIn(2)) {
        shared_->phase.store(KillPhase::kFlushing);
        FlushAndNote();
      } else {
        shared_->phase.store(KillPhase::kCompacting);
        db_->CompactRange(nullptr, nullptr);
      }
      if (!failed_.load()) shared_->phase.store(KillPhase::kWriting);
    }
  }

  void FlushAndNote() {
    uint64_t acknowledged[kMaxKillWriters];
    for (int w = 0; w < writers_; w++) acknowledged[w] = shared_->writers[w].acknowledged.load();
    const Status s = db_->Flush();
    if (!s.ok()) {
      Fail("flush", s);
      return;
    }
    for (int w = 0; w < writers_; w++) shared_->writers[w].flushed.store(acknowledged[w]);
  }

  KillShared* const shared_;
  const uint64_t seed_;
  const int writers_;
  const uint64_t most_;
  std::unique_ptr<DB> db_;
  std::atomic<bool> failed_{false};
};

}  // namespace
}  // namespace miodb::test

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  miodb::test::KillShared* const shared = miodb::test::MapKillShared(argv[3]);
  const uint64_t seed = std::strtoull(argv[4], nullptr, 10);
  const uint64_t most = std::strtoull(argv[6], nullptr, 10);
  return miodb::test::Child(shared, seed, std::atoi(argv[5]), most)
      .Run(miodb::test::FindOptionSet(argv[2]).options, argv[1]);
}
