// The calls of the database object that have to do with savepoints.

#include "src/db/chunk_memtable.h"
#include "src/db/db_impl.h"
#include "src/db/db_parts.h"

namespace miodb {

Status DBImpl::CreateSavepoint(const Slice& name) {
  return context_->WithMemory([&] { return savepoints_->Create(name); });
}

Status DBImpl::DropSavepoint(const Slice& name) {
  return context_->WithMemory([&] { return savepoints_->Drop(name); });
}

Status DBImpl::ListSavepoints(std::vector<SavepointInfo>* savepoints) {
  return context_->WithMemory([&] { return savepoints_->List(savepoints); });
}

}  // namespace miodb
