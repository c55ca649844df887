#include "src/db/write/write_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

// State that only leaders touch, without a lock: ThreadSanitizer tells if two of them meet.
struct LeadersOnly {
  uint64_t groups = 0;
  uint64_t writers = 0;
  uint64_t bytes = 0;
  std::vector<uint64_t> last_of_thread;
};

struct TestWriter : Writer {
  size_t thread = 0;
  uint64_t number = 0;     // of its thread: 1, 2, ...
  uint64_t served_as = 0;  // set by the leader
};

class QueueTest {
 public:
  QueueTest(size_t threads, uint64_t rounds, uint64_t max_bytes) : rounds_(rounds), max_bytes_(max_bytes) {
    leaders_.last_of_thread.resize(threads);
  }

  void Run() {
    std::vector<std::thread> threads;
    for (size_t t = 0; t < leaders_.last_of_thread.size(); t++) {
      threads.emplace_back([this, t] {
        Random random(t + 1);
        for (uint64_t i = 1; i <= rounds_; i++) WriteOne(t, i, &random);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(rounds_ * leaders_.last_of_thread.size(), leaders_.writers) << "each writer is served exactly once";
    for (uint64_t last : leaders_.last_of_thread) EXPECT_EQ(rounds_, last);
    EXPECT_LE(leaders_.groups, leaders_.writers);
  }

 private:
  void WriteOne(size_t thread, uint64_t number, Random* random) {
    TestWriter writer;
    writer.thread = thread;
    writer.number = number;
    writer.body_bytes = random->Uniform(200);
    writer.sync = random->OneIn(4);
    writer.deletes_only = random->OneIn(4);
    if (queue_.Join(&writer)) Lead(&writer, random);
    EXPECT_NE(0u, writer.served_as) << "released before its work was done";
    EXPECT_EQ(writer.served_as % 2 == 0, writer.status.ok()) << "somebody else's result";
  }

  void Lead(TestWriter* leader, Random* random) {
    EXPECT_EQ(0, leading_.fetch_add(1)) << "two leaders";
    Writer* const last = queue_.FormGroup(leader, max_bytes_);
    leaders_.groups++;
    uint64_t bytes = 0;
    for (Writer* w = leader;; w = w->newer) {
      auto* const member = static_cast<TestWriter*>(w);
      bytes += member->body_bytes;
      leaders_.bytes += member->body_bytes;
      member->served_as = ++leaders_.writers;
      EXPECT_EQ(member->number, ++leaders_.last_of_thread[member->thread]) << "out of order";
      EXPECT_TRUE(!member->sync || leader->sync) << "a sync write in an unsynced group";
      EXPECT_EQ(leader->deletes_only, member->deletes_only);
      member->status = member->served_as % 2 == 0 ? Status::OK() : Status::IOError("odd");
      if (w == last) break;
    }
    EXPECT_TRUE(bytes <= max_bytes_ || last == leader);
    if (random->OneIn(50)) std::this_thread::yield();
    EXPECT_EQ(1, leading_.fetch_sub(1));
    queue_.Leave(leader, last);
  }

  const uint64_t rounds_;
  const uint64_t max_bytes_;
  WriteQueue queue_;
  LeadersOnly leaders_;
  std::atomic<int> leading_{0};
};

TEST(WriteQueueTest, EveryWriterIsServedOnceAndOneLeads) {
  for (uint64_t max_bytes : {uint64_t{0}, uint64_t{300}, UINT64_MAX}) {
    SCOPED_TRACE(max_bytes);
    QueueTest(4, ByScale(5000, 20000, 300000), max_bytes).Run();
    QueueTest(1, 1000, max_bytes).Run();
    QueueTest(32, ByScale(300, 1000, 20000), max_bytes).Run();
  }
}

// A queue whose leader is this thread, and followers that join one after the other.
class HeldQueue {
 public:
  explicit HeldQueue(Writer::Kind kind = Writer::Kind::kWrite) : leader_(kind) { EXPECT_TRUE(queue_.Join(&leader_)); }
  ~HeldQueue() {
    // Serves all: the rest lead themselves, one by one.
    queue_.Leave(&leader_, last_);
    for (std::thread& thread : threads_) thread.join();
  }
  HeldQueue(const HeldQueue&) = delete;
  HeldQueue& operator=(const HeldQueue&) = delete;

  Writer& leader() { return leader_; }

  void Add(uint64_t bytes, bool sync, bool deletes_only, const WriteCondition* condition = nullptr) {
    auto writer = std::make_unique<Writer>();
    writer->condition = condition;
    writer->body_bytes = bytes;
    writer->sync = sync;
    writer->deletes_only = deletes_only;
    Add(std::move(writer));
  }

  void Add(std::unique_ptr<Writer> writer) {
    Writer* const w = writer.get();
    followers_.push_back(std::move(writer));
    threads_.emplace_back([this, w] {
      if (queue_.Join(w)) queue_.Leave(w, w);
    });
    // In line once the chain from the leader reaches it.
    const auto joined = [&] {
      queue_.FormGroup(&leader_, 0);
      for (const Writer* at = &leader_; at != nullptr; at = at->newer) {
        if (at == w) return true;
      }
      return false;
    };
    while (!joined()) std::this_thread::yield();
  }

  // How many followers the group takes.
  size_t Group(uint64_t max_bytes) {
    last_ = queue_.FormGroup(&leader_, max_bytes);
    size_t count = 0;
    for (const Writer* w = &leader_; w != last_; w = w->newer) count++;
    return count;
  }

 private:
  WriteQueue queue_;
  Writer leader_;
  Writer* last_ = &leader_;
  std::vector<std::unique_ptr<Writer>> followers_;
  std::vector<std::thread> threads_;
};

TEST(WriteQueueTest, AGroupTakesWhatFits) {
  HeldQueue queue;
  queue.leader().body_bytes = 100;
  EXPECT_EQ(0u, queue.Group(0));
  for (int i = 0; i < 5; i++) queue.Add(10, false, false);
  EXPECT_EQ(0u, queue.Group(109));
  EXPECT_EQ(1u, queue.Group(110));
  EXPECT_EQ(4u, queue.Group(149));
  EXPECT_EQ(5u, queue.Group(150));
  EXPECT_EQ(5u, queue.Group(UINT64_MAX));
}

TEST(WriteQueueTest, ASyncWriteWaitsForAGroupThatSyncs) {
  {
    HeldQueue queue;
    queue.Add(1, false, false);
    queue.Add(1, true, false);
    queue.Add(1, false, false);
    EXPECT_EQ(1u, queue.Group(1000));
  }
  HeldQueue queue;
  queue.leader().sync = true;
  queue.Add(1, false, false);
  queue.Add(1, true, false);
  EXPECT_EQ(2u, queue.Group(1000));
}

TEST(WriteQueueTest, DeletesAndOtherWritesDoNotMix) {
  HeldQueue queue;
  queue.Add(1, false, false);
  queue.Add(1, false, true);
  queue.Add(1, false, false);
  EXPECT_EQ(1u, queue.Group(1000));
}

TEST(WriteQueueTest, AWriteWithAConditionIsAGroupByItself) {
  const WriteCondition condition = [] { return Status::OK(); };
  {
    HeldQueue queue;
    queue.Add(1, false, false);
    queue.Add(1, false, false, &condition);
    queue.Add(1, false, false);
    EXPECT_EQ(1u, queue.Group(1000));
    queue.leader().condition = &condition;
    EXPECT_EQ(0u, queue.Group(1000));
  }
}

// Neither behind puts nor before them: a put that finds no room must not be the result of a flush.
TEST(WriteQueueTest, ARequestIsAGroupByItself) {
  for (const Writer::Kind kind : {Writer::Kind::kSeal, Writer::Kind::kAsk}) {
    SCOPED_TRACE(static_cast<int>(kind));
    {
      HeldQueue queue;
      queue.Add(1, false, false);
      queue.Add(std::make_unique<Writer>(kind));
      queue.Add(1, false, false);
      EXPECT_EQ(1u, queue.Group(1000));
    }
    HeldQueue queue(kind);
    queue.Add(1, false, false);
    EXPECT_EQ(0u, queue.Group(1000));
  }
}

}  // namespace
}  // namespace miodb::test
