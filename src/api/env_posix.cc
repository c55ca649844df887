// The Env of POSIX systems: plain system calls, one background thread, one table of held locks.

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "miodb/env.h"
#include "src/util/check.h"
#include "src/util/clock.h"
#include "src/util/direct_file.h"
#include "src/util/file_size_limit.h"
#include "src/util/mutation.h"
#include "src/util/mutex.h"
#include "src/util/no_throw.h"
#include "src/util/own_files.h"
#include "src/util/posix_writable.h"
#include "src/util/thread_annotations.h"

namespace miodb {

namespace {

constexpr size_t kWriteBufferBytes = 64 * 1024;

class PosixSequentialFile final : public SequentialFile {
 public:
  PosixSequentialFile(std::string fname, Descriptor fd) : fname_(std::move(fname)), fd_(std::move(fd)) {}

  Status Read(size_t n, Slice* result, char* scratch) override {
    size_t done = 0;
    while (done < n) {  // a pipe or a network file system may give less than there is
      const ssize_t got = Retry([&] { return ::read(fd_.get(), scratch + done, n - done); });
      if (got < 0) {
        *result = Slice();
        return PosixError(fname_, errno);
      }
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    *result = Slice(scratch, done);
    return Status::OK();
  }

  Status Skip(uint64_t n) override {
    if (::lseek(fd_.get(), static_cast<off_t>(n), SEEK_CUR) < 0) return PosixError(fname_, errno);
    return Status::OK();
  }

 private:
  const std::string fname_;
  const Descriptor fd_;
};

class PosixRandomAccessFile final : public RandomAccessFile {
 public:
  PosixRandomAccessFile(std::string fname, Descriptor fd) : fname_(std::move(fname)), fd_(std::move(fd)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    size_t done = 0;
    while (done < n) {
      const auto at = static_cast<off_t>(offset + done);
      const ssize_t got = Retry([&] { return ::pread(fd_.get(), scratch + done, n - done, at); });
      if (got < 0) {
        *result = Slice();
        return PosixError(fname_, errno);
      }
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    *result = Slice(scratch, done);
    return Status::OK();
  }

  RawFile Raw() const override { return {fd_.get(), 1}; }

 private:
  const std::string fname_;
  const Descriptor fd_;
};

class PosixWritableFile final : public PosixWritable {
 public:
  PosixWritableFile(std::string fname, Descriptor fd)
      : PosixWritable(std::move(fname), std::move(fd)), buffer_(new char[kWriteBufferBytes]) {}

  ~PosixWritableFile() override {
    if (fd_.valid()) Close().IgnoreError();
  }

  Status Append(const Slice& data) override {
    Status s = Writable();
    if (!s.ok()) return s;
    const char* p = data.data();
    size_t left = data.size();
    const size_t fits = std::min(left, kWriteBufferBytes - used_);
    std::memcpy(&buffer_[used_], p, fits);
    used_ += fits;
    p += fits;
    left -= fits;
    if (left == 0) return Status::OK();

    // The buffer is full. What would fill it again goes to the file directly.
    s = Flush();
    if (!s.ok()) return s;
    if (left >= kWriteBufferBytes) return WriteAll(p, left);
    std::memcpy(&buffer_[0], p, left);
    used_ = left;
    return Status::OK();
  }

  Status Flush() override {
    Status s = Writable();
    if (!s.ok()) return s;
    const size_t n = std::exchange(used_, 0);
    return WriteAll(&buffer_[0], n);
  }

  Status RangeSync(uint64_t offset, uint64_t size) override {
    Status s = Flush();
    if (!s.ok()) return s;
    const auto from = static_cast<off64_t>(offset), length = static_cast<off64_t>(size);
    if (Retry([&] { return ::sync_file_range(fd_.get(), from, length, SYNC_FILE_RANGE_WRITE); }) == 0) return s;
    // File systems without it lose nothing but time.
    return errno == ENOSYS || errno == EINVAL || errno == ESPIPE ? s : Keep(PosixError(fname_, errno));
  }

 private:
  Status WriteAll(const char* p, size_t n) {
    const NoFileSizeSignal no_signal;
    while (n > 0) {
      const ssize_t written = Retry([&] { return ::write(fd_.get(), p, n); });
      if (written < 0) return Keep(PosixError(fname_, errno));
      p += written;
      n -= static_cast<size_t>(written);
    }
    return Status::OK();
  }

