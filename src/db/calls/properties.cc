// The text of each property. A program may read a property line by line, so every line is whole.

#include "src/db/calls/properties.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "src/db/calls/prometheus.h"
#include "src/util/bytes/escape.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// A line has room for two keys of kMostKey bytes, all of them escaped, and for some numbers.
constexpr size_t kMostKey = 40;
constexpr size_t kMostLine = 2 * 4 * kMostKey + 300;

__attribute__((format(printf, 2, 3))) void Append(std::string* text, const char* format, ...) {
  char line[kMostLine];
  va_list arguments;
  va_start(arguments, format);
  [[maybe_unused]] const int length = vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  DCHECK(length >= 0 && static_cast<size_t>(length) < sizeof(line));
  text->append(line);
}

// The durability of the pool: its persist mode, or "volatile".
const char* DurabilityName(const Pool& pool) {
  return pool.is_volatile() ? "volatile" : PersistModeName(pool.persist_mode());
}

// A key for people, whose beginning does.
std::string Beginning(const Slice& key) { return Escaped(key, '\'', kMostKey) + (key.size() > kMostKey ? "..." : ""); }

// LevelDB's columns are in units of 2^20 bytes, under the name MB.
double MiB(uint64_t bytes) { return static_cast<double>(bytes) / 1048576.0; }

// A line of leveldb.stats, unless the level is empty and always was.
void AppendLevel(size_t level, size_t files, uint64_t bytes, const LevelStatistics& stats, std::string* text) {
  const uint64_t micros = stats.micros.value();
  if (files == 0 && micros == 0) return;
  Append(text, "%3zu %8zu %8.0f %9.0f %8.0f %9.0f\n", level, files, MiB(bytes), static_cast<double>(micros) / 1e6,
         MiB(stats.bytes_read.value()), MiB(stats.bytes_written.value()));
}

// Bytes written for each byte of the user's, of each tier.
void AppendAmplification(const CounterList& counters, std::string* text) {
  const auto get = [&](const char* wanted) {
    const CounterList::Entry* const counter = counters.Find(wanted);
    return counter != nullptr ? static_cast<double>(counter->value) : 0.0;
  };
  const double user = std::max(get("user-bytes-written"), 1.0);
  Append(text, "NVM bytes written per user byte: %.3f\n", get("nvm-bytes-total") / user);
  Append(text, "SSD bytes written per user byte: %.3f\n", (get("ssd-bytes-written") + get("log-file-bytes")) / user);
}

// relaxed: a statistic, ordered by nothing.
uint64_t Load(const std::atomic<uint64_t>& counter) { return counter.load(std::memory_order_relaxed); }

// Counters of the door: bytes for each purpose; lines, units and fences of all purposes together.
void AddDoorCounters(const Persist& door, CounterList* result) {
  uint64_t lines = 0, units = 0, fences = 0;
  for (int i = 0; i < static_cast<int>(Purpose::kCount); i++) {
    const Purpose purpose = static_cast<Purpose>(i);
    uint64_t bytes = 0;
    const auto add = [&](const PersistCounters& c) {
      bytes += Load(c.bytes);
      lines += Load(c.lines);
      units += Load(c.units);
      fences += Load(c.fences);
    };
    add(door.counters(purpose));
    for (size_t lane = 0; lane < kLogLanes && purpose == Purpose::kLog; lane++) add(door.lane_counters(lane));
    result->Total(std::string("nvm-bytes-") + PurposeName(purpose), bytes);
  }
  result->Total("nvm-bytes-total", door.TotalBytes());
  result->Total("nvm-lines-flushed", lines);
  result->Total("nvm-units-256", units);
  result->Total("nvm-fences", fences);
}

void AddModelCounters(const NvmModel& model, CounterList* result) {
  result->Total("modelled-units-read", model.read_units());
  result->Total("modelled-units-cached", model.cached_units());
  result->Total("modelled-device-misses", model.device_misses());
  result->Total("modelled-read-micros", model.read_nanos() / 1000);
  result->Total("modelled-write-micros", model.write_nanos() / 1000);
}

