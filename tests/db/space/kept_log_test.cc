// Log that is kept for followers, where several parts of a database want to let go of it at the same time.

#include "src/db/space/kept_log.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "miodb/updates.h"
#include "src/db/open/db_impl.h"
#include "src/db/open/db_parts.h"
#include "tests/common/random/option_sets.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb {

class DBPeer {
 public:
  static bool LetGo(DBImpl* db) {
    DbLock lock(db->control_.get());
    return db->kept_->LetGo();
  }

  // All of the kept chunks but the oldest and the newest are taken out of the manifest.
  static void MakeGap(DBImpl* db) {
    DbLock lock(db->control_.get());
    VersionEdit edit;
    std::map<uint64_t, uint64_t> by_age;
    for (const auto& [id, chunk] : db->tree_->versions->manifest().kept.by_id) by_age[chunk.first_sequence] = id;
    for (const auto& [first, id] : by_age) {
      if (first != by_age.begin()->first && first != by_age.rbegin()->first) edit.removed_kept.push_back(id);
    }
    EXPECT_FALSE(edit.removed_kept.empty());
    EXPECT_OK(db->tree_->Apply(std::move(edit), {}));
  }
};

namespace test {
namespace {

// While something is made durable, somebody else lets go of log.
std::atomic<DBImpl*> armed{nullptr};
std::atomic<int> calls_until{0};
std::thread other;
bool let_go = false;

}  // namespace

// The system's own, by which an edit of the persist mode file is made durable.
extern "C" int msync(void* address, size_t size, int flags) {
  if (armed != nullptr && calls_until-- == 0) {
    DBImpl* const db = armed.exchange(nullptr);
    other = std::thread([db] { let_go = DBPeer::LetGo(db); });
    usleep(100000);  // it has come as far as it can meanwhile
  }
  return static_cast<int>(syscall(SYS_msync, address, size, flags));
}

namespace {

// One of the calls is that of the flush's edit, which takes out what the other looks at.
TEST(KeptLogTest, AnEditThatIsUnderWayIsWaitedFor) {
  bool called = true;
  int rounds = 0;
  for (; called; rounds++) {
    SCOPED_TRACE(rounds);
    DBImpl::Hooks hooks;
    hooks.background = BackgroundMode::kBySteps;
    TestDir dir;
    Options options = SmallOptions();
    options.persist_mode = kPersistFile;
    options.keep_log_bytes = 32 * 1024;  // of two chunks that are written to below, one
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options, dir / "db", hooks, &db));
    ASSERT_OK(db->Put(WriteOptions(), "a", std::string(20000, 'a')));
    ASSERT_OK(db->Flush());
    ASSERT_OK(db->Put(WriteOptions(), "b", std::string(20000, 'b')));
    calls_until = rounds;
    armed = db.get();
    EXPECT_OK(db->Flush());
    armed = nullptr;
    called = other.joinable();
    if (called) {
      other.join();
      EXPECT_TRUE(let_go);
    }
    EXPECT_OK(db->Put(WriteOptions(), "c", "c"));
  }
  EXPECT_GT(rounds, 2);
}

// A manifest that somebody else wrote may name such chunks. Nothing is read from one that is not there.
TEST(KeptLogTest, AWriteInAGapIsNotFound) {
  TestDir dir;
  Options options = SmallOptions();
  options.keep_log_bytes = 1 << 20;
  DBImpl::Hooks hooks;
  hooks.background = BackgroundMode::kBySteps;
  std::unique_ptr<DBImpl> db;
  ASSERT_OK(DBImpl::Open(options, dir / "db", hooks, &db));
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_OK(db->Put(WriteOptions(), key, std::string(20000, 'v')));
    ASSERT_OK(db->Flush());
  }
  std::unique_ptr<UpdateIterator> updates;
  ASSERT_OK(db->GetUpdatesSince(2, &updates));
  DBPeer::MakeGap(db.get());
  const Status s = db->GetUpdatesSince(2, &updates);
  EXPECT_TRUE(s.IsNotFound()) << s.ToString();
  EXPECT_OK(db->GetUpdatesSince(3, &updates));
}

}  // namespace
}  // namespace test
}  // namespace miodb
