// Makes system calls of the library fail. Programs that use this are linked with --wrap for each call listed in
// system_calls.cc, so that the library under test is the one that everybody gets, without a seam for tests in it.
//
// Calls are counted from Arm on, in all threads. One thread at a time uses the functions here; the calls may come from
// any.

#ifndef MIODB_TESTS_FAULTS_SYSTEM_CALLS_H_
#define MIODB_TESTS_FAULTS_SYSTEM_CALLS_H_

#include <sys/vfs.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace miodb::test {

struct CallFault {
  uint64_t at = 0;       // the number of the call to fail, counted from 1; 0: none
  bool forever = false;  // all calls after it fail as well
  int error = 0;         // errno
  std::string only;      // count only calls of this name; empty: all that can fail with this errno
  bool torn = false;     // a failing write stores half of its bytes first

  // If there is such a thing, no call fails. Counted are the calls that change files, names or locks, and this runs
  // before the one to fail, uncounted.
  std::function<void()> before = nullptr;
};

// From now on the fault is in force.
void ArmCallFault(const CallFault& fault);

// From now on nothing fails. Returns how many calls failed.
uint64_t DisarmCallFault();

// The first call that failed since the last ArmCallFault, "fsync" for example; "" if none did.
std::string FailedCall();

// How many calls of this name there were since the last ArmCallFault, failed or not.
uint64_t CallsOf(const std::string& name);

// From now on file systems are what this makes of the kernel's answers; null: what they are. A second thread must not
// change it meanwhile.
void PretendFileSystems(const std::function<void(struct statfs*)>& change);

// Is told of the calls that decide what a loss of power leaves of files (lossy_files.h).
class FileWatch {
 public:
  virtual ~FileWatch() = default;

  // Before a call that syncs, or that makes, renames or removes a name.
  virtual void BeforeCall() = 0;
  virtual void Synced(int fd) = 0;
  virtual void Mapped(int fd, char* base, size_t size) = 0;
  virtual void PagesSynced(char* at, size_t size) = 0;
};

// From now on this one is told, or nobody if it is null. Returns who was before. While there is a watch, one thread
// makes calls.
FileWatch* SetFileWatch(FileWatch* watch);

// A page cache whose pages are lost: what a successful msync covered is on the medium, everything else is in memory
// only. A failing msync drops what it could not write, as the kernel does: the mapping shows what is on the medium, and
// the next msync has nothing to complain of.
class LossyPages {
 public:
  // Looks after every file that is mapped shared from now on. One object at a time.
  LossyPages();
  ~LossyPages();
  LossyPages(const LossyPages&) = delete;
  LossyPages& operator=(const LossyPages&) = delete;

  // What a power failure would now leave of the file that was mapped last.
  std::string Medium() const;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_FAULTS_SYSTEM_CALLS_H_
