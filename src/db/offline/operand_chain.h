// OperandChain: what a repair found of a key that has operands, from the newest version down, written the other way
// round: base first, then the operands as they came.
//
// Threads: one.

#ifndef MIODB_SRC_DB_OFFLINE_OPERAND_CHAIN_H_
#define MIODB_SRC_DB_OFFLINE_OPERAND_CHAIN_H_

#include <string>
#include <vector>

#include "miodb/write_batch.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/format/record.h"
#include "src/util/bytes/key_order.h"
#include "src/util/check/check.h"

namespace miodb {

class OperandChain {
 public:
  // The next record of Salvage::ForEach. True: nothing waits for the next one, so the batch may be written.
  bool Take(const KeyOrder& order, const RecordView& record, WriteBatch* batch) {
    DCHECK(IsKnownType(record.type()));
    if (!operands_.empty() && !order.Equal(record.key, key_)) End(batch);
    if (record.type() == kTypeMerge) {
      key_.assign(record.key.data(), record.key.size());
      operands_.push_back(record.value.ToString());
      return false;
    }
    if (IsPut(record.type())) WriteBatchInternal::Add(batch, record.type(), record.key, record.value);
    End(batch);
    return true;
  }

  // Nothing comes any more.
  void End(WriteBatch* batch) {
    DCHECK(batch != nullptr);
    for (size_t i = operands_.size(); i-- > 0;) batch->Merge(key_, operands_[i]);
    operands_.clear();
  }

 private:
  std::string key_;
  std::vector<std::string> operands_;  // newest first
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_OFFLINE_OPERAND_CHAIN_H_
