// Random histories of chunks and log files, with gaps, holes, torn ends, foreign and repeated pieces, against a model
// of what every policy makes of them; and what the policies promise each other.

#include "src/log/log_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "miodb/env.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/log/file_log.h"
#include "src/log/file_log_writer.h"
#include "src/util/bytes/coding.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/log/log_pool.h"

namespace miodb::test {
namespace {

constexpr uint64_t kChunkBytes = 8192;

// A type that no update has.
constexpr uint8_t kNobodysType = 14;

// A frame or a batch. The second update has an unknown type.
struct Unit {
  enum State { kGood, kDamaged, kForeign, kUnknownType };
  uint64_t first;
  uint64_t count;
  State state = kGood;
  uint64_t ahead = 0;  // of one update

  uint64_t last() const { return first + count - 1; }
  bool checks() const { return state == kGood || state == kUnknownType; }
};

// A chunk or a file as it lies there.
struct Source {
  bool in_file = false;
  uint64_t id = 0;  // of a chunk, or a file's number
  bool sealed = false;
  std::vector<Unit> units;
  std::unique_ptr<LogChunk> chunk;
  std::vector<FrameView> frames;  // that check
};

// The model's reading of a source.
struct Reading {
  const Source* source = nullptr;
  bool single = false;  // a frame that was found
  uint64_t id = 0;
  std::vector<Unit> all, whole;
  size_t holes = 0;
  bool in_order = true;
  bool unknown = false;    // a file ends with a batch that checks and does not parse
  uint64_t file_last = 0;  // of a file also what is flushed
  uint64_t order = 0;

