// Readers in miodb/c.h.

#include <string>
#include <utility>

#include "miodb/c.h"
#include "tests/compat/c_api_fixture.h"

namespace {

class ReadersCTest : public CApiTest {
 protected:
  leveldb_t* OpenReader(const std::string& path) { return miodb_open_reader(options_, path.c_str(), &error_); }
};

TEST_F(ReadersCTest, AReaderFollows) {
  Open();
  Put("a", "1");
  leveldb_t* reader = OpenReader(name_);
  ExpectNoError();
  ASSERT_NE(nullptr, reader);
  Put("a", "2");
  miodb_refresh(reader, &error_);
  ExpectNoError();
  miodb_refresh(db_, &error_);
  ExpectNoError();
  std::swap(db_, reader);
  EXPECT_EQ("2", Get("a"));
  leveldb_put(db_, write_, "a", 1, "3", 1, &error_);
  EXPECT_NE(std::string::npos, TakeError().find("OpenReader"));
  std::swap(db_, reader);
  leveldb_close(reader);
}

TEST_F(ReadersCTest, SaysWhatIsWrong) {
  EXPECT_EQ(nullptr, OpenReader(name_ + "/nothing"));
  EXPECT_NE(std::string::npos, TakeError().find("holds no database"));
}

}  // namespace
