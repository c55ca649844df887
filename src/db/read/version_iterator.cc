// The sources of a state, and one walk over the versions that all of them have.

#include <memory>
#include <vector>

#include "src/db/read/db_iter.h"
#include "src/iterator/merging_iterator.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// Bytes that an iterator reads ahead of table files by itself, at most.
constexpr size_t kMostReadahead = 1024 * 1024;

}  // namespace

// A source for each memtable and each run, and those of the SSD tier. Newer sources come first, which the merge does
// not need: it goes by sequences.
std::unique_ptr<InternalIterator> NewVersionIterator(const KeyOrder& order, const ReadState& state, Checksums checksums,
                                                     const ReadOptions& options) {
  DCHECK(state.memtable != nullptr && state.version != nullptr);
  std::vector<std::unique_ptr<InternalIterator>> sources;
  sources.reserve(1 + state.immutables.size() + state.version->runs.size());
  sources.push_back(state.memtable->NewIterator());
  for (const MemTableRef& memtable : state.immutables)
    sources.push_back(memtable->NewIterator(memtable->max_sequence()));
  for (const Run* run : state.version->runs) sources.push_back(NewRunIterator(run, order, checksums));
  if (state.version->ssd != nullptr) {
    const size_t start = options.readahead_size, most = start > 0 ? start : kMostReadahead;
    SstReader::ReadMode mode{checksums, options.fill_cache, start, most};
    mode.caller = BlockCaller::kIterator;
    state.version->ssd->AddIterators(mode, &sources);
  }
  return NewMergingIterator(order, std::move(sources));
}

}  // namespace miodb
