// A LevelDB program in C++11: it knows LevelDB's headers alone and builds with either library.
//
//   cpp11_client DIRECTORY     uses a fresh database in DIRECTORY; exit status 0 if everything was as it should be

#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <iostream>
#include <memory>
#include <string>

// Declarations that many programs have in a header of theirs instead of including LevelDB's.
namespace leveldb {
class DB;
class Iterator;
struct Options;
}  // namespace leveldb

namespace {

leveldb::Status Run(const std::string& path) {
  leveldb::Options options;
  options.create_if_missing = true;
  leveldb::DB* opened = nullptr;
  leveldb::Status s = leveldb::DB::Open(options, path, &opened);
  if (!s.ok()) return s;
  std::unique_ptr<leveldb::DB> db(opened);

  leveldb::WriteOptions sync;
  sync.sync = true;
  s = db->Put(sync, "apple", "green");
  leveldb::WriteBatch batch;
  batch.Put("lemon", "yellow");
  batch.Delete("apple");
  const leveldb::Snapshot* const before = db->GetSnapshot();
  if (s.ok()) s = db->Write(leveldb::WriteOptions(), &batch);

  leveldb::ReadOptions then;
  then.snapshot = before;
  std::string value;
  if (s.ok()) s = db->Get(then, "apple", &value);
  if (s.ok() && value != "green") s = leveldb::Status::Corruption("the snapshot shows", value);
  db->ReleaseSnapshot(before);
  if (s.ok() && !db->Get(leveldb::ReadOptions(), "apple", &value).IsNotFound())
    s = leveldb::Status::Corruption("apple");

  db->CompactRange(nullptr, nullptr);
  int count = 0;
  std::unique_ptr<leveldb::Iterator> it(db->NewIterator(leveldb::ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
  if (s.ok()) s = it->status();
  it.reset();
  if (s.ok() && count != 1) s = leveldb::Status::Corruption("the number of keys is not 1");
  db.reset();
  return s.ok() ? leveldb::DestroyDB(path, options) : s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const leveldb::Status s = Run(argv[1]);
  std::cout << "LevelDB " << leveldb::kMajorVersion << "." << leveldb::kMinorVersion << ": " << s.ToString() << "\n";
  return s.ok() ? 0 : 1;
}
