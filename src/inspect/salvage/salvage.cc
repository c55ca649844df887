#include "src/inspect/salvage/salvage.h"

#include <algorithm>
#include <queue>

#include "pmtable/table_header.h"
#include "src/api/types/comparator_check.h"
#include "src/util/check/check.h"

// The data that a repair takes from a damaged pool. Everything that is handed out has been verified against a checksum
// of its own, so the worst that damage can do is to leave something out, and that is reported.

namespace miodb {

namespace {

// Ids are counted up from 1; no pool has had more. The bound is what a stray frame would have to meet by chance.
constexpr uint64_t kMaxChunkId = uint64_t{1} << 40;

// An index extent whose size the manifest does not tell ends where its inner nodes do.
uint64_t IndexExtentSize(const TableHeader& header) {
  return RoundToUnit(header.inner_offset + header.inner_count * sizeof(InnerNode));
}

// Key ascending, newest version first.
bool Before(const KeyOrder& order, const RecordView& a, const RecordView& b) {
  const int c = order.Compare(a.key, b.key);
  return c != 0 ? c < 0 : a.sequence() > b.sequence();
}

}  // namespace

// Walks the entries of a table that can be read. report may be empty. An entry that does not come after the one before
// is left out as well: a merge of walks relies on their order.
class Salvage::TableWalk {
 public:
  TableWalk(const TableImage* table, const KeyOrder& order, ReportProblem report)
      : table_(table), order_(order), report_(std::move(report)) {
    CHECK(table != nullptr);
    Next();
  }

  bool Valid() const { return valid_; }
  const RecordView& record() const {
    DCHECK(valid_);
    return record_;
  }
  const TableImage& table() const { return *table_; }
  uint64_t entries() const { return entries_; }
  uint64_t lost() const { return lost_; }

  // Goes on to the next entry that can be read. Positions count entries of the present leaf, leaf_ the leaves begun.
  void Next() {
    for (;;) {
      DCHECK(position_ >= 0 && position_ <= in_leaf_);
      if (position_ == in_leaf_ && !NextLeaf()) {
        valid_ = false;
        return;
      }
      RecordView next;
      std::string problem = table_->ReadEntry(table_->Leaf(leaf_ - 1), position_++, &next);
      if (problem.empty() && valid_ && !Before(order_, record_, next)) problem = "entry out of order";
      if (problem.empty()) {
        entries_++;
        record_ = next;
        valid_ = true;
        return;
      }
      LoseEntry(problem);
    }
  }

 private:
  // If a leaf is damaged, nobody knows its entries. Without a good header even their number is not known, and the
  // report says that the most that a leaf can have are lost.
  bool NextLeaf() {
    DCHECK_EQ(position_, in_leaf_);
    TellEntries();
    while (leaf_ < table_->leaf_slots()) {
      const std::string problem = table_->LeafProblem(leaf_);
      if (problem.empty()) {
        in_leaf_ = table_->Leaf(leaf_).header.count;
        position_ = 0;
        leaf_++;
        return true;
      }
      const uint64_t entries = table_->header_problem().empty()
                                   ? std::min<uint64_t>(kNodeFanout, table_->header().entries - leaf_ * kNodeFanout)
                                   : uint64_t{kNodeFanout};
      leaf_++;
      Lose(entries, "leaf of up to " + std::to_string(entries) + " entries lost: " + problem);
    }
    return false;
  }

  // The key before tells people which keys to look for in a backup: damaged entries have none that could be trusted.
  void Lose(uint64_t entries, const std::string& reason) {
    lost_ += entries;
    if (report_ != nullptr) report_({Place(), reason});
  }

  std::string Place() const {
    const std::string after = valid_ ? "after key " + PrintableKey(record_.key) : "before all other keys of the table";
    return table_->Name() + ", leaf " + std::to_string(leaf_ - 1) + ", " + after;
  }

