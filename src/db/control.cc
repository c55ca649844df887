#include "src/db/control.h"

#include "src/util/check.h"

namespace miodb {

void Control::WakeEverybody() {
  for (CondVar& work : work_) work.SignalAll();
  done_.SignalAll();
}

void Control::SetError(const Status& s) {
  CHECK(!s.ok());
  if (!error_.ok()) return;
  error_ = s;
  failed_.store(true, std::memory_order_relaxed);  // relaxed: the status itself is read under the mutex
  db_.LogStatus("read-only from now on", s);
  WakeEverybody();
}

void Control::StopWaiting() {
  waiting_stopped_ = true;
  done_.SignalAll();
}

void Control::Close() {
  closing_.store(true, std::memory_order_relaxed);  // relaxed: read under the mutex, or as a mere wish
  WakeEverybody();
}

}  // namespace miodb
