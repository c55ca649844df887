// Faults of a log that was written and closed: bits that turn, and sectors of which a part does not arrive. A fault is
// put into a copy of the log, the copy is recovered, and the answer falls into a class (docs/crash_model.md).
//
// Threads: one.

#ifndef MIODB_TESTS_LOG_LOG_FAULTS_H_
#define MIODB_TESTS_LOG_LOG_FAULTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/log/file_log_format.h"
#include "tests/common/random/random.h"
#include "tests/common/test_dir.h"
#include "tests/log/log_pool.h"

namespace miodb::test {

enum class LogMedium { kFile, kPaddedFile, kPool };

// A log of so many records; each is a put that was written alone.
struct LogShape {
  LogMedium medium = LogMedium::kFile;
  size_t block_bytes = kUsualLogBlock;  // of files
  uint64_t records = 200;
  size_t key_bytes = 16;
  size_t value_bytes = 100;
};

// The class of a fault, by what recovery makes of it.
enum class FaultClass {
  kTold,      // it is damage: the recovery is Corruption
  kLast,      // the log ends before its last record
  kBefore,    // the log ends earlier
  kHarmless,  // every record is there: the fault changed nothing, or padding
  kWrong,     // anything else: a record that was never written, or one at a wrong place
};

struct FaultAnswer {
  FaultClass kind = FaultClass::kWrong;
  bool missed = false;  // the log ends before a record that the fault did not touch
};

struct FaultCounts {
  uint64_t faults = 0;
  uint64_t told = 0;
  uint64_t last = 0;
  uint64_t before = 0;
  uint64_t harmless = 0;
  uint64_t wrong = 0;
  uint64_t missed = 0;  // of last and before

  void Add(const FaultAnswer& answer);
  void Add(const FaultCounts& other);
};

// A log as it was closed, over the bytes of an earlier log of the same shape whose writes are all in tables.
class ClosedLog {
 public:
  // seed: of keys and values.
  ClosedLog(const LogShape& shape, uint64_t seed);

  // The bytes of the log, and the bytes that lay there before.
  const std::string& bytes() const { return bytes_; }
  const std::string& old_bytes() const { return old_bytes_; }
  // Begin and end of each record; padding in front of a record is no part of it. bytes() may go on behind the last one.
  const std::vector<uint64_t>& begins() const { return begins_; }
  const std::vector<uint64_t>& ends() const { return ends_; }
  uint64_t used() const { return ends_.back(); }

  // Recovers a copy that has a fault. REQUIRES: damaged.size() == bytes().size().
  FaultAnswer Recover(const std::string& damaged);

 private:
  using Record = std::pair<uint64_t, std::string>;  // its sequence, and its payload

  std::vector<Update> DrawUpdates(Random* random) const;
  void WriteFile(const std::vector<Update>& updates, uint64_t first_sequence);
  void WriteChunk(const std::vector<Update>& updates, uint64_t first_sequence, uint64_t chunk_id);
  void NewLife();
  bool Read(const std::string& content, std::vector<Record>* found);
  bool HasUntouchedFrom(size_t record, const std::string& damaged) const;

  const LogShape shape_;
  TestDir dir_;
  TestPool pool_;
  FrameWriter writer_{&pool_->persist(), pool_->secret()};
  std::string bytes_;
  std::string old_bytes_;
  std::vector<uint64_t> begins_;
  std::vector<uint64_t> ends_;
  std::vector<Record> written_;
};

// The part of a sector that did not arrive, and what lies there instead.
enum class TornPart { kPrefix, kMiddle, kSuffix, kWhole };
enum class TornContent { kZeros, kOld };

struct TornSector {
  uint64_t sector_bytes;
  TornPart part;
  TornContent content;
};

// Turns each bit of the log once, or so many bits that are drawn, if there are more.
FaultCounts TurnBits(ClosedLog* log, uint64_t most, Random* random);

// Tears so many sectors, one in each copy. Sector and bounds of the part are drawn.
FaultCounts TearSectors(ClosedLog* log, const TornSector& torn, uint64_t faults, Random* random);

}  // namespace miodb::test

#endif  // MIODB_TESTS_LOG_LOG_FAULTS_H_
