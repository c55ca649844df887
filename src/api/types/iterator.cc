#include "miodb/iterator.h"

#include <cstddef>
#include <new>

#include "src/util/check/check.h"

// The cleanups, which all iterators share, and the iterators over nothing.

namespace miodb {

// No function in newest_ means that nothing was registered.
Iterator::Iterator() : newest_{nullptr, nullptr, nullptr, nullptr} {}

// Cleanups run when the derived class is gone already: they let go of what it read from. Newest first, as destructors
// would run.
Iterator::~Iterator() {
  if (newest_.function == nullptr) return;
  newest_.function(newest_.arg1, newest_.arg2);
  for (Cleanup* cleanup = newest_.older; cleanup != nullptr;) {
    DCHECK(cleanup->function != nullptr);
    cleanup->function(cleanup->arg1, cleanup->arg2);
    Cleanup* older = cleanup->older;
    delete cleanup;
    cleanup = older;
  }
}

namespace {

// Made where a call that must return an iterator cannot, so also when there is no memory.
class EmptyIterator : public Iterator {
 public:
  explicit EmptyIterator(const Status& status) : status_(status) {}

  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void Next() override { DCHECK(Valid()); }
  void Prev() override { DCHECK(Valid()); }
  Slice key() const override {
    DCHECK(Valid());
    return Slice();
  }
  Slice value() const override {
    DCHECK(Valid());
    return Slice();
  }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

// The one iterator that everybody gets for whom there is no memory. To delete it does nothing, and it is never
// destroyed: others may still have it.
class NoMemoryIterator final : public EmptyIterator {
 public:
  static NoMemoryIterator* Get() {
    alignas(NoMemoryIterator) static char place[sizeof(NoMemoryIterator)];
    static NoMemoryIterator* const iterator = new (place) NoMemoryIterator;
    return iterator;
  }

  static void operator delete(NoMemoryIterator*, std::destroying_delete_t) {}

 private:
  NoMemoryIterator() : EmptyIterator(Status::IOError("iterator", "out of memory")) {}
  static void* operator new(size_t, void* place) { return place; }
};

template <typename Make>
Iterator* OrNoMemory(Make make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return NoMemoryIterator::Get();
  }
}

}  // namespace

// The new cleanup takes the place in the object, and the one that was there moves to the heap: the first allocation is
// at the second cleanup. The iterator that says that there is no memory is nobody's own, so nothing may be kept in it.
void Iterator::RegisterCleanup(CleanupFunction function, void* arg1, void* arg2) {
  DCHECK(function != nullptr);
  if (this == NoMemoryIterator::Get()) return function(arg1, arg2);
  Cleanup* older = newest_.function == nullptr ? nullptr : new Cleanup(newest_);
  newest_ = {function, arg1, arg2, older};
}

// For iterators that show no database, or were written for LevelDB's interface.
Status Iterator::Refresh() { return Status::NotSupported("this iterator has no Refresh"); }

// The caller deletes what it gets, also if that is the one for whom there was no memory.
Iterator* NewEmptyIterator() {
  return OrNoMemory([] { return new EmptyIterator(Status::OK()); });
}

Iterator* NewErrorIterator(const Status& status) {
  return OrNoMemory([&status] { return new EmptyIterator(status); });
}

}  // namespace miodb
