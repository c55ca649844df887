// ReadPath: gets (read_path.cc tells one step by step), many gets in one call (multi_get.cc), iterators, and sizes of
// ranges. No read takes the database's mutex.
//
// Threads: all calls by any. After a crash: reads change nothing.

#ifndef MIODB_SRC_DB_READ_READ_PATH_H_
#define MIODB_SRC_DB_READ_READ_PATH_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "miodb/db.h"
#include "src/db/context/db_context.h"
#include "src/db/read/db_iter.h"
#include "src/db/read/dead_stretches.h"
#include "src/db/read/kept_records.h"
#include "src/db/state/read_sources.h"
#include "src/iterator/lookup_key.h"
#include "src/util/check/check.h"
#include "src/util/files/read_rings.h"
#include "src/util/threads/fork_guard.h"
#include "src/util/threads/helper_threads.h"

namespace miodb {

class ReadPath {
 public:
  // The sources outlive this.
  ReadPath(DbContext& db, ReadSources* sources)
      : db_(db),
        order_(db.order),
        sources_(sources),
        dead_(db.order),
        verified_dead_(db.order),
        kept_(db.options.record_cache_size > 0 ? std::make_unique<KeptRecords>(db.options.record_cache_size) : nullptr),
        helpers_(db.options.multi_get_threads) {
    CHECK(sources != nullptr);
  }
  ReadPath(const ReadPath&) = delete;
  ReadPath& operator=(const ReadPath&) = delete;

  // Before a call of a reader's: see ReadSources.
  Status BeforeRead() const { return sources_->BeforeRead(); }

  // As DB's calls of these names.
  Status Get(const ReadOptions& options, const Slice& key, std::string* value);
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value);
  // *expiry_micros stays as it is if nothing that is found expires.
  Status GetWithExpiry(const ReadOptions& options, const Slice& key, std::string* value, uint64_t* expiry_micros);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<PinnableSlice>* values);
  bool KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value, bool* value_found);

  // Whether no key has a version behind its sequence, nor has reached its expiry: Busy if one has (unchanged.cc).
  // *as_of: the moment of the answer.
  Status CheckUnchanged(const std::vector<KeyAsOf>& keys, uint64_t* as_of);

  // The same of what was written since that moment, and of the expiries. By the leader of a group of writes, with the
  // lanes closed.
  Status CheckUnchangedSince(const std::vector<KeyAsOf>& keys, uint64_t as_of);

  // Makes an iterator over a column family. The iterator keeps its state pinned. Throws bad_alloc without memory.
  Iterator* MakeIterator(const ReadOptions& options, uint32_t family = kDefaultFamily);

  // Adds the bytes of the records of each range to sizes.
  void SumSizes(const Range* range, int n, uint64_t* sizes);

  // Whether any version of any key begins with these bytes, at whatever sequence. Under a comparator that is not
  // bytewise also whether a bound of a range deletion does.
  Status HasKeysWith(const Slice& beginning, bool* has);

  // How many versions there are of keys in the range; of those in table files about as many.
  uint64_t CountEntries(const Range& range);

  // The records of the pool that gets keep; null: they keep none.
  const KeptRecords* kept() const { return kept_.get(); }

 private:
  struct MultiGetCall;

  uint64_t ReadSequence(const ReadOptions& options) const;

  // Calls use(pin, sequence) with a state and the newest sequence that it shows whole.
  template <typename Use>
  auto AtNewest(Use use) {
    for (;;) {
      ReadStates::Pin pin(&sources_->states);
      if (db_.hooks.after_pin != nullptr) [[unlikely]]
        db_.hooks.after_pin();
      const uint64_t sequence = ReadSequence(ReadOptions());
      if (pin.IsCurrent()) [[likely]]
        return use(pin, sequence);
    }
  }

  // A block, or a record that is kept, that a slice of the program refers to.
  struct PinnedBlock {
    explicit PinnedBlock(BlockPin block) : pin(std::move(block)) {}

    ForkGuard guard;
    BlockPin pin;
  };

  static void PrefetchFilters(const LookupKey& lookup, const ReadState& state);
  Status FindInPool(const LookupKey& lookup, const ReadState& state, bool* found, RecordView* record);
  Status FindAt(const ReadOptions& options, const LookupKey& lookup, const ReadState& state, BlockPin* block,
                bool* found, RecordView* record);
  Status Find(const ReadOptions& options, const Slice& key, ReadStates::Pin* pin, BlockPin* block, bool* found,
              RecordView* record);
  bool HidesKey(const RecordView& record) const;
  Status FoldOperands(const ReadOptions& options, const ReadState& state, const Slice& key, uint64_t sequence,
                      uint64_t now_micros, std::string* value, uint64_t* expiry_micros) const;
  template <typename Use, typename UseMade>
  Status GetPinned(const ReadOptions& options, const Slice& key, uint64_t* expiry_micros, Use use, UseMade use_made);
  Status CheckExpiry(const KeyAsOf& known) const;
  Status FindNewest(const Slice& key, uint64_t sequence, ReadStates::Pin* pin, uint64_t* newest);
  Status FindNewestSince(const Slice& key, uint64_t sequence, ReadStates::Pin* pin, uint64_t* newest);
  static void PinMade(std::string* made, PinnableSlice* value);
  static void PinValue(const Slice& bytes, ReadState* state, BlockPin* block, PinnableSlice* value);
  static void UnpinBlock(void* block);
  static void UnpinState(void* state);
  ReadPoint NewReadPoint(const ReadOptions& options);
  Status NewestPoint(ReadPoint* point);

  template <typename Value>
  std::vector<Status> GetMany(const ReadOptions& options, const std::vector<Slice>& keys, std::vector<Value>* values);
  void Store(MultiGetCall* call, size_t i, const Status& s, bool found, const RecordView& record,
             BlockPin* block) const;
  void RunMultiGet(MultiGetCall* call);
  void GetFromPool(MultiGetCall* call);
  void GetGroupsFromSsd(MultiGetCall* call);
  void GetFromSsd(MultiGetCall* call, size_t i, const BlockReads* blocks_read);

  DbContext& db_;
  const KeyOrder order_;
  ReadSources* const sources_;
  DeadStretches dead_;                       // that iterators have found
  DeadStretches verified_dead_;              // the same of iterators that verify what they read
  const std::unique_ptr<KeptRecords> kept_;  // null: none are
  HelperThreads helpers_;                    // for MultiGet
  ReadRings read_rings_;                     // the same
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_READ_PATH_H_
