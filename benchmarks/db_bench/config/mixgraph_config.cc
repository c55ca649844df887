#include "benchmarks/db_bench/config/mixgraph_config.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace miodb::bench {

namespace {

constexpr double kAnyReal = 1e300;
constexpr int64_t kMostCountedKeys = int64_t{1} << 28;
constexpr double kLeastHotness = 1e-16;

void RegisterModel(FlagSet* f, MixgraphConfig* c) {
  f->Section("mixgraph: which keys, which values, which scans");
  f->Text("mixgraph_preset", &c->mixgraph_preset, "udb, zippydb, up2x: defaults of the next flags, key and value size");
  f->Real("keyrange_dist_a", &c->keyrange_dist_a, -kAnyReal, kAnyReal, "hotness of key ranges by rank x:");
  f->Real("keyrange_dist_b", &c->keyrange_dist_b, -kAnyReal, kAnyReal, "a e^(bx) + c e^(dx); all 0: alike");
  f->Real("keyrange_dist_c", &c->keyrange_dist_c, -kAnyReal, kAnyReal, "");
  f->Real("keyrange_dist_d", &c->keyrange_dist_d, -kAnyReal, kAnyReal, "");
  f->Int("keyrange_num", &c->keyrange_num, 0, kNoBound, "key ranges of equal size");
  f->Real("key_dist_a", &c->key_dist_a, 0, 1, "share of accesses to the x hottest keys of a range:");
  f->Real("key_dist_b", &c->key_dist_b, 0, 1, "a x^b; 0: keys are alike");
  f->Bool("key_dist_together", &c->key_dist_together, "hot keys are neighbours, hottest first, not scattered");
  f->Real("value_theta", &c->value.theta, -kAnyReal, kAnyReal, "bytes of a value: generalised Pareto");
  f->Real("value_k", &c->value.k, -100, 100, "");
  f->Real("value_sigma", &c->value.sigma, 0, kAnyReal, "");
  f->Real("iter_theta", &c->iter.theta, -kAnyReal, kAnyReal, "steps of a scan: generalised Pareto");
  f->Real("iter_k", &c->iter.k, -100, 100, "");
  f->Real("iter_sigma", &c->iter.sigma, 0, kAnyReal, "");
  f->Int("mix_max_value_size", &c->mix_max_value_size, 10, int64_t{1} << 30, "most bytes of a value");
  f->Int("mix_max_scan_len", &c->mix_max_scan_len, 1, kNoBound, "bound of the steps of a scan");
  f->Bool("mixgraph_compat", &c->mixgraph_compat, "draw as RocksDB 7 does, with its faults");
  f->Bool("mixgraph_hotness", &c->mixgraph_hotness, "count accesses of each key, print the share of the hottest");
  f->Bool("mixgraph_strict", &c->mixgraph_strict, "cut what is too large at the bound instead of folding it back");
}

void RegisterMix(FlagSet* f, MixgraphConfig* c) {
  f->Section("mixgraph: what mix, how fast");
  f->Real("mix_get_ratio", &c->mix_get_ratio, 0, kAnyReal, "shares of gets, puts, seeks, merges and deletes; their");
  f->Real("mix_put_ratio", &c->mix_put_ratio, 0, kAnyReal, "sum counts as 1");
  f->Real("mix_seek_ratio", &c->mix_seek_ratio, 0, kAnyReal, "");
  f->Real("mix_merge_ratio", &c->mix_merge_ratio, 0, kAnyReal, "operands have the sizes of values");
  f->Real("mix_delete_ratio", &c->mix_delete_ratio, 0, kAnyReal, "");
  f->Text("mix_column_families", &c->mix_column_families,
          "for each column family SHARE:GET:PUT:SEEK:MERGE:DELETE, with commas between families");
  f->Bool("sine_mix_rate", &c->sine_mix_rate, "limit the rate; giving one of the next flags does, too");
  f->Int("sine_mix_rate_interval_milliseconds", &c->sine_mix_rate_interval_milliseconds, 1, int64_t{1} << 40,
         "between changes of the rate");
  f->Real("sine_a", &c->sine_a, -kAnyReal, kAnyReal, "operations a second of all threads, after t seconds:");
  f->Real("sine_b", &c->sine_b, -kAnyReal, kAnyReal, "a sin(bt + c) + d");
  f->Real("sine_c", &c->sine_c, -kAnyReal, kAnyReal, "");
  f->Real("sine_d", &c->sine_d, -kAnyReal, kAnyReal, "");
  f->Real("sine_mix_rate_noise", &c->sine_mix_rate_noise, 0, 1, "random part of the rate, as a share of a");
  f->Bool("sine_write_rate", &c->sine_write_rate, "the same rate is that of all writers together, bytes a second");
  f->Int("sine_write_rate_interval_milliseconds", &c->sine_write_rate_interval_milliseconds, 1, int64_t{1} << 40,
         "between changes of the writers' rate");
  f->IgnoreValue("mix_accesses");
  f->IgnoreValue("mix_ave_kv_size");
}

// Reads "SHARE:GET:PUT:SEEK:MERGE:DELETE". False for anything else, and where a sum is 0.
bool ReadMix(const std::string& text, FamilyMix* mix) {
  std::vector<double> numbers;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ':');) {
    double number = 0;
    std::istringstream digits(word);
    if (!(digits >> number) || !digits.eof() || !(number >= 0 && number < kAnyReal)) return false;
    numbers.push_back(number);
  }
  if (numbers.size() != 1 + mix->kinds.size() || text.back() == ':') return false;
  mix->share = numbers[0];
  const double sum = std::accumulate(numbers.begin() + 1, numbers.end(), 0.0);
  for (size_t kind = 0; kind < mix->kinds.size(); kind++) mix->kinds[kind] = numbers[kind + 1] / sum;
  return sum > 0;
}

