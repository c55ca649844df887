// The update stream in the C API.

#include <memory>

#include "miodb/c.h"
#include "miodb/updates.h"
#include "src/c_api/c_types.h"
#include "src/util/check/check.h"

using miodb::NewHandle;
using miodb::RepOf;
using miodb::SaveError;
using miodb::Status;

struct miodb_updates_t {
  std::unique_ptr<miodb::UpdateIterator> rep;
};

extern "C" {

miodb_updates_t* miodb_get_updates_since(leveldb_t* db, uint64_t sequence, char** errptr) {
  DCHECK(errptr != nullptr);
  return NewHandle<miodb_updates_t>("updates", errptr,
                                    [&](auto* updates) { return RepOf(db)->GetUpdatesSince(sequence, updates); });
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
  return NewHandle<leveldb_writebatch_t>("updates", errptr, [&](miodb::WriteBatch* batch) {
    *batch = *RepOf(updates)->batch();
    return Status::OK();
  });
}

void miodb_follow_source(leveldb_t* copy, const char* identity, char** errptr) {
  DCHECK(identity != nullptr && errptr != nullptr);
  SaveError(errptr, RepOf(copy)->FollowSource(identity));
}

uint64_t miodb_latest_sequence(leveldb_t* db) { return RepOf(db)->GetLatestSequenceNumber(); }

}  // extern "C"
