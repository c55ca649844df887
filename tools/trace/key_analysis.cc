#include "tools/trace/key_analysis.h"

#include <cinttypes>

namespace miodb::tools {

namespace {

constexpr uint64_t kAccessesBetweenLooks = 1024;

// A number as eight bytes that sort as it does.
std::string Sortable(uint64_t number) {
  std::string bytes(8, '\0');
  for (size_t i = 8; i > 0; i--, number >>= 8) bytes[i - 1] = static_cast<char>(number);
  return bytes;
}

// The seconds with the most accesses, as many as asked for.
std::vector<uint64_t> BusiestSeconds(const AccessCounts& counts, size_t most) {
  TopList<uint32_t> top(most);
  for (size_t second = 0; second < counts.per_second.size(); second++) {
    if (counts.per_second[second] > 0) top.Add(counts.per_second[second], std::to_string(second));
  }
  std::vector<uint64_t> seconds;
  for (const auto& entry : top.entries()) seconds.push_back(std::stoull(entry.second));
  return seconds;
}

std::string FileName(const AccessKey& key, const char* ending) {
  return std::string(AccessName(key.first)) + "-" + std::to_string(key.second) + "-" + ending;
}

}  // namespace

// The files of one kind of access to one column family, and where their contents stand.
struct KeyAnalysis::Lane {
  KeyFigures* figures = nullptr;
  OutputFile* key_stats = nullptr;
  OutputFile* whole_key_stats = nullptr;
  OutputFile* prefixes = nullptr;
  OutputFile* whole_prefixes = nullptr;
  OutputFile* time_series = nullptr;
  std::vector<uint64_t> busy_seconds;

  // The key at hand.
  uint64_t count = 0;
  uint64_t value_size = 0;  // Of its first access.
  uint64_t first_second = 0;

