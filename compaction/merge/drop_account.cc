// The extents found last are looked at first: entries that follow each other often lie in the same one. The last one of
// copies is kept beside that of the log, because a merge takes entries of both in turn, and copies lie in key order.

#include "compaction/merge/drop_account.h"

#include <algorithm>
#include <utility>

#include "src/util/check/mutation.h"

namespace miodb {

void PayloadExtents::MakeBounds() const {
  CHECK(extents_.empty());
  if (entries_ <= payload_.size()) return;
  std::vector<PayloadBounds::Bounds> bounds;
  std::vector<const ExtentRef*> extents;
  bounds.reserve(payload_.size());
  extents.reserve(payload_.size());
  for (const ExtentRef& extent : payload_) {
    bounds.push_back({extent->offset(), extent->end()});
    extents.push_back(&extent);
  }
  CHECK_EQ(extents.size(), payload_.size());
  bounds_.Set(std::move(bounds));  // which checks that they lie apart
  extents_ = std::move(extents);   // when nothing can be thrown any more
}

const ExtentRef* PayloadExtents::Find(PmRef ref) const {
  std::call_once(made_, [this] { MakeBounds(); });
  const ExtentRef* found = nullptr;
  if (extents_.empty()) {
    found = FindItem(payload_, ref);
  } else if (const size_t i = bounds_.IndexOf(ref); i != PayloadBounds::kNone) {
    found = extents_[i];
  }
  DCHECK(found == nullptr || (*found)->Contains(ref));
  DCHECK(!kChecksWhole || found == FindItem(payload_, ref));
  return found;
}

const ExtentRef* DropAccount::FindItem(PmRef ref) {
  for (const ExtentRef* last : last_) {
    if (last != nullptr && (*last)->Contains(ref)) return last;
  }
  const ExtentRef* const found = payload_.Find(ref);
  if (found != nullptr) last_[(*found)->kind() == ExtentKind::kSettled] = found;
  return found;
}

Status DropAccount::Drop(const PMTable& table, IndexWord word) {
  const ExtentRef* const extent = FindItem(word.ref());
  if (extent == nullptr || word.size() == 0) return OutsideOfPayload(table, word);
  if (MIODB_MUTATED(kDropUncounted)) return Status::OK();
  uint64_t& bytes = pending_[extent];
  if (bytes + word.size() > 2 * (*extent)->size()) return OutsideOfPayload(table, word);  // sizes of damaged words
  bytes += MIODB_MUTATED(kDropCountedTwice) ? 2 * word.size() : word.size();
  return Status::OK();
}

Status DropAccount::DropAll(const PMTable& table) {
  CHECK_GT(table.entries(), 0u);
  Status s;
  const Status walked = ForEachWord(table, [&](IndexWord word) {
    s = Drop(table, word);
    return s.ok();
  });
  return walked.ok() ? s : walked;
}

void DropAccount::Commit() {
  for (const auto& [extent, bytes] : pending_) {
    DCHECK_GT(bytes, 0u);
    kept_[extent] += bytes;
  }
  pending_.clear();
}

void DropAccount::Absorb(DropAccount* other) {
  CHECK(pending_.empty() && other->pending_.empty());
  DCHECK_EQ(&payload_, &other->payload_);
  for (const auto& [extent, bytes] : other->kept_) kept_[extent] += bytes;
  other->kept_.clear();
}

// In order, because neighbours share most of the way through the manifest's map, which an edit goes under the mutex.
std::vector<DroppedPayload> DropAccount::Take() {
  CHECK(pending_.empty());
  std::vector<DroppedPayload> result;
  result.reserve(kept_.size());
  for (const auto& [extent, bytes] : kept_) {
    CHECK(extent != nullptr && bytes > 0);
    result.push_back({*extent, bytes});
  }
  std::sort(result.begin(), result.end(),
            [](const DroppedPayload& a, const DroppedPayload& b) { return a.extent->offset() < b.extent->offset(); });
  kept_.clear();
  return result;
}

Status DropTables(const ExtentList& payload, const std::vector<TableRef>& tables,
                  std::vector<DroppedPayload>* dropped) {
  CHECK(dropped != nullptr);
  const uint64_t entries = EntriesOf(tables);
  CHECK_GE(entries, tables.size());
  const PayloadExtents extents(payload, entries);
  DropAccount account(extents);
  for (const TableRef& table : tables) {
    Status s = account.DropAll(*table);
    if (!s.ok()) return s;
  }
  account.Commit();
  *dropped = account.Take();
  return Status::OK();
}

Status OutsideOfPayload(const PMTable& table, IndexWord word) {
  return Status::Corruption(table.pool()->path(), "table " + std::to_string(table.number()) + " refers to offset " +
                                                      std::to_string(word.ref()) + ", outside of its payload");
}

}  // namespace miodb
