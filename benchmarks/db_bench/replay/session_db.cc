#include "benchmarks/db_bench/replay/session_db.h"

#include <algorithm>

#include "miodb/write_batch.h"

namespace miodb::bench {

namespace {

std::string_view View(const Slice& slice) { return std::string_view(slice.data(), slice.size()); }
Slice ToSlice(std::string_view bytes) { return Slice(bytes.data(), bytes.size()); }

// Bounds are kept here: it ends where the cursor leaves them.
class CursorIterator final : public Iterator {
 public:
  CursorIterator(std::unique_ptr<Cursor> cursor, const ReadOptions& options)
      : cursor_(std::move(cursor)), lower_(options.iterate_lower_bound), upper_(options.iterate_upper_bound) {}

  bool Valid() const override { return valid_; }
  void SeekToFirst() override {
    Arrive(lower_ != nullptr ? cursor_->Seek(View(*lower_), &entry_) : cursor_->SeekToFirst(&entry_));
  }
  void SeekToLast() override {
    if (upper_ == nullptr) {
      Arrive(cursor_->SeekToLast(&entry_));
    } else {
      Arrive(cursor_->Seek(View(*upper_), &entry_) ? cursor_->Prev(&entry_) : cursor_->SeekToLast(&entry_));
    }
  }
  void Seek(const Slice& target) override {
    const bool below = lower_ != nullptr && target.compare(*lower_) < 0;
    Arrive(cursor_->Seek(View(below ? *lower_ : target), &entry_));
  }
  void Next() override { Arrive(cursor_->Next(&entry_)); }
  void Prev() override { Arrive(cursor_->Prev(&entry_)); }
  Slice key() const override { return ToSlice(entry_.key); }
  Slice value() const override { return ToSlice(entry_.value); }
  Status status() const override {
    const Outcome outcome = cursor_->Check();
    return outcome.ok() ? Status::OK() : Status::IOError(outcome.message);
  }

 private:
  void Arrive(bool valid) {
    valid_ = valid && (lower_ == nullptr || key().compare(*lower_) >= 0) &&
             (upper_ == nullptr || key().compare(*upper_) < 0);
  }

  const std::unique_ptr<Cursor> cursor_;
  const Slice* const lower_;
  const Slice* const upper_;
  Entry entry_;
  bool valid_ = false;
};

class BatchFiller final : public WriteBatch::Handler {
 public:
  explicit BatchFiller(Session* session) : session_(session) {}
  void Put(const Slice& key, const Slice& value) override { session_->BatchPut(View(key), View(value)); }
  void Delete(const Slice& key) override { session_->BatchDelete(View(key)); }
  Status SingleDelete(const Slice& key) override {
    session_->BatchSingleDelete(View(key));
    return Status::OK();
  }
  Status Merge(const Slice& key, const Slice& operand) override {
    return session_->BatchMerge(View(key), View(operand)) ? Status::OK() : Status::NotSupported("merge");
  }

 private:
  Session* const session_;
};

}  // namespace

Status SessionDb::ToStatus(Code code) const {
  if (code == Code::kError) return Status::IOError(session_->error());
  return code == Code::kNotFound ? Status::NotFound(Slice()) : Status::OK();
}

Status SessionDb::Put(const WriteOptions&, const Slice& key, const Slice& value) {
  return ToStatus(session_->Put(View(key), View(value)));
}

Status SessionDb::Delete(const WriteOptions&, const Slice& key) { return ToStatus(session_->Delete(View(key))); }

Status SessionDb::Write(const WriteOptions&, WriteBatch* updates) {
  BatchFiller filler(session_.get());
  Status s = updates->Iterate(&filler);
  if (s.ok()) return ToStatus(session_->BatchWrite());
  session_->BatchClear();
  return s;
}

Status SessionDb::Get(const ReadOptions&, const Slice& key, std::string* value) {
  std::string_view found;
  const Code code = session_->Get(View(key), &found);
  if (code == Code::kOk) value->assign(found);
  return ToStatus(code);
}

std::vector<Status> SessionDb::MultiGet(const ReadOptions&, const std::vector<ColumnFamilyHandle*>&,
                                        const std::vector<Slice>& keys, std::vector<std::string>* values) {
  std::vector<std::string_view> views;
  views.reserve(keys.size());
  for (const Slice& key : keys) views.push_back(View(key));
  std::vector<Status> statuses(keys.size(), Status::NotFound(Slice()));
  values->resize(keys.size());
  const Code code = session_->MultiGet(views, [&](size_t index, std::string_view value) {
    statuses[index] = Status::OK();
    (*values)[index].assign(value);
  });
  if (code == Code::kError) statuses.assign(keys.size(), ToStatus(code));
  return statuses;
}

Iterator* SessionDb::NewIterator(const ReadOptions& options) {
  return new CursorIterator(session_->NewCursor(), options);
}

void SessionDb::GetApproximateSizes(const Range*, int n, uint64_t* sizes) { std::fill(sizes, sizes + n, 0); }

}  // namespace miodb::bench
