#include <memory>
#include <string>

#include "miodb/c.h"
#include "src/c_api/c_types.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

// The C API's batches that are read, and transactions, in the order of the header.

using miodb::HandleOf;
using miodb::ReadOptions;
using miodb::RepOf;
using miodb::SaveError;
using miodb::Slice;
using miodb::Status;
using miodb::ValueForC;

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

// A call without a family is that with none, which stands for the default one.
void miodb_writebatch_wi_put(miodb_writebatch_wi_t* batch, const char* key, size_t keylen, const char* value,
                             size_t vallen) {
  miodb_writebatch_wi_put_cf(batch, nullptr, key, keylen, value, vallen);
}

void miodb_writebatch_wi_merge(miodb_writebatch_wi_t* batch, const char* key, size_t keylen, const char* operand,
                               size_t operand_len) {
  miodb_writebatch_wi_merge_cf(batch, nullptr, key, keylen, operand, operand_len);
}

void miodb_writebatch_wi_delete(miodb_writebatch_wi_t* batch, const char* key, size_t keylen) {
  miodb_writebatch_wi_delete_cf(batch, nullptr, key, keylen);
}

void miodb_writebatch_wi_single_delete(miodb_writebatch_wi_t* batch, const char* key, size_t keylen) {
  miodb_writebatch_wi_single_delete_cf(batch, nullptr, key, keylen);
}

void miodb_writebatch_wi_delete_range(miodb_writebatch_wi_t* batch, const char* begin, size_t beginlen, const char* end,
                                      size_t endlen) {
  miodb_writebatch_wi_delete_range_cf(batch, nullptr, begin, beginlen, end, endlen);
}

void miodb_writebatch_wi_put_cf(miodb_writebatch_wi_t* batch, miodb_column_family_t* family, const char* key,
                                size_t keylen, const char* value, size_t vallen) {
  DCHECK(key != nullptr || keylen == 0);
  RepOf(batch).Put(HandleOf(family), Slice(key, keylen), Slice(value, vallen));
}

void miodb_writebatch_wi_merge_cf(miodb_writebatch_wi_t* batch, miodb_column_family_t* family, const char* key,
                                  size_t keylen, const char* operand, size_t operand_len) {
  DCHECK(key != nullptr || keylen == 0);
  RepOf(batch).Merge(HandleOf(family), Slice(key, keylen), Slice(operand, operand_len));
}

void miodb_writebatch_wi_delete_cf(miodb_writebatch_wi_t* batch, miodb_column_family_t* family, const char* key,
                                   size_t keylen) {
  DCHECK(key != nullptr || keylen == 0);
  RepOf(batch).Delete(HandleOf(family), Slice(key, keylen));
}

void miodb_writebatch_wi_single_delete_cf(miodb_writebatch_wi_t* batch, miodb_column_family_t* family, const char* key,
                                          size_t keylen) {
  DCHECK(key != nullptr || keylen == 0);
  RepOf(batch).SingleDelete(HandleOf(family), Slice(key, keylen));
}

void miodb_writebatch_wi_delete_range_cf(miodb_writebatch_wi_t* batch, miodb_column_family_t* family, const char* begin,
                                         size_t beginlen, const char* end, size_t endlen) {
  DCHECK((begin != nullptr || beginlen == 0) && (end != nullptr || endlen == 0));
  RepOf(batch).DeleteRange(HandleOf(family), Slice(begin, beginlen), Slice(end, endlen));
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
  return miodb_writebatch_wi_get_cf(batch, db, options, nullptr, key, keylen, vallen, errptr);
}

// The database is asked where the batch alone does not say what the key is.
char* miodb_writebatch_wi_get_cf(const miodb_writebatch_wi_t* batch, leveldb_t* db,
                                 const leveldb_readoptions_t* options, miodb_column_family_t* family, const char* key,
                                 size_t keylen, size_t* vallen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  std::string value;
  const Status s =
      RepOf(batch).GetFromBatchAndDB(RepOf(db), RepOf(options), HandleOf(family), Slice(key, keylen), &value);
  return ValueForC(s, value, vallen, errptr);
}

