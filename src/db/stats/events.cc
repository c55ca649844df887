#include "src/db/stats/events.h"

#include <exception>
#include <system_error>
#include <utility>

namespace miodb {

namespace {

// An event's way: a part of the database notes it under whatever locks it has; the note is a function in a queue; the
// thread of Loop takes the notes out in order and calls each listener, one after the other, with no lock held. So a
// listener may call the database, and a slow one delays no flush and no write.

// A listener that takes too long must not fill the memory: events beyond so many are counted and not kept.
constexpr size_t kMostWaiting = 1024;

// Shorter waits are the day's work.
constexpr uint64_t kToldStallMicros = 1000;

}  // namespace

// A listener has functions for the events that it wants alone, so all others do nothing here.
EventListener::~EventListener() = default;
void EventListener::OnFlush(const FlushInfo&) {}
void EventListener::OnMerge(const MergeInfo&) {}
void EventListener::OnStall(const StallInfo&) {}
void EventListener::OnError(const ErrorInfo&) {}
void EventListener::OnSpace(const SpaceInfo&) {}
void EventListener::OnDropped(uint64_t) {}

// Events that the open noted before are told now.
Status Events::Start(const std::string& database) {
  MutexLock lock(&mutex_);
  CHECK(state_ == State::kQuiet);
  if (listeners_.empty()) return Status::OK();
  try {
    thread_ = std::thread([this] { Loop(); });
  } catch (const std::system_error& error) {
    return Status::IOError(database, std::string("cannot start a thread: ") + error.what());
  }
  state_ = State::kRunning;
  return Status::OK();
}

// A second call finds nothing to do, so the destructor may come behind a call of it.
void Events::Stop() {
  {
    MutexLock lock(&mutex_);
    if (state_ != State::kRunning) return;
    state_ = State::kStopping;
    wake_.SignalAll();
  }
  DCHECK(thread_.joinable() && thread_.get_id() != std::this_thread::get_id());  // a listener deleted the database
  thread_.join();
}

// A full queue, or no memory for an event or its entry, costs the event alone: it is counted, and the listener is told.
template <typename Make>
void Events::Note(const Make& make) {
  if (listeners_.empty()) return;
  MutexLock lock(&mutex_);
  if (state_ == State::kStopping) return;
  DCHECK_LE(queue_.size(), kMostWaiting);
  try {
    if (queue_.size() < kMostWaiting) {
      queue_.push_back(make());
    } else {
      dropped_++;
    }
  } catch (const std::exception&) {
    dropped_++;
  }
  wake_.Signal();
}

// A listener is called without the mutex, so it may take its time and ask the database.
void Events::Loop() {
  for (;;) {
    Tell tell;
    {
      MutexLock lock(&mutex_);
      while (queue_.empty() && dropped_ == 0 && state_ == State::kRunning) wake_.Wait();
      if (!queue_.empty()) {
        tell = std::move(queue_.front());
        queue_.pop_front();
      } else if (dropped_ > 0) {
        tell = [dropped = std::exchange(dropped_, 0)](EventListener* listener) { listener->OnDropped(dropped); };
      } else {
        return;
      }
    }
    for (EventListener* const listener : listeners_) {
      CHECK(listener != nullptr);
      try {
        tell(listener);
      } catch (const std::exception&) {
        // A listener must not throw. The other listeners are told all the same.
      }
    }
  }
}

// The parts' figures are copied here, since nothing of the database may be looked at when the listener is called.
void Events::NoteFlush(const FlushInfo& info) {
  Note([&info] { return [info](EventListener* listener) { listener->OnFlush(info); }; });
}

void Events::NoteMerge(const MergeInfo& info) {
  DCHECK_GE(info.output_level, 0);
  Note([&info] { return [info](EventListener* listener) { listener->OnMerge(info); }; });
}

void Events::NoteStall(uint64_t micros) {
  if (micros < kToldStallMicros) return;
  StallInfo info;
  info.micros = micros;
  Note([&info] { return [info](EventListener* listener) { listener->OnStall(info); }; });
}

void Events::NoteError(const Status& status, bool is_read_only) {
  DCHECK(!status.ok());
  Note([&status, is_read_only] {
    ErrorInfo info;
    info.status = status;
    info.is_read_only = is_read_only;
    return [info](EventListener* listener) { listener->OnError(info); };
  });
}

void Events::NoteSpace(SpaceLevel level, uint64_t free_bytes, uint64_t capacity_bytes) {
  DCHECK_LE(free_bytes, capacity_bytes);
  if (listeners_.empty()) return;
  {
    MutexLock lock(&mutex_);
    // A full database is told of again only once there is enough space: on the way there it may come close to the limit
    // often.
    if (level == space_ || (space_ == SpaceLevel::kFull && level == SpaceLevel::kNearLimit)) return;
    space_ = level;
  }
  SpaceInfo info;
  info.level = level;
  info.free_bytes = free_bytes;
  info.capacity_bytes = capacity_bytes;
  Note([&info] { return [info](EventListener* listener) { listener->OnSpace(info); }; });
}

}  // namespace miodb
