#include "miodb/iterator.h"

#include <cassert>

namespace miodb {

Iterator::Iterator() : newest_{nullptr, nullptr, nullptr, nullptr} {}

Iterator::~Iterator() {
  if (newest_.function == nullptr) return;
  newest_.function(newest_.arg1, newest_.arg2);
  for (Cleanup* cleanup = newest_.older; cleanup != nullptr;) {
    cleanup->function(cleanup->arg1, cleanup->arg2);
    Cleanup* older = cleanup->older;
    delete cleanup;
    cleanup = older;
  }
}

void Iterator::RegisterCleanup(CleanupFunction function, void* arg1, void* arg2) {
  assert(function != nullptr);
  Cleanup* older = newest_.function == nullptr ? nullptr : new Cleanup(newest_);
  newest_ = {function, arg1, arg2, older};
}

namespace {

class EmptyIterator final : public Iterator {
 public:
  explicit EmptyIterator(const Status& status) : status_(status) {}

  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void Next() override { assert(false); }
  void Prev() override { assert(false); }
  Slice key() const override {
    assert(false);
    return Slice();
  }
  Slice value() const override {
    assert(false);
    return Slice();
  }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

Iterator* NewEmptyIterator() { return new EmptyIterator(Status::OK()); }

Iterator* NewErrorIterator(const Status& status) { return new EmptyIterator(status); }

}  // namespace miodb
