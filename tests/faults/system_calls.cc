#include "tests/faults/system_calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <utility>

// The calls that can be made to fail, with the errors that they can have. cmake/MiodbTests.cmake has the same list.
extern "C" {
int __real_open(const char* path, int flags, ...);
int __real_mkdir(const char* path, mode_t mode);
int __real_rmdir(const char* path);
int __real_unlink(const char* path);
int __real_link(const char* from, const char* to);
int __real_rename(const char* from, const char* to);
int __real_renameat2(int from_dir, const char* from, int to_dir, const char* to, unsigned flags);
int __real_stat(const char* path, struct stat* info);
int __real_fstat(int fd, struct stat* info);
int __real_fstatvfs(int fd, struct statvfs* info);
int __real_fstatfs(int fd, struct statfs* info);
int __real_statfs(const char* path, struct statfs* info);
int __real_flock(int fd, int operation);
int __real_ftruncate(int fd, off_t size);
int __real_posix_fallocate(int fd, off_t offset, off_t size);
int __real_fallocate(int fd, int mode, off_t offset, off_t size);
void* __real_mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset);
long __real_mbind(void* at, unsigned long size, int mode, const unsigned long* nodes, unsigned long most,
                  unsigned flags);
int __real_msync(void* at, size_t size, int flags);
int __real_madvise(void* at, size_t size, int advice);
int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_close(int fd);
ssize_t __real_write(int fd, const void* data, size_t size);
ssize_t __real_read(int fd, void* data, size_t size);
ssize_t __real_pread(int fd, void* data, size_t size, off_t offset);
ssize_t __real_pwrite(int fd, const void* data, size_t size, off_t offset);
}

