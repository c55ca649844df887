// The update stream in the C API.

#include <memory>

#include "miodb/c.h"
#include "miodb/updates.h"
#include "src/c_api/c_types.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

using miodb::RepOf;
using miodb::SaveError;
using miodb::Status;

struct miodb_updates_t {
  std::unique_ptr<miodb::UpdateIterator> rep;
};

extern "C" {

// The handle comes first, so that nothing can fail when there is an iterator.
miodb_updates_t* miodb_get_updates_since(leveldb_t* db, uint64_t sequence, char** errptr) {
  DCHECK(errptr != nullptr);
  std::unique_ptr<miodb_updates_t> handle;
  const Status s = miodb::NoThrow("updates", [&] {
    handle = std::make_unique<miodb_updates_t>();
    return RepOf(db)->GetUpdatesSince(sequence, &handle->rep);
  });
  return SaveError(errptr, s) ? nullptr : handle.release();
}

void miodb_updates_destroy(miodb_updates_t* updates) { delete updates; }

uint8_t miodb_updates_valid(const miodb_updates_t* updates) { return RepOf(updates)->Valid(); }
void miodb_updates_next(miodb_updates_t* updates) { RepOf(updates)->Next(); }
void miodb_updates_get_error(const miodb_updates_t* updates, char** errptr) {
  DCHECK(errptr != nullptr);
  SaveError(errptr, RepOf(updates)->status());
}

uint64_t miodb_updates_sequence(const miodb_updates_t* updates) { return RepOf(updates)->sequence(); }
uint64_t miodb_updates_last_sequence(const miodb_updates_t* updates) { return RepOf(updates)->last_sequence(); }
uint32_t miodb_updates_dropped_family(const miodb_updates_t* updates) { return RepOf(updates)->dropped_family(); }

leveldb_writebatch_t* miodb_updates_batch(const miodb_updates_t* updates, char** errptr) {
  DCHECK(errptr != nullptr && RepOf(updates)->Valid());
  std::unique_ptr<leveldb_writebatch_t> batch;
  const Status s = miodb::NoThrow("updates", [&] {
    batch = std::make_unique<leveldb_writebatch_t>();
    batch->rep = *RepOf(updates)->batch();
    return Status::OK();
  });
  return SaveError(errptr, s) ? nullptr : batch.release();
}

void miodb_follow_source(leveldb_t* copy, const char* identity, char** errptr) {
  DCHECK(identity != nullptr && errptr != nullptr);
  SaveError(errptr, RepOf(copy)->FollowSource(identity));
}

uint64_t miodb_latest_sequence(leveldb_t* db) { return RepOf(db)->GetLatestSequenceNumber(); }

}  // extern "C"
