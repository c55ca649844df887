// The file READERS: its bytes, and the locks on them.

#include "src/nvm/readers/reader_page.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <set>
#include <utility>

#include "src/util/threads/mutex.h"

// The clock counts the runs of space that the owner has set free since the file was made. A reader that wants to look
// at the pool takes a slot and pins everything (kAll); then it reads the clock, pins that, and reads the manifest. The
// manifest was current when the clock stood so, or later. So the reader needs no space that came free before.
//
//   owner     the edit without the space is durable | clock + 1 | look at the pins | use the space again
//   reader    pin | read the manifest
//
// Stores and loads of clock and pins are sequentially consistent: of a reader whose pin the owner does not see, the
// reading of the manifest comes after the edit.
//
// The process that has a slot has a lock on its bytes in the file, which the kernel takes away from a process that
// dies. An owner that is held up by a pin asks for the lock: if the owner gets the lock, the slot is nobody's.
//
// A user who may write to the file can keep space from being used again, can remove the pins of other readers, and can
// end all processes that have the file mapped, the owner too, by cutting it off. The owner's database is out of that
// user's reach.
//
// A child of fork() has its parent's open files. The child closes this file at once, or the parent's slots would stay
// locked for as long as the child lives.

namespace miodb {

namespace {

constexpr uint64_t kReadersMagic = 0x315245444145524dULL;  // "MREADER1"
constexpr uint32_t kReadersVersion = 1;
constexpr uint64_t kMostTime = uint64_t{1} << 62;

struct ReadersHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t slots;
  uint64_t clock;
};
static_assert(sizeof(ReadersHeader) == 24 && offsetof(ReadersHeader, version) == 8);
static_assert(offsetof(ReadersHeader, slots) == 12);
static_assert(offsetof(ReadersHeader, clock) == 16);

constexpr uint64_t kFirstSlot = 64;
constexpr uint64_t kFileBytes = 8192;
static_assert(sizeof(ReadersHeader) <= kFirstSlot);
static_assert(kFirstSlot % sizeof(uint64_t) == 0);
static_assert(ReaderPage::kNone < ReaderPage::kAll);
static_assert(kFirstSlot + ReaderPage::kSlots * sizeof(uint64_t) <= kFileBytes);
static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(std::atomic<uint64_t>) == sizeof(uint64_t));

uint64_t OffsetOf(int slot) {
  DCHECK(slot >= 0 && slot < ReaderPage::kSlots);
  return kFirstSlot + static_cast<uint64_t>(slot) * sizeof(uint64_t);
}

// The lock belongs to the open file, so that a process may have several readers, and one of the database it has open.
bool Lock(int fd, short type, uint64_t offset) {  // NOLINT(runtime/int): as fcntl has it
  DCHECK_GE(fd, 0);
  DCHECK_LT(offset, kFileBytes);
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(offset);
  lock.l_len = sizeof(uint64_t);
  return Retry([&] { return ::fcntl(fd, F_OFD_SETLK, &lock); }) == 0;
}

Status NoPage(const std::string& path) {
  DCHECK(!path.empty());
  return Status::Corruption(path, "is no list of readers: remove it while nobody has the database open");
}

Status Missing(const std::string& path) {
  DCHECK(!path.empty());
  return Status::IOError(path, "is missing: whoever writes to the database makes it; open it for writing once");
}

// The files that a child of fork() is to let go of.
class OpenPages {
 public:
  static OpenPages* Instance() {
    static OpenPages* const pages = new OpenPages;  // never destroyed: others may be, at the very end, after it
    return pages;
  }

  void Add(int fd) {
    CHECK_GE(fd, 0);
    const MutexLock lock(&mutex_);
    CHECK(files_.insert(fd).second);
  }
  void Remove(int fd) {
    CHECK_GE(fd, 0);
    const MutexLock lock(&mutex_);
    files_.erase(fd);  // a child has none
  }

 private:
  // Without memory for the handlers children keep the files.
  OpenPages() {
    ::pthread_atfork([] { Instance()->BeforeFork(); }, [] { Instance()->AfterFork(); },
                     [] { Instance()->AfterForkInChild(); });
  }

