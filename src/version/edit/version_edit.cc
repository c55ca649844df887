// Edits as bytes, and what an edit does to the state. Encoded fields may come in any order and any number; what an edit
// removes is taken away before what it adds.

#include "src/version/edit/version_edit.h"

#include <algorithm>
#include <set>

#include "src/format/record.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"
#include "src/util/check/visits.h"
#include "src/version/edit/edit_fields.h"

namespace miodb {

namespace {

// Files whose smallest and largest key are longer than this together are kept without them, or edits and areas would be
// as large as such keys are. Their keys are read from the file when it is opened (SsdStore::ReadRange).
constexpr size_t kMostRangeBytes = 1024;

bool IsFile(uint8_t field) {
  return field == kFile || field == kFileOfLongKeys || field == kExpiringFile || field == kExpiringFileOfLongKeys;
}

void PutFile(std::string* dst, const SstPlace& f) {
  CHECK(f.meta != nullptr);
  CHECK_LT(f.level, kMaxSsdLevels);
  CHECK_LE(f.meta->ranges_applied, kMaxSequence);
  const bool has_range = f.meta->has_range && f.meta->smallest.size() + f.meta->largest.size() <= kMostRangeBytes;
  const bool expires = f.meta->expiring > 0;
  const EditField whole = expires ? kExpiringFile : kFile;
  PutField(dst, has_range ? whole : expires ? kExpiringFileOfLongKeys : kFileOfLongKeys);
  PutNumbers(dst, {f.meta->number, f.level, f.meta->size, f.meta->entries, f.meta->tombstones});
  PutFixed64(dst, f.meta->fingerprint);
  if (expires) PutNumbers(dst, {f.meta->expiring, f.meta->expiry.first, f.meta->expiry.last});
  if (has_range) {
    PutLengthPrefixedSlice(dst, f.meta->smallest);
    PutLengthPrefixedSlice(dst, f.meta->largest);
  }
  if (f.meta->ranges_applied == 0) return;
  PutField(dst, kFileRanges);
  PutVarint64(dst, f.meta->ranges_applied);
}

// The level is checked here and not by its users, who index arrays with it.
bool GetFile(Slice* input, EditField field, SstPlace* place) {
  DCHECK(IsFile(field));
  const bool has_range = field == kFile || field == kExpiringFile;
  const bool expires = field == kExpiringFile || field == kExpiringFileOfLongKeys;
  auto meta = std::make_shared<SstMeta>();
  uint64_t level;
  if (!GetNumbers(input, {&meta->number, &level, &meta->size, &meta->entries, &meta->tombstones}) ||
      !GetFixed64(input, &meta->fingerprint) || level >= kMaxSsdLevels || meta->number > kMostId) {
    return false;
  }
  if (expires && (!GetNumbers(input, {&meta->expiring, &meta->expiry.first, &meta->expiry.last}) ||
                  meta->expiring == 0 || !meta->expiry.any())) {
    return false;
  }
  if (has_range && (!GetString(input, &meta->smallest) || !GetString(input, &meta->largest))) return false;
  meta->has_range = has_range;
  place->level = static_cast<uint32_t>(level);
  place->meta = std::move(meta);
  return true;
}

bool GetTable(Slice* input, TablePlace* t) {
  DCHECK(t != nullptr);
  uint64_t level;
  if (!GetNumbers(input, {&t->number, &level, &t->run, &t->index_offset, &t->index_size})) return false;
  if (level > kRepositoryLevel || std::max(t->number, t->run) > kMostId) return false;
  t->level = static_cast<uint32_t>(level);
  return true;
}

bool GetChunk(Slice* input, EditField field, LogChunkPlace* c) {
  DCHECK(field == kChunk || field == kSealedChunk);
  c->sealed = field == kSealedChunk;
  return GetNumbers(input, {&c->id, &c->offset, &c->size}) && c->id <= kMostId &&
         (!c->sealed || (GetVarint64(input, &c->sealed_size) && c->sealed_size <= c->size));
}

// Reads the sequence of applied range deletions of the last file.
bool GetFileRanges(Slice* input, std::vector<SstPlace>* files) {
  uint64_t applied;
  DCHECK(files != nullptr);
  if (files->empty() || !GetVarint64(input, &applied) || applied > kMostReadSequence) return false;
  auto meta = std::make_shared<SstMeta>(*files->back().meta);
  meta->ranges_applied = applied;
  files->back().meta = std::move(meta);
  return true;
}

// Whether begin comes before end the order says, which is not known here.
bool GetRange(Slice* input, RangePlace* place) {
  RangeDeletion& range = place->range;
  DCHECK(range.begin.empty() && range.end.empty());
  if (!GetId(input, &place->id) || !GetVarint64(input, &range.sequence) || !GetString(input, &range.begin) ||
      !GetString(input, &range.end)) {
    return false;
  }
  return range.sequence > 0 && range.sequence <= kMostReadSequence;
}

// Makes, of the places that an edit adds, nodes to be moved in. Corruption if the edit removes something that is not
// there, or removes something twice: the edit would then be of another state.
template <typename Place>
Status PreparePlaces(const std::map<uint64_t, Place>& places, const std::vector<uint64_t>& removed,
                     const std::vector<Place>& added, const char* complaint, std::map<uint64_t, Place>* fresh) {
  CHECK(fresh->empty());
  // Fresh nodes are made before anything is changed: memory is all that can be lacking.
  std::set<uint64_t> once;
  for (const uint64_t id : removed) {
    if (places.count(id) == 0 || !once.insert(id).second) return Status::Corruption(complaint, std::to_string(id));
  }
  for (const Place& place : added) (*fresh)[IdOf(place)] = place;
  CHECK_LE(fresh->size(), added.size());
  return Status::OK();
}

// Nodes go from one map to the other without being copied, so nothing can fail here. New ids are larger than all there
// are, hence the hint; an id that is there already, of a table that moves or a chunk that is sealed, gets the new
// place.
template <typename Place>
void CommitPlaces(const std::vector<uint64_t>& removed, std::map<uint64_t, Place>* fresh,
                  std::map<uint64_t, Place>* places) noexcept {
  for (const uint64_t id : removed) CHECK_EQ(places->erase(id), 1u);
  while (!fresh->empty()) {
    auto node = fresh->extract(fresh->begin());
    const auto place = places->insert(places->end(), std::move(node));  // at the end, if it is new
    if (!node.empty()) place->second = std::move(node.mapped());  // NOLINT(bugprone-use-after-move): left where it was
  }
}

// The names that an edit adds. Null, or one of them that another place has and the edit does not take away: nobody
// could say which is meant. A place that the edit says anew, as a family that is dropped, loses the name that it had.
template <typename Place>
const std::string* PrepareNames(const PlaceNames& names, const std::vector<uint64_t>& removed,
                                const std::map<uint64_t, Place>& added, PlaceNames* fresh) {
  CHECK(fresh->empty());
  const std::set<uint64_t> gone(removed.begin(), removed.end());
  for (const auto& [id, place] : added) {
    if (place.name.empty()) continue;
    const auto known = names.find(place.name);
    const bool is_free = known == names.end() || gone.count(known->second) > 0 || added.count(known->second) > 0;
    if (!is_free || !fresh->emplace(place.name, id).second) return &place.name;
  }
  DCHECK_LE(fresh->size(), added.size());
  return nullptr;
}

// By nodes too, before the places are moved in.
template <typename Place>
void CommitNames(const std::map<uint64_t, Place>& places, const std::vector<uint64_t>& removed,
                 const std::map<uint64_t, Place>& added, PlaceNames* fresh, PlaceNames* names) noexcept {
  DCHECK_LE(fresh->size(), added.size());
  const auto forget = [&](uint64_t id) {
    const auto place = places.find(id);
    if (place != places.end()) names->erase(place->second.name);
  };
  for (const uint64_t id : removed) forget(id);
  for (const auto& [id, place] : added) forget(id);
  names->merge(*fresh);
  CHECK(fresh->empty());  // no name is of two places
}

// Ages and space of kept chunks, before their places are committed. An edit may remove a chunk and name it anew.
void CommitAges(const std::vector<uint64_t>& removed, KeptChunks* fresh, KeptChunks* kept) noexcept {
  DCHECK_EQ(fresh->by_age.size(), fresh->by_id.size());
  const auto forget = [&](uint64_t id) {
    const auto chunk = kept->by_id.find(id);
    if (chunk == kept->by_id.end()) return;
    if (kept->by_age.erase({chunk->second.first_sequence, id}) == 0) return;  // removed before it is named anew
    DCHECK_GE(kept->space, SpaceOf(chunk->second));
    kept->space -= SpaceOf(chunk->second);
  };
  for (const uint64_t id : removed) forget(id);
  for (const auto& [id, chunk] : fresh->by_id) {
    forget(id);
    kept->space += SpaceOf(chunk);
  }
  kept->by_age.merge(fresh->by_age);
}

// The places as they are after the edit, without changing them: the snapshot of a roll-over holds the edit already.
template <typename Place>
std::vector<Place> PlacesAfter(const std::map<uint64_t, Place>& places, const std::vector<uint64_t>& removed,
                               const std::vector<Place>& added) {
  std::set<uint64_t> changed(removed.begin(), removed.end());
  for (const Place& place : added) changed.insert(IdOf(place));
  std::vector<Place> result;
  result.reserve(places.size() + added.size());
  Visits::Add(places.size());
  for (const auto& [id, place] : places) {
    DCHECK_EQ(id, IdOf(place));
    if (changed.count(id) == 0) result.push_back(place);
  }
  result.insert(result.end(), added.begin(), added.end());
  CHECK_LE(result.size(), places.size() + added.size());
  return result;
}

}  // namespace

// A number from this side of the program that the other side would refuse must not reach the medium, where it would
// make the database unreadable: hence checks and no Status.
void VersionEdit::EncodeTo(std::string* dst) const {
  if (has_comparator) {
    PutField(dst, kComparator);
    PutLengthPrefixedSlice(dst, comparator);
  }
  if (has_next_id) {
    CHECK_LE(next_id, kMostDrawnId);
    PutField(dst, kNextId);
    PutVarint64(dst, next_id);
  }
  if (has_flushed_sequence) {
    CHECK_LE(flushed_sequence, kMaxSequence);
    PutField(dst, kFlushedSequence);
    PutVarint64(dst, flushed_sequence);
  }
  PutRemoved(dst, kRemovedTable, removed_tables);
  // A table that moves is written like a new one, with all of its place: the place that it had is not needed to read
  // it.
  for (const TablePlace& t : tables) {
    CHECK_LE(t.level, kRepositoryLevel);
    PutField(dst, kTable);
    PutNumbers(dst, {t.number, t.level, t.run, t.index_offset, t.index_size});
  }
  PutRemoved(dst, kRemovedChunk, removed_chunks);
  for (const LogChunkPlace& c : chunks) {
    CHECK(!c.sealed || c.sealed_size <= c.size);
    PutField(dst, c.sealed ? kSealedChunk : kChunk);
    PutNumbers(dst, {c.id, c.offset, c.size});
    if (c.sealed) PutVarint64(dst, c.sealed_size);
  }
  PutRemoved(dst, kRemovedFile, removed_files);
  for (const SstPlace& f : files) PutFile(dst, f);
  PutRemoved(dst, kRemovedRange, removed_ranges);
  for (const RangePlace& r : ranges) {
    CHECK(r.id <= kMostDrawnId && r.range.sequence > 0 && r.range.sequence <= kMaxSequence);
    PutField(dst, kRange);
    PutNumbers(dst, {r.id, r.range.sequence});
    PutLengthPrefixedSlice(dst, r.range.begin);
    PutLengthPrefixedSlice(dst, r.range.end);
  }
  EncodeFamilies(dst);
  EncodeSavepoints(dst);
  EncodeKept(dst);
  EncodePayload(dst);
}

// Fields and no flags inside of one, so that a version which knows fewer refuses what it would misread.
bool VersionEdit::DecodeField(uint8_t field, Slice* input) {
  switch (field) {
    case kComparator:
      has_comparator = true;
      return GetString(input, &comparator);
    case kNextId:
      has_next_id = true;
      return GetId(input, &next_id) && next_id != 0;
    case kFlushedSequence:
      has_flushed_sequence = true;
      return GetVarint64(input, &flushed_sequence) && flushed_sequence <= kMostReadSequence;
    case kRemovedTable:
      return GetVarint64(input, &removed_tables.emplace_back());
    case kTable:
      return GetTable(input, &tables.emplace_back());
    case kRemovedChunk:
      return GetVarint64(input, &removed_chunks.emplace_back());
    case kChunk:
    case kSealedChunk:
      return GetChunk(input, static_cast<EditField>(field), &chunks.emplace_back());
    case kRemovedFile:
      return GetVarint64(input, &removed_files.emplace_back());
    case kFileRanges:
      return GetFileRanges(input, &files);
    case kRemovedRange:
      return GetVarint64(input, &removed_ranges.emplace_back());
    case kRange:
      return GetRange(input, &ranges.emplace_back());
    default:
      return IsFile(field) ? GetFile(input, static_cast<EditField>(field), &files.emplace_back())
                           : DecodeFamilies(field, input) || DecodeSavepoints(field, input) ||
                                 DecodeKept(field, input) || DecodePayload(field, input);
  }
}

// Bytes that checked may still be another version's, with fields that this one does not know: then the edit is refused
// as a whole, since nobody can tell what it would have changed.
bool VersionEdit::DecodeFrom(Slice input) {
  while (!input.empty()) {
    const uint8_t field = static_cast<uint8_t>(input[0]);
    input.remove_prefix(1);
    if (!DecodeField(field, &input)) return false;
  }
  return true;
}

// Edits that recovery reads come through here too, so what an edit says wrongly is Corruption and no assertion.
Status ManifestState::Prepare(const VersionEdit& edit, ManifestState* fresh) const {
  CHECK(fresh != this);
  fresh->comparator = edit.has_comparator ? edit.comparator : comparator;
  fresh->next_id = edit.has_next_id ? edit.next_id : next_id;
  fresh->flushed_sequence = edit.has_flushed_sequence ? edit.flushed_sequence : flushed_sequence;
  Status s = PreparePlaces(tables, edit.removed_tables, edit.tables, "manifest removes unknown table", &fresh->tables);
  if (!s.ok()) return s;
  s = PreparePlaces(chunks, edit.removed_chunks, edit.chunks, "manifest removes unknown log chunk", &fresh->chunks);
  if (!s.ok()) return s;
  s = PreparePlaces(files, edit.removed_files, edit.files, "manifest removes unknown file", &fresh->files);
  if (!s.ok()) return s;
  fresh->next_family = edit.next_family > 0 ? edit.next_family : next_family;
  if (fresh->next_family < next_family) return Status::Corruption("manifest", "ids of families go back");
  s = CheckFamilies(edit, fresh->next_family);
  if (!s.ok()) return s;
  s = PreparePlaces(families, edit.removed_families, edit.families, "manifest removes unknown family",
                    &fresh->families);
  if (!s.ok()) return s;
  const std::string* twice = PrepareNames(family_names, edit.removed_families, fresh->families, &fresh->family_names);
  if (twice != nullptr) return Status::Corruption("manifest has two families of one name", *twice);
  s = PreparePlaces(ranges, edit.removed_ranges, edit.ranges, "manifest removes unknown range", &fresh->ranges);
  if (s.ok()) s = CheckSavepoints(*this, edit);
  if (!s.ok()) return s;
  s = PreparePlaces(savepoints, edit.removed_savepoints, edit.savepoints, "manifest removes unknown savepoint",
                    &fresh->savepoints);
  if (!s.ok()) return s;
  twice = PrepareNames(savepoint_names, edit.removed_savepoints, fresh->savepoints, &fresh->savepoint_names);
  if (twice != nullptr) return Status::Corruption("manifest has two savepoints of one name", *twice);
  s = PreparePlaces(kept.by_id, edit.removed_kept, edit.kept, "manifest removes unknown kept chunk",
                    &fresh->kept.by_id);
  for (const auto& [id, chunk] : fresh->kept.by_id) fresh->kept.by_age.emplace(chunk.first_sequence, id);
  return s.ok() ? PreparePayload(*this, edit, fresh) : s;
}

// Comparator, next id and flushed sequence are set in Prepare, to what the edit says or to what they were.
void ManifestState::Commit(const VersionEdit& edit, ManifestState* fresh) noexcept {
  CHECK(fresh != this);
  comparator.swap(fresh->comparator);
  next_id = fresh->next_id;
  flushed_sequence = fresh->flushed_sequence;
  CommitPlaces(edit.removed_tables, &fresh->tables, &tables);
  CommitPlaces(edit.removed_chunks, &fresh->chunks, &chunks);
  CommitPlaces(edit.removed_files, &fresh->files, &files);
  next_family = fresh->next_family;
  CommitNames(families, edit.removed_families, fresh->families, &fresh->family_names, &family_names);
  CommitPlaces(edit.removed_families, &fresh->families, &families);
  CommitPlaces(edit.removed_ranges, &fresh->ranges, &ranges);
  CommitNames(savepoints, edit.removed_savepoints, fresh->savepoints, &fresh->savepoint_names, &savepoint_names);
  CommitPlaces(edit.removed_savepoints, &fresh->savepoints, &savepoints);
  CommitAges(edit.removed_kept, &fresh->kept, &kept);
  CommitPlaces(edit.removed_kept, &fresh->kept.by_id, &kept.by_id);
  CommitPayload(fresh, this);
  DCHECK_LE(family_names.size(), families.size());  // a dropped family has no name
  DCHECK_EQ(savepoint_names.size(), savepoints.size());
  DCHECK(fresh->tables.empty() && fresh->chunks.empty() && fresh->files.empty() && fresh->ranges.empty());
}

// Prepare allocates and may fail; Commit does neither. So a state is never left between two edits.
Status ManifestState::Apply(const VersionEdit& edit) {
  ManifestState fresh;
  Status s = Prepare(edit, &fresh);
  if (s.ok()) Commit(edit, &fresh);
  return s;
}

// Places are copied and not shared, so a snapshot takes as long as there are tables. A snapshot is a single edit all
// the same, so nothing else has to know how a state is stored.
VersionEdit ManifestState::Snapshot(const VersionEdit& next) const {
  VersionEdit edit;
  edit.has_comparator = true;
  edit.comparator = next.has_comparator ? next.comparator : comparator;
  edit.SetNextId(next.has_next_id ? next.next_id : next_id);
  edit.SetFlushedSequence(next.has_flushed_sequence ? next.flushed_sequence : flushed_sequence);
  edit.tables = PlacesAfter(tables, next.removed_tables, next.tables);
  edit.chunks = PlacesAfter(chunks, next.removed_chunks, next.chunks);
  edit.files = PlacesAfter(files, next.removed_files, next.files);
  edit.next_family = next.next_family > 0 ? next.next_family : next_family;
  if (edit.next_family == 1) edit.next_family = 0;  // as in a manifest that has never named one
  edit.families = PlacesAfter(families, next.removed_families, next.families);
  edit.ranges = PlacesAfter(ranges, next.removed_ranges, next.ranges);
  edit.savepoints = PlacesAfter(savepoints, next.removed_savepoints, next.savepoints);
  edit.kept = PlacesAfter(kept.by_id, next.removed_kept, next.kept);
  edit.payload = PayloadAfter(*this, next);
  return edit;
}

}  // namespace miodb
