// crash_explorer: crashes small databases wherever it matters and checks what every crash leaves. docs/crash_model.md
// tells what it checks and how; --help what it takes.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/common/flags.h"
#include "tests/simulation/campaign.h"

namespace miodb::sim {
namespace {

constexpr char kHelp[] =
    R"(crash_explorer: runs small databases on simulated persistent memory, stops at every fence and every
acknowledgement, makes images of what a crash there could leave, opens each with the real recovery and compares it with
a model. The last line is "N passed, M failed": images, or mutants (failed: nothing showed them).
Exit status: 0 none failed, 1 some did, 2 bad arguments, 130 interrupted.
)";

constexpr uint64_t kDefaultImages = 1000000;
constexpr uint64_t kDefaultMutantImages = 200000;
constexpr double kProgressSeconds = 2;

volatile bool g_stop = false;

// The text of OnAbort: a command that repeats the current run.
char g_repeat[16384];

void OnInterrupt(int) { g_stop = true; }

void Put(const char* text) {
  if (write(STDOUT_FILENO, text, strlen(text)) < 0) _exit(1);
}

// The engine aborted: tells how to repeat it, by nothing but what a signal handler may call.
void OnAbort(int) {
  Put("FAILED: the engine aborted; repeat with:\n  ");
  Put(g_repeat);
  Put("\n0 passed, 1 failed\n");
  _exit(1);
}

struct Arguments {
  std::optional<uint64_t> images;
  uint64_t seed = 1;
  std::vector<Mode> modes = {Mode::kAdr};
  int exhaustive = 0;
  bool thorough = false;
  std::optional<std::string> mutants_like;
  std::vector<std::string> programs;
  std::string mutant;
  bool list_mutants = false;
  std::optional<History> history;
  uint64_t config = 0;
  std::string merge_policy;
  bool no_shrink = false;
  bool quiet = false;
};

[[noreturn]] void Refuse(const std::string& what) {
  std::fprintf(stderr, "crash_explorer: %s; see --help\n", what.c_str());
  std::exit(2);
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

void RegisterHistories(bench::FlagSet* flags, uint64_t* images, Arguments* a) {
  const auto take_history = [a](const std::string& text) {
    return FromText(text, &a->history.emplace()) ? "" : "that is no history";
  };
  flags->Section("Histories");
  flags->Int("images", images, 0, bench::kNoBound,
             "stop after so many; if not given, no limit of exhaustive and history, and 200000 for each mutant");
  flags->Int("seed", &a->seed, 0, bench::kNoBound, "first seed of random histories");
  flags->Word("mode", &a->modes,
              {{"adr", {Mode::kAdr}},
               {"eadr", {Mode::kEadr}},
               {"file", {Mode::kFile}},
               {"all", {Mode::kAdr, Mode::kEadr, Mode::kFile}}},
              "adr, eadr, file, or all, one after the other with a share of the images each");
  flags->Int("exhaustive", &a->exhaustive, 0, 6,
             "instead of random histories all of up to so many operations; 0: none");
  flags->Bool("thorough", &a->thorough,
              "explore random histories as exhaustive ones: fewer histories, more crashes of each");
  flags->Assigned("history", bench::FlagSet::Form::kText, take_history, "",
                  "instead of random histories this one (repeats a failure)");
  flags->Int("config", &a->config, 0, bench::kNoBound, "with history: the seed of the options");
  flags->Text("merge_policy", &a->merge_policy,
              "merges by this policy, or by that of a library with this path; empty: by several");
  flags->Bool("no-shrink", &a->no_shrink, "report a failure as it was found");
  flags->Bool("quiet", &a->quiet, "no progress");
}

void RegisterMutants(bench::FlagSet* flags, Arguments* a) {
  const auto take_mutants = [a](const std::string& text) {
    a->mutants_like = text;
    return "";
  };
  const auto take_programs = [a](const std::string& text) {
    a->programs = Split(text);
    return "";
  };
  flags->Section("Planted faults");
  flags->Assigned("mutants", bench::FlagSet::Form::kSwitchOrText, take_mutants, "",
                  "plant every fault whose name contains the text, if any, one at a time; which run shows it");
  flags->Assigned("programs", bench::FlagSet::Form::kText, take_programs, "",
                  "with mutants: test programs (P,...) to ask about faults that no crash shows");
  flags->Text("mutant", &a->mutant, "plant this fault");
  flags->Bool("list-mutants", &a->list_mutants, "print their names");
}

Arguments Parse(int argc, char** argv) {
  Arguments a;
  uint64_t images = kDefaultImages;
  bench::FlagSet flags;
  RegisterHistories(&flags, &images, &a);
  RegisterMutants(&flags, &a);
  const bench::FlagSet::Result parsed = flags.Parse(argc, argv);
  for (const std::string& warning : parsed.warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  if (parsed.outcome == bench::FlagSet::Outcome::kError) Refuse(parsed.error);
  if (parsed.outcome != bench::FlagSet::Outcome::kRun) {
    std::printf("%s%s", kHelp, flags.Help().c_str());
    std::exit(0);
  }
  if (flags.IsSet("images")) a.images = images;
  return a;
}

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

class Program {
 public:
  explicit Program(Arguments arguments) : a_(std::move(arguments)) {}

  int Run() {
    if (!a_.mutant.empty() || a_.mutants_like.has_value() || a_.list_mutants) FindSites();
    if (a_.list_mutants) {
      for (const Mutant& mutant : AllMutants()) std::printf("%s: %s\n", mutant.name.c_str(), mutant.text.c_str());
      return 0;
    }
    if (a_.mutants_like.has_value()) return RunMutants();
    if (!a_.mutant.empty() && !FindMutant(a_.mutant, &mutant_)) Refuse("no mutant " + a_.mutant);
    uint64_t failed = 0;
    for (const Mode mode : a_.modes) failed += RunMode(mode) ? 0 : 1;
    // A history may fail before its first image.
    std::printf("%" PRIu64 " passed, %" PRIu64 " failed\n", images_ - std::min(images_, failed), failed);
    return failed > 0 ? 1 : g_stop ? 130 : 0;
  }

 private:
  bool RunMode(Mode mode) {
    const bool thorough = a_.thorough || a_.exhaustive > 0 || a_.history.has_value();
    Settings settings = thorough ? ThoroughSettings(mode) : BroadSettings(mode);
    if (a_.exhaustive > 0 && !a_.thorough) settings = ShortHistorySettings(mode);
    const bool bounded = a_.images.has_value() || (a_.exhaustive == 0 && !a_.history.has_value());
    if (bounded) settings.max_images = a_.images.value_or(kDefaultImages) / a_.modes.size();
    settings.stop = &g_stop;
    settings.merge_policy = a_.merge_policy;
    settings.fault = mutant_.fault;
    g_mutation = mutant_.mutation;
    Explorer explorer(settings);
    const double start = Seconds(), cpu_start = CpuSeconds();
    double shown = start;
    const auto announce = [&](uint64_t config_seed, const History& history, size_t) {
      std::snprintf(g_repeat, sizeof(g_repeat), "%s", Repeat(mode, config_seed, history).c_str());
      if (a_.quiet || Seconds() < shown + kProgressSeconds) return;
      shown = Seconds();
      const Totals& t = explorer.totals();
      std::fprintf(stderr, "%s: %" PRIu64 " histories, %" PRIu64 " images, %.0f s\n", ModeName(mode), t.histories,
                   t.images, shown - start);
    };
    Failure failure;
    if (a_.history.has_value()) {
      announce(a_.config, *a_.history, 0);
      if (!explorer.Run(MakeConfig(a_.config), *a_.history)) {
        failure = {true, a_.config, *a_.history, 0, explorer.failure()};
      }
    } else if (a_.exhaustive > 0) {
      for (int length = 1; length <= a_.exhaustive && !failure.any; length++) {
        failure = RunExhaustive(&explorer, length, announce);
      }
    } else {
      failure = RunRandom(&explorer, a_.seed, announce);
    }
    images_ += explorer.totals().images;
    Report(mode, explorer.totals(), Seconds() - start, CpuSeconds() - cpu_start);
    if (!failure.any) return true;
    ReportFailure(settings, failure);
    return false;
  }

  std::string Repeat(Mode mode, uint64_t config_seed, const History& history) const {
    std::string command = std::string("crash_explorer --mode=") + ModeName(mode);
    if (!a_.mutant.empty()) command += " --mutant='" + a_.mutant + "'";
    if (!a_.merge_policy.empty()) command += " --merge_policy='" + a_.merge_policy + "'";
    return command + " --config=" + std::to_string(config_seed) + " --history='" + ToText(history) + "'";
  }

  void ReportFailure(const Settings& settings, Failure failure) const {
    std::printf("FAILED: %s\n", failure.what.c_str());
    if (!a_.no_shrink) {
      std::fprintf(stderr, "shrinking a history of %zu operations\n", failure.history.size());
      failure.history = Shrink(settings, mutant_, failure);
      Explorer explorer(settings);
      std::snprintf(g_repeat, sizeof(g_repeat), "%s",
                    Repeat(settings.mode, failure.config_seed, failure.history).c_str());
      explorer.Run(MakeConfig(failure.config_seed), failure.history);
      std::printf("shrunk to %zu operations: %s\n", failure.history.size(), explorer.failure().c_str());
    }
    std::printf("repeat with:\n  %s\n", Repeat(settings.mode, failure.config_seed, failure.history).c_str());
  }

  void Report(Mode mode, const Totals& t, double seconds, double cpu_seconds) const {
    std::printf("mode %s: %" PRIu64 " images in %.1f s (%.1f s of CPU: %.0f images a second)\n", ModeName(mode),
                t.images, seconds, cpu_seconds, static_cast<double>(t.images) / std::max(cpu_seconds, 1e-9));
    std::printf("  %" PRIu64 " of them of a killed process, %" PRIu64 " of a crash in a recovery, %" PRIu64
                " written on; %" PRIu64 " more were repeats and not opened\n",
                t.killed, t.deep, t.went_on, t.repeated);
    std::printf("  %" PRIu64 " histories, %" PRIu64 " crash points, all choices at %" PRIu64 " of them, %" PRIu64
                " ordered pairs of lines, each in some image\n",
                t.histories, t.points, t.exhausted, t.pairs);
    std::printf("  flushes %" PRIu64 ", zero-copy merges %" PRIu64 ", lazy copies %" PRIu64 ", evacuations %" PRIu64
                ", manifest roll-overs %" PRIu64 ", partition splits %" PRIu64 ", pool growths %" PRIu64
                ", regions added %" PRIu64 ", shares %" PRIu64 ", writes refused by a full pool %" PRIu64 "\n",
                t.flushes, t.merges, t.lazy_copies, t.evacuations, t.rollovers, t.splits, t.growths, t.regions,
                t.flush_shares + t.merge_shares, t.refused);
  }

  // Prints the table of docs/crash_model.md.
  int RunMutants() {
    uint64_t caught = 0, survived = 0;
    std::printf("| site or fault | what is wrong | shown by | images |\n|---|---|---|---|\n");
    for (const Mutant& mutant : AllMutants()) {
      if (mutant.name.find(*a_.mutants_like) == std::string::npos) continue;
      if (g_stop) break;
      const MutantResult result = RunMutant(mutant, a_.seed, a_.images.value_or(kDefaultMutantImages), a_.programs);
      (result.caught ? caught : survived)++;
      std::printf("| %s | %s | %s | %" PRIu64 " |\n", mutant.name.c_str(), mutant.text.c_str(),
                  result.caught ? result.by.c_str() : "**nothing**", result.images);
      std::fflush(stdout);
      if (!a_.quiet && result.caught) std::fprintf(stderr, "  %s: %s\n", mutant.name.c_str(), result.how.c_str());
    }
    std::printf("%" PRIu64 " passed, %" PRIu64 " failed\n", caught, survived);
    return g_stop ? 130 : survived > 0 ? 1 : 0;
  }

  const Arguments a_;
  Mutant mutant_;
  uint64_t images_ = 0;
};

}  // namespace

int Main(int argc, char** argv) {
  Program program(Parse(argc, argv));
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, OnAbort);
  return program.Run();
}

}  // namespace miodb::sim

int main(int argc, char** argv) { return miodb::sim::Main(argc, argv); }
