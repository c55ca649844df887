// A file system that holds nothing but the name of a pool, for databases in memory: no call reaches the operating
// system.

#ifndef MIODB_TESTS_SIMULATION_SIM_ENV_H_
#define MIODB_TESTS_SIMULATION_SIM_ENV_H_

#include <string>

#include "miodb/env.h"

namespace miodb::sim {

inline constexpr char kDatabaseName[] = "simulated";

class SimEnv final : public EnvWrapper {
 public:
  SimEnv() : EnvWrapper(Env::Default()) {}

  // Whether there is a pool: what DB::Open finds.
  void set_pool_exists(bool exists) { pool_exists_ = exists; }

  bool FileExists(const std::string& name) override {
    return name == kDatabaseName || (pool_exists_ && name == std::string(kDatabaseName) + "/pool");
  }
  Status LockFile(const std::string&, FileLock** lock) override {
    *lock = new FileLock;
    return Status::OK();
  }
  Status UnlockFile(FileLock* lock) override {
    delete lock;
    return Status::OK();
  }
  Status RemoveFile(const std::string&) override { return Status::OK(); }
  Status RemoveDir(const std::string&) override { return Status::OK(); }

 private:
  bool pool_exists_ = false;
};

class NullLogger final : public Logger {
 public:
  void Logv(const char*, std::va_list) override {}
};

}  // namespace miodb::sim

#endif  // MIODB_TESTS_SIMULATION_SIM_ENV_H_
