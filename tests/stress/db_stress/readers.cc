#include "tests/stress/db_stress/readers.h"

#include <algorithm>
#include <memory>

namespace miodb::test {

namespace {

std::string Bounds(uint32_t low, uint32_t high) {
  return ", versions " + std::to_string(low) + " to " + std::to_string(high) + " were possible";
}

}  // namespace

void StressReader::Low(Window* window) const {
  window->low.resize(data_.units());
  for (uint32_t unit = 0; unit < data_.units(); unit++) window->low[unit] = state_->units[unit].committed.load();
}

void StressReader::High(Window* window) const {
  window->high.resize(data_.units());
  for (uint32_t unit = 0; unit < data_.units(); unit++) window->high[unit] = state_->units[unit].begun.load();
}

void StressReader::Count(std::atomic<uint64_t>* total, uint64_t* own, uint64_t n) {
  *own += n;
  if (*own < 1000) return;
  total->fetch_add(*own, std::memory_order_relaxed);  // relaxed: a figure
  *own = 0;
}

// The version after this one that a read may show: those between the one that was there when the round began and the
// last one used before are lost.
uint32_t StressReader::Following(const UnitState& unit, uint32_t version) const {
  return version == unit.base_current ? unit.base_last + 1 : version + 1;
}

std::string StressReader::Judge(const StressKey& key, const Slice* value, uint32_t low, uint32_t high,
                                uint32_t* version) const {
  const UnitState& unit = state_->units[key.unit];
  if (value == nullptr) {
    *version = kAbsent;
    for (uint32_t v = low; v <= high; v = Following(unit, v)) {
      if (data_.IsDeletion(key.unit, v)) return "";
    }
    return "key " + key.text + " is missing" + Bounds(low, high);
  }
  if (!StressData::ClaimedVersion(*value, version)) {
    *version = kUnclear;
    for (uint32_t v = low; v <= high; v = Following(unit, v)) {
      if (!data_.IsDeletion(key.unit, v) && data_.IsValue(key.unit, key.member, v, *value)) return "";
    }
    return "key " + key.text + " has a value of " + std::to_string(value->size()) + " bytes" + Bounds(low, high);
  }
  const uint32_t v = *version;
  if (v >= low && v <= high && (v <= unit.base_current || v > unit.base_last) && !data_.IsDeletion(key.unit, v) &&
      data_.IsValue(key.unit, key.member, v, *value)) {
    return "";
  }
  return "key " + key.text + " has a value of " + std::to_string(value->size()) + " bytes that says version " +
         std::to_string(v) + Bounds(low, high);
}

std::string StressReader::GetLoop() {
  std::vector<uint32_t> seen(data_.units(), 0);
  std::string copied;
  PinnableSlice pinned;
  while (!Stopped()) {
    const StressKey& key = data_.keys()[random_.Uniform(data_.keys().size())];
    const UnitState& unit = state_->units[key.unit];
    uint32_t& last = seen[key.unit];
    const uint32_t low = std::max(last, unit.committed.load());
    const bool pin = (random_.Next64() & 1) != 0;
    const Status s = pin ? db_->Get(ReadOptions(), key.text, &pinned) : db_->Get(ReadOptions(), key.text, &copied);
    const uint32_t high = unit.begun.load();
    if (!s.ok() && !s.IsNotFound()) return "Get of " + key.text + ": " + s.ToString();
    const Slice value = pin ? Slice(pinned) : Slice(copied);
    uint32_t version;
    const std::string fault = Judge(key, s.ok() ? &value : nullptr, low, high, &version);
    if (!fault.empty()) return "Get: " + fault;
    last = low;
    if (version == kAbsent) {
      while (!data_.IsDeletion(key.unit, last)) last = Following(unit, last);
    } else if (version != kUnclear) {
      last = version;
    }
    Count(&state_->reads, &reads_, 1);
  }
  return "";
}

std::string StressReader::Scan(Iterator* it, const Window& window, std::vector<uint32_t>* versions) {
  const std::vector<StressKey>& keys = data_.keys();
  versions->assign(keys.size(), kAbsent);
  size_t rank = 0;
  std::string fault;
  const auto judge = [&](const Slice* value) {
    const uint32_t unit = keys[rank].unit;
    return Judge(keys[rank], value, window.low[unit], window.high[unit], &(*versions)[rank]);
  };
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    while (rank < keys.size() && it->key() != Slice(keys[rank].text)) {
      fault = judge(nullptr);
      if (!fault.empty()) return "scan, at " + it->key().ToString() + ": " + fault;
      rank++;
    }
    if (rank == keys.size()) return "a scan yields " + it->key().ToString() + ", out of order or never written";
    const Slice value = it->value();
    fault = judge(&value);
    if (!fault.empty()) return "scan: " + fault;
    rank++;
    Count(&state_->steps, &steps_, 1);
  }
  if (!it->status().ok()) return "scan: " + it->status().ToString();
  for (; rank < keys.size(); rank++) {
    fault = judge(nullptr);
    if (!fault.empty()) return "scan, at its end: " + fault;
  }
  for (uint32_t unit = 0; unit < data_.units(); unit++) {
    const uint32_t first = (*versions)[data_.Rank(unit, 0)];
    for (uint32_t member = 1; member < StressData::Members(unit); member++) {
      if ((*versions)[data_.Rank(unit, member)] != first) {
        return "a scan sees half of a batch: version " + std::to_string(first) + " of " +
               keys[data_.Rank(unit, 0)].text + " with version " +
               std::to_string((*versions)[data_.Rank(unit, member)]) + " of " + keys[data_.Rank(unit, member)].text;
      }
    }
  }
  return "";
}

