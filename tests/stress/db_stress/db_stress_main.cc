// db_stress: writes to and reads from a database with many threads, kills it with all its threads again and again, and
// checks after every kill that it holds what it must. docs/testing.md tells what is checked.

#include <signal.h>
#include <sys/prctl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "benchmarks/common/flags.h"
#include "benchmarks/common/interrupt.h"
#include "tests/stress/db_stress/supervisor.h"
#include "tests/stress/db_stress/verifier.h"
#include "tests/stress/db_stress/worker.h"

namespace miodb::test {
namespace {

struct Command {
  double seconds = 0;
  int64_t seed = 1;
  int64_t kills = 0;
  int64_t reads = 0;
  int64_t threads = 0;
  std::string db;
  std::string check;
  bool ssd = false;
  bool quiet = false;
  std::string role = "supervisor";
  int64_t round = 0;
  bool last = false;
};

void Register(bench::FlagSet* flags, Command* command) {
  constexpr int64_t kMost = int64_t{1} << 62;
  flags->Section("How long; the first limit that is reached ends the run");
  flags->Real("seconds", &command->seconds, 0, 1e9, "run this long; 60 if there is no other limit, 0: no limit");
  flags->Int("kills", &command->kills, 0, kMost, "end after so many kills; 0: no limit");
  flags->Int("reads", &command->reads, 0, kMost,
             "no kills: small values, readers at full speed, until so many reads and iterator steps were checked");
  flags->Section("What");
  flags->Int("seed", &command->seed, 0, kMost, "options, operations and kills are drawn from it");
  flags->Int("threads", &command->threads, 0, kMaxStressWriters, "writers; 0: 1 to 4, drawn from the seed");
  flags->Bool("ssd", &command->ssd, "every database has an SSD tier; default: one in three, drawn from the seed");
  flags->Text("db", &command->db,
              "directory for database and expected state; must not exist. Default: a fresh one on tmpfs or in TMPDIR");
  flags->Text("check", &command->check, "a program that is given every database after it was verified and closed");
  flags->Bool("quiet", &command->quiet, "no progress lines");
  flags->Section("Used by the program itself");
  flags->Text("role", &command->role, "supervisor, worker or verifier");
  flags->Int("round", &command->round, 0, kMost, "of worker and verifier");
  flags->Bool("last", &command->last, "the verifier also deletes everything");
}

StressFlags FlagsOf(const Command& command) {
  StressFlags flags;
  flags.seed = static_cast<uint64_t>(command.seed);
  flags.threads = static_cast<int>(command.threads);
  flags.reads = command.reads > 0;
  flags.ssd = command.ssd;
  return flags;
}

// The entry of processes that the supervisor starts. Dies with it, and leaves Ctrl-C to it.
int RunRole(const Command& command) {
  signal(SIGINT, SIG_IGN);
  const StressFlags flags = FlagsOf(command);
  const auto number = static_cast<uint64_t>(command.round);
  const StressData data(flags.seed, GenerationOf(number), flags.reads);
  const StressRound round = PlanRound(flags, data, number);
  ExpectedState* const state = ExpectedState::Map(command.db + "/expected_state");
  const std::string path = command.db + "/db";
  if (command.role == "worker") {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return StressWorker(flags, data, round, state).Run(path);
  }
  return StressVerifier(flags, data, round, state).Run(path, command.last);
}

// Makes the directory; on failure prints why and returns "".
std::string MakeDirectory(const std::string& wanted) {
  std::error_code error;
  if (!wanted.empty()) {
    if (std::filesystem::create_directories(wanted, error)) return std::filesystem::absolute(wanted);
    std::fprintf(stderr, "db_stress: --db=%s: %s\n", wanted.c_str(),
                 error ? error.message().c_str() : "exists; what is in it might be lost");
    return "";
  }
  const char* parent = std::getenv("TEST_TMPDIR");
  std::string pattern = parent != nullptr ? parent : "/dev/shm";
  if (!std::filesystem::is_directory(pattern, error)) pattern = std::filesystem::temp_directory_path(error);
  pattern += "/db_stress.XXXXXX";
  if (mkdtemp(pattern.data()) != nullptr) return pattern;
  std::perror(("db_stress: " + pattern).c_str());
  return "";
}

int RunSupervisor(const Command& command) {
  SupervisorOptions options;
  options.stress = FlagsOf(command);
  std::error_code error;
  options.program = std::filesystem::read_symlink("/proc/self/exe", error);
  options.check = command.check;
  options.seconds = command.seconds;
  options.kills = static_cast<uint64_t>(command.kills);
  options.reads = static_cast<uint64_t>(command.reads);
  options.quiet = command.quiet;
  if (options.seconds == 0 && options.kills == 0 && options.reads == 0) options.seconds = 60;
  options.directory = MakeDirectory(command.db);
  if (options.directory.empty()) return 2;
  bench::Interrupt::Install();
  const int status = Supervisor(options).Run();
  if (status != 1) std::filesystem::remove_all(options.directory, error);
  return status;
}

int Main(int argc, char** argv) {
  Command command;
  bench::FlagSet flags;
  Register(&flags, &command);
  const bench::FlagSet::Result parsed = flags.Parse(argc, argv);
  if (parsed.outcome == bench::FlagSet::Outcome::kHelp) {
    std::printf(
        "db_stress: kills a database again and again and checks what it holds. Prints \"N passed, M failed\" for "
        "its rounds.\nExit status: 0 all passed, 1 a check failed (the database is kept), 2 bad arguments, 130 "
        "interrupted.\n%s",
        flags.Help().c_str());
    return 0;
  }
  if (parsed.outcome == bench::FlagSet::Outcome::kVersion) {
    std::printf("db_stress of MioDB %d.%d\n", kMajorVersion, kMinorVersion);
    return 0;
  }
  for (const std::string& warning : parsed.warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  if (parsed.outcome == bench::FlagSet::Outcome::kError) {
    std::fprintf(stderr, "%s\n", parsed.error.c_str());
    return 2;
  }
  if (command.role == "worker" || command.role == "verifier") return RunRole(command);
  if (command.role != "supervisor") {
    std::fprintf(stderr, "db_stress: --role=%s: there are supervisor, worker and verifier\n", command.role.c_str());
    return 2;
  }
  return RunSupervisor(command);
}

}  // namespace
}  // namespace miodb::test

int main(int argc, char** argv) { return miodb::test::Main(argc, argv); }
