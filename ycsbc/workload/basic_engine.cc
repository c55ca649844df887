#include "ycsbc/workload/basic_engine.h"

namespace miodb::ycsb {

namespace {

using bench::Code;
using bench::Entry;
using bench::Outcome;

class BasicCursor final : public bench::Cursor {
 public:
  bool SeekToFirst(Entry* entry) override { return Arrive(entry); }
  bool SeekToLast(Entry* entry) override { return Arrive(entry); }
  bool Seek(std::string_view, Entry* entry) override { return Arrive(entry); }
  bool Next(Entry* entry) override { return Arrive(entry); }
  bool Prev(Entry* entry) override { return Arrive(entry); }
  Outcome Check() override { return {}; }

 private:
  static bool Arrive(Entry* entry) {
    *entry = Entry();
    return true;
  }
};

class BasicSession final : public bench::Session {
 public:
  Code Put(std::string_view, std::string_view) override { return Code::kOk; }
  Code Delete(std::string_view) override { return Code::kOk; }
  Code Get(std::string_view, std::string_view* value) override {
    *value = std::string_view();
    return Code::kOk;
  }
  void BatchPut(std::string_view, std::string_view) override {}
  void BatchDelete(std::string_view) override {}
  Code BatchWrite() override { return Code::kOk; }
  void BatchClear() override {}
  std::unique_ptr<bench::Cursor> NewCursor() override { return std::make_unique<BasicCursor>(); }
};

class BasicEngine final : public bench::Engine {
 public:
  std::string Name() const override { return "basic"; }
  std::string Version() const override { return "1"; }
  Outcome Open() override { return {}; }
  void Close() override {}
  Outcome Destroy() override { return {}; }
  std::unique_ptr<bench::Session> NewSession(const bench::SessionOptions&) override {
    return std::make_unique<BasicSession>();
  }
  Outcome Flush() override { return {}; }
  Outcome CompactAll() override { return {}; }
  Outcome WaitForIdle() override { return {}; }
  bool Describe(Text, std::string*) override { return false; }
};

}  // namespace

std::unique_ptr<bench::Engine> NewBasicEngine() { return std::make_unique<BasicEngine>(); }

}  // namespace miodb::ycsb
