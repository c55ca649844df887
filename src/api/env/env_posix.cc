// The Env of POSIX systems: names by plain system calls, files (posix_files.h), locks (posix_locks.h), and one
// background thread.

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "miodb/env.h"
#include "src/api/env/posix_files.h"
#include "src/api/env/posix_locks.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/check/no_throw.h"
#include "src/util/check/thread_annotations.h"
#include "src/util/clock/clock.h"
#include "src/util/files/copy_files.h"
#include "src/util/files/descriptors.h"
#include "src/util/files/direct_file.h"
#include "src/util/files/own_files.h"
#include "src/util/threads/mutex.h"

namespace miodb {

namespace {

class PosixEnv final : public Env {
 public:
  // The purpose of the files.
  enum class Use { kPrograms, kOwn, kCopies };

  PosixEnv(FileAccess access, Use use)
      : access_(access),
        links_(use == Use::kPrograms ? Links::kFollowed : Links::kRefused),
        full_(use == Use::kCopies ? FullDisk::kIsNoSpace : FullDisk::kIsIoError) {}

  FileAccess access() const { return access_; }

  // Never destroyed: their threads, and databases closed while the process ends, may still use them.
  static PosixEnv* Instance(FileAccess access, Use use);

  // A child of fork() has locks and work of its own: it keeps none of its parent's, which would outlast the parent with
  // it, and starts a background thread anew. The mutexes are held over the fork, so that what they guard is whole.
  static void BeforeFork() NO_THREAD_SAFETY_ANALYSIS {
    PosixLocks::Instance()->BeforeFork();
    ForEach([](PosixEnv* env) NO_THREAD_SAFETY_ANALYSIS { env->background_mu_.Lock(); });
  }
  static void AfterFork() NO_THREAD_SAFETY_ANALYSIS {
    ForEach([](PosixEnv* env) NO_THREAD_SAFETY_ANALYSIS { env->background_mu_.Unlock(); });
    PosixLocks::Instance()->AfterFork();
  }
  static void AfterForkInChild() NO_THREAD_SAFETY_ANALYSIS {
    PosixLocks::Instance()->DropInChild();
    ForEach([](PosixEnv* env) NO_THREAD_SAFETY_ANALYSIS {
      env->background_work_.clear();
      env->background_started_ = false;
    });
    AfterFork();
  }

  // Files are opened without waiting, and what turns out to be no file is refused: a FIFO would keep the open for ever.
  Status NewSequentialFile(const std::string& fname, SequentialFile** result) override {
    return Wrap<PosixSequentialFile>(fname, OpenFile(fname, O_RDONLY | kDontWait), FileType::kRegular, result);
  }

  Status NewRandomAccessFile(const std::string& fname, RandomAccessFile** result) override {
    return Wrap<PosixRandomAccessFile>(fname, OpenFile(fname, O_RDONLY | kDontWait), FileType::kRegular, result);
  }

  // A device may be written to, for programs whose text goes to a terminal or to /dev/null.
  Status NewWritableFile(const std::string& fname, WritableFile** result) override {
    const int opened = OpenOrCreateFile(fname, O_WRONLY | O_TRUNC | kDontWait, access_, links_);
    return Wrap<PosixWritableFile>(fname, opened, FileType::kRegularOrDevice, result, full_);
  }

  Status NewDirectRandomAccessFile(const std::string& fname, RandomAccessFile** result) override {
    return NoThrow(fname, [&] { return OpenDirectForReading(fname, result); });
  }

  Status NewDirectWritableFile(const std::string& fname, WritableFile** result) override {
    return NoThrow(fname, [&] { return OpenDirectForWriting(fname, access_, links_, result); });
  }

  // Writes go to the end of the file at the moment of the write, wherever others have put that meanwhile.
  Status NewAppendableFile(const std::string& fname, WritableFile** result) override {
    const int opened = OpenOrCreateFile(fname, O_WRONLY | O_APPEND | kDontWait, access_, links_);
    return Wrap<PosixWritableFile>(fname, opened, FileType::kRegularOrDevice, result, full_);
  }

  // A link that leads nowhere is no file.
  bool FileExists(const std::string& fname) override { return ::access(fname.c_str(), F_OK) == 0; }

