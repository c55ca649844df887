// The cost of many databases in one process: opens and closes, threads, memory, and the CPU that they take while nobody
// uses them.
//
//   many_stores_cost DIRECTORY [STORES [PUTS]]    makes so many databases (300) in it, puts so many values of 1000
//                                                 bytes into each (100), waits, reads, closes and removes them
//
// Each line is one stage. Times are medians and the longest, in milliseconds; memory is what the process has resident.

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

constexpr unsigned kIdleSeconds = 5;

// A line of /proc/self/status: a number behind its name.
long StatusOf(const char* name) {
  FILE* const file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return -1;
  long value = -1;
  char line[256];
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::strncmp(line, name, std::strlen(name)) == 0) value = std::atol(line + std::strlen(name));
  }
  std::fclose(file);
  return value;
}

double CpuMillis() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  const auto millis = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return millis(used.ru_utime) + millis(used.ru_stime);
}

void Report(const char* stage, std::vector<double> millis) {
  std::printf("%-24s", stage);
  if (!millis.empty()) {
    std::sort(millis.begin(), millis.end());
    std::printf(" median %7.3f max %8.3f ms,", millis[millis.size() / 2], millis.back());
  }
  std::printf(" %ld threads, %ld MiB resident (%ld MiB of it own)\n", StatusOf("Threads:"), StatusOf("VmRSS:") / 1024,
              StatusOf("RssAnon:") / 1024);
}

class Stores {
 public:
  Stores(std::string directory, size_t count) : directory_(std::move(directory)), dbs_(count, nullptr) {}

  template <typename Call>
  void Each(const char* stage, Call call) {
    std::vector<double> millis;
    for (size_t i = 0; i < dbs_.size(); i++) {
      const auto start = Clock::now();
      call(i);
      millis.push_back(Since<std::milli>(start));
    }
    Report(stage, millis);
  }

  void Open(const char* stage, bool create) {
    miodb::Options options;
    options.create_if_missing = options.error_if_exists = create;
    Each(stage, [&](size_t i) { Check(miodb::DB::Open(options, Name(i), &dbs_[i])); });
  }

  void Close(const char* stage) {
    Each(stage, [&](size_t i) {
      delete dbs_[i];
      dbs_[i] = nullptr;
    });
  }

  void Put(const char* stage, uint64_t puts) {
    const std::string value(1000, 'v');
    Each(stage, [&](size_t i) {
      for (uint64_t k = 0; k < puts; k++) Check(dbs_[i]->Put(miodb::WriteOptions(), Key(k), value));
    });
  }

  void Get(const char* stage, uint64_t puts) {
    std::string value;
    Each(stage, [&](size_t i) {
      for (uint64_t k = 0; k < puts; k++) Check(dbs_[i]->Get(miodb::ReadOptions(), Key(k), &value));
    });
  }

  void Flush(const char* stage) {
    Each(stage, [&](size_t i) { Check(dbs_[i]->Flush()); });
  }

  void Destroy(const char* stage) {
    Each(stage, [&](size_t i) { Check(miodb::DestroyDB(Name(i), miodb::Options())); });
  }

 private:
  std::string Name(size_t i) const { return directory_ + "/" + std::to_string(i); }

  const std::string directory_;
  std::vector<miodb::DB*> dbs_;
};

void Idle(const char* stage) {
  const double cpu = CpuMillis();
  sleep(kIdleSeconds);
  std::printf("%-24s %.2f ms of CPU a second\n", stage, (CpuMillis() - cpu) / kIdleSeconds);
  Report("", {});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "many_stores_cost DIRECTORY [STORES [PUTS]]\n");
    return 2;
  }
  const size_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 300;
  const uint64_t puts = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 100;
  ::mkdir(argv[1], 0700);
  Stores stores(argv[1], count);
  Report("begin", {});
  stores.Open("create", true);
  Idle("idle");
  stores.Close("close");
  stores.Open("open", false);
  stores.Put("puts", puts);
  stores.Get("gets", puts);
  Idle("idle");
  stores.Close("close");
  stores.Open("open, with log", false);
  stores.Flush("flush");
  Idle("idle");
  stores.Close("close");
  stores.Open("open, with a table", false);
  stores.Get("gets", puts);
  stores.Close("close");
  stores.Destroy("destroy");
  return 0;
}
