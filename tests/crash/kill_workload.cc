#include "tests/crash/kill_workload.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "src/util/hash.h"
#include "src/util/random.h"

namespace miodb::test {

namespace {

constexpr uint64_t kKeysOfWriter = 120;

std::string KeyOf(int writer, uint64_t i) {
  // Some keys share more bytes than an index node compares at once.
  return KillPrefix(writer) + (i % 4 == 0 ? std::string(60, 'k') : "") + std::to_string(i);
}

std::string ValueOf(const std::string& key, uint64_t n, Random* random) {
  const uint64_t dice = random->Uniform(300);
  const size_t most = dice == 0 ? 40000 : dice < 10 ? 5000 : dice < 30 ? 0 : 300;
  return key + "#" + std::to_string(n) + "#" + std::string(random->Uniform(most + 1), static_cast<char>('a' + n % 26));
}

}  // namespace

KillShared* MapKillShared(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  void* memory = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, sizeof(KillShared)) == 0) {
    memory = mmap(nullptr, sizeof(KillShared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (memory == MAP_FAILED) {
    std::perror(path.c_str());
    std::exit(2);
  }
  close(fd);
  return static_cast<KillShared*>(memory);
}

std::string KillPrefix(int writer) { return "writer" + std::to_string(writer) + "/"; }

std::vector<KillUpdate> KillOperation(uint64_t seed, int writer, uint64_t n) {
  Random random(Mix64(Mix64(seed, static_cast<uint64_t>(writer)), n));
  const uint64_t count = random.OneIn(4) ? 2 + random.Uniform(15) : 1;
  std::vector<KillUpdate> updates;
  for (uint64_t i = 0; i < count; i++) {
    const std::string key = KeyOf(writer, random.Uniform(kKeysOfWriter));
    const bool deletion = random.OneIn(4);
    updates.push_back({key, deletion ? "" : ValueOf(key, n, &random), deletion});
  }
  return updates;
}

void ApplyKillOperation(uint64_t seed, int writer, uint64_t n, KillState* state) {
  for (const KillUpdate& update : KillOperation(seed, writer, n)) {
    if (update.deletion) {
      state->erase(update.key);
    } else {
      (*state)[update.key] = update.value;
    }
  }
}

}  // namespace miodb::test