  // The prefix at hand.
  bool has_prefix = false;
  std::string prefix;
  uint64_t prefix_first_key = 0;
  uint64_t prefix_keys = 0;
  uint64_t prefix_accesses = 0;
  std::map<uint64_t, uint64_t> prefix_by_second;
};

KeyAnalysis::KeyAnalysis(const AnalyzerOptions& options, const Collector& collected, OutputFiles* files)
    : options_(options), collected_(collected), files_(files) {
  const size_t top = static_cast<size_t>(options.print_top_k_access);
  const bool has_key_space = !options.key_space_dir.empty();
  for (const auto& [key, counts] : collected.counts()) {
    auto lane = std::make_unique<Lane>();
    figures_[key] = std::make_unique<KeyFigures>(top);
    lane->figures = figures_[key].get();
    const auto create = [&, &key = key](const char* ending) { return files_->Create(FileName(key, ending)); };
    if (options.output_key_stats) lane->key_stats = create("accessed_key_stats.txt");
    if (options.output_key_stats && has_key_space) lane->whole_key_stats = create("whole_key_stats.txt");
    if (options.output_prefix_cut > 0) {
      lane->prefixes = create("accessed_key_prefix_cut.txt");
      if (has_key_space) lane->whole_prefixes = create("whole_key_prefix_cut.txt");
      if (options.output_qps_stats) lane->busy_seconds = BusiestSeconds(counts, top);
    }
    if (options.output_time_series) lane->time_series = create("time_series.txt");
    lanes_[key] = std::move(lane);
  }
  if (options.output_time_series) {
    time_series_ = std::make_unique<ExternalSort>(files->folder(), static_cast<size_t>(options.memory_mb) << 19);
  }
}

KeyAnalysis::~KeyAnalysis() = default;

KeyAnalysis::Lane* KeyAnalysis::LaneOf(const AccessKey& key) {
  const auto found = lanes_.find(key);
  return found == lanes_.end() ? nullptr : found->second.get();
}

// Looks at the clock now and then only.
void KeyAnalysis::CountDone() {
  if (++done_ % kAccessesBetweenLooks != 0) return;
  progress_->Show("analysed keys", static_cast<double>(done_) / static_cast<double>(to_do_));
}

Status KeyAnalysis::Run(ExternalSort* sort, bench::ProgressLine* progress) {
  progress_ = progress;
  to_do_ = sort->entries() * (time_series_ == nullptr ? 1 : 2);
  std::string_view sort_key, payload;
  std::string last_key;
  bool has_key = false;
  while (sort->Next(&sort_key, &payload)) {
    if (!has_key || sort_key != last_key) {
      if (has_key) EndKey();
      const uint32_t family = SortKeyFamily(sort_key);
      if (!has_family_ || family != family_) {
        Status s = EndFamily();
        if (s.ok()) s = BeginFamily(family);
        if (!s.ok()) return s;
      }
      last_key = sort_key;
      has_key = true;
      key_ = last_key.substr(4);
      BeginKey();
    }
    Status s = TakeTouch(Touch::Decode(payload, options_.output_time_series));
    if (!s.ok()) return s;
    CountDone();
  }
  if (!sort->status().ok()) return sort->status();
  if (has_key) EndKey();
  Status s = EndFamily();
  if (s.ok()) s = WriteTimeSeries();
  for (const auto& [key, lane] : lanes_) WriteDistributions(key, lane.get());
  return s;
}

Status KeyAnalysis::BeginFamily(uint32_t column_family) {
  has_family_ = true;
  family_ = column_family;
  for (int i = 0; i < kAccessKinds; i++) {
    family_lanes_[static_cast<size_t>(i)] = LaneOf({static_cast<Access>(i), column_family});
  }
  if (options_.key_space_dir.empty()) return Status::OK();
  const std::string path = options_.key_space_dir + "/" + std::to_string(column_family) + ".txt";
  const size_t cut = static_cast<size_t>(options_.output_prefix_cut);
  key_space_ = std::make_unique<KeySpace>(path, [this, cut](uint64_t place, std::string_view key) {
    if (cut == 0 || (place > 0 && key.substr(0, cut) == whole_prefix_)) return;
    whole_prefix_ = key.substr(0, cut);
    for (Lane* lane : family_lanes_) {
      if (lane == nullptr || lane->whole_prefixes == nullptr) continue;
      lane->whole_prefixes->Print("%" PRIu64 " %s\n", place, Hex(whole_prefix_).c_str());
    }
  });
  return Status::OK();
}

Status KeyAnalysis::EndFamily() {
  if (!has_family_) return Status::OK();
  for (Lane* lane : family_lanes_) {
    if (lane != nullptr) EndPrefix(lane);
  }
  if (key_space_ == nullptr) return Status::OK();
  Status s = key_space_->Finish();
  whole_keys_[family_] = key_space_->keys();
  key_space_.reset();
  return s;
}

void KeyAnalysis::BeginKey() {
  was_accessed_.fill(false);
  for (Lane* lane : family_lanes_) {
    if (lane != nullptr) lane->count = 0;
  }
}

Status KeyAnalysis::TakeTouch(const Touch& touch) {
  Lane* const lane = family_lanes_[touch.access];
  const uint64_t second = touch.Second();
  if (lane->count++ == 0) {
    lane->value_size = touch.value_size;
    lane->first_second = second;
    if (lane->prefixes != nullptr) {
      const std::string_view prefix = std::string_view(key_).substr(0, static_cast<size_t>(options_.output_prefix_cut));
      if (!lane->has_prefix || prefix != lane->prefix) {
        EndPrefix(lane);
        lane->has_prefix = true;
        lane->prefix = prefix;
        lane->prefix_first_key = lane->figures->keys;
      }
      lane->prefix_keys++;
    }
  }
  if (lane->prefixes != nullptr) {
    lane->prefix_accesses++;
    const auto& busy = lane->busy_seconds;
    if (std::find(busy.begin(), busy.end(), second) != busy.end()) lane->prefix_by_second[second]++;
  }
  for (size_t i = 0; i < options_.correlations.size(); i++) {
    const auto& [first, then] = options_.correlations[i];
    if (then != touch.access || !was_accessed_[first]) continue;
    Correlation& correlation = correlations_[{i, family_}];
    correlation.count++;
    correlation.total_micros += static_cast<double>(touch.micros) - static_cast<double>(last_micros_[first]);
  }
  was_accessed_[touch.access] = true;
  last_micros_[touch.access] = touch.micros;
  if (lane->time_series == nullptr) return Status::OK();
  // The place of the key is known before its last access: keys before it are counted.
  std::string payload = Sortable(static_cast<uint64_t>(touch.access)) + Sortable(family_) + Sortable(second) +
                        Sortable(lane->figures->keys);
  return time_series_->Add(Sortable(touch.sequence), payload);
}

void KeyAnalysis::EndKey() {
  accessed_keys_[family_]++;
  uint64_t place = 0;
  const bool has_place = key_space_ != nullptr && key_space_->Find(key_, &place);
  for (Lane* lane : family_lanes_) {
    if (lane == nullptr || lane->count == 0) continue;
    KeyFigures* const figures = lane->figures;
    // A trace does not say whether a call succeeded; the column is there because readers count columns.
    if (lane->key_stats != nullptr) {
      lane->key_stats->Print("%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %f\n", family_, lane->value_size, figures->keys,
                             lane->count, 1.0);
    }
    if (lane->whole_key_stats != nullptr && has_place) {
      lane->whole_key_stats->Print("%" PRIu64 " %" PRIu64 "\n", place, lane->count);
    }
    figures->keys++;
    figures->new_keys_by_second[lane->first_second]++;
    figures->top_keys.Add(lane->count, key_);
    if (lane->count > static_cast<uint64_t>(options_.output_ignore_count)) {
      figures->key_sizes.Add(key_.size());
      figures->access_counts.Add(lane->count);
    }
  }
}

void KeyAnalysis::EndPrefix(Lane* lane) {
  if (lane->has_prefix) {
    const double average = static_cast<double>(lane->prefix_accesses) / static_cast<double>(lane->prefix_keys);
    lane->prefixes->Print("%" PRIu64 " %" PRIu64 " %" PRIu64 " %f %f %s\n", lane->prefix_first_key,
                          lane->prefix_accesses, lane->prefix_keys, average, 1.0, Hex(lane->prefix).c_str());
    lane->figures->top_prefixes.Add(lane->prefix_accesses, lane->prefix);
    lane->figures->top_prefix_averages.Add(average, lane->prefix);
    for (const auto& [second, count] : lane->prefix_by_second) {
      lane->figures->prefixes_by_second[second].emplace_back(lane->prefix, count);
    }
  }
  lane->has_prefix = false;
  lane->prefix_keys = lane->prefix_accesses = 0;
  lane->prefix_by_second.clear();
}

Status KeyAnalysis::WriteTimeSeries() {
  if (time_series_ == nullptr) return Status::OK();
  Status s = time_series_->Finish();
  std::string_view key, payload;
  while (s.ok() && time_series_->Next(&key, &payload)) {
    uint64_t numbers[4] = {};
    for (size_t i = 0; i < 32; i++) numbers[i / 8] = numbers[i / 8] << 8 | static_cast<unsigned char>(payload[i]);
    const Lane* const lane = LaneOf({static_cast<Access>(numbers[0]), static_cast<uint32_t>(numbers[1])});
    lane->time_series->Print("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", numbers[0], numbers[2], numbers[3]);
    CountDone();
  }
  return s.ok() ? time_series_->status() : s;
}

void KeyAnalysis::WriteDistributions(const AccessKey& key, Lane* lane) {
  const KeyFigures& figures = *lane->figures;
  const AccessCounts& counts = collected_.counts().at(key);
  if (options_.output_access_count_stats) {
    OutputFile* const file = files_->Create(FileName(key, "accessed_key_count_distribution.txt"));
    figures.access_counts.ForEach([file](uint64_t count, uint64_t keys) {
      file->Print("access_count: %" PRIu64 " num: %" PRIu64 "\n", count, keys);
    });
  }
  if (options_.output_key_distribution) {
    OutputFile* const file = files_->Create(FileName(key, "accessed_key_size_distribution.txt"));
    figures.key_sizes.ForEach(
        [file](uint64_t size, uint64_t keys) { file->Print("%" PRIu64 " %" PRIu64 "\n", size, keys); });
  }
  if (options_.output_value_distribution && counts.value_sizes.total() > 0) {
    const uint64_t interval = static_cast<uint64_t>(options_.value_interval);
    std::map<uint64_t, uint64_t> buckets;
    counts.value_sizes.ForEach([&](uint64_t size, uint64_t times) { buckets[size / interval] += times; });
    OutputFile* const file = files_->Create(FileName(key, "accessed_value_size_distribution.txt"));
    for (const auto& [bucket, times] : buckets) {
      file->Print("Number_of_value_size_between %" PRIu64 " and %" PRIu64 " is: %" PRIu64 "\n", bucket * interval,
                  (bucket + 1) * interval, times);
    }
  }
  if (options_.output_key_stats) {
    OutputFile* const file = files_->Create(FileName(key, "accessed_unique_key_num_change.txt"));
    uint64_t keys = 0;
    for (uint64_t second = 0; second < collected_.seconds(); second++) {
      const auto found = figures.new_keys_by_second.find(second);
      if (found != figures.new_keys_by_second.end()) keys += found->second;
      file->Print("%" PRIu64 " %.12f\n", keys, static_cast<double>(keys) / static_cast<double>(figures.keys));
    }
  }
  if (options_.output_qps_stats) {
    OutputFile* const file = files_->Create(FileName(key, "qps_stats.txt"));
    for (uint64_t second = 0; second < collected_.seconds(); second++) file->Print("%u\n", counts.CountAt(second));
  }
  if (lane->busy_seconds.empty()) return;
  OutputFile* const file = files_->Create(FileName(key, "accessed_top_k_qps_prefix_cut.txt"));
  for (uint64_t second : lane->busy_seconds) {
    file->Print("At time: %" PRIu64 " with QPS: %u\n", second, counts.CountAt(second));
    const auto found = figures.prefixes_by_second.find(second);
    if (found == figures.prefixes_by_second.end()) continue;
    for (const auto& [prefix, count] : found->second) {
      file->Print("The prefix: %s Access count: %" PRIu64 "\n", Hex(prefix).c_str(), count);
    }
  }
}

}  // namespace miodb::tools
