// miodb/c.h: what the C API has beyond LevelDB's.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "miodb/c.h"
#include "tests/compat/c_api_fixture.h"

namespace {

class MiodbCTest : public CApiTest {
 protected:
  void Set(const char* name, const char* text) {
    miodb_options_set(options_, name, text, &error_);
    EXPECT_EQ(nullptr, error_) << error_;
  }

  std::string Keys() {
    const std::string pairs = Everything();
    std::string keys;
    for (size_t i = 0; i < pairs.size(); i += 4) keys.push_back(pairs[i]);  // "a=1 "
    return keys;
  }
};

TEST_F(MiodbCTest, OptionsReachTheDatabase) {
  const std::string pool = dir_ / "elsewhere";
  {
    const std::string gone = pool;
    Set("pool_path", gone.c_str());  // copied
  }
  Set("pool_size", "8388608");
  Set("pool_growth", "1048576");
  Set("persist_mode", "file");
  Set("log_mode", "pmem");
  Set("log_chunk_size", "65536");
  Set("max_immutable_memtables", "2");
  Set("keep_log_bytes", "1048576");
  Set("num_levels", "3");
  Set("level_trigger", "3");
  Set("max_background_merges", "1");
  Set("partition_size", "1048576");
  Set("settle_after_idle_ms", "20");
  Set("lazy_copy_limit", "100");
  Set("space_amplification_percent", "150");
  Set("filter_bits_per_key", "5");
  Set("reuse_logs", "true");
  Open();
  EXPECT_TRUE(leveldb::Env::Default()->FileExists(pool));
  uint64_t capacity = 0;
  EXPECT_EQ(1, miodb_property_int(db_, "miodb.pool-bytes-capacity", &capacity));
  EXPECT_EQ(8u << 20, capacity);
  char* const mode = leveldb_property_value(db_, "miodb.persist-mode");
  EXPECT_STREQ("file", mode);
  leveldb_free(mode);
  EXPECT_EQ(nullptr, leveldb_property_value(db_, "leveldb.num-files-at-level3"));
}

TEST_F(MiodbCTest, OptionsAreSetByTheirNames) {
  size_t count = 0;
  for (const char* name; (name = miodb_option_name(count)) != nullptr; count++) {
    EXPECT_NE(miodb_option_none, miodb_option_kind(name)) << name;
    char* const text = miodb_options_get(options_, name, &error_);
    ASSERT_NE(nullptr, text) << error_;
    miodb_options_set(options_, name, text, &error_);
    EXPECT_EQ(nullptr, error_) << name;
    leveldb_free(text);
  }
  EXPECT_GT(count, 50u);
  EXPECT_EQ(miodb_option_switch, miodb_option_kind("statistics"));
  EXPECT_EQ(miodb_option_number, miodb_option_kind("pool_size"));
  EXPECT_EQ(miodb_option_word, miodb_option_kind("log_mode"));
  EXPECT_EQ(miodb_option_text, miodb_option_kind("pool_path"));
  EXPECT_EQ(miodb_option_none, miodb_option_kind("comparator"));
  for (const char* name : {"none", "num_levels"}) {
    miodb_options_set(options_, name, "1", &error_);
    ASSERT_NE(nullptr, error_);
    EXPECT_EQ(0u, std::string(error_).find("Invalid argument: Options::" + std::string(name))) << error_;
    leveldb_free(error_);
    error_ = nullptr;
  }
  EXPECT_EQ(nullptr, miodb_options_get(options_, "none", &error_));
  EXPECT_NE(nullptr, error_);
  leveldb_free(error_);
  error_ = nullptr;
}

TEST_F(MiodbCTest, DatabasesShareResources) {
  EXPECT_EQ(nullptr, miodb_sharedresources_create(0, 0, 0, 0));
  miodb_sharedresources_t* const shared = miodb_sharedresources_create(2, 64 << 20, 64 << 10, 1 << 20);
  ASSERT_NE(nullptr, shared);
  EXPECT_EQ(0u, miodb_sharedresources_threads(shared));
  miodb_options_set_shared_resources(options_, shared);
  Open();
  EXPECT_GE(miodb_sharedresources_threads(shared), 3u);
  char* error = nullptr;
  leveldb_writeoptions_t* const write = leveldb_writeoptions_create();
  // Memory of memtables is counted with each chunk of the log, which is half of a memtable. Behind the last chunk all
  // may have been flushed, so the figure is looked at after each put.
  const std::string value(1000, 'v');
  size_t most = 0;
  for (int i = 0; i < 3000 && error == nullptr; i++) {
    const std::string key = "key" + std::to_string(i);
    leveldb_put(db_, write, key.data(), key.size(), value.data(), value.size(), &error);
    most = std::max<size_t>(most, miodb_sharedresources_memory_bytes(shared));
  }
  EXPECT_EQ(nullptr, error);
  EXPECT_GT(most, 0u);
  leveldb_writeoptions_destroy(write);
  miodb_options_set_shared_resources(options_, nullptr);
  miodb_sharedresources_destroy(shared);  // the database has its own reference
}

// Its value is out of range at once, or when the database is opened with an SSD tier.
TEST_F(MiodbCTest, AnOptionOutOfRangeIsRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"pool_size", "1"},        {"lifetime_seconds", "18446744073709551615"},
      {"persist_mode", "paper"}, {"ssd_levels", "9"},
      {"num_levels", "one"},     {"wal_padding", "1"},
  };
  const std::string ssd = dir_ / "ssd_of_no_database";
  for (const auto& [name, text] : cases) {
    miodb_options_set(options_, name, text, &error_);
    if (error_ == nullptr) {
      Set("ssd_path", ssd.c_str());
      EXPECT_EQ(nullptr, leveldb_open(options_, name_.c_str(), &error_));
    }
    const std::string message = error_ == nullptr ? "" : error_;
    EXPECT_EQ(0u, message.find("Invalid argument: Options::" + std::string(name))) << message;
    EXPECT_NE(std::string::npos, message.find("allowed: ")) << message;
    leveldb_free(error_);
    error_ = nullptr;
  }
  EXPECT_FALSE(leveldb::Env::Default()->FileExists(name_));
}

