#include "tests/stress/db_stress/faulty_files.h"

#include <memory>

#include "src/util/bytes/hash.h"

namespace miodb::test {

namespace {

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Files whose calls may fail: table files, and STORE, which says which table files count.
bool MayFail(const std::string& name) { return EndsWith(name, ".sst") || EndsWith(name, "/STORE.tmp"); }

class FaultyFile final : public WritableFile {
 public:
  FaultyFile(FaultyFiles* faults, std::string name, WritableFile* target)
      : faults_(faults), name_(std::move(name)), target_(target) {}

  Status Append(const Slice& data) override {
    Status s = faults_->Draw(name_);
    return s.ok() ? target_->Append(data) : s;
  }
  Status Close() override { return target_->Close(); }
  Status Flush() override { return target_->Flush(); }
  Status Sync() override {
    Status s = faults_->Draw(name_);
    return s.ok() ? target_->Sync() : s;
  }

 private:
  FaultyFiles* const faults_;
  const std::string name_;
  const std::unique_ptr<WritableFile> target_;
};

}  // namespace

Status FaultyFiles::Draw(const std::string& name) {
  if (!armed_.load()) return Status::OK();
  const uint64_t dice = Mix64(seed_, calls_.fetch_add(1, std::memory_order_relaxed));  // relaxed: any order will do
  if (dice % one_in_ != 0) return Status::OK();
  faults_->fetch_add(1, std::memory_order_relaxed);  // relaxed: a figure
  return dice / one_in_ % 2 == 0 ? Status::NoSpace(name, "injected: no space left on device")
                                 : Status::IOError(name, "injected: input/output error");
}

Status FaultyFiles::Open(NewFile new_file, const std::string& name, WritableFile** file) {
  if (!MayFail(name)) return (target()->*new_file)(name, file);
  Status s = Draw(name);
  if (s.ok()) s = (target()->*new_file)(name, file);
  if (s.ok()) *file = new FaultyFile(this, name, *file);
  return s;
}

Status FaultyFiles::NewWritableFile(const std::string& name, WritableFile** file) {
  return Open(&Env::NewWritableFile, name, file);
}

Status FaultyFiles::NewDirectWritableFile(const std::string& name, WritableFile** file) {
  return Open(&Env::NewDirectWritableFile, name, file);
}

}  // namespace miodb::test