  // Entries of a leaf are told together: where the records are gone with their region, all entries are lost.
  void LoseEntry(const std::string& problem) {
    lost_++;
    if (of_leaf_++ > 0 || report_ == nullptr) return;
    first_of_leaf_ = {Place(), "entry " + std::to_string(position_ - 1) + " lost: " + problem};
  }

  void TellEntries() {
    if (of_leaf_ > 1) first_of_leaf_.reason += "; and " + std::to_string(of_leaf_ - 1) + " more of the leaf";
    if (of_leaf_ > 0 && report_ != nullptr) report_(first_of_leaf_);
    of_leaf_ = 0;
  }

  const TableImage* const table_;
  const KeyOrder order_;
  const ReportProblem report_;
  uint64_t leaf_ = 0;  // the next one
  int position_ = 0;
  int in_leaf_ = 0;
  bool valid_ = false;
  RecordView record_;
  uint64_t entries_ = 0;
  uint64_t lost_ = 0;
  uint64_t of_leaf_ = 0;   // entries lost of this leaf
  Problem first_of_leaf_;  // of them
};

Salvage::Salvage(const PoolImage* image, const KeyOrder& order, std::atomic<bool>* has_families, ReportProblem report)
    : image_(image),
      order_(order),
      has_families_(has_families),
      report_(std::move(report)),
      history_({LogPolicy::kRepair}, [this](Problem p) { Report(std::move(p.place), std::move(p.reason)); }) {
  CHECK(report_ != nullptr && has_families_ != nullptr);
}

void Salvage::Report(std::string place, std::string reason) { report_({std::move(place), std::move(reason)}); }

// A manifest is believed as a whole or not at all: a state with some edits missing would name tables that were dropped
// and miss others, while a search finds what there is.
Status Salvage::Find() {
  CHECK(image_ != nullptr && manifest_ == nullptr && tables_.empty());
  Status s = ChooseManifest();
  if (!s.ok()) return s;
  FindFamilies();
  FindDropped();
  TellSavepoints();
  // A search that finds nothing would make an empty database of a damaged one, so it is refused.
  if (manifest_ != nullptr) {
    FindNamed(manifest_->state);
  } else {
    Search();
    if (tables_.empty() && history_.pieces().empty()) {
      return Status::Corruption(image_->path(), "holds no table and no log frame that could be kept");
    }
  }
  counts_.tables = tables_.size();
  return s;
}

// The area that the newest root names, or one that is known to have come into force later.
Status Salvage::ChooseManifest() {
  // A region that is not there is a loss of all that lies in it, and no reason to give up the rest.
  for (const std::string& missing : image_->missing()) Report("region", missing);
  const PoolHeader header = image_->Header();
  if (header.another_version) {
    return Status::NotSupported(image_->path(), "pool format version " + std::to_string(header.version) +
                                                    "; this library reads version " +
                                                    std::to_string(kPoolFormatVersion));
  }
  // The two copies may be gone; then FindSecret has found out the seed of the checksums.
  if (!header.has_superblock) Report("superblock", "no good copy");
  // An area of a higher epoch than the root's came into force by a root that is damaged now. An area without a
  // confirmed record may be a switch that a crash cut off before anything relied on it.
  areas_ = FindManifestAreas(*image_, header);
  const RootSlot& root = header.current;
  if (root.epoch == 0) Report("root", "no good copy");
  const ManifestImage* chosen = nullptr;
  if (!areas_.empty() && areas_.front().confirmed > 0 && areas_.front().epoch >= root.epoch) {
    chosen = &areas_.front();
    if (chosen->epoch > root.epoch) {
      Report("root", "the newest is of epoch " + std::to_string(root.epoch) + "; taken is the manifest at offset " +
                         std::to_string(chosen->offset) + " of epoch " + std::to_string(chosen->epoch));
    }
  } else if (root.epoch > 0 && image_->IsExtent(root.manifest_offset, root.manifest_size)) {
    // The footer of the root's area may be damaged, so the area is read by its place.
    areas_.push_back(ReadManifestArea(*image_, root.manifest_offset, root.manifest_size, root.generation));
    chosen = &areas_.back();
  }
  // Under another order keys could not be merged. Every area that was found is asked, also one that does not count: all
  // areas of a pool have the same comparator.
  Status s;
  ForEachEdit([&](const ManifestImage&, const ManifestImage::Record& record) {
    const VersionEdit& edit = record.edit;
    if (s.ok() && edit.has_comparator) s = CheckComparator(*order_.comparator(), edit.comparator, image_->path());
    for (const RangePlace& place : edit.ranges) AddRange(place.range);
  });
  if (!s.ok()) return s;
  if (chosen == nullptr) {
    // Without any area there is still what identifies itself.
    Report("manifest", "not found; the pool is searched for tables and log frames");
    return Status::OK();
  }
  // The state is used if nothing is wrong with any record, down to the last that was confirmed.
  for (const Problem& problem : chosen->problems) Report(problem.place, problem.reason);
  if (chosen->problems.empty()) {
    manifest_ = chosen;
  } else {
    Report("manifest", "not whole; the pool is searched for tables and log frames");
  }
  return Status::OK();
}

// A table that the manifest names is kept with a damaged header too: leaves check by themselves.
void Salvage::FindNamed(const ManifestState& state) {
  CHECK(manifest_ != nullptr);
  for (const auto& [number, place] : state.tables) {
    // Places come from the manifest, whose records have checked; the file may be shorter than it was.
    if (!image_->IsExtent(place.index_offset, place.index_size)) {
      Report("table " + std::to_string(number), "lost: its index at offset " + std::to_string(place.index_offset) +
                                                    " of " + std::to_string(place.index_size) +
                                                    " bytes lies outside of the pool");
      continue;
    }
    tables_.emplace_back(image_, order_, place.index_offset, place.index_size, number);
    const std::string& problem = tables_.back().header_problem();
    if (!problem.empty()) Report(tables_.back().Name(), problem + "; leaves that check are kept");
  }
  // Chunks that the manifest names are the log, in whatever state they are: the history judges them.
  flushed_sequence_ = state.flushed_sequence;
  for (const auto& [id, place] : state.chunks) {
    if (!image_->IsExtent(place.offset, place.size)) {
      Report(ChunkName(place), "lost: lies outside of the pool");
      continue;
    }
    history_.AddChunk(place, image_->At(place.offset), image_->secret());
  }
}

// Records of the log are sorted, since they are merged with tables by key. Only views of them are kept: their bytes
// stay in the image.
Status Salvage::JudgeLog(uint64_t flushed_sequence, uint64_t reach) {
  CHECK(log_.empty());
  Status s = history_.Judge(flushed_sequence, reach);
  RecordView record;
  // Pieces in files have no frames here: the caller applies their batches behind everything else.
  for (const LogPiece& piece : history_.pieces()) {
    if (!piece.replayed()) continue;
    for (const FrameView& frame : piece.frames) {
      for (const char* p = frame.body; p < frame.end && ParseRecord(p, frame.end, &record); p += record.size()) {
        if (IsKnownType(record.type())) log_.push_back(record);  // of others nobody knows what they mean
        if (record.type() == kTypeRangeDeletion) {
          AddRange({record.key.ToString(), record.value.ToString(), record.sequence()});
        }
      }
    }
  }
  counts_.writes = log_.size();
  std::stable_sort(log_.begin(), log_.end(),
                   [this](const RecordView& a, const RecordView& b) { return Before(order_, a, b); });
  return s;
}

// Tables first: they tell up to which write the log was flushed. So do edits of whatever areas are left: what they call
// flushed is in tables, or lost with them.
void Salvage::Search() {
  CHECK(manifest_ == nullptr && covers_.empty());
  SearchTables(&covers_);
  uint64_t flushed = 0;
  for (const TableImage& table : tables_) flushed = std::max(flushed, table.header().max_sequence);
  ForEachEdit([&](const ManifestImage&, const ManifestImage::Record& record) {
    if (record.edit.has_flushed_sequence) flushed = std::max(flushed, record.edit.flushed_sequence);
  });
  flushed_sequence_ = flushed;
  SearchFrames(flushed);
}

// Extents begin at multiples of their unit, so these are the only places where a header is looked for. A table whose
// header does not check cannot be found at all.
void Salvage::SearchTables(std::vector<Cover>* covers) {
  for (const PoolImage::Range& range : image_->DataRanges()) {
    for (PmRef offset = range.begin; offset < range.end; offset += kExtentUnit) {
      TableHeader header;
      if (!ReadTableHeader(image_->At(offset), image_->secret(), &header)) continue;
      if (dropped_.count(header.number) > 0) continue;
      // The size in a header may be anything, also if the header checks.
      const uint64_t size = IndexExtentSize(header);
      if (!image_->IsExtent(offset, size)) continue;
      TableImage table(image_, order_, offset, size, header.number);
      if (!table.header_problem().empty()) {
        Report(table.Name(), "lost: " + table.header_problem());
        continue;
      }
      tables_.push_back(table);
      Cover cover;
      if (Measure(table, &cover)) covers->push_back(std::move(cover));
    }
  }
}

// False unless every entry of the table can be read.
bool Salvage::Measure(const TableImage& table, Cover* cover) const {
  CHECK(cover != nullptr && table.header_problem().empty());
  TableWalk walk(&table, order_, nullptr);
  if (!walk.Valid()) return false;
  cover->number = table.number();
  cover->min_sequence = table.header().min_sequence;
  cover->max_sequence = table.header().max_sequence;
  cover->smallest = walk.record().key.ToString();
  // Only the last entry's key is copied: a walk over a large table would copy all of them otherwise.
  for (; walk.Valid(); walk.Next()) {
    if (walk.entries() == table.header().entries) cover->largest = walk.record().key.ToString();
  }
  DCHECK(walk.lost() > 0 || walk.entries() == table.header().entries);
  return walk.lost() == 0;
}

// A search goes on behind a frame that it found, because values in it may have been made to look like frames.
void Salvage::SearchFrames(uint64_t flushed_sequence) {
  FrameSearch search(image_->secret(), kMaxChunkId);
  FrameView frame;
  uint64_t chunk_id;
  for (const PoolImage::Range& range : image_->DataRanges()) {
    counts_.searched_bytes += range.end - range.begin;
    const char* const end = image_->At(range.end);
    for (const char* p = image_->At(range.begin); search.Next(p, end, &frame, &chunk_id); p = frame.end) {
      if (frame.first_sequence <= flushed_sequence) continue;
      // Writes that were flushed are in tables, or were dropped from them since: to bring them back would be wrong.
      history_.AddFrame("log frame at offset " + std::to_string(image_->RefOf(frame.begin)), frame, chunk_id);
    }
  }
  // Places that look like frames cost a hash each. The search has a budget for those that turn out to be none, and says
  // when it ran out: a repair of a pool full of made-up frames must come to an end.
  counts_.hashed_bytes = search.hashed_bytes();
  if (search.passed_over() == 0) return;
  Report("log frames",
         std::to_string(search.passed_over()) +
             " places that could be frames were not looked at, for too many turned out to be none: values "
             "were made to look like frames");
}

namespace {

// Chooses among all versions, by key and the newest first: the newest of each key, and behind an operand the versions
// down to its base.
class NeededVersions {
 public:
  explicit NeededVersions(const KeyOrder& order) : order_(order) {}

