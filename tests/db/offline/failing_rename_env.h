// FailingRenameEnv: the first rename to a path fails, before or after it is done, as where a repair is cut off there.
//
// Threads: renames by one.

#ifndef MIODB_TESTS_DB_OFFLINE_FAILING_RENAME_ENV_H_
#define MIODB_TESTS_DB_OFFLINE_FAILING_RENAME_ENV_H_

#include <string>
#include <utility>

#include "miodb/env.h"

namespace miodb::test {

class FailingRenameEnv final : public EnvWrapper {
 public:
  enum class Fails { kBefore, kAfter };

  FailingRenameEnv(std::string to, Fails fails) : EnvWrapper(Env::Default()), to_(std::move(to)), fails_(fails) {}

  Status RenameFile(const std::string& from, const std::string& to) override {
    if (to != to_ || failed_) return target()->RenameFile(from, to);
    failed_ = true;
    if (fails_ == Fails::kAfter) target()->RenameFile(from, to).IgnoreError();
    return Status::IOError(to, "injected");
  }

  bool failed() const { return failed_; }

 private:
  const std::string to_;
  const Fails fails_;
  bool failed_ = false;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_DB_OFFLINE_FAILING_RENAME_ENV_H_
