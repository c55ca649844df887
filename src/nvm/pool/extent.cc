// The destructor of an extent, called by the thread that drops the last reference, gives the space back to the pool.

#include "src/nvm/pool/extent.h"

#include <algorithm>
#include <cstddef>

#include "src/format/index_node.h"
#include "src/nvm/pool/pool.h"
#include "src/util/check/check.h"

namespace miodb {

Extent::Extent(Pool* pool, PmRef offset, uint64_t size, ExtentKind kind)
    : pool_(pool), offset_(offset), size_(size), kind_(kind) {
  CHECK(offset % kExtentUnit == 0 && size % kExtentUnit == 0);
  CHECK_GT(size, 0u);
  CHECK_GE(offset, kPoolHeaderSize);  // which no extent ever covers
}

// The magic number goes before the space is free: afterwards somebody else may own it already. No fence follows, since
// a crash that brings the number back leaves an index that no edit names, as one that was never erased.
Extent::~Extent() {
  if (abandoned_) return;
  if (unnamed_) EraseMagic();
  pool_->Release(offset_, size_ + trimmed_, kind_);
}

// The magic is a single word, so the medium has either the old word or zero.
void Extent::EraseMagic() {
  CHECK(kind_ == ExtentKind::kIndex);
  static_assert(offsetof(TableHeader, magic) == 0);
  const uint64_t zero = 0;
  pool_->persist().Copy(Purpose::kManifest, data(), &zero, sizeof(zero));
}

// At least one unit stays, so that an extent is never empty: every offset that is taken belongs to one extent.
void Extent::Trim(uint64_t size) {
  const uint64_t keep = std::max(RoundToUnit(size), kExtentUnit);
  CHECK_LE(keep, size_);
  trimmed_ += size_ - keep;
  size_ = keep;
}

void Extent::ReleaseTrimmed() {
  DCHECK_EQ(trimmed_ % kExtentUnit, 0u);
  DCHECK(!abandoned_);  // whose tail is in doubt as well
  if (trimmed_ == 0) return;
  pool_->Release(offset_ + size_, trimmed_, kind_);
  trimmed_ = 0;
}

// Before anybody knows the extent by its size, so nothing stands between the two steps.
void Extent::Shrink(uint64_t size) {
  Trim(size);
  ReleaseTrimmed();
}

// Regions know bytes of their file, not references. offset: where the extent begins there.
Region* Extent::RegionOf(uint64_t* offset) const {
  const RegionSet::Member& m = pool_->regions().Of(offset_);
  CHECK(m.base <= offset_ && end() <= m.end());  // no extent crosses from one region into the next
  *offset = offset_ - m.base;
  return m.region.get();
}

void Extent::Populate() const {
  uint64_t offset;
  Region* const region = RegionOf(&offset);
  region->UseHugePages();
  region->Populate(offset, size_);
}

void Extent::PopulatePart(uint64_t from, uint64_t bytes) const {
  DCHECK(from <= size_ && bytes <= size_ - from && from % kExtentUnit == 0);
  uint64_t offset;
  RegionOf(&offset)->Populate(offset + from, bytes);
}

void Extent::PopulateForReading() const {
  uint64_t offset;
  RegionOf(&offset)->PopulateForReading(offset, size_);
}

bool Extent::UseSmallPages(uint64_t from) const {
  DCHECK(kind_ == ExtentKind::kLog);
  CHECK(from < size_ && from % kExtentUnit == 0);
  uint64_t offset;
  return RegionOf(&offset)->UseSmallPages(offset + from, size_ - from);
}

}  // namespace miodb
