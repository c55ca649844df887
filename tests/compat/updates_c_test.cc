// The update stream in miodb/c.h.

#include <string>

#include "miodb/c.h"
#include "tests/compat/c_api_fixture.h"

namespace {

class UpdatesCTest : public CApiTest {
 protected:
  miodb_updates_t* Since(uint64_t sequence) { return miodb_get_updates_since(db_, sequence, &error_); }
};

TEST_F(UpdatesCTest, GivesWhatWasWritten) {
  Open();
  Put("a", "1");
  Put("b", "2");
  miodb_updates_t* const updates = Since(1);
  ExpectNoError();
  std::string keys;
  for (uint64_t wanted = 1; miodb_updates_valid(updates); miodb_updates_next(updates), wanted++) {
    EXPECT_EQ(wanted, miodb_updates_sequence(updates));
    EXPECT_EQ(wanted, miodb_updates_last_sequence(updates));
    EXPECT_EQ(0u, miodb_updates_dropped_family(updates));
    leveldb_writebatch_t* const batch = miodb_updates_batch(updates, &error_);
    ExpectNoError();
    leveldb_writebatch_iterate(
        batch, &keys,
        [](void* state, const char* key, size_t keylen, const char*, size_t) {
          static_cast<std::string*>(state)->append(key, keylen);
        },
        [](void*, const char*, size_t) {});
    leveldb_writebatch_destroy(batch);
  }
  miodb_updates_get_error(updates, &error_);
  ExpectNoError();
  EXPECT_EQ("ab", keys);
  Put("c", "3");
  miodb_updates_next(updates);
  EXPECT_TRUE(miodb_updates_valid(updates));
  EXPECT_EQ(miodb_latest_sequence(db_), miodb_updates_sequence(updates));
  miodb_updates_destroy(updates);
}

TEST_F(UpdatesCTest, SaysWhatItHasNoMore) {
  Open();
  Put("a", "1");
  miodb_flush(db_, &error_);
  ExpectNoError();
  EXPECT_EQ(nullptr, Since(1));
  EXPECT_NE(std::string::npos, TakeError().find("the oldest there is 2"));
  EXPECT_EQ(nullptr, Since(3));
  EXPECT_NE(std::string::npos, TakeError().find("the last is 1"));
}

// The database follows another one of which it knows nothing: itself, to need one alone.
TEST_F(UpdatesCTest, FollowsItsSourceAlone) {
  Open();
  char* const identity = leveldb_property_value(db_, "miodb.identity");
  ASSERT_NE(nullptr, identity);
  const std::string other(32, '0');
  miodb_follow_source(db_, other.c_str(), &error_);
  ExpectNoError();
  Put("a", "1");
  miodb_follow_source(db_, other.c_str(), &error_);
  ExpectNoError();
  miodb_follow_source(db_, std::string(32, '1').c_str(), &error_);
  EXPECT_NE(std::string::npos, TakeError().find("is a copy of " + other + " and not of"));
  miodb_follow_source(db_, identity, &error_);
  EXPECT_NE(std::string::npos, TakeError().find("has the identity of its source"));
  leveldb_free(identity);
}

}  // namespace
