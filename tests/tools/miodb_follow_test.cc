// "miodb follow" beside a process that writes: this one.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "miodb/db.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/program.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/common/terminal.h"

namespace miodb::test {
namespace {

class MiodbFollowTest : public ProgramTestBase {
 protected:
  MiodbFollowTest() : ProgramTestBase("miodb_follow_test"), miodb_(BinaryDir() + "/miodb ") {
    options_.create_if_missing = true;
    options_.write_buffer_size = 256 << 10;
    options_.keep_log_bytes = 64 << 20;
  }

  void Open(const std::string& name, std::unique_ptr<DB>* db) {
    DB* opened = nullptr;
    ASSERT_OK(DB::Open(options_, Inside(name), &opened));
    db->reset(opened);
  }

  std::string FollowOnce() const { return miodb_ + "follow --once " + Inside("db") + " " + Inside("copy"); }

  // All families with all that they have.
  std::string Content(DB* db) {
    std::string text = "up to " + std::to_string(db->GetLatestSequenceNumber());
    std::vector<std::string> names;
    EXPECT_OK(db->ListColumnFamilies(&names));
    for (const std::string& name : names) {
      ColumnFamilyHandle* family = nullptr;
      EXPECT_OK(db->GetColumnFamily(name, &family));
      text += "\n" + name + " " + std::to_string(family->GetID());
      const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions(), family));
      for (it->SeekToFirst(); it->Valid(); it->Next())
        text += " " + it->key().ToString() + "=" + it->value().ToString();
      EXPECT_OK(it->status());
    }
    return text;
  }
  std::string ContentOfCopy() {
    std::unique_ptr<DB> copy;
    Open("copy", &copy);
    return copy != nullptr ? Content(copy.get()) : "";
  }

  // Some writes of every kind, to families that come and go.
  void Write(DB* db, Random* random, int writes) {
    for (int i = 0; i < writes; i++) {
      const std::string name = "f" + std::to_string(random->Uniform(3));
      ColumnFamilyHandle* family = nullptr;
      if (random->OneIn(3)) {
        if (db->GetColumnFamily(name, &family).IsNotFound()) ASSERT_OK(db->CreateColumnFamily(name, &family));
        if (random->OneIn(10)) {
          ASSERT_OK(db->DropColumnFamily(family));
          continue;
        }
      }
      WriteBatch batch;
      for (uint64_t n = random->Uniform(5) + 1; n > 0; n--) {
        const std::string key = std::to_string(random->Uniform(200));
        if (random->OneIn(4)) {
          batch.Delete(family, key);
        } else {
          batch.Put(family, key, std::to_string(random->Next()));
        }
      }
      ASSERT_OK(db->Write(WriteOptions(), &batch));
    }
  }

  const std::string miodb_;
  Options options_;
};

TEST_F(MiodbFollowTest, ACopyEndsWithTheSame) {
  Random random(1);
  std::unique_ptr<DB> db;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  for (int round = 0; round < 5; round++) {
    ASSERT_NO_FATAL_FAILURE(Write(db.get(), &random, 500));
    if (round % 2 == 1) ASSERT_OK(db->Flush());
    ASSERT_EQ(0, Run(FollowOnce() + " --create")) << err_;
    EXPECT_EQ(Content(db.get()), ContentOfCopy()) << round;
  }
}

// The follower runs all the time, and is killed now and then.
TEST_F(MiodbFollowTest, AKilledFollowerIsTakenUp) {
  Random random(2);
  std::unique_ptr<DB> db;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  ASSERT_OK(db->CreateCheckpoint(Inside("copy")));
  for (int round = 0; round < static_cast<int>(ByScale(5, 20, 100)); round++) {
    Terminal terminal("exec " + miodb_ + "follow --progress --interval_ms=1 " + Inside("db") + " " + Inside("copy"));
    for (int i = 0; i < 20; i++) ASSERT_NO_FATAL_FAILURE(Write(db.get(), &random, 50));
    usleep(static_cast<useconds_t>(random.Uniform(200000)));
    terminal.Kill(round % 2 == 0 ? SIGKILL : SIGINT);
    const int code = terminal.Wait();
    EXPECT_TRUE(code == 130 || code == 1000 + SIGINT || code == 1000 + SIGKILL) << code << terminal.text();
  }
  ASSERT_EQ(0, Run(FollowOnce())) << err_;
  EXPECT_EQ(Content(db.get()), ContentOfCopy());
}

TEST_F(MiodbFollowTest, WhatTheLogHasNoMoreIsSaid) {
  options_.keep_log_bytes = 0;
  std::unique_ptr<DB> db;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  ASSERT_OK(db->CreateCheckpoint(Inside("copy")));
  ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(db->Flush());
  ASSERT_OK(db->WaitForIdle());
  EXPECT_EQ(2, Run(FollowOnce()));
  EXPECT_NE(std::string::npos, err_.find("keep_log_bytes")) << err_;
}