uint64_t KeptMemory(const KeptRecords* kept) { return kept != nullptr ? kept->memory_bytes() : 0; }

void AddLogFileCounters(const FileLog& files, CounterList* result) {
  DCHECK(result != nullptr);
  result->Total("log-file-bytes", files.bytes_written());
  result->Total("log-file-bytes-padding", files.padding_bytes());
  result->Now("log-file-bytes-needed", files.live_bytes());
  result->Total("log-file-syncs", files.syncs());
}

// Six digits at most, so that nothing overflows; no database has as many levels.
bool ParseNumber(Slice text, uint64_t* number) {
  DCHECK(number != nullptr);
  if (text.empty() || text.size() > 6) return false;
  *number = 0;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    *number = *number * 10 + static_cast<uint64_t>(text[i] - '0');
  }
  return true;
}

// DRAM that filters and upper levels of the tables take. Every table is asked, which is nothing to do under the mutex.
uint64_t TableMemory(const Version& version) {
  uint64_t bytes = 0;
  for (const Run* run : version.runs) {
    for (const TableRef& table : run->tables) bytes += table->memory_bytes();
  }
  return bytes;
}

// Flushes and merges.
void AddJobs(const Statistics& statistics, CounterList* counters) {
  DCHECK(counters != nullptr);
  const std::pair<const char*, const Counter*> jobs[] = {
      {"flush-micros", &statistics.flush_micros},
      {"merge-micros", &statistics.merge_micros},
      {"flushes", &statistics.flushes},
      {"merges", &statistics.merges},
      {"merge-record-bytes-read", &statistics.merge_record_bytes},
      {"expired-tables", &statistics.expired.tables},
      {"expired-table-entries", &statistics.expired.entries},
      {"quiet-merges", &statistics.quiet_merges},
      {"quiet-merges-given-up", &statistics.quiet_given_up},
      {"quiet-bytes-written", &statistics.quiet_bytes},
      {"range-entries-dropped", &statistics.ranges.dropped},
      {"range-records-read", &statistics.ranges.reads},
      {"range-tables-dropped", &statistics.ranges.tables},
  };
  for (const auto& [name, counter] : jobs) counters->Total(name, counter->value());
}

}  // namespace

VersionRef Properties::Current() {
  DbLock lock(control_);
  return tree_->versions->current();
}

