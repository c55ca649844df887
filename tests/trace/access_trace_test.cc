// Options::device_trace: a trace of a whole run, repeated on another model, gives the counters of the run; samples,
// large accesses, and damage.

#include "src/trace/access_trace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/emulation/nvm_model.h"
#include "src/nvm/persist/persist.h"
#include "tests/common/db_test_base.h"
#include "tests/common/random/random.h"
#include "tests/trace/trace_files.h"

namespace miodb::test {
namespace {

using Counters = std::map<std::string, uint64_t>;

// Repeats the accesses of a trace on a model and counts what the door counts.
class Replay {
 public:
  explicit Replay(const NvmModelFigures& figures) : model_(figures) {}

  void Take(uint64_t base, const TraceAccess& access) {
    const char* const p = reinterpret_cast<const char*>(base + access.offset);
    if (access.kind == TraceAccess::kRead) {
      model_.CountRead(p, access.bytes, &streams_[access.thread]);
      return;
    }
    if (access.kind == TraceAccess::kFence) {
      counters_["nvm-fences"]++;
      return;
    }
    if (access.kind == TraceAccess::kWrite) model_.CountWrite(p, access.bytes);
    counters_["nvm-bytes-" + std::string(PurposeName(static_cast<Purpose>(access.purpose)))] += access.bytes;
    counters_["nvm-bytes-total"] += access.bytes;
    counters_["nvm-lines-flushed"] += Blocks(access, 64);
    counters_["nvm-units-256"] += Blocks(access, 256);
  }

  Counters Result() {
    counters_["modelled-units-read"] = model_.read_units();
    counters_["modelled-units-cached"] = model_.cached_units();
    counters_["modelled-device-misses"] = model_.device_misses();
    counters_["modelled-read-micros"] = model_.read_nanos() / 1000;
    return counters_;
  }

 private:
  static uint64_t Blocks(const TraceAccess& access, uint64_t size) {
    return (access.offset + access.bytes - 1) / size - access.offset / size + 1;
  }

  NvmModel model_;
  std::map<uint16_t, NvmStreams> streams_;
  Counters counters_;
};

struct Traced {
  uint64_t base = 0;
  std::vector<TraceAccess> accesses;
};

Status ReadAccesses(const std::string& path, Traced* traced) {
  std::unique_ptr<TraceReader> reader;
  Status s = TraceReader::Open(path, &reader);
  if (!s.ok()) return s;
  for (TraceRecord record; reader->Next(&record);) {
    if (record.type != kTraceAccesses) continue;
    TraceAccesses walk(record.accesses);
    for (TraceAccess access; walk.Next(&access);) traced->accesses.push_back(access);
    EXPECT_FALSE(walk.damaged());
    EXPECT_TRUE(traced->base == 0 || traced->base == walk.base());
    traced->base = walk.base();
  }
  return reader->status();
}

class AccessTraceTest : public DbTestBase {
 protected:
  AccessTraceTest() {
    options_.device_trace = trace_;
    options_.nvm_model = dir_ / "model";
    // Small caches, so that accesses that come in another order give other counts.
    std::ofstream(options_.nvm_model) << "read_random_nanos = 30\nread_sequential_nanos = 10\ncache_bytes = 65536\n"
                                         "device_cache_bytes = 262144\ndevice_miss_nanos = 50\n";
  }

