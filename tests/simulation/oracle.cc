#include "tests/simulation/oracle.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "miodb/iterator.h"
#include "src/util/check/check.h"
#include "tests/simulation/db_peer.h"
#include "tests/simulation/follower.h"

namespace miodb::sim {

namespace {

constexpr int kMaxKeys = 1000;

std::string Shown(const std::string* value) {
  if (value == nullptr) return "nothing";
  return "'" + value->substr(0, 24) + (value->size() > 24 ? "...'" : "'") + " of " + std::to_string(value->size()) +
         " bytes";
}

}  // namespace

const std::string& Oracle::KeyText(int key) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> result;
    for (int i = 0; i < kMaxKeys; i++) {
      char text[16];
      std::snprintf(text, sizeof(text), "k%03d", i);
      result.emplace_back(text);
    }
    return result;
  }();
  return texts[static_cast<size_t>(key)];
}

Oracle::Oracle(int keys, int first_family_key, int end_family_key)
    : first_family_key_(first_family_key),
      end_family_key_(end_family_key),
      values_(std::make_shared<std::deque<std::string>>()) {
  states_.emplace_back(static_cast<size_t>(keys), nullptr);
  ends_.push_back(0);
}

Oracle Oracle::Fork(uint64_t p) const {
  Oracle fork;
  fork.first_family_key_ = first_family_key_;
  fork.end_family_key_ = end_family_key_;
  fork.base_ = fork.promised_ = fork.acknowledged_ = fork.started_ = p;
  fork.states_.push_back(*At(p));
  fork.ends_.push_back(p);
  fork.values_ = std::make_shared<std::deque<std::string>>();
  fork.savepoints_ = savepoints_;
  return fork;
}

void Oracle::Start(const std::vector<Update>& batch) {
  State state = states_.back();
  for (const Update& update : batch) {
    if (update.key < 0) continue;
    if (update.kind == Update::Kind::kDeleteRange) {
      for (size_t key = 0; key < state.size(); key++) {
        const std::string& text = KeyText(static_cast<int>(key));
        if (InFamily(static_cast<int>(key))) continue;  // ranges are of the default family
        if (KeyText(update.key) <= text && text < update.value) state[key] = nullptr;
      }
      continue;
    }
    const std::string*& value = state[static_cast<size_t>(update.key)];
    const bool puts = update.kind == Update::Kind::kPut || update.kind == Update::Kind::kPutForAges;
    if (puts || (update.kind == Update::Kind::kMerge && value == nullptr)) {
      value = &values_->emplace_back(update.value);
    } else if (update.kind == Update::Kind::kMerge) {
      value = &values_->emplace_back(*value + "," + update.value);
    } else {
      value = nullptr;
    }
  }
  started_ += batch.size();
  states_.push_back(std::move(state));
  ends_.push_back(started_);
}

void Oracle::Acknowledge(bool promise) {
  acknowledged_ = started_;
  if (promise) promised_ = started_;
}

void Oracle::AcknowledgeUpTo(uint64_t sequence) {
  CHECK(sequence > acknowledged_ && sequence <= started_);
  acknowledged_ = promised_ = sequence;
}

void Oracle::Refuse() {
  states_.pop_back();
  ends_.pop_back();
  started_ = ends_.back();
}

const Oracle::State* Oracle::At(uint64_t p) const {
  const auto end = std::lower_bound(ends_.begin(), ends_.end(), p);
  return end == ends_.end() || *end != p ? nullptr : &states_[static_cast<size_t>(end - ends_.begin())];
}

std::string Oracle::Check(DB* db, uint64_t low, uint64_t high, uint64_t* p) const {
  *p = DBPeer::LastSequence(db);
  const std::string found = "the database is at write " + std::to_string(*p);
  if (*p < low) return found + ", writes up to " + std::to_string(low) + " were promised";
  if (*p > high) return found + ", only " + std::to_string(high) + " were started";
  const State* const state = At(*p);
  if (state == nullptr) return found + ", in the middle of a batch";
  std::string wrong = CheckState(db, *state);
  if (wrong.empty()) wrong = CheckSavepoints(db);
  if (wrong.empty()) wrong = CheckUpdates(db, *this, *p);
  return wrong.empty() ? "" : found + wrong;
}

