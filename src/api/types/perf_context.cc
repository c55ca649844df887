#include "miodb/perf_context.h"

#include <cstdio>

#include "src/util/check/check.h"
#include "src/util/clock/perf_clock.h"

// The times that a thread has asked for, and their text.

namespace miodb {

namespace {

// Every thread has one from its beginning, and it goes with the thread: a pointer to another thread's must not be
// kept.
thread_local PerfContext t_context;

struct Stage {
  const char* name;
  PerfClock::Field nanos;
};

constexpr Stage kPutStages[] = {
    {"wait", &PerfContext::put_wait},         {"room", &PerfContext::put_room},   {"log", &PerfContext::put_log},
    {"memtable", &PerfContext::put_memtable}, {"fence", &PerfContext::put_fence}, {"leave", &PerfContext::put_leave},
};

constexpr Stage kGetStages[] = {
    {"memtable", &PerfContext::get_memtable}, {"filter", &PerfContext::get_filter}, {"index", &PerfContext::get_index},
    {"record", &PerfContext::get_record},     {"ssd", &PerfContext::get_ssd},
};

// Every field once, for Add. The assertion below fails when a field is added to the struct and not here.
constexpr PerfClock::Field kFields[] = {
    &PerfContext::puts,          &PerfContext::put_total,       &PerfContext::gets,
    &PerfContext::get_total,     &PerfContext::put_wait,        &PerfContext::put_room,
    &PerfContext::put_log,       &PerfContext::put_memtable,    &PerfContext::put_fence,
    &PerfContext::put_leave,     &PerfContext::get_memtable,    &PerfContext::get_filter,
    &PerfContext::get_index,     &PerfContext::get_record,      &PerfContext::get_ssd,
    &PerfContext::filters_asked, &PerfContext::tables_searched, &PerfContext::records_kept,
};
static_assert(sizeof(kFields) / sizeof(kFields[0]) * sizeof(uint64_t) == sizeof(PerfContext));

// Zero calls give 0 and not a division by nothing.
std::string Per(uint64_t sum, uint64_t calls) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f", calls == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(calls));
  return text;
}

// The rest is what lies between the stages; it is never negative, although clock readings are taken at slightly
// different places.
template <size_t kCount>
std::string Line(const char* name, const PerfContext& context, uint64_t calls, uint64_t total,
                 const Stage (&stages)[kCount]) {
  // Averages over the calls that were sampled; times are in nanoseconds.
  std::string line = std::string(name) + ": " + Per(total, calls) + " ns of " + std::to_string(calls) + " sampled:";
  uint64_t rest = total;
  for (const Stage& stage : stages) {
    line += std::string(" ") + stage.name + " " + Per(context.*stage.nanos, calls) + ",";
    rest -= context.*stage.nanos < rest ? context.*stage.nanos : rest;
  }
  DCHECK_LE(rest, total);
  return line + " rest " + Per(rest, calls);
}

}  // namespace

// Null while the thread measures nothing, so the check in a put or a get is one load and one branch.
thread_local constinit PerfContext* t_perf = nullptr;

// Out of line: a put with the level off runs past a branch and no more code.
void PerfClock::AddLap(Field stage) {
  const uint64_t now = NowNanos();
  DCHECK(start_ <= last_ && last_ <= now);
  context_->*stage += now - last_;
  last_ = now;
}

// The total is measured by itself and not summed up from the stages, so that what no stage covers can be shown.
void PerfClock::AddTotal(Field total, Field calls) {
  DCHECK_GE(last_, start_);
  context_->*total += NowNanos() - start_;
  context_->*calls += 1;
}

// For programs that add up the contexts of several threads.
void PerfContext::Add(const PerfContext& other) {
  for (const PerfClock::Field field : kFields) this->*field += other.*field;
}

// A line for puts and a line for gets, each stage as nanoseconds of a call on average.
std::string PerfContext::ToString() const {
  return Line("put", *this, puts, put_total, kPutStages) + "\n" + Line("get", *this, gets, get_total, kGetStages) +
         "; " + std::to_string(filters_asked) + " filters asked, " + std::to_string(tables_searched) +
         " tables searched, " + std::to_string(records_kept) + " records kept\n";
}

// A stage that is under way keeps the context it began with, so switching in the middle of a call is harmless.
// The level is the calling thread's alone.
void SetPerfLevel(PerfLevel level) { t_perf = level == kPerfOff ? nullptr : &t_context; }

PerfContext* GetPerfContext() { return &t_context; }

}  // namespace miodb
