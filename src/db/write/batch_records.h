// A batch's updates as records of the log.
//
// Threads: a pure function.

#ifndef MIODB_SRC_DB_WRITE_BATCH_RECORDS_H_
#define MIODB_SRC_DB_WRITE_BATCH_RECORDS_H_

#include <cstdint>
#include <vector>

#include "miodb/slice.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/log/frame_writer.h"
#include "src/util/check/check.h"

namespace miodb {

// Adds the updates of a batch, and returns the bytes that their records have. REQUIRES: the batch was looked through.
// Records refer to its bytes until the frame writer has placed them. Not inlined: puts go without a batch.
[[gnu::noinline]] inline uint64_t AppendRecords(const Slice& batch, std::vector<LogRecord>* records) {
  BatchReader reader(batch);
  uint8_t type;
  LogRecord record{};
  uint64_t body_bytes = 0;
  while (reader.Next(&type, &record.key, &record.value)) {
    record.type = static_cast<ValueType>(BaseBatchType(type));
    body_bytes += record.size();
    records->push_back(record);
  }
  DCHECK(!reader.corrupt());
  return body_bytes;
}

}  // namespace miodb

#endif  // MIODB_SRC_DB_WRITE_BATCH_RECORDS_H_
