#include "tests/simulation/campaign.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "src/util/check/check.h"

namespace miodb::sim {

namespace {

// The alphabet of exhaustive exploration: put a, put b, delete a, batch, put unsynced, sync (a small put that asks for
// it), two writers beside one another, flush, merge, lazy copy, snapshot or release, evacuate, reopen, kill and reopen,
// merge an operand, single-delete and put, the same and single-delete, delete a range, put for a moment.
const char* const kAlphabet[] = {"p0.10!", "p1.30!", "d0!", "b3.7!", "p0.20", "p2.1!", "w2.7", "f",     "M",    "c",
                                 "t",      "e",      "o",   "k",     "m0.9!", "z0.5!", "y0!",  "v0.2!", "l0.5!"};

// Where a fence is a sync, no writers go beside one another: such a history would be one of writes without sync.
std::vector<const char*> AlphabetOf(Mode mode) {
  std::vector<const char*> symbols;
  for (const char* const symbol : kAlphabet) {
    if (mode != Mode::kFile || *symbol != 'w') symbols.push_back(symbol);
  }
  return symbols;
}

// What comes before. Nothing; tables on every level, two runs on the first, and a memtable; a repository whose extents
// have garbage, and nothing to merge.
const char* const kPreludes[] = {"", "p0.30! p1.30! f p0.20! p2.20! f M p1.25! f c p0.33! p1.20! f p2.20! d0! f p1.10!",
                                 "p2.9! p1.30! p0.30! c p0.40! f p1.9! f M M"};

// A child has this long for one history, or one mutant in one mode.
constexpr unsigned kChildSeconds = 300;

// A pool that is small enough to be given a region, and such a history.
constexpr uint64_t kRegionConfig = 5;
constexpr char kRegionHistory[] = "p0.10! a p1.20!";

// A third of whose keys lie in a column family, and a history in which that is made, and another comes and goes.
constexpr uint64_t kFamilyConfig = 4;
constexpr char kFamilyHistory[] = "p0.10! n b4.3! p6.9 n b5.4 f n p0.20 n";

// Savepoints that are made over a memtable, tables of each level and an area that is left, and dropped.
constexpr char kSavepointHistory[] = "p0.30! q0 p1.25! f q1 c q0 p0.20 q2 o q1";

// A follower has to find every write again after flushes, a full area, merges that need no chunk any more, and opens.
constexpr char kUpdatesHistory[] = "p0.30! b3.7! f p1.25! m0.9 f q0 c d0! p0.20 f o p2.1! v0.2! f c k f q0 p1.9! x";

// Merges of parts behind a repository of all keys, with tables that reach over the border of two parts: lazy copies,
// settles of one run and of two, an open in between, and garbage.
constexpr char kPartsHistory[] =
    " c p5.60! p20.60 p29.60 p31.60 p44.60 f p1.50! p22.60 p33.60 f M M M p3.9! p30.60 p40.60 f c o d30! p31.9 f "
    "p29.40! "
    "d33 p2.60 f M M o M c e M x";

// Zero-copy merges of a run of many tables with small ones, in parts: writes, a flush and an open come between them,
// and a settle ends the last early.
constexpr char kBufferPartsHistory[] =
    " f p0.60 p5.60 p13.60 p20.60 p29.60 p31.60 p44.60 p47.60 f M p3.50! p22.60 f p9.60 p30.60 p40.60 f M p2.60! f M "
    "d30! M "
    "M o p7.60 f M p8.60 f M M s p11.60 p41.60 f p12.60 f M r M c e M x";

constexpr uint64_t kSiteHistories = 12;
constexpr uint64_t kSiteImages = 20000;

// Results of a child for its parent.
struct Shared {
  uint64_t images;
  char what[1024];
};

Shared* SharedMemory() {
  static Shared* const shared = [] {
    void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    return static_cast<Shared*>(memory);
  }();
  return shared;
}

// Runs body in a child, whose messages are lost. True if it ended by exit(0).
bool RunInChild(const std::function<bool()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  CHECK_GE(child, 0);
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(3);
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, SIG_DFL);
    alarm(kChildSeconds);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  Shared* const shared = SharedMemory();
  if (WIFSIGNALED(status)) {
    std::snprintf(shared->what, sizeof(shared->what), "the engine ended with signal %d (%s)", WTERMSIG(status),
                  strsignal(WTERMSIG(status)));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void Plant(const Mutant& mutant, Explorer* explorer) {
  g_mutation = mutant.mutation;
  explorer->set_fault(mutant.fault);
}

Failure FailureOf(const Explorer& explorer, const Config& config, const History& history, size_t first_explored) {
  return {true, config.seed, history, first_explored, explorer.failure()};
}

bool StillFails(const Settings& settings, const Mutant& mutant, const Failure& failure, const History& history) {
  return !RunInChild([&] {
    Explorer explorer(settings);
    Plant(mutant, &explorer);
    return explorer.Run(MakeConfig(failure.config_seed), history, 0);
  });
}

// Crashes of many histories, and of few recoveries.
Settings WideSettings(Mode mode) {
  Settings settings = BroadSettings(mode);
  settings.limits[0] = {16, 2, 1};
  settings.recover_one_in[1] = 0;
  settings.go_on_crashed_one_in = 1024;
  return settings;
}

// Runs the explorer on a mutant in a child. A third of the images goes to short histories, one to long ones, and one to
// many of those; more are of the addition of a region, and of what a follower gets. False if the fault showed.
bool ExploreMutant(const Mutant& mutant, Mode mode, bool check_flushes, uint64_t seed, uint64_t max_images,
                   MutantResult* result) {
  Shared* const shared = SharedMemory();
  *shared = {};
  // Runs a part of the search with the fault planted.
  const auto survives = [&](Settings settings, uint64_t images, const auto& search) {
    settings.max_images = images;
    settings.check_flushes = check_flushes;
    Explorer explorer(settings);
    Plant(mutant, &explorer);
    const uint64_t before = shared->images;
    const Announce announce = [&](uint64_t, const History&, size_t) {
      shared->images = before + explorer.totals().images;
    };
    const Failure failure = search(&explorer, announce);
    shared->images = before + explorer.totals().images;
    if (failure.any) std::snprintf(shared->what, sizeof(shared->what), "%s", failure.what.c_str());
    return !failure.any;
  };
  const auto short_histories = [](Explorer* explorer, const Announce& announce) {
    const Failure failure = RunExhaustive(explorer, 1, announce);
    return failure.any ? failure : RunExhaustive(explorer, 2, announce);
  };
  const auto random_histories = [&](Explorer* explorer, const Announce& announce) {
    return RunRandom(explorer, seed, announce);
  };
  const bool survived = RunInChild([&] {
    return survives(ShortHistorySettings(mode), max_images / 3, short_histories) &&
           survives(BroadSettings(mode), max_images / 3, random_histories) &&
           survives(WideSettings(mode), max_images / 3, random_histories) &&
           survives(ThoroughSettings(mode), max_images, RunRegionAddition) &&
           survives(BroadSettings(mode), max_images, RunParts) &&
           survives(BroadSettings(mode), max_images, RunShares) &&
           survives(ShortHistorySettings(mode), max_images, RunUpdates) &&
           survives(ThoroughSettings(mode), max_images, RunFamilies);
  });
  result->images += shared->images;
  return survived;
}

// From the operation after the first on.
Failure RunOne(Explorer* explorer, uint64_t seed, const std::string& text, const Announce& announce,
               size_t first_explored = 1) {
  const Config config = MakeConfig(seed);
  History history;
  CHECK(FromText(text, &history));
  announce(config.seed, history, first_explored);
  return explorer->Run(config, history, first_explored) ? Failure()
                                                        : FailureOf(*explorer, config, history, first_explored);
}

// Behind a put of every key.
Failure RunBehindPuts(Explorer* explorer, uint64_t seed, const std::string& text, const Announce& announce) {
  const int keys = MakeConfig(seed).first_single_key();
  std::string puts;
  for (int i = 0; i < keys; i++) puts += " p" + std::to_string(i) + ".60";
  return RunOne(explorer, seed, puts + text, announce, static_cast<size_t>(keys));
}

}  // namespace

Settings ThoroughSettings(Mode mode) {
  Settings settings;
  settings.mode = mode;
  settings.limits[0] = {4096, 16, 4};
  settings.limits[1] = {64, 4, 2};
  settings.limits[2] = {16, 0, 1};
  settings.recover_one_in[1] = 1;
  settings.recover_one_in[2] = 1;
  settings.go_on_one_in = 4;
  return settings;
}

Settings BroadSettings(Mode mode) {
  Settings settings;
  settings.mode = mode;
  settings.limits[0] = {256, 8, 4};
  settings.limits[1] = {16, 2, 1};
  settings.limits[2] = {8, 0, 1};
  settings.recover_one_in[1] = 128;
  settings.recover_one_in[2] = 64;
  settings.recover_killed_one_in = 16;
  settings.go_on_one_in = 16;
  return settings;
}

Settings ShortHistorySettings(Mode mode) {
  Settings settings = ThoroughSettings(mode);
  settings.limits[0].single = 4;
  settings.limits[0].random = 2;
  settings.limits[1] = {64, 2, 1};
  settings.recover_one_in[1] = 4;
  settings.recover_one_in[2] = 16;
  settings.go_on_one_in = 8;
  return settings;
}

Failure RunRandom(Explorer* explorer, uint64_t seed, const Announce& announce) {
  for (; !explorer->Done(); seed++) {
    const Config config = MakeConfig(seed);
    const History history = MakeHistory(seed, config);
    announce(seed, history, 0);
    explorer->Forget();
    if (!explorer->Run(config, history)) return FailureOf(*explorer, config, history, 0);
  }
  return {};
}

uint64_t ExhaustiveHistories(Mode mode, int length) {
  uint64_t count = std::size(kPreludes);
  for (int i = 0; i < length; i++) count *= AlphabetOf(mode).size();
  return count;
}

Failure RunExhaustive(Explorer* explorer, int length, const Announce& announce, const Share& share) {
  CHECK_LT(share.at, share.of);
  const Config config = MakeConfig(0);
  const std::vector<const char*> alphabet = AlphabetOf(explorer->mode());
  const uint64_t count = ExhaustiveHistories(explorer->mode(), length) / std::size(kPreludes);
  for (const char* const prelude : kPreludes) {
    for (uint64_t number = 0; number < count; number++) {
      std::string text = prelude;
      uint64_t rest = number, sum = 0;
      for (int i = 0; i < length; i++, rest /= alphabet.size()) {
        text += std::string(" ") + alphabet[rest % alphabet.size()];
        sum += rest % alphabet.size();
      }
      if (sum % share.of != share.at) continue;  // each share has every operation in every place
      History history;
      CHECK(FromText(text, &history));
      announce(config.seed, history, history.size() - 1);
      if (explorer->Done()) return {};
      if (!explorer->Run(config, history, history.size() - 1)) {
        return FailureOf(*explorer, config, history, history.size() - 1);
      }
    }
  }
  return {};
}

Failure RunRegionAddition(Explorer* explorer, const Announce& announce) {
  return RunOne(explorer, kRegionConfig, kRegionHistory, announce);
}

Failure RunFamilies(Explorer* explorer, const Announce& announce) {
  return RunOne(explorer, kFamilyConfig, kFamilyHistory, announce);
}

Failure RunSavepoints(Explorer* explorer, const Announce& announce) {
  return RunOne(explorer, 0, kSavepointHistory, announce);
}

Failure RunUpdates(Explorer* explorer, const Announce& announce) {
  return RunOne(explorer, kKeepsLogSeed, kUpdatesHistory, announce);
}

Failure RunParts(Explorer* explorer, const Announce& announce) {
  const Failure failure = RunBehindPuts(explorer, kPartsSeed, kPartsHistory, announce);
  return failure.any ? failure : RunBehindPuts(explorer, kBufferPartsSeed, kBufferPartsHistory, announce);
}

Failure RunShares(Explorer* explorer, const Announce& announce) {
  return RunBehindPuts(explorer, kSharesSeed, kBufferPartsHistory, announce);
}

History Shrink(const Settings& settings, const Mutant& mutant, const Failure& failure) {
  Settings bounded = settings;
  bounded.max_images = UINT64_MAX;
  History best = failure.history;
  if (!StillFails(bounded, mutant, failure, best)) return best;
  // Take out ever smaller pieces as long as what is left still fails.
  for (size_t piece = std::max<size_t>(1, best.size() / 2);; piece = std::max<size_t>(1, piece / 2)) {
    bool shorter = false;
    for (size_t at = 0; at < best.size();) {
      History attempt = best;
      const size_t end = std::min(at + piece, best.size());
      attempt.erase(attempt.begin() + static_cast<ptrdiff_t>(at), attempt.begin() + static_cast<ptrdiff_t>(end));
      if (settings.stop != nullptr && *settings.stop) return best;
      if (StillFails(bounded, mutant, failure, attempt)) {
        best = std::move(attempt);
        shorter = true;
      } else {
        at += piece;
      }
    }
    if (piece == 1 && !shorter) return best;
  }
}

void FindSites() {
  // Recoveries have sites that only a crash leads to.
  Settings short_settings = ShortHistorySettings(Mode::kAdr);
  short_settings.max_images = kSiteImages;
  Explorer short_explorer(short_settings);
  RunExhaustive(&short_explorer, 1, [](uint64_t, const History&, size_t) {});
  for (const auto& search : {RunRegionAddition, RunFamilies, RunShares}) {
    Explorer explorer(short_settings);
    search(&explorer, [](uint64_t, const History&, size_t) {});
  }
  for (const Mode mode : {Mode::kAdr, Mode::kEadr, Mode::kFile}) {
    Explorer explorer(BroadSettings(mode));
    for (uint64_t seed = 1; seed <= kSiteHistories; seed++) {
      const Config config = MakeConfig(seed);
      const History history = MakeHistory(seed, config);
      if (!explorer.Run(config, history, history.size())) {
        std::fprintf(stderr, "without any crash: %s\n", explorer.failure().c_str());
        std::exit(1);
      }
    }
  }
}

namespace {

// By crash images in some mode. Not every store needs to be durable soon, but every one some time ("unflushed").
bool ShownByCrashes(const Mutant& mutant, uint64_t seed, uint64_t max_images, MutantResult* result) {
  const auto shown = [&](Mode mode, bool check_flushes, const char* by) {
    if (ExploreMutant(mutant, mode, check_flushes, seed, max_images, result)) return false;
    result->by = by;
    result->how = SharedMemory()->what;
    return true;
  };
  for (const Mode mode : {Mode::kAdr, Mode::kFile, Mode::kEadr}) {
    if (shown(mode, false, ModeName(mode))) return true;
  }
  return mutant.mutation == Mutation::kNone && shown(Mode::kAdr, true, "unflushed");
}

// By the first program that fails. A program that cannot run shows nothing. Faults of single sites are not planted in
// programs.
bool ShownByPrograms(const Mutant& mutant, const std::vector<std::string>& programs, MutantResult* result) {
  if (mutant.mutation == Mutation::kNone) return false;
  for (const std::string& program : programs) {
    const bool survived = RunInChild([&]() -> bool {
      setenv("MIODB_MUTANT", mutant.name.c_str(), 1);
      if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(3);
      execl(program.c_str(), program.c_str(), static_cast<char*>(nullptr));
      _exit(0);
    });
    if (survived) continue;
    result->by = program.substr(program.rfind('/') + 1);
    return true;
  }
  return false;
}

}  // namespace

// Most faults show soon in some way, so all ways are tried a little before one is tried much. A program takes seconds,
// all images minutes.
MutantResult RunMutant(const Mutant& mutant, uint64_t seed, uint64_t max_images,
                       const std::vector<std::string>& programs) {
  constexpr uint64_t kFirstPart = 8;
  MutantResult result;
  result.caught = ShownByCrashes(mutant, seed, max_images / kFirstPart, &result) ||
                  ShownByPrograms(mutant, programs, &result) || ShownByCrashes(mutant, seed, max_images, &result);
  return result;
}

}  // namespace miodb::sim
