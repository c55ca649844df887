// Column families by the tool miodb: no verb leaves out what lies in another family than the default one without a
// word. The database has the default family with the record a=1, the family "f" with x=2 and y=3, and "none", which is
// empty.

#include <gtest/gtest.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "miodb/db.h"
#include "miodb/write_batch.h"
#include "tests/common/program.h"
#include "tests/common/status_asserts.h"
#include "tools/miodb/stores/families.h"
#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/command.h"

namespace miodb::test {
namespace {

class MiodbFamiliesTest : public ProgramTestBase {
 protected:
  MiodbFamiliesTest() : ProgramTestBase("miodb_families_test"), miodb_(BinaryDir() + "/miodb ") {}

  std::unique_ptr<DB> Open(const std::string& name) {
    Options options;
    options.create_if_missing = true;
    DB* opened = nullptr;
    EXPECT_OK(DB::Open(options, Inside(name), &opened));
    return std::unique_ptr<DB>(opened);
  }

  void Make(const std::string& name) {
    const std::unique_ptr<DB> db = Open(name);
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
    ASSERT_OK(db->CreateColumnFamily("none", &family));
    ASSERT_OK(db->CreateColumnFamily("f", &family));
    ASSERT_OK(db->Put(WriteOptions(), family, "x", "2"));
    ASSERT_OK(db->Put(WriteOptions(), family, "y", "3"));
  }

  // Words in capitals are names in the folder.
  int RunVerb(std::string words) {
    for (const std::string name : {"DB", "COPY", "KEPT", "BACK", "LINES", "NEW", "HERE"}) {
      const size_t at = words.find(name);
      if (at != std::string::npos) words.replace(at, name.size(), name == "HERE" ? folder_ : Inside(name));
    }
    return Run(miodb_ + words);
  }

  std::string ScanOf(const std::string& name) {
    EXPECT_EQ(0, RunVerb("scan " + name)) << err_;
    return out_;
  }

