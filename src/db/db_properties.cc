#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "src/db/db_impl.h"
#include "src/util/escape.h"

namespace miodb {

namespace {

__attribute__((format(printf, 2, 3))) void Append(std::string* text, const char* format, ...) {
  char line[300];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  text->append(line);
}

// What of the pool lasts, and how.
const char* DurabilityName(const Pool& pool) {
  return pool.is_volatile() ? "volatile" : PersistModeName(pool.persist_mode());
}

// A key for people, whose beginning does.
std::string Beginning(const Slice& key) {
  constexpr size_t kMost = 40;
  return Escaped(key, '\'', kMost) + (key.size() > kMost ? "..." : "");
}

double MiB(uint64_t bytes) { return static_cast<double>(bytes) / 1048576.0; }

// A line of leveldb.stats, unless the level is empty and always was.
void AppendLevel(size_t level, size_t files, uint64_t bytes, const LevelStatistics& stats, std::string* text) {
  const uint64_t micros = stats.micros.value();
  if (files == 0 && micros == 0) return;
  Append(text, "%3zu %8zu %8.0f %9.0f %8.0f %9.0f\n", level, files, MiB(bytes), static_cast<double>(micros) / 1e6,
         MiB(stats.bytes_read.value()), MiB(stats.bytes_written.value()));
}

// Bytes written for each byte of the user's, of each tier.
void AppendAmplification(const std::vector<std::pair<std::string, uint64_t>>& counters, std::string* text) {
  const auto get = [&](const char* wanted) {
    for (const auto& [name, value] : counters) {
      if (name == wanted) return static_cast<double>(value);
    }
    return 0.0;
  };
  const double user = std::max(get("user-bytes-written"), 1.0);
  Append(text, "NVM bytes written per user byte: %.3f\n", get("nvm-bytes-total") / user);
  Append(text, "SSD bytes written per user byte: %.3f\n", (get("ssd-bytes-written") + get("log-file-bytes")) / user);
}

bool ParseNumber(Slice text, uint64_t* number) {
  if (text.empty() || text.size() > 6) return false;
  *number = 0;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    *number = *number * 10 + static_cast<uint64_t>(text[i] - '0');
  }
  return true;
}

}  // namespace

