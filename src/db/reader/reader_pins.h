// ReaderPins: what the states that a reader holds need of the pool, as one pin in the page of readers (reader_page.h).
//
// Threads: any. A hold ends with the state that has it, in whatever thread drops the last reference.

#ifndef MIODB_SRC_DB_READER_READER_PINS_H_
#define MIODB_SRC_DB_READER_READER_PINS_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "src/nvm/readers/reader_page.h"
#include "src/util/check/check.h"
#include "src/util/threads/fork_guard.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class ReaderPins : public std::enable_shared_from_this<ReaderPins> {
 public:
  // The pin of a state that was read from the manifest when the clock stood at this time, or later.
  class Hold {
   public:
    Hold(std::shared_ptr<ReaderPins> pins, uint64_t time) : pins_(std::move(pins)), time_(time) { pins_->Add(time_); }
    ~Hold() { pins_->Drop(time_); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    // The state is still that of the manifest. By one thread.
    void Raise(uint64_t time) {
      DCHECK_GE(time, time_);
      pins_->Add(time);
      pins_->Drop(time_);
      time_ = time;
    }

   private:
    const std::shared_ptr<ReaderPins> pins_;  // the place in the page is left with the last state
    uint64_t time_;
  };

  // page: null where nobody can write to the database. Then everything stays as it is.
  explicit ReaderPins(std::unique_ptr<ReaderPage> page) : page_(std::move(page)) {}
  ~ReaderPins() {
    if (page_ != nullptr && slot_ >= 0 && !fork_guard_.InChild()) page_->Leave(slot_);
  }
  ReaderPins(const ReaderPins&) = delete;
  ReaderPins& operator=(const ReaderPins&) = delete;

  bool has_page() const { return page_ != nullptr; }

  // Whether owners that come look into this page.
  bool IsAt(const std::string& path) const { return page_ == nullptr || page_->IsAt(path); }

  // Takes a place in the page, and pins everything until the first hold.
  Status Enter() { return page_ != nullptr ? page_->Enter(&slot_) : Status::OK(); }

  // The time before a look at the manifest.
  uint64_t Now() const { return page_ != nullptr ? page_->clock() : ReaderPage::kAll; }

  std::shared_ptr<Hold> NewHold(uint64_t time) { return std::make_shared<Hold>(shared_from_this(), time); }

 private:
  void Add(uint64_t time) EXCLUDES(mutex_) {
    DCHECK_GE(time, ReaderPage::kAll);
    if (fork_guard_.InChild()) return;
    const MutexLock lock(&mutex_);
    times_.insert(time);
    Store();
  }
  void Drop(uint64_t time) EXCLUDES(mutex_) {
    if (fork_guard_.InChild()) return;  // what is pinned is the parent's
    const MutexLock lock(&mutex_);
    const auto held = times_.find(time);
    CHECK(held != times_.end());
    times_.erase(held);
    if (!times_.empty()) Store();  // the last one stays until there is another, or none ever
  }
  void Store() REQUIRES(mutex_) {
    if (page_ != nullptr) page_->Pin(slot_, *times_.begin());
  }

  const std::unique_ptr<ReaderPage> page_;
  const ForkGuard fork_guard_;
  int slot_ = -1;
  Mutex mutex_;
  std::multiset<uint64_t> times_ GUARDED_BY(mutex_);
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READER_READER_PINS_H_