  bool in_file() const { return source->in_file; }
  auto Key() const { return std::make_tuple(order, all.empty(), !in_file(), in_file() ? 0 : ~id); }
};

struct Outcome {
  bool corrupt = false;
  size_t told = 0;
  uint64_t last = 0;
  std::vector<uint64_t> replayed;
};

struct World {
  LogRules rules;
  uint64_t flushed = 0;
  uint64_t reach = 0;
  bool searched = false;  // a repair finds frames instead of chunks
  std::vector<Source> sources;
};

// ---- the model

Reading ReadChunkOf(const Source& source) {
  Reading r;
  r.source = &source;
  r.id = source.id;
  const std::vector<Unit>& units = source.units;
  for (size_t i = 0; i < units.size(); i++) {
    const uint64_t last = r.all.empty() ? 0 : r.all.back().last();
    const bool skipped = !units[i].checks();
    if (skipped) {
      while (i < units.size() && !(units[i].checks() && units[i].first > last)) i++;
      if (i < units.size() || source.sealed) r.holes++;
      if (i == units.size()) break;
    }
    if (!r.all.empty() && units[i].first != last + 1) {
      r.holes++;
      r.in_order = r.in_order && skipped;
    }
    r.all.push_back(units[i]);
    if (r.holes == 0) r.whole.push_back(units[i]);
  }
  r.order = r.all.empty() ? 0 : r.all.front().first;
  return r;
}

Reading ReadFileOf(const Source& source, uint64_t flushed, uint64_t* before) {
  Reading r;
  r.source = &source;
  for (size_t i = 0; i < source.units.size(); i++) {
    const Unit& unit = source.units[i];
    const bool in_tables = unit.first > r.file_last && unit.first <= flushed;
    if (unit.state == Unit::kGood && (r.file_last == 0 || unit.first == r.file_last + 1 || in_tables)) {
      r.file_last = unit.last();
      if (r.file_last > flushed) r.all.push_back(unit);
      continue;
    }
    r.unknown = unit.state == Unit::kUnknownType;
    if (r.unknown) break;
    // A batch that checks and is not the next one is a hole; behind others one that comes later is a sign.
    const uint64_t after = std::max(r.file_last, flushed);
    const bool later = std::any_of(source.units.begin() + static_cast<ptrdiff_t>(i), source.units.end(),
                                   [&](const Unit& u) { return u.checks() && u.first >= after + 2; });
    if (unit.checks() || later) r.holes++;
    break;
  }
  r.whole = r.all;
  r.order = r.all.empty() ? *before + 1 : r.all.front().first;
  *before = std::max(*before, r.file_last);
  return r;
}

std::vector<Reading> ReadAll(const World& world) {
  std::vector<Reading> readings;
  uint64_t before = world.flushed;
  for (const Source& source : world.sources) {
    if (source.in_file) {
      readings.push_back(ReadFileOf(source, world.flushed, &before));
    } else if (world.searched) {
      for (const Unit& unit : source.units) {
        if (!unit.checks() || unit.first <= world.flushed) continue;
        Reading& r = readings.emplace_back();
        r.source = &source;
        r.single = true;
        r.id = source.id;
        r.all = r.whole = {unit};
        r.order = unit.first;
      }
    } else {
      readings.push_back(ReadChunkOf(source));
    }
  }
  std::stable_sort(readings.begin(), readings.end(),
                   [](const Reading& a, const Reading& b) { return a.Key() < b.Key(); });
  return readings;
}

Outcome Expect(const World& world) {
  const LogPolicy policy = world.rules.policy;
  const bool repairs = policy == LogPolicy::kRepair;
  const bool recovers = !repairs && policy != LogPolicy::kVerify;
  Outcome outcome;
  outcome.last = world.flushed;
  bool ended = false;
  for (const Reading& r : ReadAll(world)) {
    const LogHoles holes = r.in_file() ? world.rules.in_files : world.rules.in_chunks;
    const bool may_end = !repairs && holes == LogHoles::kEndTheLog && !(r.source->sealed && !r.in_file());
    bool beside = !repairs && !r.in_file() && !r.source->sealed && r.in_order && !ended;
    for (size_t i = r.whole.size(); i < r.all.size(); i++) {
      const uint64_t found = r.whole.empty() ? outcome.last : r.whole.back().last();
      beside = beside && r.all[i].first - 1 - r.all[i].ahead <= found;
    }
    const bool cut = r.holes > 0 && (may_end || beside);
    const std::vector<Unit>& units = cut ? r.whole : r.all;
    size_t damage = cut ? 0 : r.holes;
    if (r.single && r.order <= outcome.last) {
      outcome.told++;
      continue;
    }
    if (!units.empty()) {
      const uint64_t first = units.front().first;
      if (ended || (first != outcome.last + 1 && !(repairs && first <= outcome.last))) {
        if (may_end) ended = true;
        if (!may_end) damage++;
      }
      for (const Unit& unit : units) {
        if (ended) continue;
        if (unit.state == Unit::kUnknownType) damage++;
        for (uint64_t sequence = unit.first; sequence <= unit.last(); sequence++) outcome.replayed.push_back(sequence);
      }
      if (!ended) outcome.last = std::max(outcome.last, units.back().last());
    }
    if (r.unknown && !ended) damage++;
    if (cut) ended = true;
    outcome.told += damage;
    if (recovers && damage > 0) outcome.corrupt = true;
    if (outcome.corrupt) return outcome;
  }
  if (outcome.last < world.reach) {
    outcome.told++;
    outcome.corrupt = recovers;
  }
  return outcome;
}

// ---- the real one

class LogHistoryTest : public testing::Test {
 protected:
  const std::string folder_path() const { return dir_ / "logs"; }

  void FillChunk(Source* source) {
    source->chunk = NewPoolChunk(&pool_, source->id, kChunkBytes);
    for (const Unit& unit : source->units) {
      std::vector<Update> updates;
      for (uint64_t i = 0; i < unit.count; i++) {
        const bool unknown = unit.state == Unit::kUnknownType && i == 1;
        updates.push_back({unknown ? static_cast<ValueType>(kNobodysType) : kTypeValue, "key" + std::to_string(i),
                           "value" + std::to_string(unit.first + i)});
      }
      if (unit.state == Unit::kForeign) source->chunk->id = source->id + 1000;
      char* const frame = source->chunk->base + source->chunk->used;
      const std::vector<const char*> places = WriteFrame(&writer_, source->chunk.get(), updates, unit.first);
      source->chunk->id = source->id;
      EncodeFixed64(frame, FrameAhead(DecodeFixed64(frame), unit.ahead));
      if (unit.state == Unit::kDamaged) source->chunk->base[places[0] - source->chunk->base] ^= 1;
    }
    const LogPiece piece = ReadLogChunk(PlaceOf(*source), source->chunk->base, pool_->secret());
    source->frames = piece.frames;
  }

