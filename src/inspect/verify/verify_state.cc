#include "src/inspect/verify/verify_state.h"

#include <algorithm>
#include <map>
#include <vector>

#include "src/inspect/verify/verify_table.h"
#include "src/util/check/check.h"

// First the state itself is checked, then the tables and extents that it names.

namespace miodb {

StateCheck StateVerifier::Verify(const std::string& manifest, const ManifestState& state, const ReportProblem& report) {
  CHECK(report != nullptr);
  CheckPlaces(manifest, state, report);
  const RangeSetRef deleted = CheckRanges(state, report);
  StateCheck check;
  for (const auto& [offset, place] : state.payload) claims_->ClaimPayload(place, report);
  LiveCount count(state.payload);
  for (const auto& [number, place] : state.tables) CheckTable(state, place, deleted.get(), report, &count, &check);
  CheckLive(state, count, report);
  check.live_bytes = state.payload_totals.live_bytes;
  check.runs = CheckRuns(state, report);
  return check;
}

void StateVerifier::CheckPlaces(const std::string& manifest, const ManifestState& state,
                                const ReportProblem& report) const {
  std::map<uint64_t, uint32_t> levels;  // of runs
  for (const auto& [number, table] : state.tables) {
    if (!table.IsProper()) report({manifest, "table " + std::to_string(number) + " has no proper place"});
    if (levels.emplace(table.run, table.level).first->second != table.level) {
      report({manifest, "run " + std::to_string(table.run) + " is in two levels"});
    }
    // Ids are never given out twice, so those in use lie below the next one.
    if (std::max(number, table.run) >= state.next_id) {
      report({manifest, "next id is not above table " + std::to_string(number)});
    }
  }
}

// Flushes add range deletions to the manifest, so no range deletion is newer than the flushed sequence. Null: none, or
// an unknown order.
RangeSetRef StateVerifier::CheckRanges(const ManifestState& state, const ReportProblem& report) const {
  std::vector<RangeDeletion> ranges;
  for (const auto& [id, place] : state.ranges) {
    const std::string name = "deletion of a range " + std::to_string(id);
    if (id >= state.next_id) report({name, "the next id is not above it"});
    if (place.range.sequence > state.flushed_sequence) report({name, "is newer than the flushed sequence"});
    if (!order_known_) continue;
    if (order_.Compare(place.range.begin, place.range.end) >= 0) report({name, "ends before it begins"});
    ranges.push_back(place.range);
  }
  return RangeSet::Make(order_, ranges, nullptr);
}

// An extent that is believed to be more or less alive than it is would be collected too early or never.
void StateVerifier::CheckLive(const ManifestState& state, const LiveCount& count, const ReportProblem& report) const {
  if (!count.complete()) return;
  for (const auto& [offset, place] : state.payload) {
    const uint64_t live = count.LiveOf(offset);
    if (live == place.live_bytes) continue;
    report({"payload extent at offset " + std::to_string(offset), "tables refer to " + std::to_string(live) +
                                                                      " bytes of it, the manifest says " +
                                                                      std::to_string(place.live_bytes)});
  }
}

// The words of a table that another state has as well are counted once more, without a look at the rest of it.
void StateVerifier::CountAgain(const TableImage& table, LiveCount* count) const {
  for (uint64_t i = 0; i < table.header().leaf_count; i++) {
    if (!table.LeafProblem(i).empty()) return count->Miss();
    const LeafNode& leaf = table.Leaf(i);
    for (int j = 0; j < leaf.header.count; j++) count->Add(IndexWord(leaf.word[j]), 0);
  }
}

void StateVerifier::CheckTable(const ManifestState& state, const TablePlace& place, const RangeSet* deleted,
                               const ReportProblem& report, LiveCount* count, StateCheck* check) {
  const std::string name = "table " + std::to_string(place.number);
  const std::pair extent(place.index_offset, place.index_size);
  const auto [known, fresh] = tables_.emplace(place.number, extent);
  if (!fresh) {
    if (known->second != extent) report({name, "is another table in the current state"});
    if (known->second != extent || ranges_.count(place.number) == 0) return count->Miss();
    return CountAgain(TableImage(&image_, order_, place.index_offset, place.index_size, place.number), count);
  }
  if (!claims_->Claim(place.index_offset, place.index_size, name, report)) return count->Miss();
  // Without a good header nothing else of a table can be judged: not where its parts lie, nor how many there are.
  const TableImage table(&image_, order_, place.index_offset, place.index_size, place.number);
  if (!table.header_problem().empty()) {
    report({table.Name(), table.header_problem()});
    return count->Miss();
  }
  const TableCheck found = VerifyTable(image_, table, order_, order_known_, report, count, on_leaf_, deleted);
  if (state.has_families() && found.highest_family >= state.next_family) {
    report(
        {table.Name(), "has keys of column family " + std::to_string(found.highest_family) + ", which was never made"});
  }
  check->entries += found.entries;
  check->tombstones += found.tombstones;
  if (found.complete) ranges_[place.number] = {found.smallest, found.largest};
}

// Tables of one run lie side by side. Returns how many runs there are.
uint64_t StateVerifier::CheckRuns(const ManifestState& state, const ReportProblem& report) const {
  std::map<std::pair<uint32_t, uint64_t>, std::vector<uint64_t>> runs;
  for (const auto& [number, place] : state.tables) runs[{place.level, place.run}].push_back(number);
  if (!order_known_) return runs.size();
  // Only tables of which every entry could be read have a known range.
  for (auto& [id, tables] : runs) {
    std::erase_if(tables, [this](uint64_t number) { return ranges_.count(number) == 0; });
    // By first keys, each table has to end before the next begins.
    std::sort(tables.begin(), tables.end(),
              [this](uint64_t a, uint64_t b) { return order_.Compare(ranges_.at(a).first, ranges_.at(b).first) < 0; });
    for (size_t i = 1; i < tables.size(); i++) {
      if (order_.Compare(ranges_.at(tables[i - 1]).second, ranges_.at(tables[i]).first) < 0) continue;
      report({"run " + std::to_string(id.second) + " of level " + std::to_string(id.first),
              "tables " + std::to_string(tables[i - 1]) + " and " + std::to_string(tables[i]) + " overlap"});
    }
  }
  return runs.size();
}

}  // namespace miodb
