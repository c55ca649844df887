// Many gets in one call, step by step:
//
//   1 Pin the state and choose the sequence once, so that all keys are read as of one moment.
//   2 Look for each key in the memtables and in the pool. Every search is made in steps (pool_search.h): filter, nodes,
//     leaf, entry, record. The searches of a window take one step each in turn; then what their next steps read is
//     asked for together, so that the misses of the caches and of the TLB overlap. Where a search is over its value is
//     copied and the next key takes its place.
//   3 The keys that are left lie on SSD, or nowhere. The blocks that a group of keys needs are read side by side with
//     io_uring, then the keys are looked for in them. A filter that was wrong costs a read of its own. A single thread
//     cannot keep a fast disk busy, so helper threads take groups as well if there are several.
//   4 Where there is no io_uring, helper threads and the caller look for the keys side by side. The caller keeps the
//     state pinned for all of them.
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <type_traits>
#include <utility>

#include "src/db/read/pool_search.h"
#include "src/db/read/read_path.h"
#include "src/format/expiry.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// Searches that take their steps in turn: more than a processor has misses under way, and few enough to stay in the
// nearest cache with what they have asked for. Half and twice as many were the same within the noise.
constexpr size_t kWindow = 32;

// Keys whose blocks are read together: enough for a disk to overlap, and no more than a ring takes at a time.
constexpr size_t kLeastReadKeys = 16;
constexpr size_t kMostReadKeys = 64;

}  // namespace

// The objects of a call. A key's status and value belong to the thread that looks for the key.
struct ReadPath::MultiGetCall {
  const ReadOptions& options;
  const std::vector<Slice>& keys;
  std::vector<std::string>* values;    // copies go here
  std::vector<PinnableSlice>* pinned;  // or values that stay where they are; the other is nullptr
  std::vector<Status> statuses;
  ReadState* state = nullptr;
  std::vector<LookupKey> lookups;
  std::vector<size_t> on_ssd;  // indexes of the keys that the pool does not have

  // The date of the call, which the first key asks the clock for that needs it. relaxed: whoever comes first has it for
  // all, and nothing is published with it.
  uint64_t DateFrom(const DbContext& db) {
    uint64_t seen = date_micros.load(std::memory_order_relaxed);
    if (seen != 0) return seen;
    const uint64_t now = db.WallMicros();
    return date_micros.compare_exchange_strong(seen, now, std::memory_order_relaxed) ? now : seen;
  }

  std::atomic<uint64_t> date_micros{0};
};

// block: holds the record's bytes if the pool does not.
void ReadPath::Store(MultiGetCall* call, size_t i, const Status& s, bool found, const RecordView& record,
                     BlockPin* block) const {
  DCHECK(i < call->statuses.size() && (call->values == nullptr) != (call->pinned == nullptr));
  Status& status = call->statuses[i];
  status = s;
  if (!s.ok()) return;
  if (found && call->state->has_ranges()) [[unlikely]]
    found = record.sequence() > call->state->NewestRange(call->keys[i], call->lookups[i].sequence);
  const bool expires = found && record.type() == kTypeExpiringValue;
  if (!found || IsTombstone(record.type()) || (expires && HasExpired(record, call->DateFrom(db_)))) {
    status = Status::NotFound(Slice());
  } else if (!IsPut(record.type())) {  // an operand; the walk also judges what is damaged, as in a get
    std::string made;
    status = FoldOperands(call->options, *call->state, call->keys[i], record.sequence(), call->DateFrom(db_), &made,
                          nullptr);
    if (!status.ok()) return;
    call->values != nullptr ? (*call->values)[i].swap(made) : PinMade(&made, &(*call->pinned)[i]);
  } else if (call->values != nullptr) {
    const Slice value = UserValue(record);
    (*call->values)[i].assign(value.data(), value.size());
  } else {
    PinValue(UserValue(record), call->state, block, &(*call->pinned)[i]);
  }
}

// Pins that *values holds are released first, so that a key that is not found keeps no pin.
template <typename Value>
std::vector<Status> ReadPath::GetMany(const ReadOptions& options, const std::vector<Slice>& keys,
                                      std::vector<Value>* values) {
  if (db_.fork_guard.InChild()) return std::vector<Status>(keys.size(), db_.InChild());
  if (db_.tracer.active()) [[unlikely]]
    db_.tracer.MultiGet(keys);
  MultiGetCall call{options, keys, nullptr, nullptr, {}, nullptr, {}, {}};
  if constexpr (std::is_same_v<Value, std::string>) {
    call.values = values;
  } else {
    values->clear();
    call.pinned = values;
  }
  Status s = db_.WithMemory([&] {
    call.statuses.resize(keys.size());
    values->resize(keys.size());
    RunMultiGet(&call);
    return Status::OK();
  });
  if (!s.ok()) std::fill(call.statuses.begin(), call.statuses.end(), s);
  return std::move(call.statuses);
}

