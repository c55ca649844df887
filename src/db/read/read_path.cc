// A get, step by step:
//
//   1 Pin the current state: memtables and version (read_state.h). No lock.
//   2 Choose the sequence to read at: the snapshot's, or the newest published one. After the pin: the other way round a
//     merge in between could drop a version that this sequence needs. Every put moves the newest sequence on, so a get
//     looks at it only if what it finds without is newer than all that its thread knows to be published.
//   3 Look into the memtable, the sealed memtables newest first, then the version's runs in order of age. The first hit
//     at or below the sequence is the newest visible version (version.h says why). With record_cache_size, a
//     record that is kept in DRAM stands for the look into its table (kept_records.h).
//     On SSD it goes on with the levels there, in the one file of each that can have the key.
//     If a range that was deleted has the key, and as of a later sequence, there is none: what is older is hidden too.
//     If it is a put with a lifetime, the clock is asked whether it has expired; then the key is gone.
//     If it is an operand, all versions from there down to the base are looked for once more, by one walk over all
//     sources, and the merge operator makes the value.
//   4 Copy the value, or keep the state pinned and hand out the bytes in the pool, or the block or record in memory.
#include "src/db/read/read_path.h"

#include <algorithm>
#include <new>

#include "src/db/read/family_iterator.h"
#include "src/format/expiry.h"
#include "src/iterator/operands.h"
#include "src/util/check/check.h"
#include "src/util/clock/perf_clock.h"

