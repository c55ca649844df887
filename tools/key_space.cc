// key_space: prints all keys of a closed database in their order, each as 0x and hexadecimal digits, for
// trace_analyzer's --key_space_dir. Opens the database, so it must not be in use.

#include <cstdio>
#include <memory>
#include <string>

#include "miodb/db.h"
#include "src/util/files/descriptors.h"

int main(int argc, char** argv) {
  if (!miodb::FillStandardDescriptors()) return 1;
  if (argc < 2 || argc > 3 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: key_space DATABASE [POOL_PATH] > FOLDER/0.txt\n");
    return 1;
  }
  miodb::Options options;
  if (argc == 3) options.pool_path = argv[2];
  miodb::DB* opened = nullptr;
  miodb::Status s = miodb::DB::Open(options, argv[1], &opened);
  const std::unique_ptr<miodb::DB> db(opened);
  if (s.ok()) {
    const std::unique_ptr<miodb::Iterator> it(db->NewIterator(miodb::ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      std::fputs("0x", stdout);
      for (size_t i = 0; i < it->key().size(); i++) std::printf("%02X", static_cast<unsigned char>(it->key()[i]));
      std::putchar('\n');
    }
    s = it->status();
  }
  if (s.ok() && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) s = miodb::Status::IOError("standard output");
  if (!s.ok()) std::fprintf(stderr, "key_space: %s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
