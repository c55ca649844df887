// The cost of an open after a crash: a process fills a memtable and is killed, another one opens what it left.
//
//   reopen_cost DIRECTORY [MIB [VALUE_BYTES]]    makes a database there with memtables of so many MiB (64) and values
//   of
//                                                so many bytes (1000), opens it, reads from it, removes it
//
// The open of the second process is in the function CountedOpen, so that callgrind can count it alone, with
// --trace-children=no and --toggle-collect='CountedOpen*'.

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "benchmarks/cost/cost.h"
#include "miodb/db.h"
#include "miodb/options.h"

using miodb::cost::Check;
using miodb::cost::Clock;
using miodb::cost::Key;
using miodb::cost::Since;

namespace {

constexpr uint64_t kGets = 1000;

double CpuMillis() {
  rusage used;
  getrusage(RUSAGE_THREAD, &used);
  const auto millis = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return millis(used.ru_utime) + millis(used.ru_stime);
}

}  // namespace

// A name without arguments, as callgrind's options want it.
extern "C" {

[[gnu::noinline]] void CountedOpen(const miodb::Options& options, const char* directory, miodb::DB** db) {
  Check(miodb::DB::Open(options, directory, db));
}

}  // extern "C"

namespace {

// Nearly fills one memtable, gives the background a moment, and dies.
[[noreturn]] void FillAndDie(miodb::Options options, const char* directory, uint64_t puts, uint64_t value_bytes) {
  options.create_if_missing = options.error_if_exists = true;
  miodb::DB* db;
  Check(miodb::DB::Open(options, directory, &db));
  const std::string value(value_bytes, 'v');
  for (uint64_t i = 0; i < puts; i++) Check(db->Put(miodb::WriteOptions(), Key(i), value));
  usleep(100 * 1000);
  kill(getpid(), SIGKILL);
  std::abort();
}

void OpenAndRead(const miodb::Options& options, const char* directory, uint64_t puts) {
  const double cpu = CpuMillis();
  auto start = Clock::now();
  miodb::DB* opened;
  CountedOpen(options, directory, &opened);
  std::printf("open %.2f ms, %.2f of them on the CPU\n", Since<std::milli>(start), CpuMillis() - cpu);
  const std::unique_ptr<miodb::DB> db(opened);
  std::string value;
  start = Clock::now();
  Check(db->Get(miodb::ReadOptions(), Key(puts / 2), &value));
  std::printf("first get %.3f ms\n", Since<std::milli>(start));
  start = Clock::now();
  for (uint64_t i = 0; i < kGets; i++) Check(db->Get(miodb::ReadOptions(), Key(i * 7919 % puts), &value));
  std::printf("%llu gets after it %.3f ms\n", static_cast<unsigned long long>(kGets), Since<std::milli>(start));
  start = Clock::now();
  Check(db->WaitForIdle());
  std::printf("until all is flushed %.0f ms\n", Since<std::milli>(start));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: reopen_cost DIRECTORY [MIB [VALUE_BYTES]]\n");
    return 2;
  }
  const uint64_t mib = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 64;
  const uint64_t value_bytes = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1000;
  miodb::Options options;
  options.write_buffer_size = mib << 20;
  constexpr uint64_t kAroundValue = 16 + 26;  // key, record and frame
  const uint64_t puts = (mib << 20) / 100 * 95 / (value_bytes + kAroundValue);
  const pid_t child = fork();
  if (child == 0) FillAndDie(options, argv[1], puts, value_bytes);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) return 1;
  std::printf("%llu puts of %llu bytes\n", static_cast<unsigned long long>(puts),
              static_cast<unsigned long long>(value_bytes));
  OpenAndRead(options, argv[1], puts);
  Check(miodb::DestroyDB(argv[1], options));
  return 0;
}
