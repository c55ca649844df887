#include "src/trace/access_trace.h"

#include <cstdio>
#include <utility>

#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"
#include "src/util/clock/clock.h"

// Accesses are collected into a payload of some tens of kilobytes, which is written as one record: a head for each
// would be as long as the access. A crash takes what is collected with it.

namespace miodb {

namespace {

constexpr size_t kPayloadBytes = 64 << 10;

Status WrongSample(const std::string& text) {
  return Status::InvalidArgument("Options::device_trace_sample is \"" + text + "\"",
                                 "neither empty nor every:N, with N from 1 to 1000000, nor seconds:FROM-TO");
}

static_assert(kAccessRun > 0);

}  // namespace

Status AccessSample::Parse(const std::string& text, AccessSample* sample) {
  CHECK(sample != nullptr);
  *sample = AccessSample();
  if (text.empty()) return Status::OK();
  unsigned long every = 0;  // NOLINT: as sscanf has it
  double from = 0, to = 0;
  char behind = 0;
  if (std::sscanf(text.c_str(), "every:%lu%c", &every, &behind) == 1 && every >= 1 && every <= 1000000) {
    sample->every = every;
    return Status::OK();
  }
  constexpr double kMostSeconds = 1e9, kNanos = 1e9;
  if (std::sscanf(text.c_str(), "seconds:%lf-%lf%c", &from, &to, &behind) != 2) return WrongSample(text);
  if (!(from >= 0 && from < to && to <= kMostSeconds)) return WrongSample(text);
  sample->from_nanos = static_cast<uint64_t>(from * kNanos);
  sample->to_nanos = static_cast<uint64_t>(to * kNanos);
  DCHECK_LE(sample->from_nanos, sample->to_nanos);
  return Status::OK();
}

// The sample is parsed before the file is made: a wrong option leaves no file.
Status AccessTrace::Start(const std::string& path, const std::string& sample, std::unique_ptr<AccessTrace>* trace) {
  trace->reset();
  return NoThrow(path, [&] {
    AccessSample parsed;
    Status s = AccessSample::Parse(sample, &parsed);
    std::unique_ptr<TraceWriter> writer;
    if (s.ok()) s = NewFileTraceWriter(path, &writer);
    if (!s.ok()) return s;
    auto made = std::make_unique<AccessTrace>(std::move(writer), parsed);
    {
      const MutexLock lock(&made->mutex_);
      s = made->recorder_.status();
    }
    if (s.ok()) *trace = std::move(made);
    return s;
  });
}

// A failure to begin is kept by the recorder.
AccessTrace::AccessTrace(std::unique_ptr<TraceWriter> writer, const AccessSample& sample) : sample_(sample) {
  CHECK_GT(sample_.every, 0u);
  const MutexLock lock(&mutex_);
  recorder_.Begin(std::move(writer), true).IgnoreError();
}

// A thread's accesses are counted whether its run is recorded or not. Threads that share a number share its count.
bool AccessTrace::Takes(const TraceAccess& access, uint64_t nanos) {
  if (nanos < sample_.from_nanos || nanos >= sample_.to_nanos) return false;
  if (sample_.every == 1) return true;
  if (seen_.size() <= access.thread) seen_.resize(size_t{access.thread} + 1);
  return seen_[access.thread]++ / kAccessRun % sample_.every == 0;
}

// The time is taken under the mutex, so times ascend. An access that finds no memory ends the trace.
void AccessTrace::OnAccess(uint64_t base, const TraceAccess& access) {
  const MutexLock lock(&mutex_);
  if (!recorder_.runs() || !recorder_.status().ok()) return;
  TraceAccess timed = access;
  timed.nanos = NowNanos() - recorder_.start_nanos();
  DCHECK_EQ(access.nanos, 0u);  // the time is told here
  const Status s = NoThrow("device trace", [&] {
    mutex_.AssertHeld();  // for the analysis, which does not see that the call is made at once
    if (!Takes(timed, timed.nanos)) return Status::OK();
    if (!payload_.Takes(timed.nanos)) WritePayload();
    payload_.Add(base, timed);
    accesses_++;
    if (payload_.bytes().size() >= kPayloadBytes) WritePayload();
    return Status::OK();
  });
  if (!s.ok()) recorder_.Fail(s);
}

void AccessTrace::WritePayload() {
  DCHECK(!payload_.empty());
  const Slice bytes(payload_.bytes());
  recorder_.Record([&](TraceEncoder encoder, uint64_t micros) { encoder.Accesses(micros, bytes); });
  payload_.clear();
}

Status AccessTrace::End() {
  const MutexLock lock(&mutex_);
  if (!recorder_.runs()) return recorder_.status();
  if (!payload_.empty()) WritePayload();
  return recorder_.End();
}

uint64_t AccessTrace::accesses() const {
  const MutexLock lock(&mutex_);
  return accesses_;
}

}  // namespace miodb
