// How free space goes back to the file system: at a close, at rest, and after some time without use.

#include <algorithm>
#include <optional>
#include <utility>

#include "src/db/space/space.h"
#include "src/util/check/check.h"
#include "src/util/clock/clock.h"

namespace miodb {

// Nobody writes, and nothing is left to flush, to merge or to collect; or somebody wants free space back meanwhile.
bool Space::Rests() const {
  const MarkState marks = scheduler_->marks().state();
  if (!tree_->immutables.empty() || tree_->SealIsAsked() || scheduler_->flushing() || scheduler_->running() > 0 ||
      marks == MarkState::kWanted || marks == MarkState::kSearching) {
    return false;
  }
  return give_back_asked() || scheduler_->quiet().RestsAt(LastSequence());
}

// Where the database rests, free space was of no use for long enough. Chunks that are ready go once in a rest, so that
// those which are made in their place stay.
bool Space::GiveBackPiece() {
  db_.blocks->GiveBackIdle(NowMicros(), db_.hooks.give_back_micros);
  uint64_t reserve;
  bool rests;
  std::optional<uint64_t> asked_at;
  {
    DbLock lock(control_);
    rests = Rests();
    asked_at = give_back_at_;
    if (rests && spares_for_ == SparesFor::kWriters && !scheduler_->full()) {
      const uint64_t next = RoundToUnit(NextChunkBytes());
      DropSpares(next / 2, next).IgnoreError();  // the next rest tries again
      spares_for_ = SparesFor::kRest;
    }
    reserve = Reserve(Demand::kAny);
  }
  CHECK(db_.hooks.background == BackgroundMode::kThreads);
  const uint64_t held_before = db_.pool->held()->bytes();
  bool given = false;
  const auto give_back = [&] {
    given = db_.pool->GiveBackIdle(NowMicros(), rests ? 0 : db_.hooks.give_back_micros, reserve,
                                   rests ? KeptFree::kAtRest : KeptFree::kForWriters);
    return Status::OK();
  };
  db_.WithMemory(give_back).IgnoreError();  // tried again later
  DbLock lock(control_);
  if (db_.pool->held()->bytes() < held_before &&
      (scheduler_->full() || scheduler_->anything_blocked() || scheduler_->flush_blocked())) {
    CameFree();
  }
  // A request that came meanwhile has a piece of its own.
  if (!given && asked_at.has_value() && give_back_at_ == asked_at) {
    give_back_at_.reset();
    control_->SignalDone();
  }
  return given;
}

// The database is closed: what it alone kept of the pool's storage goes back. The next open would find the chunks that
// are ready empty.
Status Space::GiveBack() {
  DbLock lock(control_);
  CHECK(!preparing_);  // the threads have stopped
  Status s = control_->error();
  if (s.ok()) s = DropSpares(1, 0);
  if (s.ok()) db_.pool->GiveBackAll(Reserve(Demand::kAny));
  return s;
}

// Lets go of the chunks that are ready, by an edit, since the manifest names them: of all but one that has so many
// bytes. Writers do not find those that go, which stay until the edit is durable.
Status Space::DropSpares(uint64_t least_bytes, uint64_t most_bytes) {
  DCHECK(!preparing_);  // by the thread that prepares, or after its end
  VersionEdit edit;
  Status s = db_.WithMemory([&] {
    control_->AssertHeld();  // for the analysis, which does not see that the calls are made at once
    const auto fits = [&](const auto& chunk) {
      return chunk->capacity >= least_bytes && chunk->capacity <= most_bytes;
    };
    const auto kept = std::find_if(spares_.begin(), spares_.end(), fits);
    if (kept != spares_.end()) std::swap(*kept, spares_.front());
    const size_t left = kept != spares_.end() ? 1 : 0;
    while (spares_.size() > left) {
      dropping_.push_back(std::move(spares_.back()));
      spares_.pop_back();
    }
    for (const auto& chunk : dropping_) {
      if (chunk->in_pool()) edit.removed_chunks.push_back(chunk->id);
    }
    return Status::OK();
  });
  if (s.ok() && !edit.removed_chunks.empty()) {
    s = db_.WithMemory([&] {
      control_->AssertHeld();
      return tree_->Apply(std::move(edit), {});
    });
    if (!s.ok() && !s.IsNoSpace()) control_->SetError(s);
  }
  if (s.ok()) dropping_.clear();
  if (!s.IsNoSpace()) return s;
  // The manifest has no room for the edit: writers need the chunks.
  return db_.WithMemory([&] {
    control_->AssertHeld();
    for (; !dropping_.empty(); dropping_.pop_back()) spares_.push_back(std::move(dropping_.back()));
    return s;
  });
}

}  // namespace miodb