namespace miodb::test {

namespace {

enum Call : int {
  kOpen,
  kMkdir,
  kRmdir,
  kUnlink,
  kLink,
  kRename,
  kRenameat2,
  kStat,
  kFstat,
  kFstatvfs,
  kFstatfs,
  kStatfs,
  kFlock,
  kFtruncate,
  kPosixFallocate,
  kFallocate,
  kMmap,
  kMbind,
  kMsync,
  kMadvise,
  kFsync,
  kFdatasync,
  kClose,
  kWrite,
  kRead,
  kPread,
  kPwrite,
  kCalls
};

constexpr std::array<const char*, kCalls> kNames = {
    "open",     "mkdir",   "rmdir",  "unlink",    "link",      "rename",          "renameat2", "stat",  "fstat",
    "fstatvfs", "fstatfs", "statfs", "flock",     "ftruncate", "posix_fallocate", "fallocate", "mmap",  "mbind",
    "msync",    "madvise", "fsync",  "fdatasync", "close",     "write",           "read",      "pread", "pwrite"};

struct State {
  std::atomic<bool> armed{false};
  CallFault fault;
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> failed{0};
  std::atomic<int> first_failed{-1};
  std::array<std::atomic<uint64_t>, kCalls> calls_of{};
};
State state;

bool CanFailWith(Call call, int error) {
  switch (error) {
    case EINTR:
      // What the manual pages allow.
      return call == kOpen || call == kFlock || call == kFtruncate || call == kPosixFallocate || call == kFallocate ||
             call == kFsync || call == kFdatasync || call == kWrite || call == kRead || call == kPread ||
             call == kPwrite;
    case EMFILE:
      return call == kOpen;
    case ENOSPC:
      return call == kOpen || call == kMkdir || call == kLink || call == kRename || call == kRenameat2 ||
             call == kPosixFallocate || call == kFallocate || call == kWrite || call == kPwrite || call == kFsync ||
             call == kFdatasync || call == kMsync;
    case ENOMEM:
      return call == kMmap || call == kMadvise || call == kOpen;
    default:
      return call != kMbind && call != kMadvise && call != kClose;
  }
}

// Whether a call of this kind changes a file, a name or a lock. A sync changes what is durable.
bool Changes(Call call) {
  switch (call) {
    case kOpen:  // where it makes or empties a file
    case kStat:
    case kFstat:
    case kFstatvfs:
    case kFstatfs:
    case kStatfs:
    case kMmap:
    case kMbind:
    case kMadvise:
    case kClose:
    case kRead:
    case kPread:
      return false;
    default:
      return true;
  }
}

// Runs what the fault has instead of an error before the call that is to fail.
void RunBefore(bool changes) {
  if (!changes || state.calls.fetch_add(1) + 1 != state.fault.at) return;
  state.armed.store(false);
  const int error = errno;
  state.fault.before();
  errno = error;
  state.armed.store(true);
}

// Whether this call is to fail.
bool Fails(Call call, bool changes) {
  if (!state.armed.load()) return false;
  state.calls_of[call].fetch_add(1);
  const CallFault& fault = state.fault;
  if (fault.before) {
    RunBefore(changes);
    return false;
  }
  if (fault.only.empty() ? !CanFailWith(call, fault.error) : fault.only != kNames[call]) return false;
  const uint64_t number = state.calls.fetch_add(1) + 1;
  if (fault.at == 0 || (fault.forever ? number < fault.at : number != fault.at)) return false;
  state.failed.fetch_add(1);
  int none = -1;
  state.first_failed.compare_exchange_strong(none, call);
  errno = fault.error;
  return true;
}

bool Fails(Call call) { return Fails(call, Changes(call)); }

// The mapping that LossyPages looks after.
struct Pages {
  std::mutex mutex;
  bool active = false;
  char* base = nullptr;
  size_t size = 0;
  int fd = -1;
  std::string medium;
};
Pages pages;

// What the kernel copies it copies whole, also space of the pool that is free, which the engine has AddressSanitizer
// refuse, and what other threads store at that moment. volatile: or the loop would be a call of memcpy, which looks.
__attribute__((no_sanitize("address"), no_sanitize("thread"))) void CopyAsKernel(char* to, const char* from,
                                                                                 size_t bytes) {
  volatile char* const target = to;
  const volatile char* const source = from;
  for (size_t i = 0; i < bytes; i++) target[i] = source[i];
}

void Synced(char* at, size_t size, bool ok) {
  const std::lock_guard<std::mutex> lock(pages.mutex);
  if (!pages.active || at < pages.base || at >= pages.base + pages.size) return;
  struct stat info;
  if (__real_fstat(pages.fd, &info) != 0) return;
  const size_t begin = static_cast<size_t>(at - pages.base);
  const size_t end = std::min(begin + size, static_cast<size_t>(info.st_size));
  if (end <= begin) return;
  if (pages.medium.size() < end) pages.medium.resize(end, '\0');
  if (ok) {
    CopyAsKernel(pages.medium.data() + begin, at, end - begin);
  } else {
    CopyAsKernel(at, pages.medium.data() + begin, end - begin);
  }
}

FileWatch* watch = nullptr;
std::function<void(struct statfs*)> file_systems;

// Answers for a file system that is not there.
int Pretended(int result, struct statfs* info) {
  if (result == 0 && file_systems) file_systems(info);
  return result;
}

// Tells the watch of a call that is about to be made.
void Announce() {
  if (watch == nullptr) return;
  const int error = errno;
  watch->BeforeCall();
  errno = error;
}

// Tells the watch of a sync that was made.
int Told(int fd, int result) {
  if (watch != nullptr && result == 0) watch->Synced(fd);
  return result;
}

}  // namespace

void PretendFileSystems(const std::function<void(struct statfs*)>& change) { file_systems = change; }

FileWatch* SetFileWatch(FileWatch* fresh) { return std::exchange(watch, fresh); }

void ArmCallFault(const CallFault& fault) {
  state.fault = fault;
  state.calls.store(0);
  state.failed.store(0);
  state.first_failed.store(-1);
  for (auto& calls : state.calls_of) calls.store(0);
  state.armed.store(true);
}

uint64_t DisarmCallFault() {
  state.armed.store(false);
  return state.failed.load();
}

std::string FailedCall() {
  return state.first_failed.load() < 0 ? "" : kNames[static_cast<size_t>(state.first_failed)];
}

uint64_t CallsOf(const std::string& name) {
  for (size_t call = 0; call < kNames.size(); call++) {
    if (name == kNames[call]) return state.calls_of[call].load();
  }
  return 0;
}

LossyPages::LossyPages() {
  const std::lock_guard<std::mutex> lock(pages.mutex);
  pages.active = true;
  pages.base = nullptr;
}

LossyPages::~LossyPages() {
  const std::lock_guard<std::mutex> lock(pages.mutex);
  pages.active = false;
  if (pages.fd >= 0) __real_close(pages.fd);
  pages.fd = -1;
}

std::string LossyPages::Medium() const {
  const std::lock_guard<std::mutex> lock(pages.mutex);
  std::string medium = pages.medium;
  struct stat info;
  if (pages.fd >= 0 && __real_fstat(pages.fd, &info) == 0) medium.resize(static_cast<size_t>(info.st_size), '\0');
  return medium;
}

}  // namespace miodb::test