namespace miodb {

namespace {

// Inlined in any case: a get would pay for the call.
[[gnu::always_inline]] inline Status FindInMemTables(const LookupKey& lookup, const ReadState& state, bool* found,
                                                     RecordView* record) {
  PerfClock clock;
  Status s = state.memtable->Get(lookup, found, record);
  for (size_t i = 0; s.ok() && !*found && i < state.immutables.size(); i++) {
    s = state.immutables[i]->Get(lookup, found, record);
  }
  clock.Lap(&PerfContext::get_memtable);
  return s;
}

// As ReadPath::FindInPool, with records that are kept and without verifying.
[[gnu::noinline]] Status FindInPoolOrKept(KeptRecords* kept, const KeyOrder& order, const LookupKey& lookup,
                                          const ReadState& state, bool fill, BlockPin* block, bool* found,
                                          RecordView* record) {
  DCHECK(!block->holds_any());
  const uint64_t hash = KeptRecords::HashOf(lookup);
  kept->Prefetch(hash);
  Status s = FindInMemTables(lookup, state, found, record);
  if (!s.ok() || *found) return s;
  return kept->Get(order, lookup, hash, *state.version, fill, block, found, record);
}

}  // namespace

// REQUIRES: a state is pinned, or a merge could drop the version that this sequence needs.
uint64_t ReadPath::ReadSequence(const ReadOptions& options) const {
  // acquire: pairs with the leader's release; the records up to this sequence are in the memtables.
  return options.snapshot != nullptr ? static_cast<const SnapshotImpl*>(options.snapshot)->sequence
                                     : sources_->last_sequence.load(std::memory_order_acquire);
}

// All filters at once, not one miss after the other.
void ReadPath::PrefetchFilters(const LookupKey& lookup, const ReadState& state) {
  state.memtable->Prefetch(lookup);
  for (const MemTableRef& memtable : state.immutables) memtable->Prefetch(lookup);
  state.version->Prefetch(lookup);
}

// Sources go from the newest to the oldest, so the first that has a version at or below the sequence has the newest
// one.
Status ReadPath::FindInPool(const LookupKey& lookup, const ReadState& state, bool* found, RecordView* record) {
  Status s = FindInMemTables(lookup, state, found, record);
  if (!s.ok() || *found) return s;
  return state.version->Get(order_, lookup, found, record);
}

// Step 3, but for ranges. The record's bytes stay where they are while the state is pinned or, of one from SSD or that
// is kept, the block. A read that verifies is about the bytes in the pool, so it takes no record that is kept.
[[gnu::always_inline]] inline Status ReadPath::FindAt(const ReadOptions& options, const LookupKey& lookup,
                                                      const ReadState& state, BlockPin* block, bool* found,
                                                      RecordView* record) {
  Status s = __builtin_expect(kept_ == nullptr, 1) || lookup.checksums == Checksums::kVerify
                 ? FindInPool(lookup, state, found, record)
                 : FindInPoolOrKept(kept_.get(), order_, lookup, state, options.fill_cache, block, found, record);
  if (s.ok() && !*found && state.version->ssd != nullptr) {
    PerfClock ssd_clock;
    s = state.version->ssd->Get(lookup, db_.SsdReadMode(options, BlockCaller::kGet), options.snapshot == nullptr, block,
                                found, record);
    ssd_clock.Lap(&PerfContext::get_ssd);
  }
  return s;
}

// Step 2, and 3 with ranges. A write is in a memtable before it is published, and whoever saw it published sees it
// there. So if the newest version that there is anywhere was known to be published before the search, with all of its
// batch, it is the answer; and if there is none, none is. A version that was published meanwhile will not do, as of its
// batch more may have come behind the search. Ranges would need the newest of them that is published, and may be new
// themselves.
Status ReadPath::Find(const ReadOptions& options, const Slice& key, ReadStates::Pin* pin, BlockPin* block, bool* found,
                      RecordView* record) {
  const ReadState& state = *pin->get();
  LookupKey lookup(order_, key, kMaxSequence, db_.ChecksumsOf(options));
  PrefetchFilters(lookup, state);
  if (options.snapshot == nullptr && !state.has_ranges()) {
    const uint64_t known = pin->visible();
    Status s = FindAt(options, lookup, state, block, found, record);
    if (s.ok() && !state.has_ranges() && (!*found || record->sequence() <= known)) return s;
    block->Reset();
  }
  lookup.sequence = ReadSequence(options);
  if (options.snapshot == nullptr) pin->SetVisible(lookup.sequence);
  Status s = FindAt(options, lookup, state, block, found, record);
  if (s.ok() && *found && state.has_ranges()) [[unlikely]]
    *found = record->sequence() > state.NewestRange(key, lookup.sequence);
  return s;
}

// The clock is asked only for a record that expires.
bool ReadPath::HidesKey(const RecordView& record) const {
  if (record.type() != kTypeExpiringValue) return IsTombstone(record.type());
  return HasExpired(record, db_.WallMicros());
}

// The value of a key whose newest version at this sequence is an operand: one walk from there over all sources. The
// value changes by itself when its base expires.
[[gnu::cold]] Status ReadPath::FoldOperands(const ReadOptions& options, const ReadState& state, const Slice& key,
                                            uint64_t sequence, uint64_t now_micros, std::string* value,
                                            uint64_t* expiry_micros) const {
  const std::unique_ptr<InternalIterator> versions =
      NewVersionIterator(order_, state, db_.ChecksumsOf(options), options);
  DCHECK_LE(sequence, kMaxSequence);
  versions->Seek(key, sequence);
  Operands operands(now_micros);
  // A range that the read sees and that is newer than the operand would have hidden it.
  const uint64_t hidden = state.has_ranges() ? state.NewestRange(key, sequence) : 0;
  Status s = operands.AddAll(order_, key, hidden, versions.get());
  if (!s.ok()) return s;
  if (!operands.HasValue()) return Status::NotFound(Slice());
  if (expiry_micros != nullptr) *expiry_micros = operands.base_expiry();
  return operands.Fold(db_.options.merge_operator, key, value);
}

// Finds a value and hands it over while its state is pinned, or as a string that was made of operands.
// expiry_micros: nullptr, or as for GetWithExpiry.
template <typename Use, typename UseMade>
Status ReadPath::GetPinned(const ReadOptions& options, const Slice& key, uint64_t* expiry_micros, Use use,
                           UseMade use_made) {
  PerfClock clock;
  const OpTimes::Timed<TimedOp::kGet> timed(db_.statistics.times.get());
  Status result = db_.WithMemory([&] {
    if (db_.tracer.active()) [[unlikely]]
      db_.tracer.Get(key);
    ReadStates::Pin pin(&sources_->states);
    bool found;
    RecordView record;
    BlockPin block;
    Status s = Find(options, key, &pin, &block, &found, &record);
    if (!s.ok()) return s;
    if (!found) return Status::NotFound(Slice());
    if (record.type() != kTypeValue) [[unlikely]] {
      if (HidesKey(record)) return Status::NotFound(Slice());
      if (IsPut(record.type())) {
        if (expiry_micros != nullptr) *expiry_micros = ExpiryOf(record);
        use(UserValue(record), pin.get(), &block);
        return s;
      }
      std::string made;
      s = FoldOperands(options, *pin.get(), key, record.sequence(), db_.WallMicros(), &made, expiry_micros);
      if (s.ok()) use_made(&made);
      return s;
    }
    use(record.value, pin.get(), &block);
    return s;
  });
  clock.End(&PerfContext::get_total, &PerfContext::gets);
  return result;
}

Status ReadPath::Get(const ReadOptions& options, const Slice& key, std::string* value) {
  return GetWithExpiry(options, key, value, nullptr);
}

Status ReadPath::GetWithExpiry(const ReadOptions& options, const Slice& key, std::string* value,
                               uint64_t* expiry_micros) {
  DCHECK(value != nullptr);
  return GetPinned(
      options, key, expiry_micros,
      [value](const Slice& bytes, ReadState*, BlockPin*) { value->assign(bytes.data(), bytes.size()); },
      [value](std::string* made) { value->swap(*made); });
}

Status ReadPath::Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
  return GetPinned(
      options, key, nullptr,
      [value](const Slice& bytes, ReadState* state, BlockPin* block) { PinValue(bytes, state, block, value); },
      [value](std::string* made) { PinMade(made, value); });
}