// A single list is the source of "miodb.counters", of each counter's own property, and of the lines at the end of
// "leveldb.stats", so that they have the same figures. Figures that the mutex guards come last.
CounterList Properties::Counters() {
  CounterList result;
  result.Total("user-bytes-written", db_.statistics.UserBytes());
  const StallStatistics& stalls = db_.statistics.stalls;
  result.Total("stall-micros", stalls.micros.value());
  result.Total("stalls", stalls.count.value());
  for (size_t i = 0; i < kStallReasons; i++) {
    result.Total(std::string("stall-micros-") + kStallReasonNames[i], stalls.by_reason[i].value());
  }
  result.Total("throttle-micros", db_.statistics.throttle_micros.value());
  AddJobs(db_.statistics, &result);
  AddDoorCounters(db_.pool->persist(), &result);
  // Figures of parts that this database does not have are left out, and not told as 0.
  if (db_.nvm_model != nullptr) AddModelCounters(*db_.nvm_model, &result);
  if (db_.device_trace != nullptr) result.Total("device-trace-accesses", db_.device_trace->accesses());
  if (read_->kept() != nullptr) result.Now("record-cache-bytes", read_->kept()->memory_bytes());
  if (logs_->files() != nullptr) AddLogFileCounters(*logs_->files(), &result);
  result.Now("pool-bytes-used", db_.pool->used_bytes());
  result.Now("pool-bytes-held", db_.pool->held()->bytes());
  result.Now("pool-bytes-file", db_.pool->file_bytes());
  result.Now("pool-bytes-capacity", db_.pool->capacity());
  result.Total("pool-bytes-given-back", Load(db_.pool->space().growth().given_back));
  result.Total("pool-growths", Load(db_.pool->space().growth().steps));
  result.Total("pool-growths-waited-for", Load(db_.pool->space().growth().waited_for));
  result.Total("pool-growth-micros", Load(db_.pool->space().growth().micros));
  result.Now("pool-growth-longest-micros", Load(db_.pool->space().growth().longest_micros));
  result.Total("drains", db_.statistics.drains.value());
  result.Total("ssd-compactions", db_.statistics.ssd_compactions.value());
  result.Total("ssd-micros", db_.statistics.ssd_micros.value());
  result.Total("ssd-bytes-drain", db_.statistics.drain_bytes.value());
  result.Total("ssd-bytes-compaction", db_.statistics.ssd_compaction_bytes.value());
  result.Total("ssd-bytes-written", db_.ssd != nullptr ? db_.ssd->bytes_written() : 0);
  result.Total("ssd-bytes-read", db_.statistics.ssd_read_bytes.value());
  result.Total("ssd-ring-reads", db_.statistics.ring_reads.value());
  const uint64_t memory = TableMemory(*Current());
  // From here on the figures are of one moment: the tree's version, its memtables and the reserve belong together.
  DbLock lock(control_);
  const SsdLevels* const ssd = tree_->versions->current()->ssd.get();
  result.Now("ssd-files", ssd != nullptr ? ssd->file_count() : 0);
  result.Now("ssd-bytes", ssd != nullptr ? ssd->bytes() : 0);
  result.Now("pool-bytes-reserved", space_->Reserve(Space::Demand::kAny));
  result.Now("live-bytes", tree_->versions->payload_live_bytes());
  result.Now("payload-bytes", tree_->versions->payload_bytes());
  result.Now("entries", tree_->versions->entries());
  result.Now("tables", tree_->versions->tables());
  result.Now("runs", tree_->versions->current()->runs.size());
  result.Now("payload-extents", tree_->versions->current()->payload.size());
  result.Now("range-deletions", tree_->versions->manifest().ranges.size());
  result.Now("table-memory-bytes", memory);
  result.Now("immutable-memtables", tree_->immutables.size());
  result.Now("kept-log-bytes", space_->KeptLogBytes());
  return result;
}

// The table has LevelDB's columns, because programs print it as it is. Levels on SSD follow those in the pool.
std::string Properties::StatsText() {
  std::string text =
      "                               Compactions\n"
      "Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n"
      "--------------------------------------------------\n";
  const VersionRef version = Current();
  for (size_t level = 0; level < version->levels.size(); level++) {
    size_t tables = 0;
    uint64_t bytes = 0;
    for (const RunRef& run : version->levels[level]) {
      tables += run->tables.size();
      bytes += run->payload_bytes();
    }
    AppendLevel(level, tables, bytes, db_.statistics.levels[level], &text);
  }
  for (size_t level = 0; version->ssd != nullptr && level < version->ssd->levels.size(); level++) {
    const FileList& files = version->ssd->levels[level];
    AppendLevel(version->levels.size() + level, files.size(), TotalBytes(files), db_.statistics.ssd_levels[level],
                &text);
  }
  const CounterList counters = Counters();
  for (const CounterList::Entry& counter : counters.entries()) {
    Append(&text, "%s: %" PRIu64 "\n", counter.name.c_str(), counter.value);
  }
  AppendAmplification(counters, &text);
  return text;
}

