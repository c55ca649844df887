// The cost of a reader in another process: how long its open takes, and how much memory the process has of its own
// then.
//
//   reader_cost DIRECTORY [GIB [VALUE_BYTES]]    makes a database there with a pool of so many GiB (10) in use and
//   values
//                                                of so many bytes (1000), opens readers of it, removes it
//
// Readers are opened while the writer has the database open: right behind its last put, and after WaitForIdle. Each is
// a process of its own. Private memory, as the kernel counts it, belongs to this process alone: the pool does not
// count.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/cost/cost.h"
#include "miodb/db.h"
#include "miodb/options.h"

using miodb::cost::Check;
using miodb::cost::Clock;
using miodb::cost::Key;
using miodb::cost::Since;

namespace {

constexpr int kReaders = 5;

// KiB, from the lines "Private_...: N kB".
uint64_t PrivateKiB() {
  FILE* const file = std::fopen("/proc/self/smaps_rollup", "r");
  if (file == nullptr) Check(miodb::Status::IOError("/proc/self/smaps_rollup", "cannot be read"));
  char line[200];
  uint64_t sum = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    const char* const colon = std::strchr(line, ':');
    if (std::strncmp(line, "Private_", 8) == 0 && colon != nullptr) sum += std::strtoull(colon + 1, nullptr, 10);
  }
  std::fclose(file);
  return sum;
}

// In a process of its own.
int Read(const std::string& path) {
  const uint64_t before = PrivateKiB();
  const Clock::time_point start = Clock::now();
  miodb::DB* opened;
  Check(miodb::DB::OpenReader(miodb::Options(), path, &opened));
  const double millis = Since<std::milli>(start);
  const std::unique_ptr<miodb::DB> db(opened);
  std::string value;
  Check(db->Get(miodb::ReadOptions(), Key(0), &value));
  std::printf("  open %.2f ms, private memory %.1f MiB, of which %.1f MiB were there before\n", millis,
              static_cast<double>(PrivateKiB()) / 1024, static_cast<double>(before) / 1024);
  return 0;
}

void StartReaders(const char* when, const std::string& path) {
  std::printf("%s\n", when);
  std::fflush(stdout);
  for (int i = 0; i < kReaders; i++) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", "reader_cost", path.c_str(), "reader", nullptr);
      _exit(1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    if (status != 0) Check(miodb::Status::IOError(path, "a reader failed"));
  }
}

uint64_t PoolBytes(miodb::DB* db) {
  std::string text;
  if (!db->GetProperty("miodb.pool-bytes-used", &text)) Check(miodb::Status::NotFound("miodb.pool-bytes-used"));
  return std::strtoull(text.c_str(), nullptr, 10);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[2], "reader") == 0) return Read(argv[1]);
  if (argc < 2 || argc > 4 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: reader_cost DIRECTORY [GIB [VALUE_BYTES]]\n");
    return 2;
  }
  const std::string path = argv[1];
  const double bytes = (argc > 2 ? std::atof(argv[2]) : 10) * (1 << 30);
  const std::string value(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1000, 'v');
  miodb::Options options;
  options.create_if_missing = options.error_if_exists = true;
  miodb::DB* opened;
  Check(miodb::DB::Open(options, path, &opened));
  std::unique_ptr<miodb::DB> db(opened);
  uint64_t keys = 0;
  while (static_cast<double>(PoolBytes(db.get())) < bytes) {
    for (int i = 0; i < 10000; i++) Check(db->Put(miodb::WriteOptions(), Key(keys++), value));
  }
  std::printf("%llu keys, %.2f GiB of the pool in use\n", static_cast<unsigned long long>(keys),
              static_cast<double>(PoolBytes(db.get())) / (1 << 30));
  StartReaders("right behind the puts:", path);
  Check(db->WaitForIdle());
  StartReaders("settled:", path);
  db.reset();
  Check(miodb::DestroyDB(path, options));
  return 0;
}