  // The key is copied, because a source may hand out bytes that go with its next move.
  bool Take(const RecordView& record, bool* new_key) {
    *new_key = last_sequence_ == 0 || !order_.Equal(record.key, last_key_);
    if (!*new_key && (!needs_older_ || record.sequence() == last_sequence_)) return false;
    last_sequence_ = record.sequence();
    needs_older_ = record.type() == kTypeMerge;
    last_key_.assign(record.key.data(), record.key.size());
    return true;
  }

 private:
  const KeyOrder order_;
  std::string last_key_;        // of the version taken last
  uint64_t last_sequence_ = 0;  // 0: none was
  bool needs_older_ = false;    // it is an operand
};

}  // namespace

Status Salvage::ForEach(const std::function<Status(const RecordView& record)>& visit) {
  return Walk([this](Problem p) { Report(std::move(p.place), std::move(p.reason)); }, visit);
}

// The walk counts what it meets, so the counts are put back: the walk that writes counts all of it again.
uint64_t Salvage::LiveBytes() {
  CHECK(other_ == nullptr);
  const Counts before = counts_;
  uint64_t bytes = 0;
  Walk(nullptr, [&](const RecordView& record) {
    if (!IsTombstone(record.type())) bytes += record.size();
    return Status::OK();
  }).IgnoreError();  // the walk that writes meets it again
  counts_ = before;
  return bytes;
}

// A merge of three kinds of sources: tables in a heap by their present record, the sorted log, and what was added. If
// records have the same key and sequence, the log's record is taken. The first version of a key is the newest; this
// version is taken, and behind an operand the versions that the operand needs. report: as TableWalk takes it.
Status Salvage::Walk(const ReportProblem& report, const std::function<Status(const RecordView& record)>& visit) {
  // Every walk keeps one leaf's place and one record's view, so all tables are walked at once in little memory.
  std::vector<std::unique_ptr<TableWalk>> walks;
  for (const TableImage& table : tables_) walks.push_back(std::make_unique<TableWalk>(&table, order_, report));
  const auto after = [this](const TableWalk* a, const TableWalk* b) {
    return Before(order_, b->record(), a->record());
  };
  std::priority_queue<TableWalk*, std::vector<TableWalk*>, decltype(after)> heap(after);
  for (const auto& walk : walks) {
    if (walk->Valid()) heap.push(walk.get());
  }
  Status s;
  NeededVersions needed(order_);
  const RangeSetRef deleted = ranges();
  const auto take = [&](const RecordView& record) {
    bool new_key;
    if (deleted != nullptr && record.sequence() < deleted->NewestAt(record.key, kMaxSequence)) return;
    if (!needed.Take(record, &new_key)) return;
    if (new_key && !IsTombstone(record.type())) counts_.keys++;
    s = visit(record);
  };
  CoverSweep covers(order_, covers_);
  size_t in_log = 0;
  if (other_ != nullptr) other_->SeekToFirst();
  // Each turn takes the first record of all sources, in key order and newest first, and moves its source on.
  while (s.ok()) {
    const RecordView* const in_table = heap.empty() ? nullptr : &heap.top()->record();
    const RecordView* const logged = in_log < log_.size() ? &log_[in_log] : nullptr;
    const RecordView* const first =
        in_table == nullptr || (logged != nullptr && !Before(order_, *in_table, *logged)) ? logged : in_table;
    // Table files that are damaged have ended without an error (NewSsdSalvage), so an error is one of reading.
    const bool has_other = other_ != nullptr && other_->Valid();
    if (other_ != nullptr && !has_other) s = other_->status();
    if (!s.ok() || (first == nullptr && !has_other)) break;
    if (first == nullptr || (has_other && Before(order_, other_->record(), *first))) {
      take(other_->record());
      other_->Next();
      continue;
    }
    if (first == logged) {
      take(*logged);
      in_log++;
      continue;
    }
    TableWalk* const walk = heap.top();
    heap.pop();
    const RecordView& record = walk->record();
    // An undamaged table of a higher number has replaced the records that it covers.
    if (covers.Highest(record.key, record.sequence()) <= walk->table().number()) take(record);
    walk->Next();
    if (walk->Valid()) heap.push(walk);
  }
  DCHECK(!s.ok() || (heap.empty() && in_log == log_.size()));
  for (const auto& walk : walks) {
    counts_.entries += walk->entries();
    counts_.entries_lost += walk->lost();
  }
  return s;
}

}  // namespace miodb
