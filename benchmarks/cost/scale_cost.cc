// The cost of data as it grows: a database whose memtables, log chunks and partitions are small, so that a few hundred
// megabytes have as many tables, extents and jobs as terabytes have with the default options (docs/scaling.md).
//
//   scale_cost DIRECTORY copied|referred|behind PUTS...
//
//   copied     records of 100 bytes that lazy copies move into key order; memtables of 32 KiB, chunks of 4 KiB,
//              partitions of 32 KiB: 1 million puts stand for 256 GB
//   referred   records that stay in the log; memtables of 1 MiB, chunks of 64 KiB, partitions of 256 KiB: 1 million
//              puts have as many tables as 500 GB of values of 1 KiB
//   behind     as copied, with memtables of 128 KiB, against one merge thread; the writer does not wait
//   PUTS...    numbers of puts: for each a database is made, measured and removed, and its figures are one line
//
// Keys are random and nearly all differ. In the first two models the writer waits while level 0 has more runs than
// kPace, so that the figures say what the engine does and not how fast this machine is. Figures of a line:
//
//   cpu_us          of all threads, for each put so far, in microseconds
//   written         bytes written to the pool for each byte of the user
//   extents         payload extents over those that chunks of full size would be
//   heap            bytes of the heap for each key
//   longest         entries of the longest merge over all entries, by the bytes of its output
//   runs            most that were seen at once
//   space           most bytes of the pool in use, over those that tables refer to at the end
//   reserve         bytes kept free for merges, over those in use
//   open_ns         CPU time of an open for each key, in nanoseconds; filters_ns with the filters that are made then
//   tables          tables in the pool at the end
//
// open_ns and filters_ns are of a database that was closed after it had settled.

#include <malloc.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "benchmarks/cost/cost.h"
#include "miodb/db.h"
#include "miodb/listener.h"
#include "miodb/options.h"

using miodb::cost::Check;

namespace {

constexpr size_t kValueBytes = 100;
constexpr uint64_t kPace = 4;

// Bytes of an entry in an index, nearly (docs/format.md).
constexpr double kIndexBytes = 21.3;

double CpuSeconds(clockid_t clock = CLOCK_PROCESS_CPUTIME_ID) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

// A permutation of 64-bit numbers: the finalizer of MurmurHash3.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

std::string RandomKey(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof(text), "%016" PRIx64, Mix(number + 1));
  return text;
}

class LongestMerge : public miodb::EventListener {
 public:
  void OnMerge(const miodb::MergeInfo& info) override { bytes_ = std::max(bytes_, info.bytes_read); }
  double entries() const { return static_cast<double>(bytes_) / kIndexBytes; }

 private:
  uint64_t bytes_ = 0;  // of the thread that tells events, read after the database was closed or is idle
};

class Model {
 public:
  Model(std::string directory, const std::string& name) : directory_(std::move(directory)), name_(name) {
    options_.create_if_missing = options_.error_if_exists = true;
    options_.persist_mode = miodb::kPersistEmulated;
    options_.max_background_merges = 4;
    options_.pool_growth = 4 << 20;
    options_.listeners.push_back(&longest_);
    if (name == "copied") {
      options_.write_buffer_size = 32 << 10;
      options_.log_chunk_size = 4 << 10;
      options_.partition_size = 32 << 10;
    } else if (name == "behind") {
      options_.write_buffer_size = 128 << 10;
      options_.log_chunk_size = 16 << 10;
      options_.partition_size = 128 << 10;
      options_.max_background_merges = 1;
    } else {
      options_.write_buffer_size = 1 << 20;
      options_.log_chunk_size = 64 << 10;
      options_.partition_size = 256 << 10;
      options_.lazy_copy_limit = 0;
    }
    heap_before_ = HeapBytes();
    cpu_before_ = CpuSeconds();
    Open();
    options_.error_if_exists = false;
  }

  ~Model() {
    db_.reset();
    Check(miodb::DestroyDB(directory_, options_));
  }

