// The manifest's area: reading it, appending to it, and leaving it for a fresh one. The header tells the protocol and
// what a crash leaves of each step.

#include "src/version/manifest/manifest.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <tuple>

#include "src/format/manifest_area.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/make_room.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/check/no_throw.h"

namespace miodb {

namespace {

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

}  // namespace

Status Manifest::Corrupt(uint64_t offset, const std::string& what) const {
  return DamagedManifest(pool_->path(), offset, what);
}

uint64_t Manifest::Seed() const { return AreaSeed(pool_->secret(), generation_); }

// The first roll-over is like any other, with the state of an empty database for its snapshot.
Status Manifest::Create(const std::string& comparator) {
  CHECK(area_ == nullptr && state_.comparator.empty());
  CHECK(generation_ == 0 && position_ == 0 && edit_number_ == 0);
  state_.comparator = comparator;
  return pool_->is_volatile() ? Status::OK() : RollOver(VersionEdit());
}

// The first record that does not check is the end if it may have been torn, and damage if it was durable once: because
// a later edit is there, which was begun only after its fence, or because the confirmed count says so. Every 8 bytes
// behind the end are looked at, for a damaged size hides where the next record begins.
Status Manifest::CheckEnd() const {
  const char* const area = area_->data();
  const uint64_t size = RecordsEnd();
  CHECK(position_ <= size && position_ % 8 == 0);
  ManifestRecord record;
  // A single edit is under way at a time, so a record that does not check is the end, unless a later edit follows.
  for (uint64_t p = position_ + 8; p + kManifestRecordHeader <= size; p += 8) {
    if (MIODB_MUTATED(kManifestLaterUnseen)) break;
    if (ParseManifestRecord(area, size, p, &record) && record.edit_number > edit_number_ &&
        ManifestRecordChecks(record, Seed())) {
      return Corrupt(area_->offset() + position_,
                     "edit " + std::to_string(edit_number_) + " damaged, later edits follow");
    }
  }
  // The last edit has none behind it, but it may have been confirmed.
  if (ConfirmedRecords(area + area_->size(), Seed()) > edit_number_) {
    return Corrupt(area_->offset() + position_,
                   "edit " + std::to_string(edit_number_) + " damaged, which was confirmed as durable");
  }
  return Status::OK();
}

Status Manifest::Recover() {
  CHECK(area_ == nullptr && edit_number_ == 0);
  RootSlot root;
  Status s = pool_->ReadRoot(&root);
  if (s.ok()) s = pool_->Claim(root.manifest_offset, root.manifest_size, ExtentKind::kManifest, &area_);
  if (!s.ok()) return s;
  generation_ = root.generation;
  AreaPosition end;
  s = ReplayArea(*pool_, {area_->offset(), area_->size(), generation_, UINT64_MAX}, &state_, &end);
  position_ = end.bytes;
  edit_number_ = end.records;
  if (s.ok()) s = CheckEnd();
  if (s.ok()) s = ClaimKept();
  if (!s.ok()) return s;
  recovered_ = !MIODB_MUTATED(kManifestAppendAfterOpen);
  // The records that were read here, and the root before (Pool::Open), must not disappear any more, because space that
  // they give free is written to from now on.
  pool_->persist().Flush(Purpose::kManifest, area_->data(), position_);
  return pool_->persist().Fence(Purpose::kManifest);
}

// Several savepoints may name one area, and the current one as well.
Status Manifest::ClaimKept() {
  CHECK(kept_.empty());
  for (const auto& [id, savepoint] : state_.savepoints) {
    const AreaPlace& place = savepoint.area;
    const auto same = [&](const ExtentRef& kept) { return kept->offset() == place.offset; };
    const auto known = std::find_if(kept_.begin(), kept_.end(), same);
    ExtentRef area = known != kept_.end() ? *known : same(area_) ? area_ : nullptr;
    if (area == nullptr) {
      Status s = pool_->Claim(place.offset, place.size, ExtentKind::kManifest, &area);
      if (!s.ok()) return s;
    }
    if (area->size() != place.size || (area == area_ && place.generation != generation_)) {
      return Corrupt(place.offset, "savepoints disagree about an area");
    }
    if (known == kept_.end()) kept_.push_back(std::move(area));
  }
  return Status::OK();
}

bool Manifest::Keeps(const Extent& area) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const ExtentRef& kept) { return kept.get() == &area; });
}