  void BeforeFork() NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void AfterFork() NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }
  // The numbers stay taken, for objects of the parent that the child has copies of.
  void AfterForkInChild() NO_THREAD_SAFETY_ANALYSIS {
    const int nothing = files_.empty() ? -1 : OpenFile("/dev/null", O_RDONLY);
    for (const int fd : files_) {
      if (nothing < 0 || ::dup3(nothing, fd, O_CLOEXEC) < 0) ::close(fd);
    }
    if (nothing >= 0) ::close(nothing);
    files_.clear();
    AfterFork();
  }

  Mutex mutex_;
  std::set<int> files_ GUARDED_BY(mutex_);
};

}  // namespace

std::atomic<uint64_t>* ReaderPage::ClockWord() const { return Word(offsetof(ReadersHeader, clock)); }
std::atomic<uint64_t>* ReaderPage::PinWord(int slot) const { return Word(OffsetOf(slot)); }

bool ReaderPage::LockSlot(int slot) const { return Lock(file_.get(), F_WRLCK, OffsetOf(slot)); }

void ReaderPage::UnlockSlot(int slot) const {
  const bool unlocked = Lock(file_.get(), F_UNLCK, OffsetOf(slot));
  DCHECK(unlocked);
}

// ---- opening

ReaderPage::ReaderPage(const std::string& path, Descriptor file) : path_(path), file_(std::move(file)) {
  CHECK(file_.valid());
  OpenPages::Instance()->Add(file_.get());
}

Status ReaderPage::Open(const std::string& path, FileAccess access, std::unique_ptr<ReaderPage>* page) {
  CHECK(*page == nullptr);
  std::unique_ptr<ReaderPage> taken;
  Status s = Take(path, Descriptor(OpenOrCreateFile(path, O_RDWR | kDontWait, access, Links::kRefused)), &taken);
  if (s.ok()) s = taken->MakeRoom();
  if (s.ok()) s = taken->Map();
  if (!s.ok()) return s;
  taken->Begin();
  s = taken->Check();
  if (!s.ok()) return s;
  {
    const MutexLock lock(&taken->mutex_);
    taken->time_ = taken->clock();
  }
  *page = std::move(taken);
  return s;
}

Status ReaderPage::OpenExisting(const std::string& path, std::unique_ptr<ReaderPage>* page) {
  CHECK(*page == nullptr);
  std::unique_ptr<ReaderPage> taken;
  Status s = Take(path, Descriptor(OpenFile(path, O_RDWR | O_NOFOLLOW | kDontWait)), &taken);
  if (s.ok()) s = taken->Map();
  if (s.ok()) s = taken->Check();
  if (s.ok()) *page = std::move(taken);
  return s;
}

Status ReaderPage::Take(const std::string& path, Descriptor opened, std::unique_ptr<ReaderPage>* page) {
  DCHECK(*page == nullptr);
  Descriptor file(-1);
  Status s = CheckOpened(path, std::move(opened), FileType::kRegular, &file);
  if (s.IsNotFound()) return Missing(path);
  if (!s.ok()) {
    return Status::IOError(path, "readers in other processes write to it what they need, and this one cannot: " +
                                     s.ToString() + "; Options::file_access says who may");
  }
  page->reset(new ReaderPage(path, std::move(file)));
  return s;
}

// Storage before the mapping, so that a full file system is an error and no signal. A file without its storage has no
// reader, and goes again: readers of one that nobody looks into would believe themselves safe.
Status ReaderPage::MakeRoom() {
  CHECK(file_.valid() && base_ == nullptr);
  struct stat info;
  if (::fstat(file_.get(), &info) != 0) return PosixError(path_, errno);
  if (info.st_size != 0 && info.st_size != static_cast<off_t>(kFileBytes)) return NoPage(path_);
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(kFileBytes));
  if (error == 0) return Status::OK();
  if (info.st_size != 0) return PosixError(path_, error);
  ::unlink(path_.c_str());
  return error == ENOSPC || error == EDQUOT ? Status::NoSpace(path_, "there is no room for it")
                                            : PosixError(path_, error);
}

