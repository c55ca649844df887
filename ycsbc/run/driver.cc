#include "ycsbc/run/driver.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/counters.h"
#include "benchmarks/common/figures/interval_file.h"
#include "benchmarks/common/interrupt.h"
#include "benchmarks/common/library_build.h"
#include "ycsbc/run/report.h"
#include "ycsbc/run/status.h"

namespace miodb::ycsb {

namespace {

namespace fs = std::filesystem;
using bench::Interrupt;
using bench::Outcome;

constexpr int kFailed = 1;
constexpr int kWrongCall = 2;

// Prints at once, so that a reader of a pipe sees each result when it is there.
void Print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void Complain(const std::string& text) { std::fprintf(stderr, "ycsbc: %s\n", text.c_str()); }

bool IsThere(const std::string& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && !fs::is_empty(folder, error);
}

void SleepAfterLoad(int64_t seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < end && !Interrupt::StopRequested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

bool IsMioDbStyle(const Settings& settings) { return settings.OutputStyle() == Style::kMioDb; }

}  // namespace

int Driver::Run() {
  const Settings& first = commands_.front().settings;
  if (const int status = Prepare()) return status;

  Complain(engine_->Name() + " " + engine_->Version() + (first.db == "basic" ? "" : " in " + first.engine.db));
  if (const std::string library = engine_->LibraryPath(); !library.empty()) {
    const std::string engine = "Engine:     " + engine_->Name() + " " + engine_->Version() + "\n";
    std::fputs((engine + bench::BuildText(library, engine_->HasChecksums())).c_str(), stderr);
  }
  std::set<std::string> notes;
  for (const Command& command : commands_) notes.insert(command.settings.notes.begin(), command.settings.notes.end());
  for (const std::string& note : notes) Complain(note);
  std::fputs(bench::FileModeNote(first.engine, engine_->PersistMode()).c_str(), stderr);
  if (IsMioDbStyle(first)) Print("set " + engine_->Name() + " options!\n");
  bool goes_on = true;
  for (size_t i = 0; i < commands_.size() && goes_on && !Interrupt::StopRequested(); i++) {
    goes_on = RunCommand(commands_[i]);
  }
  Close();

  if (Interrupt::Signal() != 0) {
    Complain("interrupted: figures cover what was done until then");
    return 128 + Interrupt::Signal();
  }
  return has_failed_ ? kFailed : 0;
}

// Opens the database and makes the files that are appended to. Returns an exit status, or 0.
int Driver::Prepare() {
  const Command& first = commands_.front();
  const std::string& path = first.settings.engine.db;
  const bool has_files = first.settings.db != "basic";
  if (has_files && !first.load && !IsThere(path)) {
    Complain("no database in " + path + "; load one first");
    return kWrongCall;
  }
  for (const Command& command : commands_) {
    if (!command.settings.intervalfile.empty()) written_.insert(command.settings.intervalfile);
  }
  if (const std::string problem = bench::StartIntervalFiles("intervalfile", written_); !problem.empty()) {
    Complain(problem);
    return kWrongCall;
  }
  if (has_files) {
    // Engines make the last component of the path themselves.
    std::error_code ignored;
    fs::create_directories(fs::path(path).parent_path(), ignored);
  }
  Outcome outcome;
  if (first.load && first.settings.destroy) outcome = engine_->Destroy();
  if (outcome.ok()) outcome = engine_->Open();
  if (outcome.ok()) return 0;
  Complain("cannot open " + engine_->Name() + " in " + path + ": " + outcome.message);
  return kFailed;
}

// False if nothing further should run.
bool Driver::RunCommand(const Command& command) {
  const Settings& settings = command.settings;
  if (IsMioDbStyle(settings)) Print(MioDbHead(settings, command.properties));
  bool goes_on = true;
  if (command.load) goes_on = RunOnePhase(command, PhaseKind::kLoad);
  if (goes_on && command.load && command.run) SleepAfterLoad(settings.sleepafterload);
  if (goes_on && command.run && !Interrupt::StopRequested()) goes_on = RunOnePhase(command, PhaseKind::kRun);
  if (IsMioDbStyle(settings)) Print(std::string(62, '-') + "\n");
  return goes_on;
}

bool Driver::RunOnePhase(const Command& command, PhaseKind kind) {
  const Settings& settings = command.settings;
  const uint64_t stream = 2 * command.stream + (kind == PhaseKind::kRun ? 1 : 0);
  bench::HdrLogs* hdr_logs = nullptr;
  if (settings.hdrhistogram_fileoutput) {
    std::unique_ptr<bench::HdrLogs>& logs = hdr_logs_[settings.hdrhistogram_output_path];
    if (logs == nullptr) logs = std::make_unique<bench::HdrLogs>(settings.hdrhistogram_output_path);
    hdr_logs = logs.get();
  }
  const bench::Engine::ReadCounts before = engine_->CountReads();
  PhaseResult result = RunPhase(settings, command.schedule, kind, stream, engine_, hdr_logs);
  result.persist_mode = engine_->PersistMode();
  result.reads = engine_->CountReads();
  for (size_t i = 0; i < std::min(before.size(), result.reads.size()); i++) result.reads[i].second -= before[i].second;
  if (IsMioDbStyle(settings)) Print(MioDbText(result));
  if (settings.OutputStyle() == Style::kCpp) Print(CppText(result));
  if (!Export(settings, result)) return false;
  if (settings.dbstatistics) PrintStatistics(settings, result);
  if (!result.error.empty()) {
    Complain(std::string(kind == PhaseKind::kLoad ? "load" : "run") + ": first failure: " + result.error);
    has_failed_ = true;
    if (kind == PhaseKind::kLoad && !settings.insertion_keep_going) return false;
  }
  return !settings.dbwaitforbalance || Interrupt::StopRequested() || WaitForBalance(settings, result);
}

// Writes the measurements in the Java style to stdout, or in any style to the files that were named.
bool Driver::Export(const Settings& settings, const PhaseResult& result) {
  const std::string text = ExportText(settings.exporter, Measure(settings, result));
  if (!settings.exportfile.empty()) {
    if (!WriteFile(settings.exportfile, text)) return false;
  } else if (settings.OutputStyle() == Style::kJava) {
    Print(text);
  }
  if (settings.measurementtype == "raw" || settings.measurementtype == "hdrhistogram+raw") {
    const std::string raw = RawText(result);
    if (settings.raw_output_file.empty()) Print(raw);
    if (!settings.raw_output_file.empty() && !WriteFile(settings.raw_output_file, raw)) return false;
  }
  if (!settings.hdrhistogram_fileoutput) return true;
  for (int op = 0; op < kOps; op++) {
    const Series* series = result.summary.Find(static_cast<Op>(op), Result::kOk);
    if (series == nullptr) continue;
    const std::string path = settings.hdrhistogram_output_path + OpName(static_cast<Op>(op)) + ".hgrm";
    if (!WriteFile(path, PercentileTable(*series))) return false;
  }
  return true;
}

// The first text of this process replaces the file, further ones are appended.
bool Driver::WriteFile(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), written_.insert(path).second ? "w" : "a");
  const bool is_written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  const bool is_closed = file != nullptr && std::fclose(file) == 0;
  if (is_written && is_closed) return true;
  Complain("cannot write " + path + ": " + std::strerror(errno));
  has_failed_ = true;
  return false;
}