  void FillFile(Source* source) {
    WritableFile* opened = nullptr;
    const std::string path = folder_path() + "/" + LogFileName(source->id, kUsualLogBlock);
    ASSERT_OK(env_->NewWritableFile(path, &opened));
    const std::unique_ptr<WritableFile> file(opened);
    FileLogWriter writer(file.get(), kUsualLogBlock, false);
    std::vector<size_t> damaged;
    for (const Unit& unit : source->units) {
      std::string batch;
      PutFixed64(&batch, unit.first);
      PutFixed32(&batch, static_cast<uint32_t>(unit.count));
      for (uint64_t i = 0; i < unit.count; i++) {
        batch.push_back(
            static_cast<char>(unit.state == Unit::kUnknownType && i == 1 ? kNobodysType : uint8_t{kBatchDeletion}));
        PutLengthPrefixedSlice(&batch, "key" + std::to_string(i));
      }
      if (!unit.checks()) damaged.push_back(writer.bytes() + kFragmentHeaderBytes);
      ASSERT_OK(writer.Add(batch));
    }
    ASSERT_OK(file->Close());
    std::string content;
    ASSERT_OK(ReadFileToString(env_, path, &content));
    for (const size_t at : damaged) content[at] ^= 1;
    ASSERT_OK(WriteStringToFile(env_, content, path));
  }

  void Lay(World* world) {
    std::filesystem::remove_all(folder_path());
    std::filesystem::create_directory(folder_path());
    for (Source& source : world->sources) source.in_file ? FillFile(&source) : FillChunk(&source);
  }

  static LogChunkPlace PlaceOf(const Source& source) {
    return {source.id, kExtentUnit * source.id, kChunkBytes, source.sealed,
            source.sealed ? source.chunk->used.load() : 0};
  }

  void AddAll(const World& world, LogHistory* log) {
    for (const Source& source : world.sources) {
      if (source.in_file) continue;
      if (!world.searched) log->AddChunk(PlaceOf(source), source.chunk->base, pool_->secret());
      for (const FrameView& frame : source.frames) {
        if (world.searched && frame.first_sequence > world.flushed) log->AddFrame("frame", frame, source.id);
      }
    }
    ASSERT_OK(log->AddFiles(env_, folder_path()));
  }

  Outcome Judge(const World& world, LogHistory* log, const std::vector<Problem>& told) {
    AddAll(world, log);
    Outcome outcome;
    const Status s = log->Judge(world.flushed, world.reach);
    EXPECT_TRUE(s.ok() || s.IsCorruption()) << s.ToString();
    outcome.corrupt = s.IsCorruption();
    outcome.told = told.size();
    outcome.last = log->last_sequence();
    if (outcome.corrupt) return outcome;
    uint64_t writes = 0;
    for (const LogPiece& piece : log->pieces()) {
      if (!piece.replayed()) continue;
      for (const FrameView& frame : piece.frames) {
        for (uint64_t i = 0; i < frame.count; i++) outcome.replayed.push_back(frame.first_sequence + i);
      }
      writes += piece.writes;
      if (!piece.in_file()) continue;
      EXPECT_OK(log->ForEachBatch(piece, [&](const Slice& batch) {
        const uint64_t first = DecodeFixed64(batch.data()), count = DecodeFixed32(batch.data() + 8);
        for (uint64_t i = 0; i < count; i++) outcome.replayed.push_back(first + i);
        return Status::OK();
      }));
    }
    EXPECT_EQ(writes, log->writes());
    EXPECT_EQ(writes, outcome.replayed.size());
    return outcome;
  }

  Outcome Judge(const World& world) {
    std::vector<Problem> told;
    LogHistory log(world.rules, [&](Problem p) { told.push_back(std::move(p)); });
    return Judge(world, &log, told);
  }

  // A recovery that succeeds leaves a log without damage and with the same writes.
  void RecoverTwice(World* world) {
    std::vector<Problem> told;
    LogHistory log(world->rules, [&](Problem p) { told.push_back(std::move(p)); });
    const Outcome once = Judge(*world, &log, told);
    FileLog::Options options;
    options.env = env_;
    options.folder = folder_path();
    FileLog file_log(options);
    ASSERT_OK(file_log.Adopt(log.pieces()));
    file_log.EndFile();
    std::vector<Source> kept;
    for (const LogPiece& piece : log.pieces()) {
      if (piece.in_file() || !piece.replayed()) continue;
      const auto source = std::find_if(world->sources.begin(), world->sources.end(),
                                       [&](const Source& s) { return !s.in_file && s.id == piece.place.id; });
      source->sealed = true;
      source->chunk->used = piece.valid_bytes;
      kept.push_back(std::move(*source));
    }
    world->sources = std::move(kept);
    world->rules.in_chunks = world->rules.in_files = LogHoles::kAreDamage;
    const Outcome twice = Judge(*world);
    EXPECT_FALSE(twice.corrupt);
    EXPECT_EQ(0u, twice.told);
    EXPECT_EQ(once.last, twice.last);
    EXPECT_EQ(once.replayed, twice.replayed);
  }

