// How free space goes back to the file system: at a close, at rest, and after some time without use.

#include <algorithm>
#include <utility>

#include "src/db/space/space.h"
#include "src/util/check/check.h"
#include "src/util/clock/clock.h"

namespace miodb {

// Nobody writes, and nothing is left to merge or to collect; or somebody wants free space back.
bool Space::Rests() const {
  const uint64_t sequence = LastSequence();
  return give_back_at_ == sequence || scheduler_->quiet().RestsAt(sequence);
}

// Where the database rests, free space was of no use for long enough, and chunks are prepared for a database of the
// size that is left.
bool Space::GiveBackPiece() {
  db_.blocks->GiveBackIdle(NowMicros(), db_.hooks.give_back_micros);
  uint64_t reserve;
  bool rests;
  {
    DbLock lock(control_);
    rests = Rests();
    if (rests) DropSpares(1, NextChunkBytes()).IgnoreError();  // tried again later
    reserve = Reserve(Demand::kAny);
  }
  CHECK(!db_.hooks.manual_background);
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
  if (!given && give_back_at_.has_value()) {
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
  if (s.ok()) s = DropSpares(0, 0);
  if (s.ok()) db_.pool->GiveBackAll(Reserve(Demand::kAny));
  return s;
}

// Lets go of the chunks that are ready, by an edit, since the manifest names them: of all but so many of at most so
// many bytes. Writers do not find those that go, which stay until the edit is durable.
Status Space::DropSpares(size_t kept, uint64_t most_bytes) {
  DCHECK(!preparing_);  // by the thread that prepares, or after its end
  VersionEdit edit;
  Status s = db_.WithMemory([&] {
    control_->AssertHeld();  // for the analysis, which does not see that the calls are made at once
    const auto stay = std::stable_partition(spares_.begin(), spares_.end(), [&](const auto& chunk) {
      const bool stays = kept > 0 && chunk->capacity <= most_bytes;
      kept -= stays;
      return stays;
    });
    for (auto left = spares_.end() - stay; left > 0; left--) {
      dropping_.push_back(std::move(spares_.back()));
      spares_.pop_back();
    }
    for (const auto& chunk : dropping_) {
      if (chunk->in_pool()) edit.removed_chunks.push_back(chunk->id);
    }
    return Status::OK();
  });
  if (!s.ok()) return s;
  if (!edit.removed_chunks.empty()) {
    s = db_.WithMemory([&] {
      control_->AssertHeld();
      return tree_->Apply(std::move(edit), {});
    });
    if (!s.ok() && !s.IsNoSpace()) control_->SetError(s);
  }
  if (s.ok()) dropping_.clear();
  return s;
}

}  // namespace miodb
