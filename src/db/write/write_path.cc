// The write path: a write from the call to the moment at which readers see it.

#include "src/db/write/write_path.h"

#include <algorithm>
#include <optional>

#include "miodb/write_batch.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/db/space/log_files.h"
#include "src/db/write/batch_records.h"
#include "src/db/write/marked_batch.h"
#include "src/db/write/write_checks.h"
#include "src/format/expiry.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/clock/perf_clock.h"

// A write, step by step. Where writers meet and have a CPU each, they write beside one another (write_lanes.h has those
// steps). Else, and for whatever that way does not do, the first of the waiting writers leads and does 2 to 8 for a
// group of them:
//
//   1 Join the queue (write_queue.h); with several writers and few CPUs, when it is its turn (write_turns.h). Limits of
//     sizes are checked before.
//   1b With a condition: ask for it. The group has no other writer, and nothing is written meanwhile.
//   2 Make room: the current log chunk has space for the frame in all but one of thousands of cases. Else take the next
//     prepared chunk; when the memtable has its share of chunks, seal it and start a new one.
//   3 Number the updates.
//   3b With kLogFile: append them to the log file as one batch; if asked for sync, sync it (log/file_log.h). Here the
//     group is durable.
//   4 Write them as one frame into the chunk (log/frame_writer.h); the lines are on their way to the medium.
//   5 Insert them into the memtable. Readers do not see them yet: their sequences are not published.
//   6 Fence. Here the group is durable.
//   7 Publish the last sequence. Here the group is visible.
//   8 Hand the queue on and wake the group.
//
// In kPersistFile a fence is an msync, so step 6 happens only for a group that was asked for sync.
//
// After a crash: before 6 nothing of the group or all of it, by the frame's checksum; after it all.

