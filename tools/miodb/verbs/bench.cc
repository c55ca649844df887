// bench: puts, gets and a scan in a database of its own.

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/draw/random.h"
#include "benchmarks/common/figures/histogram.h"
#include "benchmarks/common/interrupt.h"
#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/verbs/long_work.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

using bench::Ticks;

class Bench final : public Command {
 public:
  void AddOptions(OptionTable* options) override {
    options->Number("num", &num_, 1, int64_t{1} << 40, "records");
    options->Number("value_size", &value_size_, 0, 1 << 30, "bytes of a value");
    options->Number("seed", &seed_, 0, INT64_MAX, "of the keys");
    options->Switch("progress", &progress_, "show progress even if standard error is no terminal");
    open_.AddOptions(options);
  }

  int Run(const Call& call) override {
    const std::string directory = call.operands[0] + "/miodb_bench." + std::to_string(getpid());
    Options options;
    const std::string problem = open_.Make(directory, &options);
    if (!problem.empty()) return Fail(call, problem);
    options.create_if_missing = options.error_if_exists = true;
    DB* opened = nullptr;
    Status s = DB::Open(options, directory, &opened);
    if (!s.ok()) return Fail(call, s);
    std::unique_ptr<DB> db(opened);
    Ticks::Calibrate();
    Output out;
    s = Measure(db.get(), &out);
    db.reset();
    const Status removed = DestroyDB(directory, options);
    if (!s.ok()) return Fail(call, s);
    if (!removed.ok()) return Fail(call, removed);
    return out.Finish(call, kDone);
  }

 private:
  Status Measure(DB* db, Output* out) {
    std::string mode;
    db->GetProperty("miodb.persist-mode", &mode);
    out->Write("records " + std::to_string(num_) + ", values of " + std::to_string(value_size_) +
               " bytes, keys of 16, durability: " + mode + "\n");
    const std::string value(static_cast<size_t>(value_size_), 'v');
    Status s = Time("put", out, [&](const std::string& key) { return db->Put(WriteOptions(), key, value); });
    std::string found;
    if (s.ok()) s = Time("get", out, [&](const std::string& key) { return db->Get(ReadOptions(), key, &found); });
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    it->SeekToFirst();
    if (s.ok()) {
      s = Time("next", out, [&](const std::string&) {
        if (it->Valid()) it->Next();
        return it->status();
      });
    }
    return s;
  }

  // Calls it once for each key, in the same random order every time.
  template <typename Operation>
  Status Time(const char* name, Output* out, Operation operation) {
    bench::LatencyHistogram times;
    bench::Random random(static_cast<uint64_t>(seed_));
    LongWork work(name, progress_,
                  [this, &work] { return static_cast<double>(work.records()) / static_cast<double>(num_); });
    Status s;
    const uint64_t start = Ticks::MonotonicNanos();
    for (int64_t i = 0; i < num_ && s.ok() && !bench::Interrupt::StopRequested(); i++) {
      char key[17];
      std::snprintf(key, sizeof(key), "%016" PRIx64, random.Next());
      const uint64_t begin = Ticks::Now();
      s = operation(key);
      times.Record(Ticks::NanosBetween(begin, Ticks::Now()));
      work.Did(16 + static_cast<uint64_t>(value_size_));
    }
    const double seconds = static_cast<double>(Ticks::MonotonicNanos() - start) / 1e9;
    char text[200];
    std::snprintf(text, sizeof(text),
                  "%-5s %10.0f a second   microseconds: p50 %.2f  p99 %.2f  p99.9 %.2f  most %.2f\n", name,
                  static_cast<double>(times.count()) / seconds, times.Percentile(50) / 1e3, times.Percentile(99) / 1e3,
                  times.Percentile(99.9) / 1e3, static_cast<double>(times.max()) / 1e3);
    out->Write(text);
    return s;
  }

  OpenOptions open_;
  int64_t num_ = 1000000;
  int64_t value_size_ = 100;
  int64_t seed_ = 1;
  bool progress_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBench() { return std::make_unique<Bench>(); }

}  // namespace miodb::tool