  const std::unique_ptr<char[]> buffer_;
  size_t used_ = 0;  // bytes in the buffer
};

// Every message is one write to the end of the file, so threads and processes may share it without a lock.
class PosixLogger final : public Logger {
 public:
  explicit PosixLogger(Descriptor fd) : fd_(std::move(fd)) {}

  void Logv(const char* format, std::va_list ap) override {
    char prefix[96];
    const int prefix_length = FormatPrefix(prefix, sizeof(prefix));

    std::va_list measured;
    va_copy(measured, ap);
    const int length = std::vsnprintf(nullptr, 0, format, measured);
    va_end(measured);
    if (length < 0) return;  // a format that cannot be printed; there is nobody to tell

    std::string line;
    const auto make_room = [&] {
      line.assign(prefix, static_cast<size_t>(prefix_length));
      line.resize(line.size() + static_cast<size_t>(length) + 1);  // one more for the final zero
      return Status::OK();
    };
    if (!NoThrow("log", make_room).ok()) return;  // a message less
    std::vsnprintf(&line[static_cast<size_t>(prefix_length)], static_cast<size_t>(length) + 1, format, ap);
    line.pop_back();
    if (line.back() != '\n') line.push_back('\n');

    const char* p = line.data();
    size_t left = line.size();
    const NoFileSizeSignal no_signal;
    while (left > 0) {
      const ssize_t written = Retry([&] { return ::write(fd_.get(), p, left); });
      if (written <= 0) return;  // losing a message is better than stopping for it
      p += written;
      left -= static_cast<size_t>(written);
    }
  }

 private:
  // "2024-01-31T13:05:09.123456Z 4711 ": UTC and the thread's number.
  static int FormatPrefix(char* dst, size_t size) {
    struct timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    struct tm utc;
    ::gmtime_r(&now.tv_sec, &utc);
    return std::snprintf(dst, size, "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ %ld ", utc.tm_year + 1900, utc.tm_mon + 1,
                         utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, now.tv_nsec / 1000,
                         static_cast<long>(::syscall(SYS_gettid)));
  }

  const Descriptor fd_;
};

// What makes a file the same file under every name.
using FileId = std::pair<dev_t, ino_t>;

class PosixFileLock final : public FileLock {
 public:
  PosixFileLock(std::string name, FileId file_id, Descriptor descriptor)
      : fname(std::move(name)), id(file_id), fd(std::move(descriptor)) {}

  const std::string fname;
  const FileId id;
  Descriptor fd;  // invalid in a child of the process that has the lock
};

// The files that this process holds locks on, whichever Env has locked them. Never destroyed, like these.
struct LockedFiles {
  Mutex mutex;
  std::map<FileId, PosixFileLock*> files GUARDED_BY(mutex);
};

LockedFiles& Locked() {
  static LockedFiles* const locked = new LockedFiles;
  return *locked;
}

class PosixEnv final : public Env {
 public:
  PosixEnv(FileAccess access, Links links) : access_(access), links_(links) {}

  FileAccess access() const { return access_; }

  // Never destroyed: their threads, and databases closed while the process ends, may still use them.
  static PosixEnv* Instance(FileAccess access, Links links);

  // A child of fork() has locks and work of its own: it keeps none of its parent's, which would outlast the parent with
  // it, and starts a background thread anew. The mutexes are held over the fork, so that what they guard is whole.
  static void BeforeFork() NO_THREAD_SAFETY_ANALYSIS {
    Locked().mutex.Lock();
    ForEach([](PosixEnv* env) NO_THREAD_SAFETY_ANALYSIS { env->background_mu_.Lock(); });
  }
  static void AfterFork() NO_THREAD_SAFETY_ANALYSIS {
    ForEach([](PosixEnv* env) NO_THREAD_SAFETY_ANALYSIS { env->background_mu_.Unlock(); });
    Locked().mutex.Unlock();
  }
  static void AfterForkInChild() NO_THREAD_SAFETY_ANALYSIS {
    // The lock of an open file ends with its last descriptor, so closing the child's leaves the parent's alone.
    for (const auto& [id, lock] : Locked().files) ::close(lock->fd.release());
    Locked().files.clear();
    ForEach([](PosixEnv* env) NO_THREAD_SAFETY_ANALYSIS {
      env->background_work_.clear();
      env->background_started_ = false;
    });
    AfterFork();
  }

