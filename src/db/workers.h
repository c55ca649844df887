// Workers: the background threads of a database, and the way to wait for what they do. Each thread does one kind of
// work. Without threads, as tests want it, a call that waits does the work itself.
//
// Threads: Add before Start, Start and Stop by the open and the close; Run and Wait by any.

#ifndef MIODB_SRC_DB_WORKERS_H_
#define MIODB_SRC_DB_WORKERS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "src/db/control.h"
#include "src/db/db_context.h"
#include "src/util/check.h"

namespace miodb {

class Workers {
 public:
  // Does one piece of work; false if there was none to do.
  using Work = std::function<bool()>;

  Workers(const DbContext& db, Control* control) : db_(db), control_(control) { CHECK(control != nullptr); }
  ~Workers() { Stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void Add(BackgroundStep step, Work work) {
    CHECK(work != nullptr && !running());
    CHECK(work_[static_cast<size_t>(step)] == nullptr);
    work_[static_cast<size_t>(step)] = std::move(work);
  }

  // Starts so many threads of this kind. IOError if the system has none to give; those that run are stopped by Stop.
  Status Start(BackgroundStep step, int threads);

  // Lets every thread end its piece of work, and waits for that.
  void Stop() EXCLUDES(db_mutex);

  bool running() const { return !threads_.empty(); }

  // Does one piece of this kind in the calling thread.
  bool Run(BackgroundStep step) EXCLUDES(db_mutex);

  // Waits until some background work is done; without threads does some. False if there was none to do. micros 0: as
  // long as it takes, but looking again now and then.
  bool Wait(uint64_t micros) REQUIRES(db_mutex);

 private:
  void Loop(BackgroundStep step);

  const DbContext& db_;
  Control* const control_;
  std::array<Work, kBackgroundSteps> work_;
  std::vector<std::thread> threads_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_WORKERS_H_
