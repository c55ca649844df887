#include "src/nvm/extent.h"

#include <algorithm>

#include "src/nvm/pool.h"
#include "src/util/check.h"

namespace miodb {

Extent::Extent(Pool* pool, PmRef offset, uint64_t size, ExtentKind kind)
    : pool_(pool), offset_(offset), size_(size), kind_(kind) {
  CHECK(offset % kExtentUnit == 0 && size % kExtentUnit == 0);
  CHECK_GT(size, 0u);
}

Extent::~Extent() {
  if (abandoned_) return;
  if (dropped_) EraseMagic();
  pool_->Release(offset_, size_ + trimmed_);
}

void Extent::EraseMagic() {
  CHECK(kind_ == ExtentKind::kIndex);
  const uint64_t zero = 0;
  pool_->persist().Copy(Purpose::kManifest, data(), &zero, sizeof(zero));
}

void Extent::Trim(uint64_t size) {
  const uint64_t keep = std::max(RoundToUnit(size), kExtentUnit);
  CHECK_LE(keep, size_);
  trimmed_ += size_ - keep;
  size_ = keep;
}

void Extent::ReleaseTrimmed() {
  DCHECK_EQ(trimmed_ % kExtentUnit, 0u);
  if (trimmed_ == 0) return;
  pool_->Release(offset_ + size_, trimmed_);
  trimmed_ = 0;
}

void Extent::Shrink(uint64_t size) {
  Trim(size);
  ReleaseTrimmed();
}

void Extent::Populate() const {
  const RegionSet::Member& m = pool_->regions().Of(offset_);
  m.region->Populate(offset_ - m.base, size_);
}

void Extent::PopulateForReading() const {
  const RegionSet::Member& m = pool_->regions().Of(offset_);
  m.region->PopulateForReading(offset_ - m.base, size_);
}

}  // namespace miodb
