// An Env that now and then fails to write a file of the SSD tier: for want of space, or with an error of the disk.
//
// Threads: any number.

#ifndef MIODB_TESTS_STRESS_DB_STRESS_FAULTY_FILES_H_
#define MIODB_TESTS_STRESS_DB_STRESS_FAULTY_FILES_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "miodb/env.h"

namespace miodb::test {

class FaultyFiles final : public EnvWrapper {
 public:
  // Once armed, one call of one_in fails and is counted in *faults.
  FaultyFiles(uint64_t seed, uint64_t one_in, std::atomic<uint64_t>* faults)
      : EnvWrapper(Env::Default()), seed_(seed), one_in_(one_in), faults_(faults) {}

  void Arm() { armed_.store(true); }

  Status NewWritableFile(const std::string& name, WritableFile** file) override;
  Status NewDirectWritableFile(const std::string& name, WritableFile** file) override;

  // Whether the next call fails, and how.
  Status Draw(const std::string& name);

 private:
  using NewFile = Status (Env::*)(const std::string&, WritableFile**);

  Status Open(NewFile new_file, const std::string& name, WritableFile** file);

  const uint64_t seed_;
  const uint64_t one_in_;
  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t>* const faults_;
  std::atomic<bool> armed_{false};
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_STRESS_DB_STRESS_FAULTY_FILES_H_
