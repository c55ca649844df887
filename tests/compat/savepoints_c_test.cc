// Savepoints in miodb/c.h.

#include <string>
#include <utility>

#include "miodb/c.h"
#include "tests/compat/c_api_fixture.h"

namespace {

class SavepointsCTest : public CApiTest {
 protected:
  void Create(const std::string& name) { miodb_create_savepoint(db_, name.data(), name.size(), &error_); }
  void Drop(const std::string& name) { miodb_drop_savepoint(db_, name.data(), name.size(), &error_); }
  leveldb_t* OpenView(const std::string& name) { return miodb_open_savepoint(db_, name.data(), name.size(), &error_); }
  std::string NameOf(const miodb_savepoints_t* list, size_t i) {
    size_t size = 0;
    const char* const name = miodb_savepoints_name(list, i, &size);
    return std::string(name, size);
  }
};

TEST_F(SavepointsCTest, AViewShowsWhatWasThere) {
  Open();
  Put("a", "1");
  Create(std::string("s\0x", 3));
  ExpectNoError();
  Put("a", "2");
  leveldb_t* view = OpenView(std::string("s\0x", 3));
  ExpectNoError();
  ASSERT_NE(nullptr, view);
  std::swap(db_, view);
  EXPECT_EQ("1", Get("a"));
  leveldb_put(db_, write_, "a", 1, "3", 1, &error_);
  EXPECT_NE("", TakeError());
  std::swap(db_, view);
  EXPECT_EQ("2", Get("a"));
  Drop(std::string("s\0x", 3));
  ExpectNoError();
  leveldb_close(view);
}

TEST_F(SavepointsCTest, ListsThemAndSaysWhatIsWrong) {
  Open();
  miodb_savepoints_t* list = miodb_list_savepoints(db_, &error_);
  ExpectNoError();
  EXPECT_EQ(0u, miodb_savepoints_count(list));
  miodb_savepoints_destroy(list);
  Put("a", "1");
  Create("one");
  Put("b", "2");
  Create(std::string("t\0", 2));
  list = miodb_list_savepoints(db_, &error_);
  ExpectNoError();
  ASSERT_EQ(2u, miodb_savepoints_count(list));
  EXPECT_EQ("one", NameOf(list, 0));
  EXPECT_EQ(std::string("t\0", 2), NameOf(list, 1));
  EXPECT_EQ(1u, miodb_savepoints_sequence(list, 0));
  EXPECT_EQ(2u, miodb_savepoints_sequence(list, 1));
  EXPECT_GE(miodb_savepoints_micros(list, 1), miodb_savepoints_micros(list, 0));
  EXPECT_LT(miodb_savepoints_held_bytes(list, 0), 1u << 20);
  Create("one");
  EXPECT_NE(std::string::npos, TakeError().find("exists"));
  Drop("two");
  EXPECT_NE(std::string::npos, TakeError().find("two"));
  EXPECT_EQ(nullptr, OpenView("two"));
  EXPECT_NE(std::string::npos, TakeError().find("two"));
  Drop("one");
  ExpectNoError();
  EXPECT_EQ("one", NameOf(list, 0)) << "the list stays as it was";
  miodb_savepoints_destroy(list);
}

}  // namespace