TEST_F(MiodbCTest, SeveralKeysInOneCallOverBothTiers) {
  const std::string ssd = dir_ / "ssd";
  Set("ssd_path", ssd.c_str());
  Set("ssd_rate_limit", "1073741824");
  Set("use_direct_io_for_flush_and_compaction", "false");
  Set("use_direct_reads", "false");
  Set("multi_get_io_uring", "false");
  miodb_readoptions_set_readahead_size(read_, 64 << 10);
  Open();
  Put("a", "1");
  Put("b", "");
  const char* const keys[] = {"b", "none", "a"};
  const size_t lengths[] = {1, 4, 1};
  char* values[3];
  size_t sizes[3];
  char* errors[3];
  miodb_multi_get(db_, read_, 3, keys, lengths, values, sizes, errors);
  EXPECT_TRUE(values[0] != nullptr && sizes[0] == 0);
  EXPECT_TRUE(values[1] == nullptr && sizes[1] == 0);
  ASSERT_TRUE(values[2] != nullptr);
  EXPECT_EQ("1", std::string(values[2], sizes[2]));
  for (char* error : errors) EXPECT_EQ(nullptr, error);
  leveldb_free(values[0]);
  leveldb_free(values[2]);
}

TEST_F(MiodbCTest, FunctionsNeedNoDestructorOfTheirState) {
  const auto compare = [](void*, const char*, size_t a, const char*, size_t b) { return a < b ? -1 : a > b ? 1 : 0; };
  const auto create = [](void*, const char* const*, const size_t*, int, size_t*) -> char* { return nullptr; };
  const auto match = [](void*, const char*, size_t, const char*, size_t) -> uint8_t { return 1; };
  const auto name = [](void*) { return "test.NoDestructor"; };
  leveldb_comparator_destroy(leveldb_comparator_create(nullptr, nullptr, compare, name));
  leveldb_filterpolicy_destroy(leveldb_filterpolicy_create(nullptr, nullptr, create, match, name));
}

