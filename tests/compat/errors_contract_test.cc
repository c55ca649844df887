// Errors that LevelDB programs look at: by their kind, and by words in their text.

#include <leveldb/comparator.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/compat/leveldb_fixture.h"

namespace {

using leveldb::Slice;
using leveldb::Status;

class ErrorsContract : public LevelDBTest {
 protected:
  // Tests open by themselves.
  void SetUp() override {}

  Status OpenAnother(const std::string& name) {
    leveldb::DB* db = nullptr;
    const Status s = leveldb::DB::Open(options_, name, &db);
    EXPECT_EQ(s.ok(), db != nullptr);
    delete db;
    return s;
  }
};

bool Begins(const Status& s, const std::string& text) { return Slice(s.ToString()).starts_with(text); }

class BackwardOrder : public leveldb::Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  const char* Name() const override { return "test.Backward"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST_F(ErrorsContract, AnotherComparatorIsAnInvalidArgumentThatNamesBoth) {
  Reopen();
  Close();
  const BackwardOrder backward;
  options_.comparator = &backward;
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_TRUE(Begins(s,
                     "Invalid argument: leveldb.BytewiseComparator does not match existing comparator : "
                     "test.Backward"))
      << s.ToString();
}

TEST_F(ErrorsContract, MissingAndExistingDatabasesAreInvalidArguments) {
  options_.create_if_missing = false;
  EXPECT_EQ("Invalid argument: " + name_ + ": does not exist (create_if_missing is false)", TryOpen().ToString());
  options_.create_if_missing = true;
  options_.error_if_exists = true;
  Reopen();
  EXPECT_EQ("Invalid argument: " + name_ + ": exists (error_if_exists is true)", TryOpen().ToString());
}

TEST_F(ErrorsContract, ALockThatThisProcessHasIsAnIOErrorThatSaysSo) {
  Reopen();
  const std::string text = "IO error: lock " + name_ + "/LOCK: already held by process";
  EXPECT_EQ(text, OpenAnother(name_).ToString());
  EXPECT_EQ(text, leveldb::DestroyDB(name_, options_).ToString());
  EXPECT_TRUE(OpenAnother(name_).IsIOError());
}

TEST_F(ErrorsContract, ALockThatAnotherProcessHasIsAnIOErrorWithTheSystemsWords) {
  int opened[2], tried[2];
  ASSERT_EQ(0, pipe(opened));
  ASSERT_EQ(0, pipe(tried));
  const pid_t child = fork();  // before there is anything that it would have, too
  ASSERT_NE(-1, child);
  if (child == 0) {
    char byte;
    if (read(opened[0], &byte, 1) != 1) _exit(1);
    const std::string text = OpenAnother(name_).ToString();
    _exit(write(tried[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  Reopen();
  ASSERT_EQ(1, write(opened[1], "x", 1));
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  char text[1000];
  const ssize_t length = read(tried[0], text, sizeof(text));
  ASSERT_GT(length, 0);
  const Slice message(text, static_cast<size_t>(length));
  EXPECT_TRUE(message.starts_with("IO error: lock " + name_ + "/LOCK: Resource temporarily unavailable"))
      << message.ToString();
  for (const int fd : {opened[0], opened[1], tried[0], tried[1]}) close(fd);
}

TEST_F(ErrorsContract, AFolderWithoutTheOneAboveItIsNotFound) {
  const Status s = OpenAnother(name_ + "/no/such");
  EXPECT_TRUE(s.IsNotFound()) << s.ToString();
  EXPECT_TRUE(Begins(s, "NotFound: " + name_ + "/no/such/LOCK: No such file or directory")) << s.ToString();
}

// Root may write everywhere, so the child is somebody else.
TEST_F(ErrorsContract, AFolderThatMayNotBeWrittenToIsAnIOErrorWhetherItMayBeMadeOrNot) {
  ASSERT_EQ(0, mkdir(name_.c_str(), 0555));
  for (const bool create : {false, true}) {
    options_.create_if_missing = create;
    const pid_t child = fork();
    if (child == 0) {
      if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
      _exit(TryOpen().IsIOError() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(0, WEXITSTATUS(status)) << "create_if_missing " << create;
  }
}

TEST_F(ErrorsContract, AFileInThePlaceOfTheFolderIsAnIOError) {
  ASSERT_OK(leveldb::WriteStringToFile(leveldb::Env::Default(), "text", name_));
  const Status s = TryOpen();
  EXPECT_EQ("IO error: " + name_ + "/LOCK: Not a directory", s.ToString());
}

TEST_F(ErrorsContract, ARepairMakesAnEmptyDatabaseOfAnEmptyFolder) {
  ASSERT_OK(leveldb::Env::Default()->CreateDir(name_));
  ASSERT_OK(leveldb::RepairDB(name_, options_));
  options_.create_if_missing = false;
  Reopen();
  const std::unique_ptr<leveldb::Iterator> iterator = NewIterator();
  iterator->SeekToFirst();
  EXPECT_EQ("", Forward(iterator.get()));
  Put("a", "1");
  EXPECT_EQ("1", Get("a"));
}

TEST_F(ErrorsContract, AMissingKeyHasAnEmptyMessage) {
  Reopen();
  std::string value;
  EXPECT_EQ("NotFound: ", db_->Get(leveldb::ReadOptions(), "missing", &value).ToString());
}

}  // namespace