// The same state backward must be the same.
std::string StressReader::ScanBackward(Iterator* it, const std::vector<uint32_t>& versions) {
  const std::vector<StressKey>& keys = data_.keys();
  size_t rank = keys.size();
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    while (rank > 0 && versions[rank - 1] == kAbsent) rank--;
    if (rank == 0) return "a backward scan yields " + it->key().ToString() + " beyond the first key";
    rank--;
    if (it->key() != Slice(keys[rank].text)) {
      return "a backward scan yields " + it->key().ToString() + " instead of " + keys[rank].text;
    }
    uint32_t version;
    if (!StressData::ClaimedVersion(it->value(), &version)) version = kUnclear;
    if (version != versions[rank]) return "a backward scan yields another version of " + keys[rank].text;
    Count(&state_->steps, &steps_, 1);
  }
  if (!it->status().ok()) return "backward scan: " + it->status().ToString();
  while (rank > 0 && versions[rank - 1] == kAbsent) rank--;
  return rank == 0 ? "" : "a backward scan misses " + keys[rank - 1].text;
}

// Seeks to a key, then goes to and fro.
std::string StressReader::Wander(Iterator* it, const std::vector<uint32_t>& versions) {
  const std::vector<StressKey>& keys = data_.keys();
  std::vector<size_t> there;
  for (size_t rank = 0; rank < keys.size(); rank++) {
    if (versions[rank] != kAbsent) there.push_back(rank);
  }
  const size_t target = random_.Uniform(keys.size());
  auto at = std::lower_bound(there.begin(), there.end(), target);
  it->Seek(keys[target].text);
  for (int i = 0; i < 200; i++) {
    if (it->Valid() != (at != there.end())) return "an iterator is Valid where it should not be, or the reverse";
    if (!it->Valid()) return "";
    if (it->key() != Slice(keys[*at].text)) {
      return "an iterator stands on " + it->key().ToString() + " instead of " + keys[*at].text;
    }
    Count(&state_->steps, &steps_, 1);
    if (random_.OneIn(2)) {
      it->Next();
      ++at;
    } else if (at == there.begin()) {
      it->Prev();
      at = there.end();
    } else {
      it->Prev();
      --at;
    }
  }
  return "";
}

std::string StressReader::ScanLoop() {
  std::vector<uint32_t> versions;
  Window window;
  while (!Stopped()) {
    Low(&window);
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    High(&window);
    std::string fault = Scan(it.get(), window, &versions);
    if (fault.empty()) fault = ScanBackward(it.get(), versions);
    if (fault.empty()) fault = Wander(it.get(), versions);
    if (!fault.empty()) return fault;
  }
  return "";
}

// Scans at a snapshot; gets of some keys must agree.
std::string StressReader::ReadAt(const Snapshot* snapshot, const Window& window, std::vector<uint32_t>* versions) {
  ReadOptions options;
  options.snapshot = snapshot;
  const std::unique_ptr<Iterator> it(db_->NewIterator(options));
  const std::string fault = Scan(it.get(), window, versions);
  if (!fault.empty()) return fault;
  std::string value;
  for (int i = 0; i < 20; i++) {
    const size_t rank = random_.Uniform(data_.keys().size());
    const std::string& key = data_.keys()[rank].text;
    const Status s = db_->Get(options, key, &value);
    if (!s.ok() && !s.IsNotFound()) return "Get of " + key + " at a snapshot: " + s.ToString();
    uint32_t version = kAbsent;
    if (s.ok() && !StressData::ClaimedVersion(value, &version)) version = kUnclear;
    if (version != (*versions)[rank]) return "Get and scan at one snapshot differ at " + key;
    Count(&state_->reads, &reads_, 1);
  }
  return "";
}

// Several snapshots at a time, each read again and again until it is let go.
std::string StressReader::SnapshotLoop() {
  struct Held {
    const Snapshot* snapshot;
    Window window;
    std::vector<uint32_t> versions;
  };
  std::vector<Held> held;
  std::vector<uint32_t> versions;
  std::string fault;
  while (!Stopped() && fault.empty()) {
    if (held.size() < 3) {
      Held& fresh = held.emplace_back();
      Low(&fresh.window);
      fresh.snapshot = db_->GetSnapshot();
      High(&fresh.window);
      fault = ReadAt(fresh.snapshot, fresh.window, &fresh.versions);
      if (!fault.empty()) break;
    }
    const size_t which = random_.Uniform(held.size());
    fault = ReadAt(held[which].snapshot, held[which].window, &versions);
    if (fault.empty() && versions != held[which].versions) fault = "a snapshot shows another state than before";
    if (random_.OneIn(4)) {
      db_->ReleaseSnapshot(held[which].snapshot);
      held.erase(held.begin() + static_cast<ptrdiff_t>(which));
    }
  }
  for (const Held& one : held) db_->ReleaseSnapshot(one.snapshot);
  return fault;
}

}  // namespace miodb::test
