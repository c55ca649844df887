// Payload extents in edits. An edit says what a job drops of an extent; an extent of which nothing is left goes with
// that edit, so no edit names an extent to take it away.

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
  dropped = change.dropped;
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

// A place of which nothing is left is among the fresh ones, with no live bytes: CommitPayload takes it away.
Status PreparePayload(const ManifestState& state, const VersionEdit& edit, ManifestState* fresh) {
  CHECK(fresh->payload.empty());
  PayloadTotals& totals = fresh->payload_totals = state.payload_totals;
  DCHECK_EQ(state.payload.empty(), totals.live_bytes == 0);
  for (const PayloadDrop& drop : edit.dropped) {
    const std::string where = "extent at offset " + std::to_string(drop.offset);
    const auto known = state.payload.find(drop.offset);
    if (known == state.payload.end()) return Status::Corruption("manifest drops records of an unknown extent", where);
    DCHECK(known->second.Sound() && known->first == drop.offset);
    const auto [place, first] = fresh->payload.insert(*known);
    if (!first || place->second.live_bytes < drop.bytes) {
      return Status::Corruption("manifest drops more records than there are", where);
    }
    CHECK(totals.live_bytes >= drop.bytes && totals.bytes >= place->second.payload_bytes);
    place->second.live_bytes -= drop.bytes;
    totals.live_bytes -= drop.bytes;
    if (place->second.live_bytes == 0) totals.bytes -= place->second.payload_bytes;
  }
  for (const PayloadPlace& place : edit.payload) {
    const bool known = state.payload.count(place.offset) > 0;
    if (known || !fresh->payload.emplace(place.offset, place).second) {
      return Status::Corruption("manifest has an extent twice", "offset " + std::to_string(place.offset));
    }
    DCHECK(place.Sound());
    // Whether extents overlap is found out when their space is claimed. Until then this alone keeps the sums in bounds.
    if (totals.bytes + place.payload_bytes > IndexWord::kMaxRef ||
        totals.live_bytes + place.live_bytes > PayloadPlace::MostLiveBytes(IndexWord::kMaxRef)) {
      return Status::Corruption("manifest has more payload than a pool can have",
                                "extent at offset " + std::to_string(place.offset));
    }
    totals.bytes += place.payload_bytes;
    totals.live_bytes += place.live_bytes;
  }
  return Status::OK();
}

void CommitPayload(ManifestState* fresh, ManifestState* state) noexcept {
  CHECK(fresh != state);
  while (!fresh->payload.empty()) {
    auto node = fresh->payload.extract(fresh->payload.begin());
    if (node.mapped().live_bytes == 0) {
      CHECK_EQ(state->payload.erase(node.key()), 1u);
      continue;
    }
    const auto known = state->payload.find(node.key());
    if (known != state->payload.end()) {
      known->second = node.mapped();
    } else {
      state->payload.insert(std::move(node));
    }
  }
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
  const auto add = [&](const PayloadPlace& place) {
    if (place.live_bytes > 0) result.push_back(place);
  };
  for (const auto& [offset, place] : state.payload) {
    if (fresh.payload.count(offset) == 0) add(place);
  }
  for (const auto& [offset, place] : fresh.payload) add(place);
  CHECK_LE(result.size(), state.payload.size() + edit.payload.size());
  return result;
}

}  // namespace miodb