using miodb::test::Announce;
using miodb::test::Fails;
using miodb::test::Pretended;
using miodb::test::Told;

extern "C" {

int __wrap_open(const char* path, int flags, ...) {
  if (Fails(miodb::test::kOpen, (flags & (O_CREAT | O_TRUNC)) != 0)) return -1;
  // Not lock files, which are opened to be read and written: the Env holds a lock of the process meanwhile.
  if ((flags & O_CREAT) != 0 && (flags & O_ACCMODE) == O_WRONLY) Announce();
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return __real_open(path, flags, mode);
}

int __wrap_mkdir(const char* path, mode_t mode) {
  Announce();
  return Fails(miodb::test::kMkdir) ? -1 : __real_mkdir(path, mode);
}
int __wrap_rmdir(const char* path) {
  Announce();
  return Fails(miodb::test::kRmdir) ? -1 : __real_rmdir(path);
}
int __wrap_unlink(const char* path) {
  Announce();
  return Fails(miodb::test::kUnlink) ? -1 : __real_unlink(path);
}
int __wrap_link(const char* from, const char* to) {
  Announce();
  return Fails(miodb::test::kLink) ? -1 : __real_link(from, to);
}
int __wrap_rename(const char* from, const char* to) {
  Announce();
  return Fails(miodb::test::kRename) ? -1 : __real_rename(from, to);
}
int __wrap_renameat2(int from_dir, const char* from, int to_dir, const char* to, unsigned flags) {
  Announce();
  return Fails(miodb::test::kRenameat2) ? -1 : __real_renameat2(from_dir, from, to_dir, to, flags);
}
int __wrap_stat(const char* path, struct stat* info) {
  return Fails(miodb::test::kStat) ? -1 : __real_stat(path, info);
}
int __wrap_fstat(int fd, struct stat* info) { return Fails(miodb::test::kFstat) ? -1 : __real_fstat(fd, info); }
int __wrap_fstatvfs(int fd, struct statvfs* info) {
  return Fails(miodb::test::kFstatvfs) ? -1 : __real_fstatvfs(fd, info);
}
int __wrap_fstatfs(int fd, struct statfs* info) {
  return Fails(miodb::test::kFstatfs) ? -1 : Pretended(__real_fstatfs(fd, info), info);
}
int __wrap_statfs(const char* path, struct statfs* info) {
  return Fails(miodb::test::kStatfs) ? -1 : Pretended(__real_statfs(path, info), info);
}
int __wrap_flock(int fd, int operation) { return Fails(miodb::test::kFlock) ? -1 : __real_flock(fd, operation); }
int __wrap_ftruncate(int fd, off_t size) { return Fails(miodb::test::kFtruncate) ? -1 : __real_ftruncate(fd, size); }
int __wrap_posix_fallocate(int fd, off_t offset, off_t size) {
  if (!Fails(miodb::test::kPosixFallocate)) return __real_posix_fallocate(fd, offset, size);
  // A call that fails for lack of space may have made the file longer.
  const int error = errno;
  struct stat info;
  if (error == ENOSPC && __real_fstat(fd, &info) == 0 && info.st_size < offset + size / 2 &&
      __real_ftruncate(fd, offset + size / 2) != 0) {
    return EIO;
  }
  return error;
}
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size) {
  return Fails(miodb::test::kFallocate) ? -1 : __real_fallocate(fd, mode, offset, size);
}
void* __wrap_mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  if (Fails(miodb::test::kMmap)) return MAP_FAILED;
  void* const mapped = __real_mmap(at, size, protection, flags, fd, offset);
  if (miodb::test::watch != nullptr && mapped != MAP_FAILED && fd >= 0 && (flags & MAP_SHARED) != 0) {
    miodb::test::watch->Mapped(fd, static_cast<char*>(mapped), size);
  }
  miodb::test::Pages& pages = miodb::test::pages;
  const std::lock_guard<std::mutex> lock(pages.mutex);
  constexpr size_t kPageOfReaders = 8192;  // which is no pool
  if (pages.active && mapped != MAP_FAILED && fd >= 0 && (flags & MAP_SHARED) != 0 && size > kPageOfReaders) {
    pages.base = static_cast<char*>(mapped);
    pages.size = size;
    if (pages.fd >= 0) __real_close(pages.fd);
    pages.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    struct stat info;
    pages.medium.clear();
    if (__real_fstat(fd, &info) == 0) pages.medium.assign(pages.base, static_cast<size_t>(info.st_size));
  }
  return mapped;
}
long __wrap_mbind(void* at, unsigned long size, int mode, const unsigned long* nodes, unsigned long most,
                  unsigned flags) {
  return Fails(miodb::test::kMbind) ? -1 : __real_mbind(at, size, mode, nodes, most, flags);
}
int __wrap_msync(void* at, size_t size, int flags) {
  Announce();
  const bool fails = Fails(miodb::test::kMsync);
  const int error = errno;
  miodb::test::Synced(static_cast<char*>(at), size, !fails);
  if (!fails && miodb::test::watch != nullptr) miodb::test::watch->PagesSynced(static_cast<char*>(at), size);
  errno = error;
  return fails ? -1 : __real_msync(at, size, flags);
}
int __wrap_madvise(void* at, size_t size, int advice) {
  return Fails(miodb::test::kMadvise) ? -1 : __real_madvise(at, size, advice);
}
int __wrap_fsync(int fd) {
  Announce();
  return Fails(miodb::test::kFsync) ? -1 : Told(fd, __real_fsync(fd));
}
int __wrap_fdatasync(int fd) {
  Announce();
  return Fails(miodb::test::kFdatasync) ? -1 : Told(fd, __real_fdatasync(fd));
}
int __wrap_close(int fd) {
  const bool fails = Fails(miodb::test::kClose);
  const int error = errno;
  const int result = __real_close(fd);  // the descriptor is gone in any case
  errno = error;
  return fails ? -1 : result;
}
ssize_t __wrap_write(int fd, const void* data, size_t size) {
  if (!Fails(miodb::test::kWrite)) return __real_write(fd, data, size);
  if (!miodb::test::state.fault.torn || size < 2) return -1;
  const int error = errno;
  const ssize_t written = __real_write(fd, data, size / 2);
  errno = error;
  return miodb::test::state.fault.forever ? -1 : written;  // once: a short write; forever: a torn one and an error
}
ssize_t __wrap_read(int fd, void* data, size_t size) {
  return Fails(miodb::test::kRead) ? -1 : __real_read(fd, data, size);
}
ssize_t __wrap_pread(int fd, void* data, size_t size, off_t offset) {
  return Fails(miodb::test::kPread) ? -1 : __real_pread(fd, data, size, offset);
}
ssize_t __wrap_pwrite(int fd, const void* data, size_t size, off_t offset) {
  return Fails(miodb::test::kPwrite) ? -1 : __real_pwrite(fd, data, size, offset);
}
}
