#include "tests/stress/db_stress/plan.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "src/util/bytes/coding.h"
#include "src/util/bytes/hash.h"
#include "tests/common/random/merge_policies.h"
#include "tests/common/random/option_sets.h"
#include "tests/common/random/random.h"
#include "tests/stress/db_stress/operands.h"

namespace miodb::test {

namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

// A value begins with its version, its unit and its member, as far as it is long enough; the rest is a piece of noise.
constexpr size_t kHeaderBytes = 12;
constexpr size_t kNoiseBytes = 128 * kKiB;
constexpr size_t kNoisePiece = 64 * kKiB;

const std::string& Noise() {
  static const std::string noise = Random(0x6e6f697365).Bytes(kNoiseBytes);
  return noise;
}

std::string KeyText(uint32_t unit, uint32_t member) {
  char number[16];
  std::snprintf(number, sizeof(number), "%06u", unit);
  // The member comes first, so that the keys of one batch lie far apart. Some keys share more bytes than an index node
  // compares at once.
  return static_cast<char>('0' + member) + (unit % 3 == 0 ? std::string(24, 'k') : std::string()) + number;
}

template <typename T, size_t n>
T Any(Random* random, const T (&choices)[n]) {
  return choices[random->Uniform(n)];
}

}  // namespace

StressData::StressData(uint64_t seed, uint64_t generation, bool fast) : salt_(Mix64(seed, generation)) {
  Random random(Mix64(salt_, 1));
  if (fast) {
    profile_ = ValueProfile::kFast;
    units_ = 1024;
  } else {
    profile_ = Any(&random, {ValueProfile::kSmall, ValueProfile::kMixed, ValueProfile::kMixed, ValueProfile::kLarge});
    // Large values in a small pool, or many small ones, make it run full.
    const bool small = random.OneIn(3);
    units_ = profile_ == ValueProfile::kLarge ? 100 : Any<uint32_t>(&random, {40, 200, 600, 2000});
    if (small) pool_size_ = Any(&random, {512 * kKiB, kMiB, 2 * kMiB, 4 * kMiB});
    if (small && profile_ == ValueProfile::kLarge) pool_size_ *= 4;
  }
  ssd_ = !fast && Random(Mix64(salt_, 2)).OneIn(3);
  is_volatile_ = Random(Mix64(salt_, 3)).OneIn(3);
  two_regions_ = !fast && pool_size_ == 0 && Random(Mix64(salt_, 4)).OneIn(3);
  ranks_.resize(size_t{units_} * kMembersOfGroup);
  for (uint32_t unit = 0; unit < units_; unit++) {
    for (uint32_t member = 0; member < Members(unit); member++) {
      keys_.push_back({KeyText(unit, member), unit, member});
    }
  }
  std::sort(keys_.begin(), keys_.end(), [](const StressKey& a, const StressKey& b) { return a.text < b.text; });
  for (uint32_t i = 0; i < keys_.size(); i++) ranks_[keys_[i].unit * kMembersOfGroup + keys_[i].member] = i;
}

uint64_t StressData::Hash(uint32_t unit, uint32_t member, uint32_t version) const {
  return Mix64(Mix64(salt_, uint64_t{unit} << 32 | version), member);
}

bool StressData::IsDeletion(uint32_t unit, uint32_t version) const {
  return version == 0 || Mix64(salt_ ^ unit, version) % 5 == 0;
}

bool StressData::IsMerged(uint32_t unit, uint32_t version) const { return Mix64(salt_ ^ unit, version) % 7 < 3; }

size_t StressData::ValueSize(uint64_t hash) const {
  Random random(hash);
  const uint64_t dice = random.Uniform(256);
  switch (profile_) {
    case ValueProfile::kFast:
      return kHeaderBytes + 4;
    case ValueProfile::kSmall:
      return random.Uniform(64);
    case ValueProfile::kMixed:
      return random.Uniform(dice == 0 ? 80 * kKiB : dice < 10 ? 6 * kKiB : dice < 30 ? 8 : 300);
    case ValueProfile::kLarge:
      return random.Uniform(dice < 4 ? 300 * kKiB : dice < 64 ? 24 * kKiB : 2 * kKiB);
  }
  return 0;
}

std::string StressData::Value(uint32_t unit, uint32_t member, uint32_t version) const {
  const uint64_t hash = Hash(unit, member, version);
  // A group is checked for being whole, so its values are long enough to tell their version.
  const size_t size = std::max(ValueSize(hash), Members(unit) > 1 ? kHeaderBytes : 0);
  std::string value;
  PutFixed32(&value, version);
  PutFixed32(&value, unit);
  PutFixed32(&value, member);
  const char* const noise = Noise().data() + hash % kNoisePiece;
  while (value.size() < size) value.append(noise, std::min(size - value.size(), kNoisePiece));
  value.resize(size);
  return value;
}

