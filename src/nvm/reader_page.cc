// The file READERS: its bytes, and the locks on them.

#include "src/nvm/reader_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace miodb {

namespace {

constexpr uint64_t kReadersMagic = 0x315245444145524dULL;  // "MREADER1"
constexpr uint32_t kReadersVersion = 1;

struct ReadersHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t slots;
  uint64_t clock;
};
static_assert(offsetof(ReadersHeader, clock) == 16);

constexpr uint64_t kFirstSlot = 64;
constexpr uint64_t kFileBytes = 8192;
static_assert(sizeof(ReadersHeader) <= kFirstSlot);
static_assert(kFirstSlot + ReaderPage::kSlots * sizeof(uint64_t) <= kFileBytes);
static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(std::atomic<uint64_t>) == sizeof(uint64_t));

uint64_t OffsetOf(int slot) {
  DCHECK(slot >= 0 && slot < ReaderPage::kSlots);
  return kFirstSlot + static_cast<uint64_t>(slot) * sizeof(uint64_t);
}

// The lock belongs to the open file, so that a process may have several readers, and one of the database it has open.
bool Lock(int fd, short type, uint64_t offset) {  // NOLINT(runtime/int): as fcntl has it
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(offset);
  lock.l_len = sizeof(uint64_t);
  return Retry([&] { return ::fcntl(fd, F_OFD_SETLK, &lock); }) == 0;
}

}  // namespace

std::atomic<uint64_t>* ReaderPage::ClockWord() const { return Word(offsetof(ReadersHeader, clock)); }
std::atomic<uint64_t>* ReaderPage::PinWord(int slot) const { return Word(OffsetOf(slot)); }

bool ReaderPage::LockSlot(int slot) const { return Lock(file_.get(), F_WRLCK, OffsetOf(slot)); }

void ReaderPage::UnlockSlot(int slot) const {
  const bool unlocked = Lock(file_.get(), F_UNLCK, OffsetOf(slot));
  DCHECK(unlocked);
}

Status ReaderPage::Open(const std::string& path, FileAccess access, std::unique_ptr<ReaderPage>* page) {
  return Take(path, Descriptor(OpenOrCreateFile(path, O_RDWR | kDontWait, access, Links::kRefused)), page);
}

Status ReaderPage::OpenExisting(const std::string& path, std::unique_ptr<ReaderPage>* page) {
  return Take(path, Descriptor(OpenFile(path, O_RDWR | O_NOFOLLOW | kDontWait)), page);
}

Status ReaderPage::Take(const std::string& path, Descriptor opened, std::unique_ptr<ReaderPage>* page) {
  DCHECK(*page == nullptr);
  Descriptor file(-1);
  Status s = CheckOpened(path, std::move(opened), FileType::kRegular, &file);
  if (s.IsNotFound()) {
    return Status::IOError(path, "is missing: whoever writes to the database makes it; open it for writing once");
  }
  if (!s.ok()) {
    return Status::IOError(path, "readers in other processes write to it what they need, and this one cannot: " +
                                     s.ToString() + "; Options::file_access says who may");
  }
  std::unique_ptr<ReaderPage> taken(new ReaderPage(std::move(file)));
  s = taken->Map(path);
  if (s.ok()) *page = std::move(taken);
  return s;
}

// Storage before the mapping, so that a full file system is an error and no signal.
Status ReaderPage::Map(const std::string& path) {
  struct stat info;
  if (::fstat(file_.get(), &info) != 0) return PosixError(path, errno);
  if (info.st_size != 0 && info.st_size != static_cast<off_t>(kFileBytes)) {
    return Status::Corruption(path, "is no list of readers: remove it while nobody has the database open");
  }
  const int error = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(kFileBytes));
  if (error != 0) return PosixError(path, error);
  void* const base = ::mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (base == MAP_FAILED) return PosixError(path, errno);
  base_ = static_cast<char*>(base);
  auto* const header = reinterpret_cast<ReadersHeader*>(base_);
  uint64_t clock = 0;
  ClockWord()->compare_exchange_strong(clock, kAll + 1, std::memory_order_seq_cst);  // seq_cst: as any clock
  if (header->magic == 0) {
    header->version = kReadersVersion;
    header->slots = kSlots;
    Word(0)->store(kReadersMagic, std::memory_order_release);  // release: with the version
  }
  if (header->magic != kReadersMagic || header->version != kReadersVersion || header->slots != kSlots) {
    return Status::Corruption(path, "is no list of readers: remove it while nobody has the database open");
  }
  return Status::OK();
}

// Locks end with the open file.
ReaderPage::~ReaderPage() {
  if (base_ != nullptr) ::munmap(base_, kFileBytes);
}

Status ReaderPage::Enter(int* slot) {
  DCHECK(slot != nullptr);
  for (int i = 0; i < kSlots; i++) {
    if (!LockSlot(i)) continue;
    Pin(i, kAll);
    *slot = i;
    return Status::OK();
  }
  return Status::IOError("READERS", "all " + std::to_string(kSlots) + " places of readers are taken");
}

void ReaderPage::Leave(int slot) {
  Unpin(slot);
  UnlockSlot(slot);
}

// While the owner has the lock nobody takes the slot.
bool ReaderPage::PassedBy(uint64_t time) {
  for (int i = 0; i < kSlots; i++) {
    const uint64_t pin = PinWord(i)->load(std::memory_order_seq_cst);  // seq_cst: see the header
    if (pin == kNone || pin >= time) continue;
    if (!LockSlot(i)) return false;
    Unpin(i);
    UnlockSlot(i);
  }
  return true;
}

}  // namespace miodb
