#include "tests/stress/db_stress/history.h"

#include <algorithm>

namespace miodb::test {

namespace {

constexpr uint64_t kNeverEnded = UINT64_MAX;
constexpr uint64_t kEnd = kNeverEnded - 1;  // the last moment of a round

std::string Printed(const std::optional<std::string>& value) {
  if (!value.has_value()) return "nothing";
  uint32_t version;
  const std::string size = std::to_string(value->size()) + " bytes";
  return StressData::ClaimedVersion(*value, &version) ? size + " of version " + std::to_string(version) : size;
}

}  // namespace

// Numbers the versions as the worker did.
void History::Replay(int writer) {
  const uint64_t begun = state_->writers[writer].begun.load();
  for (auto unit = static_cast<uint32_t>(writer); unit < data_.units(); unit += static_cast<uint32_t>(round_.writers)) {
    last_[unit] = state_->units[unit].base_last;
    spans_[unit].assign(1, {state_->units[unit].base_current, 0, begun + 1});
  }
  for (uint64_t n = 1; n <= begun; n++) {
    const bool refused = (state_->times[writer][n].ended.load() & kRefused) != 0;
    for (const uint32_t unit : PlanOperation(seed_, data_, round_, writer, n)) {
      last_[unit]++;
      if (refused) continue;
      spans_[unit].back().end = n;
      spans_[unit].push_back({last_[unit], n, begun + 1});
    }
  }
}

bool History::Matches(const FoundValues& found, uint32_t unit, uint32_t version) const {
  const bool deletion = data_.IsDeletion(unit, version);
  for (uint32_t member = 0; member < StressData::Members(unit); member++) {
    const auto& value = found[data_.Rank(unit, member)];
    if (value.has_value() == deletion) return false;
    if (!deletion && !data_.IsValue(unit, member, version, *value)) return false;
  }
  return true;
}

std::string History::Complain(uint32_t unit, const FoundValues& found) const {
  const UnitState& state = state_->units[unit];
  std::string text = "unit " + std::to_string(unit) + " (key " + data_.keys()[data_.Rank(unit, 0)].text + ") holds";
  for (uint32_t member = 0; member < StressData::Members(unit); member++) {
    text += (member == 0 ? " " : ", ") + Printed(found[data_.Rank(unit, member)]);
  }
  text += "; it had version " + std::to_string(state.base_current) + " (" + std::to_string(state.base_last) +
          " were used), then";
  const std::vector<Span>& spans = spans_[unit];
  for (size_t i = spans.size() > 6 ? spans.size() - 6 : 1; i < spans.size(); i++) {
    text += " " + std::to_string(spans[i].version) + (data_.IsDeletion(unit, spans[i].version) ? "(deletion)" : "") +
            " by operation " + std::to_string(spans[i].first);
  }
  return text;
}

// After how many operations the writer's units are all as found, and at which moments so many can have been there.
std::string History::FindMoments(int writer, const FoundValues& found, std::vector<Moments>* moments) const {
  const uint64_t begun = state_->writers[writer].begun.load();
  std::vector<int64_t> change(begun + 2, 0);
  int64_t units = 0;
  std::string complaint;
  for (auto unit = static_cast<uint32_t>(writer); unit < data_.units(); unit += static_cast<uint32_t>(round_.writers)) {
    bool any = false;
    for (const Span& span : spans_[unit]) {
      if (!Matches(found, unit, span.version)) continue;
      any = true;
      change[span.first]++;
      change[span.end]--;
    }
    if (!any && complaint.empty()) complaint = Complain(unit, found);
    units++;
  }
  if (!complaint.empty()) return complaint;
  int64_t right = 0;
  for (uint64_t n = 0; n <= begun; n++) {
    right += change[n];
    if (right != units) continue;
    const OperationTimes* const times = state_->times[writer];
    const uint64_t next_ended = n < begun ? times[n + 1].ended.load() & ~kRefused : 0;
    moments->push_back({n, n == 0 ? 0 : times[n].begun.load(), next_ended == 0 ? kNeverEnded : next_ended});
  }
  if (!moments->empty()) return "";
  // Every unit by itself is right, together they are not: a hole, or half of a batch.
  uint64_t newest = 0;
  uint32_t newest_unit = 0;
  for (auto unit = static_cast<uint32_t>(writer); unit < data_.units(); unit += static_cast<uint32_t>(round_.writers)) {
    for (const Span& span : spans_[unit]) {
      if (span.first > newest && !data_.IsDeletion(unit, span.version) && Matches(found, unit, span.version)) {
        newest = span.first;
        newest_unit = unit;
      }
    }
  }
  std::string text = "no prefix of the " + std::to_string(begun) + " operations of writer " + std::to_string(writer) +
                     " gives this state. Newest: " + Complain(newest_unit, found);
  for (auto unit = static_cast<uint32_t>(writer); unit < data_.units(); unit += static_cast<uint32_t>(round_.writers)) {
    const std::vector<Span>& spans = spans_[unit];
    if (std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
          return span.first <= newest && span.end > newest && Matches(found, unit, span.version);
        })) {
      continue;
    }
    return text + ". At odds with it: " + Complain(unit, found);
  }
  return text;
}

