// flush, compact and repair.

#include <sys/stat.h>

#include <cstdio>
#include <string>

#include "benchmarks/common/interrupt.h"
#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

constexpr char kMoreInLog[] = "The info log LOG in the database's directory says more.";

// Fails with the error that stopped writes, if there is one, because some calls return no status.
int CodeOfBackground(DB* db, const Call& call) {
  std::string error;
  if (db->GetProperty("miodb.background-error", &error) && error != "OK") {
    return Fail(call, error, kMoreInLog);
  }
  return CodeAfter(kDone);
}

class Flush final : public StoreCommand {
 public:
  Flush() : StoreCommand(FamilyScope::kDatabase) {}

  int RunOn(DB* db, const Call& call) override {
    const Status s = db->Flush();
    return s.ok() ? CodeOfBackground(db, call) : Fail(call, s);
  }
};

class Compact final : public StoreCommand {
 public:
  Compact() : StoreCommand(FamilyScope::kAll) {}

  void AddOwnOptions(OptionTable* options) override {
    range_.AddOptions(options);
    coding_.AddOptions(options, false);
  }

  int RunOn(DB* db, const Call& call) override {
    const std::string problem = range_.Read(coding_);
    if (!problem.empty()) return Fail(call, problem);
    std::string error;
    bench::Interrupt::Watch([&] { error = CompactFamilies(db); }, [&] { db->StopWaiting(); });
    if (error != "OK" && !bench::Interrupt::StopRequested()) return Fail(call, error, kMoreInLog);
    return CodeOfBackground(db, call);
  }

 private:
  // Families lie beside each other in the same tables: without a range and a name everything is one piece of work.
  // Returns OK, or the first error.
  std::string CompactFamilies(DB* db) {
    std::string error = "OK";
    if (!families()->is_named() && range_.lower() == nullptr && range_.upper() == nullptr) {
      db->CompactRange(nullptr, nullptr);
      db->GetProperty("miodb.compact-error", &error);
      return error;
    }
    for (ColumnFamilyHandle* const family : families()->families()) {
      db->CompactRange(family, range_.lower(), range_.upper());
      if (db->GetProperty("miodb.compact-error", &error) && error != "OK") break;
    }
    return error;
  }

  KeyRange range_;
  Coding coding_;
};

// The last line of LOST has the totals.
std::string LastLine(const std::string& path) {
  Input in(path);
  std::string_view line;
  std::string last;
  while (in.ReadLine(&line)) last = line;
  return last;
}

class Repair final : public Command {
 public:
  void AddOptions(OptionTable* options) override { open_.AddOptions(options); }

  int Run(const Call& call) override {
    const std::string& directory = call.operands[0];
    if (!IsDirectory(directory)) {
      return Fail(call, directory + ": is no directory", "The directory of the database is wanted.");
    }
    // RepairDB would make a new database there, as LevelDB does, and hide that the old one is elsewhere.
    if (NamesIn(directory).empty()) {
      return Fail(call, directory + ": is empty", "Is the file system that has the database mounted?");
    }
    Options options;
    const std::string problem = open_.Make(directory, &options);
    if (!problem.empty()) return Fail(call, problem);
    const Status s = RepairDB(directory, options);
    if (!s.ok()) return Fail(call, s.ToString(), s.IsNoSpace() ? AdviceFor(s) : "");
    Output out;
    out.Write(LastLine(directory + "/LOST") + "\n" + directory + "/LOST has a line for everything that was left out\n");
    return out.Finish(call, kDone);
  }

 private:
  OpenOptions open_;
};

}  // namespace

std::unique_ptr<Command> NewFlush() { return std::make_unique<Flush>(); }
std::unique_ptr<Command> NewCompact() { return std::make_unique<Compact>(); }
std::unique_ptr<Command> NewRepair() { return std::make_unique<Repair>(); }

}  // namespace miodb::tool
