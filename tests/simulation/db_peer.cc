#include "tests/simulation/db_peer.h"

#include <map>

#include "src/db/open/db_parts.h"

namespace miodb {

namespace {

DBImpl* Impl(DB* db) { return static_cast<DBImpl*>(db); }

// Extents by offset, to find out whether two overlap.
class SpaceMap {
 public:
  void Add(uint64_t offset, uint64_t size) {
    const auto [it, fresh] = extents_.emplace(offset, size);
    if (fresh) {
      bytes_ += size;
    } else if (it->second != size) {
      conflict_ = true;
    }
  }
  bool Overlaps() const {
    uint64_t end = 0;
    for (const auto& [offset, size] : extents_) {
      if (offset < end) return true;
      end = offset + size;
    }
    return conflict_;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  std::map<uint64_t, uint64_t> extents_;
  uint64_t bytes_ = 0;
  bool conflict_ = false;
};

}  // namespace

uint64_t DBPeer::LastSequence(DB* db) { return Impl(db)->tree_->last_sequence.load(); }

std::string DBPeer::CheckSpace(DB* db) {
  DBImpl* const impl = Impl(db);
  DbLock lock(impl->control_.get());
  SpaceMap space;
  RootSlot root;
  if (!impl->context_->pool->ReadRoot(&root).ok()) return "the root cannot be read";
  space.Add(root.manifest_offset, root.manifest_size);
  for (const auto& [id, chunk] : impl->tree_->versions->manifest().chunks) space.Add(chunk.offset, chunk.size);
  for (const auto& [number, place] : impl->tree_->versions->manifest().tables)
    space.Add(place.index_offset, place.index_size);
  for (const ExtentRef& extent : impl->tree_->versions->current()->payload) space.Add(extent->offset(), extent->size());
  for (const auto& [id, savepoint] : impl->tree_->versions->savepoints()) {
    for (const SavedChunk& chunk : savepoint->log) {
      // A flush that found no room has trimmed the extent and released nothing: the manifest names the whole chunk.
      if (impl->tree_->versions->manifest().chunks.count(chunk.place.id) > 0) continue;
      space.Add(chunk.extent->offset(), chunk.extent->size());
    }
    for (const ExtentRef& extent : savepoint->version->payload) space.Add(extent->offset(), extent->size());
    for (const Run* run : savepoint->version->runs) {
      for (const TableRef& table : run->tables) space.Add(table->index()->offset(), table->index()->size());
    }
  }
  for (const auto& [id, extent] : impl->tree_->versions->kept()) space.Add(extent->offset(), extent->size());
  // With the log off memtables hold space that no crash could leave anything in.
  const auto add_reserved = [&](const LogChunk& chunk) {
    if (chunk.reserved != nullptr) space.Add(chunk.reserved->offset(), chunk.reserved->size());
  };
  for (const auto& chunk : impl->space_->spares()) add_reserved(*chunk);
  for (const auto& chunk : impl->tree_->memtable->segment().chunks) add_reserved(*chunk);
  for (const MemTableRef& memtable : impl->tree_->immutables) {
    for (const auto& chunk : memtable->segment().chunks) add_reserved(*chunk);
  }
  if (space.Overlaps()) return "extents overlap";
  const uint64_t spare = impl->tree_->versions->manifest_bytes() - root.manifest_size;
  const uint64_t wanted =
      kPoolHeaderSize * static_cast<uint64_t>(impl->context_->pool->regions().count()) + space.bytes() + spare;
  const uint64_t used = impl->context_->pool->used_bytes();
  if (used == wanted) return "";
  return std::to_string(used) + " bytes of the pool are in use, accounted for are " + std::to_string(wanted);
}

uint64_t DBPeer::KeepsLog(DB* db) { return Impl(db)->context_->options.keep_log_bytes; }

bool DBPeer::MarkOneExtent(DB* db) {
  DBImpl* const impl = Impl(db);
  DbLock lock(impl->control_.get());
  const Extent* best = nullptr;
  for (const ExtentRef& extent : impl->tree_->versions->current()->payload) {
    if (extent->live_bytes >= extent->payload_bytes()) continue;
    if (best == nullptr || extent->live_bytes * best->payload_bytes() < best->live_bytes * extent->payload_bytes())
      best = extent.get();
  }
  if (best == nullptr) return false;
  const MarkState marks = impl->scheduler_->marks().state();
  if (marks == MarkState::kWanted || marks == MarkState::kSearching) return true;
  MarkRequest request;
  request.budget = best->live_bytes;
  impl->scheduler_->WantMarks(request);
  return true;
}

void DBPeer::AppendToRecoveredLog(DB* db) {
  DBImpl* const impl = Impl(db);
  DbLock lock(impl->control_.get());
  if (impl->tree_->immutables.empty()) return;
  impl->tree_->memtable = impl->tree_->immutables.front();
  impl->tree_->immutables.pop_front();
  impl->write_->writable_ = impl->tree_->memtable.get();
  LogChunk* const chunk = impl->tree_->memtable->segment().chunks.back().get();
  chunk->capacity = chunk->extent->size();
  impl->write_->chunk_ = chunk;
  impl->tree_->Publish();
}

WriteLanes* DBPeer::OpenLanes(DB* db) {
  WritePath* const path = Impl(db)->write_.get();
  if (path->lanes_.open()) return &path->lanes_;
  const bool possible = path->fence_is_quick_ && path->chunk_ != nullptr && path->chunk_->in_pool();
  if (!possible || path->writable_->empty()) return nullptr;
  path->OpenLanes();
  return &path->lanes_;
}

int DBPeer::Regions(DB* db) { return Impl(db)->context_->pool->regions().count(); }

size_t DBPeer::TablesAt(DB* db, int level) {
  DBImpl* const impl = Impl(db);
  DbLock lock(impl->control_.get());
  const auto& levels = impl->tree_->versions->current()->levels;
  size_t tables = 0;
  for (const RunRef& run : levels[static_cast<size_t>(level < 0 ? static_cast<int>(levels.size()) + level : level)]) {
    tables += run->tables.size();
  }
  return tables;
}

}  // namespace miodb
