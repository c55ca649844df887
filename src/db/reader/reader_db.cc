// The calls of a reader, and the thread that looks for it.

#include "src/db/reader/reader_db.h"

#include <algorithm>
#include <utility>

#include "miodb/iterator.h"
#include "src/db/context/options_check.h"
#include "src/db/space/update_stream.h"
#include "src/format/file_names.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

// A look (reader_follower.h) brings what is seen up to date. While there are reads, a thread looks every kLookMicros;
// when there were none for a while, it looks seldom, and at the tables only, so that an idle reader costs next to
// nothing and yet keeps no space from the writer for long. The first read after that looks by itself.

namespace miodb {

namespace {

constexpr uint64_t kLookMicros = 2000;       // from one look to the next while there are reads
constexpr uint64_t kIdleLookMicros = 20000;  // and while there are none
constexpr int kLooksUntilIdle = 25;          // in a row, without a read between them

// Nothing of a reader would be told to a listener, and what the writer's options make is not made here.
Options OfReader(Options options) {
  options.listeners.clear();
  options.create_if_missing = false;
  options.error_if_exists = false;
  return options;
}

}  // namespace

// Handles for the families that there are in what is seen.
class ReaderDb::Families final : public FamilyHandles {
 public:
  using FamilyHandles::FamilyHandles;

  // A handle that the program has stays, and says that its family is gone. Asked under the mutex: of two calls the
  // later one has the newer families.
  void Follow(ReaderFollower* follower) {
    const MutexLock lock(&mutex_);
    const std::map<uint64_t, FamilyEntry> families = follower->families();
    for (const auto& handle : handles_) {
      const auto there = families.find(handle->GetID());
      if (handle->dropped() || (there != families.end() && !there->second.dropped())) continue;
      by_name_.erase(handle->GetName());
      handle->SetDropped();
    }
    for (const auto& [id, family] : families) {
      const auto known = [&, id = id](const auto& handle) { return handle->GetID() == id; };
      if (!family.dropped() && std::none_of(handles_.begin(), handles_.end(), known)) {
        Add(static_cast<uint32_t>(id), family.name);
      }
    }
  }
};

// If memory is missing, the open returns an error, and no half-made reader is left.
Status DB::OpenReader(const Options& options, const std::string& name, DB** dbptr) {
  DCHECK(dbptr != nullptr);
  *dbptr = nullptr;
  std::unique_ptr<ReaderDb> reader;
  Status s = NoThrow(name, [&] { return ReaderDb::Open(options, name, &reader); });
  if (s.ok()) *dbptr = reader.release();
  return s;
}

// A database that is open for writing has nothing newer than what reads see.
Status DB::Refresh() { return Status::OK(); }

// The files are opened by the system's calls, as the pool is, so an environment of the program's own would see nothing
// of them.
Status ReaderDb::Open(const Options& options, const std::string& name, std::unique_ptr<ReaderDb>* reader) {
  CHECK(*reader == nullptr);
  Status s = CheckOptions(options);
  if (!s.ok()) return s;
  if (!IsSystemEnv(options.env)) {
    return Status::NotSupported("OpenReader", "Options::env is not the system's");
  }
  std::unique_ptr<ReaderDb> fresh(new ReaderDb(OfReader(options), name));
  s = fresh->Start();
  if (s.ok()) *reader = std::move(fresh);
  return s;
}

// A reader has the parts of reads, and in place of a tree the follower, which publishes what they look into.
ReaderDb::ReaderDb(const Options& options, const std::string& name)
    : context_(std::make_unique<DbContext>(options, name, DbHooks())),
      sources_(std::make_unique<ReadSources>()),
      read_(std::make_unique<ReadPath>(*context_, sources_.get())),
      follower_(std::make_unique<ReaderFollower>(context_.get(), sources_.get())),
      families_(std::make_unique<Families>(*context_, read_.get())) {
  context_->info_log = options.info_log;
  Serve({context_.get(), sources_.get(), read_.get(), families_.get()});
}

Status ReaderDb::Start() {
  CHECK(!thread_.joinable());
  Status s = follower_->Open();
  if (!s.ok()) return s;
  families_->Follow(follower_.get());
  sources_->before_read = [this] { return BeforeRead(); };
  thread_ = std::thread([this] { Run(); });
  return s;
}

// The thread ends with the look that it is at; the members go in the reverse of their order, the pins last.
ReaderDb::~ReaderDb() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    wake_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
}

