// The iterator over a database: what a walk over visible versions shows, with the guards of the API around it.

#include "src/db/read/db_iter.h"

#include <memory>
#include <new>

#include "src/db/read/visible_walk.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"
#include "src/util/threads/fork_guard.h"

namespace miodb {

namespace {

class DBIterator final : public Iterator {
 public:
  DBIterator(DBIteratorContext context, ReadPoint point, const ReadOptions& options)
      : trace_(context.tracer, context.family, options.iterate_lower_bound, options.iterate_upper_bound),
        context_(std::move(context)),
        walk_(context_, options, std::move(point)) {}

  // In a child of fork() only what the user wants to be called is; sources may wait for threads of the parent.
  static void operator delete(DBIterator* iterator, std::destroying_delete_t) {
    if (iterator->fork_guard_.InChild()) {
      iterator->Iterator::~Iterator();
      return;
    }
    iterator->~DBIterator();
    ::operator delete(static_cast<void*>(iterator));
  }
  // Operators new and delete, for a constructor that throws.
  static void* operator new(size_t size) { return ::operator new(size); }
  static void operator delete(void* space) { ::operator delete(space); }

  bool Valid() const override { return walk_.Valid(); }

  void SeekToFirst() override {
    const OpTimes::Timed<TimedOp::kScan> timed(context_.times);
    Move([this] {
      trace_.OnSeek(kTraceSeekToFirst, Slice());
      walk_.SeekToFirst();
    });
  }
  void SeekToLast() override {
    const OpTimes::Timed<TimedOp::kScan> timed(context_.times);
    Move([this] {
      trace_.OnSeek(kTraceSeekToLast, Slice());
      walk_.SeekToLast();
    });
  }
  void Seek(const Slice& target) override {
    const OpTimes::Timed<TimedOp::kScan> timed(context_.times);
    Move([&] {
      trace_.OnSeek(kTraceSeek, target);
      walk_.Seek(target);
    });
  }
  // A step from nowhere is a mistake of the program and stops it, in every build: it has no answer.
  void Next() override {
    CHECK(walk_.Valid());
    Move([this] {
      trace_.OnNext();
      walk_.Next();
    });
  }
  void Prev() override {
    CHECK(walk_.Valid());
    Move([this] {
      trace_.OnPrev();
      walk_.Prev();
    });
  }

  // Views, valid until the next move.
  Slice key() const override { return walk_.current().key; }
  Slice value() const override { return walk_.current().value; }

  Status status() const override { return walk_.status(); }

  Status Refresh() override {
    if (context_.newest == nullptr) return Iterator::Refresh();
    if (fork_guard_.InChild()) return Status::IOError("iterator", "its database was opened before fork()");
    return NoThrow("iterator", [this] {
      ReadPoint point;
      Status s = context_.newest(&point);
      if (!s.ok()) return s;
      walk_.Reset(std::move(point));
      return s;
    });
  }

 private:
  // Nothing is thrown across the API.
  template <typename Call>
  void Move(Call call) {
    if (fork_guard_.InChild()) [[unlikely]] {
      Fail("its database was opened before fork(): only the process that opened a database can use it");
      return;
    }
    try {
      call();
    } catch (const std::exception&) {
      Fail("out of memory");
    }
  }

  void Fail(const char* reason) { walk_.Fail(Status::IOError("iterator", reason)); }

  const ForkGuard fork_guard_;
  SeekTrace trace_;
  const DBIteratorContext context_;
  VisibleWalk walk_;
};

}  // namespace

Iterator* NewDBIterator(DBIteratorContext context, ReadPoint point, const ReadOptions& options) {
  return new DBIterator(std::move(context), std::move(point), options);
}

}  // namespace miodb
