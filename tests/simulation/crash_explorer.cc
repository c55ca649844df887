// crash_explorer: crashes small databases wherever it matters and checks what every crash leaves. docs/crash_model.md.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/simulation/explorer.h"

namespace miodb::sim {
namespace {

volatile bool g_stop = false;
char g_repeat[4096];

void OnInterrupt(int) { g_stop = true; }

void OnCrash(int signal) {
  // Only what may be called in a signal handler.
  (void)!write(STDOUT_FILENO, "\nthe engine aborted. repeat with:\n  ", 36);
  (void)!write(STDOUT_FILENO, g_repeat, strlen(g_repeat));
  (void)!write(STDOUT_FILENO, "\n0 passed, 1 failed\n", 20);
  (void)signal;
  _exit(1);
}

}  // namespace

int Main(int argc, char** argv) {
  uint64_t images = 1000000, seed = 1;
  Settings settings;
  settings.limits[0] = {4096, 16, 8};
  settings.limits[1] = {64, 4, 2};
  settings.limits[2] = {16, 0, 1};
  std::string history_text;
  bool one = false;
  for (int i = 1; i < argc; i++) {
    const std::string a = argv[i];
    if (a.starts_with("--images=")) images = std::strtoull(a.c_str() + 9, nullptr, 10);
    else if (a.starts_with("--seed=")) seed = std::strtoull(a.c_str() + 7, nullptr, 10);
    else if (a == "--mode=adr") settings.mode = Mode::kAdr;
    else if (a == "--mode=eadr") settings.mode = Mode::kEadr;
    else if (a == "--mode=file") settings.mode = Mode::kFile;
    else if (a == "--one") one = true;
    else if (a.starts_with("--history=")) history_text = a.substr(10);
    else { std::fprintf(stderr, "unknown argument %s\n", a.c_str()); return 2; }
  }
  settings.max_images = images;
  settings.stop = &g_stop;
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGABRT, OnCrash);
  std::signal(SIGSEGV, OnCrash);
  Explorer explorer(settings);
  const auto start = std::chrono::steady_clock::now();
  bool ok = true;
  for (; ok && !g_stop && explorer.totals().images < images; seed++) {
    const Config config = MakeConfig(seed);
    History history = MakeHistory(seed, config);
    if (!history_text.empty()) FromText(history_text, &history);
    std::snprintf(g_repeat, sizeof(g_repeat), "crash_explorer --mode=%s --seed=%llu --one", ModeName(settings.mode),
                  static_cast<unsigned long long>(seed));
    explorer.Forget();
    ok = explorer.Run(config, history);
    if (!ok) std::printf("seed %llu: %s\n  %s\n", static_cast<unsigned long long>(seed), explorer.failure().c_str(), ToText(history).c_str());
    if (one || !history_text.empty()) break;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Totals& t = explorer.totals();
  std::printf("%llu histories, %llu points, %llu images, %llu repeated, %llu killed, %llu deep, %llu went on, %llu pairs, %llu refused\n",
    (unsigned long long)t.histories, (unsigned long long)t.points, (unsigned long long)t.images, (unsigned long long)t.repeated, (unsigned long long)t.killed, (unsigned long long)t.deep, (unsigned long long)t.went_on, (unsigned long long)t.pairs, (unsigned long long)t.refused);
  std::printf("flush %llu merge %llu lazy %llu evac %llu splits %llu rollovers %llu growths %llu\n", (unsigned long long)t.flushes, (unsigned long long)t.merges, (unsigned long long)t.lazy_copies, (unsigned long long)t.evacuations, (unsigned long long)t.splits, (unsigned long long)t.rollovers, (unsigned long long)t.growths);
  std::printf("%.1f s, %.0f images/s\n", seconds, static_cast<double>(t.images) / seconds);
  std::printf("%llu passed, %d failed\n", (unsigned long long)(t.images - !ok), ok ? 0 : 1);
  return ok ? 0 : 1;
}

}  // namespace miodb::sim

int main(int argc, char** argv) { return miodb::sim::Main(argc, argv); }