bool StressData::IsValue(uint32_t unit, uint32_t member, uint32_t version, const Slice& value) const {
  const uint64_t hash = Hash(unit, member, version);
  const size_t size = std::max(ValueSize(hash), Members(unit) > 1 ? kHeaderBytes : 0);
  if (value.size() != size) return false;
  char header[kHeaderBytes];
  EncodeFixed32(header, version);
  EncodeFixed32(header + 4, unit);
  EncodeFixed32(header + 8, member);
  if (memcmp(value.data(), header, std::min(size, kHeaderBytes)) != 0) return false;
  const char* const noise = Noise().data() + hash % kNoisePiece;
  for (size_t at = kHeaderBytes; at < size; at += kNoisePiece) {
    if (memcmp(value.data() + at, noise, std::min(size - at, kNoisePiece)) != 0) return false;
  }
  return true;
}

bool StressData::ClaimedVersion(const Slice& value, uint32_t* version) {
  if (value.size() < 4) return false;
  *version = DecodeFixed32(value.data());
  return true;
}

namespace {

// An SSD tier into which nearly everything goes.
void PlanSsd(Random* random, Options* o) {
  o->ssd_path = kSsdInDirectory;
  o->nvm_budget = Any(random, {64 * kKiB, 256 * kKiB, kMiB});
  o->ssd_levels = 1 + static_cast<int>(random->Uniform(4));
  o->ssd_level_size = Any(random, {uint64_t{0}, 16 * kKiB, 128 * kKiB, kMiB});
  o->ssd_level_multiplier = 2 + static_cast<int>(random->Uniform(8));
  o->ssd_file_size = Any(random, {4 * kKiB, 32 * kKiB, 256 * kKiB});
  o->max_background_ssd_jobs = 1 + static_cast<int>(random->Uniform(4));
  o->ssd_rate_limit = random->OneIn(8) ? 32 * kMiB : 0;
  o->compaction_readahead_size = Any(random, {size_t{0}, size_t{10000}, size_t{kMiB}});
  o->multi_get_io_uring = random->OneIn(2);
  o->multi_get_threads = static_cast<int>(random->Uniform(4));
  o->block_size = Any<size_t>(random, {64, 512, 4 * kKiB});
  o->block_restart_interval = Any(random, {1, 3, 16});
  o->compression = Any(random, {kNoCompression, kSnappyCompression, kZstdCompression});
  o->max_open_files = Any(random, {16, 1000});
}

}  // namespace

StressRound PlanRound(const StressFlags& flags, const StressData& data, uint64_t number) {
  Random random(Mix64(Mix64(flags.seed, 2), number));
  StressRound round;
  round.number = number;
  Options& o = round.options;
  o.create_if_missing = true;
  o.pool_size = data.pool_size();
  o.write_buffer_size = Any<size_t>(&random, {4 * kKiB, 16 * kKiB, 64 * kKiB, 512 * kKiB});
  if (data.pool_size() > 0) o.write_buffer_size = std::min<size_t>(o.write_buffer_size, data.pool_size() / 32);
  o.log_chunk_size = random.OneIn(3) ? 4 * kKiB : 0;
  o.max_immutable_memtables = 1 + static_cast<int>(random.Uniform(4));
  o.keep_log_bytes = number % 3 == 0 ? 64 * kKiB : 0;
  o.num_levels = 2 + static_cast<int>(random.OneIn(8) ? random.Uniform(15) : random.Uniform(5));
  o.level_trigger = 2 + static_cast<int>(random.Uniform(4));
  o.merge_policy = AnyMergePolicy(&random);
  o.merge_operator = StressOperator();
  o.max_background_merges = static_cast<int>(random.Uniform(5));
  o.partition_size = Any(&random, {4 * kKiB, 16 * kKiB, 128 * kKiB, kMiB});
  o.settle_after_idle_ms = Any(&random, {0, 1, 100});
  o.lazy_copy_limit = Any<size_t>(&random, {0, 100, 4 * kKiB, kMiB * kKiB});
  o.space_amplification_percent = Any(&random, {105, 125, 200, 400});
  o.filter_bits_per_key = Any(&random, {0, 4, 10, 32});
  o.pool_growth = Any(&random, {4 * kKiB, 64 * kKiB, kMiB});
  o.log_mode = Any(&random, {kLogOff, kLogFile, kLogPmem, kLogPmem});
  o.wal_block_size = Any<size_t>(&random, {256, 4 * kKiB, 32 * kKiB, 64 * kKiB});
  o.wal_padding = random.OneIn(2);
  o.wal_bytes_per_sync = random.OneIn(2) ? 0 : 64 * kKiB;
  o.wal_size_limit_mb = random.OneIn(2);
  o.max_total_wal_size = random.OneIn(2) ? 0 : 64 * kKiB;
  o.persist_mode = random.OneIn(3) ? kPersistFile : kPersistAuto;
  o.paranoid_checks = random.OneIn(4);
  const int writers = 1 + static_cast<int>(random.Uniform(kMaxStressWriters));
  round.writers = flags.threads > 0 ? std::min(flags.threads, kMaxStressWriters) : writers;
  constexpr KillTarget kTargets[] = {KillTarget::kOpening, KillTarget::kWriting,  KillTarget::kWriting,
                                     KillTarget::kWriting, KillTarget::kFlushing, KillTarget::kCompacting,
                                     KillTarget::kClosing, KillTarget::kClosing};
  round.target = random.OneIn(16) ? KillTarget::kNever : Any(&random, kTargets);
  round.run_micros = round.target == KillTarget::kOpening ? 0 : random.Skewed(20);
  // Opening and closing are soon over.
  const bool brief = round.target == KillTarget::kOpening || round.target == KillTarget::kClosing;
  round.late_micros = brief ? random.Skewed(10) : random.Uniform(3000);
  round.verifier_is_killed = random.OneIn(5);
  round.verifier_micros = random.Uniform(20000);
  round.settles = random.OneIn(3);
  if (flags.ssd || data.ssd()) {
    Random ssd_random(Mix64(Mix64(flags.seed, 3), number));
    PlanSsd(&ssd_random, &o);
    round.file_faults = Any(&ssd_random, {uint64_t{0}, uint64_t{0}, uint64_t{20}, uint64_t{300}});
    if (data.is_volatile()) {
      o.pool_path = "anonymous";
      o.log_mode = kLogFile;
      o.persist_mode = kPersistAuto;
    }
  }
  if (data.two_regions() && o.pool_path.empty()) {
    o.pool_size = kMiB;
    NvmRegion& region = o.nvm_regions.emplace_back();
    region.path = kRegionInDirectory;
  }
  if (flags.reads) {
    o.log_mode = kLogPmem;
    o.paranoid_checks = false;
    o.persist_mode = kPersistAuto;
    round.writers = std::min(round.writers, 2);
    round.target = KillTarget::kNever;
    round.run_micros = 4000 * 1000;
    round.verifier_is_killed = false;
  }
  return round;
}

