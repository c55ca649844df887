#include "tests/simulation/history.h"

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "src/format/superblock.h"
#include "tests/common/random.h"

namespace miodb::sim {

namespace {

constexpr char kNumberless[] = "PFMefcsrtokxa";

Update MakeUpdate(int key, bool put, uint64_t size, uint64_t sequence) {
  Update update{key, put, ""};
  if (!put) return update;
  update.value = std::to_string(sequence) + ".";
  while (update.value.size() < size) update.value.push_back(static_cast<char>('a' + update.value.size() % 23));
  return update;
}

Op AnyWrite(Random* random, const Config& config) {
  Op op;
  const uint64_t dice = random->Uniform(10);
  op.kind = dice < 6 ? 'p' : dice < 8 ? 'd' : dice < 9 ? 'b' : 'w';
  op.sync = random->OneIn(3);
  if (op.kind == 'b' || op.kind == 'w') {
    op.a = static_cast<uint32_t>(op.kind == 'b' ? 1 + random->Uniform(5) : 2 + random->Uniform(kMostWriters - 1));
    op.b = static_cast<uint32_t>(random->Uniform(1000));
  } else {
    op.a = static_cast<uint32_t>(random->Uniform(static_cast<uint64_t>(config.keys)));
    op.b = static_cast<uint32_t>(random->OneIn(30) ? 200 + random->Uniform(800) : random->Uniform(config.value_bytes));
  }
  return op;
}

}  // namespace

std::string ToText(const Op& op) {
  std::string text(1, op.kind);
  if (op.is_write()) {
    text += std::to_string(op.a);
    if (op.kind != 'd') text += "." + std::to_string(op.b);
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
    if (op.is_write()) {
      char* end;
      op.a = static_cast<uint32_t>(std::strtoul(p, &end, 10));
      if (end == p) return false;
      p = end;
      if (op.kind != 'd') {
        if (*p++ != '.') return false;
        op.b = static_cast<uint32_t>(std::strtoul(p, &end, 10));
        if (end == p) return false;
        p = end;
      }
      op.sync = *p == '!';
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
  config.keys = 3;
  config.value_bytes = 80;
  config.initial_bytes = 16 * 1024;
  if (seed == 0) return config;
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
  return history;
}

std::vector<Update> UpdatesOf(const Op& op, int keys, uint64_t first_sequence) {
  std::vector<Update> updates;
  const int key = static_cast<int>(op.a) % keys;
  if (op.kind == 'p') updates.push_back(MakeUpdate(key, true, op.b, first_sequence));
  if (op.kind == 'd') updates.push_back(MakeUpdate(key, false, 0, first_sequence));
  if (op.kind == 'b' || op.kind == 'w') {
    Random random(op.b);
    for (uint32_t i = 0; i < op.a; i++) {
      const int any = static_cast<int>(random.Uniform(static_cast<uint64_t>(keys)));
      const bool put = !random.OneIn(4);
      updates.push_back(MakeUpdate(any, put, random.Uniform(60), first_sequence + i));
    }
  }
  return updates;
}

}  // namespace miodb::sim
