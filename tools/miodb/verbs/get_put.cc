// get, put, delete, merge: single keys.

#include <string>

#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

// The most bytes of a value (miodb/db.h).
constexpr uint64_t kMostValueBytes = uint64_t{1} << 30;

class Get final : public ReadCommand {
 public:
  Get() : ReadCommand(FamilyScope::kOne) {}

 protected:
  void AddOwnOptions(OptionTable* options) override {
    coding_.AddOptions(options, true);
    options->Switch("raw", &raw_, "write the values as they are, with nothing before, between or behind them");
    options->Switch("verify_checksums", &read_.verify_checksums, "verify what is read");
  }

  // For a single key the value alone is shown; for several, each key with its value.
  int RunOn(DB* db, const Call& call) override {
    Output out;
    int code = kDone;
    for (const std::string& operand : call.operands) {
      std::string key, value;
      const std::string problem = coding_.ReadKey(operand, &key);
      if (!problem.empty()) return Fail(call, problem);
      const Status s = db->Get(read_, family(), key, &value);
      if (s.IsNotFound()) {
        Fail(call, "no key '" + operand + "'", families()->AdviceForMissingKey(db));
        code = kNo;
      } else if (!s.ok()) {
        return Fail(call, s);
      } else if (raw_) {
        out.Write(value);
      } else if (coding_.json() || call.operands.size() > 1) {
        out.Write(coding_.ShowRecord("", key, value));
      } else {
        out.Write(coding_.ShowValue(value) + "\n");
      }
    }
    return out.Finish(call, code);
  }

 private:
  Coding coding_;
  bool raw_ = false;
  ReadOptions read_;
};

// Options and steps that the writing verbs share.
class WriteCommand : public StoreCommand {
 protected:
  WriteCommand() : StoreCommand(FamilyScope::kOne) {}

  void AddOwnOptions(OptionTable* options) override {
    coding_.AddOptions(options, false);
    options->Switch("sync", &write_.sync, "return only when the write survives loss of power");
  }

  Coding coding_;
  WriteOptions write_;
};

// Options and steps that the verbs share which write something new under one key.
class CreatingCommand : public WriteCommand {
 protected:
  void AddOwnOptions(OptionTable* options) override {
    WriteCommand::AddOwnOptions(options);
    mutable_open()->AddCreate(options, "make the database, and the column family, if they are not there");
  }

  int ReadWords(const Call& call, const Options* given) override {
    std::string problem = coding_.ReadKey(call.operands[0], &key_);
    if (problem.empty() && call.operands.size() > 1) problem = coding_.ReadValue(call.operands[1], &value_);
    return problem.empty() ? WriteCommand::ReadWords(call, given) : Fail(call, problem);
  }

  std::string key_, value_;
};

class Put final : public CreatingCommand {
 protected:
  int ReadWords(const Call& call, const Options* given) override {
    const int code = CreatingCommand::ReadWords(call, given);
    if (code != kDone || call.operands.size() > 1) return code;
    if (call.in_shell) return Fail(call, "the value is missing", "Here it cannot be standard input.");
    Input in("-");
    if (in.ReadAll(kMostValueBytes, &value_)) return kDone;
    return in.status().ok() ? CodeAfter(kFailed) : Fail(call, in.status());
  }

  int RunOn(DB* db, const Call& call) override {
    const Status s = db->Put(write_, family(), key_, value_);
    return s.ok() ? kDone : Fail(call, s);
  }
};

class Delete final : public WriteCommand {
 protected:
  void AddOwnOptions(OptionTable* options) override {
    WriteCommand::AddOwnOptions(options);
    options->Switch("single", &single_, "the keys were put once each and never overwritten (DB::SingleDelete)");
  }

  int RunOn(DB* db, const Call& call) override {
    for (const std::string& operand : call.operands) {
      std::string key;
      const std::string problem = coding_.ReadKey(operand, &key);
      if (!problem.empty()) return Fail(call, problem);
      const Status s = single_ ? db->SingleDelete(write_, family(), key) : db->Delete(write_, family(), key);
      if (!s.ok()) return Fail(call, s);
    }
    return kDone;
  }

 private:
  bool single_ = false;
};

class Merge final : public CreatingCommand {
 protected:
  int ReadWords(const Call& call, const Options* given) override {
    if (given != nullptr && given->merge_operator == nullptr) {
      return Fail(call, "merge needs the merge operator",
                  "Give --merge_operator=NAME, the one that the database is used with.");
    }
    return CreatingCommand::ReadWords(call, given);
  }

  int RunOn(DB* db, const Call& call) override {
    const Status s = db->Merge(write_, family(), key_, value_);
    return s.ok() ? kDone : Fail(call, s);
  }
};

}  // namespace

std::unique_ptr<Command> NewGet() { return std::make_unique<Get>(); }
std::unique_ptr<Command> NewPut() { return std::make_unique<Put>(); }
std::unique_ptr<Command> NewDelete() { return std::make_unique<Delete>(); }
std::unique_ptr<Command> NewMerge() { return std::make_unique<Merge>(); }

}  // namespace miodb::tool
