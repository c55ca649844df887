#include "tests/nvm/pool_files.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"

namespace miodb::test {

namespace {

[[noreturn]] void Give(const std::string& path) {
  std::perror(path.c_str());
  std::exit(2);
}

}  // namespace

std::string ReadFileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file) Give(path);
  return std::move(bytes).str();
}

void WriteFileBytes(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) Give(path);
}

void CopyPoolFile(const std::string& from, const std::string& to) { WriteFileBytes(to, ReadFileBytes(from)); }

TestPool::TestPool(uint64_t limit, uint64_t growth) {
  Pool::Options options;
  options.limit = limit;
  options.growth = growth;
  options.secret = kTestSecret;
  EXPECT_OK(Pool::Create(dir_ / "pool", options, &pool_));
}

ExtentRef TestPool::Allocate(uint64_t size, ExtentKind kind) {
  ExtentRef extent;
  EXPECT_OK(pool_->Allocate(size, kind, &extent));
  return extent;
}

}  // namespace miodb::test
