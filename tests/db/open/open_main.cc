// Opens the database named by the argument, as another process would, and prints what came of it on one line.

#include <cstdio>
#include <memory>

#include "tests/common/db_test_base.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::unique_ptr<miodb::DB> db;
  const miodb::Status s = miodb::test::OpenDb(miodb::test::SmallOptions(), argv[1], &db);
  std::printf("%s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
