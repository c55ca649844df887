#include <memory>
#include <string>

#include "miodb/c.h"
#include "src/c_api/c_types.h"
#include "src/util/check.h"
#include "src/util/no_throw.h"

// The C API's batches that are read, and transactions, in the order of the header.

using miodb::CopyForC;
using miodb::ReadOptions;
using miodb::RepOf;
using miodb::SaveError;
using miodb::Slice;
using miodb::Status;

namespace {

// What a get found, as C callers have it: NULL without an error if the key is not there.
char* Found(const Status& s, const std::string& value, size_t* vallen, char** errptr) {
  DCHECK(vallen != nullptr);
  *vallen = 0;
  if (!s.ok()) {
    if (!s.IsNotFound()) SaveError(errptr, s);
    return nullptr;
  }
  *vallen = value.size();
  return CopyForC(value);
}

}  // namespace

extern "C" {

// ---- Batches.

// The batch takes comparator and merge operator out of the options, which have to be those of the database.
miodb_writebatch_wi_t* miodb_writebatch_wi_create(const leveldb_options_t* options, size_t reserved_bytes,
                                                  uint8_t overwrite_keys) {
  const miodb::Options& of_db = RepOf(options);
  return new miodb_writebatch_wi_t{
      miodb::WriteBatchWithIndex(of_db.comparator, reserved_bytes, overwrite_keys != 0, of_db.merge_operator)};
}

void miodb_writebatch_wi_destroy(miodb_writebatch_wi_t* batch) { delete batch; }
void miodb_writebatch_wi_clear(miodb_writebatch_wi_t* batch) { RepOf(batch).Clear(); }

void miodb_writebatch_wi_put(miodb_writebatch_wi_t* batch, const char* key, size_t keylen, const char* value,
                             size_t vallen) {
  DCHECK(key != nullptr || keylen == 0);
  RepOf(batch).Put(Slice(key, keylen), Slice(value, vallen));
}

void miodb_writebatch_wi_merge(miodb_writebatch_wi_t* batch, const char* key, size_t keylen, const char* operand,
                               size_t operand_len) {
  DCHECK(key != nullptr || keylen == 0);
  RepOf(batch).Merge(Slice(key, keylen), Slice(operand, operand_len));
}

void miodb_writebatch_wi_delete(miodb_writebatch_wi_t* batch, const char* key, size_t keylen) {
  DCHECK(key != nullptr || keylen == 0);
  RepOf(batch).Delete(Slice(key, keylen));
}

void miodb_writebatch_wi_single_delete(miodb_writebatch_wi_t* batch, const char* key, size_t keylen) {
  DCHECK(key != nullptr || keylen == 0);
  RepOf(batch).SingleDelete(Slice(key, keylen));
}

void miodb_writebatch_wi_set_save_point(miodb_writebatch_wi_t* batch) { RepOf(batch).SetSavePoint(); }

void miodb_writebatch_wi_rollback_to_save_point(miodb_writebatch_wi_t* batch, char** errptr) {
  SaveError(errptr, RepOf(batch).RollbackToSavePoint());
}

void miodb_writebatch_wi_pop_save_point(miodb_writebatch_wi_t* batch, char** errptr) {
  SaveError(errptr, RepOf(batch).PopSavePoint());
}

char* miodb_writebatch_wi_get(const miodb_writebatch_wi_t* batch, leveldb_t* db, const leveldb_readoptions_t* options,
                              const char* key, size_t keylen, size_t* vallen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  std::string value;
  const Status s = RepOf(batch).GetFromBatchAndDB(RepOf(db), RepOf(options), Slice(key, keylen), &value);
  return Found(s, value, vallen, errptr);
}

// The handle of base goes, what it stands for lives on in the new one.
leveldb_iterator_t* miodb_writebatch_wi_create_iterator(const miodb_writebatch_wi_t* batch, leveldb_iterator_t* base,
                                                        const leveldb_readoptions_t* options) {
  const std::unique_ptr<leveldb_iterator_t> handle(base);
  const ReadOptions* const bounds = options != nullptr ? &RepOf(options) : nullptr;
  return new leveldb_iterator_t{RepOf(batch).NewIteratorWithBase(RepOf(handle.get()), bounds)};
}

// The batch stays as it is when it was written, so a caller that goes on with it has to clear it first.
void miodb_writebatch_wi_write(miodb_writebatch_wi_t* batch, leveldb_t* db, const leveldb_writeoptions_t* options,
                               char** errptr) {
  SaveError(errptr, RepOf(db)->Write(RepOf(options), RepOf(batch).GetWriteBatch()));
}

// ---- Transactions.

// The database is the caller's and has to outlive the transaction; the options have to be those that it was opened
// with.
miodb_transaction_t* miodb_transaction_begin(leveldb_t* db, const leveldb_options_t* options,
                                             const leveldb_writeoptions_t* write_options, uint8_t set_snapshot) {
  const miodb::Options& of_db = RepOf(options);
  miodb::OptimisticTransactionOptions txn_options;
  txn_options.set_snapshot = set_snapshot != 0;
  return new miodb_transaction_t{miodb::OptimisticTransaction(RepOf(db), RepOf(write_options), txn_options,
                                                              of_db.comparator, of_db.merge_operator)};
}

void miodb_transaction_destroy(miodb_transaction_t* txn) { delete txn; }

void miodb_transaction_put(miodb_transaction_t* txn, const char* key, size_t keylen, const char* value, size_t vallen,
                           char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  SaveError(errptr, RepOf(txn).Put(Slice(key, keylen), Slice(value, vallen)));
}

void miodb_transaction_merge(miodb_transaction_t* txn, const char* key, size_t keylen, const char* operand,
                             size_t operand_len, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  SaveError(errptr, RepOf(txn).Merge(Slice(key, keylen), Slice(operand, operand_len)));
}

void miodb_transaction_delete(miodb_transaction_t* txn, const char* key, size_t keylen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  SaveError(errptr, RepOf(txn).Delete(Slice(key, keylen)));
}

void miodb_transaction_single_delete(miodb_transaction_t* txn, const char* key, size_t keylen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  SaveError(errptr, RepOf(txn).SingleDelete(Slice(key, keylen)));
}

// A get tracks nothing, so a commit does not notice that the key which it returned has changed.
char* miodb_transaction_get(miodb_transaction_t* txn, const leveldb_readoptions_t* options, const char* key,
                            size_t keylen, size_t* vallen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  std::string value;
  const Status s = RepOf(txn).Get(RepOf(options), Slice(key, keylen), &value);
  return Found(s, value, vallen, errptr);
}

char* miodb_transaction_get_for_update(miodb_transaction_t* txn, const leveldb_readoptions_t* options, const char* key,
                                       size_t keylen, size_t* vallen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  std::string value;
  const Status s = RepOf(txn).GetForUpdate(RepOf(options), Slice(key, keylen), &value);
  return Found(s, value, vallen, errptr);
}

leveldb_iterator_t* miodb_transaction_create_iterator(miodb_transaction_t* txn, const leveldb_readoptions_t* options) {
  return new leveldb_iterator_t{RepOf(txn).GetIterator(RepOf(options))};
}

void miodb_transaction_set_snapshot(miodb_transaction_t* txn, char** errptr) {
  SaveError(errptr, RepOf(txn).SetSnapshot());
}

void miodb_transaction_set_save_point(miodb_transaction_t* txn, char** errptr) {
  SaveError(errptr, RepOf(txn).SetSavePoint());
}

void miodb_transaction_rollback_to_save_point(miodb_transaction_t* txn, char** errptr) {
  SaveError(errptr, RepOf(txn).RollbackToSavePoint());
}

// Busy is an answer and no error, as NotFound is to a get.
uint8_t miodb_transaction_commit(miodb_transaction_t* txn, char** errptr) {
  const Status s = RepOf(txn).Commit();
  if (!s.ok() && !s.IsBusy()) SaveError(errptr, s);
  return s.ok() ? 1 : 0;
}

// A rollback forgets updates, tracked keys and the snapshot, and the transaction can be used from the beginning.
void miodb_transaction_rollback(miodb_transaction_t* txn, char** errptr) { SaveError(errptr, RepOf(txn).Rollback()); }

}  // extern "C"