  // Writes, reads and scans, by several threads at once.
  void Run(uint64_t seed) {
    Fill(2000, 400);
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 3; t++) {
      threads.emplace_back([this, t, seed] {
        Random random(seed * 100 + t);
        for (int i = 0; i < 1500; i++) {
          const std::string key = FilledKey(random.Uniform(2000));
          if (random.Uniform(4) == 0) {
            db_->Put(WriteOptions(), key, std::string(1 + random.Uniform(900), 'v')).IgnoreError();
          } else {
            std::string value;
            db_->Get(ReadOptions(), key, &value).IgnoreError();
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_FALSE(Forward(db_.get()).empty());
    Settle();
    EXPECT_FALSE(Backward(db_.get()).empty());
    ASSERT_OK(db_->WaitForIdle());
  }

  Counters CountersOfModel() {
    Counters result;
    for (const char* name :
         {"nvm-bytes-log", "nvm-bytes-flush", "nvm-bytes-merge", "nvm-bytes-lazy-copy", "nvm-bytes-evacuation",
          "nvm-bytes-manifest", "nvm-bytes-total", "nvm-lines-flushed", "nvm-units-256", "nvm-fences",
          "modelled-units-read", "modelled-units-cached", "modelled-device-misses", "modelled-read-micros"}) {
      const uint64_t value = Counter(name);
      if (value != 0 || std::string(name).starts_with("modelled")) result[name] = value;
    }
    return result;
  }

  const std::string trace_ = dir_ / "accesses";
};

TEST_F(AccessTraceTest, AWholeRunRepeatedGivesTheCountersOfTheModel) {
  for (uint64_t seed = 1; seed <= 3; seed++) {
    SCOPED_TRACE(seed);
    Open();
    Run(seed);
    const Counters counted = CountersOfModel();
    const uint64_t accesses = Counter("device-trace-accesses");
    EXPECT_GT(counted.at("modelled-units-cached"), 0u);
    EXPECT_GT(counted.at("modelled-device-misses"), 0u);
    Close();  // stores some more
    Traced traced;
    ASSERT_OK(ReadAccesses(trace_, &traced));
    ASSERT_GE(traced.accesses.size(), accesses);
    NvmModelFigures figures;
    bool off;
    ASSERT_OK(NvmModelFigures::Parse(options_.nvm_model, &figures, &off));
    Replay replay(figures);
    for (uint64_t i = 0; i < accesses; i++) replay.Take(traced.base, traced.accesses[i]);
    EXPECT_EQ(counted, replay.Result());
    for (size_t i = 1; i < traced.accesses.size(); i++) {
      ASSERT_LE(traced.accesses[i - 1].nanos, traced.accesses[i].nanos);
    }
  }
}

TEST_F(AccessTraceTest, WithoutAModelItCountsAndWaitsForNothing) {
  options_.nvm_model = "none";
  Open();
  Fill(100, 100);
  EXPECT_EQ(0u, Property("miodb.nvm-model").find("count"));
  EXPECT_GT(Counter("device-trace-accesses"), 0u);
}

TEST_F(AccessTraceTest, AWrongSampleLeavesNoFileAndNoDatabase) {
  for (const char* wrong : {"every", "every:0", "every:-1", "every:1000001", "every:5x", "seconds:5", "seconds:5-5",
                            "seconds:-1-5", "seconds:0-nan", "seconds:1-2-3", "most"}) {
    options_.device_trace_sample = wrong;
    const Status s = TryOpen();
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, "Options::device_trace_sample is \"" + std::string(wrong) + "\""));
    EXPECT_FALSE(std::filesystem::exists(trace_));
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
  options_.device_trace_sample = "";
  options_.device_trace = dir_ / "no/such/folder";
  EXPECT_FALSE(TryOpen().ok());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// The file may be the trace of the one that has the database, and a repair is no run of it.
TEST_F(AccessTraceTest, AnOpenThatIsRefusedAndARepairLeaveTheFile) {
  Options untraced = options_;
  untraced.device_trace.clear();
  ASSERT_OK(OpenDb(untraced, path_, &db_));
  Put("a", "1");
  ASSERT_OK(WriteStringToFile(Env::Default(), "a trace", trace_));
  std::unique_ptr<DB> second;
  std::string bytes;
  EXPECT_FALSE(OpenDb(options_, path_, &second).ok());
  ASSERT_OK(ReadFileToString(Env::Default(), trace_, &bytes));
  EXPECT_EQ("a trace", bytes) << "after the refusal";
  Close();
  ASSERT_OK(RepairDB(path_, options_));
  ASSERT_OK(ReadFileToString(Env::Default(), trace_, &bytes));
  EXPECT_EQ("a trace", bytes) << "after the repair";
}

// Hands over what a model tells, without a trace.
class Heard final : public AccessSink {
 public:
  void OnAccess(uint64_t base, const TraceAccess& access) override {
    EXPECT_EQ(kBase, base);
    accesses.push_back(access);
  }
  static constexpr uint64_t kBase = uint64_t{1} << 40;
  std::vector<TraceAccess> accesses;
};

NvmModelFigures Counting() {
  NvmModelFigures figures;
  figures.cache_bytes = 4096;
  return figures;
}

const char* At(uint64_t offset) { return reinterpret_cast<const char*>(Heard::kBase + offset); }

TEST(AccessSinkTest, AnAccessThatIsTooLargeIsCutWherePagesEnd) {
  NvmModel model(Counting());
  Heard heard;
  model.AddRegion(At(0), uint64_t{1} << 30);
  model.TraceTo(&heard);
  constexpr uint64_t kOffset = 100, kBytes = (uint64_t{40} << 20) + 7;
  model.Write(TraceAccess::kMerge, At(kOffset), kBytes);
  model.Write(TraceAccess::kMerge, At(kOffset), 0);
  uint64_t at = kOffset;
  ASSERT_EQ(3u, heard.accesses.size());
  for (const TraceAccess& access : heard.accesses) {
    EXPECT_EQ(at, access.offset);
    EXPECT_LE(access.bytes, TraceAccess::kMostBytes);
    at += access.bytes;
    EXPECT_TRUE(at % 4096 == 0 || at == kOffset + kBytes);
  }
  EXPECT_EQ(kOffset + kBytes, at);
}

TEST(AccessSinkTest, AThreadHasANumberAndBeginsWithoutStreams) {
  Heard first_heard, second_heard;
  NvmModel first(Counting()), second(Counting());
  for (const auto& [model, heard] : {std::pair(&first, &first_heard), std::pair(&second, &second_heard)}) {
    model->AddRegion(At(0), 1 << 20);
    model->TraceTo(heard);
  }
  first.Read(At(0), 256);
  second.Read(At(256), 256);
  std::thread([&] { first.Fence(TraceAccess::kLog); }).join();
  first.Flush(TraceAccess::kManifest, At(512), 8);
  EXPECT_EQ(1u, second.read_units()) << "and goes on with nothing that it read of the other";
  ASSERT_EQ(3u, first_heard.accesses.size());
  EXPECT_EQ(0, first_heard.accesses[0].thread);
  EXPECT_EQ(1, first_heard.accesses[1].thread);
  EXPECT_EQ(TraceAccess::kFence, first_heard.accesses[1].kind);
  EXPECT_EQ(0u, first_heard.accesses[1].bytes);
  EXPECT_EQ(TraceAccess::kFlush, first_heard.accesses[2].kind);
  EXPECT_EQ(TraceAccess::kManifest, first_heard.accesses[2].purpose);
}

// Makes a trace of so many reads, each in turn of two threads.
std::unique_ptr<AccessTrace> TraceOf(const std::string& path, const std::string& sample, uint64_t count) {
  std::unique_ptr<AccessTrace> trace;
  EXPECT_OK(AccessTrace::Start(path, sample, &trace));
  for (uint64_t i = 0; i < count; i++) {
    trace->OnAccess(4096, {.thread = static_cast<uint16_t>(i % 2), .bytes = 1, .offset = i / 2});
  }
  return trace;
}

TEST(AccessSampleTest, OfEveryNRunsOfAThreadTheFirstIsRecorded) {
  const TestDir dir;
  const auto trace = TraceOf(dir / "trace", "every:3", 2 * kAccessRun * 6);
  EXPECT_EQ(2 * kAccessRun * 2, trace->accesses());
  ASSERT_OK(trace->End());
  trace->OnAccess(4096, {.bytes = 1});
  ASSERT_OK(trace->End());
  Traced traced;
  ASSERT_OK(ReadAccesses(dir / "trace", &traced));
  ASSERT_EQ(2 * kAccessRun * 2, traced.accesses.size());
  for (const TraceAccess& access : traced.accesses) EXPECT_EQ(0u, access.offset / kAccessRun % 3);
}

TEST(AccessSampleTest, AWindowHasWhatLiesInIt) {
  const TestDir dir;
  EXPECT_EQ(10u, TraceOf(dir / "trace", "seconds:0-1000000", 10)->accesses());
  EXPECT_EQ(0u, TraceOf(dir / "trace", "seconds:1000000-1e7", 10)->accesses());
}

TEST(AccessesPayloadTest, KeepsTheLargestNumbersAndLongPausesBeginAnother) {
  AccessesPayload payload;
  const TraceAccess largest{.kind = TraceAccess::kFlush,
                            .purpose = TraceAccess::kManifest,
                            .thread = UINT16_MAX,
                            .bytes = TraceAccess::kMostBytes,
                            .offset = (uint64_t{1} << 48) - 1,
                            .nanos = uint64_t{1} << 60};
  payload.Add(UINT64_MAX, largest);
  EXPECT_TRUE(payload.Takes(largest.nanos + UINT32_MAX));
  EXPECT_FALSE(payload.Takes(largest.nanos + UINT32_MAX + 1));
  TraceAccess fence{.kind = TraceAccess::kFence, .purpose = TraceAccess::kLog, .nanos = largest.nanos + UINT32_MAX};
  payload.Add(UINT64_MAX, fence);
  TraceAccesses walk{Slice(payload.bytes())};
  TraceAccess read;
  ASSERT_TRUE(walk.Next(&read));
  EXPECT_EQ(UINT64_MAX, walk.base());
  EXPECT_EQ(largest.kind, read.kind);
  EXPECT_EQ(largest.purpose, read.purpose);
  EXPECT_EQ(largest.thread, read.thread);
  EXPECT_EQ(largest.bytes, read.bytes);
  EXPECT_EQ(largest.offset, read.offset);
  EXPECT_EQ(largest.nanos, read.nanos);
  ASSERT_TRUE(walk.Next(&read));
  EXPECT_EQ(fence.nanos, read.nanos);
  EXPECT_EQ(fence.kind, read.kind);
  EXPECT_FALSE(walk.Next(&read));
  EXPECT_FALSE(walk.damaged());
}

TEST(AccessTraceDamageTest, EveryCutAndEveryFlippedBitIsToldWithItsPlace) {
  const TestDir dir;
  ASSERT_OK(TraceOf(dir / "trace", "", 5)->End());
  const std::string whole = ReadFile(dir / "trace");
  const std::string path = dir / "damaged";
  for (size_t i = 0; i < whole.size(); i++) {
    WriteFile(path, whole.substr(0, i));
    std::unique_ptr<TraceReader> reader;
    Status s = TraceReader::Open(path, &reader);
    if (s.ok()) {
      TraceRecord record;
      while (reader->Next(&record)) {
      }
      EXPECT_FALSE(reader->ended()) << i;
      s = reader->status();
    }
    EXPECT_TRUE(s.ok() || Mentions(s, path));
    // The end record lies behind the last checksum, and its time is used for nothing.
    for (int bit = 0; bit < 8 && i < whole.size() - kTraceHeadBytes; bit++) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      WriteFile(path, flipped);
      Traced traced;
      const Status told = ReadAccesses(path, &traced);
      EXPECT_FALSE(told.ok()) << "byte " << i << " bit " << bit;
      EXPECT_TRUE(Mentions(told, path));
    }
  }
}

TEST(AccessTraceDamageTest, AnAccessThatThereCannotBeIsDamage) {
  AccessesPayload payload;
  payload.Add(4096, {.bytes = 1});
  const auto damaged = [](std::string bytes) {
    TraceAccesses walk{Slice(bytes)};
    TraceAccess access;
    while (walk.Next(&access)) {
    }
    return walk.damaged();
  };
  EXPECT_FALSE(damaged(payload.bytes()));
  EXPECT_TRUE(damaged(""));
  EXPECT_TRUE(damaged(payload.bytes().substr(0, 15)));
  EXPECT_TRUE(damaged(payload.bytes().substr(0, 31)));
  constexpr size_t kWhat = 16 + 8;  // the bytes, the kind, the purpose
  for (const uint32_t what : {0u, 1u | 4u << 24, 1u | 6u << 27, 0xffffffu | 31u << 27, 1u | 3u << 24}) {
    std::string bytes = payload.bytes();
    for (int i = 0; i < 4; i++) bytes[kWhat + static_cast<size_t>(i)] = static_cast<char>(what >> (8 * i));
    EXPECT_TRUE(damaged(bytes)) << what;
  }
}

TEST(AccessTraceDamageTest, AFullDiskEndsTheTraceAndIsTold) {
  for (int writes = 0; writes < 4; writes++) {
    AccessTrace trace(std::make_unique<FailingWriter>(writes), AccessSample());
    for (uint64_t i = 0; i < 20000; i++) trace.OnAccess(4096, {.bytes = 1, .offset = i});
    const Status s = trace.End();
    EXPECT_STATUS(IOError, s);
    EXPECT_TRUE(Mentions(s, "no space left"));
  }
}

}  // namespace
}  // namespace miodb::test