namespace miodb {

namespace {

// Records of one group; more wait for the next.
constexpr uint64_t kMaxGroupBytes = 1 << 20;

// The list of a group's records grows to the largest batch; above this number its memory is given back.
constexpr size_t kKeptRecords = 1 << 16;

// So many meetings of writers open the lanes.
constexpr int kMeetings = 32;

// Lanes that had more writers than there are CPUs stay closed for so many groups of writes: a writer without a CPU
// holds up all others there, and in the queue only itself.
constexpr int kWritesOfCrowd = 1 << 20;

// Records the writes of a group in the order of the log.
void TraceGroup(DbContext* db, Writer* leader, Writer* last) {
  for (Writer* w = leader;; w = w->newer) {
    if (w->count > 0 && !w->batch.empty()) {
      TraceStored(db, w->batch);
    } else if (w->count > 0) {
      TraceStored(db, w->type, w->key, w->value);
    }
    if (w == last) return;
  }
}

// The time of a put is the whole time for which the caller waits: the checks, the turn, the write and all waits.
template <typename Call>
Status AsPut(DbContext& db, const Call& call) {
  const OpTimes::Timed<TimedOp::kPut> timed(db.statistics.times.get());
  return db.WithMemory(call);
}

}  // namespace

// An operand is a write that reads nothing: whether it makes sense for the key's value nobody knows before a read. Nor
// whether the key of a single deletion was put once; in a full pool that may use space as a deletion may.
Status WritePath::Update(const WriteOptions& options, uint8_t type, const Slice& key, const Slice& value) {
  return AsPut(db_, [&] {
    const uint8_t base = BaseBatchType(type);
    if (base == kBatchMerge && !db_.MayMerge()) return NoOperator();
    uint8_t stored_type = type;
    Slice stored = value;
    std::string space;
    if (base == kBatchPut && Lifetimes(db_).MayGive(options)) [[unlikely]] {
      Status s = Lifetimes(db_).Store(options, key, &stored_type, &stored, &space);
      if (!s.ok()) return s;
      DCHECK(stored_type == type || stored.size() == kExpiryBytes + value.size());
    }
    return WriteOne(options, stored_type, key, stored, FamilyKeys::kToCheck);
  });
}

Status WritePath::Write(const WriteOptions& options, WriteBatch* updates, const WriteCondition* condition) {
  return AsPut(db_, [&] { return DoWrite(options, updates, condition, FamilyKeys::kToCheck); });
}

WritePath::WritePath(DbContext& db, const Parts& parts)
    : Parts(parts), db_(db), turns_(parts.census_), lanes_(&tree_->last_sequence, &db.statistics) {
  // All of them are there: what comes later in the database object cannot be given to what comes before it.
  CHECK(control_ != nullptr && tree_ != nullptr && scheduler_ != nullptr);
  CHECK(space_ != nullptr && logs_ != nullptr && flusher_ != nullptr);
  CHECK(merger_ != nullptr && tier_ != nullptr && workers_ != nullptr);
}

// The pool's secret is known only now; what recovery replays from files is written with it too.
void WritePath::OpenFrames() {
  CHECK(frame_writer_ == nullptr && db_.pool != nullptr);
  persist_ = &db_.pool->persist();
  frame_writer_ = std::make_unique<FrameWriter>(persist_, db_.pool->secret());
}

// Sequences only grow: a number that the log may hold is never given out again.
void WritePath::SetSequence(uint64_t last_sequence) {
  CHECK_LE(allocated_sequence_, last_sequence);
  allocated_sequence_ = last_sequence;
  tree_->last_sequence.store(last_sequence, std::memory_order_release);  // release: as by a leader
}

// From here on the memtable, the chunk and the numbers belong to whoever leads. Writers that share a sync gain by
// meeting, so where a fence is slow, or a log file is synced, they do not take turns.
void WritePath::Begin() {
  CHECK(writable_ == nullptr && tree_->memtable != nullptr);
  CHECK(persist_ != nullptr);  // OpenFrames comes first
  writable_ = tree_->memtable.get();
  file_log_ = logs_->to_write();
  fence_is_quick_ = file_log_ == nullptr && !persist_->fence_is_slow();
}

// The writer lies on the stack of its thread until a leader has set its status: nothing is allocated for one update.
Status WritePath::WriteOne(const WriteOptions& options, uint8_t batch_type, const Slice& key, const Slice& value,
                           FamilyKeys marks) {
  Status s = CheckSizes(db_.order, key, value);
  if (!s.ok()) return s;
  if (HasFamilyMark(key) && marks == FamilyKeys::kToCheck) [[unlikely]]
    return WriteMarked(options, batch_type, key, value);
  const ValueType type = static_cast<ValueType>(BaseBatchType(batch_type));
  if (db_.tracer.wants_calls()) [[unlikely]]
    TraceStored(&db_, type, key, value);
  Writer writer;
  writer.type = type;
  writer.key = key;
  writer.value = value;
  writer.count = 1;
  writer.body_bytes = RecordSize(key.size(), value.size());
  writer.user_bytes = key.size() + value.size();
  writer.sync = options.sync;
  if (type == kTypeExpiringValue) writer.user_bytes -= kExpiryBytes;
  writer.deletes_only = IsTombstone(type);
  return Submit(&writer);
}

// A batch is looked through before it joins the queue, by its own thread: the leader must not find out half-way that an
// update is too large or that the bytes are damaged.
Status WritePath::DoWrite(const WriteOptions& options, const WriteBatch* updates, const WriteCondition* condition,
                          FamilyKeys marks) {
  if (updates == nullptr) return Status::InvalidArgument("WriteBatch", "must not be null");
  std::optional<WriteBatch> stored;
  if (const Lifetimes lifetimes(db_); marks == FamilyKeys::kToCheck && lifetimes.MayGive(options)) [[unlikely]] {
    Status s = lifetimes.Store(options, *updates, &stored.emplace());
    if (!s.ok()) return s;
    updates = &*stored;
  }
  Writer writer;
  writer.condition = condition;
  writer.batch = WriteBatchInternal::Contents(updates);
  writer.sync = options.sync;
  writer.deletes_only = true;
  BatchReader reader(writer.batch);
  uint8_t batch_type;
  Slice key, value;
  bool has_marks = false;
  while (reader.Next(&batch_type, &key, &value)) {
    const uint8_t type = BaseBatchType(batch_type);
    const bool is_range = type == kBatchRangeDeletion;
    Status s = is_range ? CheckRange(db_.order, key, value) : CheckSizes(db_.order, key, value);
    if (!s.ok()) return s;
    has_marks |= HasFamilyMark(key) || (is_range && ReachesFamilies(db_.order, key, value));
    writer.body_bytes += RecordSize(key.size(), value.size());
    writer.user_bytes += key.size() + value.size();
    if (type == kBatchExpiringPut) writer.user_bytes -= kExpiryBytes;
    writer.count++;
    if (!is_range && !IsTombstone(static_cast<ValueType>(type))) writer.deletes_only = false;
    if (type == kBatchMerge && !db_.MayMerge()) return NoOperator();
  }
  if (reader.corrupt()) return Status::Corruption("WriteBatch", "damaged contents");
  if (writer.body_bytes > kMaxFrameBody) {
    return Status::InvalidArgument("WriteBatch of " + std::to_string(writer.body_bytes) + " bytes",
                                   "the limit is " + std::to_string(kMaxFrameBody));
  }
  if (has_marks && marks == FamilyKeys::kToCheck) [[unlikely]]
    return WriteMarked(options, updates, condition);
  const auto trace = [&] {
    if (db_.tracer.wants_calls()) [[unlikely]]
      TraceStored(&db_, writer.batch);
  };
  if (condition == nullptr) trace();
  if (writer.count == 0) return options.sync ? Sync() : Status::OK();
  const Status s = Submit(&writer);
  if (condition != nullptr && s.ok()) trace();  // not before it is known to be written
  return s;
}

Status WritePath::BetweenWrites(const WriteCondition& look) {
  Writer writer(Writer::Kind::kAsk);
  writer.condition = &look;
  return Submit(&writer);
}

// The newest of the waiting writers may have written everything by the time it is asked; its status is set before its
// state says so (write_queue.h).
Status WritePath::Submit(Writer* writer) {
  PerfClock clock;
  if (GoesBeside(*writer)) {
    clock.End(&PerfContext::put_total, &PerfContext::puts);
    return Status::OK();
  }
  if (fence_is_quick_) turns_.Take();
  const bool leads = queue_.Join(writer);
  if (fence_is_quick_ && writer->older != nullptr) turns_.Met();
  clock.Lap(&PerfContext::put_wait);
  const Status status = leads ? Lead(writer) : writer->status;
  clock.End(&PerfContext::put_total, &PerfContext::puts);
  return status;
}

// A reason that needs a leader sends all writers to the queue, and the leader closes the lanes.
bool WritePath::MayUseLanes(const Writer& writer) const {
  return WriteLanes::Fits(writer) && !turns_.Short(2) && !control_->failed() && !db_.tracer.wants_order() &&
         throttle_nanos_.load(std::memory_order_relaxed) == 0;  // relaxed: a hint
}

// The numbers are the leader's again. Where one writer had the lanes nearly for itself, the queue is the shorter way.
void WritePath::CloseLanes() {
  allocated_sequence_ = lanes_.Close();
  const bool crowded = lanes_.writers() > 2 && turns_.Short(lanes_.writers());
  meetings_ = crowded ? -kWritesOfCrowd : lanes_.several() ? 2 * kMeetings : 0;
}

void WritePath::OpenLanes() {
  WriteLanes::Room room;
  room.frames = frame_writer_.get();
  room.persist = persist_;
  room.chunk = chunk_;
  room.memtable = writable_;
  room.sequence = allocated_sequence_;
  lanes_.Open(room);
}

// Writers that meet at every put, and have a CPU each beside background work, need no leader: the next ones go beside
// one another, until the chunk is full or something is to be done that only a leader does. Without memory the lanes
// stay closed.
void WritePath::ConsiderLanes(bool met) {
  if (!fence_is_quick_) return;
  if (meetings_ < 0) {
    meetings_++;
    return;
  }
  meetings_ = met ? std::min(meetings_ + 1, 2 * kMeetings) : std::max(meetings_ - 1, 0);
  if (meetings_ < kMeetings || turns_.Short(2) || control_->failed()) return;
  if (chunk_ == nullptr || !chunk_->in_pool() || writable_->empty()) return;
  const Status s = db_.WithMemory([this] {
    OpenLanes();
    return Status::OK();
  });
  s.IgnoreError();
}

// Writers that queued up before the one in front of them opened the lanes leave them open, one after the other: else
// two writers that are both in the queue would never come out of it.
bool WritePath::GoesBeside(const Writer& writer) {
  return lanes_.open() && MayUseLanes(writer) && lanes_.Write(writer);
}

// The followers are let go in any case, also when something was thrown: their threads wait for nothing else.
Status WritePath::Lead(Writer* writer) {
  DCHECK_GT(db_.chunk_bytes, 0u);
  if (GoesBeside(*writer)) {
    queue_.Leave(writer, writer);
    return Status::OK();
  }
  Writer* const last = queue_.FormGroup(writer, std::min(kMaxGroupBytes, db_.chunk_bytes / 2));
  const Status thrown = db_.WithMemory([&] {
    WriteGroup(writer, last);
    return Status::OK();
  });
  if (!thrown.ok()) {
    // Numbers may have been given out that are not in the log: go no further.
    DbLock lock(control_);
    control_->SetError(thrown);
    for (Writer* w = writer;; w = w->newer) {
      w->status = control_->error();
      if (w == last) break;
    }
  }
  const Status status = writer->status;
  PerfClock clock;
  if (status.ok()) ConsiderLanes(writer->older != nullptr || last != writer);
  queue_.Leave(writer, last);
  clock.Lap(&PerfContext::put_leave);
  return status;
}

// The vector keeps its capacity from group to group, so that a leader allocates nothing in the usual case.
void WritePath::CollectRecords(Writer* leader, Writer* last) {
  group_records_.clear();
  for (Writer* w = leader;; w = w->newer) {
    [[maybe_unused]] const size_t before = group_records_.size();
    if (w->count > 0 && w->batch.empty()) {
      group_records_.push_back({w->type, w->key, w->value});
    } else if (w->count > 0) {
      AppendRecords(w->batch, &group_records_);
    }
    DCHECK_EQ(group_records_.size() - before, w->count);
    if (w == last) return;
  }
}

// Puts the records that are in the chunk now into the memtable, which refers to them there: nothing is copied. Nobody
// asks for the group's list of them after that.
void WritePath::InsertGroup(uint64_t first_sequence) {
  uint64_t sequence = first_sequence;
  for (const LogRecord& record : group_records_) {
    DCHECK(chunk_->Contains(record.place));
    writable_->AddRecord(record.key, record.value, PackTag(sequence++, record.type), record.place, record.size());
  }
  writable_->ShowRanges();
  DCHECK_EQ(sequence, allocated_sequence_ + 1);
  if (group_records_.capacity() > kKeptRecords) [[unlikely]]
    std::vector<LogRecord>().swap(group_records_);
}

// Steps 3 to 7. An error stops all writes: numbers were given out, and whether the log has them is not known.
Status WritePath::WriteRecords(Writer* leader, Writer* last, uint64_t body_bytes, bool sync) {
  PerfClock clock;
  DCHECK(body_bytes > 0 && chunk_ != nullptr && writable_ != nullptr);
  CollectRecords(leader, last);
  const uint64_t first = allocated_sequence_ + 1;
  allocated_sequence_ += group_records_.size();
  DCHECK_LE(allocated_sequence_, kMaxSequence);
  Status s;
  if (file_log_ != nullptr) s = file_log_->Append(group_records_, first, sync);
  if (s.ok()) {
    frame_writer_->Write(chunk_, &group_records_, body_bytes, first);
    clock.Lap(&PerfContext::put_log);
    InsertGroup(first);
    clock.Lap(&PerfContext::put_memtable);
    if (MIODB_MUTATED(kVisibleBeforeDurable)) tree_->last_sequence.store(allocated_sequence_);
    s = FenceLog(body_bytes, sync);
    clock.Lap(&PerfContext::put_fence);
  }
  if (!s.ok()) {
    DbLock lock(control_);
    control_->SetError(s);
    return s;
  }
  if (db_.tracer.wants_order()) [[unlikely]]
    TraceGroup(&db_, leader, last);
  DCHECK_LE(tree_->last_sequence.load(std::memory_order_relaxed), allocated_sequence_);  // relaxed: the leader's own
  // release: pairs with the acquire loads of readers, who then find these records in the memtable.
  tree_->last_sequence.store(allocated_sequence_, std::memory_order_release);
  return s;
}

// A request to seal has its turn like any write, so the memtable is sealed behind all writes that came before it.
void WritePath::WriteGroup(Writer* leader, Writer* last) {
  if (lanes_.open()) CloseLanes();
  uint64_t body_bytes = 0, user_bytes = 0;
  bool sync = false, deletes_only = true;
  const bool seal = leader->kind == Writer::Kind::kSeal;
  for (Writer* w = leader;; w = w->newer) {
    body_bytes += w->body_bytes;
    user_bytes += w->user_bytes;
    sync = sync || w->sync;
    deletes_only = deletes_only && w->deletes_only;
    if (w == last) break;
  }
  DCHECK(last == leader || !(leader->StandsAlone() || last->StandsAlone()));
  DCHECK_EQ(leader->kind == Writer::Kind::kAsk, leader->condition != nullptr && body_bytes == 0);
  Status s;
  if (leader->condition != nullptr && !MIODB_MUTATED(kConditionUnasked)) [[unlikely]]
    s = db_.WithMemory(*leader->condition);
  if (body_bytes > 0 && s.ok()) {
    PerfClock clock;
    s = MakeRoom(FrameWriter::FrameSize(body_bytes), deletes_only ? Space::Demand::kDeletes : Space::Demand::kAny);
    clock.Lap(&PerfContext::put_room);
    if (s.ok()) s = WriteRecords(leader, last, body_bytes, sync);
    if (s.ok()) db_.statistics.user_bytes.AddAlone(user_bytes);
  }
  const bool large = (file_log_ != nullptr && logs_->TooLarge()) || tree_->IsAsked(writable_);
  if ((seal || large) && s.ok()) {
    DbLock lock(control_);
    s = control_->error();
    // Nothing is won by sealing for the log's sake while an older memtable keeps an older file.
    if (s.ok() && !tree_->memtable->empty() && (seal || tree_->immutables.empty())) Seal();
  }
  for (Writer* w = leader;; w = w->newer) {
    w->status = s;
    if (w == last) break;
  }
  if (body_bytes > 0 && !deletes_only) Throttle(body_bytes);  // deletes make room
}

// By the work that flushes, which a leader may wait for: so it does not wait for one. A leader that is there sees to it
// when its chunk is full.
bool WritePath::SealIfAsked() {
  {
    DbLock lock(control_);
    if (!db_.memory.asked() && !tree_->SealIsAsked()) return false;
  }
  bool sealed = false;
  const WriteCondition seal = [&] {
    DbLock lock(control_);
    const size_t most = static_cast<size_t>(db_.options.max_immutable_memtables);
    if (!control_->error().ok() || tree_->memtable->empty() || tree_->immutables.size() >= most) return Status::OK();
    const Status s = db_.WithMemory([this] {
      control_->AssertHeld();
      Seal();
      return Status::OK();
    });
    if (!s.ok()) control_->SetError(s);  // readers may not have been told of the memtable that writes go to
    sealed = s.ok();
    return s;
  };
  Writer writer(Writer::Kind::kAsk);
  writer.condition = &seal;                                  // a group by itself
  if (queue_.TryJoin(&writer)) Lead(&writer).IgnoreError();  // who writes next meets it
  return sealed;
}

// The leader of a group owns the memtable, so the flush is asked for from inside of the queue. The mutex is let go,
// because the leader before may need it to make room.
Status WritePath::RequestFlush() {
  if (tree_->memtable->empty()) return control_->error();
  const DbUnlock unlock(control_);
  Writer writer(Writer::Kind::kSeal);
  return Submit(&writer);
}

}  // namespace miodb
