// Simulated persistent memory: what the engine sees, and beside it what a power failure would leave.
//
// Memory is lines of 64 bytes. Of every line the medium knows the durable content and the stores since then, as one
// content after each store (a call of Persist::Copy, as far as it touches the line). What may be left of a line is
// the durable content, the content after any of those stores, or, of a store that is torn, any of its 8-byte words;
// independently of all other lines, because caches write back when they like. Modes:
//
//   kAdr   a store is durable after a fence of the thread that flushed it
//   kEadr  a cached store is durable at once, a streamed one (non-temporal) after a fence
//   kFile  a store is durable after a sync of its line
//
// A crash leaves an image: for every open line a choice of what is left of it. LoadImage makes one in another medium,
// by differences: the other one always equals this one's durable content but for lines that it knows of, so an image
// costs what differs, not what there is.
//
// Threads: one. Threads of the engine are told apart by set_thread.

#ifndef MIODB_TESTS_SIMULATION_SIM_MEDIUM_H_
#define MIODB_TESTS_SIMULATION_SIM_MEDIUM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/nvm/persist/persist.h"
#include "src/nvm/persist/persist_hook.h"

namespace miodb::sim {

enum class Mode { kAdr, kEadr, kFile };
const char* ModeName(Mode mode);

inline constexpr uint64_t kLineBytes = 64;
inline constexpr uint64_t kLineWords = 8;
inline constexpr int kMostWriters = 4;  // in flight beside one another
inline constexpr int kMostShares = 3;   // of a job
inline constexpr int kFirstWriterThread = 4;
inline constexpr int kFirstShareThread = kFirstWriterThread + kMostWriters;
inline constexpr int kThreads = kFirstShareThread + kMostShares;

// The choice for an open line: below kTorn, that many of its stores; else the durable content with those words of the
// content after all stores that the low 8 bits name.
using Choice = uint16_t;
inline constexpr Choice kTorn = 0x100;

enum class SiteKind { kCopy, kFlush, kFence };

// A place that calls the door, by a number that is small and stays the same in one process.
class Sites {
 public:
  static int Of(const PersistSite& site, SiteKind kind);
  static SiteKind KindOf(int site);
  static const std::string& Name(int site);  // function and line, e.g. "Manifest::WriteRecord manifest.cc:97"
  static int Count();
};

// Something in the medium that is to go wrong.
struct SiteFault {
  int site = -1;
  SiteKind kind = SiteKind::kFence;
};

class SimMedium final : public PersistHook {
 public:
  SimMedium(Mode mode, uint64_t capacity);
  ~SimMedium() override;
  SimMedium(const SimMedium&) = delete;
  SimMedium& operator=(const SimMedium&) = delete;

  // For DBImpl::Hooks::memory.
  MemoryMedium* memory() { return &memory_; }
  Mode mode() const { return mode_; }

  bool OnCopy(const PersistSite& site, Purpose purpose, char* dst, const void* src, size_t n, bool streamed) override;
  bool OnFlush(const PersistSite& site, char* addr, size_t n) override;
  bool OnFence(const PersistSite& site) override;
  void OnSync(char* addr, size_t n) override;
  void OnShareBegin(Purpose purpose, size_t share) override;
  void OnShareEnd() override { thread_ = job_thread_; }

  // Called whenever a crash is of interest: before a fence takes effect; in eADR also when a cached store was made and
  // is not yet durable.
  void set_crash_point(std::function<void(int site, SiteKind kind)> crash_point) {
    crash_point_ = std::move(crash_point);
  }
  // Called before every call of the door, for counting.
  void set_watch(std::function<void(int site, SiteKind kind, Purpose purpose)> watch) { watch_ = std::move(watch); }

  void set_thread(int thread) { thread_ = thread; }
  void set_fault(SiteFault fault) { fault_ = fault; }

  // Shares that were begun of jobs that store for this purpose.
  uint64_t shares(Purpose purpose) const { return shares_[static_cast<size_t>(purpose)]; }

  // Empty memory of this size, nothing known of any other medium.
  void Reset(uint64_t size);

  // ---- What is uncertain now