// The slice owns the bytes.
void ReadPath::PinMade(std::string* made, PinnableSlice* value) {
  DCHECK(made != nullptr && value != nullptr);
  auto owned = std::make_unique<std::string>(std::move(*made));
  value->Pin(
      *owned, [](void* bytes) { delete static_cast<std::string*>(bytes); }, owned.get());
  owned.release();  // the slice's
}

// The value stays where it lies. A value from SSD holds its block, and one that is kept its record, not the state,
// because the state would keep memtables and the space of dropped tables for as long as the program holds the slice.
void ReadPath::PinValue(const Slice& bytes, ReadState* state, BlockPin* block, PinnableSlice* value) {
  DCHECK(state != nullptr && block != nullptr);
  if (block->holds_any()) {
    auto pinned = std::make_unique<PinnedBlock>(std::move(*block));
    value->Pin(bytes, &UnpinBlock, pinned.get());
    pinned.release();  // the slice's
    return;
  }
  ReadStates::Ref(state);
  value->Pin(bytes, &UnpinState, state);
}

// In a child process the locks of the cache are as they were when another thread of the parent may have held them.
void ReadPath::UnpinBlock(void* block) {
  PinnedBlock* const pinned = static_cast<PinnedBlock*>(block);
  DCHECK(pinned != nullptr);
  if (!pinned->guard.InChild()) delete pinned;
}

void ReadPath::UnpinState(void* state) {
  ReadState* const s = static_cast<ReadState*>(state);
  DCHECK(s != nullptr && s->owner != nullptr);
  s->owner->Unref(s);
}