  // With "." and "..", as the system has them; in no order.
  Status GetChildren(const std::string& dirname, std::vector<std::string>* result) override {
    result->clear();
    DIR* const dir = MakeDescriptor([&] { return ::opendir(dirname.c_str()); });
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

  // The name of a new folder is synced at once, because nobody else knows that it is new. A folder whose name could not
  // be made durable is taken away again.
  Status CreateDir(const std::string& dirname) override {
    if (::mkdir(dirname.c_str(), FolderMode(access_)) != 0) return RoomError(dirname, errno, full_);
    // Gives the folder back the bits that the umask took away: the folder itself, whatever has its name by now. File
    // systems without modes refuse, and need nothing. Without /proc the first call may fail, and where the umask
    // forbids to read it the second.
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

  // Only an empty folder goes.
  Status RemoveDir(const std::string& dirname) override {
    if (::rmdir(dirname.c_str()) != 0) return PosixError(dirname, errno);
    return Status::OK();
  }

  // The size of the file behind the name, through links.
  Status GetFileSize(const std::string& fname, uint64_t* file_size) override {
    struct stat info;
    if (::stat(fname.c_str(), &info) != 0) {
      *file_size = 0;
      return PosixError(fname, errno);
    }
    *file_size = static_cast<uint64_t>(info.st_size);
    return Status::OK();
  }

  // Atomic within one file system. The new name is durable when its directory is synced, which is the caller's to do.
  Status RenameFile(const std::string& src, const std::string& target) override {
    if (std::rename(src.c_str(), target.c_str()) != 0) return RoomError(src, errno, full_);
    return Status::OK();
  }

  // Locks are the process's, whichever of these Envs takes them.
  Status LockFile(const std::string& fname, FileLock** lock) override {
    *lock = nullptr;
    return NoThrow(fname, [&] { return PosixLocks::Instance()->Lock(fname, access_, links_, lock); });
  }
  Status UnlockFile(FileLock* lock) override { return PosixLocks::Instance()->Unlock(lock); }

  // Without memory for the queue the caller does the work itself: the call has no way to fail, and what was scheduled
  // must be run.
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

  // A thread that cannot be started leaves its work to the background thread.
  void StartThread(void (*function)(void* arg), void* arg) override {
    const auto start = [&] {
      std::thread(function, arg).detach();
      return Status::OK();
    };
    if (!NoThrow("thread", start).ok()) Schedule(function, arg);
  }

  // The user's own folder below /tmp, unless TEST_TMPDIR names another one. Anybody could have made that name, so it
  // has to be a folder that belongs to this user.
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

  // Messages are added at the end of a file that may be there already; OpenInfoLog has moved an old one away.
  Status NewLogger(const std::string& fname, Logger** result) override {
    const int opened = OpenOrCreateFile(fname, O_WRONLY | O_APPEND | kDontWait, access_, links_);
    return Wrap<PosixLogger>(fname, opened, FileType::kRegularOrDevice, result);
  }

  uint64_t NowMicros() override { return ::miodb::NowMicros(); }

  void SleepForMicroseconds(int micros) override {
    if (micros > 0) std::this_thread::sleep_for(std::chrono::microseconds(micros));
  }

 private:
  // Visits every Env that there can be, and makes those that nobody has asked for yet.
  template <typename Call>
  static void ForEach(Call use) {
    for (const FileAccess access : {FileAccess::kOwner, FileAccess::kGroupReads, FileAccess::kGroupWrites}) {
      for (const Use kind : {Use::kPrograms, Use::kOwn, Use::kCopies}) use(Instance(access, kind));
    }
  }

  // opened: a descriptor, or -1. more: further arguments of the file.
  template <typename File, typename Interface, typename... More>
  Status Wrap(const std::string& fname, int opened, FileType type, Interface** result, More... more) {
    *result = nullptr;
    return NoThrow(fname, [&] {
      Descriptor fd(-1);
      const int error = errno;
      if (opened < 0 && error == ENOSPC) return RoomError(fname, error, full_);  // a file system without inodes
      Status s = CheckOpened(fname, Descriptor(opened), type, &fd);
      if (s.ok()) *result = new File(fname, std::move(fd), more...);
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
      CHECK(work.first != nullptr);
      work.first(work.second);
    }
  }

  const FileAccess access_;
  const Links links_;
  const FullDisk full_;

  Mutex background_mu_;
  CondVar background_cv_{&background_mu_};
  bool background_started_ GUARDED_BY(background_mu_) = false;
  std::deque<std::pair<void (*)(void*), void*>> background_work_ GUARDED_BY(background_mu_);
};

// There is an Env for each way to make files and each use of them, made at the first call and never destroyed. The
// handlers of fork are registered once for all of them.
PosixEnv* PosixEnv::Instance(FileAccess access, Use use) {
  struct Uses {
    explicit Uses(FileAccess a)
        : programs(new PosixEnv(a, Use::kPrograms)),
          own(new PosixEnv(a, Use::kOwn)),
          copies(new PosixEnv(a, Use::kCopies)) {}
    PosixEnv* const programs;
    PosixEnv* const own;
    PosixEnv* const copies;
  };
  static const Uses owner(FileAccess::kOwner), group_reads(FileAccess::kGroupReads),
      group_writes(FileAccess::kGroupWrites);
  static const int handlers [[maybe_unused]] = ::pthread_atfork(&BeforeFork, &AfterFork, &AfterForkInChild);
  const Uses& uses = access == FileAccess::kGroupWrites  ? group_writes
                     : access == FileAccess::kGroupReads ? group_reads
                                                         : owner;
  return use == Use::kCopies ? uses.copies : use == Use::kOwn ? uses.own : uses.programs;
}

}  // namespace

Env* Env::Default() { return WithAccess(FileAccess::kOwner); }

Env* Env::WithAccess(FileAccess access) { return PosixEnv::Instance(access, PosixEnv::Use::kPrograms); }

// By its type, so that a wrapper around one of these, which may do something else, is the program's.
bool IsSystemEnv(const Env* env) { return dynamic_cast<const PosixEnv*>(env) != nullptr; }

Env* RefusingLinks(Env* env) {
  const auto* const system = dynamic_cast<PosixEnv*>(env);
  return system == nullptr ? env : PosixEnv::Instance(system->access(), PosixEnv::Use::kOwn);
}

Env* WritingCopies(Env* env) {
  DCHECK(env != nullptr);
  const auto* const system = dynamic_cast<PosixEnv*>(env);
  return system == nullptr ? env : PosixEnv::Instance(system->access(), PosixEnv::Use::kCopies);
}

}  // namespace miodb
