#include "ycsbc/workload/workload.h"

#include <cstring>

#include "benchmarks/common/clock/sleep.h"
#include "benchmarks/common/clock/ticks.h"

namespace miodb::ycsb {

namespace {

using bench::Code;
using bench::Ticks;

// A load numbers its records from insertstart on, a run behind all that were loaded.
uint64_t FirstInsert(const Settings& settings, PhaseKind kind) {
  return kind == PhaseKind::kLoad ? settings.FirstRecord() : static_cast<uint64_t>(settings.recordcount);
}

}  // namespace

Phase::Phase(const Settings& phase_settings, PhaseKind phase_kind)
    : settings(phase_settings),
      kind(phase_kind),
      shape(phase_settings),
      inserts(FirstInsert(phase_settings, phase_kind)) {}

void Phase::Fail(const std::string& message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (error_.empty()) error_ = message;
}

void Phase::Abort(const std::string& message) {
  Fail(message);
  // Relaxed: the flag carries no data.
  stop.store(true, std::memory_order_relaxed);
}

std::string Phase::error() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

Worker::Worker(Phase* phase, bench::Session* session, Recorder* recorder, uint64_t seed)
    : phase_(phase),
      session_(session),
      recorder_(recorder),
      random_(seed),
      key_(phase->settings.insertorder == "hashed", phase->settings.Hash(),
           static_cast<int>(phase->settings.zeropadding)),
      writer_(phase->shape, phase->settings),
      records_parts_(phase->settings.OutputStyle() != Style::kMioDb) {
  if (phase->kind == PhaseKind::kLoad) return;
  const Settings& s = phase->settings;
  records_ = NewKeyChooser(s, &phase->inserts, &phase->turn);
  scan_lengths_ = NewScanLengthChooser(s);
  const double shares[] = {s.readproportion, s.updateproportion, s.insertproportion, s.scanproportion};
  double sum = s.readmodifywriteproportion;
  for (const double share : shares) sum += share;
  double running = 0;
  for (int i = 0; i < 4; i++) bounds_[i] = (running += shares[i]) / sum;
  // Rounding must not leave a gap that an operation without a share falls into.
  if (s.readmodifywriteproportion == 0) {
    for (int i = 3; i >= 0 && bounds_[i] > 1 - 1e-9; i--) bounds_[i] = 1;
  }
}

// ---- The calls of the store
// ------------------------------------------------------------------------------------------

Result Worker::GetRecord(std::string_view key, std::string_view* record) {
  switch (session_->Get(key, record)) {
    case Code::kOk:
      return Result::kOk;
    case Code::kNotFound:
      return Result::kNotFound;
    case Code::kError:
      break;
  }
  phase_->Fail("read of " + std::string(key) + ": " + session_->error());
  return Result::kError;
}

Result Worker::PutRecord(std::string_view key, std::string_view record) {
  if (session_->Put(key, record) == Code::kOk) return Result::kOk;
  phase_->Fail("write of " + std::string(key) + ": " + session_->error());
  return Result::kError;
}

// Looks for the field that a read wants; an empty value is a record without fields.
Result Worker::CheckRecord(std::string_view key, std::string_view record) {
  const Settings& s = phase_->settings;
  if (s.readallfields && !s.readallfieldsbyname) return Result::kOk;
  const size_t first = s.readallfields ? 0 : ChooseField();
  const size_t last = s.readallfields ? phase_->shape.fields() - 1 : first;
  for (size_t field = first; field <= last; field++) {
    Field found;
    bool is_sound = false;
    if (FindField(record, phase_->shape.name(field), &found, &is_sound) || is_sound) continue;
    phase_->Fail("read of " + std::string(key) + ": the value is no record");
    return Result::kError;
  }
  return Result::kOk;
}

void Worker::VerifyRecord(std::string_view key, std::string_view record) {
  if (!phase_->shape.is_verifiable()) return;
  const uint64_t start = Ticks::Now();
  Result result = Result::kError;
  if (!record.empty()) result = writer_.Verify(key, record) ? Result::kOk : Result::kUnexpectedState;
  recorder_->Record(Op::kVerify, result, start, Ticks::Now(), 0);
  if (result != Result::kOk) phase_->Fail("verification of " + std::string(key) + ": not the value that was written");
}

// A client of a scan gets its records, so they are copied out of the store.
bool Worker::CopyOut(std::string_view record) {
  if (!phase_->settings.readallfields) {
    Field found;
    bool is_sound = false;
    record = FindField(record, phase_->shape.name(ChooseField()), &found, &is_sound) ? found.value : std::string_view();
    if (!is_sound) return false;
  }
  if (copy_.size() < record.size()) copy_.resize(2 * record.size());
  if (!record.empty()) std::memcpy(copy_.data(), record.data(), record.size());
  // The copy counts as used, so that the compiler keeps it.
  asm volatile("" : : "r"(copy_.data()) : "memory");
  return true;
}

Result Worker::ScanFrom(std::string_view key, uint64_t records, uint64_t* seen) {
  const std::unique_ptr<bench::Cursor> cursor = session_->NewCursor();
  bench::Entry entry;
  *seen = 0;
  bool is_there = cursor->Seek(key, &entry);
  while (is_there) {
    if (!CopyOut(entry.value)) {
      phase_->Fail("scan at " + std::string(entry.key) + ": the value is no record");
      return Result::kError;
    }
    if (++*seen == records) return Result::kOk;
    is_there = cursor->Next(&entry);
  }
  const bench::Outcome outcome = cursor->Check();
  if (outcome.ok()) return Result::kOk;
  phase_->Fail("scan from " + std::string(key) + ": " + outcome.message);
  return Result::kError;
}

// Stores when the calls of the store began and ended.
Result Worker::UpdateRecord(std::string_view key, uint64_t* start, uint64_t* end) {
  if (WritesAllFields()) {
    const std::string_view record = writer_.Build(key, &random_);
    *start = Ticks::Now();
    const Result result = PutRecord(key, record);
    *end = Ticks::Now();
    return result;
  }
  const size_t field = ChooseField();
  *start = Ticks::Now();
  std::string_view stored;
  Result result = GetRecord(key, &stored);
  if (result == Result::kOk) {
    const std::string_view record = writer_.Replace(stored, key, field, &random_);
    if (record.empty()) {
      phase_->Fail("update of " + std::string(key) + ": the value is no record");
      result = Result::kError;
    } else {
      result = PutRecord(key, record);
    }
  }
  *end = Ticks::Now();
  return result;
}

// ---- Operations
// ------------------------------------------------------------------------------------------------------

uint64_t Worker::ChooseRecord() {
  uint64_t record = records_->Next(&random_);
  while (record >= phase_->inserts.End()) record = records_->Next(&random_);
  return record;
}

void Worker::Load() {
  const Settings& s = phase_->settings;
  const uint64_t number = phase_->inserts.Next();
  const std::string_view key = key_.Make(number);
  const std::string_view record = writer_.Build(key, &random_);
  for (int64_t failures = 0;;) {
    const uint64_t start = Ticks::Now();
    const Code code = session_->Put(key, record);
    const uint64_t end = Ticks::Now();
    Record(Op::kInsert, code == Code::kOk ? Result::kOk : Result::kError, start, end);
    if (code == Code::kOk) break;
    if (++failures <= s.insertion_retry_limit && !phase_->IsStopped()) {
      const uint64_t wait = static_cast<uint64_t>(s.insertion_retry_interval) * Ticks::kNanosPerSecond;
      bench::SleepUntil(Ticks::MonotonicNanos() + wait, [this] { return phase_->IsStopped(); });
      continue;
    }
    const std::string message = "insert of " + std::string(key) + ": " + session_->error();
    if (s.insertion_keep_going) {
      phase_->Fail(message);
    } else {
      phase_->Abort(message);
    }
    break;
  }
  phase_->inserts.Acknowledge(number);
}

void Worker::Transact() {
  const double choice = random_.Unit();
  if (choice < bounds_[0]) return Read();
  if (choice < bounds_[1]) return Update();
  if (choice < bounds_[2]) return Insert();
  if (choice < bounds_[3]) return Scan();
  ReadModifyWrite();
}

void Worker::Read() {
  const std::string_view key = key_.Make(ChooseRecord());
  std::string_view record;
  const uint64_t start = Ticks::Now();
  Result result = GetRecord(key, &record);
  if (result == Result::kOk) result = CheckRecord(key, record);
  Record(Op::kRead, result, start, Ticks::Now());
  if (result == Result::kOk) VerifyRecord(key, record);
}

void Worker::Update() {
  const std::string_view key = key_.Make(ChooseRecord());
  uint64_t start = 0;
  uint64_t end = 0;
  const Result result = UpdateRecord(key, &start, &end);
  Record(Op::kUpdate, result, start, end);
}

void Worker::Insert() {
  const uint64_t number = phase_->inserts.Next();
  const std::string_view key = key_.Make(number);
  const std::string_view record = writer_.Build(key, &random_);
  const uint64_t start = Ticks::Now();
  const Result result = PutRecord(key, record);
  Record(Op::kInsert, result, start, Ticks::Now());
  phase_->inserts.Acknowledge(number);
}

void Worker::Scan() {
  const std::string_view key = key_.Make(ChooseRecord());
  const uint64_t records = scan_lengths_->Next(&random_);
  uint64_t seen = 0;
  const uint64_t start = Ticks::Now();
  const Result result = ScanFrom(key, records, &seen);
  const uint64_t end = Ticks::Now();
  Record(Op::kScan, result, start, end);
  if (result == Result::kOk && seen > 0) {
    const uint64_t later = start < end ? start + (end - start) / seen : start;
    recorder_->Record(Op::kScanPerRecord, result, start, later, 0);
  }
}

// The read and the update of an operation are recorded as such, too, except for MioDB's output, which counts each
// operation once.
void Worker::ReadModifyWrite() {
  const std::string_view key = key_.Make(ChooseRecord());
  std::string_view record;
  const uint64_t start = Ticks::Now();
  Result result = GetRecord(key, &record);
  if (result == Result::kOk) result = CheckRecord(key, record);
  const uint64_t read_end = Ticks::Now();
  if (records_parts_) Record(Op::kRead, result, start, read_end);
  uint64_t end = read_end;
  if (result == Result::kOk) {
    VerifyRecord(key, record);
    uint64_t update_start = 0;
    result = UpdateRecord(key, &update_start, &end);
    if (records_parts_) {
      recorder_->Record(Op::kUpdate, result, update_start, end, late_nanos_ + Ticks::NanosBetween(start, update_start));
    }
  }
  Record(Op::kReadModifyWrite, result, start, end);
}

}  // namespace miodb::ycsb
