// Column families in miodb/c.h.

#include <string>
#include <vector>

#include "miodb/c.h"
#include "tests/compat/c_api_fixture.h"

namespace {

class FamiliesCTest : public CApiTest {
 protected:
  ~FamiliesCTest() override {
    Close();
    miodb_mergeoperator_destroy(append_);
  }

  // Operands are appended, behind a comma.
  miodb_column_family_t* OpenAndCreate(const std::string& name) {
    miodb_options_set_merge_operator(options_, append_);
    Open();
    return Create(name);
  }
  miodb_column_family_t* Create(const std::string& name) {
    char* error = nullptr;
    miodb_column_family_t* const family = miodb_create_column_family(db_, name.data(), name.size(), &error);
    EXPECT_EQ(nullptr, error);
    return family;
  }
  std::string GetFrom(miodb_column_family_t* family, const std::string& key) {
    char* error = nullptr;
    size_t size = 0;
    char* const value = miodb_get_cf(db_, read_, family, key.data(), key.size(), &size, &error);
    const std::string text = error != nullptr ? "error" : value == nullptr ? "none" : std::string(value, size);
    leveldb_free(value);
    leveldb_free(error);
    return text;
  }

 private:
  miodb_mergeoperator_t* const append_ = miodb_mergeoperator_create_string_append(",", 1);
};

void OnPut(void* text, const char* k, size_t klen, const char* v, size_t vlen) {
  *static_cast<std::string*>(text) += "put(" + std::string(k, klen) + "," + std::string(v, vlen) + ")";
}
void OnDelete(void* text, const char* k, size_t klen) {
  *static_cast<std::string*>(text) += "del(" + std::string(k, klen) + ")";
}

// Updates of every kind stand before and between those that LevelDB has.
TEST_F(FamiliesCTest, AWalkOverABatchGoesOnOverUpdatesThatLevelDbLacks) {
  miodb_column_family_t* const a = OpenAndCreate("a");
  leveldb_writebatch_t* const batch = leveldb_writebatch_create();
  miodb_writebatch_put_cf(batch, a, "of a", 4, "x", 1);
  miodb_writebatch_delete_cf(batch, a, "of a", 4);
  miodb_writebatch_merge_cf(batch, a, "of a", 4, "x", 1);
  leveldb_writebatch_put(batch, "k", 1, "1", 1);
  miodb_writebatch_single_delete_cf(batch, a, "of a", 4);
  miodb_writebatch_delete_range_cf(batch, a, "b", 1, "d", 1);
  miodb_writebatch_merge(batch, "k", 1, "2", 1);
  miodb_writebatch_single_delete(batch, "s", 1);
  miodb_writebatch_delete_range(batch, "b", 1, "d", 1);
  leveldb_writebatch_delete(batch, "k", 1);
  std::string text;
  leveldb_writebatch_iterate(batch, &text, OnPut, OnDelete);
  EXPECT_EQ("put(k,1)del(s)del(k)", text);
  leveldb_writebatch_destroy(batch);
}

TEST_F(FamiliesCTest, EveryCallWithAFamilyIsOfThatFamily) {
  miodb_column_family_t* const a = OpenAndCreate("a");
  miodb_column_family_t* const b = Create(std::string("b\0x", 3));
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_EQ(1u, miodb_column_family_id(a));
  size_t size = 0;
  const char* const name = miodb_column_family_name(b, &size);
  EXPECT_EQ(std::string("b\0x", 3), std::string(name, size));
  char* error = nullptr;
  EXPECT_EQ(a, miodb_get_column_family(db_, "a", 1, &error));
  EXPECT_EQ(nullptr, miodb_get_column_family(db_, "missing", 7, &error));
  EXPECT_EQ(nullptr, error);
  EXPECT_EQ(nullptr, miodb_create_column_family(db_, "a", 1, &error));
  EXPECT_NE(nullptr, error);
  leveldb_free(error);
  error = nullptr;

  miodb_put_cf(db_, write_, a, "k", 1, "1", 1, &error);
  miodb_put_cf(db_, write_, a, "l", 1, "2", 1, &error);
  miodb_delete_cf(db_, write_, a, "l", 1, &error);
  miodb_put_cf(db_, write_, a, "m", 1, "3", 1, &error);
  miodb_single_delete_cf(db_, write_, a, "m", 1, &error);
  miodb_merge_cf(db_, write_, a, "k", 1, "4", 1, &error);
  leveldb_writebatch_t* const batch = leveldb_writebatch_create();
  miodb_writebatch_put_cf(batch, b, "k", 1, "5", 1);
  miodb_writebatch_merge_cf(batch, b, "k", 1, "6", 1);
  miodb_writebatch_put_cf(batch, a, "n", 1, "7", 1);
  miodb_writebatch_single_delete_cf(batch, a, "n", 1);
  miodb_writebatch_put_cf(batch, a, "o", 1, "8", 1);
  miodb_writebatch_delete_cf(batch, a, "o", 1);
  leveldb_write(db_, write_, batch, &error);
  leveldb_writebatch_destroy(batch);
  EXPECT_EQ(nullptr, error);
  EXPECT_EQ("1,4", GetFrom(a, "k"));
  EXPECT_EQ("5,6", GetFrom(b, "k"));
  for (const char* key : {"l", "m", "n", "o"}) EXPECT_EQ("none", GetFrom(a, key)) << key;

  miodb_pinnedslice_t* const pinned = miodb_get_pinned_cf(db_, read_, b, "k", 1, &error);
  ASSERT_NE(nullptr, pinned);
  EXPECT_EQ("5,6", std::string(miodb_pinnedslice_value(pinned, &size), 3));
  miodb_pinnedslice_destroy(pinned);
  miodb_column_family_t* const families[] = {a, b, b};
  const char* const keys[] = {"k", "k", "l"};
  const size_t sizes[] = {1, 1, 1};
  char* values[3];
  size_t value_sizes[3];
  char* errors[3];
  miodb_multi_get_cf(db_, read_, families, 3, keys, sizes, values, value_sizes, errors);
  EXPECT_EQ("1,4", std::string(values[0], value_sizes[0]));
  EXPECT_EQ("5,6", std::string(values[1], value_sizes[1]));
  EXPECT_EQ(nullptr, values[2]);
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(nullptr, errors[i]);
    leveldb_free(values[i]);
  }
  leveldb_iterator_t* const it = miodb_create_iterator_cf(db_, read_, a);
  leveldb_iter_seek_to_first(it);
  ASSERT_EQ(1, leveldb_iter_valid(it));
  EXPECT_EQ("k", std::string(leveldb_iter_key(it, &size), 1));
  leveldb_iter_next(it);
  EXPECT_EQ(0, leveldb_iter_valid(it));
  leveldb_iter_destroy(it);