// A moment that suits every writer; the last one.
bool History::FindCut(const std::vector<std::vector<Moments>>& moments, uint64_t* cut) const {
  std::vector<uint64_t> candidates = {kEnd};
  for (const auto& of_writer : moments) {
    for (const Moments& m : of_writer) candidates.push_back(std::min(m.end - 1, kEnd));
  }
  std::sort(candidates.rbegin(), candidates.rend());
  const bool all_must_be_there = round_.options.log_mode != kLogOff || state_->closed.load();
  const uint64_t least = all_must_be_there ? kEnd : state_->flushed.load();
  std::vector<size_t> at(moments.size());
  for (size_t w = 0; w < moments.size(); w++) at[w] = moments[w].size();
  for (const uint64_t candidate : candidates) {
    if (candidate < least) return false;
    bool good = true;
    for (size_t w = 0; w < moments.size(); w++) {
      // Both ends ascend with the number of operations, so what begins later than this candidate suits no later one.
      while (at[w] > 0 && moments[w][at[w] - 1].begin > candidate) at[w]--;
      good = good && at[w] > 0 && moments[w][at[w] - 1].end > candidate;
    }
    if (good) {
      *cut = candidate;
      return true;
    }
  }
  return false;
}

void History::Keep(int writer, uint64_t operations) {
  for (auto unit = static_cast<uint32_t>(writer); unit < data_.units(); unit += static_cast<uint32_t>(round_.writers)) {
    for (const Span& span : spans_[unit]) {
      if (span.first <= operations) state_->units[unit].verified_current = span.version;
    }
    state_->units[unit].verified_last = last_[unit];
  }
}

std::string History::Judge(const FoundValues& found) {
  spans_.resize(data_.units());
  last_.resize(data_.units());
  std::vector<std::vector<Moments>> moments(static_cast<size_t>(round_.writers));
  for (int w = 0; w < round_.writers; w++) {
    Replay(w);
    const std::string complaint = FindMoments(w, found, &moments[static_cast<size_t>(w)]);
    if (!complaint.empty()) return complaint;
  }
  uint64_t cut;
  if (!FindCut(moments, &cut)) {
    std::string text = "acknowledged writes are missing, or later ones are there without earlier ones:";
    for (int w = 0; w < round_.writers; w++) {
      const auto& of_writer = moments[static_cast<size_t>(w)];
      text += " writer " + std::to_string(w) + " has " + std::to_string(of_writer.front().operations) + " to " +
              std::to_string(of_writer.back().operations) + " of " + std::to_string(state_->writers[w].begun.load()) +
              " operations, ticks " + std::to_string(of_writer.front().begin) + " to " +
              std::to_string(of_writer.back().end) + ";";
    }
    return text + " flushed up to tick " + std::to_string(state_->flushed.load());
  }
  for (int w = 0; w < round_.writers; w++) {
    uint64_t operations = 0;
    for (const Moments& m : moments[static_cast<size_t>(w)]) {
      if (m.begin <= cut && m.end > cut) operations = m.operations;
    }
    Keep(w, operations);
  }
  return "";
}

}  // namespace miodb::test
