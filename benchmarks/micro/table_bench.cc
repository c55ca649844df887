// The way of a record: a frame in the log, the flush of its memtable, a merge, gets and iterators over the tables.
// Values have 100 bytes. The pool lies in anonymous memory, with the flushes and fences of persistent memory.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/micro/check.h"
#include "benchmarks/micro/keys.h"
#include "compaction/merge/flush.h"
#include "compaction/merge/merge.h"
#include "src/log/frame_writer.h"
#include "src/memtable/memtable.h"

namespace miodb::micro {
namespace {

constexpr size_t kValueBytes = 100;
constexpr uint64_t kChunkBytes = uint64_t{4} << 20;

// A pool, and memtables that are filled through its log.
class World {
 public:
  World() : order_(BytewiseComparator()), blocks_(size_t{2} << 20, 32), value_(kValueBytes, 'v') {
    Pool::Options options;
    options.limit = uint64_t{2} << 30;
    options.growth = uint64_t{64} << 20;
    Check(Pool::Create("anonymous", options, &pool_));
    writer_ = std::make_unique<FrameWriter>(&pool_->persist(), pool_->secret());
    records_.resize(1);
  }

  std::unique_ptr<MemTable> NewMemTable() {
    return std::make_unique<MemTable>(order_, &blocks_, size_t{1} << 20, pool_->secret());
  }

  // Writes one record into the memtable's log. Returns its size.
  size_t Append(MemTable* table, uint64_t number) {
    auto& chunks = table->segment().chunks;
    char key[kKeyBytes];
    records_[0] = {kTypeValue, MakeKey(number, key), value_};
    const size_t size = records_[0].size();
    if (chunks.empty() || chunks.back()->room() < FrameWriter::FrameSize(size)) chunks.push_back(NewChunk());
    writer_->Write(chunks.back().get(), &records_, size, ++sequence_);
    pool_->persist().Fence(Purpose::kLog).IgnoreError();
    return size;
  }

  void Add(MemTable* table, uint64_t number) {
    const size_t size = Append(table, number);
    char key[kKeyBytes];
    table->Add(MakeKey(number, key), PackTag(sequence_, kTypeValue), records_[0].place, size);
  }

  // A run of this many keys: first, first + step, ..., added in another order.
  std::vector<TableRef> NewRun(uint64_t count, uint64_t first, uint64_t step) {
    const auto memtable = NewMemTable();
    for (uint64_t i = 0; i < count; i++) Add(memtable.get(), first + step * Shuffled(i, count));
    return Flush(memtable.get());
  }

  std::vector<TableRef> Flush(const MemTable* memtable) {
    const VersionFilter filter({});
    FlushRequest request{pool_.get(), order_, memtable, &filter, 10, [this] { return ++table_number_; }};
    std::vector<TableRef> tables;
    std::vector<MadePayload> made;
    Check(FlushMemTable(request, &tables, &made));
    for (const MadePayload& p : made) payload_.Insert(ExtentsBefore(payload_, p.extent->offset()), p.extent);
    return tables;
  }

  uint64_t Merge(const std::vector<std::vector<TableRef>>& runs) {
    const VersionFilter filter({});
    MergeRequest request{pool_.get(), order_, Purpose::kMerge, &filter, &payload_, runs, {}};
    request.filter_bits = 10;
    request.new_table_number = [this] { return ++table_number_; };
    MergeResult result;
    Check(MergeRuns(request, &result));
    return result.entries_read;
  }

  const KeyOrder& order() const { return order_; }

 private:
  std::unique_ptr<LogChunk> NewChunk() {
    auto chunk = std::make_unique<LogChunk>();
    chunk->id = ++chunk_id_;
    Check(pool_->Allocate(kChunkBytes, ExtentKind::kLog, &chunk->extent));
    chunk->extent->Populate();
    chunk->base = chunk->extent->data();
    chunk->capacity = chunk->extent->size();
    return chunk;
  }

  const KeyOrder order_;
  BlockPool blocks_;
  const std::string value_;
  std::unique_ptr<Pool> pool_;
  ExtentList payload_;  // of all tables
  std::unique_ptr<FrameWriter> writer_;
  std::vector<LogRecord> records_;
  uint64_t sequence_ = 0;
  uint64_t chunk_id_ = 0;
  uint64_t table_number_ = 0;
};

// A frame of one record, and its fence.
void AppendFrame(benchmark::State& state) {
  World world;
  auto memtable = world.NewMemTable();
  uint64_t i = 0;
  for (auto _ : state) {
    world.Append(memtable.get(), i++);
    if (i % (1 << 18) != 0) continue;
    state.PauseTiming();
    memtable = world.NewMemTable();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(AppendFrame);

// Per entry: the index of a memtable's run.
void Flush(benchmark::State& state) {
  const auto entries = static_cast<uint64_t>(state.range(0));
  World world;
  const auto memtable = world.NewMemTable();
  for (uint64_t i = 0; i < entries; i++) world.Add(memtable.get(), Shuffled(i, entries));
  for (auto _ : state) benchmark::DoNotOptimize(world.Flush(memtable.get()));
  state.SetItemsProcessed(static_cast<int64_t>(entries) * state.iterations());
}
BENCHMARK(Flush)->Arg(1 << 18)->Unit(benchmark::kMillisecond);

// Per entry of its inputs: a merge of this many runs, whose keys alternate.
void Merge(benchmark::State& state) {
  const auto runs = static_cast<uint64_t>(state.range(0));
  World world;
  std::vector<std::vector<TableRef>> inputs;
  for (uint64_t i = 0; i < runs; i++) inputs.insert(inputs.begin(), world.NewRun(1 << 17, i, runs));
  uint64_t entries = 0;
  for (auto _ : state) entries += world.Merge(inputs);
  state.SetItemsProcessed(static_cast<int64_t>(entries));
}
BENCHMARK(Merge)->Arg(2)->Arg(4)->Unit(benchmark::kMillisecond);

// A get from a run of this many keys: filter, index, record.
void Find(benchmark::State& state) {
  const auto entries = static_cast<uint64_t>(state.range(0));
  World world;
  const Run run{1, world.NewRun(entries, 0, 1)};
  uint64_t i = 0, found_keys = 0;
  for (auto _ : state) {
    char key[kKeyBytes];
    bool found = false;
    RecordView record;
    Check(run.Get(world.order(), LookupKey(world.order(), MakeKey(Shuffled(i++ * 7, entries), key), UINT64_MAX >> 8),
                  &found, &record));
    found_keys += found;
  }
  if (found_keys != i) state.SkipWithError("a key is missing");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Find)->Arg(1 << 16)->Arg(1 << 20);

void IteratorStep(benchmark::State& state) {
  World world;
  const Run run{1, world.NewRun(1 << 18, 0, 1)};
  const auto iterator = NewRunIterator(&run, world.order(), Checksums::kTrust);
  iterator->SeekToFirst();
  for (auto _ : state) {
    benchmark::DoNotOptimize(iterator->record().key.data());
    iterator->Next();
    if (!iterator->Valid()) iterator->SeekToFirst();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(IteratorStep);

}  // namespace
}  // namespace miodb::micro
