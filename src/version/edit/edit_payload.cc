// Payload extents in edits. An edit says what a job drops of an extent; an extent of which nothing is left goes with
// that edit, so no edit names an extent to take it away.

#include <algorithm>

#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/check/visits.h"
#include "src/version/edit/edit_fields.h"

namespace miodb {

void VersionEdit::SetPayload(const PayloadChange& change) {
  CHECK(payload.empty() && dropped.empty());
  for (const MadePayload& made : change.made) {
    CHECK(made.extent != nullptr && made.live_bytes > 0);
    const Extent& extent = *made.extent;
    payload.push_back({extent.offset(), extent.size(), extent.kind(), extent.payload_bytes(), made.live_bytes});
  }
  dropped.reserve(change.dropped.size());
  for (const DroppedPayload& drop : change.dropped) {
    CHECK(drop.extent != nullptr && drop.bytes > 0);
    dropped.push_back({drop.extent->offset(), drop.bytes});
  }
}

// Offsets and sizes are in units, because all extents are.
void VersionEdit::EncodePayload(std::string* dst) const {
  for (const PayloadPlace& place : payload) {
    CHECK(place.Sound());
    PutField(dst, kPayload);
    PutNumbers(dst, {place.offset / kExtentUnit, place.size / kExtentUnit, static_cast<uint64_t>(place.kind),
                     place.payload_bytes, place.live_bytes});
  }
  for (const PayloadDrop& drop : dropped) {
    CHECK(drop.offset % kExtentUnit == 0 && drop.bytes > 0);
    PutField(dst, kDroppedPayload);
    PutNumbers(dst, {drop.offset / kExtentUnit, drop.bytes});
  }
}

bool VersionEdit::DecodePayload(uint8_t field, Slice* input) {
  DCHECK(input != nullptr);
  constexpr uint64_t kMostUnits = IndexWord::kMaxRef / kExtentUnit;
  uint64_t offset, size, kind;
  if (field == kPayload) {
    PayloadPlace& place = payload.emplace_back();
    if (!GetNumbers(input, {&offset, &size, &kind, &place.payload_bytes, &place.live_bytes})) return false;
    if (offset > kMostUnits || size > kMostUnits || kind > UINT8_MAX) return false;
    place.offset = offset * kExtentUnit;
    place.size = size * kExtentUnit;
    place.kind = static_cast<ExtentKind>(kind);
    return place.Sound();
  }
  if (field != kDroppedPayload) return false;
  PayloadDrop& drop = dropped.emplace_back();
  if (!GetNumbers(input, {&offset, &drop.bytes}) || offset > kMostUnits || drop.bytes == 0) return false;
  drop.offset = offset * kExtentUnit;
  return true;
}

namespace {

std::string ExtentAt(PmRef offset) { return "extent at offset " + std::to_string(offset); }

// Drops of an earlier build come in any order.
Status PrepareDrops(const ManifestState& state, const VersionEdit& edit, ManifestState* fresh) {
  std::vector<PayloadLeft>& left = fresh->payload_left;
  CHECK(left.empty());
  left.reserve(edit.dropped.size());
  for (const PayloadDrop& drop : edit.dropped) {
    const auto known = state.payload.find(drop.offset);
    if (known == state.payload.end())
      return Status::Corruption("manifest drops records of an unknown extent", ExtentAt(drop.offset));
    const PayloadPlace& place = known->second;
    DCHECK(place.Sound() && known->first == drop.offset);
    if (place.live_bytes < drop.bytes)
      return Status::Corruption("manifest drops more records than there are", ExtentAt(drop.offset));
    left.push_back({known, place.live_bytes - drop.bytes});
  }
  const auto less = [](const PayloadLeft& a, const PayloadLeft& b) { return a.place->first < b.place->first; };
  if (!std::is_sorted(left.begin(), left.end(), less)) std::sort(left.begin(), left.end(), less);
  const auto same = [](const PayloadLeft& a, const PayloadLeft& b) { return a.place == b.place; };
  const auto twice = std::adjacent_find(left.begin(), left.end(), same);
  if (twice != left.end())
    return Status::Corruption("manifest drops records of an extent twice", ExtentAt(twice->place->first));
  PayloadTotals& totals = fresh->payload_totals;
  for (const auto& [known, live_bytes] : left) {
    const uint64_t dropped = known->second.live_bytes - live_bytes;
    CHECK(totals.live_bytes >= dropped && totals.bytes >= known->second.payload_bytes);
    totals.live_bytes -= dropped;
    if (live_bytes == 0) totals.bytes -= known->second.payload_bytes;
  }
  return Status::OK();
}

}  // namespace

Status PreparePayload(const ManifestState& state, const VersionEdit& edit, ManifestState* fresh) {
  CHECK(fresh->payload.empty());
  PayloadTotals& totals = fresh->payload_totals = state.payload_totals;
  DCHECK_EQ(state.payload.empty(), totals.live_bytes == 0);
  Status s = PrepareDrops(state, edit, fresh);
  if (!s.ok()) return s;
  for (const PayloadPlace& place : edit.payload) {
    const bool known = state.payload.count(place.offset) > 0;
    if (known || !fresh->payload.emplace(place.offset, place).second) {
      return Status::Corruption("manifest has an extent twice", "offset " + std::to_string(place.offset));
    }
    DCHECK(place.Sound());
    // Whether extents overlap is found out when their space is claimed. Until then this alone keeps the sums in bounds.
    if (totals.bytes + place.payload_bytes > IndexWord::kMaxRef ||
        totals.live_bytes + place.live_bytes > PayloadPlace::MostLiveBytes(IndexWord::kMaxRef)) {
      return Status::Corruption("manifest has more payload than a pool can have", ExtentAt(place.offset));
    }
    totals.bytes += place.payload_bytes;
    totals.live_bytes += place.live_bytes;
  }
  return Status::OK();
}

void CommitPayload(ManifestState* fresh, ManifestState* state) noexcept {
  CHECK(fresh != state);
  for (const PayloadLeft& left : fresh->payload_left) {
    DCHECK_LT(left.live_bytes, left.place->second.live_bytes);
    if (left.live_bytes == 0) {
      state->payload.erase(left.place);
    } else {
      state->payload.erase(left.place, left.place)->second.live_bytes = left.live_bytes;  // of nothing: the iterator
    }
  }
  state->payload.merge(fresh->payload);
  CHECK(fresh->payload.empty());
  state->payload_totals = fresh->payload_totals;
  DCHECK_EQ(state->payload.empty(), state->payload_totals.live_bytes == 0);
}

// REQUIRES: PreparePayload takes the edit.
std::vector<PayloadPlace> PayloadAfter(const ManifestState& state, const VersionEdit& edit) {
  ManifestState fresh;
  const Status s = PreparePayload(state, edit, &fresh);
  CHECK(s.ok());
  std::vector<PayloadPlace> result;
  result.reserve(state.payload.size() + edit.payload.size());
  Visits::Add(state.payload.size());
  auto left = fresh.payload_left.begin();
  for (auto place = state.payload.begin(); place != state.payload.end(); ++place) {
    const bool changed = left != fresh.payload_left.end() && left->place == place;
    const uint64_t live_bytes = changed ? (left++)->live_bytes : place->second.live_bytes;
    if (live_bytes == 0) continue;
    result.push_back(place->second);
    result.back().live_bytes = live_bytes;
  }
  CHECK(left == fresh.payload_left.end());
  for (const auto& [offset, place] : fresh.payload) result.push_back(place);
  CHECK_LE(result.size(), state.payload.size() + edit.payload.size());
  return result;
}

}  // namespace miodb