// An iterator keeps its state by a counted reference, since it may live longer than the call and move to another
// thread; the pin of the calling thread only bridges the time until then. Nobody passes what is hidden in a memtable
// that gives way to an empty one, so the next iterator after many steps asks for that.
ReadPoint ReadPath::NewReadPoint(const ReadOptions& options) {
  const auto refer = [this](const ReadStates::Pin& pin, uint64_t sequence) {
    ReadStates::Ref(pin.get());
    std::shared_ptr<const ReadState> state(pin.get(), [](ReadState* s) { UnpinState(s); });
    if (state->memtable->IsToBeSealed()) sources_->seal_asked.store(state->memtable.get(), std::memory_order_relaxed);
    return ReadPoint{std::move(state), sequence, db_.WallMicros()};
  };
  if (options.snapshot == nullptr) return AtNewest(refer);
  const ReadStates::Pin pin(&sources_->states);
  return refer(pin, ReadSequence(options));
}

Status ReadPath::NewestPoint(ReadPoint* point) {
  Status s = sources_->BeforeRead();
  if (s.ok()) *point = NewReadPoint(ReadOptions());
  return s;
}

// A refreshed iterator reads as one that is made without a snapshot.
Iterator* ReadPath::MakeIterator(const ReadOptions& options, uint32_t family) {
  // A reader in another process may see a sequence before the state that has it, so nothing is remembered there.
  const Checksums checksums = db_.ChecksumsOf(options);
  DeadStretches* const dead = sources_->before_read != nullptr  ? nullptr
                              : checksums == Checksums::kVerify ? &verified_dead_
                                                                : &dead_;
  const auto make = [&](const ReadOptions& bounded) {
    return NewDBIterator({order_, checksums, db_.options.merge_operator, &db_.tracer, db_.statistics.times.get(),
                          [this](ReadPoint* point) { return NewestPoint(point); }, family, dead, &db_.name},
                         NewReadPoint(options), bounded);
  };
  return family == kDefaultFamily ? make(options) : NewFamilyIterator(family, options, make);
}

// Under the bytewise order such keys lie together. Under another one they may be anywhere, and all are looked at.
Status ReadPath::HasKeysWith(const Slice& beginning, bool* has) {
  const ReadPoint point = NewReadPoint(ReadOptions());
  const std::unique_ptr<InternalIterator> all =
      NewVersionIterator(order_, *point.state, Checksums::kTrust, ReadOptions());
  order_.bytewise() ? all->Seek(beginning, kMaxSequence) : all->SeekToFirst();
  *has = false;
  for (; all->Valid() && !*has; all->Next()) {
    *has = all->record().key.starts_with(beginning);
    if (order_.bytewise()) break;
  }
  if (order_.bytewise()) return all->status();
  for (const RangeSet* const set : point.state->RangeSets()) {
    for (size_t i = 0; i < set->bounds() && !*has; i++) *has = set->bound(i).starts_with(beginning);
  }
  return all->status();
}