// The same figures of levels as in "leveldb.stats".
std::string Properties::Prometheus() {
  const VersionRef version = Current();
  std::vector<LevelFigures> levels;
  for (size_t i = 0; i < version->levels.size(); i++) {
    const LevelStatistics& merged = db_.statistics.levels[i];
    LevelFigures level{false, i, 0, 0, merged.bytes_read.value(), merged.bytes_written.value()};
    for (const RunRef& run : version->levels[i]) {
      level.tables += run->tables.size();
      level.bytes += run->payload_bytes();
    }
    levels.push_back(level);
  }
  for (size_t i = 0; version->ssd != nullptr && i < version->ssd->levels.size(); i++) {
    const FileList& files = version->ssd->levels[i];
    DCHECK_LT(i, db_.statistics.ssd_levels.size());
    const LevelStatistics& merged = db_.statistics.ssd_levels[i];
    levels.push_back(
        {true, i, files.size(), TotalBytes(files), merged.bytes_read.value(), merged.bytes_written.value()});
  }
  return PrometheusText(db_.name, Counters(), levels, db_.statistics.times.get());
}

// The version is held by its reference while it is described, without the mutex: a long list keeps no writer waiting.
std::string Properties::TablesText() {
  const VersionRef version = Current();
  std::string text;
  for (size_t level = 0; level < version->levels.size(); level++) {
    Append(&text, "--- level %zu ---\n", level);
    for (const RunRef& run : version->levels[level]) {
      for (const TableRef& t : run->tables) {
        Append(&text, " %" PRIu64 ": run %" PRIu64 ", %" PRIu64 " entries, %" PRIu64 " bytes ['%s' .. '%s']\n",
               t->number(), run->id, t->entries(), t->payload_bytes(), Beginning(t->smallest()).c_str(),
               Beginning(t->largest()).c_str());
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

// Figures of the pool have locks of their own, so this text costs no writer anything.
std::string Properties::PoolText() {
  std::string text = "path: " + db_.pool->path() + "\n";
  Append(&text, "persist-mode: %s\n", DurabilityName(*db_.pool));
  Append(&text, "bytes-used: %" PRIu64 "\nbytes-file: %" PRIu64 "\nbytes-capacity: %" PRIu64 "\n",
         db_.pool->used_bytes(), db_.pool->file_bytes(), db_.pool->capacity());
  return text;
}

// Where pages really are is asked of the kernel for a sample of them: what was asked for and what was given may differ,
// when a node was full.
std::string Properties::PlacementText() {
  constexpr uint64_t kPages = 256;
  const auto node = [](int id) { return id == kAnyNode ? std::string("any") : std::to_string(id); };
  std::string text = "dram-node: " + node(db_.placement.dram_node) + "\n";
  text += "dram-found: " + db_.blocks->Sample().Describe() + "\n";
  text += "thread-cpus: " + (db_.placement.cpus.empty() ? "any" : FormatIntList(db_.placement.cpus)) + "\n";
  text += "nvm-model: " + (db_.nvm_model == nullptr ? "none" : db_.nvm_model->figures().Describe()) + "\n";
  text += std::string("placement-policy: ") + db_.pool->placement().Name() + "\n";
  // Regions come in the order of their references, which is that in which they were added.
  const RegionSet& regions = db_.pool->regions();
  for (int i = 0; i < regions.count(); i++) {
    const RegionSet::Member& m = regions.at(i);
    const Region& region = *m.region;
    // The pool's own file goes without a number.
    const std::string name = i == 0 ? "region-" : "region" + std::to_string(i) + "-";
    const auto line = [&](const char* what, const std::string& value) { text += name + what + ": " + value + "\n"; };
    line("path", region.path());
    line("uuid", UuidText(i == 0 ? db_.pool->uuid() : m.uuid));
    line("kind", RegionKindName(region.kind()));
    line("persist-mode", PersistModeName(region.mode()));
    line("node", node(region.nodes().node));
    line("next-node", node(region.nodes().next_node));
    line("found", region.Sample(kPages).Describe());
    line("page-bytes", std::to_string(region.granularity()));
    line("huge-pages", region.huge_pages() ? "asked for" : "no");
    line("limit", db_.pool->space().limit_of(i) == 0 ? "none" : std::to_string(db_.pool->space().limit_of(i)));
    line("bytes", std::to_string(region.size()));
    line("bytes-used", std::to_string(db_.pool->space().used_in(i)));
    line("bytes-log", std::to_string(db_.pool->bytes_of(ExtentKind::kLog, i)));
    line("bytes-copied", std::to_string(db_.pool->bytes_of(ExtentKind::kSettled, i)));
    line("bytes-index", std::to_string(db_.pool->bytes_of(ExtentKind::kIndex, i)));
    line("bytes-manifest", std::to_string(db_.pool->bytes_of(ExtentKind::kManifest, i)));
  }
  return text;
}

// Programs ask this often, some at every write; a pin keeps them off the mutex. Levels on SSD are numbered behind those
// in the pool. A level that no option asked for and no file has come to is none.
bool Properties::CountTables(uint64_t level, size_t* count) {
  CHECK(count != nullptr);
  ReadStates::Pin pin(&tree_->states);
  const SsdLevels* const ssd = pin->version->ssd.get();
  const size_t pool_levels = pin->version->levels.size();
  *count = 0;
  if (level < pool_levels) {
    for (const RunRef& run : pin->version->levels[level]) *count += run->tables.size();
    return true;
  }
  if (ssd == nullptr || level >= pool_levels + ssd->levels.size()) return false;
  *count = ssd->levels[level - pool_levels].size();
  return true;
}

// Names that LevelDB has begin with "leveldb.", all others with "miodb.". For an unknown name the call returns false
// and leaves the caller's text unchanged.
bool Properties::Get(const Slice& property, std::string* value) {
  Slice name = property;
  if (name.starts_with("leveldb.")) {
    name.remove_prefix(8);
    const Slice files = "num-files-at-level";
    if (name.starts_with(files)) {
      name.remove_prefix(files.size());
      uint64_t level;
      size_t count;
      if (!ParseNumber(name, &level) || !CountTables(level, &count)) return false;
      *value = std::to_string(count);
    } else if (name == Slice("stats")) {
      *value = StatsText();
    } else if (name == Slice("sstables")) {
      *value = TablesText();
    } else if (name == Slice("approximate-memory-usage")) {
      const uint64_t tables = TableMemory(*Current()) + KeptMemory(read_->kept());
      DbLock lock(control_);
      *value = std::to_string(tables + tree_->MemTableMemory());
    } else {
      return false;
    }
    return true;
  }
  if (!name.starts_with("miodb.")) return false;
  // Texts come first, then the counters by their names: no counter has the name of a text.
  name.remove_prefix(6);
  if (name == Slice("persist-mode")) {
    *value = DurabilityName(*db_.pool);
  } else if (name == Slice("pool")) {
    *value = PoolText();
  } else if (name == Slice("nvm-model")) {
    *value = db_.nvm_model == nullptr ? "none" : db_.nvm_model->figures().Describe();
  } else if (name == Slice("estimate-num-keys")) {
    *value = std::to_string(ReadStates::Pin(&tree_->states)->EstimateKeys());
  } else if (name == Slice("placement")) {
    *value = PlacementText();
  } else if (name == Slice("prometheus")) {
    *value = Prometheus();
  } else if (name == Slice("times")) {
    *value = db_.statistics.times == nullptr ? "" : db_.statistics.times->Describe();
  } else if (name == Slice("background-error")) {
    DbLock lock(control_);
    *value = control_->error().ToString();
  } else if (name == Slice("compact-error")) {
    DbLock lock(control_);
    *value = control_->compaction().ToString();
  } else if (name == Slice("ssd-error")) {
    DbLock lock(control_);
    *value = tier_->error().ToString();
  } else if (name == Slice("counters")) {
    value->clear();
    const CounterList counters = Counters();
    for (const CounterList::Entry& counter : counters.entries()) {
      *value += counter.name + ": " + std::to_string(counter.value) + "\n";
    }
  } else {
    const CounterList counters = Counters();
    const CounterList::Entry* const counter = counters.Find(name);
    if (counter == nullptr) return false;
    *value = std::to_string(counter->value);
  }
  return true;
}

}  // namespace miodb