TEST_F(MiodbCTest, ManyValuesArePinned) {
  Open();
  Put("a", "1");
  Put("b", "");
  const char* const keys[] = {"a", "none", "b"};
  const size_t lengths[] = {1, 4, 1};
  miodb_pinnedslice_t* slices[3];
  char* errors[3];
  miodb_multi_get_pinned(db_, read_, 3, keys, lengths, slices, errors);
  Put("a", "2");
  ASSERT_TRUE(slices[0] != nullptr && slices[1] == nullptr && slices[2] != nullptr);
  for (const char* error : errors) EXPECT_EQ(nullptr, error);
  size_t size;
  const char* const value = miodb_pinnedslice_value(slices[0], &size);
  EXPECT_EQ("1", std::string(value, size));
  miodb_pinnedslice_value(slices[2], &size);
  EXPECT_EQ(0u, size);
  miodb_pinnedslice_destroy(slices[0]);
  miodb_pinnedslice_destroy(slices[2]);
}

TEST_F(MiodbCTest, KeysThatMayExist) {
  Open();
  Put("key", "value");
  char* value;
  size_t size;
  EXPECT_EQ(0, miodb_key_may_exist(db_, read_, "none", 4, &value, &size));
  EXPECT_TRUE(value == nullptr && size == 0);
  EXPECT_EQ(1, miodb_key_may_exist(db_, read_, "key", 3, &value, &size));
  ASSERT_TRUE(value != nullptr);
  EXPECT_EQ("value", std::string(value, size));
  leveldb_free(value);
  EXPECT_EQ(1, miodb_key_may_exist(db_, read_, "key", 3, nullptr, nullptr));
}

TEST_F(MiodbCTest, ARefreshedIteratorShowsWhatIsNew) {
  Open();
  leveldb_iterator_t* const it = leveldb_create_iterator(db_, read_);
  Put("a", "1");
  leveldb_iter_seek_to_first(it);
  EXPECT_EQ(0, leveldb_iter_valid(it));
  miodb_iter_refresh(it, &error_);
  EXPECT_EQ(nullptr, error_);
  leveldb_iter_seek_to_first(it);
  EXPECT_EQ(1, leveldb_iter_valid(it));
  leveldb_iter_destroy(it);
}

TEST_F(MiodbCTest, BatchesAreRead) {
  Open();
  Put("a", "1");
  Put("b", "2");
  miodb_writebatch_wi_t* const batch = miodb_writebatch_wi_create(options_, 0, 1);
  miodb_writebatch_wi_put(batch, "c", 1, "3", 1);
  miodb_writebatch_wi_set_save_point(batch);
  miodb_writebatch_wi_delete(batch, "a", 1);
  miodb_writebatch_wi_single_delete(batch, "b", 1);
  size_t size = 7;
  EXPECT_EQ(nullptr, miodb_writebatch_wi_get(batch, db_, read_, "a", 1, &size, &error_));
  EXPECT_EQ(0u, size);
  leveldb_iterator_t* const it =
      miodb_writebatch_wi_create_iterator(batch, leveldb_create_iterator(db_, read_), nullptr);
  leveldb_iter_seek_to_first(it);
  ASSERT_EQ(1, leveldb_iter_valid(it));
  EXPECT_EQ('c', *leveldb_iter_key(it, &size));
  leveldb_iter_destroy(it);
  miodb_writebatch_wi_rollback_to_save_point(batch, &error_);
  EXPECT_EQ(nullptr, error_);
  char* const value = miodb_writebatch_wi_get(batch, db_, read_, "b", 1, &size, &error_);
  ASSERT_NE(nullptr, value);
  EXPECT_EQ("2", std::string(value, size));
  leveldb_free(value);
  miodb_writebatch_wi_pop_save_point(batch, &error_);
  ASSERT_NE(nullptr, error_);
  leveldb_free(error_);
  error_ = nullptr;
  miodb_writebatch_wi_merge(batch, "d", 1, "4", 1);
  EXPECT_EQ(nullptr, miodb_writebatch_wi_get(batch, db_, read_, "d", 1, &size, &error_));
  ASSERT_NE(nullptr, error_) << "there is no operator";
  leveldb_free(error_);
  error_ = nullptr;
  miodb_writebatch_wi_clear(batch);
  miodb_writebatch_wi_put(batch, "e", 1, "5", 1);
  miodb_writebatch_wi_write(batch, db_, write_, &error_);
  EXPECT_EQ(nullptr, error_);
  miodb_writebatch_wi_destroy(batch);
  EXPECT_EQ(1, miodb_key_may_exist(db_, read_, "e", 1, nullptr, nullptr));
}

