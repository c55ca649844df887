// Claims before reads, and each object once.

#include "src/version/state_opener.h"

#include <algorithm>

#include "src/util/check/check.h"

namespace miodb {

// A chunk that was flushed after a savepoint is the payload of tables by now, and was cut off behind its last frame. So
// the extent has at least the bytes that count.
Status StateOpener::OpenChunk(const LogChunkPlace& chunk, uint64_t bytes, ExtentRef* extent) {
  DCHECK(extent != nullptr && *extent == nullptr);
  DCHECK_LE(bytes, chunk.size);
  last_id_ = std::max(last_id_, chunk.id);
  ExtentRef& known = records_[chunk.offset];
  if (known == nullptr) {
    Status s = pool_->Claim(chunk.offset, RoundToUnit(std::max<uint64_t>(bytes, 1)), ExtentKind::kLog, &known);
    if (!s.ok()) return s;
  }
  if (known->size() < bytes || known->kind() != ExtentKind::kLog) {
    return Status::Corruption(pool_->path(), ChunkName(chunk) + " is shorter than what is kept of it");
  }
  DCHECK_EQ(known->offset(), chunk.offset);
  *extent = known;
  return Status::OK();
}

// The first state that names an extent claims it, and the others have to say the same of it, but for its live bytes.
Status StateOpener::OpenPayload(const PayloadPlace& place) {
  DCHECK(place.Sound());
  ExtentRef& known = records_[place.offset];
  if (known == nullptr) {
    Status s = pool_->Claim(place.offset, place.size, place.kind, &known);
    if (!s.ok()) return s;
    known->SetPayloadBytes(place.payload_bytes);
  }
  DCHECK_EQ(known->offset(), place.offset);
  if (known->size() != place.size || known->kind() != place.kind || known->payload_bytes() != place.payload_bytes) {
    return Status::Corruption(
        pool_->path(), "manifest: two states disagree about the extent at offset " + std::to_string(place.offset));
  }
  return Status::OK();
}

Status StateOpener::OpenTable(const TablePlace& place) {
  last_id_ = std::max({last_id_, place.number, place.run});
  if (!place.IsProper()) {
    return Status::Corruption(pool_->path(),
                              "manifest: table " + std::to_string(place.number) + " has no proper place");
  }
  TableRef& table = tables_[place.number];
  if (table != nullptr) {
    DCHECK_EQ(table->number(), place.number);
    if (table->index()->offset() == place.index_offset) return Status::OK();
    return Status::Corruption(pool_->path(), "two tables have the number " + std::to_string(place.number));
  }
  ExtentRef index;
  Status s = pool_->Claim(place.index_offset, place.index_size, ExtentKind::kIndex, &index);
  if (!s.ok()) return s;
  if (place.index_size < sizeof(TableHeader)) return Status::Corruption(pool_->path(), "index extent too short");
  return PMTable::Open(pool_, order_, std::move(index), place.number, checksums_, &table);
}

// The file is asked for its size alone; it is not read unless the manifest had no room for its keys. The manifest's
// description is shared, so keys that are read here go into a copy.
Status StateOpener::OpenFile(const SstPlace& place) {
  DCHECK(ssd_ != nullptr && place.meta != nullptr);
  last_id_ = std::max(last_id_, place.meta->number);
  SstRef& file = files_[place.meta->number];
  if (file != nullptr) return Status::OK();
  std::shared_ptr<const SstMeta> meta = place.meta;
  Status s = ssd_->CheckFile(*meta);
  if (s.ok() && !meta->has_range) {
    auto read = std::make_shared<SstMeta>(*meta);
    s = ssd_->ReadRange(read.get());
    meta = std::move(read);
  }
  if (s.ok()) file = std::make_shared<SstFile>(ssd_, std::move(meta));
  return s;
}

void StateOpener::KeepOnly(const ManifestState& state) {
  DCHECK(ssd_ != nullptr || files_.empty());
  std::erase_if(tables_, [&](const auto& item) { return state.tables.count(item.first) == 0; });
  std::erase_if(files_, [&](const auto& item) { return state.files.count(item.first) == 0; });
  std::erase_if(records_, [](const auto& item) { return item.second.use_count() == 1; });
  DCHECK(tables_.size() <= state.tables.size() && files_.size() <= state.files.size());
}

// The payload comes first, because tables read records.
Status StateOpener::Open(const ManifestState& state) {
  PmRef end = 0;
  for (const auto& [offset, place] : state.payload) {
    if (keeper_ == PayloadKeeper::kPin) break;
    if (offset < end) {
      return Status::Corruption(
          pool_->path(), "manifest: the extent at offset " + std::to_string(offset) + " begins inside of another one");
    }
    DCHECK_EQ(offset, place.offset);
    end = offset + place.size;
    Status s = OpenPayload(place);
    if (!s.ok()) return s;
  }
  for (const auto& [number, place] : state.tables) {
    Status s = OpenTable(place);
    if (!s.ok()) return s;
  }
  if (ssd_ == nullptr && !state.files.empty()) {
    return Status::InvalidArgument(pool_->path(), "the database has " + std::to_string(state.files.size()) +
                                                      " files on SSD; Options::ssd_path is empty");
  }
  for (const auto& [number, place] : state.files) {
    Status s = OpenFile(place);
    if (!s.ok()) return s;
  }
  CHECK(tables_.size() >= state.tables.size() && files_.size() >= state.files.size());
  return Status::OK();
}

}  // namespace miodb
