#include "src/emulation/nvm_model.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <utility>

#include "src/util/check/check.h"
#include "src/util/files/descriptors.h"

// How long a read waits: the units of 256 bytes that it touches are looked up in the modelled cache. Each that is not
// there costs the latency of a random unit, or the smaller one of a unit that goes on with a stream of this thread,
// and what the device takes to fetch its page, if it has a cache of pages and not this one; and its bytes go into the
// bucket of its region, which empties at the medium's bandwidth. The read ends when both have passed, latency and
// queue. Writes have no latency, because stores do not wait for a medium: they fill a bucket,
// and wait while it is too full.
//
// Everything here is approximate where exactness would cost more than the wait itself: tags, streams and buckets are
// changed without locks and with relaxed order, since a wrong answer is a wait that is somewhat longer or shorter,
// never wrong data.

namespace miodb {

namespace {

// Each thread has its streams, for all models of the process together: an approximation, as two pools read by one
// thread in turn have separate buffers in their devices.
thread_local NvmStreams t_streams;

// Writes of a thread that no bucket knows of yet. Looking at the clock and the bucket takes as long as a small write,
// so it is done for several at once.
struct Owed {
  uint64_t model = 0;  // whose
  int region = 0;
  uint64_t ticks = 0;
};

thread_local Owed t_owed;

// The number of the thread for the sink of a model.
struct Numbered {
  uint64_t model = 0;
  uint16_t number = 0;
};

thread_local Numbered t_numbered;

// The part of a bucket that a thread may owe.
constexpr uint64_t kOwedShare = 4;

std::atomic<uint64_t> g_models{0};

// The tags lie in large pages where there are any: to find a tag must not take longer than what it costs to read a
// unit.
std::atomic<uint16_t>* NewTags(size_t count) {
  constexpr size_t kLargePage = size_t{2} << 20;
  const size_t bytes = (count * sizeof(std::atomic<uint16_t>) + kLargePage - 1) / kLargePage * kLargePage;
  void* const memory = aligned_alloc(kLargePage, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  madvise(memory, bytes, MADV_HUGEPAGE);  // without them it is slower
  auto* const tags = static_cast<std::atomic<uint16_t>*>(memory);
  std::uninitialized_value_construct_n(tags, count);
  return tags;
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

struct ModelField {
  const char* name;
  double NvmModelFigures::*value;
  double least, most;
};

constexpr ModelField kModelFields[] = {
    {"read_random_nanos", &NvmModelFigures::read_random_nanos, 0, 1e6},
    {"read_sequential_nanos", &NvmModelFigures::read_sequential_nanos, 0, 1e6},
    {"read_bytes_per_second", &NvmModelFigures::read_bytes_per_second, 0, 1e12},
    {"write_bytes_per_second", &NvmModelFigures::write_bytes_per_second, 0, 1e12},
    {"burst_bytes", &NvmModelFigures::burst_bytes, 256, 1e9},
    {"cache_bytes", &NvmModelFigures::cache_bytes, 4096, 1e10},
    {"remote_factor", &NvmModelFigures::remote_factor, 1, 100},
    {"device_cache_bytes", &NvmModelFigures::device_cache_bytes, 4096, 1e12},
    {"device_miss_nanos", &NvmModelFigures::device_miss_nanos, 0, 1e9},
    {"fast_regions", &NvmModelFigures::fast_regions, 0, 12},
};

static_assert(std::all_of(std::begin(kModelFields), std::end(kModelFields),
                          [](const ModelField& f) { return f.least <= f.most; }));

// Ticks that a byte takes. 0: none, without a limit.
// remote_factor divides the bandwidth as it multiplies latencies: memory behind a link is slower in both.
double TicksPerByte(const SpinClock& clock, double bytes_per_second, double remote_factor) {
  return bytes_per_second > 0 ? clock.TicksOf(1e9 * remote_factor / bytes_per_second) : 0;
}

// Pours ticks into a bucket that is empty at *until. Returns the time at which the bucket holds no more than its burst.
// The bucket is one number, the time at which it will be empty, so pouring is one compare-and-swap and no thread
// empties it. Nothing is published by it, so relaxed is enough: threads agree on the number and on nothing else.
uint64_t Pour(std::atomic<uint64_t>* until, uint64_t now, uint64_t ticks, uint64_t burst_ticks) {
  uint64_t before = until->load(std::memory_order_relaxed);  // relaxed: the exchange decides
  uint64_t next;
  do {
    next = std::max(before, now) + ticks;
  } while (!until->compare_exchange_weak(before, next, std::memory_order_relaxed));
  DCHECK_GE(next, ticks);
  return next - std::min(next, burst_ticks);
}

// Reads one line of a file. Returns what is wrong with it, or nothing.
std::string ParseLine(const std::string& line, NvmModelFigures* figures) {
  const std::string text = Trimmed(line.substr(0, line.find('#')));
  if (text.empty()) return "";
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return "no \"=\" in \"" + text + "\"";
  const std::string name = Trimmed(text.substr(0, equals)), value = Trimmed(text.substr(equals + 1));
  for (const ModelField& field : kModelFields) {
    if (name != field.name) continue;
    char* end;
    const double number = strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') return name + " is \"" + value + "\", which is no number";
    if (!(number >= field.least && number <= field.most)) {
      char range[100];
      snprintf(range, sizeof(range), " is %s; allowed: %g to %g", value.c_str(), field.least, field.most);
      return name + range;
    }
    figures->*field.value = number;
    return "";
  }
  return "unknown name \"" + name + "\"";
}

// A preset's name, and bytes behind it, of what the second word says. False if it is none; *problem says what is wrong
// with the bytes.
bool ParsePreset(const std::string& model, NvmModelFigures* figures, std::string* problem) {
  // A figure that is left out has the default of the header: no wait, no limit. docs/nvm_model.md has the sources.
  // Subtracted is the time of DRAM in the machine that was measured, because this machine takes that time as well.
  const std::pair<NvmModelFigures, const char*> presets[] = {
      {{.name = "optane",
        .read_random_nanos = 305 - 101,
        .read_sequential_nanos = 169 - 81,
        .read_bytes_per_second = 6.6e9,
        .write_bytes_per_second = 2.2e9},
       nullptr},
      {{.name = "cxl", .read_random_nanos = 150, .read_sequential_nanos = 150}, nullptr},
      {{.name = "cxl-switch", .read_random_nanos = 550 - 100, .read_sequential_nanos = 550 - 100}, nullptr},
      {{.name = "cmm-h",
        .read_random_nanos = 505 - 100,
        .read_sequential_nanos = 505 - 100,
        .device_cache_bytes = 48e9,
        .device_miss_nanos = 70e3},
       "device_cache_bytes"},
      {{.name = "count"}, "cache_bytes"},
  };
  const size_t colon = model.find(':');
  for (const auto& [preset, sized] : presets) {
    if (model.substr(0, colon) != preset.name || (colon != std::string::npos && sized == nullptr)) continue;
    *figures = preset;
    if (colon != std::string::npos) *problem = ParseLine(std::string(sized) + "=" + model.substr(colon + 1), figures);
    return true;
  }
  return false;
}

}  // namespace

// A name that is none of the known ones is taken for a file; so a misspelled name is answered with the list of names.
Status NvmModelFigures::Parse(const std::string& model, NvmModelFigures* figures, bool* off) {
  *figures = NvmModelFigures();
  *off = model.empty() || model == "none";
  if (*off) return Status::OK();
  if (std::string problem; ParsePreset(model, figures, &problem)) {
    return problem.empty() ? Status::OK() : Status::InvalidArgument("Options::nvm_model is \"" + model + "\"", problem);
  }
  std::ifstream file = MakeDescriptor([&] { return std::ifstream(model); });
  if (!file) {
    return Status::InvalidArgument("Options::nvm_model is \"" + model + "\"",
                                   "neither none, optane, cxl, cxl-switch, cmm-h or count nor a file that can be read");
  }
  figures->name = model;
  int number = 1;
  for (std::string line; std::getline(file, line); number++) {
    const std::string problem = ParseLine(line, figures);
    if (!problem.empty()) return Status::InvalidArgument(model + ":" + std::to_string(number), problem);
  }
  return Status::OK();
}

// The property miodb.nvm-model and the info log show this line, so that a measurement can be repeated.
std::string NvmModelFigures::Describe() const {
  std::string text = name;
  for (const ModelField& field : kModelFields) {
    char figure[100];
    snprintf(figure, sizeof(figure), ", %s %g", field.name, this->*field.value);
    text += figure;
  }
  return text;
}

// Figures are turned into ticks of the clock here, so that a read divides no time.
NvmModel::NvmModel(const NvmModelFigures& figures)
    : id_(g_models.fetch_add(1, std::memory_order_relaxed) + 1),  // relaxed: a number for each
      figures_(figures),
      clock_(SpinClock::Get()),
      random_nanos_(figures.read_random_nanos * figures.remote_factor),
      sequential_nanos_(figures.read_sequential_nanos * figures.remote_factor),
      read_ticks_per_byte_(TicksPerByte(clock_, figures.read_bytes_per_second, figures.remote_factor)),
      write_ticks_per_byte_(TicksPerByte(clock_, figures.write_bytes_per_second, figures.remote_factor)),
      read_burst_ticks_(static_cast<uint64_t>(figures.burst_bytes * read_ticks_per_byte_)),
      write_burst_ticks_(static_cast<uint64_t>(figures.burst_bytes * write_ticks_per_byte_)),
      units_(static_cast<uint64_t>(figures.cache_bytes) >> kUnitShift),
      pages_(figures.device_cache_bytes > 0
                 ? std::make_unique<Tags>(static_cast<uint64_t>(figures.device_cache_bytes) >> kPageShift)
                 : nullptr) {
  CHECK(read_ticks_per_byte_ >= 0 && write_ticks_per_byte_ >= 0);
}

// Tags are two bytes, so that those of a device's cache of tens of gigabytes take some megabytes.
NvmModel::Tags::Tags(uint64_t places)
    : places_(places), shift_(std::has_single_bit(places) ? std::countr_zero(places) : -1), tags_(NewTags(places)) {
  CHECK_GT(places_, 0u);
}

void NvmModel::Tags::Free::operator()(std::atomic<uint16_t>* tags) const { free(tags); }

// No lock: two threads that change a tag at once make one answer wrong, which is a wait more or less. The cache of
// units stands for the processor's last-level cache, which the model cannot ask.
bool NvmModel::Tags::Touch(uint64_t block) {
  // A division would be seen in the shortest waits.
  const uint64_t turn = shift_ < 0 ? block / places_ : block >> shift_;
  // Enough to tell all blocks of a place apart in regions up to 65535 times the cache. 0 is none.
  const uint16_t wanted = static_cast<uint16_t>(turn % UINT16_MAX + 1);
  // relaxed, and in two steps: a wrong answer now and then is a wait more or less
  DCHECK_GT(wanted, 0);
  std::atomic<uint16_t>& tag = tags_[block - turn * places_];
  if (tag.load(std::memory_order_relaxed) == wanted) return true;
  tag.store(wanted, std::memory_order_relaxed);
  return false;
}

// The bucket is filled in before the release store of the count, so RegionOf on another thread sees a whole one or
// none. Beyond kMaxRegions regions share the first one's bandwidth.
void NvmModel::AddRegion(const char* begin, uint64_t size) {
  // relaxed: one thread adds; release: pairs with RegionOf
  const int i = regions_.load(std::memory_order_relaxed);
  CHECK(i >= 0 && i <= kMaxRegions && size > 0);
  if (i == kMaxRegions) return;
  buckets_[i].begin = reinterpret_cast<uintptr_t>(begin);
  buckets_[i].size = size;
  regions_.store(i + 1, std::memory_order_release);
}

// Addresses of no region are charged to the first.
int NvmModel::RegionOf(uintptr_t address) const {
  const int regions = regions_.load(std::memory_order_acquire);  // acquire: pairs with AddRegion
  for (int i = 1; i < regions; i++) {
    if (address - buckets_[i].begin < buckets_[i].size) return i;
  }
  return 0;
}

// Looks the units up and counts them. A fast region has no units.
NvmModel::ReadCost NvmModel::CountRead(const void* p, size_t size, NvmStreams* streams) {
  DCHECK_GT(size, 0u);
  if (IsFast(p)) return ReadCost();
  const uint64_t first = reinterpret_cast<uintptr_t>(p) >> kUnitShift;
  const uint64_t last = (reinterpret_cast<uintptr_t>(p) + size - 1) >> kUnitShift;
  ReadCost cost;
  for (uint64_t unit = first; unit <= last; unit++) {
    const bool follows = streams->Follows(unit);
    if (units_.Touch(unit)) continue;
    (follows ? cost.sequential : cost.random)++;
    if (pages_ != nullptr && !pages_->Touch(unit >> (kPageShift - kUnitShift))) cost.missed++;
  }
  DCHECK_LE(cost.random + cost.sequential, last - first + 1);
  const uint64_t cached = last - first + 1 - cost.random - cost.sequential;
  // relaxed: statistics
  if (cost.random > 0) random_units_.fetch_add(cost.random, std::memory_order_relaxed);
  if (cost.sequential > 0) sequential_units_.fetch_add(cost.sequential, std::memory_order_relaxed);
  if (cached > 0) cached_units_.fetch_add(cached, std::memory_order_relaxed);
  if (cost.missed > 0) device_misses_.fetch_add(cost.missed, std::memory_order_relaxed);
  return cost;
}

// Pages that are written are in the device's cache from then on.
void NvmModel::CountWrite(const void* p, size_t size) {
  if (pages_ == nullptr || IsFast(p)) return;
  DCHECK_GT(size, 0u);
  const uintptr_t address = reinterpret_cast<uintptr_t>(p);
  for (uint64_t page = address >> kPageShift; page <= (address + size - 1) >> kPageShift; page++) pages_->Touch(page);
}

// Called before the bytes are touched, with what the engine is about to read: a leaf, a line of one, a record. The
// wait begins at a clock reading that is ordered behind earlier loads, so it does not overlap with what the machine's
// own memory takes for them.
void NvmModel::Read(const void* p, size_t size) {
  if (size == 0) return;
  const bool waits =
      random_nanos_ > 0 || sequential_nanos_ > 0 || read_ticks_per_byte_ > 0 || figures_.device_miss_nanos > 0;
  const uint64_t start = waits ? clock_.OrderedNow() : 0;
  const auto [random, sequential, missed] = sink_ == nullptr ? CountRead(p, size, &t_streams) : TracedRead(p, size);
  // Latency and the queue for bandwidth pass at the same time, and to join the queue takes some of it.
  uint64_t served = 0;
  if (read_ticks_per_byte_ > 0 && random + sequential > 0) {
    served = ChargeRead(reinterpret_cast<uintptr_t>(p), random + sequential, start);
  }
  const double nanos = static_cast<double>(random) * random_nanos_ +
                       static_cast<double>(sequential) * sequential_nanos_ +
                       static_cast<double>(missed) * figures_.device_miss_nanos;
  if (nanos > 0) clock_.OrderedWait(start, clock_.TicksOf(nanos));
  const uint64_t arrived = start + static_cast<uint64_t>(clock_.TicksOf(nanos));
  if (served <= arrived) return;
  clock_.WaitUntil(served);
  // relaxed: a statistic
  queue_nanos_.fetch_add(static_cast<uint64_t>(clock_.NanosOf(served - arrived)), std::memory_order_relaxed);
}

// Puts units that are read from now on into the bucket of their region. Returns when the medium has served them.
uint64_t NvmModel::ChargeRead(uintptr_t address, uint64_t units, uint64_t now) {
  DCHECK_GT(units, 0u);
  const double bytes = static_cast<double>(units << kUnitShift);
  return Pour(&buckets_[RegionOf(address)].read_until, now, static_cast<uint64_t>(bytes * read_ticks_per_byte_),
              read_burst_ticks_);
}

// Writes are charged in portions, when a thread owes a part of the burst: the total is right, and a small write costs
// no look at the clock. When a thread comes to this model, its debt to another model is dropped: less than kOwedShare
// of a burst.
void NvmModel::Write(TraceAccess::Purpose purpose, const void* p, size_t size) {
  if (size == 0) return;
  const uintptr_t address = reinterpret_cast<uintptr_t>(p);
  if (sink_ == nullptr) {
    CountWrite(p, size);
  } else {
    const MutexLock lock(&order_);
    Tell(TraceAccess::kWrite, purpose, p, size);
    CountWrite(p, size);
  }
  if (write_ticks_per_byte_ == 0 || IsFast(p)) return;
  const uint64_t first = address >> kUnitShift;
  const uint64_t last = (address + size - 1) >> kUnitShift;
  DCHECK_LE(first, last);
  const double bytes = static_cast<double>((last - first + 1) << kUnitShift);
  const int region = RegionOf(address);
  Owed& owed = t_owed;
  if (owed.model != id_ || owed.region != region) {
    if (owed.model == id_) Charge(owed.region, owed.ticks);
    owed = {id_, region, 0};
  }
  owed.ticks += static_cast<uint64_t>(bytes * write_ticks_per_byte_);
  if (owed.ticks * kOwedShare >= write_burst_ticks_) Charge(region, std::exchange(owed.ticks, 0));
}

// Puts writes into a region's bucket, and waits while it is too full.
void NvmModel::Charge(int region, uint64_t ticks) {
  DCHECK(region >= 0 && region < kMaxRegions);
  const uint64_t now = clock_.Now();
  const uint64_t end = Pour(&buckets_[region].written_until, now, ticks, write_burst_ticks_);
  if (end <= now) return;
  clock_.WaitUntil(end);
  // relaxed: a statistic
  write_nanos_.fetch_add(static_cast<uint64_t>(clock_.NanosOf(end - now)), std::memory_order_relaxed);
}

// ---- for the sink

NvmModel::ReadCost NvmModel::TracedRead(const void* p, size_t size) {
  DCHECK_GT(size, 0u);
  const MutexLock lock(&order_);
  Tell(TraceAccess::kRead, TraceAccess::kNoPurpose, p, size);
  return CountRead(p, size, &t_streams);
}

void NvmModel::Flush(TraceAccess::Purpose purpose, const void* p, size_t size) {
  if (sink_ == nullptr || size == 0) return;
  const MutexLock lock(&order_);
  Tell(TraceAccess::kFlush, purpose, p, size);
}

void NvmModel::Fence(TraceAccess::Purpose purpose) {
  if (sink_ == nullptr) return;
  DCHECK_GT(regions_.load(std::memory_order_relaxed), 0);  // relaxed: the first is there before any store
  const MutexLock lock(&order_);
  sink_->OnAccess(buckets_[0].begin, {.kind = TraceAccess::kFence, .purpose = purpose, .thread = ThreadNumber()});
}

// A thread that comes to this model begins with no streams, as a replay of the trace does.
uint16_t NvmModel::ThreadNumber() {
  if (t_numbered.model != id_) {
    t_numbered = {id_, static_cast<uint16_t>(threads_++)};
    t_streams = NvmStreams();
  }
  return t_numbered.number;
}

// An access that is too large for a trace is cut where pages end, so its units and lines are the same in pieces.
void NvmModel::Tell(TraceAccess::Kind kind, TraceAccess::Purpose purpose, const void* p, size_t size) {
  constexpr uint64_t kPage = uint64_t{1} << kPageShift;
  const uintptr_t base = buckets_[0].begin;
  uint64_t offset = reinterpret_cast<uintptr_t>(p) - base;
  CHECK(base != 0 && base % kPage == 0 && reinterpret_cast<uintptr_t>(p) >= base);
  const uint64_t end = offset + size;
  while (offset < end) {
    const uint64_t most = end - offset <= TraceAccess::kMostBytes
                              ? end - offset
                              : (offset + TraceAccess::kMostBytes) / kPage * kPage - offset;
    DCHECK(most > 0 && most <= TraceAccess::kMostBytes);
    sink_->OnAccess(base, {.kind = kind,
                           .purpose = purpose,
                           .thread = ThreadNumber(),
                           .bytes = static_cast<uint32_t>(most),
                           .offset = offset});
    offset += most;
  }
}

}  // namespace miodb
