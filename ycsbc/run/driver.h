// Runs the commands of one call against one database, which is opened once, and prints what they measured.

#ifndef MIODB_YCSBC_RUN_DRIVER_H_
#define MIODB_YCSBC_RUN_DRIVER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/figures/hdr_log.h"
#include "ycsbc/run/client.h"
#include "ycsbc/run/command_line.h"

namespace miodb::ycsb {

class Driver {
 public:
  // "engine" is closed and outlives the driver. REQUIRES: at least one command.
  Driver(std::vector<Command> commands, bench::Engine* engine) : commands_(std::move(commands)), engine_(engine) {}

  // Returns the exit status of the process: 0; 1 after a failed operation or when the database cannot be opened; 2 if
  // there is none to run on or an output file cannot be written; 128 + the signal after an interruption.
  int Run();

 private:
  int Prepare();
  bool RunCommand(const Command& command);
  bool RunOnePhase(const Command& command, PhaseKind kind);
  bool Export(const Settings& settings, const PhaseResult& result);
  bool WriteFile(const std::string& path, const std::string& text);
  bool WaitForBalance(const Settings& settings, const PhaseResult& result);
  void PrintStatistics(const Settings& settings, const PhaseResult& result);
  void Close();

  const std::vector<Command> commands_;
  bench::Engine* const engine_;
  std::set<std::string> written_;  // Files of this process, which later phases append to.
  std::map<std::string, std::unique_ptr<bench::HdrLogs>> hdr_logs_;  // By what the names of their files begin with.
  bool has_failed_ = false;
};

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_RUN_DRIVER_H_