TEST_F(MiodbCTest, ATransactionIsCommittedOrNot) {
  Open();
  Put("a", "1");
  Put("b", "2");
  for (const bool changes : {false, true}) {
    miodb_transaction_t* const txn = miodb_transaction_begin(db_, options_, write_, changes);
    size_t size;
    char* value = miodb_transaction_get_for_update(txn, read_, "a", 1, &size, &error_);
    ASSERT_NE(nullptr, value);
    EXPECT_EQ("1", std::string(value, size));
    leveldb_free(value);
    miodb_transaction_put(txn, "c", 1, "3", 1, &error_);
    miodb_transaction_set_save_point(txn, &error_);
    miodb_transaction_delete(txn, "a", 1, &error_);
    miodb_transaction_single_delete(txn, "b", 1, &error_);
    EXPECT_EQ(nullptr, miodb_transaction_get(txn, read_, "b", 1, &size, &error_));
    miodb_transaction_rollback_to_save_point(txn, &error_);
    leveldb_iterator_t* const it = miodb_transaction_create_iterator(txn, read_);
    int keys = 0;
    for (leveldb_iter_seek_to_first(it); leveldb_iter_valid(it); leveldb_iter_next(it)) keys++;
    EXPECT_EQ(3, keys);
    leveldb_iter_destroy(it);
    EXPECT_EQ(nullptr, error_);
    if (changes) Put("a", "1");
    EXPECT_EQ(changes ? 0 : 1, miodb_transaction_commit(txn, &error_));
    EXPECT_EQ(nullptr, error_) << "Busy is none";
    miodb_transaction_rollback(txn, &error_);
    miodb_transaction_set_snapshot(txn, &error_);
    miodb_transaction_merge(txn, "d", 1, "4", 1, &error_);
    EXPECT_EQ(nullptr, error_);
    EXPECT_EQ(0, miodb_transaction_commit(txn, &error_));
    ASSERT_NE(nullptr, error_) << "there is no operator";
    leveldb_free(error_);
    error_ = nullptr;
    miodb_transaction_destroy(txn);
  }
}