  Status NewSequentialFile(const std::string& fname, SequentialFile** result) override {
    return Wrap<PosixSequentialFile>(fname, OpenFile(fname, O_RDONLY | kDontWait), FileType::kRegular, result);
  }

  Status NewRandomAccessFile(const std::string& fname, RandomAccessFile** result) override {
    return Wrap<PosixRandomAccessFile>(fname, OpenFile(fname, O_RDONLY | kDontWait), FileType::kRegular, result);
  }

  Status NewWritableFile(const std::string& fname, WritableFile** result) override {
    const int opened = OpenOrCreateFile(fname, O_WRONLY | O_TRUNC | kDontWait, access_, links_);
    return Wrap<PosixWritableFile>(fname, opened, FileType::kRegularOrDevice, result);
  }

  Status NewDirectRandomAccessFile(const std::string& fname, RandomAccessFile** result) override {
    return NoThrow(fname, [&] { return OpenDirectForReading(fname, result); });
  }

  Status NewDirectWritableFile(const std::string& fname, WritableFile** result) override {
    return NoThrow(fname, [&] { return OpenDirectForWriting(fname, access_, links_, result); });
  }

  Status NewAppendableFile(const std::string& fname, WritableFile** result) override {
    const int opened = OpenOrCreateFile(fname, O_WRONLY | O_APPEND | kDontWait, access_, links_);
    return Wrap<PosixWritableFile>(fname, opened, FileType::kRegularOrDevice, result);
  }

  bool FileExists(const std::string& fname) override { return ::access(fname.c_str(), F_OK) == 0; }

  Status GetChildren(const std::string& dirname, std::vector<std::string>* result) override {
    result->clear();
    DIR* dir = ::opendir(dirname.c_str());
    if (dir == nullptr) return PosixError(dirname, errno);
    Status s = NoThrow(dirname, [&] {
      while (true) {
        errno = 0;  // the only way to tell the end from an error
        const struct dirent* entry = ::readdir(dir);
        if (entry == nullptr) return errno != 0 ? PosixError(dirname, errno) : Status::OK();
        result->emplace_back(entry->d_name);
      }
    });
    ::closedir(dir);
    return s;
  }

  Status RemoveFile(const std::string& fname) override {
    if (::unlink(fname.c_str()) != 0) return PosixError(fname, errno);
    return Status::OK();
  }

