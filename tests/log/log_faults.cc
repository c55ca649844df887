// The log is written twice by the writers of the engine, and read by the judge that recovers it at an open.

#include "tests/log/log_faults.h"

#include <algorithm>
#include <filesystem>

#include "miodb/write_batch.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/log/file_log_writer.h"
#include "src/log/log_history.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"
#include "tests/common/string_file.h"

namespace miodb::test {

namespace {

constexpr uint64_t kFileNumber = 7;
constexpr uint64_t kChunk = 77;

// Filler of chunks behind their frames, as NewPoolChunk has it.
constexpr char kUnwritten = '\xcc';

}  // namespace

void FaultCounts::Add(const FaultAnswer& answer) {
  faults++;
  missed += answer.missed ? 1 : 0;
  switch (answer.kind) {
    case FaultClass::kTold:
      told++;
      return;
    case FaultClass::kLast:
      last++;
      return;
    case FaultClass::kBefore:
      before++;
      return;
    case FaultClass::kHarmless:
      harmless++;
      return;
    case FaultClass::kWrong:
      wrong++;
      return;
  }
}

void FaultCounts::Add(const FaultCounts& other) {
  faults += other.faults;
  told += other.told;
  last += other.last;
  before += other.before;
  harmless += other.harmless;
  wrong += other.wrong;
  missed += other.missed;
}

// The earlier log had the sequences from 1 on, and is shown to recovery as flushed.
ClosedLog::ClosedLog(const LogShape& shape, uint64_t seed) : shape_(shape) {
  CHECK_GT(shape_.records, 1u);
  std::filesystem::create_directory(dir_ / "logs");
  Random random(seed);
  const std::vector<Update> before = DrawUpdates(&random);
  const std::vector<Update> now = DrawUpdates(&random);
  if (shape_.medium == LogMedium::kPool) {
    WriteChunk(before, 1, kChunk - 1);
    NewLife();
    WriteChunk(now, shape_.records + 1, kChunk);
  } else {
    WriteFile(before, 1);
    NewLife();
    WriteFile(now, shape_.records + 1);
  }
  CHECK_EQ(old_bytes_.size(), bytes_.size());
  CHECK_LE(used(), bytes_.size());
  CHECK(Recover(bytes_).kind == FaultClass::kHarmless);
}

// Keys and values that no compressor helps with, so that no part of a record looks like another one.
std::vector<Update> ClosedLog::DrawUpdates(Random* random) const {
  std::vector<Update> updates;
  for (uint64_t i = 0; i < shape_.records; i++) {
    updates.push_back({kTypeValue, random->Bytes(shape_.key_bytes), random->Bytes(shape_.value_bytes)});
  }
  return updates;
}

void ClosedLog::NewLife() {
  old_bytes_ = std::move(bytes_);
  bytes_.clear();
  begins_.clear();
  ends_.clear();
  written_.clear();
}

void ClosedLog::WriteFile(const std::vector<Update>& updates, uint64_t first_sequence) {
  StringSink file;
  FileLogWriter writer(&file, shape_.block_bytes, shape_.medium == LogMedium::kPaddedFile);
  for (const Update& update : updates) {
    WriteBatch batch;
    batch.Put(update.key, update.value);
    const uint64_t sequence = first_sequence + written_.size();
    WriteBatchInternal::SetSequence(&batch, sequence);
    const Slice contents = WriteBatchInternal::Contents(&batch);
    const uint64_t bytes_before = writer.bytes(), padding_before = writer.padding_bytes();
    const Status s = writer.Add(contents);
    CHECK(s.ok());
    written_.emplace_back(sequence, contents.ToString());
    begins_.push_back(bytes_before + writer.padding_bytes() - padding_before);
    ends_.push_back(writer.bytes());
  }
  bytes_ = std::move(file.contents);
}

// Chunks of both lives have one size and different ids, as chunks that take the same place one after the other.
void ClosedLog::WriteChunk(const std::vector<Update>& updates, uint64_t first_sequence, uint64_t chunk_id) {
  uint64_t capacity = 0;
  for (const Update& update : updates) capacity += FrameWriter::FrameSize(BodySize({update}));
  const std::unique_ptr<LogChunk> chunk = NewPoolChunk(&pool_, chunk_id, capacity);
  for (const Update& update : updates) {
    const uint64_t sequence = first_sequence + written_.size();
    begins_.push_back(chunk->used);
    const char* const body = WriteFrame(&writer_, chunk.get(), {update}, sequence).front();
    written_.emplace_back(sequence, std::string(body, BodySize({update})));
    ends_.push_back(chunk->used);
  }
  bytes_.assign(chunk->base, chunk->used);
  bytes_.resize(chunk->capacity, kUnwritten);
}

// Reads the log as an open does that takes a hole for damage. False if it says damage.
bool ClosedLog::Read(const std::string& content, std::vector<Record>* found) {
  LogRules rules;
  rules.policy = LogPolicy::kRecover;
  rules.in_chunks = rules.in_files = LogHoles::kAreDamage;
  LogHistory log(rules, [](const Problem&) {});
  if (shape_.medium == LogMedium::kPool) {
    log.AddChunk({kChunk, kExtentUnit * kChunk, content.size(), false, 0}, content.data(), pool_->secret());
  } else {
    WriteFileBytes(dir_ / ("logs/" + LogFileName(kFileNumber, shape_.block_bytes)), content);
    const Status s = log.AddFiles(Env::Default(), dir_ / "logs");
    CHECK(s.ok());
  }
  const Status judged = log.Judge(shape_.records, 0);
  if (judged.IsCorruption()) return false;
  CHECK(judged.ok());
  for (const LogPiece& piece : log.pieces()) {
    if (!piece.replayed()) continue;
    for (const FrameView& frame : piece.frames) {
      found->emplace_back(frame.first_sequence, std::string(frame.body, frame.end));
    }
    if (!piece.in_file()) continue;
    const Status s = log.ForEachBatch(piece, [&](const Slice& batch) {
      found->emplace_back(DecodeFixed64(batch.data()), batch.ToString());
      return Status::OK();
    });
    CHECK(s.ok());
  }
  return true;
}

bool ClosedLog::HasUntouchedFrom(size_t record, const std::string& damaged) const {
  for (; record < ends_.size(); record++) {
    const uint64_t begin = begins_[record], size = ends_[record] - begin;
    if (damaged.compare(begin, size, bytes_, begin, size) == 0) return true;
  }
  return false;
}

FaultAnswer ClosedLog::Recover(const std::string& damaged) {
  CHECK_EQ(bytes_.size(), damaged.size());
  FaultAnswer answer;
  std::vector<Record> found;
  if (!Read(damaged, &found)) {
    answer.kind = FaultClass::kTold;
    return answer;
  }
  if (found.size() > written_.size() || !std::equal(found.begin(), found.end(), written_.begin())) return answer;
  answer.kind = found.size() == written_.size()       ? FaultClass::kHarmless
                : found.size() + 1 == written_.size() ? FaultClass::kLast
                                                      : FaultClass::kBefore;
  answer.missed = HasUntouchedFrom(found.size(), damaged);
  return answer;
}

FaultCounts TurnBits(ClosedLog* log, uint64_t most, Random* random) {
  FaultCounts counts;
  const uint64_t bits = 8 * log->used();
  std::string damaged = log->bytes();
  for (uint64_t i = 0; i < std::min(most, bits); i++) {
    const uint64_t bit = bits <= most ? i : random->Uniform(bits);
    const auto turn = [&] { damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8)); };
    turn();
    counts.Add(log->Recover(damaged));
    turn();
  }
  return counts;
}

// The last sector ends with the log.
FaultCounts TearSectors(ClosedLog* log, const TornSector& torn, uint64_t faults, Random* random) {
  FaultCounts counts;
  const uint64_t sectors = (log->used() + torn.sector_bytes - 1) / torn.sector_bytes;
  for (uint64_t i = 0; i < faults; i++) {
    const uint64_t begin = torn.sector_bytes * random->Uniform(sectors);
    const uint64_t size = std::min(torn.sector_bytes, log->used() - begin);
    const bool from_begin = torn.part == TornPart::kPrefix || torn.part == TornPart::kWhole;
    const bool to_end = torn.part == TornPart::kSuffix || torn.part == TornPart::kWhole;
    const uint64_t from = from_begin ? 0 : random->Uniform(size);
    const uint64_t to = to_end ? size : from + 1 + random->Uniform(size - from);
    std::string damaged = log->bytes();
    if (torn.content == TornContent::kZeros) {
      std::fill_n(damaged.begin() + static_cast<ptrdiff_t>(begin + from), to - from, '\0');
    } else {
      damaged.replace(begin + from, to - from, log->old_bytes(), begin + from, to - from);
    }
    counts.Add(log->Recover(damaged));
  }
  return counts;
}

}  // namespace miodb::test