TEST_F(MiodbCTest, ATransactionWhoseSnapshotCannotBeTakenIsNull) {
  Open();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    miodb_transaction_t* const none = miodb_transaction_begin(db_, options_, write_, 1);
    miodb_transaction_destroy(none);
    miodb_transaction_t* const txn = miodb_transaction_begin(db_, options_, write_, 0);
    miodb_transaction_put(txn, "a", 1, "1", 1, &error_);
    _exit(none == nullptr && txn != nullptr && error_ != nullptr ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(0, WEXITSTATUS(status));
}

char* JoinAll(void* state, const char*, size_t, const char* existing, size_t existing_len, const char* const* operands,
              const size_t* lens, int count, uint8_t* success, size_t* len) {
  ++*static_cast<int*>(state);
  std::string joined(existing != nullptr ? existing : "-", existing != nullptr ? existing_len : 1);
  for (int i = 0; i < count; i++) joined.append(operands[i], lens[i]);
  *success = joined.find('!') == std::string::npos;
  *len = joined.size();
  char* const result = static_cast<char*>(malloc(joined.size() + 1));
  memcpy(result, joined.data(), joined.size());
  return result;
}

TEST_F(MiodbCTest, MergesBySeveralOperators) {
  int calls = 0;
  miodb_mergeoperator_t* const join = miodb_mergeoperator_create(
      &calls, [](void* state) { *static_cast<int*>(state) = -1; }, &JoinAll, nullptr, nullptr,
      [](void*) { return "join"; });
  miodb_options_set_merge_operator(options_, join);
  Open();
  Put("key", "a");
  leveldb_writeoptions_t* const write = leveldb_writeoptions_create();
  miodb_merge(db_, write, "key", 3, "b", 1, &error_);
  leveldb_writebatch_t* const batch = leveldb_writebatch_create();
  miodb_writebatch_merge(batch, "key", 3, "cd", 2);
  miodb_writebatch_merge(batch, "new", 3, "x", 1);
  leveldb_write(db_, write, batch, &error_);
  leveldb_writebatch_destroy(batch);
  EXPECT_EQ(nullptr, error_);
  size_t size;
  char* value = leveldb_get(db_, read_, "key", 3, &size, &error_);
  ASSERT_NE(nullptr, value);
  EXPECT_EQ("abcd", std::string(value, size));
  leveldb_free(value);
  value = leveldb_get(db_, read_, "new", 3, &size, &error_);
  ASSERT_NE(nullptr, value);
  EXPECT_EQ("-x", std::string(value, size));
  leveldb_free(value);
  miodb_merge(db_, write, "new", 3, "!", 1, &error_);
  EXPECT_EQ(nullptr, leveldb_get(db_, read_, "new", 3, &size, &error_));
  EXPECT_NE(nullptr, error_);
  leveldb_free(error_);
  error_ = nullptr;
  EXPECT_EQ(3, calls);
  leveldb_close(db_);
  db_ = nullptr;
  miodb_mergeoperator_destroy(join);
  EXPECT_EQ(-1, calls);
  for (miodb_mergeoperator_t* made :
       {miodb_mergeoperator_create_uint64_add(), miodb_mergeoperator_create_max(), miodb_mergeoperator_create_put(),
        miodb_mergeoperator_create_string_append(",", 1)}) {
    miodb_options_set_merge_operator(options_, made);
    miodb_mergeoperator_destroy(made);
  }
  miodb_options_set_merge_operator(options_, nullptr);
  leveldb_writeoptions_destroy(write);
}

TEST_F(MiodbCTest, PoliciesAndFiltersOfFunctions) {
  int policy_calls = 0, filter_calls = 0;
  miodb_lifetimepolicy_t* const policy = miodb_lifetimepolicy_create(
      &policy_calls, [](void* state) { *static_cast<int*>(state) = -1; },
      [](void* state, const char* key, size_t, const char*, size_t) -> uint64_t {
        ++*static_cast<int*>(state);
        return key[0] == 'f' ? UINT64_MAX - 1 : 3600;
      });
  miodb_compactionfilter_t* const filter = miodb_compactionfilter_create(
      &filter_calls, [](void* state) { *static_cast<int*>(state) = -1; },
      [](void* state, int level, const char* key, size_t, uint8_t is_operand, const char* value, size_t vallen,
         char** new_value, size_t* new_vallen) {
        ++*static_cast<int*>(state);
        EXPECT_TRUE(level > 0 && is_operand == 0);
        if (key[0] != 'c') return key[0] == 'r' ? 1 : 0;
        *new_vallen = vallen + 1;
        *new_value = static_cast<char*>(malloc(vallen + 1));
        memcpy(*new_value, value, vallen);
        (*new_value)[vallen] = '+';
        return 2;
      },
      nullptr, [](void*) { return "by key"; });
  miodb_options_set_lifetime_policy(options_, policy);
  miodb_options_set_compaction_filter(options_, filter);
  Open();
  Put("r", "1");
  Put("c", "2");
  Put("a", "3");
  leveldb_writeoptions_t* const write = leveldb_writeoptions_create();
  leveldb_put(db_, write, "f", 1, "4", 1, &error_);
  EXPECT_NE(nullptr, error_);
  leveldb_free(error_);
  error_ = nullptr;
  miodb_writeoptions_set_lifetime_seconds(write, 10000);
  leveldb_put(db_, write, "f", 1, "4", 1, &error_);
  EXPECT_EQ(nullptr, error_);
  leveldb_writeoptions_destroy(write);
  EXPECT_EQ(4, policy_calls);
  leveldb_compact_range(db_, nullptr, 0, nullptr, 0);
  EXPECT_EQ("a=3 c=2+ f=4 ", Everything());
  EXPECT_EQ(4, filter_calls);
  leveldb_close(db_);
  db_ = nullptr;
  miodb_lifetimepolicy_destroy(policy);
  miodb_compactionfilter_destroy(filter);
  EXPECT_TRUE(policy_calls == -1 && filter_calls == -1);
  miodb_options_set_lifetime_policy(options_, nullptr);
  miodb_options_set_compaction_filter(options_, nullptr);
}

TEST_F(MiodbCTest, SingleDeletionsRemove) {
  Open();
  Put("a", "1");
  Put("b", "1");
  leveldb_writeoptions_t* const write = leveldb_writeoptions_create();
  miodb_single_delete(db_, write, "a", 1, &error_);
  leveldb_writebatch_t* const batch = leveldb_writebatch_create();
  miodb_writebatch_single_delete(batch, "b", 1);
  leveldb_write(db_, write, batch, &error_);
  leveldb_writebatch_destroy(batch);
  leveldb_writeoptions_destroy(write);
  EXPECT_EQ(nullptr, error_);
  EXPECT_EQ("", Keys());
}

TEST_F(MiodbCTest, RangesAreDeletedByACallAndByABatch) {
  Open();
  for (const char* key : {"a", "b", "c", "d"}) Put(key, "1");
  leveldb_writeoptions_t* const write = leveldb_writeoptions_create();
  miodb_delete_range(db_, write, "a", 1, "b", 1, &error_);
  leveldb_writebatch_t* const batch = leveldb_writebatch_create();
  miodb_writebatch_delete_range(batch, "c", 1, "d", 1);
  leveldb_write(db_, write, batch, &error_);
  leveldb_writebatch_destroy(batch);
  EXPECT_EQ(nullptr, error_);
  EXPECT_EQ("bd", Keys());
  miodb_delete_range(db_, write, "b", 1, "a", 1, &error_);
  EXPECT_NE(nullptr, error_);
  leveldb_free(error_);
  error_ = nullptr;
  leveldb_writeoptions_destroy(write);
}

TEST_F(MiodbCTest, BoundsLimitIteratorsAndAreCopied) {
  Open();
  for (const char* key : {"a", "b", "c", "d", "e"}) Put(key, "1");
  {
    const std::string lower = "b", upper = "d";
    miodb_readoptions_set_iterate_lower_bound(read_, lower.data(), lower.size());
    miodb_readoptions_set_iterate_upper_bound(read_, upper.data(), upper.size());
  }
  EXPECT_EQ("bc", Keys());
  miodb_readoptions_set_iterate_lower_bound(read_, nullptr, 0);
  EXPECT_EQ("abc", Keys());
  miodb_readoptions_set_iterate_upper_bound(read_, nullptr, 0);
  EXPECT_EQ("abcde", Keys());
}

TEST_F(MiodbCTest, APinnedValueStaysWhileTheKeyIsOverwrittenAndCompacted) {
  Open();
  Put("key", "old");
  miodb_pinnedslice_t* const pinned = miodb_get_pinned(db_, read_, "key", 3, &error_);
  ASSERT_NE(nullptr, pinned);
  Put("key", "new");
  miodb_wait_for_idle(db_, &error_);
  size_t size;
  const char* const value = miodb_pinnedslice_value(pinned, &size);
  EXPECT_EQ("old", std::string(value, size));
  miodb_pinnedslice_destroy(pinned);
  EXPECT_EQ(nullptr, miodb_get_pinned(db_, read_, "none", 4, &error_));
  EXPECT_EQ(nullptr, error_);
}

TEST_F(MiodbCTest, ACheckpointIsADatabase) {
  Open();
  Put("key", "value");
  const std::string copy = dir_ / "copy";
  miodb_create_checkpoint(db_, copy.c_str(), &error_);
  EXPECT_EQ(nullptr, error_);
  Put("key", "later");
  leveldb_t* const opened = leveldb_open(options_, copy.c_str(), &error_);
  ASSERT_EQ(nullptr, error_);
  size_t size;
  char* const value = leveldb_get(opened, read_, "key", 3, &size, &error_);
  EXPECT_EQ("value", std::string(value, size));
  leveldb_free(value);
  leveldb_close(opened);
  miodb_create_checkpoint(db_, copy.c_str(), &error_);
  ASSERT_NE(nullptr, error_);
  leveldb_free(error_);
  error_ = nullptr;
}

TEST_F(MiodbCTest, FlushAndWaitForIdleLeaveTables) {
  Open();
  Put("key", "value");
  uint64_t entries = 77;
  EXPECT_EQ(1, miodb_property_int(db_, "miodb.entries", &entries));
  EXPECT_EQ(0u, entries);
  miodb_flush(db_, &error_);
  EXPECT_EQ(nullptr, error_);
  EXPECT_EQ(1, miodb_property_int(db_, "miodb.entries", &entries));
  EXPECT_EQ(1u, entries);
  Put("key", "other");
  miodb_wait_for_idle(db_, &error_);
  EXPECT_EQ(nullptr, error_);
  EXPECT_EQ(1, miodb_property_int(db_, "miodb.entries", &entries));
  EXPECT_EQ(1u, entries);
}

TEST_F(MiodbCTest, PropertiesThatAreNoNumbersAreNotRead) {
  Open();
  uint64_t value = 77;
  EXPECT_EQ(0, miodb_property_int(db_, "miodb.nothing", &value));
  EXPECT_EQ(0, miodb_property_int(db_, "miodb.persist-mode", &value));
  EXPECT_EQ(0, miodb_property_int(db_, "leveldb.stats", &value));
  EXPECT_EQ(77u, value);
}

TEST_F(MiodbCTest, StatsAreAllCounters) {
  Open();
  char* const stats = miodb_stats(db_);
  ASSERT_NE(nullptr, stats);
  EXPECT_NE(std::string::npos, std::string(stats).find("pool-bytes-used: "));
  leveldb_free(stats);
}

TEST_F(MiodbCTest, ABatchTellsItsSize) {
  leveldb_writebatch_t* const batch = leveldb_writebatch_create();
  EXPECT_EQ(12u, miodb_writebatch_approximate_size(batch));
  leveldb_writebatch_put(batch, "key", 3, "value", 5);
  EXPECT_EQ(12u + 11, miodb_writebatch_approximate_size(batch));
  leveldb_writebatch_destroy(batch);
}

TEST_F(MiodbCTest, DumpWritesTheTextOfThePool) {
  Open();
  Put("key", "value");
  Close();
  const std::string text_name = dir_ / "dump.txt";
  miodb_dump_file((name_ + "/pool").c_str(), text_name.c_str(), &error_);
  ASSERT_EQ(nullptr, error_) << error_;
  std::string text;
  ASSERT_OK(leveldb::ReadFileToString(leveldb::Env::Default(), text_name, &text));
  EXPECT_NE(std::string::npos, text.find("'key' @ 1 : val => 'value'\n")) << text;
  miodb_dump_file((name_ + "/nothing").c_str(), text_name.c_str(), &error_);
  ASSERT_NE(nullptr, error_);
  EXPECT_EQ(0u, std::string(error_).find("NotFound: "));
  leveldb_free(error_);
}

TEST_F(MiodbCTest, TheVersionIsThatOfMioDB) {
  EXPECT_EQ(1, miodb_major_version());
  EXPECT_EQ(0, miodb_minor_version());
}

}  // namespace