  Status CreateDir(const std::string& dirname) override {
    if (::mkdir(dirname.c_str(), FolderMode(access_)) != 0) return PosixError(dirname, errno);
    // What the umask took away, of the folder itself, whatever has its name by now; file systems without modes refuse,
    // and need nothing. Without /proc the first call may fail, and where the umask forbids to read it the second.
    if (::fchmodat(AT_FDCWD, dirname.c_str(), FolderMode(access_), AT_SYMLINK_NOFOLLOW) != 0) {
      const Descriptor made(OpenFile(dirname, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
      if (made.get() < 0 || ::fchmod(made.get(), FolderMode(access_)) != 0) errno = 0;
    }
    if (MIODB_MUTATED(kFolderUnsynced)) return Status::OK();
    // Or else the files in it are lost with its name, synced or not.
    Status s = NoThrow(dirname, [&] {
      const size_t end = dirname.find_last_not_of('/');
      const std::string parent = DirectoryOf(dirname.substr(0, end == std::string::npos ? 0 : end + 1));
      if (::access(parent.c_str(), R_OK) != 0) return Status::OK();  // cannot be synced, only written to
      return SyncDirectory(parent);
    });
    if (!s.ok()) ::rmdir(dirname.c_str());
    return s;
  }

  Status RemoveDir(const std::string& dirname) override {
    if (::rmdir(dirname.c_str()) != 0) return PosixError(dirname, errno);
    return Status::OK();
  }

  Status GetFileSize(const std::string& fname, uint64_t* file_size) override {
    struct stat info;
    if (::stat(fname.c_str(), &info) != 0) {
      *file_size = 0;
      return PosixError(fname, errno);
    }
    *file_size = static_cast<uint64_t>(info.st_size);
    return Status::OK();
  }

  Status RenameFile(const std::string& src, const std::string& target) override {
    if (std::rename(src.c_str(), target.c_str()) != 0) return PosixError(src, errno);
    return Status::OK();
  }

  Status LockFile(const std::string& fname, FileLock** lock) override {
    *lock = nullptr;
    return NoThrow(fname, [&] { return Lock(fname, lock); });
  }
  Status UnlockFile(FileLock* lock) override;

  void Schedule(void (*function)(void* arg), void* arg) override {
    bool queued = false;
    {
      MutexLock lock(&background_mu_);
      // A thread that cannot be started now is started by the next call.
      NoThrow("thread", [&] {
        background_mu_.AssertHeld();  // for the analysis, which does not see that the call is made at once
        background_work_.emplace_back(function, arg);
        queued = true;
        // Detached: like this Env, the thread stays until the process ends.
        if (!background_started_) std::thread([this] { RunBackground(); }).detach();
        background_started_ = true;
        return Status::OK();
      }).IgnoreError();
      background_cv_.Signal();
    }
    if (!queued) function(arg);
  }

  void StartThread(void (*function)(void* arg), void* arg) override {
    const auto start = [&] {
      std::thread(function, arg).detach();
      return Status::OK();
    };
    if (!NoThrow("thread", start).ok()) Schedule(function, arg);
  }

  Status GetTestDirectory(std::string* path) override {
    const char* const chosen = std::getenv("TEST_TMPDIR");
    const bool is_chosen = chosen != nullptr && chosen[0] != '\0';
    *path = is_chosen ? chosen : "/tmp/miodbtest-" + std::to_string(::geteuid());
    CreateDir(*path).IgnoreError();  // it may exist
    struct stat info;
    // Anybody may have made the name in /tmp.
    if (!is_chosen && IsLink(*path)) return LinkRefused(*path);
    if (::stat(path->c_str(), &info) != 0) return PosixError(*path, errno);
    if (!S_ISDIR(info.st_mode)) return PosixError(*path, ENOTDIR);
    if (!is_chosen && info.st_uid != ::geteuid()) return Status::IOError(*path, "is another user's; set TEST_TMPDIR");
    return Status::OK();
  }

  Status NewLogger(const std::string& fname, Logger** result) override {
    *result = nullptr;
    const int opened = OpenOrCreateFile(fname, O_WRONLY | O_APPEND | kDontWait, access_, links_);
    return NoThrow(fname, [&] {
      Descriptor fd(-1);
      Status s = CheckOpened(fname, Descriptor(opened), FileType::kRegularOrDevice, &fd);
      if (s.ok()) *result = new PosixLogger(std::move(fd));
      return s;
    });
  }

  uint64_t NowMicros() override { return ::miodb::NowMicros(); }

  void SleepForMicroseconds(int micros) override {
    if (micros > 0) std::this_thread::sleep_for(std::chrono::microseconds(micros));
  }

 private:
  Status Lock(const std::string& fname, FileLock** lock);

  template <typename Use>
  static void ForEach(Use use) {
    for (const FileAccess access : {FileAccess::kOwner, FileAccess::kGroupReads, FileAccess::kGroupWrites}) {
      for (const Links links : {Links::kFollowed, Links::kRefused}) use(Instance(access, links));
    }
  }

  // opened: a descriptor, or -1.
  template <typename File, typename Interface>
  Status Wrap(const std::string& fname, int opened, FileType type, Interface** result) {
    *result = nullptr;
    return NoThrow(fname, [&] {
      Descriptor fd(-1);
      Status s = CheckOpened(fname, Descriptor(opened), type, &fd);
      if (s.ok()) *result = new File(fname, std::move(fd));
      return s;
    });
  }

  // The background thread: runs what is scheduled, in that order, for ever.
  void RunBackground() {
    while (true) {
      std::pair<void (*)(void*), void*> work;
      {
        MutexLock lock(&background_mu_);
        while (background_work_.empty()) background_cv_.Wait();
        work = background_work_.front();
        background_work_.pop_front();
      }
      work.first(work.second);
    }
  }

  const FileAccess access_;
  const Links links_;

  Mutex background_mu_;
  CondVar background_cv_{&background_mu_};
  bool background_started_ GUARDED_BY(background_mu_) = false;
  std::deque<std::pair<void (*)(void*), void*>> background_work_ GUARDED_BY(background_mu_);
};

// The lock is flock's: it belongs to the open file, so it ends when the process dies however it dies, and closing some
// other descriptor of the same file does not end it, as it would with fcntl. Where flock is emulated with fcntl (NFS)
// it does not keep callers of one process apart; the table does.
Status PosixEnv::Lock(const std::string& fname, FileLock** lock) {
  LockedFiles& locked = Locked();
  MutexLock guard(&locked.mutex);
  while (true) {
    bool created;
    Descriptor fd(-1);
    const int opened = OpenOrCreateFile(fname, O_RDWR | kDontWait, access_, links_, &created);
    // An error that is nobody else's lock leaves no file that was not there.
    const auto fail = [&](int error_number) {
      if (created) ::unlink(fname.c_str());
      return PosixError(fname, error_number);
    };
    Status s = CheckOpened(fname, Descriptor(opened), FileType::kRegular, &fd);
    if (!s.ok()) {
      if (created) ::unlink(fname.c_str());
      return s;
    }
    struct stat mine;
    if (::fstat(fd.get(), &mine) != 0) return fail(errno);
    const FileId id(mine.st_dev, mine.st_ino);

    if (locked.files.count(id) != 0) return Status::IOError("lock " + fname, "already held by process");
    if (Retry([&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); }) != 0) {
      if (errno == EWOULDBLOCK) {
        const std::string reason = std::system_category().message(EAGAIN);
        return Status::IOError("lock " + fname, reason + " (another process has it)");
      }
      return fail(errno);
    }

    // Whoever held the lock before may have removed the file after we opened it. Then we hold a lock that no one else
    // will ever meet, and have to take the one of the file that has the name now.
    struct stat current;
    if (::stat(fname.c_str(), &current) != 0) {
      if (errno == ENOENT) continue;
      return fail(errno);
    }
    if (FileId(current.st_dev, current.st_ino) != id) continue;

    auto held = std::make_unique<PosixFileLock>(fname, id, std::move(fd));
    locked.files.emplace(id, held.get());  // last: what throws for lack of memory leaves no lock behind
    *lock = held.release();
    return Status::OK();
  }
}

Status PosixEnv::UnlockFile(FileLock* lock) {
  LockedFiles& locked = Locked();
  MutexLock guard(&locked.mutex);  // outlives the descriptor, so that no new lock meets a half-closed old one
  std::unique_ptr<PosixFileLock> held(static_cast<PosixFileLock*>(lock));
  if (!held->fd.valid()) return Status::IOError("lock " + held->fname, "held by the process that forked this one");
  CHECK_EQ(locked.files.erase(held->id), 1u);
  // Explicitly, because a child process may have inherited the descriptor and would keep the lock.
  Status s;
  if (Retry([&] { return ::flock(held->fd.get(), LOCK_UN); }) != 0) s = PosixError(held->fname, errno);
  return s;
}

PosixEnv* PosixEnv::Instance(FileAccess access, Links links) {
  struct Pair {
    explicit Pair(FileAccess a)
        : following(new PosixEnv(a, Links::kFollowed)), refusing(new PosixEnv(a, Links::kRefused)) {}
    PosixEnv* const following;
    PosixEnv* const refusing;
  };
  static const Pair owner(FileAccess::kOwner), group_reads(FileAccess::kGroupReads),
      group_writes(FileAccess::kGroupWrites);
  static const int handlers [[maybe_unused]] = ::pthread_atfork(&BeforeFork, &AfterFork, &AfterForkInChild);
  const Pair& pair = access == FileAccess::kGroupWrites  ? group_writes
                     : access == FileAccess::kGroupReads ? group_reads
                                                         : owner;
  return links == Links::kRefused ? pair.refusing : pair.following;
}

}  // namespace

Env* Env::Default() { return WithAccess(FileAccess::kOwner); }

Env* Env::WithAccess(FileAccess access) { return PosixEnv::Instance(access, Links::kFollowed); }

bool IsSystemEnv(const Env* env) { return dynamic_cast<const PosixEnv*>(env) != nullptr; }

Env* RefusingLinks(Env* env) {
  const auto* const system = dynamic_cast<PosixEnv*>(env);
  return system == nullptr ? env : PosixEnv::Instance(system->access(), Links::kRefused);
}

}  // namespace miodb
