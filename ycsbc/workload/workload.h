// CoreWorkload: the work of an operation. A Phase is the state that the threads of a load or run share; each thread has
// a Worker.
//
// A run chooses an operation by the proportions and a record by requestdistribution. New records continue behind
// recordcount; a read never asks for one whose insert has not returned.
//
//   read    get the record; with readallfields=false look for one field in it
//   update  all fields (writeallfields, or there is only one): put a new record. One field: get, replace it, put.
//   insert  put
//   scan    seek, then copy out up to so many records
//   rmw     get, then update
//
// The calls of the store are timed; making keys and values is not.

#ifndef MIODB_YCSBC_WORKLOAD_WORKLOAD_H_
#define MIODB_YCSBC_WORKLOAD_WORKLOAD_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/common/draw/random.h"
#include "benchmarks/common/engine.h"
#include "benchmarks/common/interrupt.h"
#include "ycsbc/workload/choosers.h"
#include "ycsbc/workload/measurements.h"
#include "ycsbc/workload/record.h"
#include "ycsbc/workload/settings.h"

namespace miodb::ycsb {

enum class PhaseKind { kLoad, kRun };

class Phase {
 public:
  Phase(const Settings& phase_settings, PhaseKind phase_kind);

  // Remembers the message of the first failure. Any thread.
  void Fail(const std::string& message);
  // Fail, and nobody goes on.
  void Abort(const std::string& message);
  std::string error() const;

  const Settings& settings;
  const PhaseKind kind;
  const RecordShape shape;
  InsertCounter inserts;
  SharedCounter turn{0};  // Of the sequential distribution.
  std::atomic<bool> stop{false};

  // Whether threads are to end: after an Abort, or where the program is interrupted. relaxed: seen soon enough
  bool IsStopped() const { return stop.load(std::memory_order_relaxed) || bench::Interrupt::StopRequested(); }

 private:
  mutable std::mutex mutex_;
  std::string error_;
};

class Worker {
 public:
  // All outlive the worker.
  Worker(Phase* phase, bench::Session* session, Recorder* recorder, uint64_t seed);

  // Does an operation of the phase. "late_nanos": how much later than due it begins.
  void Do(uint64_t late_nanos) {
    late_nanos_ = late_nanos;
    if (phase_->kind == PhaseKind::kLoad) {
      Load();
    } else {
      Transact();
    }
  }

 private:
  void Load();
  void Transact();
  void Read();
  void Update();
  void Insert();
  void Scan();
  void ReadModifyWrite();

  uint64_t ChooseRecord();
  size_t ChooseField() { return random_.Uniform(phase_->shape.fields()); }
  bool WritesAllFields() const { return phase_->settings.writeallfields || phase_->shape.fields() == 1; }
  Result GetRecord(std::string_view key, std::string_view* record);
  Result PutRecord(std::string_view key, std::string_view record);
  Result CheckRecord(std::string_view key, std::string_view record);
  void VerifyRecord(std::string_view key, std::string_view record);
  Result ScanFrom(std::string_view key, uint64_t records, uint64_t* seen);
  bool CopyOut(std::string_view record);
  Result UpdateRecord(std::string_view key, uint64_t* start, uint64_t* end);
  void Record(Op op, Result result, uint64_t start, uint64_t end) {
    recorder_->Record(op, result, start, end, late_nanos_);
  }

  Phase* const phase_;
  bench::Session* const session_;
  Recorder* const recorder_;
  bench::Random random_;
  KeyBuffer key_;
  RecordWriter writer_;
  const bool records_parts_;  // Whether the read and the update of a read-modify-write are recorded as such, too.
  std::unique_ptr<Chooser> records_;
  std::unique_ptr<Chooser> scan_lengths_;
  // Read, update, insert, scan; the rest are read-modify-writes. Running sums of the proportions, up to 1.
  double bounds_[4];
  std::vector<char> copy_;
  uint64_t late_nanos_ = 0;
};

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_WORKLOAD_WORKLOAD_H_