leveldb_iterator_t* miodb_writebatch_wi_create_iterator(const miodb_writebatch_wi_t* batch, leveldb_iterator_t* base,
                                                        const leveldb_readoptions_t* options) {
  return miodb_writebatch_wi_create_iterator_cf(batch, nullptr, base, options);
}

// The handle of base goes, what it stands for lives on in the new one.
leveldb_iterator_t* miodb_writebatch_wi_create_iterator_cf(const miodb_writebatch_wi_t* batch,
                                                           miodb_column_family_t* family, leveldb_iterator_t* base,
                                                           const leveldb_readoptions_t* options) {
  const std::unique_ptr<leveldb_iterator_t> handle(base);
  const ReadOptions* const bounds = options != nullptr ? &RepOf(options) : nullptr;
  return new leveldb_iterator_t{RepOf(batch).NewIteratorWithBase(HandleOf(family), RepOf(handle.get()), bounds)};
}

// The batch stays as it is when it was written, so a caller that goes on with it has to clear it first.
void miodb_writebatch_wi_write(miodb_writebatch_wi_t* batch, leveldb_t* db, const leveldb_writeoptions_t* options,
                               char** errptr) {
  SaveError(errptr, RepOf(db)->Write(RepOf(options), RepOf(batch).GetWriteBatch()));
}

// ---- Transactions.

// The database is the caller's and has to outlive the transaction; the options have to be those that it was opened
// with.
// Null tells a caller that the snapshot could not be taken, which a child of fork() never can, or that there was no
// memory: what the constructor throws must not leave a C function.
miodb_transaction_t* miodb_transaction_begin(leveldb_t* db, const leveldb_options_t* options,
                                             const leveldb_writeoptions_t* write_options, uint8_t set_snapshot) {
  const miodb::Options& of_db = RepOf(options);
  miodb::OptimisticTransactionOptions txn_options;
  txn_options.set_snapshot = set_snapshot != 0;
  miodb_transaction_t* txn = nullptr;
  const Status s = miodb::NoThrow("transaction", [&] {
    txn = new miodb_transaction_t{miodb::OptimisticTransaction(RepOf(db), RepOf(write_options), txn_options,
                                                               of_db.comparator, of_db.merge_operator)};
    return Status::OK();
  });
  DCHECK_EQ(s.ok(), txn != nullptr);
  return txn;
}

void miodb_transaction_destroy(miodb_transaction_t* txn) { delete txn; }

// As for batches: NULL stands for the default family. An error is one of memory; what a database refuses, the commit
// says.
void miodb_transaction_put(miodb_transaction_t* txn, const char* key, size_t keylen, const char* value, size_t vallen,
                           char** errptr) {
  miodb_transaction_put_cf(txn, nullptr, key, keylen, value, vallen, errptr);
}

void miodb_transaction_merge(miodb_transaction_t* txn, const char* key, size_t keylen, const char* operand,
                             size_t operand_len, char** errptr) {
  miodb_transaction_merge_cf(txn, nullptr, key, keylen, operand, operand_len, errptr);
}

void miodb_transaction_delete(miodb_transaction_t* txn, const char* key, size_t keylen, char** errptr) {
  miodb_transaction_delete_cf(txn, nullptr, key, keylen, errptr);
}

void miodb_transaction_single_delete(miodb_transaction_t* txn, const char* key, size_t keylen, char** errptr) {
  miodb_transaction_single_delete_cf(txn, nullptr, key, keylen, errptr);
}

void miodb_transaction_delete_range(miodb_transaction_t* txn, const char* begin, size_t beginlen, const char* end,
                                    size_t endlen, char** errptr) {
  miodb_transaction_delete_range_cf(txn, nullptr, begin, beginlen, end, endlen, errptr);
}

