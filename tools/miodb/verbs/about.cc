// stats and properties: what a database says of itself.

#include <string>

#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

// Properties of one line each, and properties that are texts.
constexpr const char* kShort[] = {
    "miodb.persist-mode",      "miodb.background-error",           "miodb.ssd-error", "miodb.nvm-model",
    "miodb.estimate-num-keys", "leveldb.approximate-memory-usage", "miodb.identity",  "miodb.origin"};
constexpr const char* kLong[] = {"miodb.column-families", "miodb.pool",    "miodb.placement",
                                 "miodb.counters",        "leveldb.stats", "leveldb.sstables"};

constexpr const char* kOfFamilies[] = {"miodb.estimate-num-keys", "miodb.approximate-bytes"};

class Stats final : public StoreCommand {
 public:
  Stats() : StoreCommand(FamilyScope::kDatabase) {}

  void AddOwnOptions(OptionTable* options) override {
    options->Switch("prometheus", &prometheus_, "in the text format that Prometheus scrapes");
  }

  int RunOn(DB* db, const Call& call) override {
    std::string text, times;
    if (!db->GetProperty(prometheus_ ? "miodb.prometheus" : "leveldb.stats", &text)) {
      return Fail(call, "the database has no statistics");
    }
    if (!prometheus_ && db->GetProperty("miodb.times", &times)) text += times;
    Output out;
    out.Write(text);
    return out.Finish(call, kDone);
  }

 private:
  bool prometheus_ = false;
};

class Properties final : public StoreCommand {
 public:
  Properties() : StoreCommand(FamilyScope::kOne) {}

  int RunOn(DB* db, const Call& call) override {
    Output out;
    int code = kDone;
    std::string value;
    for (const std::string& name : call.operands) {
      if (db->GetProperty(family(), name, &value)) {
        out.Write(value.ends_with('\n') ? value : value + "\n");
      } else {
        Fail(call, "no property '" + name + "'", "Without a name all of them are shown.");
        code = kNo;
      }
    }
    if (call.operands.empty() && families()->is_named()) {
      for (const char* const name : kOfFamilies) Show(db, name, &out);
    } else if (call.operands.empty()) {
      ShowAll(db, &out);
    }
    return out.Finish(call, code);
  }

 private:
  void Show(DB* db, const char* name, Output* out) const {
    std::string value;
    if (db->GetProperty(family(), name, &value)) out->Write(std::string(name) + ": " + value + "\n");
  }

  void ShowAll(DB* db, Output* out) const {
    for (const char* name : kShort) Show(db, name, out);
    std::string value;
    for (const char* name : kLong) {
      if (db->GetProperty(name, &value)) out->Write("\n" + std::string(name) + ":\n" + value);
    }
  }
};

}  // namespace

std::unique_ptr<Command> NewStats() { return std::make_unique<Stats>(); }
std::unique_ptr<Command> NewProperties() { return std::make_unique<Properties>(); }

}  // namespace miodb::tool
