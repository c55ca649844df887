// scan and count: walks over a range of keys.

#include <unistd.h>

#include <memory>
#include <string>

#include "benchmarks/common/interrupt.h"
#include "tools/miodb/content_hash.h"
#include "tools/miodb/files.h"
#include "tools/miodb/store.h"
#include "tools/miodb/verbs.h"

namespace miodb::tool {

namespace {

// A walk should not push out of the cache what others read.
std::unique_ptr<Iterator> Walk(DB* db, const KeyRange& range, bool verify) {
  ReadOptions read;
  read.verify_checksums = verify;
  read.fill_cache = false;
  range.Bind(&read);
  return std::unique_ptr<Iterator>(db->NewIterator(read));
}

class Scan final : public ReadCommand {
 public:
  void AddReadOptions(OptionTable* options) override {
    range_.AddOptions(options);
    coding_.AddOptions(options, true);
    options->Switch("reverse", &reverse_, "from the last key to the first");
    options->Switch("keys_only", &keys_only_, "no values");
    options->Switch("verify_checksums", &verify_, "verify what is read");
  }

  int Read(DB* db, const Call& call) override {
    const std::string problem = range_.Read(coding_);
    if (!problem.empty()) return Fail(call, problem);
    const std::unique_ptr<Iterator> it = Walk(db, range_, verify_);
    Output out;
    uint64_t left = range_.limit();
    for (reverse_ ? it->SeekToLast() : it->SeekToFirst();
         left > 0 && it->Valid() && out.ok() && !bench::Interrupt::StopRequested();
         left--, reverse_ ? it->Prev() : it->Next()) {
      out.Write(keys_only_ ? coding_.ShowKey(it->key()) + "\n" : coding_.ShowRecord(it->key(), it->value()));
    }
    const int code = out.Finish(call, kDone);
    return it->status().ok() ? code : Fail(call, it->status());
  }

 private:
  KeyRange range_;
  Coding coding_;
  bool reverse_ = false;
  bool keys_only_ = false;
  bool verify_ = false;
};

class Count final : public ReadCommand {
 public:
  void AddReadOptions(OptionTable* options) override {
    range_.AddOptions(options);
    coding_.AddOptions(options, false);
    options->Switch("hash", &hash_, "show bytes and a hash of all keys and values, too, to compare two databases");
    options->Switch("verify_checksums", &verify_, "verify what is read");
  }

  int Read(DB* db, const Call& call) override {
    const std::string problem = range_.Read(coding_);
    if (!problem.empty()) return Fail(call, problem);
    const std::unique_ptr<Iterator> it = Walk(db, range_, verify_);
    ContentHash content;
    for (it->SeekToFirst(); content.records() < range_.limit() && it->Valid() && !bench::Interrupt::StopRequested();
         it->Next()) {
      content.Add(it->key(), it->value());
    }
    if (!it->status().ok()) return Fail(call, it->status());
    if (CodeAfter(kDone) != kDone) return CodeAfter(kDone);  // half a count is no answer
    Output out;
    out.Write(hash_ ? content.Describe() : std::to_string(content.records()) + "\n");
    return out.Finish(call, kDone);
  }

 private:
  KeyRange range_;
  Coding coding_;
  bool hash_ = false;
  bool verify_ = false;
};

}  // namespace

std::unique_ptr<Command> NewScan() { return std::make_unique<Scan>(); }
std::unique_ptr<Command> NewCount() { return std::make_unique<Count>(); }

}  // namespace miodb::tool
