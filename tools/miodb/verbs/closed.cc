// check, dump and move: verbs for databases that nobody has open, told in tools/inspect.

#include <cerrno>
#include <cstdlib>

#include "tools/inspect/inspect.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

static_assert(kExitOk == static_cast<int>(kDone) && kExitDamage == static_cast<int>(kNo) &&
              kExitCannotRun == static_cast<int>(kFailed));

class Check final : public Command {
 public:
  void AddOptions(OptionTable* options) override {
    options->Switch("json", &request_.json, "print one JSON object");
    options->Switch(
        "file", &request_.lost_power,
        "the pool was used in persist mode file, or the log is in files, and the machine lost power: a hole "
        "in the log is its end, not damage");
    options->Text("ssd", "DIRECTORY", &request_.ssd,
                  "the directory of the SSD tier (ssd_path), to check its files too");
    options->Text("wal", "DIRECTORY", &request_.wal,
                  "the directory of the log files (wal_dir), if they are not where they were when it was last open");
    options->List("region", "PATH", &request_.regions,
                  "a further region of the pool, if it is not where it was when the database was last open");
  }

  int Run(const Call& call) override {
    request_.path = call.operands[0];
    return CheckDatabase(call.program.c_str(), request_);
  }

 private:
  CheckRequest request_;
};

class Dump final : public Command {
 public:
  void AddOptions(OptionTable* options) override {
    options->Switch("header", &request_.header, "superblocks, roots and regions");
    options->Switch("manifest", &request_.manifest, "the edits in the current manifest area");
    options->Switch("tables", &request_.tables, "the tables and table files that they lead to");
    options->Number("table", &table_, 0, INT64_MAX, "the entries of table N");
    options->Number("file", &file_, 0, INT64_MAX,
                    "the entries of table file N in the directory of the SSD tier, which --ssd names");
    options->Text("ssd", "DIRECTORY", &request_.ssd, "the directory of the SSD tier (ssd_path)");
    options->Switch("log", &request_.log,
                    "the frames of all log chunks and the batches of all log files, and their records");
    options->Switch("values", &request_.values, "with records, their values too");
    options->Text("wal", "DIRECTORY", &request_.wal,
                  "of the log files (wal_dir), if they are not where they were when it was last open");
    options->List("region", "PATH", &request_.regions,
                  "a further region of the pool, if it is not where it was when the database was last open");
  }

  int Run(const Call& call) override {
    if ((file_ >= 0) == request_.ssd.empty()) return Fail(call, "--file and --ssd go together");
    request_.path = call.operands[0];
    if (table_ >= 0) request_.table = static_cast<uint64_t>(table_);
    if (file_ >= 0) request_.file = static_cast<uint64_t>(file_);
    return DumpDatabase(call.program.c_str(), request_);
  }

 private:
  DumpRequest request_;
  int64_t table_ = -1;
  int64_t file_ = -1;
};

class Move final : public Command {
 public:
  void AddOptions(OptionTable* options) override {
    options->Maybe("pool", "PATH", &request_.pool, "the pool; empty: the file \"pool\" in the directory");
    options->List("region", "PATH", &request_.regions, "a further region of the pool");
    options->Maybe("wal", "DIRECTORY", &request_.wal, "the log folder; empty: the database's directory");
    options->Maybe("ssd", "DIRECTORY", &request_.ssd, "the directory of the SSD tier");
  }

  int Run(const Call& call) override {
    request_.directory = call.operands[0];
    return MoveParts(call.program.c_str(), request_);
  }

 private:
  MoveRequest request_;
};

}  // namespace

std::unique_ptr<Command> NewCheck() { return std::make_unique<Check>(); }
std::unique_ptr<Command> NewDump() { return std::make_unique<Dump>(); }
std::unique_ptr<Command> NewMove() { return std::make_unique<Move>(); }

}  // namespace miodb::tool
