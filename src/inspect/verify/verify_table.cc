#include "src/inspect/verify/verify_table.h"

#include <algorithm>
#include <iterator>

#include "pmtable/pmtable.h"
#include "src/format/expiry.h"
#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"

// The checks of one table. The header is good, so counts and places in it can be relied on; everything else is compared
// with what it was made from: entries with their records, inner nodes with the nodes below, totals with a recount.

namespace miodb {

namespace {

class TableVerifier {
 public:
  TableVerifier(const PoolImage& image, const TableImage& table, const KeyOrder& order, bool order_known,
                const ReportProblem& report, LiveCount* count, const RangeSet* deleted)
      : image_(image),
        table_(table),
        header_(table.header()),
        order_(order),
        order_known_(order_known),
        report_(report),
        count_(count),
        deleted_(deleted),
        base_(image.At(table.offset())) {
    CHECK(report_ != nullptr && count_ != nullptr && table_.leaf_slots() == header_.leaf_count);
  }

  TableCheck Run(const std::function<void()>& on_leaf) {
    for (uint64_t i = 0; i < header_.leaf_count; i++) {
      CheckLeaf(i);
      if (on_leaf) on_leaf();
    }
    CheckInner();
    check_.complete = check_.entries == header_.entries;
    if (check_.complete) {
      CheckTotals();
    } else {
      count_->Miss();
    }
    return std::move(check_);
  }

 private:
  void Report(const std::string& reason) { report_({table_.Name(), reason}); }

  // Behind a damaged leaf the next entry has none before it to be compared with.
  void CheckLeaf(uint64_t i) {
    const std::string problem = table_.LeafProblem(i);
    if (!problem.empty()) {
      Report("leaf " + std::to_string(i) + ": " + problem);
      has_last_ = false;
      return;
    }
    const LeafNode& leaf = table_.Leaf(i);
    for (int j = 0; j < leaf.header.count; j++) CheckEntry(i, j);  // the leaf has checked, so its count is a bound
  }

  // Checks an entry against its record and the entry before. The record's bytes stay where they are, so the last one is
  // kept as a view.
  void CheckEntry(uint64_t i, int j) {
    const std::string place = "leaf " + std::to_string(i) + ", entry " + std::to_string(j) + ": ";
    const LeafNode& leaf = table_.Leaf(i);
    RecordView record;
    const std::string problem = table_.ReadEntry(leaf, j, &record);
    if (!problem.empty()) {
      Report(place + problem);
      has_last_ = false;
      return;
    }
    check_.entries++;
    const IndexWord word(leaf.word[j]);
    if (word.tombstone()) check_.tombstones++;
    if (record.type() == kTypeExpiringValue) CheckExpiry(place, record);
    if (word.has_kind() && (header_.flags & kTableKinds) == 0)
      Report(place + "of a kind that the flags say is not there");
    if (check_.entries == 1) check_.smallest = record.key.ToString();
    check_.largest.assign(record.key.data(), record.key.size());
    check_.highest_family = std::max(check_.highest_family, FamilyOf(record.key));
    // Repairs go by these bounds (salvage.h).
    if (record.sequence() < header_.min_sequence || record.sequence() > header_.max_sequence) {
      Report(place + "sequence " + std::to_string(record.sequence()) + " is not in the table's " +
             std::to_string(header_.min_sequence) + " to " + std::to_string(header_.max_sequence));
    }
    if (deleted_ != nullptr && deleted_->NewestAt(record.key, header_.ranges_applied) > record.sequence()) {
      Report(place + "hidden by a deletion of a range, though the header says none");
    }
    payload_bytes_ += word.size();
    if (!count_->Add(word, record.size())) {
      Report(place + "record at offset " + std::to_string(word.ref()) + " lies in no payload extent");
    }
    if (order_known_ && has_last_) CheckOrder(place, record, j == 0);
    has_last_ = true;
    last_ = record;
  }

  // A record outside of the bounds would be dropped with the rest of its table before its time, or never.
  void CheckExpiry(const std::string& place, const RecordView& record) {
    expiring_++;
    const uint64_t expiry = ExpiryOf(record.value);
    if (record.value.size() < kExpiryBytes) Report(place + "a value that expires, without the moment");
    if (expiry < header_.first_expiry || expiry > header_.last_expiry) {
      Report(place + "expires at " + std::to_string(expiry) + " us, which is not in the table's " +
             std::to_string(header_.first_expiry) + " to " + std::to_string(header_.last_expiry));
    }
  }

  // Key order, and of one key the newest version first. Flags that say less than what is there would have gets look at
  // too few entries.
  void CheckOrder(const std::string& place, const RecordView& record, bool first_of_leaf) {
    const int c = order_.Compare(last_.key, record.key);
    if (c > 0) Report(place + "key " + PrintableKey(record.key) + " is before the key of the entry before");
    if (c != 0) return;
    // The same key once more: an older version, and the flags of the table say that there are some.
    if (record.sequence() >= last_.sequence()) Report(place + "not older than the version before it");
    if ((header_.flags & kTableDuplicates) == 0) Report(place + "a second version, though the flag says none");
    if ((header_.flags & kTableChains) != 0 && last_.type() != kTypeMerge && record.type() != kTypeSingleDeletion) {
      Report(place + "a version that a newer one hides, though the flag says none");
    }
    if (first_of_leaf && (header_.flags & kTableSpanning) == 0) {
      Report(place + "versions in two leaves, though the flag says none");
    }
  }

