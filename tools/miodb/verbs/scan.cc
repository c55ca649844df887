// scan and count: walks over a range of keys.

#include <memory>
#include <string>

#include "tools/miodb/stores/content_hash.h"
#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

class Scan final : public ReadCommand {
 public:
  Scan() : ReadCommand(FamilyScope::kAll) {}

 protected:
  void AddOwnOptions(OptionTable* options) override {
    range_.AddOptions(options);
    range_.AddLimit(options);
    coding_.AddOptions(options, true);
    options->Switch("reverse", &reverse_, "from the last key to the first");
    options->Switch("keys_only", &keys_only_, "no values");
    options->Switch("verify_checksums", &read_.verify_checksums, "verify what is read");
  }

  int RunOn(DB* db, const Call& call) override {
    std::string problem = range_.Read(coding_);
    if (keys_only_ && coding_.json()) problem = "--keys_only shows plain lines: leave it or --json out";
    if (!problem.empty()) return Fail(call, problem);
    RecordWalk walk;
    Status s = walk.Open(db, range_, read_, families());
    if (!s.ok()) return Fail(call, s);
    Output out;
    std::string family;
    s = walk.Go(
        reverse_ ? RecordWalk::Direction::kBackward : RecordWalk::Direction::kForward,
        [&](const std::string& name) { family = name; },
        [&](const Slice& key, const Slice& value) {
          out.Write(keys_only_ ? coding_.ShowKeyLine(family, key) : coding_.ShowRecord(family, key, value));
          return out.ok();
        });
    const int code = out.Finish(call, kDone);
    return s.ok() ? code : Fail(call, s);
  }

 private:
  KeyRange range_;
  Coding coding_;
  bool reverse_ = false;
  bool keys_only_ = false;
  ReadOptions read_;
};

class Count final : public ReadCommand {
 public:
  Count() : ReadCommand(FamilyScope::kAll) {}

 protected:
  void AddOwnOptions(OptionTable* options) override {
    range_.AddOptions(options);
    range_.AddLimit(options);
    coding_.AddOptions(options, false);
    options->Switch("hash", &hash_, "show bytes and a hash of all keys and values, too, to compare two databases");
    options->Switch("verify_checksums", &read_.verify_checksums, "verify what is read");
  }

  int RunOn(DB* db, const Call& call) override {
    const std::string problem = range_.Read(coding_);
    if (!problem.empty()) return Fail(call, problem);
    RecordWalk walk;
    ContentHash content;
    Status s = walk.Open(db, range_, read_, families());
    if (s.ok()) {
      s = walk.Go(
          RecordWalk::Direction::kForward, [&](const std::string& name) { content.BeginFamily(name); },
          [&](const Slice& key, const Slice& value) {
            content.Add(key, value);
            return true;
          });
    }
    if (!s.ok()) return Fail(call, s);
    if (CodeAfter(kDone) != kDone) return CodeAfter(kDone);  // half a count is no answer
    Output out;
    out.Write(hash_ ? content.Describe() : std::to_string(content.records()) + "\n");
    return out.Finish(call, kDone);
  }

 private:
  KeyRange range_;
  Coding coding_;
  bool hash_ = false;
  ReadOptions read_;
};

}  // namespace

std::unique_ptr<Command> NewScan() { return std::make_unique<Scan>(); }
std::unique_ptr<Command> NewCount() { return std::make_unique<Count>(); }

}  // namespace miodb::tool
