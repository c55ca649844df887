#include "miodb/iterator.h"

#include <atomic>
#include <cassert>
#include <cstddef>
#include <new>

namespace miodb {

// No function in newest_ means that nothing was registered.
Iterator::Iterator() : newest_{nullptr, nullptr, nullptr, nullptr} {}

// Cleanups run when the derived class is gone already: they let go of what it read from. Newest first, as destructors
// would run.
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

// The new cleanup takes the place in the object, and the one that was there moves to the heap: the first allocation is
// at the second cleanup.
void Iterator::RegisterCleanup(CleanupFunction function, void* arg1, void* arg2) {
  assert(function != nullptr);
  Cleanup* older = newest_.function == nullptr ? nullptr : new Cleanup(newest_);
  newest_ = {function, arg1, arg2, older};
}

namespace {

// Places for iterators that have to say that there is no memory.
class EmergencyPlaces {
 public:
  static constexpr size_t kPlaces = 256;
  static constexpr size_t kBytes = 128;

  // nullptr if all are taken.
  static void* Take() {
    for (size_t i = 0; i < kPlaces; i++) {
      // acquire: pairs with Give; whoever had the place before is done with it.
      if (!taken_[i].exchange(true, std::memory_order_acquire)) return places_[i].bytes;
    }
    return nullptr;
  }

  // False if p is none of the places.
  static bool Give(void* p) {
    for (size_t i = 0; i < kPlaces; i++) {
      if (p != places_[i].bytes) continue;
      taken_[i].store(false, std::memory_order_release);  // release: pairs with Take
      return true;
    }
    return false;
  }

 private:
  struct Place {
    alignas(std::max_align_t) char bytes[kBytes];
  };
  static Place places_[kPlaces];
  static std::atomic<bool> taken_[kPlaces];
};

EmergencyPlaces::Place EmergencyPlaces::places_[kPlaces];
std::atomic<bool> EmergencyPlaces::taken_[kPlaces];

// Made where a call that must return an iterator cannot, so also when there is no memory.
class EmptyIterator final : public Iterator {
 public:
  static void* operator new(size_t size) {
    try {
      return ::operator new(size);
    } catch (const std::bad_alloc&) {
      void* const place = EmergencyPlaces::Take();
      if (place == nullptr) throw;
      return place;
    }
  }
  static void operator delete(void* p) {
    if (!EmergencyPlaces::Give(p)) ::operator delete(p);
  }

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

static_assert(sizeof(EmptyIterator) <= EmergencyPlaces::kBytes);

}  // namespace

Iterator* NewEmptyIterator() { return new EmptyIterator(Status::OK()); }

Iterator* NewErrorIterator(const Status& status) { return new EmptyIterator(status); }

}  // namespace miodb