  struct OpenLine {
    uint32_t line;
    int site;                   // of the last store
    int contents;               // index in contents_
    uint8_t stores;             // contents after the durable one, at least 1
    uint8_t flushed[kThreads];  // how many of the stores this thread has flushed
    bool left;                  // by a process that was killed
  };
  const std::vector<OpenLine>& open_lines() const { return open_; }
  const char* Content(const OpenLine& line, int store) const;  // store: 1 to stores
  uint64_t durable_hash() const { return durable_hash_; }
  uint64_t durable_size() const { return durable_size_; }

  // The hash of the image with these choices, one for each open line.
  uint64_t ImageHash(const std::vector<Choice>& choices) const;

  // Makes target the image with these choices, everything in it durable.
  void LoadImage(const std::vector<Choice>& choices, SimMedium* target) const;

  // Makes target what a process that was killed leaves: all stores are in its memory, and those open here are open
  // there, flushed by nobody.
  void LoadKilled(SimMedium* target) const;

  // The same for this medium: the process is gone, its stores are still on their way.
  void Kill();

  // Power fails and comes back: this is all that is left.
  void LosePower(const std::vector<Choice>& choices);

  // Compares memory with what went through the door. Empty, or which line differs.
  std::string FindStrayStore() const;

  // A store that no thread has flushed, and so no fence makes durable, but for what a killed process left. Empty, or
  // where. Always empty in the modes that know no flush.
  std::string FindUnflushedStore() const;

 private:
  static constexpr uint32_t kClosed = UINT32_MAX;

  // Stores that are told apart; more count as one with the last.
  static constexpr int kMaxStores = 8;

  struct alignas(kLineBytes) LineContent {
    char bytes[kLineBytes];
  };
  struct Contents {
    LineContent after[kMaxStores];
  };

  uint32_t LineOf(const char* p) const {
    return static_cast<uint32_t>(static_cast<uint64_t>(p - memory_.base) / kLineBytes);
  }
  size_t Open(uint32_t line);
  void Store(uint32_t line, const char* content, int site, bool flushed);
  void MakeDurable(size_t open_index, int stores);
  void Close(size_t open_index);
  void SetDurable(uint32_t line, const LineContent& content, uint64_t hash);
  void Choose(const OpenLine& line, Choice choice, char* content) const;
  void DropOpen();
  void Touch(uint32_t line);
  void Follow(const SimMedium& parent);
  void SetLine(uint32_t line, const LineContent& content, uint64_t hash);
  void Resync(const SimMedium& parent, uint32_t line);

  const Mode mode_;
  MemoryMedium memory_;
  uint64_t durable_size_ = 0;
  std::unique_ptr<LineContent[]> seen_;    // what the engine reads and writes
  std::unique_ptr<LineContent[]> shadow_;  // the same, written by the door alone
  std::unique_ptr<LineContent[]> durable_;
  std::vector<uint64_t> line_hash_;  // of durable_
  uint64_t durable_hash_ = 0;
  std::vector<uint32_t> open_index_;  // by line: index in open_, or kClosed
  std::vector<OpenLine> open_;
  std::vector<Contents> contents_;
  std::vector<int> free_contents_;
  int thread_ = 0;
  int job_thread_ = 0;  // whose share the thread does
  uint64_t shares_[static_cast<size_t>(Purpose::kCount)] = {};
  SiteFault fault_;
  std::function<void(int, SiteKind)> crash_point_;
  std::function<void(int, SiteKind, Purpose)> watch_;

  // Being the image of a parent: lines that may differ from the parent's durable content, and how much of the
  // parent's changes has been followed.
  std::vector<uint32_t> touched_;
  std::vector<uint8_t> is_touched_;
  const SimMedium* parent_ = nullptr;
  uint64_t parent_id_ = 0;
  size_t followed_ = 0;

  // Being a parent: every change of durable_, until the log is cut.
  mutable std::vector<uint32_t> changes_;
  uint64_t id_ = 0;  // changes with Reset and when the log is cut
};

}  // namespace miodb::sim

#endif  // MIODB_TESTS_SIMULATION_SIM_MEDIUM_H_