  char* const entries = miodb_property_value_cf(db_, b, "miodb.estimate-num-keys");
  EXPECT_STREQ("2", entries);
  leveldb_free(entries);
  const char* const start[] = {""};
  const char* const limit[] = {"z"};
  const size_t start_size[] = {0};
  uint64_t bytes = 0;
  miodb_approximate_sizes_cf(db_, b, 1, start, start_size, limit, sizes, &bytes);
  EXPECT_GT(bytes, 0u);

  size_t count = 0;
  size_t* lens = nullptr;
  char** names = miodb_list_column_families(db_, &count, &lens, &error);
  ASSERT_EQ(3u, count);
  EXPECT_STREQ("default", names[0]);
  EXPECT_EQ(std::string("b\0x", 3), std::string(names[2], lens[2]));
  miodb_list_column_families_destroy(names, count, lens);
  miodb_drop_column_family(db_, b, &error);
  EXPECT_EQ(nullptr, error);
  EXPECT_EQ("error", GetFrom(b, "k"));
}

TEST_F(FamiliesCTest, BatchesAreReadAndTransactionsCommittedOverFamiliesAndRanges) {
  miodb_column_family_t* const a = OpenAndCreate("a");
  ASSERT_NE(nullptr, a);
  char* error = nullptr;
  for (const char* key : {"k", "l", "m", "n"}) {
    miodb_put_cf(db_, write_, a, key, 1, "0", 1, &error);
    leveldb_put(db_, write_, key, 1, "0", 1, &error);
  }
  size_t size = 0;
  const auto take = [&](char* value) {
    EXPECT_EQ(nullptr, error);
    const std::string text = value == nullptr ? "none" : std::string(value, size);
    leveldb_free(value);
    return text;
  };
  const auto count = [](leveldb_iterator_t* it) {
    int keys = 0;
    for (leveldb_iter_seek_to_first(it); leveldb_iter_valid(it); leveldb_iter_next(it)) keys++;
    leveldb_iter_destroy(it);
    return keys;
  };

  miodb_writebatch_wi_t* const batch = miodb_writebatch_wi_create(options_, 0, 1);
  miodb_writebatch_wi_delete_range(batch, "k", 1, "m", 1);
  miodb_writebatch_wi_delete_range_cf(batch, a, "l", 1, "n", 1);
  miodb_writebatch_wi_put_cf(batch, a, "m", 1, "1", 1);
  miodb_writebatch_wi_merge_cf(batch, a, "k", 1, "2", 1);
  miodb_writebatch_wi_delete_cf(batch, a, "n", 1);
  miodb_writebatch_wi_put_cf(batch, a, "o", 1, "3", 1);
  miodb_writebatch_wi_single_delete_cf(batch, a, "o", 1);
  const auto batch_get = [&](const char* key) {
    return take(miodb_writebatch_wi_get_cf(batch, db_, read_, a, key, 1, &size, &error));
  };
  EXPECT_EQ("0,2", batch_get("k"));
  EXPECT_EQ("none", batch_get("l"));
  EXPECT_EQ("1", batch_get("m"));
  EXPECT_EQ("none", batch_get("n"));
  EXPECT_EQ("none", take(miodb_writebatch_wi_get_cf(batch, db_, read_, nullptr, "l", 1, &size, &error)));
  EXPECT_EQ("0", take(miodb_writebatch_wi_get(batch, db_, read_, "m", 1, &size, &error)));
  EXPECT_EQ(2, count(miodb_writebatch_wi_create_iterator_cf(batch, a, miodb_create_iterator_cf(db_, read_, a), read_)));
  EXPECT_EQ(2, count(miodb_writebatch_wi_create_iterator(batch, leveldb_create_iterator(db_, read_), nullptr)));
  miodb_writebatch_wi_write(batch, db_, write_, &error);
  EXPECT_EQ(nullptr, error);
  miodb_writebatch_wi_destroy(batch);
  EXPECT_EQ("0,2", GetFrom(a, "k"));
  EXPECT_EQ("none", GetFrom(a, "l"));
  EXPECT_EQ("1", GetFrom(a, "m"));

  for (const bool changes : {false, true}) {
    miodb_transaction_t* const txn = miodb_transaction_begin(db_, options_, write_, 0);
    EXPECT_EQ("none", take(miodb_transaction_get_for_update_cf(txn, read_, a, "x", 1, &size, &error)));
    miodb_transaction_delete_range(txn, "a", 1, "z", 1, &error);
    miodb_transaction_delete_range_cf(txn, a, "l", 1, "n", 1, &error);
    miodb_transaction_put_cf(txn, a, "p", 1, "4", 1, &error);
    miodb_transaction_merge_cf(txn, a, "p", 1, "5", 1, &error);
    miodb_transaction_delete_cf(txn, a, "k", 1, &error);
    miodb_transaction_put_cf(txn, a, "q", 1, "6", 1, &error);
    miodb_transaction_single_delete_cf(txn, a, "q", 1, &error);
    EXPECT_EQ("4,5", take(miodb_transaction_get_cf(txn, read_, a, "p", 1, &size, &error)));
    EXPECT_EQ("none", take(miodb_transaction_get_cf(txn, read_, a, "m", 1, &size, &error)));
    EXPECT_EQ(1, count(miodb_transaction_create_iterator_cf(txn, read_, a)));
    EXPECT_EQ(0, count(miodb_transaction_create_iterator(txn, read_)));
    if (changes) {
      miodb_put_cf(db_, write_, a, "x", 1, "7", 1, &error);
    } else {
      leveldb_put(db_, write_, "x", 1, "7", 1, &error);  // goes with the range
    }
    EXPECT_EQ(changes ? 0 : 1, miodb_transaction_commit(txn, &error));
    EXPECT_EQ(nullptr, error);
    EXPECT_EQ("4,5", GetFrom(a, "p"));
    miodb_transaction_destroy(txn);
  }
  EXPECT_EQ(0, count(leveldb_create_iterator(db_, read_)));
}

}  // namespace