TEST_F(MiodbFollowTest, ACopyThatWasWrittenToIsRefused) {
  std::unique_ptr<DB> db, copy;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  ASSERT_OK(db->CreateCheckpoint(Inside("copy")));
  ASSERT_NO_FATAL_FAILURE(Open("copy", &copy));
  ASSERT_OK(copy->Put(WriteOptions(), "mine", "1"));
  copy.reset();
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Put("b", "2");
  ASSERT_OK(db->Write(WriteOptions(), &batch));
  EXPECT_EQ(2, Run(FollowOnce()));
  EXPECT_NE(std::string::npos, err_.find("make it anew")) << err_;
}

// Their numbers fit, and nothing but the identity says that they are not one database.
TEST_F(MiodbFollowTest, AnotherSourceIsRefused) {
  std::unique_ptr<DB> db, copy;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  for (const char* key : {"a", "b", "c"}) ASSERT_OK(db->Put(WriteOptions(), key, "1"));
  ASSERT_NO_FATAL_FAILURE(Open("copy", &copy));
  ASSERT_OK(copy->Put(WriteOptions(), "x", "other"));
  copy.reset();
  for (const char* more : {"", " --create"}) {
    EXPECT_EQ(2, Run(FollowOnce() + more));
    EXPECT_NE(std::string::npos, err_.find("make it anew")) << err_;
  }
  EXPECT_EQ("up to 1\ndefault 0 x=other", ContentOfCopy());
}

TEST_F(MiodbFollowTest, ARepairedSourceIsRefused) {
  std::unique_ptr<DB> db;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
  ASSERT_EQ(0, Run(FollowOnce() + " --create")) << err_;
  db.reset();
  ASSERT_EQ(0, Run(miodb_ + "repair " + Inside("db"))) << err_;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "b", "2"));
  EXPECT_EQ(2, Run(FollowOnce()));
  EXPECT_NE(std::string::npos, err_.find("make it anew")) << err_;
}

// The verbs flush what the program that keeps log has written, and write besides.
TEST_F(MiodbFollowTest, OtherVerbsLeaveTheKeptLogToFollowers) {
  std::unique_ptr<DB> db;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  ASSERT_OK(db->CreateCheckpoint(Inside("copy")));
  ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(db->Flush());
  ASSERT_OK(db->Put(WriteOptions(), "b", "2"));
  db.reset();
  std::ofstream(Inside("lines")) << "{\"key\": \"d\", \"value\": \"4\"}\n";
  for (const std::string& words : {"put " + Inside("db") + " c 3", "flush " + Inside("db"), "compact " + Inside("db"),
                                   "import --into " + Inside("db") + " " + Inside("lines")}) {
    ASSERT_EQ(0, Run(miodb_ + words)) << words << "\n" << err_;
  }
  ASSERT_EQ(0, Run(FollowOnce())) << err_;
  EXPECT_EQ("up to 4\ndefault 0 a=1 b=2 c=3 d=4", ContentOfCopy());
  // The command line decides.
  const std::string keeps_none = " --option=keep_log_bytes=0 " + Inside("db");
  ASSERT_EQ(0, Run(miodb_ + "put" + keeps_none + " e 5")) << err_;
  ASSERT_EQ(0, Run(miodb_ + "flush" + keeps_none)) << err_;
  EXPECT_EQ(2, Run(FollowOnce()));
  EXPECT_NE(std::string::npos, err_.find("keep_log_bytes")) << err_;
}

// The open of the verb brings log into tables already.
TEST_F(MiodbFollowTest, VerbsHaveADatabaseThatKeepsNoLogKeepNone) {
  std::ofstream(Inside("lines")) << "{\"key\": \"d\", \"value\": \"4\"}\n";
  for (const std::string& words : {"import --into " + Inside("db") + " " + Inside("lines"),
                                   "flush --option=write_buffer_size=65536 " + Inside("db")}) {
    options_.keep_log_bytes = 0;
    options_.write_buffer_size = 4 << 20;
    std::unique_ptr<DB> db;
    ASSERT_NO_FATAL_FAILURE(Open("db", &db));
    for (int i = 0; i < 1000; i++) {
      ASSERT_OK(db->Put(WriteOptions(), "key" + std::to_string(i), std::string(1000, 'v')));
    }
    db.reset();
    ASSERT_EQ(0, Run(miodb_ + words)) << words << "\n" << err_;
    options_.keep_log_bytes = UINT64_MAX;
    ASSERT_NO_FATAL_FAILURE(Open("db", &db));
    EXPECT_EQ(0u, NumberProperty(db.get(), "miodb.kept-log-bytes")) << words;
  }
}