std::string StressRound::Describe() const {
  static const char* const kTargetNames[] = {"opening", "writing", "flushing", "compacting", "closing", "never"};
  char text[470];
  std::snprintf(text, sizeof(text),
                "round %llu, kill %s, %d writers, memtable %zu, chunk %zu, %d sealed, %d levels, %s, trigger %d, %d "
                "merges, settle %d ms, "
                "partition %llu, lazy copy %zu, amplification %d, filter %d, growth %llu, pool %llu, log %s, %s%s%s%s",
                static_cast<unsigned long long>(number), kTargetNames[static_cast<int>(target)], writers,
                options.write_buffer_size, options.log_chunk_size, options.max_immutable_memtables, options.num_levels,
                options.merge_policy.c_str(), options.level_trigger, options.max_background_merges,
                options.settle_after_idle_ms, static_cast<unsigned long long>(options.partition_size),
                options.lazy_copy_limit, options.space_amplification_percent, options.filter_bits_per_key,
                static_cast<unsigned long long>(options.pool_growth),
                static_cast<unsigned long long>(options.pool_size),
                options.log_mode == kLogOff    ? "off"
                : options.log_mode == kLogFile ? "file"
                                               : "pmem",
                !options.pool_path.empty()             ? "volatile"
                : options.persist_mode == kPersistFile ? "file mode"
                                                       : "mode of the medium",
                options.nvm_regions.empty() ? "" : ", two regions", options.paranoid_checks ? ", paranoid" : "",
                options.ssd_path.empty() ? "" : ", ssd");
  if (options.ssd_path.empty()) return text;
  char ssd[200];
  std::snprintf(ssd, sizeof(ssd),
                " budget %llu, %d levels from %llu times %d, files %llu, blocks %zu, %d jobs, faults 1 in %llu",
                static_cast<unsigned long long>(options.nvm_budget), options.ssd_levels,
                static_cast<unsigned long long>(options.ssd_level_size), options.ssd_level_multiplier,
                static_cast<unsigned long long>(options.ssd_file_size), options.block_size,
                options.max_background_ssd_jobs, static_cast<unsigned long long>(file_faults));
  return std::string(text) + ssd;
}

std::vector<uint32_t> PlanOperation(uint64_t seed, const StressData& data, const StressRound& round, int writer,
                                    uint64_t n) {
  Random random(Mix64(Mix64(Mix64(seed, round.number), static_cast<uint64_t>(writer)), n));
  const auto writers = static_cast<uint32_t>(round.writers);
  const uint32_t own = (data.units() - static_cast<uint32_t>(writer) + writers - 1) / writers;
  const uint64_t count = random.OneIn(4) ? 2 + random.Uniform(3) : 1;
  std::vector<uint32_t> units;
  for (uint64_t i = 0; i < count; i++) {
    const uint32_t unit = static_cast<uint32_t>(writer) + static_cast<uint32_t>(random.Uniform(own)) * writers;
    if (std::find(units.begin(), units.end(), unit) == units.end()) units.push_back(unit);
  }
  return units;
}

}  // namespace miodb::test