namespace {

// Bytes of the records of a sorted source in the range.
uint64_t BytesIn(const KeyOrder& order, const Range& range, InternalIterator* records) {
  uint64_t bytes = 0;
  for (records->Seek(range.start, kMaxSequence); records->Valid(); records->Next()) {
    if (order.Compare(records->record().key, range.limit) >= 0) break;
    bytes += records->record().size();
  }
  return bytes;
}

// So many records of a table are looked at, at regular distances if there are more in the range.
constexpr uint64_t kMostSampledRecords = 4096;

// The same for a table. A part that cannot be read counts as nothing.
uint64_t BytesIn(const Range& range, const PMTable& table) {
  uint64_t from, to;
  if (!table.Seek(range.start, kMaxSequence, Checksums::kTrust, &from).ok() ||
      !table.Seek(range.limit, kMaxSequence, Checksums::kTrust, &to).ok() || to <= from) {
    return 0;
  }
  const uint64_t records = to - from;
  if (records == table.entries() && records > kMostSampledRecords) return table.payload_bytes();
  const uint64_t samples = std::min(records, kMostSampledRecords);

  uint64_t sampled = 0;
  for (uint64_t i = 0; i < samples; i++) {
    // The middle of the i-th of as many equal parts, without an overflow.
    const uint64_t place = records / samples * i + records % samples * i / samples + records / samples / 2;
    RecordView record;
    if (table.RecordAt(from + place, Checksums::kTrust, &record).ok()) sampled += record.size();
  }
  // Mean times number, without an overflow: first the whole bytes of the mean, then what is left.
  return std::min(sampled / samples * records + sampled % samples * records / samples, table.payload_bytes());
}

// How many entries a sorted source has in the range.
uint64_t EntriesIn(const KeyOrder& order, const Range& range, InternalIterator* records) {
  uint64_t entries = 0;
  for (records->Seek(range.start, kMaxSequence); records->Valid(); records->Next()) {
    if (order.Compare(records->record().key, range.limit) >= 0) break;
    entries++;
  }
  return entries;
}

// The same for a table, by the places of the range's ends. A part that cannot be read counts as nothing.
uint64_t EntriesIn(const Range& range, const PMTable& table) {
  uint64_t from, to;
  if (!table.Seek(range.start, kMaxSequence, Checksums::kTrust, &from).ok()) return 0;
  if (!table.Seek(range.limit, kMaxSequence, Checksums::kTrust, &to).ok()) return 0;
  return to > from ? to - from : 0;
}

// Calls with_source(source) and with_table(table) for whatever a state has outside of table files: for all memtables,
// and for tables whose keys reach into the range.
template <typename WithSource, typename WithTable>
void ForEachPart(const KeyOrder& order, const Range& range, const ReadState& state, WithSource with_source,
                 WithTable with_table) {
  with_source(state.memtable->NewIterator().get());
  for (const MemTableRef& memtable : state.immutables) with_source(memtable->NewIterator().get());
  for (const Run* run : state.version->runs) {
    auto table = TableList::Iterator(&run->tables, run->FindTable(order, range.start));
    for (; table != run->tables.end() && order.Compare((*table)->smallest(), range.limit) < 0; ++table) {
      with_table(**table);
    }
  }
}

}  // namespace

// Files tell sizes alone: their entries are taken to be as large as the mean of all files.
uint64_t ReadPath::CountEntries(const Range& range) {
  ReadStates::Pin pin(&sources_->states);
  uint64_t entries = 0;
  ForEachPart(
      order_, range, *pin.get(), [&](InternalIterator* source) { entries += EntriesIn(order_, range, source); },
      [&](const PMTable& table) { entries += EntriesIn(range, table); });
  const SsdLevels* const ssd = pin->version->ssd.get();
  if (ssd == nullptr) return entries;
  uint64_t file_entries = 0;
  for (const FileList& files : ssd->levels) file_entries += files.Total().entries;
  if (file_entries == 0) return entries;
  const double mean_bytes = static_cast<double>(ssd->bytes()) / static_cast<double>(file_entries);
  return entries + static_cast<uint64_t>(static_cast<double>(ssd->BytesIn(range.start, range.limit)) / mean_bytes);
}

// No lock is taken and nothing is counted twice: the sum is of one read state, which has each record in one memtable,
// table or file.
void ReadPath::SumSizes(const Range* range, int n, uint64_t* sizes) {
  ReadStates::Pin pin(&sources_->states);
  for (int i = 0; i < n; i++) {
    if (order_.Compare(range[i].start, range[i].limit) >= 0) continue;
    ForEachPart(
        order_, range[i], *pin.get(), [&](InternalIterator* source) { sizes[i] += BytesIn(order_, range[i], source); },
        [&](const PMTable& table) { sizes[i] += BytesIn(range[i], table); });
    if (pin->version->ssd != nullptr) sizes[i] += pin->version->ssd->BytesIn(range[i].start, range[i].limit);
  }
}

}  // namespace miodb
