// Version edits: what one costs while the repository has this many tables. The pool is a file in the folder for
// temporary files (TMPDIR; best in memory), with the flushes and fences of persistent memory.
//
// Every table has one record. A time covers the record in the manifest, with its share of the manifest's roll-overs,
// and the version that is made; tables are made before.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/micro/check.h"
#include "benchmarks/micro/keys.h"
#include "pmtable/table_builder.h"
#include "src/version/version_set.h"

namespace miodb::micro {
namespace {

constexpr size_t kValueBytes = 100;
constexpr size_t kMostRecordBytes = 256;
constexpr int kLevels = 8;
constexpr uint64_t kJobs = 1024;  // made at a time

// A version set whose tables share one payload extent.
class World {
 public:
  // tables: in the repository, at every second key number.
  explicit World(uint64_t tables) : order_(BytewiseComparator()), value_(kValueBytes, 'v') {
    Pool::Options options;
    options.limit = uint64_t{16} << 30;
    options.growth = uint64_t{64} << 20;
    options.persist_mode = kPersistEmulated;
    const auto folder = std::filesystem::temp_directory_path();
    Check(Pool::Create((folder / ("edit_bench." + std::to_string(getpid()))).string(), options, &pool_));
    versions_ = std::make_unique<VersionSet>(pool_.get(), order_, kLevels);
    Check(versions_->Create());
    Check(pool_->Publish());
    pool_->Remove();
    Check(pool_->Allocate(2 * tables * kMostRecordBytes, ExtentKind::kSettled, &payload_));
    payload_->SetPayloadBytes(payload_->size());
    VersionEdit edit;
    Additions added;
    for (uint64_t i = 0; i < tables; i++) {
      added.tables.push_back(NewTable(2 * i));
      edit.tables.push_back(Place(*added.tables.back(), kRepositoryLevel, 0));
    }
    added.payload.made.push_back({payload_, payload_->size()});
    Check(versions_->Apply(std::move(edit), added));
  }

  // The record of the table lies where the record of the last table with this key lay.
  TableRef NewTable(uint64_t key_number) {
    char buffer[kKeyBytes];
    const Slice key = MakeKey(key_number, buffer);
    char* const at = payload_->data() + key_number * kMostRecordBytes;
    uint64_t hash;
    memcpy(EncodeRecordHead(at, PackTag(1, kTypeValue), key, value_, pool_->secret(), &hash), value_.data(),
           value_.size());
    const IndexWord word(payload_->offset() + (at - payload_->data()), kTypeValue,
                         RecordSize(key.size(), value_.size()));
    IndexEntry entry;
    entry.SetKey(key);
    entry.same_key_as_last = false;
    entry.hash = LookupKey(order_, key, 0).hash;
    entry.word = word;
    PMTableBuilder builder(pool_.get(), order_, Purpose::kFlush, versions_->NewId(), 10);
    Check(builder.Start(1, 1));
    builder.Add(entry);
    TableRef table;
    PMTableBuilder::Summary summary;
    summary.min_sequence = summary.max_sequence = summary.oldest_sequence = 1;
    Check(builder.Finish(summary, &table));
    return table;
  }

  static TablePlace Place(const PMTable& table, uint32_t level, uint64_t run) {
    return {table.number(), level, run, table.index()->offset(), table.index()->size()};
  }

  VersionSet* versions() { return versions_.get(); }

 private:
  const KeyOrder order_;
  const std::string value_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<VersionSet> versions_;
  ExtentRef payload_;
};

// The tables that a job installs.
struct Job {
  std::vector<TableRef> out, in;

  VersionEdit EditOf(uint32_t level, uint64_t run) const {
    VersionEdit edit;
    for (const TableRef& table : out) edit.removed_tables.push_back(table->number());
    for (const TableRef& table : in) edit.tables.push_back(World::Place(*table, level, run));
    return edit;
  }
};

// A log chunk gets a name, and another that was flushed loses its name.
void EditOfLog(benchmark::State& state) {
  World world(static_cast<uint64_t>(state.range(0)));
  uint64_t last = 0;
  for (auto _ : state) {
    VersionEdit edit;
    if (last != 0) edit.removed_chunks.push_back(last);
    last = world.versions()->NewId();
    edit.chunks.push_back({last, uint64_t{1} << 30, uint64_t{1} << 20, false, 0});
    Check(world.versions()->Apply(std::move(edit), {}));
  }
}

// A flush, and a merge that takes what the one before it left: a run of one table comes in front of a level, and the
// oldest run goes.
void EditOfBuffer(benchmark::State& state) {
  World world(static_cast<uint64_t>(state.range(0)));
  std::vector<Job> jobs(kJobs);
  TableRef last;
  size_t i = kJobs;
  for (auto _ : state) {
    if (i == kJobs) {
      state.PauseTiming();
      for (i = 0; i < kJobs; i++) {
        jobs[i].out.clear();
        if (last != nullptr) jobs[i].out.push_back(last);
        last = world.NewTable(1);
        jobs[i].in = {last};
      }
      i = 0;
      state.ResumeTiming();
    }
    Check(world.versions()->Apply(jobs[i].EditOf(0, world.versions()->NewId()), {jobs[i].in, {}, {}, {}}));
    i++;
  }
}

// A collection, a copy or a drain: some neighbours in the repository go, and others come in their place.
void EditOfRepository(benchmark::State& state) {
  const auto tables = static_cast<uint64_t>(state.range(0)), width = static_cast<uint64_t>(state.range(1));
  World world(tables);
  std::vector<Job> jobs(std::min(kJobs, tables / width));
  std::vector<uint64_t> places(tables / width);  // in the order in which they are rewritten
  std::iota(places.begin(), places.end(), uint64_t{0});
  std::shuffle(places.begin(), places.end(), std::minstd_rand(1));
  size_t i = jobs.size(), next = 0;
  for (auto _ : state) {
    if (i == jobs.size()) {
      state.PauseTiming();
      const TableList& repository = world.versions()->current()->levels.back()[0]->tables;
      for (Job& job : jobs) {
        const uint64_t first = places[next++ % places.size()] * width;
        job = Job();
        for (uint64_t n = first; n < first + width; n++) {
          job.out.push_back(repository[n]);
          job.in.push_back(world.NewTable(2 * n));
        }
      }
      i = 0;
      state.ResumeTiming();
    }
    Check(world.versions()->Apply(jobs[i].EditOf(kRepositoryLevel, 0), {jobs[i].in, {}, {}, {}}));
    i++;
  }
}

BENCHMARK(EditOfLog)->Arg(100)->Arg(10000)->Arg(100000)->Unit(benchmark::kMicrosecond);
BENCHMARK(EditOfBuffer)->Arg(100)->Arg(10000)->Arg(100000)->Unit(benchmark::kMicrosecond);
BENCHMARK(EditOfRepository)->ArgsProduct({{100, 10000, 100000}, {1, 8}})->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace miodb::micro
