#include "src/db/stats/op_times.h"

#include <algorithm>
#include <cstdio>
#include <exception>

namespace miodb {

namespace {

// An id is never used again, so a thread cannot take a new database for a closed one that lay at the same address.
std::atomic<uint64_t> next_id{1};

}  // namespace

const char* TimedOpName(TimedOp op) {
  static constexpr const char* kNames[] = {"get", "put", "scan", "stall", "flush", "merge"};
  static_assert(std::size(kNames) == kTimedOps);
  DCHECK_LT(static_cast<size_t>(op), kTimedOps);
  return kNames[static_cast<size_t>(op)];
}

// The first buckets count one tick each; behind them each group of kLinear buckets is twice as wide as the one before.
uint64_t ThreadHistogram::BucketSpan(size_t bucket) {
  DCHECK_LT(bucket, kBuckets);
  return bucket < 2 * kLinear ? 1 : uint64_t{1} << (bucket / kLinear - 1);
}

// The sum of the spans before it, in closed form.
uint64_t ThreadHistogram::BucketStart(size_t bucket) {
  DCHECK_LT(bucket, kBuckets);
  if (bucket < 2 * kLinear) return bucket;
  return (bucket % kLinear + kLinear) << (bucket / kLinear - 1);
}

// The calls of a bucket count as spread evenly over it, which is wrong by less than the bucket's width.
double TimeSummary::PercentileNanos(double percent) const {
  DCHECK(percent >= 0 && percent <= 100);
  const double wanted = percent / 100 * static_cast<double>(count);
  double below = 0;
  for (size_t i = 0; i < buckets.size(); i++) {
    const double here = static_cast<double>(buckets[i]);
    if (here > 0 && below + here >= wanted) {
      const double start = static_cast<double>(ThreadHistogram::BucketStart(i));
      const double span = static_cast<double>(ThreadHistogram::BucketSpan(i));
      return (start + span * (wanted - below) / here) * nanos_per_tick;
    }
    below += here;
  }
  return 0;
}

// A bucket counts as a whole: it is narrower than whatever anyone asks for.
uint64_t TimeSummary::CountUpTo(double nanos) const {
  DCHECK(nanos >= 0 && nanos_per_tick > 0);
  const double ticks = nanos / nanos_per_tick;
  uint64_t sum = 0;
  for (size_t i = 0; i < buckets.size(); i++) {
    if (static_cast<double>(ThreadHistogram::BucketStart(i)) > ticks) break;
    sum += buckets[i];
  }
  DCHECK_LE(sum, count);
  return sum;
}

// The thread's histograms, an entry for each database. At its end the thread leaves them to a later thread.
class OpTimes::Registration {
 public:
  ~Registration() {
    for (Entry& entry : entries_) Release(&entry);
    t_recent = Recent{UINT64_MAX, {}};  // no database's: what this thread still does is not counted
  }

  // Also forgets databases that are gone.
  OfThread* Find(OpTimes* times) {
    DCHECK(times != nullptr);
    std::erase_if(entries_, [](const Entry& entry) {
      return entry.histograms->is_orphan.load(std::memory_order_relaxed);  // relaxed: sooner or later
    });
    for (const Entry& entry : entries_) {
      if (entry.owner == times->id_) return entry.histograms.get();
    }
    entries_.push_back({times->id_, times->Take()});
    return entries_.back().histograms.get();
  }

 private:
  struct Entry {
    uint64_t owner;
    std::shared_ptr<OfThread> histograms;
  };

  // release: pairs with the acquire of Take; the next thread goes on with these counts.
  static void Release(Entry* entry) {
    DCHECK(entry->histograms->is_taken.load(std::memory_order_relaxed));  // relaxed: this thread's
    entry->histograms->is_taken.store(false, std::memory_order_release);
  }

