#include "src/version/manifest.h"

#include <algorithm>
#include <cstring>

#include "src/util/coding.h"
#include "src/util/hash.h"
#include "src/util/mutation.h"

namespace miodb {

namespace {

constexpr uint64_t kRecordHeader = 24;

// Areas are this long or four snapshots, whichever is more; in a small pool the first figure is a page.
constexpr uint64_t kAreaSize = 64 * 1024;
constexpr uint64_t kSmallPool = 16 * 1024 * 1024;
#ifdef MIODB_SIMULATOR
constexpr uint64_t kSmallAreaSize = 2048;
#else
constexpr uint64_t kSmallAreaSize = 4096;
#endif

// An area has room for at least this much after its snapshot.
constexpr uint64_t kLeastRoom = kExtentUnit / 8;

uint64_t PaddedSize(uint64_t payload_size) { return (kRecordHeader + payload_size + 7) / 8 * 8; }

uint64_t RecordChecksum(uint64_t generation, uint64_t edit_number, const Slice& payload) {
  if (MIODB_MUTATED(kManifestGenerationUnseeded)) generation = 0;
  return Hash64(payload.data(), payload.size(), Mix64(generation, edit_number));
}

struct RecordAt {
  uint64_t edit_number;
  Slice payload;
};

// Whether a whole record of this generation starts at position.
bool ReadRecord(const char* area, uint64_t size, uint64_t position, uint64_t generation, RecordAt* record) {
  if (position + kRecordHeader > size) return false;
  const char* const p = area + position;
  const uint64_t payload_size = DecodeFixed32(p);
  if (payload_size == 0) return false;  // of no record: spares a checksum at every place that is blank
  if (DecodeFixed32(p + 4) != 0 || PaddedSize(payload_size) > size - position) return false;
  record->edit_number = DecodeFixed64(p + 8);
  record->payload = Slice(p + kRecordHeader, payload_size);
  return DecodeFixed64(p + 16) == RecordChecksum(generation, record->edit_number, record->payload) ||
         MIODB_MUTATED(kManifestUnchecked);
}

}  // namespace

Status Manifest::Corrupt(uint64_t offset, const std::string& what) const {
  return Status::Corruption(pool_->path(), "manifest at offset " + std::to_string(offset) + ": " + what);
}

Status Manifest::Create(const std::string& comparator) {
  state_.comparator = comparator;
  return RollOver(state_);
}

Status Manifest::Recover() {
  RootSlot root;
  Status s = pool_->ReadRoot(&root);
  if (s.ok()) s = pool_->Claim(root.manifest_offset, root.manifest_size, ExtentKind::kManifest, &area_);
  if (!s.ok()) return s;
  generation_ = root.generation;
  const char* const area = area_->data();
  RecordAt record;
  while (ReadRecord(area, area_->size(), position_, generation_, &record)) {
    const uint64_t offset = area_->offset() + position_;
    if (record.edit_number != edit_number_) return Corrupt(offset, "edit out of order");
    VersionEdit edit;
    if (!edit.DecodeFrom(record.payload)) return Corrupt(offset, "unknown or damaged edit");
    s = state_.Apply(edit);
    if (!s.ok()) return Corrupt(offset, s.ToString());
    position_ += PaddedSize(record.payload.size());
    edit_number_++;
  }
  if (edit_number_ == 0) return Corrupt(area_->offset(), "snapshot damaged");
  // One edit is under way at a time, so what does not check is the end unless a later edit follows it.
  for (uint64_t p = position_ + 8; p + kRecordHeader <= area_->size(); p += 8) {
    if (MIODB_MUTATED(kManifestLaterUnseen)) break;
    if (ReadRecord(area, area_->size(), p, generation_, &record) && record.edit_number > edit_number_) {
      return Corrupt(area_->offset() + position_,
                     "edit " + std::to_string(edit_number_) + " damaged, later edits follow");
    }
  }
  recovered_ = !MIODB_MUTATED(kManifestAppendAfterOpen);
  // What was read here, and the root before (Pool::Open), must not disappear any more. Space that it gives free is
  // written to from now on.
  pool_->persist().Flush(Purpose::kManifest, area_->data(), position_);
  return pool_->persist().Fence(Purpose::kManifest);
}

Status Manifest::WriteRecord(const std::string& payload) {
  std::string record;
  PutFixed32(&record, static_cast<uint32_t>(payload.size()));
  PutFixed32(&record, 0);
  PutFixed64(&record, edit_number_);
  PutFixed64(&record, RecordChecksum(generation_, edit_number_, payload));
  record.append(payload);
  record.resize(PaddedSize(payload.size()), '\0');
  pool_->persist().Copy(Purpose::kManifest, area_->data() + position_, record.data(), record.size());
  Status s = pool_->persist().Fence(Purpose::kManifest);
  if (!s.ok()) return s;
  position_ += record.size();
  edit_number_++;
  return s;
}

Status Manifest::RollOver(const ManifestState& state) {
  std::string payload;
  state.Snapshot().EncodeTo(&payload);
  const uint64_t least = PaddedSize(payload.size()) + kLeastRoom;
  const uint64_t usual = pool_->capacity() < kSmallPool ? kSmallAreaSize : kAreaSize;
  const uint64_t wanted = std::max(usual, 4 * least);
  ExtentRef fresh = std::move(spare_);
  if (fresh == nullptr || fresh->size() < wanted) {
    ExtentRef larger;
    Status s = pool_->AllocateAtMost(wanted, least, Pool::Leave(), ExtentKind::kManifest, &larger);
    if (s.ok() && (fresh == nullptr || larger->size() > fresh->size())) fresh = std::move(larger);
    if (fresh == nullptr || fresh->size() < least) {
      spare_ = std::move(fresh);
      return s.ok() ? Status::NoSpace(pool_->path(), "no room for the manifest") : s;
    }
  }
  std::swap(area_, fresh);
  // Never one that was used before, not even by a roll-over that a crash cut off before its root was switched: its
  // records may still lie where the next area comes to be.
  generation_ = pool_->Random64();
  position_ = 0;
  edit_number_ = 0;
  Status s;
  if (MIODB_MUTATED(kRootBeforeSnapshot)) {
    s = pool_->SwitchRoot(*area_, generation_);
    if (s.ok()) s = WriteRecord(payload);
  } else {
    s = WriteRecord(payload);
    if (s.ok()) s = pool_->SwitchRoot(*area_, generation_);
  }
  if (!s.ok()) {
    // Either area may rule after a crash: neither may be used for anything else.
    if (fresh != nullptr) fresh->Abandon();
    area_->Abandon();
    return s;
  }
  recovered_ = false;
  spare_ = std::move(fresh);
  if (spare_ == nullptr)
    pool_->AllocateAtMost(area_->size(), least, Pool::Leave(), ExtentKind::kManifest, &spare_).IgnoreError();
  return s;
}

Status Manifest::Append(const VersionEdit& edit) {
  std::string payload;
  edit.EncodeTo(&payload);
  ManifestState next = state_;
  Status s = next.Apply(edit);
  if (!s.ok()) return s;
  if (recovered_ || PaddedSize(payload.size()) > area_->size() - position_) {
    s = RollOver(next);
  } else {
    s = WriteRecord(payload);
  }
  if (s.ok()) state_ = std::move(next);
  return s;
}

}  // namespace miodb