void miodb_transaction_put_cf(miodb_transaction_t* txn, miodb_column_family_t* family, const char* key, size_t keylen,
                              const char* value, size_t vallen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  SaveError(errptr, RepOf(txn).Put(HandleOf(family), Slice(key, keylen), Slice(value, vallen)));
}

void miodb_transaction_merge_cf(miodb_transaction_t* txn, miodb_column_family_t* family, const char* key, size_t keylen,
                                const char* operand, size_t operand_len, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  SaveError(errptr, RepOf(txn).Merge(HandleOf(family), Slice(key, keylen), Slice(operand, operand_len)));
}

void miodb_transaction_delete_cf(miodb_transaction_t* txn, miodb_column_family_t* family, const char* key,
                                 size_t keylen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  SaveError(errptr, RepOf(txn).Delete(HandleOf(family), Slice(key, keylen)));
}

void miodb_transaction_single_delete_cf(miodb_transaction_t* txn, miodb_column_family_t* family, const char* key,
                                        size_t keylen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  SaveError(errptr, RepOf(txn).SingleDelete(HandleOf(family), Slice(key, keylen)));
}

// The bounds are not tracked, nor is what lies between them.
void miodb_transaction_delete_range_cf(miodb_transaction_t* txn, miodb_column_family_t* family, const char* begin,
                                       size_t beginlen, const char* end, size_t endlen, char** errptr) {
  DCHECK((begin != nullptr || beginlen == 0) && (end != nullptr || endlen == 0));
  SaveError(errptr, RepOf(txn).DeleteRange(HandleOf(family), Slice(begin, beginlen), Slice(end, endlen)));
}

char* miodb_transaction_get(miodb_transaction_t* txn, const leveldb_readoptions_t* options, const char* key,
                            size_t keylen, size_t* vallen, char** errptr) {
  return miodb_transaction_get_cf(txn, options, nullptr, key, keylen, vallen, errptr);
}

char* miodb_transaction_get_for_update(miodb_transaction_t* txn, const leveldb_readoptions_t* options, const char* key,
                                       size_t keylen, size_t* vallen, char** errptr) {
  return miodb_transaction_get_for_update_cf(txn, options, nullptr, key, keylen, vallen, errptr);
}

// A get tracks nothing, so a commit does not notice that the key which it returned has changed.
char* miodb_transaction_get_cf(miodb_transaction_t* txn, const leveldb_readoptions_t* options,
                               miodb_column_family_t* family, const char* key, size_t keylen, size_t* vallen,
                               char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  std::string value;
  const Status s = RepOf(txn).Get(RepOf(options), HandleOf(family), Slice(key, keylen), &value);
  return ValueForC(s, value, vallen, errptr);
}

// The key is tracked in its family from here on, whether it is there or not.
char* miodb_transaction_get_for_update_cf(miodb_transaction_t* txn, const leveldb_readoptions_t* options,
                                          miodb_column_family_t* family, const char* key, size_t keylen, size_t* vallen,
                                          char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  std::string value;
  const Status s = RepOf(txn).GetForUpdate(RepOf(options), HandleOf(family), Slice(key, keylen), &value);
  return ValueForC(s, value, vallen, errptr);
}

leveldb_iterator_t* miodb_transaction_create_iterator(miodb_transaction_t* txn, const leveldb_readoptions_t* options) {
  return miodb_transaction_create_iterator_cf(txn, options, nullptr);
}

// If the call fails, for example because the family was dropped, the iterator has the error as its status.
leveldb_iterator_t* miodb_transaction_create_iterator_cf(miodb_transaction_t* txn, const leveldb_readoptions_t* options,
                                                         miodb_column_family_t* family) {
  return new leveldb_iterator_t{RepOf(txn).GetIterator(RepOf(options), HandleOf(family))};
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
