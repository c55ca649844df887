#include "tests/simulation/history.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "miodb/lifetime.h"
#include "miodb/merge_operator.h"
#include "src/format/superblock.h"
#include "tests/common/random/merge_policies.h"
#include "tests/common/random/random.h"
#include "tests/simulation/follower.h"

namespace miodb::sim {

namespace {

constexpr char kNumberless[] = "PFMefcsrtokxanh";

using Kind = Update::Kind;

// Values end with a letter that says how long they live.
constexpr char kForMoment = '<';
constexpr char kForAges = '>';

class ByLastLetter final : public LifetimePolicy {
 public:
  uint64_t LifetimeSeconds(const Slice&, const Slice& value) const override {
    const char last = value.empty() ? ' ' : value[value.size() - 1];
    return last == kForMoment ? 1 : last == kForAges ? kMostLifetimeSeconds : 0;
  }
};

Update MakeUpdate(int key, Kind kind, uint64_t size, uint64_t sequence) {
  Update update{key, kind, ""};
  if (kind == Kind::kDelete || kind == Kind::kSingleDelete) return update;
  update.value = std::to_string(sequence) + ".";
  while (update.value.size() < size) update.value.push_back(static_cast<char>('a' + update.value.size() % 23));
  if (kind == Kind::kPutForMoment) update.value.push_back(kForMoment);
  if (kind == Kind::kPutForAges) update.value.push_back(kForAges);
  return update;
}

Op AnyWrite(Random* random, const Config& config) {
  Op op;
  const uint64_t dice = random->Uniform(10);
  op.kind = dice < 6 ? 'p' : dice < 8 ? 'd' : dice < 9 ? 'b' : 'w';
  if (config.single_keys > 0 && random->OneIn(2)) op.kind = random->OneIn(4) ? 'z' : random->OneIn(4) ? 'y' : 'm';
  if (op.kind == 'd' && random->OneIn(3)) op.kind = 'v';
  if (config.lifetimes && random->OneIn(2)) op.kind = random->OneIn(3) ? 'g' : random->OneIn(4) ? 'm' : 'l';
  op.sync = random->OneIn(3);
  if (op.kind == 'v') {
    op.a = static_cast<uint32_t>(random->Uniform(static_cast<uint64_t>(config.keys)));
    op.b = op.a + static_cast<uint32_t>(random->Skewed(4));
    return op;
  }
  if (op.kind == 'b' || op.kind == 'w') {
    op.a = static_cast<uint32_t>(op.kind == 'b' ? 1 + random->Uniform(5) : 2 + random->Uniform(kMostWriters - 1));
    op.b = static_cast<uint32_t>(random->Uniform(1000));
  } else {
    op.a = static_cast<uint32_t>(random->Uniform(static_cast<uint64_t>(config.keys)));
    op.b = static_cast<uint32_t>(random->OneIn(30) ? 200 + random->Uniform(800) : random->Uniform(config.value_bytes));
  }
  if (op.kind == 'p' && op.sync && op.b % 4 == 0) return Op{'h'};
  return op;
}

}  // namespace

bool IsOverBeforeRead(const Slice& value) { return !value.empty() && value[value.size() - 1] == kForMoment; }

uint64_t NextDate() {
  static uint64_t date = uint64_t{4000000000} * 1000 * 1000;
  return date += 2 * 1000 * 1000;
}

std::string ToText(const Op& op) {
  std::string text(1, op.kind);
  if (op.has_number()) {
    text += std::to_string(op.a);
    if (op.has_size()) text += "." + std::to_string(op.b);
    if (op.sync) text += "!";
  }
  return text;
}

std::string ToText(const History& history) {
  std::string text;
  for (const Op& op : history) text += (text.empty() ? "" : " ") + ToText(op);
  return text;
}

bool FromText(const std::string& text, History* history) {
  history->clear();
  std::istringstream words(text);
  std::string word;
  while (words >> word) {
    Op op;
    op.kind = word[0];
    const char* p = word.c_str() + 1;
    if (op.has_number()) {
      char* end;
      op.a = static_cast<uint32_t>(std::strtoul(p, &end, 10));
      if (end == p) return false;
      p = end;
      if (op.has_size()) {
        if (*p++ != '.') return false;
        op.b = static_cast<uint32_t>(std::strtoul(p, &end, 10));
        if (end == p) return false;
        p = end;
      }
      op.sync = op.is_write() && *p == '!';
      if (op.sync) p++;
    } else if (std::strchr(kNumberless, op.kind) == nullptr) {
      return false;
    }
    if (*p != '\0') return false;
    history->push_back(op);
  }
  return true;
}

Config MakeConfig(uint64_t seed) {
  Random random(seed * 7919 + 13);
  Config config;
  config.seed = seed;
  Options& o = config.options;
  o.create_if_missing = true;
  o.num_levels = 3;
  o.level_trigger = 2;
  o.log_chunk_size = kExtentUnit;
  o.write_buffer_size = kExtentUnit;
  o.pool_growth = 4 * kExtentUnit;
  o.pool_size = kMediumBytes;
  o.partition_size = 512;
  o.lazy_copy_limit = 4096;
  o.space_amplification_percent = 125;
  o.filter_bits_per_key = 10;
  static const MergeOperator* const append = NewStringAppendOperator(",");
  o.merge_operator = append;
  static const ByLastLetter by_last_letter;
  o.lifetime_policy = &by_last_letter;
  config.keys = 4;
  config.single_keys = 1;
  config.value_bytes = 80;
  config.initial_bytes = 16 * 1024;
  if (seed == 0) return config;
  if (seed == kKeepsLogSeed) {
    o.keep_log_bytes = kKeepAllLog;
    return config;
  }
  if (seed == kPartsSeed || seed == kBufferPartsSeed || seed == kSharesSeed) {
    o.partition_size = 256;
    config.keys = 48;
    if (seed == kPartsSeed) return config;
    if (seed == kSharesSeed) o.max_background_merges = kMostShares;
    o.num_levels = 5;
    o.write_buffer_size = 16 * kExtentUnit;
    return config;
  }
  if (seed % 8 == 7) o.log_mode = kLogOff;
  config.keys = random.OneIn(4) ? 70 + static_cast<int>(random.Uniform(60)) : 4 + static_cast<int>(random.Uniform(30));
  o.num_levels = static_cast<int>(3 + random.Uniform(2));
  o.level_trigger = static_cast<int>(2 + random.Uniform(2));
  o.log_chunk_size = kExtentUnit * (1 + random.Uniform(2));
  o.write_buffer_size = kExtentUnit * (1 + random.Uniform(4));
  o.pool_growth = kExtentUnit * (4 + random.Uniform(12));
  o.pool_size = random.OneIn(4) ? 40 * 1024 : random.OneIn(2) ? 64 * 1024 : kMediumBytes;
  o.partition_size = 256u << random.Uniform(3);
  o.lazy_copy_limit = random.OneIn(4) ? 0 : 64u << random.Uniform(5);
  o.space_amplification_percent = static_cast<int>(105 + random.Uniform(60));
  o.filter_bits_per_key = random.OneIn(3) ? 0 : 10;
  o.max_immutable_memtables = static_cast<int>(1 + random.Uniform(3));
  o.paranoid_checks = random.OneIn(4);
  if (seed % 8 == 5) {
    // A second region, added when the first may be full.
    config.split = 24 * 1024 + 4096 * random.Uniform(4);
    o.pool_size = config.split;
  }
  if (seed % 8 == 3) {
    // Tables of several leaves, with levels above them.
    config.keys = 250;
    config.value_bytes = 6;
    o.write_buffer_size = 8 * kExtentUnit;
    o.partition_size = 16 * 1024;
    o.pool_size = kMediumBytes;
  }
  config.lifetimes = seed % 4 == 1;
  config.single_keys = seed % 4 == 2 ? std::max(1, config.keys / 4) : 0;
  if (seed % 3 == 1) config.savepoints = 3;
  Random policies(seed);
  if (policies.OneIn(3)) o.merge_policy = test::AnyMergePolicy(&policies);
  if (seed % 2 == 1) o.max_background_merges = kMostShares;
  if (seed % 5 < 2) o.keep_log_bytes = kExtentUnit * (1 + seed % 7);
  config.family_keys = seed % 8 == 4 ? std::max(1, config.keys / 3) : 0;
  return config;
}

History MakeHistory(uint64_t seed, const Config& config) {
  Random random(seed);
  History history;
  const uint64_t length = 100 + random.Uniform(250);
  int snapshots = 0;
  while (history.size() < length) {
    Op op;
    const uint64_t dice = random.Uniform(100);
    if (dice < 62) {
      op = AnyWrite(&random, config);
    } else if (dice < 68) {
      op.kind = 'P';
    } else if (dice < 76) {
      op.kind = 'F';
    } else if (dice < 86) {
      op.kind = 'M';
    } else if (dice < 88) {
      op.kind = 'f';
    } else if (dice < 90) {
      op.kind = 'c';
    } else if (dice < 92) {
      op.kind = 'e';
    } else if (dice < 94) {
      if (snapshots == 2) continue;
      op.kind = 's';
      snapshots++;
    } else if (dice < 96) {
      if (snapshots == 0) continue;
      op.kind = 'r';
      snapshots--;
    } else {
      op.kind = dice < 97 ? 'o' : dice < 98 ? 'k' : 'x';
      snapshots = 0;
    }
    history.push_back(op);
  }
  if (config.split > 0) history.insert(history.begin() + static_cast<std::ptrdiff_t>(random.Uniform(length)), Op{'a'});
  for (int i = 0; config.family_keys > 0 && i < 6; i++) {
    history.insert(history.begin() + static_cast<std::ptrdiff_t>(random.Uniform(history.size())), Op{'n'});
  }
  for (int i = 0; config.savepoints > 0 && i < 10; i++) {
    const uint32_t number = static_cast<uint32_t>(random.Uniform(static_cast<uint64_t>(config.savepoints)));
    history.insert(history.begin() + static_cast<std::ptrdiff_t>(random.Uniform(history.size())), Op{'q', number});
  }
  return history;
}

std::vector<Update> UpdatesOf(const Op& op, const Config& config, uint64_t first_sequence) {
  std::vector<Update> updates;
  const auto add = [&](int key, Kind kind, uint64_t size) {
    updates.push_back(MakeUpdate(key, kind, size, first_sequence + updates.size()));
  };
  // Writers beside one another write records as they are, of the default family.
  const int plain = op.kind == 'w' ? config.first_family_key() : config.first_single_key();
  const int key = static_cast<int>(op.a) % plain;
  if (op.kind == 'p') add(key, Kind::kPut, op.b);
  if (op.kind == 'd') add(key, Kind::kDelete, 0);
  if (op.kind == 'm') add(key, Kind::kMerge, op.b);
  if (op.kind == 'l') add(key, Kind::kPutForMoment, op.b);
  if (op.kind == 'g') add(key, Kind::kPutForAges, op.b);
  if (op.kind == 'b' || op.kind == 'w') {
    Random random(op.b);
    for (uint32_t i = 0; i < op.a; i++) {
      const int any = static_cast<int>(random.Uniform(static_cast<uint64_t>(plain)));
      const bool put = !random.OneIn(4);
      add(any, put ? Kind::kPut : Kind::kDelete, random.Uniform(60));
    }
  }
  if (op.kind == 'v') {
    int begin = static_cast<int>(op.a) % config.keys, end = static_cast<int>(op.b) % config.keys;
    if (Oracle::KeyText(end) < Oracle::KeyText(begin)) std::swap(begin, end);
    add(begin, Kind::kDeleteRange, 0);
    updates.back().value = Oracle::KeyText(end);
  }
  if ((op.kind == 'z' || op.kind == 'y') && config.single_keys > 0) {
    const int single = config.first_single_key() + static_cast<int>(op.a) % config.single_keys;
    add(single, Kind::kSingleDelete, 0);
    add(single, Kind::kPut, op.b);
    if (op.kind == 'y') add(single, Kind::kSingleDelete, 0);
  }
  return updates;
}

}  // namespace miodb::sim
