#include "tests/stress/db_stress/supervisor.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "benchmarks/common/interrupt.h"

namespace miodb::test {

namespace {

// Far more than any phase takes, also under a sanitizer on a loaded machine.
constexpr std::chrono::seconds kHung(180);

unsigned long long Printed(uint64_t n) { return static_cast<unsigned long long>(n); }

bool Phase(KillTarget target, StressPhase phase) {
  switch (target) {
    case KillTarget::kOpening:
      return phase != StressPhase::kStarting;  // it may be over before anybody looks
    case KillTarget::kFlushing:
      return phase == StressPhase::kFlushing;
    case KillTarget::kCompacting:
      return phase == StressPhase::kCompacting;
    case KillTarget::kClosing:
      return phase == StressPhase::kClosing || phase == StressPhase::kClosed;
    case KillTarget::kWriting:
    case KillTarget::kNever:
      return phase == StressPhase::kWriting;
  }
  return false;
}

std::string Ended(const char* who, int status) {
  if (WIFEXITED(status)) return std::string(who) + " ended with status " + std::to_string(WEXITSTATUS(status));
  return std::string(who) + " died of signal " + std::to_string(WTERMSIG(status));
}

}  // namespace

Supervisor::Supervisor(const SupervisorOptions& options)
    : options_(options),
      path_(options.directory + "/db"),
      state_(ExpectedState::Map(options.directory + "/expected_state")),
      start_(Clock::now()),
      told_(start_) {}

bool Supervisor::Enough() const {
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  if (options_.seconds > 0 && elapsed.count() >= options_.seconds) return true;
  if (options_.kills > 0 && kills_ >= options_.kills) return true;
  return options_.reads > 0 && state_->reads.load() + state_->steps.load() >= options_.reads;
}

pid_t Supervisor::Start(const char* role, uint64_t round, bool last) const {
  std::vector<std::string> words = {options_.program,
                                    std::string("--role=") + role,
                                    "--db=" + options_.directory,
                                    "--seed=" + std::to_string(options_.stress.seed),
                                    "--threads=" + std::to_string(options_.stress.threads),
                                    "--reads=" + std::to_string(options_.stress.reads ? 1 : 0),
                                    "--ssd=" + std::to_string(options_.stress.ssd ? 1 : 0),
                                    "--round=" + std::to_string(round)};
  if (last) words.emplace_back("--last");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  // In a group of its own, so that Ctrl-C and timeout(1) reach the supervisor alone, which ends the round in order.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawn(&pid, options_.program.c_str(), nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) std::fprintf(stderr, "db_stress: cannot start %s: %s\n", options_.program.c_str(), strerror(error));
  return error == 0 ? pid : -1;
}

Supervisor::Wait Supervisor::WaitForTarget(pid_t pid, KillTarget target, int* status) const {
  const auto give_up = Clock::now() + kHung;
  while (Clock::now() < give_up) {
    if (waitpid(pid, status, WNOHANG) == pid) return Wait::kEnded;
    if (Phase(target, state_->phase.load())) return Wait::kReached;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return Wait::kTimeOut;
}

Supervisor::Wait Supervisor::WaitForEnd(pid_t pid, std::chrono::microseconds longest, int* status) const {
  const auto give_up = Clock::now() + longest;
  do {
    if (waitpid(pid, status, WNOHANG) == pid) return Wait::kEnded;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  } while (Clock::now() < give_up);
  return Wait::kTimeOut;
}

// Lets the worker run for its time, asks it to close if that is when it is to be hit, and lets it get there.
Supervisor::Wait Supervisor::BringToTarget(pid_t pid, const StressRound& round, int* status) {
  Wait wait;
  if (round.target != KillTarget::kOpening) {
    wait = WaitForTarget(pid, KillTarget::kWriting, status);
    if (wait != Wait::kReached) return wait;
    const auto run_until = Clock::now() + std::chrono::microseconds(round.run_micros);
    while (Clock::now() < run_until && !bench::Interrupt::StopRequested()) {
      if (WaitForEnd(pid, std::chrono::milliseconds(1), status) == Wait::kEnded) return Wait::kEnded;
    }
  }
  if (round.target == KillTarget::kClosing || round.target == KillTarget::kNever) state_->stop.store(true);
  if (round.target == KillTarget::kNever) return WaitForEnd(pid, kHung, status);
  wait = WaitForTarget(pid, round.target, status);
  if (wait != Wait::kReached) return wait;
  const Wait late = WaitForEnd(pid, std::chrono::microseconds(round.late_micros), status);
  return late == Wait::kEnded ? Wait::kEnded : Wait::kReached;
}

std::string Supervisor::RunWorker(const StressRound& round) {
  state_->StartRound();
  const pid_t pid = Start("worker", round.number, false);
  if (pid < 0) return "no worker";
  int status = 0;
  const Wait wait = BringToTarget(pid, round, &status);
  const StressPhase phase = state_->phase.load();
  if (wait != Wait::kEnded) {
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    if (wait == Wait::kTimeOut) return "the worker hung in phase " + std::to_string(static_cast<int>(phase));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
      kills_++;
      kills_in_phase_[static_cast<int>(phase)]++;
      return phase == StressPhase::kFailed ? "the worker failed; it says why above" : "";
    }
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : Ended("the worker", status);
}

std::string Supervisor::RunVerifier(const StressRound& round, bool last) {
  int status = 0;
  if (round.verifier_is_killed) {
    const pid_t victim = Start("verifier", round.number, false);
    if (victim < 0) return "no verifier";
    if (WaitForEnd(victim, std::chrono::microseconds(round.verifier_micros), &status) == Wait::kTimeOut) {
      kill(victim, SIGKILL);
      waitpid(victim, &status, 0);
      verifier_kills_++;
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      return Ended("the verifier", status);
    }
  }
  const pid_t pid = Start("verifier", round.number, last);
  if (pid < 0) return "no verifier";
  if (WaitForEnd(pid, kHung, &status) == Wait::kTimeOut) {
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return "the verifier hung";
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : Ended("the verifier", status);
}

std::string Supervisor::RunCheck() const {
  if (options_.check.empty()) return "";
  std::string program = options_.check, database = path_;
  char* argv[] = {program.data(), database.data(), nullptr};
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, program.c_str(), nullptr, nullptr, argv, environ);
  if (error != 0) return "cannot start " + program + ": " + strerror(error);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : Ended(program.c_str(), status);
}

std::string Supervisor::RunRound(const StressData& data, const StressRound& round, bool last) {
  std::string fault = RunWorker(round);
  if (!fault.empty()) return fault;
  // Keeps a copy of the pool that the verifier is going to open, to find out why the verifier failed.
  std::error_code error;
  std::filesystem::copy_file(path_ + "/pool", options_.directory + "/pool_before_verify",
                             std::filesystem::copy_options::overwrite_existing, error);
  fault = RunVerifier(round, last);
  if (fault.empty()) fault = RunCheck();
  if (fault.empty()) state_->TakeOver(data.units());
  return fault;
}

void Supervisor::Progress(bool now) {
  if (options_.quiet || (!now && Clock::now() - told_ < std::chrono::seconds(5))) return;
  told_ = Clock::now();
  std::printf(
      "%6.0f s: %llu rounds, %llu kills, %llu operations, %llu reads, %llu iterator steps, %llu keys verified\n",
      std::chrono::duration<double>(told_ - start_).count(), Printed(rounds_), Printed(kills_ + verifier_kills_),
      Printed(state_->operations.load()), Printed(state_->reads.load()), Printed(state_->steps.load()),
      Printed(state_->keys_verified.load()));
  std::fflush(stdout);
}

void Supervisor::Summary(const StressRound& round, const std::string& fault, bool was_interrupted) {
  if (!fault.empty()) {
    std::printf("FAILED: %s\n  %s\n", fault.c_str(), round.Describe().c_str());
    std::printf("  database %s, before it was looked at %s/pool_before_verify, expected state %s/expected_state\n",
                path_.c_str(), options_.directory.c_str(), options_.directory.c_str());
    std::printf(
        "  repeat with: db_stress --seed=%llu --threads=%d --kills=%llu --ssd=%d%s   (timing is not part of the "
        "seed)\n",
        Printed(options_.stress.seed), options_.stress.threads, Printed(kills_ + 100), options_.stress.ssd ? 1 : 0,
        options_.stress.reads ? (" --reads=" + std::to_string(options_.reads)).c_str() : "");
    std::printf(
        "  look again with: db_stress --role=verifier --db=%s --seed=%llu --threads=%d --reads=%d --ssd=%d "
        "--round=%llu\n",
        options_.directory.c_str(), Printed(options_.stress.seed), options_.stress.threads,
        options_.stress.reads ? 1 : 0, options_.stress.ssd ? 1 : 0, Printed(round.number));
  }
  const auto in = [this](StressPhase phase) { return Printed(kills_in_phase_[static_cast<int>(phase)]); };
  std::printf(
      "db_stress: seed %llu, %.0f s, %llu rounds; %llu kills (%llu before the open, %llu opening, %llu writing, "
      "%llu flushing, %llu compacting, %llu closing, %llu closed, %llu verifying); %llu operations (%llu refused "
      "by a full pool), %llu writes to files failed, %llu reads and %llu iterator steps checked, %llu keys "
      "verified%s\n",
      Printed(options_.stress.seed), std::chrono::duration<double>(Clock::now() - start_).count(), Printed(rounds_),
      Printed(kills_ + verifier_kills_), in(StressPhase::kStarting), in(StressPhase::kOpening),
      in(StressPhase::kWriting), in(StressPhase::kFlushing), in(StressPhase::kCompacting), in(StressPhase::kClosing),
      in(StressPhase::kClosed), Printed(verifier_kills_), Printed(state_->operations.load()),
      Printed(state_->refusals.load()), Printed(state_->file_faults.load()), Printed(state_->reads.load()),
      Printed(state_->steps.load()), Printed(state_->keys_verified.load()), was_interrupted ? "; interrupted" : "");
  std::printf("%llu passed, %d failed\n", Printed(rounds_), fault.empty() ? 0 : 1);
  std::fflush(stdout);
}

int Supervisor::Run() {
  std::string fault;
  StressRound round;
  bool was_interrupted = false;
  for (uint64_t number = 0; fault.empty(); number++) {
    was_interrupted = bench::Interrupt::StopRequested();
    const bool enough = number > 0 && (Enough() || was_interrupted);
    const StressData data(options_.stress.seed, GenerationOf(number), options_.stress.reads);
    if (enough) break;
    if (number % kRoundsOfGeneration == 0) {
      std::filesystem::remove_all(path_);
      state_->StartGeneration();
    }
    round = PlanRound(options_.stress, data, number);
    fault = RunRound(data, round, (number + 1) % kRoundsOfGeneration == 0);
    if (fault.empty()) rounds_++;
    Progress(false);
  }
  Progress(true);
  Summary(round, fault, was_interrupted);
  if (!fault.empty()) return 1;
  return was_interrupted ? 130 : 0;
}

}  // namespace miodb::test