std::vector<Status> ReadPath::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) {
  return GetMany(options, keys, values);
}

std::vector<Status> ReadPath::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                       std::vector<PinnableSlice>* values) {
  return GetMany(options, keys, values);
}

void ReadPath::RunMultiGet(MultiGetCall* call) {
  ReadStates::Pin pin(&sources_->states);
  call->state = pin.get();
  const uint64_t sequence = ReadSequence(call->options);
  call->lookups.reserve(call->keys.size());
  const Checksums checksums = db_.ChecksumsOf(call->options);
  for (const Slice& key : call->keys) call->lookups.emplace_back(order_, key, sequence, checksums);
  GetFromPool(call);
  if (db_.options.multi_get_io_uring && read_rings_.possible() && call->on_ssd.size() > 1) GetGroupsFromSsd(call);
  helpers_.Run(call->on_ssd.size(), [&](size_t i) { GetFromSsd(call, call->on_ssd[i], nullptr); });
}

// Takes the steps of as many searches in turn as the window holds, and starts the next one where one is over.
void ReadPath::GetFromPool(MultiGetCall* call) {
  const size_t keys = call->keys.size();
  DCHECK_EQ(call->lookups.size(), keys);
  const PoolSources sources(*call->state, order_);
  std::array<PoolSearch, kWindow> window;
  PrefetchList wanted;
  size_t live = std::min(keys, kWindow);
  size_t next = 0;
  for (; next < live; next++) window[next].Start(sources, call->lookups[next], next);
  while (live > 0) {
    for (size_t i = 0; i < live; i++) {
      PoolSearch& search = window[i];
      if (!search.Step(&wanted)) continue;
      if (search.status().ok() && !search.found() && call->state->version->ssd != nullptr) {
        call->on_ssd.push_back(search.index());
      } else {
        BlockPin none;
        Store(call, search.index(), search.status(), search.found(), search.record(), &none);
      }
      if (next < keys) {
        search.Start(sources, call->lookups[next], next);
        next++;
      } else {
        std::swap(search, window[--live]);
      }
    }
    wanted.Issue();
  }
}

// Looks for the keys of groups whose blocks can be read together, and leaves the others in on_ssd.
void ReadPath::GetGroupsFromSsd(MultiGetCall* call) {
  const size_t keys = call->on_ssd.size();
  const size_t share = keys / (static_cast<size_t>(db_.options.multi_get_threads) + 1);
  const size_t group = std::clamp(share, kLeastReadKeys, kMostReadKeys);
  DCHECK(keys > 0 && call->state->version->ssd != nullptr);
  std::vector<uint8_t> looked((keys + group - 1) / group, 0);  // bytes, because several threads write them
  helpers_.Run(looked.size(), [&](size_t i) {
    const size_t begin = i * group, end = std::min(keys, begin + group);
    BlockReads reads;
    Status s = db_.WithMemory([&] {
      for (size_t k = begin; k < end; k++) call->state->version->ssd->PlanGet(call->lookups[call->on_ssd[k]], &reads);
      return reads.Run(&read_rings_) ? Status::OK() : Status::NotSupported("not with a ring");
    });
    if (!s.ok()) return;
    db_.statistics.ring_reads.Add(reads.count());
    for (size_t k = begin; k < end; k++) GetFromSsd(call, call->on_ssd[k], &reads);
    looked[i] = 1;
  });
  size_t left = 0;
  for (size_t k = 0; k < keys; k++) {
    if (looked[k / group] == 0) call->on_ssd[left++] = call->on_ssd[k];
  }
  call->on_ssd.resize(left);
}

void ReadPath::GetFromSsd(MultiGetCall* call, size_t i, const BlockReads* blocks_read) {
  Status s = db_.WithMemory([&] {
    bool found = false;
    RecordView record;
    BlockPin block;
    SstReader::ReadMode mode = db_.SsdReadMode(call->options, BlockCaller::kMultiGet);
    mode.blocks_read = blocks_read;
    Status read = call->state->version->ssd->Get(call->lookups[i], mode, call->options.snapshot == nullptr, &block,
                                                 &found, &record);
    Store(call, i, read, found, record, &block);
    return read;
  });
  if (!s.ok()) call->statuses[i] = s;
}

}  // namespace miodb
