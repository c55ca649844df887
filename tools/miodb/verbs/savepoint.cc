// savepoint: makes, lists and drops them.

#include <string>
#include <vector>

#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

class Savepoint final : public StoreCommand {
 public:
  Savepoint() : StoreCommand(FamilyScope::kDatabase) {}

  int RunOn(DB* db, const Call& call) override {
    const std::string& action = call.operands[0];
    if (action == "list") return call.operands.size() == 1 ? List(db, call) : Fail(call, "list takes no name");
    if (action != "create" && action != "drop") {
      return Fail(call, "no action '" + action + "'", "There are create, list and drop.");
    }
    if (call.operands.size() == 1) return Fail(call, "the name is missing");
    std::string name;
    const std::string problem = FromText(call.operands[1], &name);
    if (!problem.empty()) return Fail(call, problem);
    const Status s = action == "create" ? db->CreateSavepoint(name) : db->DropSavepoint(name);
    if (!s.IsNotFound()) return s.ok() ? kDone : Fail(call, s);
    Fail(call, "no savepoint '" + call.operands[1] + "'", kListsSavepoints);
    return kNo;
  }

 private:
  static int List(DB* db, const Call& call) {
    std::vector<SavepointInfo> savepoints;
    const Status s = db->ListSavepoints(&savepoints);
    if (!s.ok()) return Fail(call, s);
    Output out;
    for (const SavepointInfo& savepoint : savepoints) {
      out.Write(ToText(savepoint.name) + "\t" + TimeText(savepoint.micros) + "\t" + std::to_string(savepoint.sequence) +
                "\t" + std::to_string(savepoint.held_bytes) + "\n");
    }
    return out.Finish(call, kDone);
  }
};

}  // namespace

std::unique_ptr<Command> NewSavepoint() { return std::make_unique<Savepoint>(); }

}  // namespace miodb::tool
