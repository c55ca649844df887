// The pace of a backup: how fast it writes, and who is told how far it is.
//
// Threads: one.

#ifndef MIODB_SRC_DB_COPY_BACKUP_PACE_H_
#define MIODB_SRC_DB_COPY_BACKUP_PACE_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "miodb/backup.h"
#include "src/util/check/check.h"
#include "src/util/files/rate_limiter.h"

namespace miodb {

class BackupPace {
 public:
  // all: bytes that there are to do.
  BackupPace(const BackupOptions& options, uint64_t all)
      : options_(options), all_(all), limiter_(options.bytes_per_second) {}
  BackupPace(const BackupPace&) = delete;
  BackupPace& operator=(const BackupPace&) = delete;

  // So many bytes are done.
  Status Did(uint64_t bytes) {
    done_ += bytes;
    DCHECK_LE(done_, all_);
    return Tell();
  }

  // Waits until so many bytes may be written.
  Status Wait(uint64_t bytes) {
    Status s;
    DCHECK_LE(bytes, all_);
    const uint64_t rate = options_.bytes_per_second;
    if (rate == 0) return s;
    while (bytes > 0 && s.ok()) {
      const uint64_t part = std::min(bytes, std::max<uint64_t>(rate / kTellsASecond, 1));
      limiter_.Request(part);
      bytes -= part;
      s = Tell();
    }
    return s;
  }

  bool cancelled() const { return cancelled_; }

 private:
  static constexpr uint64_t kTellsASecond = 10;

  Status Tell() {
    if (options_.progress == nullptr || options_.progress(done_, all_)) return Status::OK();
    cancelled_ = true;
    return Status::IOError("backup", "was cancelled by its progress function");
  }

  const BackupOptions options_;
  const uint64_t all_;
  RateLimiter limiter_;
  uint64_t done_ = 0;
  bool cancelled_ = false;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_COPY_BACKUP_PACE_H_