std::string Oracle::CheckState(DB* db, const State& state) const {
  // Before the family's first write is acknowledged, it is there or not.
  ColumnFamilyHandle* family = nullptr;
  const Status has_family = db->GetColumnFamily(kFamily, &family);
  if (!has_family.ok() && !has_family.IsNotFound()) return "; its family: " + has_family.ToString();
  static std::string value;
  for (int key = 0; key < keys(); key++) {
    const std::string* const wanted = state[static_cast<size_t>(key)];
    const Status s = !InFamily(key)      ? db->Get(ReadOptions(), KeyText(key), &value)
                     : family != nullptr ? db->Get(ReadOptions(), family, KeyText(key), &value)
                                         : has_family;
    if (wanted == nullptr ? s.IsNotFound() : s.ok() && value == *wanted) continue;
    return "; get of " + KeyText(key) + ": " + (s.ok() ? Shown(&value) : s.ToString()) + " instead of " + Shown(wanted);
  }
  std::string wrong = CheckScan(db, state, nullptr);
  if (wrong.empty() && family != nullptr) wrong = CheckScan(db, state, family);
  return wrong;
}

void Oracle::StartSavepoint(const std::string& name) {
  const auto [saved, fresh] = savepoints_.emplace(name, Saved{Phase::kMaking, states_.back()});
  if (!fresh) saved->second.phase = Phase::kDropping;
}

void Oracle::EndSavepoint(const std::string& name, bool is_there) {
  if (is_there) {
    savepoints_.at(name).phase = Phase::kThere;
  } else {
    savepoints_.erase(name);
  }
}

// Savepoints that exist have the state of their moment. A savepoint that is being made or dropped may exist.
std::string Oracle::CheckSavepoints(DB* db) const {
  std::vector<SavepointInfo> list;
  const Status listed = db->ListSavepoints(&list);
  if (!listed.ok()) return "; its savepoints: " + listed.ToString();
  size_t there = 0;
  for (const SavepointInfo& info : list) {
    const auto saved = savepoints_.find(info.name);
    if (saved == savepoints_.end()) return "; nobody made savepoint " + info.name + ", or it was dropped";
    there += saved->second.phase == Phase::kThere;
    DB* opened = nullptr;
    const Status s = db->OpenSavepoint(info.name, &opened);
    const std::unique_ptr<DB> view(opened);
    const std::string wrong = s.ok() ? CheckState(view.get(), saved->second.state) : ": " + s.ToString();
    if (!wrong.empty()) return "; savepoint " + info.name + wrong;
  }
  for (const auto& [name, saved] : savepoints_) there -= saved.phase == Phase::kThere;
  return there == 0 ? "" : "; savepoints are missing";
}

// family: null: the default one.
std::string Oracle::CheckScan(DB* db, const State& state, ColumnFamilyHandle* family) const {
  const auto is_of_walk = [&](int key) { return InFamily(key) == (family != nullptr); };
  int present = 0;
  for (int key = 0; key < keys(); key++) present += is_of_walk(key) && state[static_cast<size_t>(key)] != nullptr;
  const std::unique_ptr<Iterator> iterator(family == nullptr ? db->NewIterator(ReadOptions())
                                                             : db->NewIterator(ReadOptions(), family));
  for (const bool forward : {true, false}) {
    const std::string way = forward ? "; forward scan: " : "; backward scan: ";
    int left = present;
    forward ? iterator->SeekToFirst() : iterator->SeekToLast();
    for (int key = forward ? 0 : keys() - 1; iterator->Valid(); left--) {
      while (key >= 0 && key < keys() && Slice(KeyText(key)) != iterator->key()) key += forward ? 1 : -1;
      if (key < 0 || key >= keys() || !is_of_walk(key)) {
        return way + iterator->key().ToString() + " is out of order or unknown";
      }
      const std::string* const wanted = state[static_cast<size_t>(key)];
      if (wanted == nullptr || iterator->value() != Slice(*wanted)) {
        const std::string got = iterator->value().ToString();
        return way + KeyText(key) + " is " + Shown(&got) + " instead of " + Shown(wanted);
      }
      key += forward ? 1 : -1;
      forward ? iterator->Next() : iterator->Prev();
    }
    if (!iterator->status().ok()) return way + iterator->status().ToString();
    if (left != 0) return way + std::to_string(left) + " keys are missing";
  }
  return "";
}

}  // namespace miodb::sim