bool Driver::WaitForBalance(const Settings& settings, const PhaseResult& result) {
  const uint64_t start = bench::Ticks::MonotonicNanos();
  const Outcome outcome = engine_->WaitForIdle();
  const uint64_t seconds = (bench::Ticks::MonotonicNanos() - start) / 1000000000u;
  if (!outcome.ok()) {
    Complain("wait: " + outcome.message);
    has_failed_ = true;
    return false;
  }
  const std::string line = "Wait balance:" + std::to_string(seconds) + " s\n";
  if (IsMioDbStyle(settings)) {
    Print(line);
  } else {
    std::fputs(line.c_str(), stderr);
  }
  if (settings.dbstatistics) PrintStatistics(settings, result);
  return true;
}

void Driver::PrintStatistics(const Settings& settings, const PhaseResult& result) {
  std::string text;
  if (!engine_->Describe(bench::Engine::Text::kStats, &text)) text = "(none)\n";
  text += bench::CountersText(engine_->ReadCounters(), engine_->PersistMode());
  const std::string block = MioDbStatistics(result, text);
  if (IsMioDbStyle(settings)) {
    Print(block);
  } else {
    std::fputs(block.c_str(), stderr);
  }
}

void Driver::Close() {
  const bool is_miodb_style = IsMioDbStyle(commands_.front().settings);
  if (is_miodb_style) std::fputs("start delete\n", stderr);
  const bench::Engine::Counters counters = engine_->ReadCounters();
  engine_->Close();
  if (is_miodb_style) Print(bench::ClosingLines(counters));
}

}  // namespace miodb::ycsb