// It is known before that the log of the source does not reach back to the beginning.
TEST_F(MiodbFollowTest, NoCopyIsMadeThatCannotFollow) {
  options_.keep_log_bytes = 0;
  std::unique_ptr<DB> db;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(db->Flush());
  EXPECT_EQ(2, Run(FollowOnce() + " --create"));
  EXPECT_NE(std::string::npos, err_.find("keep_log_bytes")) << err_;
  EXPECT_NE(0, access(Inside("copy").c_str(), F_OK));
}

// The families of both have the same id, and the source's updates name families by ids.
TEST_F(MiodbFollowTest, ACopyWithAnotherFamilyOfTheSameIdIsRefused) {
  std::unique_ptr<DB> db, copy;
  ColumnFamilyHandle* family = nullptr;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(db->CreateCheckpoint(Inside("copy")));
  ASSERT_NO_FATAL_FAILURE(Open("copy", &copy));
  ASSERT_OK(copy->CreateColumnFamily("mine", &family));
  const std::string before = Content(copy.get());
  copy.reset();
  ASSERT_EQ(0, Run(FollowOnce())) << "the source has no family yet\n" << err_;
  ASSERT_OK(db->CreateColumnFamily("orders", &family));
  ASSERT_OK(db->Put(WriteOptions(), family, "b", "2"));
  EXPECT_EQ(2, Run(FollowOnce()));
  EXPECT_NE(std::string::npos, err_.find("'mine' has the id of 'orders'")) << err_;
  EXPECT_NE(std::string::npos, err_.find("make it anew")) << err_;
  EXPECT_EQ(before, ContentOfCopy());
}

TEST_F(MiodbFollowTest, ACopyThatHasDroppedAFamilyIsRefused) {
  std::unique_ptr<DB> db, copy;
  ColumnFamilyHandle* family = nullptr;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  ASSERT_OK(db->CreateColumnFamily("orders", &family));
  ASSERT_OK(db->Put(WriteOptions(), family, "b", "2"));
  ASSERT_OK(db->CreateCheckpoint(Inside("copy")));
  ASSERT_OK(db->Put(WriteOptions(), family, "c", "3"));
  ASSERT_EQ(0, Run(FollowOnce())) << err_;
  EXPECT_EQ(Content(db.get()), ContentOfCopy());
  ASSERT_NO_FATAL_FAILURE(Open("copy", &copy));
  ASSERT_OK(copy->GetColumnFamily("orders", &family));
  ASSERT_OK(copy->DropColumnFamily(family));
  copy.reset();
  EXPECT_EQ(2, Run(FollowOnce()));
  EXPECT_NE(std::string::npos, err_.find("make it anew")) << err_;
}

TEST_F(MiodbFollowTest, AFamilyWithoutWritesIsMadeToo) {
  std::unique_ptr<DB> db;
  ColumnFamilyHandle* family = nullptr;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(db->CreateColumnFamily("empty", &family));
  ASSERT_EQ(0, Run(FollowOnce() + " --create")) << err_;
  EXPECT_EQ("up to 1\ndefault 0 a=1\nempty 1", ContentOfCopy());
  // The new family has the name of the old one, whose drop comes before.
  ASSERT_OK(db->DropColumnFamily(family));
  ASSERT_OK(db->CreateColumnFamily("empty", &family));
  ASSERT_OK(db->CreateColumnFamily("gone", &family));
  ASSERT_OK(db->DropColumnFamily(family));
  ASSERT_OK(db->CreateColumnFamily("last", &family));
  ASSERT_EQ(0, Run(FollowOnce())) << err_;
  EXPECT_EQ(Content(db.get()), ContentOfCopy());
  EXPECT_EQ(4u, family->GetID());
}

// The options of the copy give lifetimes to what is put by others.
TEST_F(MiodbFollowTest, ValuesOfTheCopyLiveAsLongAsThoseOfTheSource) {
  std::unique_ptr<DB> db, copy;
  ASSERT_NO_FATAL_FAILURE(Open("db", &db));
  WriteOptions day;
  day.lifetime_seconds = 86400;
  ASSERT_OK(db->Put(WriteOptions(), "ever", "1"));
  ASSERT_OK(db->Put(day, "day", "1"));
  ASSERT_EQ(0, Run(FollowOnce() + " --create --option=lifetime_seconds=3600")) << err_;
  ASSERT_NO_FATAL_FAILURE(Open("copy", &copy));
  for (const char* const key : {"ever", "day"}) {
    std::string value;
    uint64_t expected = 0, copied = 0;
    ASSERT_OK(db->GetWithExpiry(ReadOptions(), nullptr, key, &value, &expected));
    ASSERT_OK(copy->GetWithExpiry(ReadOptions(), nullptr, key, &value, &copied));
    EXPECT_EQ(expected, copied) << key;
    EXPECT_EQ(key == std::string("ever"), copied == UINT64_MAX) << key;
  }
}

}  // namespace
}  // namespace miodb::test
