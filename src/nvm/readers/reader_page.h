// ReaderPage: the file READERS, in which readers in other processes say what the owner of a pool may not use again yet.
//
//   u64 magic | u32 version | u32 slots | u64 clock          zeros up to the first slot
//   u64 pin for each slot
//
// Threads: of a slot one; the owner's calls any.
// After a crash: slots without locks. The file need not outlive a loss of power, which no reader does.

#ifndef MIODB_SRC_NVM_READERS_READER_PAGE_H_
#define MIODB_SRC_NVM_READERS_READER_PAGE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "miodb/options.h"
#include "miodb/status.h"
#include "src/util/check/check.h"
#include "src/util/files/posix_file.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class ReaderPage {
 public:
  static constexpr int kSlots = 512;
  static constexpr uint64_t kNone = 0;  // the pin of a slot that is not in use
  static constexpr uint64_t kAll = 1;   // the pin that keeps everything

  // The owner opens the file at path, or makes it. Corruption if something else is there; IOError if it may not be
  // written to; NoSpace, and no file, if there is no room for one.
  static Status Open(const std::string& path, FileAccess access, std::unique_ptr<ReaderPage>* page);

  // A reader takes the one that is there, and changes nothing of it but its slot: an owner does not look for one that
  // others make later.
  static Status OpenExisting(const std::string& path, std::unique_ptr<ReaderPage>* page);

  ~ReaderPage();
  ReaderPage(const ReaderPage&) = delete;
  ReaderPage& operator=(const ReaderPage&) = delete;

  // Whether the file still has its name: an owner that comes looks into the file of that name.
  bool IsAt(const std::string& path) const;

  uint64_t clock() const { return ClockWord()->load(std::memory_order_seq_cst); }  // seq_cst: see reader_page.cc

  // ---- readers

  // Takes a slot, with the pin kAll. IOError if all are taken.
  Status Enter(int* slot);
  void Pin(int slot, uint64_t clock) {
    DCHECK(clock != kNone);
    PinWord(slot)->store(clock, std::memory_order_seq_cst);  // seq_cst: see reader_page.cc
  }
  void Unpin(int slot) { PinWord(slot)->store(kNone, std::memory_order_seq_cst); }  // seq_cst: as above
  void Leave(int slot);

  // ---- the owner

  // The next time. The owner takes the time from memory; the file has it for readers alone.
  uint64_t Advance() EXCLUDES(mutex_);

  // Whether no reader has a pin from before this time.
  bool PassedBy(uint64_t time) EXCLUDES(mutex_);

 private:
  ReaderPage(const std::string& path, Descriptor file);

  static Status Take(const std::string& path, Descriptor opened, std::unique_ptr<ReaderPage>* page);
  Status Map();
  Status MakeRoom();
  void Begin();
  Status Check() const;
  bool LockSlot(int slot) const;
  void UnlockSlot(int slot) const;
  std::atomic<uint64_t>* Word(uint64_t offset) const {
    DCHECK(base_ != nullptr);
    return reinterpret_cast<std::atomic<uint64_t>*>(base_ + offset);
  }
  std::atomic<uint64_t>* ClockWord() const;
  std::atomic<uint64_t>* PinWord(int slot) const;

  const std::string path_;
  const Descriptor file_;
  char* base_ = nullptr;
  // For the owner, whose threads share the open file, and so the locks that they take of slots.
  Mutex mutex_;
  uint64_t time_ GUARDED_BY(mutex_) = kAll;
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_READERS_READER_PAGE_H_
