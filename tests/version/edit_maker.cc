#include "tests/version/edit_maker.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/format/record.h"

namespace miodb::test {

std::string TextOf(const TablePlace& place) {
  return std::to_string(place.number) + "@" + std::to_string(place.level) + "." + std::to_string(place.run) + " [" +
         std::to_string(place.index_offset) + "+" + std::to_string(place.index_size) + "]";
}

std::string TextOf(const LogChunkPlace& place) {
  return std::to_string(place.id) + " [" + std::to_string(place.offset) + "+" + std::to_string(place.size) + "]" +
         (place.sealed ? " sealed " + std::to_string(place.sealed_size) : "");
}

std::string TextOf(const SstPlace& place) {
  const SstMeta& meta = *place.meta;
  return std::to_string(meta.number) + "@" + std::to_string(place.level) + " " + std::to_string(meta.size) + "/" +
         std::to_string(meta.entries) + "/" + std::to_string(meta.tombstones) + "/" + std::to_string(meta.fingerprint) +
         (meta.has_range ? " [" : " long [") + meta.smallest + ".." + meta.largest + "] " +
         std::to_string(meta.ranges_applied);
}

std::string TextOf(const RangePlace& place) {
  const RangeDeletion& range = place.range;
  return std::to_string(place.id) + "@" + std::to_string(range.sequence) + " [" + range.begin + ".." + range.end + "]";
}

std::string TextOf(const SavepointEntry& savepoint) {
  const AreaPlace& area = savepoint.area;
  std::string text = std::to_string(savepoint.id) + " " + savepoint.name + "@" + std::to_string(savepoint.sequence) +
                     " " + std::to_string(savepoint.micros) + " [" + std::to_string(area.offset) + "+" +
                     std::to_string(area.size) + "] " + std::to_string(area.generation) + "/" +
                     std::to_string(area.records);
  for (const ChunkPart& part : savepoint.chunks)
    text += " " + std::to_string(part.id) + ":" + std::to_string(part.bytes);
  return text;
}

std::string TextOf(const KeptChunk& chunk) {
  return std::to_string(chunk.id) + " [" + std::to_string(chunk.offset) + "+" + std::to_string(chunk.bytes) + "] @" +
         std::to_string(chunk.first_sequence) + ".." + std::to_string(chunk.last_sequence);
}

std::string TextOf(const PayloadPlace& place) {
  return "[" + std::to_string(place.offset) + "+" + std::to_string(place.size) + "] of kind " +
         std::to_string(static_cast<int>(place.kind)) + " " + std::to_string(place.live_bytes) + "/" +
         std::to_string(place.payload_bytes);
}

std::string TextOf(const ManifestState& state) {
  std::string text = state.comparator + " next " + std::to_string(state.next_id) + " flushed " +
                     std::to_string(state.flushed_sequence) + "\n";
  for (const auto& [number, place] : state.tables) text += std::to_string(number) + ": " + TextOf(place) + "\n";
  for (const auto& [id, place] : state.chunks) text += std::to_string(id) + ": " + TextOf(place) + "\n";
  for (const auto& [number, place] : state.files) text += std::to_string(number) + ": " + TextOf(place) + "\n";
  for (const auto& [id, place] : state.ranges) text += std::to_string(id) + ": " + TextOf(place) + "\n";
  for (const auto& [id, family] : state.families) text += std::to_string(id) + ": family " + family.name + "\n";
  for (const auto& [name, id] : state.family_names) text += "family " + name + " is " + std::to_string(id) + "\n";
  for (const auto& [name, id] : state.savepoint_names) text += "savepoint " + name + " is " + std::to_string(id) + "\n";
  for (const auto& [id, savepoint] : state.savepoints) text += std::to_string(id) + ": " + TextOf(savepoint) + "\n";
  for (const auto& [id, chunk] : state.kept.by_id) text += std::to_string(id) + ": " + TextOf(chunk) + "\n";
  for (const auto& [offset, place] : state.payload) text += "payload " + TextOf(place) + "\n";
  return text + std::to_string(state.payload_totals.live_bytes) + "/" + std::to_string(state.payload_totals.bytes);
}

TablePlace EditMaker::AnyTable(bool small) {
  TablePlace place;
  place.number = Number(small);
  place.level = random_.OneIn(4) ? kRepositoryLevel : static_cast<uint32_t>(random_.Uniform(kRepositoryLevel));
  place.run = Number(small);
  place.index_offset = Number(small);
  place.index_size = Number(small);
  return place;
}

LogChunkPlace EditMaker::AnyChunk(bool small) {
  LogChunkPlace place;
  place.id = Number(small);
  place.offset = Number(small);
  place.size = Number(small);
  place.sealed = random_.OneIn(2);
  if (place.sealed) place.sealed_size = random_.Uniform(place.size + 1);
  return place;
}

SstPlace EditMaker::AnyFile(bool small) {
  auto meta = std::make_shared<SstMeta>();
  meta->number = Number(small);
  meta->size = Number(small);
  meta->entries = Number(small);
  meta->tombstones = Number(small);
  meta->fingerprint = random_.Next64();
  meta->smallest = random_.Bytes(random_.Uniform(20));
  meta->largest = random_.Bytes(random_.Uniform(200));
  if (random_.OneIn(4)) {
    meta->has_range = false;
    meta->smallest.clear();
    meta->largest.clear();
  }
  if (random_.OneIn(3)) meta->ranges_applied = 1 + (Number(small) & (kMostReadSequence >> 1));
  return {static_cast<uint32_t>(random_.Uniform(kMaxSsdLevels)), std::move(meta)};
}

RangePlace EditMaker::AnyRange(bool small) {
  RangePlace place;
  place.id = Number(small);
  place.range.begin = random_.Bytes(random_.Uniform(20));
  place.range.end = random_.Bytes(random_.Uniform(200));
  place.range.sequence = 1 + (Number(small) & (kMostReadSequence >> 1));
  return place;
}

// With a place as often as without, as edits have those that are named for the first time.
SavepointEntry EditMaker::AnySavepoint(bool small) {
  SavepointEntry savepoint;
  savepoint.id = 1 + Number(small) / 2;
  savepoint.name = random_.Bytes(1 + random_.Uniform(kMostSavepointName));
  savepoint.sequence = Number(small) & kMostReadSequence;
  savepoint.micros = Number(small);
  for (uint64_t i = random_.Uniform(4); i > 0; i--) savepoint.chunks.push_back({Number(small), Number(small)});
  if (random_.OneIn(2)) savepoint.area = {Number(small), Number(small), random_.Next64(), 1 + Number(small)};
  return savepoint;
}

KeptChunk EditMaker::AnyKept(bool small) {
  KeptChunk chunk = {Number(small), Number(small), 1 + (Number(small) & (IndexWord::kMaxRef >> 1)),
                     1 + (Number(small) & (kMostReadSequence >> 2)), 0};
  chunk.last_sequence = chunk.first_sequence + (Number(small) & (kMostReadSequence >> 2));
  return chunk;
}

PayloadPlace EditMaker::AnyPayload(bool small) {
  PayloadPlace place;
  place.offset = (Number(small) & (IndexWord::kMaxRef >> 1)) / kExtentUnit * kExtentUnit;
  place.size = RoundToUnit(1 + (Number(small) & (IndexWord::kMaxRef >> 1)));
  place.kind = random_.OneIn(2) ? ExtentKind::kLog : ExtentKind::kSettled;
  place.payload_bytes = 1 + random_.Uniform(place.size);
  place.live_bytes = 1 + random_.Uniform(PayloadPlace::MostLiveBytes(place.size));
  return place;
}

VersionEdit EditMaker::AnyEdit(bool small) {
  VersionEdit edit;
  if (random_.OneIn(4)) {
    edit.has_comparator = true;
    edit.comparator = random_.Bytes(random_.Uniform(40));
  }
  if (random_.OneIn(2)) edit.SetNextId(std::max<uint64_t>(1, Number(small)));
  if (random_.OneIn(2)) edit.SetFlushedSequence(Number(small) & kMostReadSequence);
  for (uint64_t i = random_.Uniform(4); i > 0; i--) edit.removed_tables.push_back(Number(small));
  for (uint64_t i = random_.Uniform(4); i > 0; i--) edit.tables.push_back(AnyTable(small));
  for (uint64_t i = random_.Uniform(4); i > 0; i--) edit.removed_chunks.push_back(Number(small));
  for (uint64_t i = random_.Uniform(4); i > 0; i--) edit.chunks.push_back(AnyChunk(small));
  for (uint64_t i = random_.Uniform(3); i > 0; i--) edit.removed_files.push_back(Number(small));
  for (uint64_t i = random_.Uniform(3); i > 0; i--) edit.files.push_back(AnyFile(small));
  for (uint64_t i = random_.Uniform(3); i > 0; i--) edit.removed_ranges.push_back(Number(small));
  for (uint64_t i = random_.Uniform(3); i > 0; i--) edit.ranges.push_back(AnyRange(small));
  for (uint64_t i = random_.Uniform(3); i > 0; i--) edit.removed_savepoints.push_back(Number(small));
  for (uint64_t i = random_.Uniform(3); i > 0; i--) edit.savepoints.push_back(AnySavepoint(small));
  for (uint64_t i = random_.Uniform(3); i > 0; i--) edit.removed_kept.push_back(Number(small));
  for (uint64_t i = random_.Uniform(3); i > 0; i--) edit.kept.push_back(AnyKept(small));
  for (uint64_t i = random_.Uniform(3); i > 0; i--) edit.payload.push_back(AnyPayload(small));
  for (uint64_t i = random_.Uniform(3); i > 0; i--) {
    edit.dropped.push_back({AnyPayload(small).offset, 1 + Number(small)});
  }
  return edit;
}

VersionEdit EditMaker::NextEdit(size_t most_tables) {
  VersionEdit edit;
  if (random_.OneIn(2)) {
    state_.flushed_sequence += random_.Uniform(1000);
    edit.SetFlushedSequence(state_.flushed_sequence);
  }
  while (state_.tables.size() > random_.Uniform(most_tables + 1)) {
    const auto it = std::next(state_.tables.begin(), static_cast<ptrdiff_t>(random_.Uniform(state_.tables.size())));
    edit.removed_tables.push_back(it->first);
    state_.tables.erase(it);
  }
  for (auto& [number, place] : state_.tables) {
    if (!random_.OneIn(8)) continue;
    place.level = static_cast<uint32_t>(random_.Uniform(8));  // moved
    edit.tables.push_back(place);
  }
  for (uint64_t i = random_.Uniform(3); i > 0; i--) {
    TablePlace place = AnyTable(false);
    place.number = state_.next_id++;
    state_.tables[place.number] = place;
    edit.tables.push_back(place);
  }
  while (state_.chunks.size() > random_.Uniform(6)) {
    const auto it = state_.chunks.begin();
    edit.removed_chunks.push_back(it->first);
    state_.chunks.erase(it);
  }
  if (random_.OneIn(2)) {
    LogChunkPlace place = AnyChunk(false);
    place.id = state_.next_id++;
    state_.chunks[place.id] = place;
    edit.chunks.push_back(place);
  }
  while (state_.files.size() > random_.Uniform(6)) {
    const auto it = state_.files.begin();
    edit.removed_files.push_back(it->first);
    state_.files.erase(it);
  }
  if (random_.OneIn(2)) {
    const SstPlace file = AnyFile(false);
    state_.files[file.meta->number] = file;
    edit.files.push_back(file);
  }
  while (state_.ranges.size() > random_.Uniform(6)) {
    const auto it = state_.ranges.begin();
    edit.removed_ranges.push_back(it->first);
    state_.ranges.erase(it);
  }
  if (random_.OneIn(2)) {
    RangePlace place = AnyRange(false);
    place.id = state_.next_id++;
    state_.ranges[place.id] = place;
    edit.ranges.push_back(place);
  }
  NextPayload(&edit);
  edit.SetNextId(state_.next_id);
  return edit;
}

void EditMaker::NextPayload(VersionEdit* edit) {
  PayloadTotals& totals = state_.payload_totals;
  for (auto at = state_.payload.begin(); at != state_.payload.end();) {
    PayloadPlace& place = at->second;
    if (random_.OneIn(3)) {
      const uint64_t bytes = random_.OneIn(3) ? place.live_bytes : 1 + random_.Uniform(place.live_bytes);
      edit->dropped.push_back({place.offset, bytes});
      place.live_bytes -= bytes;
      totals.live_bytes -= bytes;
    }
    if (place.live_bytes > 0) {
      ++at;
      continue;
    }
    totals.bytes -= place.payload_bytes;
    at = state_.payload.erase(at);
  }
  // Earlier builds had no order.
  for (size_t i = edit->dropped.size(); i > 1; i--) std::swap(edit->dropped[i - 1], edit->dropped[random_.Uniform(i)]);
  for (uint64_t i = random_.Uniform(3); i > 0; i--) {
    PayloadPlace place = AnyPayload(false);
    place.offset = ++payload_extents_ * kExtentUnit;
    place.size = kExtentUnit;
    place.payload_bytes = 1 + random_.Uniform(place.size);
    place.live_bytes = 1 + random_.Uniform(place.size);
    state_.payload[place.offset] = place;
    totals.bytes += place.payload_bytes;
    totals.live_bytes += place.live_bytes;
    edit->payload.push_back(place);
  }
}

}  // namespace miodb::test
