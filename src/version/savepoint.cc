// The parts of a savepoint.

#include "src/version/savepoint.h"

#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

// Lists are in key order, so an item is where its smallest key is.
template <typename List, typename Smaller>
bool HasAt(const List& list, const typename List::value_type& item, Smaller smaller) {
  const size_t place = list.CountBefore(smaller);
  return place < list.size() && list[place] == item;
}

}  // namespace

// Chunks that the state does not name have been flushed: their records are in its tables.
std::shared_ptr<Savepoint> MakeSavepoint(const SavepointEntry& entry, const ManifestState& state) {
  DCHECK(!entry.name.empty() && entry.sequence >= state.flushed_sequence);
  auto savepoint = std::make_shared<Savepoint>();
  savepoint->entry = entry;
  savepoint->flushed_sequence = state.flushed_sequence;
  savepoint->next_family = state.next_family;
  savepoint->families = state.families;
  for (const ChunkPart& part : entry.chunks) {
    const auto chunk = state.chunks.find(part.id);
    if (chunk == state.chunks.end()) continue;
    SavedChunk& saved = savepoint->log.emplace_back();
    saved.place = chunk->second;
    saved.place.sealed_size = MIODB_MUTATED(kSavedChunksWhole) ? saved.place.frame_limit() : part.bytes;
    saved.place.sealed = true;
  }
  DCHECK_LE(savepoint->log.size(), entry.chunks.size());
  return savepoint;
}

bool Has(const KeyOrder& order, const Version& version, const TableRef& table) {
  DCHECK(table != nullptr);
  for (const Run* run : version.runs) {
    if (HasAt(run->tables, table,
              [&](const TableRef& other) { return order.Compare(other->smallest(), table->smallest()) < 0; })) {
      return true;
    }
  }
  return false;
}

bool Has(const KeyOrder& order, const Version& version, const SstRef& file) {
  DCHECK(file != nullptr);
  if (version.ssd == nullptr) return false;
  for (const auto& level : version.ssd->levels) {
    if (HasAt(level, file,
              [&](const SstRef& other) { return order.Compare(other->meta().smallest, file->meta().smallest) < 0; })) {
      return true;
    }
  }
  return false;
}

}  // namespace miodb