  const std::string miodb_;
};

constexpr char kAll[] = "a\t1\nf\tx\t2\nf\ty\t3\n";

struct Line {
  const char* words;
  int code;
  const char* shows;  // all of standard output; null: not looked at
  const char* says;   // on standard error
};

constexpr Line kLines[] = {
    {"get DB a", 0, "1\n", ""},
    {"get DB x", 1, "", "looks at another one: f, none"},
    {"get DB x --column_family=f", 0, "2\n", ""},
    {"get DB x --column_family=f --reader", 0, "2\n", ""},
    {"get DB a --column_family=default", 0, "1\n", ""},
    {"get DB x --column_family=wrong", 2, "", "no column family 'wrong': there are default, f, none"},
    {"put DB z 4 --column_family=f", 0, "", ""},
    {"get DB z --column_family=f", 0, "4\n", ""},
    {"put DB z 4 --column_family=new", 2, "", "no column family 'new'"},
    {"put --create DB z 4 --column_family=new", 0, "", ""},
    {"get DB z --column_family=new", 0, "4\n", ""},
    {"delete DB z --column_family=f", 0, "", ""},
    {"delete DB a", 0, "", ""},
    {"get DB z --column_family=f", 1, "", "no key 'z'"},
    {"put DB a 1", 0, "", ""},
    {"merge DB m 5 --column_family=f --merge_operator=stringappend", 0, "", ""},
    {"get DB m --column_family=f --merge_operator=stringappend", 0, "5\n", ""},
    {"delete DB m --column_family=f --merge_operator=stringappend", 0, "", ""},
    {"delete DB z --column_family=new", 0, "", ""},
    {"scan DB", 0, kAll, ""},
    {"scan DB --reader", 0, kAll, ""},
    {"scan DB --reverse --keys_only", 0, "f\ty\nf\tx\na\n", ""},
    {"scan DB --limit=2", 0, "a\t1\nf\tx\t2\n", ""},
    {"scan DB --from=b --to=y", 0, "f\tx\t2\n", ""},
    {"scan DB --column_family=f", 0, "x\t2\ny\t3\n", ""},
    {"scan DB --column_family=default --json", 0, "{\"key\": \"a\", \"value\": \"1\"}\n", ""},
    {"scan DB --prefix=x --json", 0, "{\"column_family\": \"f\", \"key\": \"x\", \"value\": \"2\"}\n", ""},
    {"count DB", 0, "3\n", ""},
    {"count DB --column_family=f", 0, "2\n", ""},
    {"count DB --column_family=wrong", 2, "", "no column family 'wrong'"},
    {"stats DB", 0, nullptr, ""},
    {"properties DB miodb.estimate-num-keys --column_family=none", 0, "0\n", ""},
    {"flush DB", 0, "", ""},
    {"compact DB --column_family=f", 0, "", ""},
    {"compact DB --from=a", 0, "", ""},
    {"compact DB --column_family=wrong", 2, "", "no column family 'wrong'"},
    {"savepoint DB create s", 0, "", ""},
    {"put DB later 4 --column_family=f", 0, "", ""},
    {"scan DB --savepoint=s", 0, kAll, ""},
    {"count DB --savepoint=s --column_family=f", 0, "2\n", ""},
    {"delete DB later --column_family=f", 0, "", ""},
    {"savepoint DB drop s", 0, "", ""},
    {"checkpoint DB COPY", 0, "", ""},
    {"scan COPY", 0, kAll, ""},
    {"put DB later 4 --column_family=f", 0, "", ""},
    {"follow DB COPY --once", 0, nullptr, ""},
    {"get COPY later --column_family=f", 0, "4\n", ""},
    {"delete DB later --column_family=f", 0, "", ""},
    {"backup DB KEPT", 0, nullptr, ""},
    {"backups KEPT verify", 0, "", ""},
    {"restore KEPT BACK", 0, "", ""},
    {"scan BACK", 0, kAll, ""},
    {"export DB", 0,
     "{\"key\": \"a\", \"value\": \"1\"}\n{\"column_family\": \"f\"}\n"
     "{\"column_family\": \"f\", \"key\": \"x\", \"value\": \"2\"}\n"
     "{\"column_family\": \"f\", \"key\": \"y\", \"value\": \"3\"}\n{\"column_family\": \"new\"}\n"
     "{\"column_family\": \"none\"}\n",
     ""},
    {"export DB --column_family=f --to=y", 0, "{\"key\": \"x\", \"value\": \"2\"}\n", ""},
    {"export DB --format=leveldb", 2, "", "has the column families default, f, new, none, and LevelDB has none"},
    {"import NEW LINES --column_family=wrong", 2, "", "no line has the column family \"wrong\""},
    {"import NEW LINES", 0, nullptr, ""},
    {"scan NEW", 0, kAll, ""},
    {"get NEW q --column_family=none", 1, "", "no key 'q'"},
    {"check DB", 0, nullptr, ""},
    {"dump DB --manifest", 0, nullptr, ""},
    {"move DB", 0, "", ""},
    {"repair DB", 0, nullptr, ""},
    {"scan DB", 0, kAll, ""},
    {"bench HERE --num=10", 0, nullptr, ""},
};

TEST_F(MiodbFamiliesTest, EveryVerbReachesAllFamiliesOrNamesTheOthers) {
  Make("DB");
  std::ofstream(Inside("LINES")) << "{\"column_family\": \"none\"}\n"
                                 << "{\"column_family\": \"f\", \"key\": \"y\", \"value\": \"3\"}\n"
                                 << "{\"column_family\": \"f\", \"key\": \"x\", \"value\": \"2\"}\n"
                                 << "{\"column_family\": \"default\", \"key\": \"a\", \"value\": \"1\"}\n";
  std::set<std::string> verbs = {"shell"};  // below
  for (const Line& line : kLines) {
    const std::string words = line.words;
    verbs.insert(words.substr(0, words.find(' ')));
    EXPECT_EQ(line.code, RunVerb(words)) << words << "\n" << err_;
    if (line.shows != nullptr) {
      EXPECT_EQ(line.shows, out_) << words;
    }
    EXPECT_NE(std::string::npos, err_.find(line.says)) << words << "\n" << err_;
  }
  for (const tool::Verb& verb : tool::Verbs()) EXPECT_EQ(1u, verbs.count(verb.name)) << verb.name;
}

TEST_F(MiodbFamiliesTest, TheShellKnowsThemToo) {
  Make("DB");
  std::ofstream(Inside("commands")) << "scan\nput --create z 4 --column_family=g\nget z --column_family=g\ncount\n";
  const ProgramResult shell = RunProgram(miodb_ + "shell " + Inside("DB") + " <" + Inside("commands"));
  EXPECT_EQ(0, shell.code);
  EXPECT_EQ(std::string(kAll) + "4\n4\n", shell.text);
}

TEST_F(MiodbFamiliesTest, PropertiesOfADatabaseListItsFamilies) {
  Make("DB");
  ASSERT_EQ(0, RunVerb("properties DB"));
  EXPECT_NE(std::string::npos, out_.find("\nmiodb.column-families:\n")) << out_;
  ASSERT_EQ(0, RunVerb("properties DB --column_family=f"));
  EXPECT_EQ(0u, out_.find("miodb.estimate-num-keys: 2\nmiodb.approximate-bytes: ")) << out_;
}

// Also names and keys that are not text, and a family without records.
TEST_F(MiodbFamiliesTest, WhatIsExportedAndImportedHasTheSameHash) {
  Make("DB");
  const std::string name("odd \xff\t\0name", 11);
  {
    const std::unique_ptr<DB> db = Open("DB");
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db->CreateColumnFamily(name, &family));
    ASSERT_OK(db->Put(WriteOptions(), family, Slice("\0\xfe", 2), "v"));
  }
  ASSERT_EQ(0, RunVerb("count --hash DB"));
  const std::string hash = out_;
  EXPECT_EQ(0u, hash.find("families     4\nrecords      4\n")) << hash;
  for (const std::string options : {"", " --hex"}) {
    ASSERT_EQ(0, RunVerb("export DB" + options + " --output=LINES")) << err_;
    ASSERT_EQ(0, RunVerb("import NEW LINES")) << err_;
    EXPECT_EQ(hash, out_) << "what was read";
    ASSERT_EQ(0, RunVerb("count --hash NEW"));
    EXPECT_EQ(hash, out_);
    ASSERT_EQ(0, RunVerb("get NEW --hex 00fe --column_family='odd \\xff\\t\\x00name'")) << err_;
    EXPECT_EQ("76\n", out_);
    std::filesystem::remove_all(Inside("NEW"));
    std::filesystem::remove(Inside("LINES"));
  }
}

TEST_F(MiodbFamiliesTest, TheHashIsOneOfTheRecordsOfAllFamiliesAndOfTheirNames) {
  std::set<std::string> hashes;
  const auto add = [&](const std::string& words) {
    EXPECT_EQ(0, RunVerb("count --hash " + words)) << err_;
    EXPECT_TRUE(hashes.insert(out_.substr(out_.find("hash"))).second) << words << "\n" << out_;
  };
  Make("DB");
  add("DB");
  for (const std::string change :
       {"put DB x other --column_family=f", "put --create DB x 2 --column_family=g", "put DB x 2",
        "delete DB x --column_family=g", "delete DB y --column_family=f", "delete DB x --column_family=f"}) {
    ASSERT_EQ(0, RunVerb(change)) << err_;
    add("DB");
  }
  // A family that stands alone has the hash of a database with its records.
  ASSERT_EQ(0, RunVerb("put --create NEW k v"));
  ASSERT_EQ(0, RunVerb("count --hash NEW"));
  const std::string alone = out_;
  ASSERT_EQ(0, RunVerb("put DB k v --column_family=g"));
  ASSERT_EQ(0, RunVerb("count --hash DB --column_family=g"));
  EXPECT_EQ(alone, out_);
}

// Stands for a reader beside a process that writes: for each of the first iterators something was written just before.
class Moving : public DB {
 public:
  Moving(DB* db, int writes) : db_(db), writes_(writes) {}

  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) override {
    if (writes_-- > 0) {
      WriteBatch batch;
      std::vector<ColumnFamilyHandle*> families;
      EXPECT_OK(tool::AllFamilies(db_, &families));
      for (ColumnFamilyHandle* const each : families) batch.Put(each, "moment", std::to_string(writes_));
      EXPECT_OK(db_->Write(WriteOptions(), &batch));
    }
    return db_->NewIterator(options, family);
  }
  uint64_t GetLatestSequenceNumber() const override { return db_->GetLatestSequenceNumber(); }
  Status ListColumnFamilies(std::vector<std::string>* names) override { return db_->ListColumnFamilies(names); }
  Status GetColumnFamily(const std::string& name, ColumnFamilyHandle** family) override {
    return db_->GetColumnFamily(name, family);
  }

