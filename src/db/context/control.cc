// The rare calls of Control: an error, the close, and a program that wants nobody to wait any more.

#include "src/db/context/control.h"

#include "src/util/check/check.h"

namespace miodb {

// The first error is the cause, and those after it are its consequences, so it alone is kept and logged. The flag is
// set before anybody is woken: a leader that reads it without the mutex refuses the next write.
void Control::SetError(const Status& s) {
  CHECK(!s.ok());
  DCHECK_EQ(failed(), !error_.ok());
  if (!error_.ok()) return;
  error_ = s;
  failed_.store(true, std::memory_order_relaxed);  // relaxed: the status itself is read under the mutex
  db_.LogStatus("read-only from now on", s);
  db_.events.NoteError(s, true);
  done_.SignalAll();
}

// Callers of Settle and WaitForIdle sleep on the same wake-up as writers; background threads need not know.
void Control::StopWaiting() {
  waiting_stopped_ = true;
  done_.SignalAll();
}

// A thread that is in the middle of a merge reads the flag without the mutex (MergeRequest::stop) and gives up there.
// Output that the merge has not installed is free space after the next open.
void Control::Close() {
  closing_.store(true, std::memory_order_relaxed);  // relaxed: read under the mutex, or as a mere wish
  done_.SignalAll();
}

}  // namespace miodb
