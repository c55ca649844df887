// Measures what the NVM model adds, against what it should add.
//
//   nvm_model_main [MODEL [PROMISED]]     optane (the default), cxl, cxl-switch, cmm-h or a file of figures
//
// Reads and writes memory with and without the model, on an otherwise idle machine, and prints both. Exit status 0 if
// every figure is within 10 % of the model's, 1 if not, 2 if the model is wrong. With two models, waits as the first
// and is judged by the figures of the second: that shows that the judgement can fail.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "src/emulation/nvm_model.h"
#include "src/nvm/persist/persist.h"
#include "src/util/clock/clock.h"
#include "tests/common/environment.h"

namespace {

using miodb::NowNanos;
using miodb::NvmModel;
using miodb::NvmModelFigures;

constexpr uint64_t kUnit = 256;
constexpr uint64_t kUnits = uint64_t{256} << 12;  // 256 MiB
constexpr uint64_t kFewUnits = 1024;              // 256 KiB, which stay in the processor's cache
// Short rounds, most of which nothing interrupts, and many of them: the median counts.
constexpr uint64_t kReads = 400;
constexpr int kRounds = 1001;
constexpr uint64_t kWritten = 1 << 20;
constexpr double kTolerance = 0.1;

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Nanoseconds that reading a unit takes in one round.
double ReadNanos(const char* memory, uint64_t units, NvmModel* model, uint64_t stride, uint64_t* unit,
                 uint64_t reads = kReads) {
  const uint64_t start = NowNanos();
  for (uint64_t i = 0; i < reads; i++) {
    const volatile char* const p = memory + *unit * kUnit;
    if (model != nullptr) model->Read(memory + *unit * kUnit, kUnit);
    // Every byte is 1. The next address depends on this one's byte: no processor can read ahead.
    *unit = (*unit + stride + static_cast<uint64_t>(*p) - 1) % units;
  }
  return static_cast<double>(NowNanos() - start) / static_cast<double>(reads);
}

// What the model adds to reading a unit, in sequence or scattered: the median of rounds with it less the round without
// it just before, so that what slows the machine down for a while slows both.
double AddedNanos(const char* memory, uint64_t units, NvmModel* model, uint64_t stride) {
  std::vector<double> added;
  uint64_t unit = 0;
  for (int round = 0; round < kRounds; round++) {
    const double here = ReadNanos(memory, units, nullptr, stride, &unit);
    added.push_back(ReadNanos(memory, units, model, stride, &unit) - here);
  }
  return Median(std::move(added));
}

// Nanoseconds that reading a unit takes whose page the device has to fetch. The misses are so many that the machine's
// own time does not count.
double MissNanos(const char* memory, NvmModel* model, uint64_t stride) {
  constexpr uint64_t kMisses = 20;
  constexpr int kMissRounds = 51;
  std::vector<double> nanos;
  uint64_t unit = 0;
  for (int round = 0; round < kMissRounds; round++) {
    nanos.push_back(ReadNanos(memory, kFewUnits, model, stride, &unit, kMisses));
  }
  return Median(std::move(nanos));
}

double WriteNanos(miodb::Persist* persist, char* memory, const std::vector<char>& source) {
  const uint64_t start = NowNanos();
  for (uint64_t unit = 0; unit < kWritten / kUnit; unit += std::max<uint64_t>(source.size() / kUnit, 1)) {
    persist->Copy(miodb::Purpose::kLog, memory + unit * kUnit, source.data(), source.size());
  }
  persist->Fence(miodb::Purpose::kLog).IgnoreError();
  return static_cast<double>(NowNanos() - start);
}

// Bytes per second in writes of this size, without and with the model: medians of rounds taken in turn.
void WriteSpeed(char* memory, NvmModel* model, uint64_t size, double* here, double* modelled) {
  constexpr int kWriteRounds = 201;
  miodb::Persist plain(miodb::kPersistEmulated), slowed(miodb::kPersistEmulated);
  slowed.SetModel(model);
  const std::vector<char> source(size, 'x');
  std::vector<double> plain_nanos, slowed_nanos;
  for (int round = 0; round < kWriteRounds; round++) {
    plain_nanos.push_back(WriteNanos(&plain, memory, source));
    slowed_nanos.push_back(WriteNanos(&slowed, memory, source));
  }
  const double bytes = static_cast<double>(kWritten / std::max(size, kUnit) * size);
  *here = bytes * 1e9 / Median(std::move(plain_nanos));
  *modelled = bytes * 1e9 / Median(std::move(slowed_nanos));
}

// Bytes per second in reads of 4096 bytes, without and with the model: medians of rounds taken in turn.
void ReadSpeed(const char* memory, NvmModel* model, double* here, double* modelled) {
  constexpr int kReadRounds = 201;
  constexpr uint64_t kReadUnits = 4096 / kUnit;
  std::vector<double> plain_nanos, slowed_nanos;
  uint64_t unit = 0;
  for (int round = 0; round < 2 * kReadRounds; round++) {
    const bool slowed = round % 2 == 1;
    const uint64_t start = NowNanos();
    for (uint64_t i = 0; i < kWritten / 4096; i++) {
      if (slowed) model->Read(memory + unit * kUnit, 4096);
      for (uint64_t line = 0; line < 4096; line += 64) {
        static_cast<void>(*static_cast<const volatile char*>(memory + unit * kUnit + line));
      }
      unit = (unit + kReadUnits) % kUnits;
    }
    (slowed ? slowed_nanos : plain_nanos).push_back(static_cast<double>(NowNanos() - start));
  }
  *here = static_cast<double>(kWritten) * 1e9 / Median(std::move(plain_nanos));
  *modelled = static_cast<double>(kWritten) * 1e9 / Median(std::move(slowed_nanos));
}

bool g_good = true;

void Compare(const char* what, const char* unit, double wanted, double found) {
  const double off = wanted == 0 ? 0 : found / wanted - 1;
  const bool good = std::fabs(off) <= kTolerance;
  g_good = g_good && good;
  printf("%-52s %12.4g %12.4g %-8s %+6.1f %% %s\n", what, wanted, found, unit, 100 * off, good ? "" : "OUT OF RANGE");
}

// What the model adds where it is all that there is to wait for: in the processor's cache, with next to none of its own
// and with all pages in the device's. Seen through this machine's memory it is more, because a tag may have to come
// from there as well, or less, because the processor reads ahead while it waits.
void JudgeLatency(const NvmModelFigures& figures, const NvmModelFigures& promised, char* memory) {
  constexpr uint64_t kScattered = 104729;
  NvmModelFigures held = figures;
  if (held.device_cache_bytes > 0) held.device_cache_bytes = std::max(held.device_cache_bytes, 1.0 * kUnits * kUnit);
  NvmModelFigures uncached = held, least = held, paged = figures;
  uncached.cache_bytes = least.cache_bytes = paged.cache_bytes = 4096;
  least.read_random_nanos = least.read_sequential_nanos = 0.001;
  NvmModel model(held), alone(uncached), shortest(least);
  for (NvmModel* each : {&model, &alone, &shortest})
    each->Write(miodb::TraceAccess::kLog, memory, kUnits * kUnit);  // now all pages are there
  const double floor = AddedNanos(memory, kFewUnits, &shortest, 1);
  const auto read = [&](const std::string& what, double nanos, uint64_t stride) {
    const double added = AddedNanos(memory, kFewUnits, &alone, stride);
    Compare((what + (nanos < floor ? " (this machine's)" : "")).c_str(), "ns", std::max(nanos, floor), added);
    printf("  in this machine's memory, model %.4g %21.4g ns\n", nanos, AddedNanos(memory, kUnits, &model, stride));
  };
  read("latency added to a random unit", promised.read_random_nanos * promised.remote_factor, kScattered);
  read("latency added to a sequential unit", promised.read_sequential_nanos * promised.remote_factor, 1);
  if (promised.device_miss_nanos == 0) return;
  paged.device_cache_bytes = 4096;  // one page, which no two reads in a row have in common
  NvmModel missing(paged);
  Compare("latency of a random unit that the device misses", "ns",
          promised.read_random_nanos * promised.remote_factor + promised.device_miss_nanos,
          MissNanos(memory, &missing, kScattered));
}

// Latency alone keeps one thread below the bandwidth; so without latency.
void JudgeReadBandwidth(const NvmModelFigures& figures, const NvmModelFigures& promised, char* memory) {
  NvmModelFigures bandwidth = figures;
  bandwidth.cache_bytes = 4096;
  bandwidth.read_random_nanos = bandwidth.read_sequential_nanos = bandwidth.device_miss_nanos = 0;
  NvmModel queue(bandwidth);
  double here, found;
  ReadSpeed(memory, &queue, &here, &found);
  const double modelled = promised.read_bytes_per_second / promised.remote_factor;
  Compare(here < modelled ? "bandwidth of 4096-byte reads (this machine's)" : "bandwidth of 4096-byte reads", "B/s",
          std::min(here, modelled), found);
}

// The model cannot make this machine faster than it is, nor its clock faster to look at.
void JudgeWriteBandwidth(const NvmModelFigures& figures, const NvmModelFigures& promised, char* memory) {
  NvmModel model(figures);
  for (const uint64_t size : {uint64_t{4096}, kUnit, uint64_t{64}}) {
    double here, found;
    WriteSpeed(memory, &model, size, &here, &found);
    const double modelled = promised.write_bytes_per_second / promised.remote_factor * (size < kUnit ? 0.25 : 1);
    std::string what = "bandwidth of " + std::to_string(size) + "-byte writes";
    if (here < modelled) what += " (this machine's)";
    Compare(what.c_str(), "B/s", std::min(here, modelled), found);
  }
}

NvmModelFigures Parse(const std::string& name) {
  NvmModelFigures figures;
  bool off;
  const miodb::Status s = NvmModelFigures::Parse(name, &figures, &off);
  if (s.ok() && !off) return figures;
  fprintf(stderr, "nvm_model_main: %s\n", s.ok() ? "the model is \"none\"" : s.ToString().c_str());
  exit(2);
}

}  // namespace

