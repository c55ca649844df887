// A piece of a program that keeps one database, for programs that have several such pieces: check_compat.sh builds it
// with this library and with the real LevelDB and puts both into one process. NAME is what its function is called.

#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <memory>
#include <string>

// Writes and reads a fresh database at the path. Returns 0, or the line at which something was wrong.
extern "C" int NAME(const char* path) {
  leveldb::Options options;
  options.create_if_missing = true;
  leveldb::DB* opened = nullptr;
  if (!leveldb::DB::Open(options, path, &opened).ok()) return __LINE__;
  const std::unique_ptr<leveldb::DB> db(opened);
  leveldb::WriteBatch batch;
  batch.Put("kept", "1");
  batch.Put("deleted", "2");
  batch.Delete("deleted");
  if (!db->Write(leveldb::WriteOptions(), &batch).ok()) return __LINE__;
  std::string value;
  if (!db->Get(leveldb::ReadOptions(), "kept", &value).ok() || value != "1") return __LINE__;
  const std::unique_ptr<leveldb::Iterator> iterator(db->NewIterator(leveldb::ReadOptions()));
  int pairs = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++pairs;
  return pairs == 1 && iterator->status().ok() ? 0 : __LINE__;
}