  void Put(uint64_t puts) {
    const std::string value(kValueBytes, 'v');
    for (; puts_ < puts; puts_++) {
      Check(db_->Put(miodb::WriteOptions(), RandomKey(puts_), value));
      if (puts_ % kLookEvery != 0) continue;
      for (;;) {
        const double began = CpuSeconds(CLOCK_THREAD_CPUTIME_ID);
        const std::map<std::string, double> now = Counters();
        looks_ += CpuSeconds(CLOCK_THREAD_CPUTIME_ID) - began;
        most_runs_ = std::max(most_runs_, now.at("runs"));
        most_used_ = std::max(most_used_, now.at("pool-bytes-used"));
        std::string files;
        db_->GetProperty("leveldb.num-files-at-level0", &files);
        if (name_ == "behind" || std::stoull(files) <= kPace) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }

  void Report() {
    const double busy = CpuSeconds() - cpu_before_ - looks_;
    std::map<std::string, double> now = Counters();
    const double keys = static_cast<double>(puts_);
    const double written = now["nvm-bytes-total"] / now["user-bytes-written"];
    const double extents = now["payload-extents"] * static_cast<double>(options_.log_chunk_size) / now["payload-bytes"];
    Check(db_->WaitForIdle());
    now = Counters();
    const double longest = longest_.entries() / now["entries"];
    const double heap = HeapBytes() - heap_before_;
    const double live = now["live-bytes"];
    most_used_ = std::max(most_used_, now["pool-bytes-used"]);
    const double reserve = now["pool-bytes-reserved"] / now["pool-bytes-used"];
    db_.reset();
    const double begin = CpuSeconds();
    Open();
    const double opened = CpuSeconds();
    Check(db_->WaitForIdle());
    const double filtered = CpuSeconds();
    std::printf("%s %" PRIu64
                " puts: cpu_us %.3f written %.3f extents %.3f heap %.2f longest %.4f runs %.0f "
                "space %.3f reserve %.4f open_ns %.1f filters_ns %.1f tables %.0f\n",
                name_.c_str(), puts_, busy / keys * 1e6, written, extents, heap / keys, longest, most_runs_,
                most_used_ / live, reserve, (opened - begin) / keys * 1e9, (filtered - begin) / keys * 1e9,
                now["tables"]);
    std::fflush(stdout);
  }

 private:
  static constexpr uint64_t kLookEvery = 100;

  void Open() {
    miodb::DB* db;
    Check(miodb::DB::Open(options_, directory_, &db));
    db_.reset(db);
  }

  // The lines "name: number" of the property.
  std::map<std::string, double> Counters() const {
    std::string text;
    db_->GetProperty("miodb.counters", &text);
    std::map<std::string, double> counters;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size()), colon = text.find(": ", at);
      if (colon < end) counters[text.substr(at, colon - at)] = std::strtod(text.c_str() + colon + 2, nullptr);
      at = end + 1;
    }
    return counters;
  }

  const std::string directory_;
  const std::string name_;
  miodb::Options options_;
  LongestMerge longest_;
  std::unique_ptr<miodb::DB> db_;
  double looks_ = 0;  // CPU time that the model's own looks at the counters took
  double heap_before_ = 0, cpu_before_ = 0, most_runs_ = 0, most_used_ = 0;
  uint64_t puts_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string model = argc > 3 ? argv[2] : "";
  std::vector<uint64_t> puts;
  for (int i = 3; i < argc; i++) puts.push_back(std::strtoull(argv[i], nullptr, 10));
  if ((model != "copied" && model != "referred" && model != "behind") || std::count(puts.begin(), puts.end(), 0) > 0) {
    std::fprintf(stderr, "usage: %s DIRECTORY copied|referred|behind PUTS...\n", argv[0]);
    return 2;
  }
  for (const uint64_t count : puts) {
    Model run(std::string(argv[1]) + "/" + model + "-" + std::to_string(count), model);
    run.Put(count);
    run.Report();
  }
  return 0;
}
