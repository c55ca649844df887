#include "tests/simulation/follower.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "miodb/updates.h"
#include "miodb/write_batch.h"
#include "tests/simulation/db_peer.h"
#include "tests/simulation/history.h"

namespace miodb::sim {

namespace {

// By family and key.
using Content = std::map<std::pair<uint32_t, std::string>, std::string>;

class Follower : public WriteBatch::Handler {
 public:
  explicit Follower(Content* content) : content_(content) {}

  void Put(const Slice& key, const Slice& value) override { PutCF(0, key, value).IgnoreError(); }
  void Delete(const Slice& key) override { DeleteCF(0, key).IgnoreError(); }
  Status Merge(const Slice& key, const Slice& operand) override { return MergeCF(0, key, operand); }
  Status SingleDelete(const Slice& key) override { return DeleteCF(0, key); }
  Status DeleteRange(const Slice& begin, const Slice& end) override { return DeleteRangeCF(0, begin, end); }
  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    if (IsOverBeforeRead(value)) return DeleteCF(family, key);
    (*content_)[{family, key.ToString()}] = value.ToString();
    return Status::OK();
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    content_->erase({family, key.ToString()});
    return Status::OK();
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& operand) override {
    std::string& value = (*content_)[{family, key.ToString()}];
    value += (value.empty() ? "" : ",") + operand.ToString();
    return Status::OK();
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override { return DeleteCF(family, key); }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    content_->erase(content_->lower_bound({family, begin.ToString()}),
                    content_->lower_bound({family, std::max(begin, end, Less).ToString()}));
    return Status::OK();
  }

 private:
  static bool Less(const Slice& a, const Slice& b) { return a.compare(b) < 0; }

  Content* const content_;
};

Content ContentOf(const Oracle& oracle, const Oracle::State& state, uint32_t family) {
  Content content;
  for (int key = 0; key < oracle.keys(); key++) {
    const std::string* const value = state[static_cast<size_t>(key)];
    if (value != nullptr) content[{oracle.InFamily(key) ? family : 0, Oracle::KeyText(key)}] = *value;
  }
  return content;
}

// The oldest write, as the message says it; 0 if it says nothing.
uint64_t OldestIn(const Status& s) {
  const std::string text = s.ToString(), mark = "the oldest there is ";
  const size_t at = text.find(mark);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + mark.size(), nullptr, 10);
}

}  // namespace

std::string CheckUpdates(DB* db, const Oracle& oracle, uint64_t p) {
  uint64_t next = oracle.base() + 1;
  std::unique_ptr<UpdateIterator> updates;
  Status s = db->GetUpdatesSince(next, &updates);
  if (s.IsNotSupportedError()) return "";
  if (s.IsNotFound()) {
    if (DBPeer::KeepsLog(db) >= kKeepAllLog) return "; its updates: " + s.ToString();
    next = OldestIn(s);
    if (next <= oracle.base() || next > p + 1) return "; its updates: " + s.ToString();
    s = db->GetUpdatesSince(next, &updates);
  }
  if (!s.ok()) return "; its updates: " + s.ToString();
  ColumnFamilyHandle* handle = nullptr;
  const Status found = db->GetColumnFamily(Oracle::kFamily, &handle);
  const uint32_t family = found.ok() ? handle->GetID() : UINT32_MAX;
  const Oracle::State* state = oracle.At(next - 1);
  if (state == nullptr) return "; its updates begin inside of a batch, with write " + std::to_string(next);
  Content content = ContentOf(oracle, *state, family);
  Follower follower(&content);
  for (; updates->Valid(); updates->Next()) {
    const std::string at = "; its updates, write " + std::to_string(updates->sequence());
    if (updates->sequence() != next) return at + " comes instead of " + std::to_string(next);
    s = updates->batch()->Iterate(&follower);
    if (!s.ok()) return at + ": " + s.ToString();
    next = updates->last_sequence() + 1;
    state = oracle.At(next - 1);
    if (state == nullptr) return at + " is a part of a batch";
    if (content != ContentOf(oracle, *state, family)) return at + " leads to another state";
  }
  if (!updates->status().ok()) return "; its updates: " + updates->status().ToString();
  return next == p + 1 ? "" : "; its updates end before write " + std::to_string(next);
}

}  // namespace miodb::sim
