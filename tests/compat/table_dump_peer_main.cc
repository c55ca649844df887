// Reads our table files with the real LevelDB, for tests/ssd/stock_readers_test.
//
//   table_dump_peer_main FILE       prints every pair as two words of hexadecimal digits, in the file's order
//   table_dump_peer_main --repair DIRECTORY
//       makes a LevelDB database of the table files (*.ldb) in the directory, which are moved about by that, and prints
//       every pair that it then has; each is also read by a get, through the files' filters
//
// Exit status 0, or 1 with a message.

#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/table.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

void Check(const leveldb::Status& s) {
  if (s.ok()) return;
  fprintf(stderr, "%s\n", s.ToString().c_str());
  exit(1);
}

void PrintHex(const leveldb::Slice& bytes, char end) {
  for (size_t i = 0; i < bytes.size(); i++) printf("%02x", static_cast<unsigned char>(bytes[i]));
  putchar(end);
}

void PrintAll(leveldb::Iterator* it) {
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    PrintHex(it->key(), ' ');
    PrintHex(it->value(), '\n');
  }
  Check(it->status());
}

leveldb::ReadOptions Verifying() {
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  return options;
}

void DumpTable(const std::string& name) {
  leveldb::Env* const env = leveldb::Env::Default();
  uint64_t size = 0;
  Check(env->GetFileSize(name, &size));
  leveldb::RandomAccessFile* opened = nullptr;
  Check(env->NewRandomAccessFile(name, &opened));
  const std::unique_ptr<leveldb::RandomAccessFile> file(opened);
  leveldb::Options options;
  options.paranoid_checks = true;
  leveldb::Table* table = nullptr;
  Check(leveldb::Table::Open(options, file.get(), size, &table));
  const std::unique_ptr<leveldb::Table> owner(table);
  const std::unique_ptr<leveldb::Iterator> it(table->NewIterator(Verifying()));
  PrintAll(it.get());
}

void DumpRepaired(const std::string& directory) {
  const std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  leveldb::Options options;
  options.filter_policy = policy.get();
  options.paranoid_checks = true;
  Check(leveldb::RepairDB(directory, options));
  leveldb::DB* opened = nullptr;
  Check(leveldb::DB::Open(options, directory, &opened));
  const std::unique_ptr<leveldb::DB> db(opened);
  const std::unique_ptr<leveldb::Iterator> it(db->NewIterator(Verifying()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    std::string value;
    Check(db->Get(Verifying(), it->key(), &value));
    if (leveldb::Slice(value) != it->value()) Check(leveldb::Status::Corruption("get and iterator differ"));
  }
  PrintAll(it.get());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) {
    DumpTable(argv[1]);
  } else if (argc == 3 && std::string(argv[1]) == "--repair") {
    DumpRepaired(argv[2]);
  } else {
    fprintf(stderr, "usage: table_dump_peer_main FILE | --repair DIRECTORY\n");
    return 1;
  }
  return 0;
}