  // All inner nodes have one checksum together, and one each. Besides, each child of a node has to be the one that the
  // packing puts there.
  void CheckInner() {
    const char* const inner = base_ + header_.inner_offset;
    const uint64_t bytes = header_.inner_count * sizeof(InnerNode);
    if (Hash64(inner, bytes, TableSeed(image_.secret(), header_.number)) != header_.inner_checksum)
      Report("inner levels: checksum mismatch");
    const InnerNode* const nodes = reinterpret_cast<const InnerNode*>(inner);
    // Levels lie one behind the other, the lowest first; start and below_start count nodes from the first of them.
    uint64_t start = 0, below_start = 0, below = header_.leaf_count;
    int level = 1;
    for (const uint64_t count : InnerLevelSizes(header_.leaf_count)) {
      for (uint64_t i = 0; i < count; i++) {
        const std::string place = "inner node " + std::to_string(i) + " of level " + std::to_string(level) + ": ";
        const InnerNode& node = nodes[start + i];
        DCHECK_GT(below, i * kNodeFanout);
        const uint64_t children = std::min<uint64_t>(kNodeFanout, below - i * kNodeFanout);
        const uint64_t offset = header_.inner_offset + (start + i) * sizeof(InnerNode);
        if (node.header.checksum != NodeChecksum(node, NodeSeed(image_.secret(), offset)) ||
            !IsSaneNode(node.header, children, level)) {
          Report(place + "checksum mismatch");
          continue;
        }
        // An entry of an inner node has the first reference of the node below as its own.
        for (uint64_t j = 0; j < children; j++) {
          const uint64_t child = i * kNodeFanout + j;
          const PmRef first =
              level == 1 ? IndexWord(table_.Leaf(child).word[0]).ref() : nodes[below_start + child].ref[0];
          if (node.ref[j] != first)
            Report(place + "does not refer to the first entry of node " + std::to_string(child));
        }
      }
      below_start = start;
      start += count;
      below = count;
      level++;
    }
    DCHECK_EQ(start, header_.inner_count);
  }

  // Only if all entries were read: a recount of a part says nothing.
  void CheckTotals() {
    if (check_.tombstones != header_.tombstones) {
      Report("has " + std::to_string(check_.tombstones) + " tombstones, its header says " +
             std::to_string(header_.tombstones));
    }
    if (expiring_ != header_.expiring) {
      Report("has " + std::to_string(expiring_) + " values that expire, its header says " +
             std::to_string(header_.expiring));
    }
    if (payload_bytes_ != header_.payload_bytes) {
      Report("refers to records of " + std::to_string(payload_bytes_) + " bytes, its header says " +
             std::to_string(header_.payload_bytes));
    }
  }

  const PoolImage& image_;
  const TableImage& table_;
  const TableHeader& header_;
  const KeyOrder order_;
  const bool order_known_;
  const ReportProblem& report_;
  LiveCount* const count_;
  const RangeSet* const deleted_;
  const char* const base_;
  TableCheck check_;
  uint64_t payload_bytes_ = 0;  // of the words
  uint64_t expiring_ = 0;       // values that expire
  bool has_last_ = false;
  RecordView last_;
};

}  // namespace

LiveCount::LiveCount(const std::map<PmRef, PayloadPlace>& payload) : payload_(payload) {
  for (const auto& [offset, place] : payload_) live_[offset] = 0;
}

// Bytes are counted by the word's size, the figure by which they are dropped.
bool LiveCount::Add(IndexWord word, uint64_t record_bytes) {
  const auto lies_in = [&](const PayloadPlace& place) {
    return word.ref() >= place.offset && word.ref() - place.offset < place.size;
  };
  if (last_ == nullptr || !lies_in(*last_)) {
    const auto behind = payload_.upper_bound(word.ref());
    last_ = behind == payload_.begin() ? nullptr : &std::prev(behind)->second;
  }
  if (last_ == nullptr || !lies_in(*last_)) return false;
  live_[last_->offset] += word.size();
  return record_bytes <= last_->payload_bytes - std::min(last_->payload_bytes, word.ref() - last_->offset);
}

// on_leaf is called for leaves that are damaged too: it tells how far the check has come.
TableCheck VerifyTable(const PoolImage& image, const TableImage& table, const KeyOrder& order, bool order_known,
                       const ReportProblem& report, LiveCount* count, const std::function<void()>& on_leaf,
                       const RangeSet* deleted) {
  return TableVerifier(image, table, order, order_known, report, count, deleted).Run(on_leaf);
}

}  // namespace miodb