// Exit status: 0 within 10 %, 1 not, 2 wrong words, 77 where times say nothing.
int main(int argc, char** argv) {
  if (miodb::test::RunsUnderSanitizer()) {
    fprintf(stderr, "nvm_model_main: the sanitizer's own time would be measured\n");
    return 77;
  }
  const NvmModelFigures figures = Parse(argc > 1 ? argv[1] : "optane");
  const NvmModelFigures promised = argc > 2 ? Parse(argv[2]) : figures;
  // Aligned, or a read of a unit's size would be one of two.
  const std::unique_ptr<char, decltype(&free)> memory(static_cast<char*>(aligned_alloc(4096, kUnits * kUnit)), &free);
  if (memory == nullptr) {
    fprintf(stderr, "nvm_model_main: no memory\n");
    return 2;
  }
  memset(memory.get(), 1, kUnits * kUnit);
  printf("%s\n", figures.Describe().c_str());
  if (argc > 2) printf("judged by %s\n", promised.Describe().c_str());
  printf("%-52s %12s %12s\n", "", "model", "measured");
  JudgeLatency(figures, promised, memory.get());
  if (promised.read_bytes_per_second > 0) JudgeReadBandwidth(figures, promised, memory.get());
  if (promised.write_bytes_per_second > 0) JudgeWriteBandwidth(figures, promised, memory.get());
  printf("%s\n", g_good ? "within 10 %" : "NOT within 10 %");
  return g_good ? 0 : 1;
}
