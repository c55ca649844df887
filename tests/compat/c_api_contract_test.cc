#include "tests/compat/c_api_fixture.h"

namespace {

using CApiContract = CApiTest;

TEST_F(CApiContract, PutGetDeleteWork) {
  Open();
  Put("key", std::string("va\0lue", 6));
  EXPECT_EQ(std::string("va\0lue", 6), Get("key"));
  EXPECT_EQ("(none)", Get("other"));
  leveldb_delete(db_, write_, "key", 3, &error_);
  ExpectNoError();
  EXPECT_EQ("(none)", Get("key"));
  Put("", "");
  EXPECT_EQ("", Get(""));
}

TEST_F(CApiContract, ErrorsReplaceTheOldMessage) {
  leveldb_options_set_create_if_missing(options_, 0);
  error_ = static_cast<char*>(malloc(10));
  error_[0] = '\0';
  EXPECT_EQ(nullptr, leveldb_open(options_, name_.c_str(), &error_));
  EXPECT_EQ(0u, TakeError().find("Invalid argument: " + name_));
  leveldb_options_set_create_if_missing(options_, 1);
  Open();
  EXPECT_EQ(nullptr, leveldb_open(options_, name_.c_str(), &error_));
  EXPECT_EQ(0u, TakeError().find("IO error: "));
  leveldb_options_set_error_if_exists(options_, 1);
  Close();
  EXPECT_EQ(nullptr, leveldb_open(options_, name_.c_str(), &error_));
  EXPECT_EQ(0u, TakeError().find("Invalid argument: "));
}

TEST_F(CApiContract, SuccessLeavesTheOldMessage) {
  Open();
  error_ = static_cast<char*>(malloc(10));
  char* const before = error_;
  leveldb_put(db_, write_, "a", 1, "b", 1, &error_);
  EXPECT_EQ(before, error_);
  free(error_);
  error_ = nullptr;
}

void OnPut(void* text, const char* k, size_t klen, const char* v, size_t vlen) {
  *static_cast<std::string*>(text) += "put(" + std::string(k, klen) + "," + std::string(v, vlen) + ")";
}
void OnDelete(void* text, const char* k, size_t klen) {
  *static_cast<std::string*>(text) += "del(" + std::string(k, klen) + ")";
}

TEST_F(CApiContract, BatchesWork) {
  Open();
  leveldb_writebatch_t* const batch = leveldb_writebatch_create();
  leveldb_writebatch_put(batch, "never", 5, "x", 1);
  leveldb_writebatch_clear(batch);
  leveldb_writebatch_put(batch, "a", 1, "1", 1);
  leveldb_writebatch_put(batch, "b", 1, "2", 1);
  leveldb_writebatch_t* const more = leveldb_writebatch_create();
  leveldb_writebatch_delete(more, "a", 1);
  leveldb_writebatch_append(batch, more);
  leveldb_writebatch_destroy(more);
  std::string text;
  leveldb_writebatch_iterate(batch, &text, OnPut, OnDelete);
  EXPECT_EQ("put(a,1)put(b,2)del(a)", text);
  leveldb_writeoptions_set_sync(write_, 1);
  leveldb_write(db_, write_, batch, &error_);
  ExpectNoError();
  leveldb_writebatch_destroy(batch);
  EXPECT_EQ("b=2 ", Everything());
}

TEST_F(CApiContract, IteratorsGoBothWays) {
  Open();
  for (const char* key : {"a", "c", "e"}) Put(key, "1");
  leveldb_iterator_t* const it = leveldb_create_iterator(db_, read_);
  EXPECT_FALSE(leveldb_iter_valid(it));
  leveldb_iter_seek(it, "b", 1);
  EXPECT_EQ("c=1", Pair(it));
  leveldb_iter_prev(it);
  EXPECT_EQ("a=1", Pair(it));
  leveldb_iter_prev(it);
  EXPECT_FALSE(leveldb_iter_valid(it));
  leveldb_iter_seek_to_last(it);
  EXPECT_EQ("e=1", Pair(it));
  leveldb_iter_next(it);
  EXPECT_FALSE(leveldb_iter_valid(it));
  leveldb_iter_get_error(it, &error_);
  ExpectNoError();
  leveldb_iter_destroy(it);
}

TEST_F(CApiContract, SnapshotsKeepWhatTheySee) {
  Open();
  Put("key", "old");
  const leveldb_snapshot_t* const snapshot = leveldb_create_snapshot(db_);
  Put("key", "new");
  leveldb_readoptions_set_snapshot(read_, snapshot);
  EXPECT_EQ("old", Get("key"));
  EXPECT_EQ("key=old ", Everything());
  leveldb_readoptions_set_snapshot(read_, nullptr);
  EXPECT_EQ("new", Get("key"));
  leveldb_release_snapshot(db_, snapshot);
}

TEST_F(CApiContract, PropertiesAndSizesAndCompactionWork) {
  Open();
  for (int i = 0; i < 300; i++) Put("key" + std::to_string(1000 + i), std::string(1000, 'v'));
  leveldb_compact_range(db_, nullptr, 0, nullptr, 0);
  leveldb_compact_range(db_, "a", 1, "z", 1);
  EXPECT_EQ(nullptr, leveldb_property_value(db_, "nothing"));
  char* const stats = leveldb_property_value(db_, "leveldb.stats");
  ASSERT_NE(nullptr, stats);
  EXPECT_NE(std::string::npos, std::string(stats).find("Compactions"));
  leveldb_free(stats);
  const char* const starts[] = {"a", "key1100"};
  const char* const limits[] = {"b", "z"};
  const size_t start_sizes[] = {1, 7}, limit_sizes[] = {1, 1};
  uint64_t sizes[] = {77, 77};
  leveldb_approximate_sizes(db_, 2, starts, start_sizes, limits, limit_sizes, sizes);
  EXPECT_EQ(0u, sizes[0]);
  EXPECT_LT(1000u, sizes[1]);
}

int calls_of_destructor = 0;
void Destroy(void*) { calls_of_destructor++; }
int Backward(void*, const char* a, size_t alen, const char* b, size_t blen) {
  return leveldb::Slice(b, blen).compare(leveldb::Slice(a, alen));
}
const char* BackwardName(void*) { return "test.Backward"; }

TEST_F(CApiContract, ComparatorsOfTheProgramDecideTheOrder) {
  calls_of_destructor = 0;
  leveldb_comparator_t* const backward = leveldb_comparator_create(nullptr, Destroy, Backward, BackwardName);
  leveldb_options_set_comparator(options_, backward);
  Open();
  for (const char* key : {"a", "c", "b"}) Put(key, "1");
  leveldb_compact_range(db_, nullptr, 0, nullptr, 0);
  EXPECT_EQ("c=1 b=1 a=1 ", Everything());
  Close();
  leveldb_options_t* const plain = leveldb_options_create();
  EXPECT_EQ(nullptr, leveldb_open(plain, name_.c_str(), &error_));
  EXPECT_NE(std::string::npos, TakeError().find("test.Backward"));
  leveldb_options_destroy(plain);
  EXPECT_EQ(0, calls_of_destructor);
  leveldb_comparator_destroy(backward);
  EXPECT_EQ(1, calls_of_destructor);
}

char* AllFilter(void*, const char* const*, const size_t*, int, size_t* length) {
  *length = 3;
  char* const filter = static_cast<char*>(malloc(3));
  memcpy(filter, "all", 3);
  return filter;
}
uint8_t AllMatch(void*, const char*, size_t, const char* filter, size_t length) {
  return length == 3 && memcmp(filter, "all", 3) == 0;
}
const char* AllName(void*) { return "test.All"; }

TEST_F(CApiContract, FilterPoliciesHideNothing) {
  calls_of_destructor = 0;
  leveldb_filterpolicy_t* const own = leveldb_filterpolicy_create(nullptr, Destroy, AllFilter, AllMatch, AllName);
  leveldb_filterpolicy_t* const bloom = leveldb_filterpolicy_create_bloom(10);
  for (leveldb_filterpolicy_t* policy : {own, bloom, own}) {
    leveldb_options_set_filter_policy(options_, policy);
    Open();
    Put("key", "value");
    leveldb_compact_range(db_, nullptr, 0, nullptr, 0);
    EXPECT_EQ("value", Get("key"));
    EXPECT_EQ("(none)", Get("other"));
  }
  Close();
  leveldb_filterpolicy_destroy(own);
  leveldb_filterpolicy_destroy(bloom);
  EXPECT_EQ(1, calls_of_destructor);
}

TEST_F(CApiContract, EveryOptionIsTaken) {
  leveldb_cache_t* const cache = leveldb_cache_create_lru(1 << 20);
  leveldb_env_t* const env = leveldb_create_default_env();
  leveldb_options_set_env(options_, env);
  leveldb_options_set_info_log(options_, nullptr);
  leveldb_options_set_cache(options_, cache);
  leveldb_options_set_paranoid_checks(options_, 1);
  leveldb_options_set_max_open_files(options_, 10);
  leveldb_options_set_block_size(options_, 1024);
  leveldb_options_set_block_restart_interval(options_, 8);
  leveldb_options_set_max_file_size(options_, 3 << 20);
  leveldb_options_set_compression(options_, leveldb_no_compression);
  leveldb_readoptions_set_verify_checksums(read_, 1);
  leveldb_readoptions_set_fill_cache(read_, 0);
  Open();
  Put("key", "value");
  Open();
  EXPECT_EQ("value", Get("key"));
  Close();
  leveldb_cache_destroy(cache);
  char* const directory = leveldb_env_get_test_directory(env);
  ASSERT_NE(nullptr, directory);
  EXPECT_TRUE(leveldb::Env::Default()->FileExists(directory));
  leveldb_free(directory);
  leveldb_env_destroy(env);
}

TEST_F(CApiContract, DestroyRemovesTheDatabase) {
  Open();
  Put("key", "value");
  leveldb_destroy_db(options_, name_.c_str(), &error_);
  EXPECT_EQ(0u, TakeError().find("IO error: "));  // it is open
  Close();
  leveldb_destroy_db(options_, name_.c_str(), &error_);
  ExpectNoError();
  Open();
  EXPECT_EQ("(none)", Get("key"));
}

TEST_F(CApiContract, RepairKeepsWhatCanBeRead) {
  Open();
  Put("key", "value");
  Close();
  leveldb_repair_db(options_, name_.c_str(), &error_);
  ExpectNoError();
  Open();
  EXPECT_EQ("value", Get("key"));
}

TEST_F(CApiContract, TheVersionIsThatOfLevelDB) {
  EXPECT_EQ(1, leveldb_major_version());
  EXPECT_EQ(leveldb::kMinorVersion, leveldb_minor_version());
}

}  // namespace