// Opened once more, as a mapping keeps the file that it is made with open, and its locks, in children too.
Status ReaderPage::Map() {
  CHECK(base_ == nullptr);
  struct stat info;
  if (::fstat(file_.get(), &info) != 0) return PosixError(path_, errno);
  if (info.st_size == 0) return Missing(path_);
  if (info.st_size != static_cast<off_t>(kFileBytes)) return NoPage(path_);
  const Descriptor mapped(OpenFile("/proc/self/fd/" + std::to_string(file_.get()), O_RDWR));
  if (!mapped.valid()) return PosixError(path_, errno);
  void* const base = ::mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, mapped.get(), 0);
  if (base == MAP_FAILED) return PosixError(path_, errno);
  base_ = static_cast<char*>(base);
  DCHECK_EQ(reinterpret_cast<uintptr_t>(base_) % sizeof(uint64_t), 0u);
  return Status::OK();
}

// If a crash of the owner left the header half-made, it is made anew: no reader has used it.
void ReaderPage::Begin() {
  CHECK(base_ != nullptr);
  auto* const header = reinterpret_cast<ReadersHeader*>(base_);
  if (Word(0)->load(std::memory_order_relaxed) != 0) return;  // relaxed: there is one owner
  header->version = kReadersVersion;
  header->slots = kSlots;
  ClockWord()->store(kAll + 1, std::memory_order_relaxed);  // relaxed: before the magic
  DCHECK_GT(clock(), kAll);
  Word(0)->store(kReadersMagic, std::memory_order_release);  // release: with all that comes before
}

Status ReaderPage::Check() const {
  CHECK(base_ != nullptr);
  const uint64_t magic = Word(0)->load(std::memory_order_acquire);  // acquire: with Begin
  if (magic == 0) return Missing(path_);
  const auto* const header = reinterpret_cast<const ReadersHeader*>(base_);
  const bool good = magic == kReadersMagic && header->version == kReadersVersion && header->slots == kSlots &&
                    clock() > kAll && clock() < kMostTime / 2;
  return good ? Status::OK() : NoPage(path_);
}

bool ReaderPage::IsAt(const std::string& path) const {
  DCHECK(file_.valid());
  struct stat mine, there;
  return ::fstat(file_.get(), &mine) == 0 && ::stat(path.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

// Locks end with the open file.
ReaderPage::~ReaderPage() {
  OpenPages::Instance()->Remove(file_.get());
  if (base_ != nullptr) ::munmap(base_, kFileBytes);
}

// The pin of whoever had the slot before is replaced only when the lock is there, so no moment is without a pin. The
// first slots are the ones in use, as a rule: an owner looks at all of them, and at the lock of few.
Status ReaderPage::Enter(int* slot) {
  DCHECK(slot != nullptr);
  for (int i = 0; i < kSlots; i++) {
    if (!LockSlot(i)) continue;
    Pin(i, kAll);
    DCHECK_GE(i, 0);
    *slot = i;
    return Status::OK();
  }
  return Status::IOError(path_, "all " + std::to_string(kSlots) + " places of readers are taken");
}

void ReaderPage::Leave(int slot) {
  CHECK(slot >= 0 && slot < kSlots);
  Unpin(slot);
  UnlockSlot(slot);
}

// A clock that another process has changed goes on by the owner's own count.
uint64_t ReaderPage::Advance() {
  const MutexLock lock(&mutex_);
  CHECK(time_ >= kAll && time_ < kMostTime);
  ClockWord()->store(++time_, std::memory_order_seq_cst);  // seq_cst: see the top
  return time_;
}

// While the owner has the lock nobody takes the slot. A single thread asks at a time: a second thread would get the
// same lock, and could take away the pin of the next process in the slot.
bool ReaderPage::PassedBy(uint64_t time) {
  DCHECK_GT(time, kAll);
  const MutexLock lock(&mutex_);
  for (int i = 0; i < kSlots; i++) {
    const uint64_t pin = PinWord(i)->load(std::memory_order_seq_cst);  // seq_cst: see the top
    if (pin == kNone || pin >= time) continue;
    if (!LockSlot(i)) return false;
    Unpin(i);
    UnlockSlot(i);
  }
  return true;
}

}  // namespace miodb
