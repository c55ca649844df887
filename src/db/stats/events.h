// Events: tells the program's listeners what happens (miodb/listener.h).
//
// A thread that notes an event puts it into a queue and goes on, whatever locks it holds; a thread of the database's
// own makes the calls. Without listeners nothing is noted, and there is no thread.
//
// Threads: notes by any. Errors: an event for which there is no memory is dropped and counted; a note throws nothing.

#ifndef MIODB_SRC_DB_STATS_EVENTS_H_
#define MIODB_SRC_DB_STATS_EVENTS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "miodb/listener.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

inline MergeInfo MergeInfoOf(bool on_ssd, int output_level, uint64_t micros, uint64_t read, uint64_t written) {
  DCHECK_GE(output_level, 0);
  MergeInfo info;
  info.on_ssd = on_ssd;
  info.output_level = output_level;
  info.micros = micros;
  info.bytes_read = read;
  info.bytes_written = written;
  return info;
}

class Events {
 public:
  explicit Events(const std::vector<EventListener*>& listeners) : listeners_(listeners) {}
  ~Events() { Stop(); }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // database: its name, for the error of a system that has no thread.
  Status Start(const std::string& database);

  // Returns when everything that was noted has been told. Events that are noted later are not told.
  void Stop();

  void NoteFlush(const FlushInfo& info);
  void NoteMerge(const MergeInfo& info);
  void NoteStall(uint64_t micros);
  void NoteError(const Status& status, bool is_read_only);

  // Told when it is another level than the last. From kFull the way is to kEnough alone.
  void NoteSpace(SpaceLevel level, uint64_t free_bytes, uint64_t capacity_bytes);

 private:
  using Tell = std::function<void(EventListener*)>;

  enum class State { kQuiet, kRunning, kStopping };

  // make() returns a function that tells a listener of the event, and owns all that it tells. The event is made inside
  // of the guard: most callers hold a lock or lead other writers, and must not throw.
  template <typename Make>
  void Note(const Make& make);
  void Loop();

  const std::vector<EventListener*> listeners_;
  Mutex mutex_;
  CondVar wake_{&mutex_};
  State state_ GUARDED_BY(mutex_) = State::kQuiet;
  std::deque<Tell> queue_ GUARDED_BY(mutex_);
  uint64_t dropped_ GUARDED_BY(mutex_) = 0;
  SpaceLevel space_ GUARDED_BY(mutex_) = SpaceLevel::kEnough;
  std::thread thread_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_STATS_EVENTS_H_