std::vector<std::pair<std::string, uint64_t>> DBImpl::Counters() {
  // relaxed loads: statistics
  const auto get = [](const std::atomic<uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
  std::vector<std::pair<std::string, uint64_t>> result;
  result.emplace_back("user-bytes-written", statistics_.user_bytes.value());
  result.emplace_back("stall-micros", statistics_.stall_micros.value());
  result.emplace_back("throttle-micros", statistics_.throttle_micros.value());
  result.emplace_back("flush-micros", statistics_.flush_micros.value());
  result.emplace_back("merge-micros", statistics_.merge_micros.value());
  result.emplace_back("flushes", statistics_.flushes.value());
  result.emplace_back("merges", statistics_.merges.value());
  uint64_t lines = 0, units = 0, fences = 0;
  for (int i = 0; i < static_cast<int>(Purpose::kCount); i++) {
    const Purpose purpose = static_cast<Purpose>(i);
    const PersistCounters& c = pool_->persist().counters(purpose);
    result.emplace_back(std::string("nvm-bytes-") + PurposeName(purpose), get(c.bytes));
    lines += get(c.lines);
    units += get(c.units);
    fences += get(c.fences);
  }
  result.emplace_back("nvm-bytes-total", pool_->persist().TotalBytes());
  result.emplace_back("nvm-lines-flushed", lines);
  result.emplace_back("nvm-units-256", units);
  result.emplace_back("nvm-fences", fences);
  if (nvm_model_ != nullptr) {
    result.emplace_back("modelled-units-read", nvm_model_->read_units());
    result.emplace_back("modelled-units-cached", nvm_model_->cached_units());
    result.emplace_back("modelled-read-micros", nvm_model_->read_nanos() / 1000);
    result.emplace_back("modelled-write-micros", nvm_model_->write_nanos() / 1000);
  }
  if (file_log_ != nullptr) {
    result.emplace_back("log-file-bytes", file_log_->bytes_written());
    result.emplace_back("log-file-bytes-padding", file_log_->padding_bytes());
    result.emplace_back("log-file-bytes-needed", file_log_->live_bytes());
    result.emplace_back("log-file-syncs", file_log_->syncs());
  }
  result.emplace_back("pool-bytes-used", pool_->used_bytes());
  result.emplace_back("pool-bytes-file", pool_->file_bytes());
  result.emplace_back("pool-bytes-capacity", pool_->capacity());
  result.emplace_back("pool-bytes-given-back", get(pool_->growth().given_back));
  result.emplace_back("pool-growths", get(pool_->growth().steps));
  result.emplace_back("pool-growths-waited-for", get(pool_->growth().waited_for));
  result.emplace_back("pool-growth-micros", get(pool_->growth().micros));
  result.emplace_back("pool-growth-longest-micros", get(pool_->growth().longest_micros));
  result.emplace_back("drains", statistics_.drains.value());
  result.emplace_back("ssd-compactions", statistics_.ssd_compactions.value());
  result.emplace_back("ssd-micros", statistics_.ssd_micros.value());
  result.emplace_back("ssd-bytes-drain", statistics_.drain_bytes.value());
  result.emplace_back("ssd-bytes-compaction", statistics_.ssd_compaction_bytes.value());
  result.emplace_back("ssd-bytes-written", ssd_ != nullptr ? ssd_->bytes_written() : 0);
  result.emplace_back("ssd-bytes-read", statistics_.ssd_read_bytes.value());
  result.emplace_back("ssd-ring-reads", statistics_.ring_reads.value());
  MutexLock lock(&mutex_);
  const SsdLevels* const ssd = versions_->current()->ssd.get();
  result.emplace_back("ssd-files", ssd != nullptr ? ssd->file_count() : 0);
  result.emplace_back("ssd-bytes", ssd != nullptr ? ssd->bytes() : 0);
  result.emplace_back("pool-bytes-reserved", Reserve(Demand::kAny));
  result.emplace_back("live-bytes", versions_->payload_live_bytes());
  result.emplace_back("payload-bytes", versions_->payload_bytes());
  result.emplace_back("entries", versions_->entries());
  result.emplace_back("table-memory-bytes", TableMemoryBytes());
  result.emplace_back("immutable-memtables", immutables_.size());
  return result;
}

std::string DBImpl::StatsText() {
  std::string text =
      "                               Compactions\n"
      "Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n"
      "--------------------------------------------------\n";
  VersionRef version;
  {
    MutexLock lock(&mutex_);
    version = versions_->current();
  }
  for (size_t level = 0; level < version->levels.size(); level++) {
    size_t tables = 0;
    uint64_t bytes = 0;
    for (const RunRef& run : version->levels[level]) {
      tables += run->tables.size();
      bytes += run->payload_bytes();
    }
    AppendLevel(level, tables, bytes, statistics_.levels[level], &text);
  }
  for (size_t level = 0; version->ssd != nullptr && level < version->ssd->levels.size(); level++) {
    const std::vector<SstRef>& files = version->ssd->levels[level];
    AppendLevel(version->levels.size() + level, files.size(), TotalBytes(files), statistics_.ssd_levels[level], &text);
  }
  const std::vector<std::pair<std::string, uint64_t>> counters = Counters();
  for (const auto& [name, value] : counters) Append(&text, "%s: %" PRIu64 "\n", name.c_str(), value);
  AppendAmplification(counters, &text);
  return text;
}

std::string DBImpl::TablesText() {
  VersionRef version;
  {
    MutexLock lock(&mutex_);
    version = versions_->current();
  }
  std::string text;
  for (size_t level = 0; level < version->levels.size(); level++) {
    Append(&text, "--- level %zu ---\n", level);
    for (const RunRef& run : version->levels[level]) {
      for (const TableRef& t : run->tables) {
        Append(&text,
               " %" PRIu64 ": run %" PRIu64 ", %" PRIu64 " entries, %" PRIu64 " bytes, %zu extents ['%s' .. '%s']\n",
               t->number(), run->id, t->entries(), t->payload_bytes(), t->payload().size(),
               Beginning(t->smallest()).c_str(), Beginning(t->largest()).c_str());
      }
    }
  }
  for (size_t level = 0; version->ssd != nullptr && level < version->ssd->levels.size(); level++) {
    Append(&text, "--- level %zu, on SSD ---\n", version->levels.size() + level);
    for (const SstRef& file : version->ssd->levels[level]) {
      const SstMeta& meta = file->meta();
      Append(&text, " %" PRIu64 ": %" PRIu64 " entries, %" PRIu64 " bytes ['%s' .. '%s']\n", meta.number, meta.entries,
             meta.size, Beginning(meta.smallest).c_str(), Beginning(meta.largest).c_str());
    }
  }
  return text;
}

std::string DBImpl::PoolText() {
  std::string text = "path: " + pool_->path() + "\n";
  Append(&text, "persist-mode: %s\n", DurabilityName(*pool_));
  Append(&text, "bytes-used: %" PRIu64 "\nbytes-file: %" PRIu64 "\nbytes-capacity: %" PRIu64 "\n", pool_->used_bytes(),
         pool_->file_bytes(), pool_->capacity());
  return text;
}

std::string DBImpl::PlacementText() {
  constexpr uint64_t kPages = 256;
  const auto node = [](int id) { return id == kAnyNode ? std::string("any") : std::to_string(id); };
  std::string text = "dram-node: " + node(placement_.dram_node) + "\n";
  text += "dram-found: " + blocks_->Sample().Describe() + "\n";
  text += "thread-cpus: " + (placement_.cpus.empty() ? "any" : FormatIntList(placement_.cpus)) + "\n";
  text += "nvm-model: " + (nvm_model_ == nullptr ? "none" : nvm_model_->figures().Describe()) + "\n";
  const RegionSet& regions = pool_->regions();
  for (int i = 0; i < regions.count(); i++) {
    const RegionSet::Member& m = regions.at(i);
    const Region& region = *m.region;
    // The pool's own file goes without a number.
    const std::string name = i == 0 ? "region-" : "region" + std::to_string(i) + "-";
    const auto line = [&](const char* what, const std::string& value) { text += name + what + ": " + value + "\n"; };
    line("path", region.path());
    line("uuid", UuidText(i == 0 ? pool_->uuid() : m.uuid));
    line("kind", RegionKindName(region.kind()));
    line("persist-mode", PersistModeName(region.mode()));
    line("node", node(region.nodes().node));
    line("next-node", node(region.nodes().next_node));
    line("found", region.Sample(kPages).Describe());
    line("page-bytes", std::to_string(region.granularity()));
    line("huge-pages", region.huge_pages() ? "asked for" : "no");
    line("limit", pool_->limit_of(i) == 0 ? "none" : std::to_string(pool_->limit_of(i)));
    line("bytes", std::to_string(region.size()));
    line("bytes-used", std::to_string(pool_->used_in(i)));
  }
  return text;
}

uint64_t DBImpl::MemoryBytes() {
  MutexLock lock(&mutex_);
  uint64_t bytes = TableMemoryBytes() + memtable_->memory_bytes();
  for (const MemTableRef& memtable : immutables_) bytes += memtable->memory_bytes();
  return bytes;
}

uint64_t DBImpl::TableMemoryBytes() {
  uint64_t bytes = 0;
  for (const auto& level : versions_->current()->levels) {
    for (const RunRef& run : level) {
      for (const TableRef& table : run->tables) bytes += table->memory_bytes();
    }
  }
  return bytes;
}

bool DBImpl::GetProperty(const Slice& property, std::string* value) {
  if (fork_guard_.InChild()) return false;
  try {
    return DoGetProperty(property, value);
  } catch (const std::exception&) {
    return false;
  }
}

bool DBImpl::DoGetProperty(const Slice& property, std::string* value) {
  Slice name = property;
  if (name.starts_with("leveldb.")) {
    name.remove_prefix(8);
    const Slice files = "num-files-at-level";
    if (name.starts_with(files)) {
      name.remove_prefix(files.size());
      uint64_t level;
      if (!ParseNumber(name, &level)) return false;
      ReadStates::Pin pin(&states_);
      const SsdLevels* const ssd = pin->version->ssd.get();
      const size_t pool_levels = pin->version->levels.size();
      if (level >= pool_levels + (ssd != nullptr ? ssd->levels.size() : 0)) return false;
      size_t tables = 0;
      if (level >= pool_levels) {
        tables = ssd->levels[level - pool_levels].size();
      } else {
        for (const RunRef& run : pin->version->levels[level]) tables += run->tables.size();
      }
      *value = std::to_string(tables);
    } else if (name == Slice("stats")) {
      *value = StatsText();
    } else if (name == Slice("sstables")) {
      *value = TablesText();
    } else if (name == Slice("approximate-memory-usage")) {
      *value = std::to_string(MemoryBytes());
    } else {
      return false;
    }
    return true;
  }
  if (!name.starts_with("miodb.")) return false;
  name.remove_prefix(6);
  if (name == Slice("persist-mode")) {
    *value = DurabilityName(*pool_);
  } else if (name == Slice("pool")) {
    *value = PoolText();
  } else if (name == Slice("nvm-model")) {
    *value = nvm_model_ == nullptr ? "none" : nvm_model_->figures().Describe();
  } else if (name == Slice("placement")) {
    *value = PlacementText();
  } else if (name == Slice("background-error")) {
    MutexLock lock(&mutex_);
    *value = background_error_.ToString();
  } else if (name == Slice("ssd-error")) {
    MutexLock lock(&mutex_);
    *value = ssd_error_.ToString();
  } else if (name == Slice("counters")) {
    value->clear();
    for (const auto& [counter, n] : Counters()) *value += counter + ": " + std::to_string(n) + "\n";
  } else {
    for (const auto& [counter, n] : Counters()) {
      if (name == Slice(counter)) {
        *value = std::to_string(n);
        return true;
      }
    }
    return false;
  }
  return true;
}

}  // namespace miodb