// After an edit: the current area is kept if a savepoint has come to name it, and what none names any more is free.
// Append has made room for the one that comes.
void Manifest::KeepNamed() noexcept {
  CHECK(area_ != nullptr && !recovered_);
  const auto named = [&](const ExtentRef& area) {
    return std::any_of(state_.savepoints.begin(), state_.savepoints.end(),
                       [&](const auto& item) { return item.second.area.offset == area->offset(); });
  };
  for (const ExtentRef& area : kept_) {
    if (spare_ == nullptr && area != area_ && !named(area)) spare_ = area;
  }
  kept_.erase(std::remove_if(kept_.begin(), kept_.end(), [&](const ExtentRef& area) { return !named(area); }),
              kept_.end());
  if (named(area_) && !Keeps(*area_)) {
    CHECK_LT(kept_.size(), kept_.capacity());
    kept_.push_back(area_);
  }
  if (!named(area_)) second_spare_ = nullptr;
}

// Savepoints of one area have states of which each is the one before and the records in between. So however many there
// are, no record is read twice.
Status Manifest::ReadSavedStates(const OnSavedState& on_state) const {
  CHECK(on_state != nullptr);
  std::vector<const SavepointEntry*> by_record;
  for (const auto& [id, savepoint] : state_.savepoints) by_record.push_back(&savepoint);
  const auto order = [](const SavepointEntry* s) {
    return std::tuple(s->area.offset, s->area.size, s->area.generation, s->area.records);
  };
  std::sort(by_record.begin(), by_record.end(), [&](const auto* a, const auto* b) { return order(a) < order(b); });
  ManifestState state;
  AreaPosition at;
  AreaPlace before;
  for (const SavepointEntry* savepoint : by_record) {
    const AreaPlace& place = savepoint->area;
    DCHECK(place.records > 0);
    DCHECK(std::any_of(kept_.begin(), kept_.end(), [&](const auto& kept) { return kept->offset() == place.offset; }));
    if (place.offset != before.offset || place.size != before.size || place.generation != before.generation) {
      state = ManifestState();
      at = AreaPosition();
    }
    before = place;
    Status s = ReplayArea(*pool_, place, &state, &at);
    DCHECK_LE(at.records, place.records);
    if (s.ok() && at.records < place.records) {
      s = Corrupt(place.offset + at.bytes, "edit damaged that savepoint " + savepoint->name + " needs");
    }
    if (s.ok()) s = on_state(*savepoint, state);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// An area of four snapshots, and the spare one beside it.
uint64_t Manifest::MostBytes(uint64_t state_bytes) {
  return 2 * (kAreaSize + 4 * (ManifestRecordBytes(state_bytes + kExtentUnit) + kLeastRoom + kAreaFooterBytes));
}

uint64_t Manifest::space_bytes() const {
  DCHECK(spare_ == nullptr || !Keeps(*spare_));
  uint64_t bytes = spare_ != nullptr ? spare_->size() : 0;
  if (second_spare_ != nullptr) bytes += second_spare_->size();
  for (const ExtentRef& area : kept_) bytes += area->size();
  return area_ == nullptr || Keeps(*area_) ? bytes : bytes + area_->size();
}

// The record is made as a whole in DRAM and stored by one call: words of it may reach the medium in any order, and the
// checksum covers them all. Position and number move only after the fence, so that a record that failed has none behind
// it.
Status Manifest::WriteRecord(const std::string& payload) {
  CHECK(!payload.empty() && payload.size() <= UINT32_MAX);  // recovery takes an empty record for the end
  std::string record;
  record.reserve(ManifestRecordBytes(payload.size()));
  PutFixed32(&record, static_cast<uint32_t>(payload.size()));
  PutFixed32(&record, 0);
  PutFixed64(&record, edit_number_);
  PutFixed64(&record, ManifestRecordChecksum(Seed(), edit_number_, payload));
  record.append(payload);
  record.resize(ManifestRecordBytes(payload.size()), '\0');
  CHECK_EQ(position_ % 8, 0u);
  CHECK_LE(position_ + record.size(), RecordsEnd());
  pool_->persist().Copy(Purpose::kManifest, area_->data() + position_, record.data(), record.size());
  Status s;
  const auto fence = [&] { s = pool_->persist().Fence(Purpose::kManifest); };
  outside_ != nullptr && pool_->persist().fence_is_slow() ? outside_(fence) : fence();
  if (!s.ok()) return s;
  CHECK_EQ(record.size() % 8, 0u);
  position_ += record.size();
  edit_number_++;
  return s;
}

// Durable with the next record. The line of the confirmed count is blank, which counts as none: what an earlier area at
// this place confirmed has another seed and does not check.
void Manifest::WriteFooter() {
  static_assert(sizeof(AreaFooter) <= kAreaFooterBytes);
  CHECK(position_ == 0 && edit_number_ == 0);
  AreaFooter footer = {};
  footer.magic = kAreaMagic;
  footer.pool_id = pool_->id();
  footer.offset = area_->offset();
  footer.size = area_->size();
  footer.epoch = pool_->epoch() + 1;  // of the root that the next SwitchRoot writes
  footer.generation = generation_;
  footer.secret = pool_->secret();
  footer.checksum = AreaFooterChecksum(footer);
  char line[kAreaFooterBytes] = {};
  memcpy(line, &footer, sizeof(footer));
  char* const at = area_->data() + RecordsEnd();
  pool_->persist().Copy(Purpose::kManifest, at, line, sizeof(line));
}

// Goes without a fence: a process that dies leaves it in the cache, and a loss of power that takes it takes a warning
// of damage.
void Manifest::Confirm() {
  CHECK_GT(edit_number_, 0u);
  const uint64_t word = ConfirmedWord(Seed(), edit_number_);
  pool_->persist().CopyHint(Purpose::kManifest, area_->data() + RecordsEnd() + kConfirmedInFooter, &word, sizeof(word));
}

// Four times what the snapshot needs, so that the next roll-over comes after edits of three snapshots' bytes: each byte
// of an edit pays for a third of a byte of a snapshot. If space is short the spare serves as it is, as long as it holds
// the snapshot and some more.
//
// The root is switched only when the snapshot is durable. A switch that fails may have happened all the same, so
// neither area is given to anybody (Abandon), and the caller appends nothing more.
Status Manifest::RollOver(const VersionEdit& next) {
  std::string payload;
  const auto encode = [&] { state_.Snapshot(next).EncodeTo(&payload); };
  outside_ != nullptr ? outside_(encode) : encode();
  const uint64_t least = ManifestRecordBytes(payload.size()) + kLeastRoom + kAreaFooterBytes;
  const uint64_t usual = pool_->capacity() < kSmallPool ? kSmallAreaSize : kAreaSize;
  const uint64_t wanted = std::max(usual, 4 * least);
  ExtentRef fresh = spare_;
  // The spare is kept whatever becomes of the attempt to get a larger one.
  if (fresh == nullptr || fresh->size() < wanted) {
    ExtentRef larger;
    Status s = pool_->AllocateAtMost(wanted, least, 0, ExtentKind::kManifest, &larger);
    if (s.ok() && (fresh == nullptr || larger->size() > fresh->size())) fresh = std::move(larger);
    if (fresh == nullptr || fresh->size() < least) {
      spare_ = std::move(fresh);
      return s.ok() ? Status::NoSpace(pool_->path(), "no room for the manifest") : s;
    }
  }
  // Never one that was used before, not even by a roll-over that a crash cut off before its root was switched: its
  // records may still lie where the next area comes to be.
  generation_ = pool_->Random64();
  // From here on the old area is the spare. If the roll-over fails nothing is appended to either any more.
  std::swap(area_, fresh);
  const bool kept = fresh != nullptr && Keeps(*fresh) && !MIODB_MUTATED(kSavepointAreaReused);
  spare_ = kept ? std::exchange(second_spare_, nullptr) : std::move(fresh);
  position_ = 0;
  edit_number_ = 0;
  CHECK(area_ != spare_);
  CHECK(area_->size() >= least && area_->kind() == ExtentKind::kManifest);
  WriteFooter();
  Status s = NoThrow(pool_->path(), [&] {
    if (MIODB_MUTATED(kRootBeforeSnapshot)) {
      Status switched = pool_->SwitchRoot(*area_, generation_);
      return switched.ok() ? WriteRecord(payload) : switched;
    }
    Status written = WriteRecord(payload);
    return written.ok() ? pool_->SwitchRoot(*area_, generation_) : written;
  });
  if (!s.ok()) {
    // Either area may rule after a crash: neither may be used for anything else.
    if (spare_ != nullptr) spare_->Abandon();
    area_->Abandon();
    return s;
  }
  // The snapshot is record 0. The old area is free to be overwritten by the next roll-over: the root no longer leads
  // there.
  CHECK_EQ(edit_number_, 1u);
  Confirm();
  recovered_ = false;
  try {
    if (spare_ == nullptr) pool_->AllocateAtMost(area_->size(), least, 0, ExtentKind::kManifest, &spare_).IgnoreError();
  } catch (const std::exception&) {
    // The spare area was only to be at hand.
  }
  return s;
}

// Before the current area gets the name of a savepoint. If the area has to be left first, that is a step of its own, so
// that the spare taken here is for the area that is kept.
Status Manifest::MakeReadyToKeep(uint64_t edit_bytes) {
  CHECK(area_ != nullptr);
  Status s = MustLeave(edit_bytes) ? RollOver(VersionEdit()) : Status::OK();
  if (!s.ok() || second_spare_ != nullptr) return s;
  return pool_->AllocateAtMost(area_->size(), area_->size(), 0, ExtentKind::kManifest, &second_spare_);
}

// Steps that may fail come before the record (Prepare), and steps after it cannot fail (Commit): so a durable edit is
// in the state as well. The area that a recovery has read is left before the first edit, because behind its last record
// may lie a torn one, whose place a new record would share.
Status Manifest::Append(const VersionEdit& edit) {
  ManifestState fresh;
  Status s = state_.Prepare(edit, &fresh);
  if (!s.ok()) return s;
  MakeRoom(&kept_);
  if (!pool_->is_volatile()) {
    CHECK(area_ != nullptr);
    std::string payload;
    edit.EncodeTo(&payload);
    const uint64_t bytes = ManifestRecordBytes(payload.size());
    if (!edit.savepoints.empty()) s = MakeReadyToKeep(bytes);
    if (s.ok() && MustLeave(bytes)) {
      s = RollOver(edit);
    } else if (s.ok()) {
      s = WriteRecord(payload);
      if (s.ok()) Confirm();
    }
  }
  if (!s.ok()) return s;
  if (area_ != nullptr && !edit.savepoints.empty()) {
    fresh.PlaceSavepoints({area_->offset(), area_->size(), generation_, edit_number_});
  }
  state_.Commit(edit, &fresh);
  if (area_ != nullptr && !(edit.savepoints.empty() && edit.removed_savepoints.empty())) KeepNamed();
  CHECK(area_ == nullptr || position_ <= RecordsEnd());
  return s;
}

}  // namespace miodb