Status ReaderDb::Refusal() const {
  return context_->WithMemory(
      [this] { return Status::NotSupported(context_->name, "is open for reading alone (OpenReader)"); });
}

// ---- looking

// Reads get the error of a failed look, until a look succeeds.
// relaxed: hints between a read and the thread; what the look has published is seen by its own order.
Status ReaderDb::BeforeRead() const {
  if (context_->fork_guard.InChild()) [[unlikely]]
    return context_->InChild();
  if (!read_since_.load(std::memory_order_relaxed)) read_since_.store(true, std::memory_order_relaxed);
  if (pace_.load(std::memory_order_relaxed) == Pace::kIdle) [[unlikely]] {
    Status s = follower_->Look(ReaderFollower::Depth::kLog);
    const MutexLock lock(&mutex_);
    pace_.store(Pace::kFollowing, std::memory_order_relaxed);
    wake_.SignalAll();
    return s;
  }
  return follower_->LastLook();
}

Status ReaderDb::GetUpdatesSince(uint64_t sequence, std::unique_ptr<UpdateIterator>* updates) {
  DCHECK(updates != nullptr);
  updates->reset();
  return context_->WithMemory([&] {
    Status s = BeforeRead();
    return s.ok() ? UpdateStream::Open(*context_, follower_.get(), sequence, updates) : s;
  });
}

uint64_t ReaderDb::GetLatestSequenceNumber() const {
  BeforeRead().IgnoreError();  // then it is that of the last look that did not fail
  return follower_->LastVisible();
}

// Handles of families follow here and not in each look: a program gets to know a new family by asking for it, and a
// handle that it has stays valid, whatever became of the family.
Status ReaderDb::Refresh() {
  return context_->WithMemory([this] {
    Status s = follower_->Look(ReaderFollower::Depth::kLog);
    if (s.ok()) families_->Follow(follower_.get());
    return s;
  });
}

// A read costs two loads while the thread follows. Only the thread makes the pace slower, and only a read makes it
// faster. So a read that finds the reader idle looks first, and everything that it has seen before is older.
void ReaderDb::Run() {
  static_assert(kLookMicros < kIdleLookMicros && kLooksUntilIdle > 0);
  int quiet_looks = 0;
  for (;;) {
    const bool idle = pace_.load(std::memory_order_relaxed) == Pace::kIdle;  // relaxed: see BeforeRead
    {
      const MutexLock lock(&mutex_);
      if (!stopping_) wake_.TimedWait(idle ? kIdleLookMicros : kLookMicros);
      if (stopping_) return;
    }
    quiet_looks = read_since_.exchange(false, std::memory_order_relaxed) ? 0 : quiet_looks + 1;
    if (quiet_looks >= kLooksUntilIdle) pace_.store(Pace::kIdle, std::memory_order_relaxed);
    const bool is_idle = pace_.load(std::memory_order_relaxed) == Pace::kIdle;
    follower_->Look(is_idle ? ReaderFollower::Depth::kTables : ReaderFollower::Depth::kLog)
        .IgnoreError();  // reads tell of it
  }
}

// ---- of a family. Those that were made or dropped since are known from here on.

Status ReaderDb::GetColumnFamily(const std::string& name, ColumnFamilyHandle** family) {
  *family = nullptr;
  const Status s = Refresh();
  return s.ok() ? ReadCalls::GetColumnFamily(name, family) : s;
}

Status ReaderDb::ListColumnFamilies(std::vector<std::string>* names) {
  const Status s = Refresh();
  return s.ok() ? ReadCalls::ListColumnFamilies(names) : s;
}

}  // namespace miodb
