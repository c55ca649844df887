#include "tools/miodb/stores/families.h"

#include <algorithm>
#include <utility>

#include "benchmarks/common/interrupt.h"
#include "tools/miodb/stores/store.h"

namespace miodb::tool {

namespace {

// As DB::CreateColumnFamily has it.
constexpr size_t kMostFamilyName = 1024;

// A look at a few families takes microseconds, and a reader sees something new every few milliseconds.
constexpr int kLooksForAMoment = 1000;

}  // namespace

bool FamilyComesBefore(const std::string& a, const std::string& b) {
  const bool a_is_default = a == kDefaultFamilyName, b_is_default = b == kDefaultFamilyName;
  return a_is_default != b_is_default ? a_is_default : a < b;
}

Status AllFamilies(DB* db, std::vector<ColumnFamilyHandle*>* families) {
  families->clear();
  std::vector<std::string> names;
  Status s = db->ListColumnFamilies(&names);
  std::sort(names.begin(), names.end(), FamilyComesBefore);
  for (const std::string& name : names) {
    ColumnFamilyHandle* family = nullptr;
    if (s.ok()) s = db->GetColumnFamily(name, &family);
    if (s.ok()) families->push_back(family);
    if (s.IsNotFound()) s = Status::OK();  // it was dropped meanwhile
  }
  return s;
}

Status FamilyToWrite(DB* db, const std::string& name, ColumnFamilyHandle** family) {
  const Status s = db->GetColumnFamily(name, family);
  return s.IsNotFound() ? db->CreateColumnFamily(name, family) : s;
}

std::string NamesOf(const std::vector<ColumnFamilyHandle*>& families) {
  std::string names;
  for (const ColumnFamilyHandle* const family : families) {
    names += (names.empty() ? "" : ", ") + ToText(family->GetName());
  }
  return names;
}

void FamilyChoice::AddOptions(OptionTable* options) {
  if (scope_ == FamilyScope::kDatabase) return;
  options->Maybe("column_family", "NAME", &option_,
                 scope_ == FamilyScope::kOne ? "the column family to work in; else the default one"
                                             : "this column family alone; else all of them");
}

Status FamilyChoice::ReadName() {
  std::string problem = is_named() ? FromText(*option_, &name_) : "";
  if (problem.empty() && (name_.empty() || name_.size() > kMostFamilyName)) {
    problem = "has " + std::to_string(name_.size()) + " bytes, and must have 1 to " + std::to_string(kMostFamilyName);
  }
  return problem.empty() ? Status::OK() : Status::InvalidArgument("--column_family", problem);
}

Status FamilyChoice::Look(DB* db, Missing missing) {
  families_.clear();
  if (scope_ == FamilyScope::kAll && !is_named()) return AllFamilies(db, &families_);
  ColumnFamilyHandle* family = nullptr;
  Status s = missing == Missing::kIsMade ? FamilyToWrite(db, name_, &family) : db->GetColumnFamily(name_, &family);
  if (s.ok()) families_.push_back(family);
  if (!s.IsNotFound()) return s;
  std::vector<ColumnFamilyHandle*> others;
  s = AllFamilies(db, &others);
  if (!s.ok()) return s;
  return Status::NotFound("no column family '" + *option_ + "'", "there are " + NamesOf(others));
}

std::string FamilyChoice::Shown(const ColumnFamilyHandle& family) const {
  return is_named() || family.GetID() == 0 ? "" : family.GetName();
}

std::string FamilyChoice::AdviceForMissingKey(DB* db) const {
  std::vector<ColumnFamilyHandle*> others;
  if (is_named() || !AllFamilies(db, &others).ok() || others.size() < 2) return "";
  others.erase(others.begin());
  return "Only the default column family was looked at. --column_family=NAME looks at another one: " + NamesOf(others);
}

// All iterators are of one moment if no write became visible while they were made. The families belong to the look: a
// family that was made meanwhile may have a part of a batch.
Status RecordWalk::Open(DB* db, const KeyRange& range, ReadOptions options, FamilyChoice* choice) {
  range.Bind(&options);
  options.fill_cache = false;  // a walk should not push out of the cache what others read
  limit_ = range.limit();
  for (int look = 0; look < kLooksForAMoment; look++) {
    parts_.clear();
    const uint64_t sequence = db->GetLatestSequenceNumber();
    const Status s = choice->Look(db, FamilyChoice::Missing::kIsAnError);
    if (!s.ok()) return s;
    for (ColumnFamilyHandle* const family : choice->families()) {
      parts_.push_back({choice->Shown(*family), std::unique_ptr<Iterator>(db->NewIterator(options, family))});
    }
    if (parts_.size() == 1 || db->GetLatestSequenceNumber() == sequence) return s;
  }
  parts_.clear();
  return Status::IOError("the database is written to all the time, and its column families were not seen at one moment",
                         "read a savepoint (--savepoint), or one family (--column_family)");
}

Status RecordWalk::Go(Direction direction, const std::function<void(const std::string& family)>& begin,
                      const std::function<bool(const Slice& key, const Slice& value)>& use) {
  const bool backward = direction == Direction::kBackward;
  if (backward) std::reverse(parts_.begin(), parts_.end());
  uint64_t left = limit_;
  for (const Part& part : parts_) {
    Iterator* const it = part.records.get();
    begin(part.family);
    for (backward ? it->SeekToLast() : it->SeekToFirst(); left > 0 && it->Valid() && !bench::Interrupt::StopRequested();
         backward ? it->Prev() : it->Next()) {
      if (!use(it->key(), it->value())) return it->status();
      left--;
    }
    if (!it->status().ok() || bench::Interrupt::StopRequested()) return it->status();
  }
  return Status::OK();
}

}  // namespace miodb::tool
