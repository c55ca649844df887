// stats and properties: what a database says of itself.

#include <string>

#include "tools/miodb/files.h"
#include "tools/miodb/store.h"
#include "tools/miodb/verbs.h"

namespace miodb::tool {

namespace {

// Of one line each, and those that are texts.
constexpr const char* kShort[] = {"miodb.persist-mode", "miodb.background-error",  "miodb.ssd-error",
                                  "miodb.nvm-model",    "miodb.estimate-num-keys", "leveldb.approximate-memory-usage"};
constexpr const char* kLong[] = {"miodb.pool", "miodb.placement", "miodb.counters", "leveldb.stats",
                                 "leveldb.sstables"};

class Stats final : public StoreCommand {
 public:
  int RunOn(DB* db, const Call& call) override {
    std::string text;
    if (!db->GetProperty("leveldb.stats", &text)) return Fail(call, "the database has no statistics");
    Output out;
    out.Write(text);
    return out.Finish(call, kDone);
  }
};

class Properties final : public StoreCommand {
 public:
  int RunOn(DB* db, const Call& call) override {
    Output out;
    int code = kDone;
    std::string value;
    for (const std::string& name : call.operands) {
      if (db->GetProperty(name, &value)) {
        out.Write(value.ends_with('\n') ? value : value + "\n");
      } else {
        Fail(call, "no property '" + name + "'", "Without a name all of them are shown.");
        code = kNo;
      }
    }
    if (call.operands.empty()) ShowAll(db, &out);
    return out.Finish(call, code);
  }

 private:
  static void ShowAll(DB* db, Output* out) {
    std::string value;
    for (const char* name : kShort) {
      if (db->GetProperty(name, &value)) out->Write(std::string(name) + ": " + value + "\n");
    }
    for (const char* name : kLong) {
      if (db->GetProperty(name, &value)) out->Write("\n" + std::string(name) + ":\n" + value);
    }
  }
};

}  // namespace

std::unique_ptr<Command> NewStats() { return std::make_unique<Stats>(); }
std::unique_ptr<Command> NewProperties() { return std::make_unique<Properties>(); }

}  // namespace miodb::tool