// Fills family_mixes, and the ratios with what all families have together.
std::string FinishFamilies(const FlagSet& flags, int families, MixgraphConfig* config) {
  const std::string& text = config->mix_column_families;
  const std::string flag = "--mix_column_families=" + text;
  if (text.empty()) return "";
  for (const char* name :
       {"mix_get_ratio", "mix_put_ratio", "mix_seek_ratio", "mix_merge_ratio", "mix_delete_ratio", "mixgraph_compat"}) {
    if (flags.IsSet(name)) return std::string("--mix_column_families and --") + name + " exclude each other";
  }
  std::istringstream mixes(text);
  for (std::string mix; std::getline(mixes, mix, ',');) {
    if (!ReadMix(mix, &config->family_mixes.emplace_back())) {
      return flag + ": '" + mix + "' is not SHARE:GET:PUT:SEEK:MERGE:DELETE with a kind above 0";
    }
  }
  if (config->family_mixes.size() != static_cast<size_t>(families)) {
    return flag + " must have a mix for each of --num_column_families=" + std::to_string(families);
  }
  std::array<double, 5> sums = {};
  for (const FamilyMix& mix : config->family_mixes) {
    for (size_t kind = 0; kind < sums.size(); kind++) sums[kind] += mix.share * mix.kinds[kind];
  }
  config->mix_get_ratio = sums[0];
  config->mix_put_ratio = sums[1];
  config->mix_seek_ratio = sums[2];
  config->mix_merge_ratio = sums[3];
  config->mix_delete_ratio = sums[4];
  return config->MixSum() > 0 ? "" : flag + ": the shares of all families are 0";
}

}  // namespace

int64_t Pareto::Quantile(double survival) const {
  constexpr double kMost = 9e18;
  const double value = k == 0 ? theta - sigma * std::log(survival) : theta + sigma * (std::pow(survival, -k) - 1) / k;
  return static_cast<int64_t>(std::clamp(std::ceil(value), -kMost, kMost));
}

double MixgraphConfig::SineRate(double seconds) const { return sine_a * std::sin(sine_b * seconds + sine_c) + sine_d; }

double MixgraphConfig::RangeHotness(int64_t rank) const {
  const double x = static_cast<double>(rank);
  const double p = keyrange_dist_a * std::exp(keyrange_dist_b * x) + keyrange_dist_c * std::exp(keyrange_dist_d * x);
  return p < kLeastHotness ? 0 : p;
}

uint64_t MixgraphConfig::KeyRank(double share) const {
  constexpr double kMost = 9e18;
  return static_cast<uint64_t>(std::min(std::ceil(std::pow(share / key_dist_a, 1 / key_dist_b)), kMost));
}

std::string CheckRanges(const MixgraphConfig& c, int64_t num, const std::string& what) {
  if (c.Ranges() > num) {
    return "--keyrange_num=" + std::to_string(c.keyrange_num) + " is above " + what + ": a range must have a key";
  }
  if (static_cast<int64_t>(c.family_mixes.size()) > num) {
    return "--mix_column_families has more families than " + what + ": a family must have a key";
  }
  if (!c.HasRangeHotness()) return "";
  double sum = 0;
  for (int64_t rank = 1; rank <= c.Ranges(); rank++) sum += c.RangeHotness(rank);
  return sum > 0 && std::isfinite(sum) ? "" : "--keyrange_dist_a to _d give the ranges no finite hotness above 0";
}

void RegisterMixgraphFlags(FlagSet* flags, MixgraphConfig* config) {
  RegisterModel(flags, config);
  RegisterMix(flags, config);
}

std::string FinishMixgraph(const FlagSet& flags, int64_t num, int families, MixgraphConfig* config) {
  if (std::string problem = FinishFamilies(flags, families, config); !problem.empty()) return problem;
  if (config->MixSum() <= 0) return "--mix_get_ratio and the shares of all other kinds are all 0";
  if (config->mixgraph_compat && config->mix_merge_ratio + config->mix_delete_ratio > 0) {
    return "--mixgraph_compat draws as RocksDB does, which has no --mix_merge_ratio and no --mix_delete_ratio";
  }
  if (config->key_dist_together && !config->HasKeyHotness()) return "--key_dist_together needs --key_dist_a and _b";
  if (config->key_dist_together && config->mixgraph_compat) {
    return "--mixgraph_compat draws as RocksDB does, which has no --key_dist_together";
  }
  if ((config->key_dist_a != 0) != (config->key_dist_b != 0)) return "--key_dist_a and --key_dist_b go together";
  if (config->mixgraph_hotness && num > kMostCountedKeys) {
    return "--mixgraph_hotness counts in memory for each key of each thread; --num=" + std::to_string(num) +
           " is above " + std::to_string(kMostCountedKeys);
  }
  // RocksDB wants sine_mix_rate; the command lines of the study, which are older, do without it.
  config->is_throttled = config->sine_mix_rate;
  for (const char* name : {"sine_a", "sine_b", "sine_c", "sine_d", "sine_mix_rate_interval_milliseconds"}) {
    if (flags.IsSet(name) && !config->mixgraph_compat && !config->sine_write_rate) config->is_throttled = true;
  }
  if (config->is_throttled && config->sine_d + std::abs(config->sine_a) <= 0) {
    return "--sine_a and --sine_d give a rate that is never above 0";
  }
  if (config->sine_write_rate && config->SineRate(0) <= 0) {
    return "--sine_write_rate begins with " + std::to_string(config->SineRate(0)) +
           " bytes a second: sine_a sin(sine_c) + sine_d must be above 0";
  }
  return CheckRanges(*config, num, "--num=" + std::to_string(num));
}

}  // namespace miodb::bench
