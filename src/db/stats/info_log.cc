#include "src/db/stats/info_log.h"

#include <utility>

#include "src/format/file_names.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

namespace {

// LOG is the file that is written, LOG.old the one before it, LOG.old.2 the one before that. An open begins a new one,
// and so does a line behind which the file is longer than max_log_file_size. Errors of the info log are ignored,
// because the info log must not keep the database from going on.

// Gives each file the name of the one before it; the oldest files go, so that `keep` of them stay.
void ShiftFiles(Env* env, const std::string& name, size_t keep) {
  CHECK_GT(keep, 0u);
  for (size_t n = keep - 1; env->FileExists(InfoLogPath(name, n)); n++) {
    env->RemoveFile(InfoLogPath(name, n)).IgnoreError();  // then it is written over, or stays
  }
  for (size_t n = keep - 1; n > 0; n--) {
    env->RenameFile(InfoLogPath(name, n - 1), InfoLogPath(name, n)).IgnoreError();  // there may be none
  }
}

class OwnInfoLog final : public Logger {
 public:
  OwnInfoLog(const Options& options, const std::string& name, std::unique_ptr<Logger> first)
      : env_(options.env),
        name_(name),
        most_bytes_(options.max_log_file_size),
        keep_(options.keep_log_file_num),
        file_(std::move(first)) {
    CHECK(keep_ > 0);
  }

  void Logv(const char* format, std::va_list ap) override {
    DCHECK(format != nullptr);
    MutexLock lock(&mutex_);
    file_->Logv(format, ap);
    uint64_t bytes = 0;
    if (most_bytes_ == 0 || !env_->GetFileSize(LogPath(name_), &bytes).ok() || bytes < most_bytes_) return;
    ShiftFiles(env_, name_, keep_);
    Logger* next = nullptr;
    if (env_->NewLogger(LogPath(name_), &next).ok()) file_.reset(next);
  }

 private:
  Env* const env_;
  const std::string name_;
  const uint64_t most_bytes_;
  const size_t keep_;
  Mutex mutex_;
  std::unique_ptr<Logger> file_ GUARDED_BY(mutex_);
};

}  // namespace

std::string InfoLogPath(const std::string& name, size_t n) {
  DCHECK_LE(n, 1000u);
  return LogPath(name) + (n == 0 ? "" : n == 1 ? ".old" : ".old." + std::to_string(n));
}

// If the program gives a logger, the database writes to it and never touches its files.
Status OpenInfoLog(const Options& options, const std::string& name, std::unique_ptr<Logger>* own, Logger** log) {
  CHECK(*own == nullptr);  // or the file that an info log writes to would go away under it
  *log = options.info_log;
  if (*log != nullptr) return Status::OK();
  ShiftFiles(options.env, name, options.keep_log_file_num);
  Logger* file = nullptr;
  const Status s = options.env->NewLogger(LogPath(name), &file);
  if (!s.ok()) return s;
  std::unique_ptr<Logger> first(file);
  *own = std::make_unique<OwnInfoLog>(options, name, std::move(first));
  *log = own->get();
  return s;
}

}  // namespace miodb
