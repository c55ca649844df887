// Keeps flushed log, and finds the place of a write in it.

#include "src/db/space/kept_log.h"

#include <algorithm>
#include <map>
#include <string>

#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

// Goes through the log from its newest part to the one with a write.
class Search {
 public:
  Search(uint64_t sequence, uint64_t last_sequence, LogPart* part)
      : sequence_(sequence), begin_(last_sequence + 1), part_(part) {
    DCHECK(sequence > 0 && sequence <= last_sequence);
  }

  // Whether the search ends with this chunk. A chunk without visible writes is passed over.
  bool EndsWith(const LogChunk& chunk) {
    if (chunk.first_sequence >= begin_) return false;
    if (!chunk.in_pool() || chunk.first_sequence == 0) return true;
    return Take({chunk.id, chunk.extent, chunk.capacity, chunk.first_sequence, begin_ - 1});
  }

  // The rest of the log, which goes up to what was looked at, or is none.
  void LookInto(const KeptChunks& kept, const ChunkExtents& extents) {
    const KeptChunk* const hit = kept.Find(sequence_, &begin_);
    const auto extent = hit != nullptr ? extents.find(hit->id) : extents.end();
    if (extent == extents.end()) return;
    Take({hit->id, extent->second, hit->bytes, hit->first_sequence, hit->last_sequence});
  }

  bool found() const { return begin_ <= sequence_; }
  uint64_t oldest() const { return begin_; }

 private:
  bool Take(LogPart part) {
    DCHECK(part.first_sequence < begin_ && part.extent != nullptr);
    begin_ = part.first_sequence;
    if (found()) *part_ = std::move(part);
    return found();
  }

  const uint64_t sequence_;
  uint64_t begin_;  // of what was looked at
  LogPart* const part_;
};

}  // namespace

// A repair writes what it finds, and that is no history. In the other modes what flushes put into the pool are copies
// without frames.
uint64_t KeptLog::limit() const {
  const bool keeps = db_.options.log_mode == kLogPmem && db_.hooks.opener == Opener::kProgram;
  return keeps ? db_.options.keep_log_bytes : 0;
}

// The newest stay, as many as the limit has room for. follows: nothing is missing between what is kept and what was
// flushed.
void KeptLog::Keep(const std::vector<Flushed>& flushed, bool follows, VersionEdit* edit, ChunkExtents* extents) const {
  DCHECK(edit != nullptr && (flushed.empty() || extents != nullptr));
  uint64_t left = limit();
  bool stays = true;
  const auto fits = [&](const KeptChunk& chunk) {
    stays = stays && SpaceOf(chunk) <= left;
    if (stays) left -= SpaceOf(chunk);
    return stays;
  };
  for (auto chunk = flushed.rbegin(); chunk != flushed.rend() && fits(chunk->place); ++chunk) {
    edit->kept.push_back(chunk->place);
    (*extents)[chunk->place.id] = chunk->extent;
  }
  stays = stays && follows;
  const KeptChunks& kept = tree_->versions->manifest().kept;
  uint64_t space = kept.space;
  for (const auto& [first, id] : kept.by_age) {
    if (stays && space <= left) break;
    edit->removed_kept.push_back(id);
    space -= SpaceOf(kept.by_id.at(id));
  }
  DCHECK_LE(left, limit());
}

// A chunk ends where the next one with records begins.
void KeptLog::AddFlushed(const MemTable& memtable, VersionEdit* edit, ChunkExtents* extents) const {
  DCHECK(edit->removed_chunks.empty() && edit->kept.empty());
  const uint64_t before = tree_->versions->manifest().flushed_sequence;
  std::vector<Flushed> flushed;
  uint64_t end = memtable.max_sequence() + 1;
  bool whole = true;
  const auto& chunks = memtable.segment().chunks;
  for (auto item = chunks.rbegin(); item != chunks.rend(); ++item) {
    const LogChunk& chunk = **item;
    if (chunk.in_pool()) edit->removed_chunks.push_back(chunk.id);
    const uint64_t used = chunk.used.load(std::memory_order_relaxed);  // relaxed: the memtable is sealed
    if (used == 0) continue;
    whole = whole && chunk.in_pool();
    if (!whole) continue;
    DCHECK(chunk.first_sequence > 0 && chunk.first_sequence < end);
    flushed.push_back({{chunk.id, chunk.extent->offset(), used, chunk.first_sequence, end - 1}, chunk.extent});
    end = chunk.first_sequence;
  }
  std::reverse(flushed.begin(), flushed.end());
  // Kept chunks go up to the flushed sequence.
  Keep(flushed, whole && end == before + 1, edit, extents);
}

// Half of it, the oldest first: a pool that is nearly full needs more than one chunk, and a follower may still find
// what it is about to read.
bool KeptLog::LetGo() {
  tree_->AwaitEdit();  // a flush may be taking out the same
  if (tree_->versions->manifest().kept.by_id.empty() || !control_->error().ok()) return false;
  VersionEdit edit;
  const Status s = db_.WithMemory([&] {
    control_->AssertHeld();  // for the analysis, which does not see that the call is made at once
    const KeptChunks& kept = tree_->versions->manifest().kept;
    auto oldest = kept.by_age.begin();
    for (size_t i = 0; i < (kept.by_age.size() + 1) / 2; i++) edit.removed_kept.push_back((oldest++)->second);
    CHECK(!edit.removed_kept.empty());
    db_.Log("lets go of %zu kept log chunks: the pool is nearly full", edit.removed_kept.size());
    const Status applied = tree_->Apply(std::move(edit), {});
    if (!applied.ok() && !applied.IsNoSpace()) control_->SetError(applied);
    return applied;
  });
  return s.ok();
}

// acquire: who sees the sequence sees the frames.
uint64_t KeptLog::LastVisible() const { return tree_->last_sequence.load(std::memory_order_acquire); }

// Chunks of memtables are named and have their first sequence before they are written to, with the mutex held. So the
// present chunks hold all visible writes.
Status KeptLog::FindPart(uint64_t sequence, LogPart* part) const {
  DbLock lock(control_);
  Search search(sequence, LastVisible(), part);
  bool ends = false;
  const auto look_into = [&](const MemTable& memtable) {
    const auto& chunks = memtable.segment().chunks;
    for (auto chunk = chunks.rbegin(); !ends && chunk != chunks.rend(); ++chunk) ends = search.EndsWith(**chunk);
  };
  look_into(*tree_->memtable);
  for (const MemTableRef& memtable : tree_->immutables) {
    if (!ends) look_into(*memtable);
  }
  if (!ends) search.LookInto(tree_->versions->manifest().kept, tree_->versions->kept());
  return search.found() ? Status::OK() : NoMoreInLog(sequence, search.oldest());
}

}  // namespace miodb
