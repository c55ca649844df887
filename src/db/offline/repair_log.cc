// The log files of a database that is repaired: judged with what the pool has of the log, and applied behind everything
// else.

#include <algorithm>

#include "src/api/batch/write_batch_internal.h"
#include "src/db/offline/repairer.h"
#include "src/db/open/db_impl.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// The operands of a key that are older than this sequence, oldest first.
void AddOperands(const std::string& key, uint64_t sequence, NewestWrites* newest, WriteBatch* batch) {
  DCHECK(newest != nullptr && batch != nullptr);
  for (auto& operands = newest->operands; !operands.empty() && operands.back().sequence < sequence;) {
    batch->Merge(key, operands.back().value);
    operands.pop_back();
  }
}

}  // namespace

// Finds the log files, and judges all that there is of the log.
Status Repairer::JudgeLog(Salvage* salvage, uint64_t flushed_sequence) {
  const std::optional<uint64_t> log_id = is_volatile() ? std::nullopt : std::optional(store_.log.id);
  Status s = salvage->log()->AddFiles(env_, log_is_former_ ? "" : wal_folder_, log_id);
  if (s.ok()) s = salvage->JudgeLog(flushed_sequence, log_reach_);
  for (const LogPiece& piece : salvage->log()->pieces()) {
    if (piece.in_file() && piece.replayed()) log_begin_ = std::min(log_begin_, piece.first_sequence);
  }
  return s;
}

// Deletions of ranges in log files hide what tables have, and what comes before them in the log.
Status Repairer::FindRanges(Salvage* salvage) {
  CHECK(salvage != nullptr && deleted_ == nullptr);
  Status s;
  for (const LogPiece& piece : salvage->log()->pieces()) {
    if (!s.ok() || !piece.in_file() || !piece.replayed()) continue;
    s = salvage->log()->ForEachBatch(piece, [&](const Slice& contents) {
      BatchReader reader(contents);
      uint64_t sequence = DecodeFixed64(contents.data());
      uint8_t type;
      Slice key, value;
      for (; reader.Next(&type, &key, &value); sequence++) {
        if (type == kBatchRangeDeletion) salvage->AddRange({key.ToString(), value.ToString(), sequence});
      }
      return Status::OK();
    });
  }
  deleted_ = salvage->ranges();
  return s;
}

// Takes an operand of whose key log files may have older writes: it is written in the midst of theirs. Notes any other
// record of that age, which hides older updates of the log. False: the record is to be written now.
bool Repairer::TakeForLog(const RecordView& record) {
  if (record.sequence() < log_begin_) return false;
  NewestWrites& newest = newest_.try_emplace(newest_.end(), record.key.ToString())->second;
  if (record.type() == kTypeMerge) {
    newest.operands.push_back({record.sequence(), record.value.ToString()});
    return true;
  }
  newest.hides = std::max(newest.hides, record.sequence());  // a damaged table may have a key twice
  return false;
}

// A batch at a time: log files may be larger than memory.
Status Repairer::ApplyLogFiles(const LogHistory& log, DBImpl* db) {
  CHECK(db != nullptr);
  Status s;
  for (const LogPiece& piece : log.pieces()) {
    if (!s.ok() || !piece.in_file() || !piece.replayed()) continue;
    s = log.ForEachBatch(piece, [&](const Slice& contents) {
      WriteBatch batch;
      Status kept = LeaveOutOlder(contents, db, &batch);
      return kept.ok() ? db->Write(WriteOptions(), &batch) : kept;
    });
  }
  for (auto& [key, newest] : newest_) {
    WriteBatch batch;
    AddOperands(key, UINT64_MAX, &newest, &batch);
    if (s.ok()) s = db->Write(WriteOptions(), &batch);
  }
  return s;
}

// A batch of the log without the updates of which newer ones lie elsewhere, and without deletions of ranges and what
// these hide.
Status Repairer::LeaveOutOlder(const Slice& contents, DBImpl* db, WriteBatch* batch) {
  DCHECK_GE(contents.size(), kBatchHeaderBytes);
  BatchReader reader(contents);
  uint64_t sequence = DecodeFixed64(contents.data());
  uint8_t type;
  Slice key, value;
  for (; reader.Next(&type, &key, &value); sequence++) {
    const auto newer = newest_.find(key.ToString());
    if (newer != newest_.end() && newer->second.hides >= sequence) continue;
    if (type == kBatchRangeDeletion) continue;
    if (deleted_ != nullptr && deleted_->NewestAt(key, kMaxSequence) > sequence) continue;
    bool keeps = true;
    Status s = families_.Keeps(
        key, db, [this](const Problem& p) { Report(p); }, &keeps);
    if (!s.ok()) return s;
    if (keeps && newer != newest_.end()) AddOperands(newer->first, sequence, &newer->second, batch);
    if (!keeps) continue;
    WriteBatchInternal::Add(batch, type, key, value);
    file_updates_++;
  }
  return Status::OK();
}

}  // namespace miodb
