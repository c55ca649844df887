// Refusals of a read-only database, and its properties.

#include "src/db/calls/read_only_db.h"

#include "src/db/context/db_context.h"
#include "src/db/state/read_sources.h"

namespace miodb {

Status ReadOnlyDb::CreateColumnFamily(const std::string&, ColumnFamilyHandle** family) {
  DCHECK(family != nullptr);
  *family = nullptr;
  return Refusal();
}

bool ReadOnlyDb::GetProperty(const Slice& property, std::string* value) {
  DCHECK(value != nullptr);
  const bool identity = property == Slice("miodb.identity");
  if (!identity && property != Slice("miodb.estimate-num-keys")) return false;
  if (!reads().sources->BeforeRead().ok()) return false;
  const Status s = reads().context->WithMemory([&] {
    *value = identity ? UuidText(reads().context->pool->uuid())
                      : std::to_string(ReadStates::Pin(&reads().sources->states)->EstimateKeys());
    return Status::OK();
  });
  return s.ok();
}

}  // namespace miodb
