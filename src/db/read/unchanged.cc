// Whether keys have changed since somebody read them. A write under a condition asks twice: beside the other writers as
// of some moment, and in their queue about writes after that moment. So the queue waits for no table: such new writes
// lie in memtables.
//
// The newest version of a key that lies anywhere tells, or a newer deletion of a range that has the key. Flushes and
// merges keep it; a deletion, which they drop where it hides nothing more, is kept as long as a snapshot is older than
// it, which is why whoever asks holds one (db.h). Expired records may be dropped unread, whatever snapshots there are.
// A table that is dropped so hides nothing, so a key that has an older version elsewhere had no record in it.
//
// This is a file of its own for the reason that key_may_exist.cc gives.

#include <algorithm>

#include "src/db/read/read_path.h"
#include "src/util/bytes/escape.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

// The key as its user knows it.
std::string Shown(const KeyOrder& order, const Slice& found) {
  return Escaped(order.OfFamily(found) ? SplitFamilyKey(found).key : found, '\'', kMostKeyShown);
}

[[gnu::cold]] Status Changed(const KeyOrder& order, const Slice& found) {
  return Status::Busy("key '" + Shown(order, found) + "'", "it was changed by another write");
}

[[gnu::cold]] Status Expired(const KeyOrder& order, const Slice& found) {
  return Status::Busy("key '" + Shown(order, found) + "'", "what was read of it has expired");
}

}  // namespace

// The sequence of the newest version at or below one, or that up to which there may have been one; 0: there is none.
// REQUIRES: the state was pinned before the sequence was read.
Status ReadPath::FindNewest(const Slice& key, uint64_t sequence, ReadStates::Pin* pin, uint64_t* newest) {
  DCHECK_LE(sequence, kMaxSequence);
  const SnapshotImpl moment(sequence);
  ReadOptions options;
  options.snapshot = &moment;
  BlockPin block;
  bool found = false;
  RecordView record;
  const Status s = Find(options, key, pin, &block, &found, &record);
  const auto gone = [&] {
    return MIODB_MUTATED(kGoneUnreadForgotten) ? 0 : sources_->gone_unread.NewestOf(order_, key);
  };
  *newest = std::max(s.ok() && found ? record.sequence() : gone(), (*pin)->NewestRange(key, sequence));
  return s;
}

// The same, and 0 also where the newest version is at or below the sequence. All that is newer lies in the memtables
// down to the one that begins no later; only if flushes have taken away that one tables have to be asked.
Status ReadPath::FindNewestSince(const Slice& key, uint64_t sequence, ReadStates::Pin* pin, uint64_t* newest) {
  ReadState* const state = pin->get();
  *newest = state->NewestRange(key, kMaxSequence);
  const LookupKey lookup(order_, key, kMaxSequence);
  const size_t memtables = 1 + state->immutables.size();
  for (size_t i = 0; i < memtables; i++) {
    const MemTable& memtable = i == 0 ? *state->memtable : *state->immutables[i - 1];
    if (memtable.empty()) continue;
    bool found = false;
    RecordView record;
    const Status s = memtable.Get(lookup, &found, &record);
    if (!s.ok()) return s;
    if (found) *newest = std::max(*newest, record.sequence());
    if (found || memtable.min_sequence() <= sequence + 1) return s;
  }
  return FindNewest(key, kMaxSequence, pin, newest);
}

// The condition says when what was read is out of date by itself, because nothing else may tell by then: the value may
// have gone with a merge, and an operand over it have been folded, under the sequence that it had.
Status ReadPath::CheckExpiry(const KeyAsOf& known) const {
  if (known.expiry_micros == kNoExpiry || db_.WallMicros() < known.expiry_micros) [[likely]]
    return Status::OK();
  return Expired(order_, known.key);
}

// The second question is about writes after this moment alone, so the state has all that was written before.
Status ReadPath::CheckUnchanged(const std::vector<KeyAsOf>& keys, uint64_t* as_of) {
  DCHECK(as_of != nullptr);
  return AtNewest([&](ReadStates::Pin& pin, uint64_t sequence) {
    *as_of = sequence;
    for (const KeyAsOf& known : keys) {
      uint64_t newest;
      Status s = CheckExpiry(known);
      if (s.ok()) s = FindNewest(known.key, sequence, &pin, &newest);
      if (!s.ok()) return s;
      if (newest > known.sequence) return Changed(order_, known.key);
    }
    return Status::OK();
  });
}

// A version up to as_of is none that is newer than its key's sequence: CheckUnchanged has said so. Time goes on though
// nobody writes, so the expiries are looked at in any case.
Status ReadPath::CheckUnchangedSince(const std::vector<KeyAsOf>& keys, uint64_t as_of) {
  DCHECK_LE(as_of, ReadSequence(ReadOptions()));
  for (const KeyAsOf& known : keys) {
    const Status s = CheckExpiry(known);
    if (!s.ok()) return s;
  }
  if (ReadSequence(ReadOptions()) == as_of) return Status::OK();
  ReadStates::Pin pin(&sources_->states);
  for (const KeyAsOf& known : keys) {
    const uint64_t sequence = std::max(known.sequence, as_of);
    uint64_t newest;
    const Status s = FindNewestSince(known.key, sequence, &pin, &newest);
    if (!s.ok()) return s;
    if (newest > sequence) return Changed(order_, known.key);
  }
  return Status::OK();
}

}  // namespace miodb
