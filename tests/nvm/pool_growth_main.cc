// Measures what writers notice of a pool that grows.
//
//   pool_growth_main FOLDER [GIB]     grows a new pool in FOLDER from 64 MiB to GIB (the default: 4) while it writes
//
// Puts of random keys, 1000 bytes each, by one thread without a pause. Another thread watches when the pool's file
// grows. Prints the longest puts, and how many fell together with growing; then what growing took. A value that was
// pinned at the beginning must lie at the same address at the end. Exit status 1 if that value has moved, or if a put
// of 20 ms or more fell together with growing; 2 if the database failed; else 0. Writers also wait for flushes and for
// CPUs, so look at the figures of those puts as well. Run it with nothing else running; it needs room for the pool and
// removes it.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/db.h"
#include "src/util/clock/clock.h"
#include "tests/common/random/random.h"

namespace {

using miodb::NowNanos;

constexpr uint64_t kInitialBytes = uint64_t{64} << 20;
constexpr double kPauseMillis = 20;
constexpr size_t kShown = 10;

struct Slow {
  uint64_t begin, end;  // nanoseconds
  uint64_t put;
  bool growing;  // while the pool's file grew

  double millis() const { return static_cast<double>(end - begin) / 1e6; }
};

struct Span {
  uint64_t begin, end;
};

void Check(const miodb::Status& s) {
  if (s.ok()) return;
  fprintf(stderr, "pool_growth_main: %s\n", s.ToString().c_str());
  exit(2);
}

uint64_t Counter(miodb::DB* db, const std::string& name) {
  std::string text;
  if (!db->GetProperty("miodb." + name, &text)) Check(miodb::Status::NotFound("property " + name));
  return strtoull(text.c_str(), nullptr, 10);
}

// Looks every millisecond whether the file has grown, until told to stop.
class GrowthWatch {
 public:
  explicit GrowthWatch(miodb::DB* db) : thread_([this, db] { Watch(db); }) {}
  ~GrowthWatch() { Stop(); }

  std::vector<Span> Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return spans_;
  }

 private:
  void Watch(miodb::DB* db) {
    uint64_t before = Counter(db, "pool-growth-micros"), looked_at = NowNanos();
    while (!stop_) {
      usleep(1000);
      const uint64_t micros = Counter(db, "pool-growth-micros"), now = NowNanos();
      // The growth ended at some time since the last look, and took this long.
      if (micros != before) spans_.push_back({looked_at - std::min(looked_at, (micros - before) * 1000), now});
      before = micros;
      looked_at = now;
    }
  }

  std::vector<Span> spans_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

std::string Key(uint64_t number) {
  char text[32];
  snprintf(text, sizeof(text), "%016" PRIx64, number);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "Usage: pool_growth_main FOLDER [GIB]\n");
    return 2;
  }
  const uint64_t target = (argc > 2 ? strtoull(argv[2], nullptr, 10) : 4) << 30;
  const std::string path = std::string(argv[1]) + "/pool_growth";
  miodb::Options options;
  options.create_if_missing = options.error_if_exists = true;
  miodb::DB* opened = nullptr;
  Check(miodb::DB::Open(options, path, &opened));
  std::unique_ptr<miodb::DB> db(opened);
  Check(db->Put(miodb::WriteOptions(), "pinned", std::string(1000, 'p')));
  miodb::PinnableSlice pinned;
  Check(db->Get(miodb::ReadOptions(), "pinned", &pinned));
  const char* const place = pinned.data();
  miodb::Random random(301);
  const std::string value = random.Bytes(1000);
  while (Counter(db.get(), "pool-bytes-file") < kInitialBytes) {
    Check(db->Put(miodb::WriteOptions(), Key(random.Next64()), value));
  }
  printf("begins with a file of %" PRIu64 " MiB\n", Counter(db.get(), "pool-bytes-file") >> 20);
  std::vector<Slow> slowest;
  std::vector<uint64_t> micros(1000 * 1000);  // puts by whole microseconds
  uint64_t puts = 0;
  GrowthWatch watch(db.get());
  const uint64_t start = NowNanos();
  for (;; puts++) {
    if (puts % 4096 == 0 && Counter(db.get(), "pool-bytes-file") >= target) break;
    const std::string key = Key(random.Next64());
    const uint64_t before = NowNanos();
    Check(db->Put(miodb::WriteOptions(), key, value));
    const uint64_t after = NowNanos();
    micros[std::min<uint64_t>((after - before) / 1000, micros.size() - 1)]++;
    if (after - before >= 1000 * 1000) slowest.push_back({before, after, puts, false});
  }
  const double seconds = static_cast<double>(NowNanos() - start) / 1e9;
  const std::vector<Span> growths = watch.Stop();
  for (Slow& slow : slowest) {
    slow.growing = std::any_of(growths.begin(), growths.end(),
                               [&](const Span& g) { return g.begin < slow.end && slow.begin < g.end; });
  }
  std::sort(slowest.begin(), slowest.end(), [](const Slow& a, const Slow& b) { return a.millis() > b.millis(); });

  printf("ends with a file of %" PRIu64 " MiB after %" PRIu64 " puts in %.1f s\n",
         Counter(db.get(), "pool-bytes-file") >> 20, puts, seconds);
  uint64_t seen = 0, p9999 = 0;
  while (seen < puts - puts / 10000) seen += micros[p9999++];
  printf("99.99 %% of puts took at most %" PRIu64 " us; %zu took a millisecond or more\n", p9999, slowest.size());
  for (size_t i = 0; i < std::min(slowest.size(), kShown); i++) {
    printf("  %7.2f ms: put %" PRIu64 "%s\n", slowest[i].millis(), slowest[i].put,
           slowest[i].growing ? ", while the file grew" : "");
  }
  const auto long_puts = [&](bool growing) {
    return std::count_if(slowest.begin(), slowest.end(),
                         [&](const Slow& s) { return s.growing == growing && s.millis() >= kPauseMillis; });
  };
  printf("puts of 20 ms or more: %td while the file grew, %td at other times\n", long_puts(true), long_puts(false));
  double growing_seconds = 0;
  for (const Span& g : growths) growing_seconds += static_cast<double>(g.end - g.begin) / 1e9;
  printf("the file was seen to grow during %.1f %% of the time\n", 100 * growing_seconds / seconds);
  for (const char* name : {"pool-growths", "pool-growths-waited-for", "pool-growth-micros",
                           "pool-growth-longest-micros", "stall-micros", "throttle-micros"}) {
    printf("%s %" PRIu64 "\n", name, Counter(db.get(), name));
  }
  const bool moved = pinned.data() != place || pinned.ToString() != std::string(1000, 'p');
  const bool paused = long_puts(true) > 0;
  pinned.Reset();
  db.reset();
  Check(miodb::DestroyDB(path, options));
  printf("%s; %s\n", moved ? "DATA MOVED" : "no data moved",
         paused ? "THERE WERE PAUSES of 20 ms or more while it grew" : "no put took 20 ms while it grew");
  return moved || paused ? 1 : 0;
}
