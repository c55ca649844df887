// Workers: the background work of a database, and the way to wait for it. The threads that do it serve other databases
// as well (background_resources.h), and each of them does one kind of work. Without threads, as tests want it, a call
// that waits does the work itself.
//
// Threads: Add before Start, Start and Stop by the open and the close; Run and Wait by any.

#ifndef MIODB_SRC_DB_CONTEXT_WORKERS_H_
#define MIODB_SRC_DB_CONTEXT_WORKERS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "src/db/context/background_resources.h"
#include "src/db/context/control.h"
#include "src/db/context/db_context.h"
#include "src/util/check/check.h"

namespace miodb {

class Workers {
 public:
  // Does a piece of work; false if there was nothing to do.
  using Work = std::function<bool()>;

  Workers(DbContext& db, Control* control) : db_(db), control_(control) { CHECK(control != nullptr); }
  ~Workers() { Stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void Add(BackgroundStep step, Work work) {
    CHECK(work != nullptr && !running());
    CHECK(work_[static_cast<size_t>(step)] == nullptr);
    work_[static_cast<size_t>(step)] = std::move(work);
  }

  // From now on so many threads may do this kind of work at once. IOError if the system has none to give.
  Status Start(BackgroundStep step, int threads) EXCLUDES(db_mutex);

  // From now on the memory budget may have the flushes seal memtables. REQUIRES: whoever writes joins the queue; that
  // of a replay does not.
  void ShareMemory();

  // Lets every thread end its piece of this database's work, and waits for that.
  void Stop() EXCLUDES(db_mutex);

  bool running() const { return started_[0] != nullptr; }

  // Does one piece of this kind in the calling thread.
  bool Run(BackgroundStep step) EXCLUDES(db_mutex);

  // Waits until some background work is done; without threads does some. False if there was none to do. micros 0: as
  // long as it takes, but looking again now and then.
  bool Wait(uint64_t micros) REQUIRES(db_mutex);

 private:
  bool RunInThread(BackgroundStep step) EXCLUDES(db_mutex);

  DbContext& db_;
  Control* const control_;
  std::array<Work, kBackgroundSteps> work_;
  std::array<std::unique_ptr<BackgroundThreads::Work>, kBackgroundSteps> started_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_WORKERS_H_