  Env* const env_ = Env::Default();
  TestDir dir_;
  TestPool pool_;
  FrameWriter writer_{&pool_->persist(), pool_->secret()};
};

// ---- histories

std::vector<Unit> RandomUnits(Random* random, uint64_t* next) {
  std::vector<Unit> units;
  for (uint64_t n = random->Uniform(6); n > 0; n--) {
    Unit unit{*next, 1 + random->Uniform(3)};
    *next = unit.last() + 1;
    if (unit.count == 1 && random->OneIn(2)) unit.ahead = random->Uniform(std::min<uint64_t>(unit.first, kLogWindow));
    if (random->OneIn(20)) unit.state = Unit::kDamaged;
    if (random->OneIn(40)) unit.state = Unit::kForeign;
    if (random->OneIn(60) && unit.count > 1) unit.state = Unit::kUnknownType;
    if (!random->OneIn(30)) units.push_back(unit);  // else it is missing
  }
  if (!units.empty() && random->OneIn(8)) units.back().state = Unit::kDamaged;
  return units;
}

World RandomWorld(Random* random) {
  World world;
  world.rules.policy = static_cast<LogPolicy>(random->Uniform(4));
  world.rules.in_chunks = random->OneIn(2) ? LogHoles::kEndTheLog : LogHoles::kAreDamage;
  world.rules.in_files = random->OneIn(2) ? LogHoles::kEndTheLog : LogHoles::kAreDamage;
  world.searched = world.rules.policy == LogPolicy::kRepair && random->OneIn(2);
  world.flushed = random->Uniform(20);
  uint64_t next = 1 + world.flushed, number = 1, id = 1;
  if (random->OneIn(2)) {  // a file of which some is flushed
    next = 1;
    Source& file = world.sources.emplace_back();
    file.in_file = true;
    file.id = number++;
    while (next <= world.flushed) {
      const Unit unit{next, std::min(1 + random->Uniform(3), world.flushed + 1 - next)};
      next = unit.last() + 1;
      if (random->OneIn(3) && unit.first > 2) file.units.push_back(unit);
    }
  }
  for (uint64_t n = random->Uniform(6); n > 0; n--) {
    Source source;
    source.in_file = world.rules.policy == LogPolicy::kRecoverVolatile || random->OneIn(2);
    source.id = source.in_file ? number++ : id++;
    source.sealed = !source.in_file && random->OneIn(4);
    // Sequences that were given up are given out again.
    if (random->OneIn(12) && next > world.flushed + 3) next -= 1 + random->Uniform(3);
    source.units = RandomUnits(random, &next);
    if (!random->OneIn(12)) world.sources.push_back(std::move(source));  // else it is missing
  }
  if (world.rules.policy != LogPolicy::kRecover && random->OneIn(3)) world.reach = next - 1;
  return world;
}

TEST_F(LogHistoryTest, EveryPolicyJudgesRandomHistoriesAsTheModel) {
  int corrupt = 0, whole = 0, ended = 0;
  for (const uint64_t seed : Seeds(ByScale(1500, 6000, 60000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    World world = RandomWorld(&random);
    Lay(&world);
    const Outcome expected = Expect(world), found = Judge(world);
    const bool recovers =
        world.rules.policy == LogPolicy::kRecover || world.rules.policy == LogPolicy::kRecoverVolatile;
    ASSERT_EQ(expected.corrupt, found.corrupt);
    if (!recovers) {
      ASSERT_EQ(expected.told, found.told);
    }
    if (!found.corrupt) {
      ASSERT_EQ(expected.last, found.last);
      ASSERT_EQ(expected.replayed, found.replayed);
    }
    if (!recovers) continue;
    corrupt += found.corrupt ? 1 : 0;
    (found.told > 0 ? ended : whole) += found.corrupt ? 0 : 1;
    // What the checker tells is what fails the open, and a repair keeps all that an open would have.
    World other = std::move(world);
    other.rules.policy = LogPolicy::kVerify;
    const Outcome verified = Judge(other);
    EXPECT_EQ(found.corrupt, verified.told > 0);
    if (!found.corrupt) {
      EXPECT_EQ(found.replayed, verified.replayed);
    }
    other.rules.policy = LogPolicy::kRepair;
    std::vector<uint64_t> repaired = Judge(other).replayed;
    std::sort(repaired.begin(), repaired.end());
    EXPECT_TRUE(std::includes(repaired.begin(), repaired.end(), found.replayed.begin(), found.replayed.end()));
    if (found.corrupt) continue;
    for (size_t i = 0; i < found.replayed.size(); i++) ASSERT_EQ(other.flushed + 1 + i, found.replayed[i]);
    other.rules.policy = LogPolicy::kRecover;
    RecoverTwice(&other);
  }
  if (corrupt + whole + ended < 100) return;  // of one seed
  EXPECT_GT(corrupt, 20);
  EXPECT_GT(whole, 20);
  EXPECT_GT(ended, 20);
}

// ---- single rules

class LogHistoryRuleTest : public LogHistoryTest {
 protected:
  void Add(bool in_file, std::vector<Unit> units, bool sealed = false) {
    Source& source = world_.sources.emplace_back();
    source.in_file = in_file;
    source.id = world_.sources.size();
    source.sealed = sealed;
    source.units = std::move(units);
  }
  Outcome Run(LogPolicy policy, LogHoles holes) {
    world_.rules.policy = policy;
    world_.rules.in_chunks = world_.rules.in_files = holes;
    Lay(&world_);
    return Judge(world_);
  }
  World world_;
};

TEST_F(LogHistoryRuleTest, AHoleIsACrashUnlessALaterFrameSaysThatItWasDurable) {
  Add(false,
      {{1, 1}, {2, 1}, {3, 1, Unit::kDamaged}, {4, 1, Unit::kGood, 1}, {5, 1, Unit::kDamaged}, {6, 1, Unit::kGood, 3}});
  EXPECT_EQ((std::vector<uint64_t>{1, 2}), Run(LogPolicy::kRecover, LogHoles::kAreDamage).replayed);
  EXPECT_EQ(0u, Run(LogPolicy::kVerify, LogHoles::kAreDamage).told);
  EXPECT_EQ((std::vector<uint64_t>{1, 2, 4, 6}), Run(LogPolicy::kRepair, LogHoles::kAreDamage).replayed);
  world_.sources[0].units.back().ahead = 2;
  EXPECT_TRUE(Run(LogPolicy::kRecover, LogHoles::kAreDamage).corrupt);
  world_.sources[0].units.back().ahead = 0;
  EXPECT_TRUE(Run(LogPolicy::kRecover, LogHoles::kAreDamage).corrupt);
}

TEST_F(LogHistoryRuleTest, AHoleAtTheBeginningIsACrashToo) {
  Add(false, {{1, 3}});
  Add(false, {{4, 1, Unit::kDamaged}, {5, 1, Unit::kGood, 1}});
  EXPECT_EQ((std::vector<uint64_t>{1, 2, 3}), Run(LogPolicy::kRecover, LogHoles::kAreDamage).replayed);
  world_.sources[1].units.back().ahead = 0;
  EXPECT_TRUE(Run(LogPolicy::kRecover, LogHoles::kAreDamage).corrupt);
}

TEST_F(LogHistoryRuleTest, AHoleIsDamageInASealedChunkAndBeforeAnotherPiece) {
  Add(false, {{1, 1}, {2, 1, Unit::kDamaged}, {3, 1, Unit::kGood, 1}});
  EXPECT_FALSE(Run(LogPolicy::kRecover, LogHoles::kAreDamage).corrupt);
  world_.sources[0].sealed = true;
  EXPECT_TRUE(Run(LogPolicy::kRecover, LogHoles::kAreDamage).corrupt);
  world_.sources[0].sealed = false;
  Add(false, {{4, 1, Unit::kGood, 3}});
  EXPECT_TRUE(Run(LogPolicy::kRecover, LogHoles::kAreDamage).corrupt);
}

TEST_F(LogHistoryRuleTest, FramesThatDoNotFollowWithoutAHoleBetweenAreDamage) {
  Add(false, {{1, 1}, {3, 1, Unit::kGood, 2}});
  EXPECT_TRUE(Run(LogPolicy::kRecover, LogHoles::kAreDamage).corrupt);
}

TEST_F(LogHistoryRuleTest, ALogNeverEndsBeforeASealedChunk) {
  Add(false, {{1, 1}});
  Add(false, {{3, 1}}, true);
  EXPECT_TRUE(Run(LogPolicy::kRecover, LogHoles::kEndTheLog).corrupt);
  EXPECT_EQ(1u, Run(LogPolicy::kVerify, LogHoles::kEndTheLog).told);
  world_.sources[1].sealed = false;
  EXPECT_EQ(1u, Run(LogPolicy::kRecover, LogHoles::kEndTheLog).last);
  EXPECT_EQ(0u, Run(LogPolicy::kVerify, LogHoles::kEndTheLog).told);
  EXPECT_TRUE(Run(LogPolicy::kRecover, LogHoles::kAreDamage).corrupt);
}

TEST_F(LogHistoryRuleTest, OfTwoPiecesThatBeginAlikeTheFileThenTheLaterChunkCounts) {
  world_.searched = true;
  Add(false, {{1, 1}, {2, 3}});
  Add(false, {{2, 1}});
  EXPECT_EQ((std::vector<uint64_t>{1, 2}), Run(LogPolicy::kRepair, LogHoles::kAreDamage).replayed);
  Add(true, {{2, 2}});
  EXPECT_EQ((std::vector<uint64_t>{1, 2, 3}), Run(LogPolicy::kRepair, LogHoles::kAreDamage).replayed);
}

TEST_F(LogHistoryRuleTest, FilesAreTakenBySequenceAndNotByNumber) {
  Add(true, {{4, 2}});
  Add(true, {{1, 3}});
  for (const LogPolicy policy : {LogPolicy::kRecover, LogPolicy::kRecoverVolatile}) {
    const Outcome outcome = Run(policy, LogHoles::kAreDamage);
    EXPECT_FALSE(outcome.corrupt);
    EXPECT_EQ((std::vector<uint64_t>{1, 2, 3, 4, 5}), outcome.replayed);
  }
}

TEST_F(LogHistoryRuleTest, ALogThatDoesNotReachAsFarAsItWentIsDamaged) {
  Add(true, {{1, 3}});
  world_.reach = 4;
  EXPECT_TRUE(Run(LogPolicy::kRecoverVolatile, LogHoles::kEndTheLog).corrupt);
  EXPECT_EQ(1u, Run(LogPolicy::kVerify, LogHoles::kEndTheLog).told);
  EXPECT_EQ(1u, Run(LogPolicy::kRepair, LogHoles::kEndTheLog).told);
  world_.reach = 3;
  EXPECT_FALSE(Run(LogPolicy::kRecoverVolatile, LogHoles::kEndTheLog).corrupt);
}

TEST_F(LogHistoryRuleTest, AFileThatChangesBetweenJudgementAndReplayIsCorruption) {
  Add(true, {{1, 3}, {4, 1}});
  Lay(&world_);
  LogHistory log(world_.rules, [](const Problem&) {});
  AddAll(world_, &log);
  ASSERT_OK(log.Judge(0, 0));
  const auto replay = [&] { return log.ForEachBatch(log.pieces()[0], [](const Slice&) { return Status::OK(); }); };
  EXPECT_OK(replay());
  for (const std::vector<Unit>& units : std::vector<std::vector<Unit>>{{{1, 3}}, {{2, 3}}, {{1, 3}, {4, 1}, {5, 1}}}) {
    world_.sources[0].units = units;
    FillFile(&world_.sources[0]);
    EXPECT_STATUS(Corruption, replay());
  }
}

TEST_F(LogHistoryRuleTest, ACheckTellsOfFilesThatCannotBeRead) {
  Add(true, {{1, 3}});
  Lay(&world_);
  world_.rules.policy = LogPolicy::kVerify;
  std::vector<Problem> told;
  LogHistory log(world_.rules, [&](Problem p) { told.push_back(std::move(p)); });
  AddAll(world_, &log);
  std::filesystem::remove_all(folder_path());
  EXPECT_OK(log.Judge(0, 0));
  EXPECT_EQ(1u, told.size());
  EXPECT_EQ(1u, log.files());
}

}  // namespace
}  // namespace miodb::test