  // A walk calls none of the following.
  Status Put(const WriteOptions&, const Slice&, const Slice&) override { return Unused(); }
  Status Delete(const WriteOptions&, const Slice&) override { return Unused(); }
  Status Write(const WriteOptions&, WriteBatch*) override { return Unused(); }
  Status Get(const ReadOptions&, const Slice&, std::string*) override { return Unused(); }
  Iterator* NewIterator(const ReadOptions&) override { return nullptr; }
  const Snapshot* GetSnapshot() override { return nullptr; }
  void ReleaseSnapshot(const Snapshot*) override {}
  bool GetProperty(const Slice&, std::string*) override { return false; }
  void GetApproximateSizes(const Range*, int, uint64_t*) override {}
  void CompactRange(const Slice*, const Slice*) override {}

 private:
  static Status Unused() { return Status::NotSupported("not called"); }

  DB* const db_;
  int writes_;
};

TEST_F(MiodbFamiliesTest, AWalkSeesAllFamiliesAsOfOneMoment) {
  Make("DB");
  const std::unique_ptr<DB> db = Open("DB");
  for (int writes = 0; writes < 20; writes++) {
    Moving moving(db.get(), writes);
    tool::FamilyChoice all(tool::FamilyScope::kAll);
    tool::RecordWalk walk;
    ASSERT_OK(walk.Open(&moving, tool::KeyRange(), ReadOptions(), &all));
    std::set<std::string> moments;
    ASSERT_OK(walk.Go(
        tool::RecordWalk::Direction::kForward, [](const std::string&) {},
        [&](const Slice& key, const Slice& value) {
          if (key == Slice("moment")) moments.insert(value.ToString());
          return true;
        }));
    EXPECT_EQ(writes == 0 ? 0u : 1u, moments.size()) << writes;
  }
  Moving never_still(db.get(), INT_MAX);
  tool::FamilyChoice all(tool::FamilyScope::kAll);
  tool::RecordWalk walk;
  const Status s = walk.Open(&never_still, tool::KeyRange(), ReadOptions(), &all);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find("--savepoint")) << s.ToString();
}

}  // namespace
}  // namespace miodb::test
