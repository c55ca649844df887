// checkpoint.

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "benchmarks/common/figures/progress.h"
#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

uint64_t StoredBytes(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_blocks) * 512 : 0;
}

// Shows, from a thread of its own, how much of the copy's pool has been written.
class Watcher {
 public:
  Watcher(DB* db, const std::string& directory) : path_(directory + ".tmp/pool") {
    std::string used;
    if (isatty(STDERR_FILENO) == 0 || !db->GetProperty("miodb.pool-bytes-used", &used)) return;
    all_ = static_cast<double>(std::strtoull(used.c_str(), nullptr, 10)) + 1;
    thread_ = std::thread([this] { Run(); });
  }
  ~Watcher() {
    done_.store(true);
    if (thread_.joinable()) thread_.join();
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  void Run() {
    bench::ProgressLine line(true);
    while (!done_.load()) {
      const double written = static_cast<double>(StoredBytes(path_));
      line.Show("written " + std::to_string(static_cast<uint64_t>(written / 1e6)) + " MB",
                written < all_ ? written / all_ : 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  const std::string path_;
  double all_ = 1;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

class Checkpoint final : public StoreCommand {
 public:
  Checkpoint() : StoreCommand(FamilyScope::kDatabase) {}

  int RunOn(DB* db, const Call& call) override {
    const std::string directory = WithoutLastSlashes(call.operands[0]);
    const Watcher watcher(db, directory);
    const Status s = db->CreateCheckpoint(directory);
    return s.ok() ? CodeAfter(kDone) : Fail(call, s);
  }
};

}  // namespace

std::unique_ptr<Command> NewCheckpoint() { return std::make_unique<Checkpoint>(); }

}  // namespace miodb::tool