  std::vector<Entry> entries_;
};

thread_local constinit OpTimes::Recent OpTimes::t_recent = {};
thread_local OpTimes::Registration OpTimes::t_registration;

OpTimes::OfThread::~OfThread() {
  for (auto& histogram : histograms) delete histogram.load(std::memory_order_relaxed);  // relaxed: nobody else has it
}

OpTimes::OpTimes() : id_(next_id.fetch_add(1, std::memory_order_relaxed)) { DCHECK_GT(id_, 0u); }

OpTimes::~OpTimes() {
  MutexLock lock(&mutex_);
  for (const auto& thread : threads_) thread->is_orphan.store(true, std::memory_order_relaxed);  // relaxed: see Find
}

// Takes the histograms of a thread that has ended, or makes new ones.
std::shared_ptr<OpTimes::OfThread> OpTimes::Take() {
  DCHECK(t_recent.owner != UINT64_MAX);
  MutexLock lock(&mutex_);
  for (const auto& thread : threads_) {
    bool taken = false;
    // acquire: pairs with the release of the thread that had them.
    if (thread->is_taken.compare_exchange_strong(taken, true, std::memory_order_acquire)) return thread;
  }
  threads_.push_back(std::make_shared<OfThread>());
  return threads_.back();
}

// Made when it is first needed.
ThreadHistogram* OpTimes::Make(OfThread* mine, TimedOp op) {
  DCHECK_LT(static_cast<size_t>(op), kTimedOps);
  std::atomic<ThreadHistogram*>& place = mine->histograms[static_cast<size_t>(op)];
  ThreadHistogram* histogram = place.load(std::memory_order_relaxed);  // relaxed: this thread's
  if (histogram == nullptr) {
    histogram = new ThreadHistogram;
    place.store(histogram, std::memory_order_release);  // release: pairs with the acquire of Sum
  }
  return histogram;
}

// The thread's first call, or its first after one of another database. Without memory nothing is counted, and in a
// thread whose own objects are gone neither.
void OpTimes::AddFirst(TimedOp op, uint64_t ticks) {
  if (t_recent.owner == UINT64_MAX) return;
  try {
    OfThread* const mine = t_registration.Find(this);
    CHECK(mine != nullptr);
    Recent recent{id_, {}};
    for (size_t i = 0; i < kCalls; i++) recent.histograms[i] = Make(mine, static_cast<TimedOp>(i));
    t_recent = recent;
    recent.histograms[static_cast<size_t>(op)]->Add(ticks);
  } catch (const std::exception&) {
    // Without memory it is not counted.
  }
}

void OpTimes::AddMicros(OpTimes* times, TimedOp op, uint64_t micros) {
  if (times == nullptr || t_recent.owner == UINT64_MAX) return;
  const double ticks = static_cast<double>(micros) * 1000 / times->rate_.NanosPerTick();
  DCHECK(ticks >= 0);
  try {
    Make(t_registration.Find(times), op)->Add(static_cast<uint64_t>(ticks));
  } catch (const std::exception&) {
    // Without memory it is not counted.
  }
}

TimeSummary OpTimes::Sum(TimedOp op) const {
  DCHECK_LT(static_cast<size_t>(op), kTimedOps);
  TimeSummary summary;
  summary.nanos_per_tick = rate_.NanosPerTick();
  summary.buckets.resize(ThreadHistogram::kBuckets);
  double ticks = 0;
  MutexLock lock(&mutex_);
  for (const auto& thread : threads_) {
    // acquire: pairs with the release of Find.
    const ThreadHistogram* const histogram =
        thread->histograms[static_cast<size_t>(op)].load(std::memory_order_acquire);
    if (histogram == nullptr) continue;
    for (size_t i = 0; i < ThreadHistogram::kBuckets; i++) {
      const uint64_t n = histogram->bucket(i);
      // A span that came out negative is of two CPUs whose clocks differ, so it counts as none and not as the longest.
      const size_t counted = i < ThreadHistogram::kNegative ? i : 0;
      const double start = static_cast<double>(ThreadHistogram::BucketStart(counted));
      const double middle = start + static_cast<double>(ThreadHistogram::BucketSpan(counted) - 1) / 2;
      summary.buckets[counted] += n;
      summary.count += n;
      ticks += static_cast<double>(n) * middle;
    }
  }
  summary.sum_nanos = ticks * summary.nanos_per_tick;
  return summary;
}

// A kind of call that never occurred has no line, since it has no mean.
std::string OpTimes::Describe() const {
  std::string text;
  for (size_t i = 0; i < kTimedOps; i++) {
    const TimedOp op = static_cast<TimedOp>(i);
    const TimeSummary s = Sum(op);
    if (s.count == 0) continue;
    char line[200];
    [[maybe_unused]] const int length =
        snprintf(line, sizeof(line), "%s: count %llu mean %.3f p50 %.3f p99 %.3f p99.9 %.3f most %.3f us\n",
                 TimedOpName(op), static_cast<unsigned long long>(s.count),
                 s.sum_nanos / static_cast<double>(s.count) / 1e3, s.PercentileNanos(50) / 1e3,
                 s.PercentileNanos(99) / 1e3, s.PercentileNanos(99.9) / 1e3, s.PercentileNanos(100) / 1e3);
    DCHECK(length > 0 && static_cast<size_t>(length) < sizeof(line));
    text += line;
  }
  return text;
}

}  // namespace miodb
