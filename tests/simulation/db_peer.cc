#include "tests/simulation/db_peer.h"

#include <map>

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

uint64_t DBPeer::LastSequence(DB* db) { return Impl(db)->last_sequence_.load(); }

std::string DBPeer::CheckSpace(DB* db) {
  DBImpl* const impl = Impl(db);
  MutexLock lock(&impl->mutex_);
  // Tables that wait for their filters although no version has them any more; the flush thread lets them go.
  std::erase_if(impl->unfiltered_, [](const TableRef& table) { return table.use_count() == 1; });
  SpaceMap space;
  RootSlot root;
  if (!impl->pool_->ReadRoot(&root).ok()) return "the root cannot be read";
  space.Add(root.manifest_offset, root.manifest_size);
  for (const auto& [id, chunk] : impl->versions_->manifest().chunks) space.Add(chunk.offset, chunk.size);
  for (const auto& [number, place] : impl->versions_->manifest().tables)
    space.Add(place.index_offset, place.index_size);
  for (const auto& level : impl->versions_->current()->levels) {
    for (const RunRef& run : level) {
      for (const TableRef& table : run->tables) {
        for (const PayloadRef& p : table->payload()) space.Add(p.extent->offset(), p.extent->size());
      }
    }
  }
  // With the log off memtables hold space that no crash could leave anything in.
  const auto add_reserved = [&](const LogChunk& chunk) {
    if (chunk.reserved != nullptr) space.Add(chunk.reserved->offset(), chunk.reserved->size());
  };
  for (const auto& chunk : impl->spare_chunks_) add_reserved(*chunk);
  for (const auto& chunk : impl->memtable_->segment().chunks) add_reserved(*chunk);
  for (const MemTableRef& memtable : impl->immutables_) {
    for (const auto& chunk : memtable->segment().chunks) add_reserved(*chunk);
  }
  if (space.Overlaps()) return "extents overlap";
  const uint64_t spare = impl->versions_->manifest_bytes() - root.manifest_size;
  const uint64_t wanted =
      kPoolHeaderSize * static_cast<uint64_t>(impl->pool_->regions().count()) + space.bytes() + spare;
  const uint64_t used = impl->pool_->used_bytes();
  if (used == wanted) return "";
  return std::to_string(used) + " bytes of the pool are in use, accounted for are " + std::to_string(wanted);
}

bool DBPeer::MarkOneExtent(DB* db) {
  DBImpl* const impl = Impl(db);
  MutexLock lock(&impl->mutex_);
  Extent* best = nullptr;
  uint64_t most = 0;
  impl->versions_->ForEachPayload([&](Extent* extent, uint64_t live) {
    const uint64_t garbage = extent->payload_bytes() - std::min(live, extent->payload_bytes());
    if (garbage <= most || extent->evacuate.load()) return;
    best = extent;
    most = garbage;
  });
  if (best != nullptr) best->evacuate.store(true);
  return best != nullptr;
}

void DBPeer::AppendToRecoveredLog(DB* db) {
  DBImpl* const impl = Impl(db);
  MutexLock lock(&impl->mutex_);
  if (impl->immutables_.empty()) return;
  impl->memtable_ = impl->immutables_.front();
  impl->immutables_.pop_front();
  impl->writable_ = impl->memtable_.get();
  LogChunk* const chunk = impl->memtable_->segment().chunks.back().get();
  chunk->capacity = chunk->extent->size();
  impl->chunk_ = chunk;
  impl->PublishState();
}

int DBPeer::Regions(DB* db) { return Impl(db)->pool_->regions().count(); }

size_t DBPeer::TablesAt(DB* db, int level) {
  DBImpl* const impl = Impl(db);
  MutexLock lock(&impl->mutex_);
  const auto& levels = impl->versions_->current()->levels;
  size_t tables = 0;
  for (const RunRef& run : levels[static_cast<size_t>(level < 0 ? static_cast<int>(levels.size()) + level : level)]) {
    tables += run->tables.size();
  }
  return tables;
}

}  // namespace miodb
