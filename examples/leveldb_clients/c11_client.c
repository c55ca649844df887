/* A LevelDB program in C11.

     c11_client DIRECTORY     uses a fresh database in DIRECTORY; exit status 0 if everything was as it should be */

#include <leveldb/c.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int truth, const char* what) {
  if (truth) return;
  fprintf(stderr, "wrong: %s\n", what);
  failures++;
}

/* Prints and forgets an error. */
static void expect_ok(char** error, const char* what) {
  if (*error == NULL) return;
  fprintf(stderr, "%s: %s\n", what, *error);
  leveldb_free(*error);
  *error = NULL;
  failures++;
}

static void count_put(void* count, const char* k, size_t klen, const char* v, size_t vlen) {
  (void)k, (void)klen, (void)v, (void)vlen;
  ++*(int*)count;
}

static void count_delete(void* count, const char* k, size_t klen) {
  (void)k, (void)klen;
  *(int*)count += 100;
}

static void use(leveldb_t* db) {
  leveldb_readoptions_t* const read = leveldb_readoptions_create();
  leveldb_writeoptions_t* const write = leveldb_writeoptions_create();
  char* error = NULL;

  leveldb_put(db, write, "apple", 5, "green", 5, &error);
  expect_ok(&error, "put");

  leveldb_writebatch_t* const batch = leveldb_writebatch_create();
  leveldb_writebatch_put(batch, "lemon", 5, "yellow", 6);
  leveldb_writebatch_delete(batch, "apple", 5);
  int count = 0;
  leveldb_writebatch_iterate(batch, &count, count_put, count_delete);
  expect(count == 101, "updates in the batch");
  leveldb_write(db, write, batch, &error);
  expect_ok(&error, "write");
  leveldb_writebatch_destroy(batch);

  size_t length = 0;
  expect(leveldb_get(db, read, "apple", 5, &length, &error) == NULL, "apple is gone");
  expect_ok(&error, "get");
  char* const value = leveldb_get(db, read, "lemon", 5, &length, &error);
  expect_ok(&error, "get");
  expect(value != NULL && length == 6 && memcmp(value, "yellow", 6) == 0, "lemon is yellow");
  leveldb_free(value);

  leveldb_iterator_t* const it = leveldb_create_iterator(db, read);
  leveldb_iter_seek_to_first(it);
  expect(leveldb_iter_valid(it), "there is a first key");
  leveldb_iter_next(it);
  expect(!leveldb_iter_valid(it), "there is one key");
  leveldb_iter_get_error(it, &error);
  expect_ok(&error, "iterator");
  leveldb_iter_destroy(it);

  leveldb_readoptions_destroy(read);
  leveldb_writeoptions_destroy(write);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  leveldb_options_t* const options = leveldb_options_create();
  leveldb_options_set_create_if_missing(options, 1);
  char* error = NULL;
  leveldb_t* const db = leveldb_open(options, argv[1], &error);
  expect_ok(&error, "open");
  if (db != NULL) {
    use(db);
    leveldb_close(db);
    leveldb_destroy_db(options, argv[1], &error);
    expect_ok(&error, "destroy");
  }
  leveldb_options_destroy(options);
  printf("LevelDB %d.%d: %s\n", leveldb_major_version(), leveldb_minor_version(), failures == 0 ? "OK" : "failed");
  return failures == 0 ? 0 : 1;
}
