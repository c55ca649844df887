// Reading the manifest between two looks at the root.

#include "src/version/manifest/manifest_reader.h"

#include <atomic>

#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

// Nothing is locked. A record counts once it checks, so a record that is being stored does not count yet. The owner
// leaves an area by switching the root, and uses the area again for the roll-over after the next at the earliest. So if
// the root is the same before and after a look, the bytes read between were those of the area that it names.

namespace miodb {

namespace {

// The owner would have to roll over as often while a few records are read.
constexpr int kMostAttempts = 64;

}  // namespace

Status ManifestReader::ReadArea(const RootSlot& root) {
  DCHECK_GT(root.epoch, 0u);
  const AreaPlace area{root.manifest_offset, root.manifest_size, root.generation, UINT64_MAX};
  if (area.size <= kAreaFooterBytes || !pool_->Readable(area.offset, area.size)) {
    return DamagedManifest(pool_->path(), area.offset, "the root names no area");
  }
  if (root.epoch != root_.epoch || root.generation != root_.generation) {
    root_ = root;
    at_ = AreaPosition();
    state_ = ManifestState();
  }
  const uint64_t before = at_.records;
  const Status s = NoThrow(pool_->path(), [&] { return ReplayArea(*pool_, area, &state_, &at_); });
  DCHECK_GE(at_.records, before);
  edits_ += at_.records - before;
  DCHECK(!s.ok() || at_.bytes <= AreaRecordsEnd(area.size));
  if (!s.ok()) root_ = RootSlot{};  // what was applied by half is read anew
  return s;
}

Status ManifestReader::Follow() {
  Status unreadable;
  for (int attempt = 0; attempt < kMostAttempts; attempt++) {
    RootSlot before, after;
    Status s = pool_->ReadRoot(&before);
    if (!s.ok()) {
      unreadable = s;  // the owner may be storing both copies of it, one after the other
      continue;
    }
    s = ReadArea(before);
    std::atomic_thread_fence(std::memory_order_acquire);  // what was read comes before the second look
    if (!pool_->ReadRoot(&after).ok()) continue;
    if (after.epoch == before.epoch && after.generation == before.generation) return s;
  }
  if (!unreadable.ok()) return unreadable;
  return Status::IOError(pool_->path(), "the manifest was left faster than it could be read; try again");
}

}  // namespace miodb
