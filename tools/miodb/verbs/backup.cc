// backup, restore and backups.

#include "miodb/backup.h"

#include <unistd.h>

#include <charconv>
#include <string>
#include <vector>

#include "benchmarks/common/figures/progress.h"
#include "benchmarks/common/interrupt.h"
#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

// Options of a call and its progress: the line on a terminal, and whether a signal has come.
class Pace {
 public:
  void AddOptions(OptionTable* options) {
    options->Number("rate", &rate_, 0, INT64_MAX / 1000000, "bytes a second that are written at most; 0: no limit");
  }

  BackupOptions Told(const char* done) {
    BackupOptions options;
    options.bytes_per_second = static_cast<uint64_t>(rate_);
    options.progress = [this, done](uint64_t bytes, uint64_t all) {
      line_.Show(std::string(done) + " " + std::to_string(bytes / 1000000) + " MB",
                 static_cast<double>(bytes) / static_cast<double>(all + 1));
      return !bench::Interrupt::StopRequested();
    };
    return options;
  }

 private:
  int64_t rate_ = 0;
  bench::ProgressLine line_{isatty(STDERR_FILENO) != 0};
};

// Errors of backups say themselves what to do.
int FailBackup(const Call& call, const Status& s, const char* interrupted) {
  if (CodeAfter(kFailed) == kFailed) return Fail(call, s.ToString(), s.IsNoSpace() ? AdviceFor(s) : "");
  Fail(call, interrupted);
  return kInterrupted;
}

std::string Row(const BackupInfo& info) {
  return std::to_string(info.generation) + "\t" + TimeText(info.micros) + "\t" + std::to_string(info.bytes) + "\t" +
         std::to_string(info.new_bytes) + "\n";
}

class BackupVerb final : public StoreCommand {
 public:
  BackupVerb() : StoreCommand(FamilyScope::kDatabase) {}

  void AddOwnOptions(OptionTable* options) override { pace_.AddOptions(options); }

  int RunOn(DB* db, const Call& call) override {
    BackupInfo info;
    const Status s = db->CreateBackup(pace_.Told("done"), call.operands[0], &info);
    if (!s.ok()) return FailBackup(call, s, "interrupted: the next run goes on with what was copied");
    Output out;
    out.Write(Row(info));
    return out.Finish(call, kDone);
  }

 private:
  Pace pace_;
};

class RestoreVerb final : public Command {
 public:
  void AddOptions(OptionTable* options) override {
    options->Number("generation", &generation_, 0, INT64_MAX, "the generation; 0: the newest");
    options->Text("pool", "PATH", &options_.pool_path, "the pool; if it is not to be the file \"pool\" in DIRECTORY");
    options->Text("ssd", "PATH", &options_.ssd_path, "the SSD tier; if it is not to be \"ssd\" in DIRECTORY");
    pace_.AddOptions(options);
  }

  int Run(const Call& call) override {
    const Status s = RestoreBackup(options_, pace_.Told("restored"), call.operands[0],
                                   static_cast<uint64_t>(generation_), call.operands[1]);
    return s.ok() ? kDone : FailBackup(call, s, "interrupted: nothing was made");
  }

 private:
  Options options_;
  int64_t generation_ = 0;
  Pace pace_;
};

class BackupsVerb final : public Command {
 public:
  int Run(const Call& call) override {
    const std::string& folder = call.operands[0];
    const std::string& action = call.operands[1];
    uint64_t generation = 0;
    if (call.operands.size() == 3) {
      const std::string& text = call.operands[2];
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), generation);
      if (error != std::errc() || end != text.data() + text.size() || generation == 0) {
        return Fail(call, "'" + text + "' is no generation", "\"miodb backups FOLDER list\" shows which there are.");
      }
    }
    if (action == "list") return generation == 0 ? List(call, folder) : Fail(call, "list takes no generation");
    if (action == "verify") return Verify(call, folder, generation);
    if (action != "delete") return Fail(call, "no action '" + action + "'", "There are list, verify and delete.");
    if (generation == 0) return Fail(call, "the generation is missing");
    const Status s = DeleteBackup(folder, generation);
    return s.ok() ? kDone : FailBackup(call, s, "interrupted");
  }

 private:
  static int List(const Call& call, const std::string& folder) {
    std::vector<BackupInfo> generations;
    const Status s = ListBackups(folder, &generations);
    Output out;
    for (const BackupInfo& info : generations) out.Write(Row(info));
    const int code = out.Finish(call, kDone);
    return s.ok() ? code : FailBackup(call, s, "interrupted");
  }

  int Verify(const Call& call, const std::string& folder, uint64_t generation) {
    const Status s = VerifyBackup(pace_.Told("verified"), folder, generation);
    if (s.ok()) return kDone;
    const int code = FailBackup(call, s, "interrupted");
    return code == kFailed && s.IsCorruption() ? kNo : code;
  }

  Pace pace_;
};

}  // namespace

std::unique_ptr<Command> NewBackup() { return std::make_unique<BackupVerb>(); }
std::unique_ptr<Command> NewRestore() { return std::make_unique<RestoreVerb>(); }
std::unique_ptr<Command> NewBackups() { return std::make_unique<BackupsVerb>(); }

}  // namespace miodb::tool
