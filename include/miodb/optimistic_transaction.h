// Transactions without locks: a transaction gathers its writes, reads through them, and finds out when it commits
// whether anybody else has changed what it depends on.
//
//   miodb::OptimisticTransactionDB* txn_db;
//   status = miodb::OptimisticTransactionDB::Open(options, "/path", &txn_db);
//   ...
//   std::unique_ptr<miodb::OptimisticTransaction> txn(txn_db->BeginTransaction(miodb::WriteOptions()));
//   status = txn->GetForUpdate(miodb::ReadOptions(), "balance", &value);
//   txn->Put("balance", Less(value, 10));
//   status = txn->Commit();
//   if (status.IsBusy()) ...   // somebody else has written "balance": txn->Rollback(), and once more from the start
//
// The names and contracts are those of the classes of the same names in RocksDB, where the transaction is called
// Transaction. Not LevelDB's.
//
// What is guaranteed. A transaction tracks the keys that it writes or reads by GetForUpdate. A transaction commits only
// if no write from elsewhere, also outside of transactions, has changed a tracked key since the transaction tracked it
// first, or since the snapshot that was set then. Looking and writing is one step, and all other writes come before or
// after this step. So a transaction whose reads are all made by GetForUpdate is serializable. Reads by Get and
// GetIterator are not tracked: what they saw may have changed.
//
// Without GetForUpdate nothing like that holds: two doctors who each see with Get that both are on call, and each write
// only that they themselves are not, commit both, and nobody is left. Their writes are of different keys, so neither is
// in the other's way; had they read the other's key by GetForUpdate, one of them would be Busy. A range cannot be read
// for update: keys that come into it later are no changes of keys that were tracked. A transaction that depends on a
// range writes a key that stands for the range, and all other writers of the range write that key too.
//
// Ranges and column families. A deletion of a range tracks nothing: it removes all that the range has at the commit,
// what others have put there meanwhile as well, and never makes the commit Busy. To others it is a change of every key
// in the range. To have the range as it was seen, read its keys for update; keys that come in later are not found (see
// above). A key is tracked in its family alone: the same key of another one is another key. If the family of a key that
// was tracked or written, or of a range, was dropped meanwhile, Commit is InvalidArgument, which says so, nothing is
// written, and only a rollback to before the family's first use, or of everything, helps.
//
// Lifetimes and filters. A value that was read for update and has expired by the commit (lifetime.h) is a change. The
// expiry of a key that was only written, or tracked without a look at its value, is none. Changes by a compaction
// filter are none (DB::WriteIfUnchanged).
//
// Changes are found exactly, with two limits. A put, and the single deletion that removed it, may count as no change of
// a key that is only written; of one that was read they do count if the put was seen. And where records expire, a table
// of which all has expired goes unread: a key of which nothing else is known counts as changed if it lies between the
// keys of such a table with newer writes, or if more than 64 such tables have gone since. There is no "try again",
// because the newest version of every key is kept somewhere, and a transaction that tracks anything holds a snapshot,
// which keeps deletions.
//
// When to use it. Where transactions seldom meet at the same keys, they cost little more than their reads and one
// write. Where they often do, most of the work is done in vain; one thread that does it all, or a merge
// (merge_operator.h), is better there. A loop around a transaction should not be endless: who always loses against
// shorter ones waits long.
//
//   for (int tries = 0; tries < 100; tries++) {
//     status = Attempt(txn.get());                        // reads, decides, writes
//     if (status.ok()) status = txn->Commit();
//     if (!status.IsBusy()) break;                        // OK, or an error that trying again does not mend
//     (void)txn->Rollback();
//   }
//
// Threads: OptimisticTransactionDB: any. A transaction belongs to one thread at a time; different ones are
// independent. Nobody waits for a transaction, except that while a Commit looks through what was written a moment
// before it, other writes wait, as for any write before them.
//
// Ownership: the caller deletes transactions, iterators over them first, and all of them before the database.
//
// After a crash: if Commit has returned OK, all writes of the transaction are there, as far as a batch would be (db.h).
// If Commit was running, a crash keeps the whole transaction or nothing. A transaction without a Commit leaves nothing,
// just as if it had been deleted.
//
// Cost: until its end a transaction keeps its writes in memory, and merges keep versions as for a snapshot. A commit
// costs two searches for each tracked key, mostly in memory.
//
// Errors: each call says. Nothing is thrown; without memory a call is an IOError, and the transaction should be rolled
// back. A call that needs a snapshot has the error of a write where the database gives none: over a reader, or in a
// child of fork().

#ifndef MIODB_INCLUDE_OPTIMISTIC_TRANSACTION_H_
#define MIODB_INCLUDE_OPTIMISTIC_TRANSACTION_H_

#include <cstddef>
#include <memory>
#include <string>

#include "miodb/comparator.h"
#include "miodb/db.h"
#include "miodb/export.h"
#include "miodb/iterator.h"
#include "miodb/merge_operator.h"
#include "miodb/options.h"
#include "miodb/slice.h"
#include "miodb/status.h"

namespace miodb {

class WriteBatchWithIndex;

struct MIODB_EXPORT OptimisticTransactionOptions {
  // SetSnapshot at once.
  bool set_snapshot = false;
};

// An object serves one transaction after the other: after Commit or Rollback it is as new, with the same write options.
// A transaction that is deleted in the middle has done nothing.
//
// Get, GetForUpdate and GetIterator show the writes of others that are committed at the moment of the call, or at the
// snapshot that they are given. Two calls may see two moments; whoever wants one for all sets a snapshot and reads at
// it:
//
//   status = txn->SetSnapshot();
//   options.snapshot = txn->GetSnapshot();
class MIODB_EXPORT OptimisticTransaction {
 public:
  // A transaction on a database of DB::Open, without an OptimisticTransactionDB. comparator and merge_operator: the
  // database's; all three outlive it. Throws std::bad_alloc.
  OptimisticTransaction(DB* db, const WriteOptions& write_options, const OptimisticTransactionOptions& options,
                        const Comparator* comparator = BytewiseComparator(),
                        const MergeOperator* merge_operator = nullptr);
  OptimisticTransaction(const OptimisticTransaction&) = delete;
  OptimisticTransaction& operator=(const OptimisticTransaction&) = delete;

  // As Rollback.
  ~OptimisticTransaction();

  // ---- Writes, which are applied by Commit. Each but DeleteRange tracks its key. IOError without memory; what DB's
  // calls of these names refuse, Commit refuses. Calls with a handle are of that family (column_family.h), those
  // without one, or with nullptr, of the default one.

  // A write that reads nothing is tracked as well: who writes the same key in between makes the commit Busy.
  Status Put(const Slice& key, const Slice& value) { return Put(nullptr, key, value); }
  Status Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value);

  // Two transactions that only merge into one key are in each other's way, too. Merges that need not be part of a
  // transaction are better made by DB::Merge, which never fails for that.
  Status Merge(const Slice& key, const Slice& operand) { return Merge(nullptr, key, operand); }
  Status Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& operand);

  // Whether the key is there is not found out; GetForUpdate tells.
  Status Delete(const Slice& key) { return Delete(nullptr, key); }
  Status Delete(ColumnFamilyHandle* family, const Slice& key);

  // The condition of DB::SingleDelete is the caller's to keep, over all transactions.
  Status SingleDelete(const Slice& key) { return SingleDelete(nullptr, key); }
  Status SingleDelete(ColumnFamilyHandle* family, const Slice& key);

  // Removes all keys from begin up to end, which is not one of them, when Commit applies it: also those that others put
  // there until then. Tracks none of them. Writes of the transaction into the range after this call count. RocksDB's
  // transactions do not have it.
  Status DeleteRange(const Slice& begin, const Slice& end) { return DeleteRange(nullptr, begin, end); }
  Status DeleteRange(ColumnFamilyHandle* family, const Slice& begin, const Slice& end);

  // ---- Reads, which see the transaction's own writes

  // The value that the key has now, or at options.snapshot, with the transaction's writes. Errors of DB::Get.
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) {
    return Get(options, nullptr, key, value);
  }
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value);

  // The same, and tracks the key, whether it is there or not: Commit fails if it changes. If the value that is returned
  // is newer than the moment from which the key is tracked, it has changed already, and Commit will say so.
  // value: may be nullptr, if only tracking is wanted.
  Status GetForUpdate(const ReadOptions& options, const Slice& key, std::string* value) {
    return GetForUpdate(options, nullptr, key, value);
  }
  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value);

  // An iterator over the database now, or at options.snapshot, with the transaction's writes. Tracks nothing. The
  // caller deletes it, before the transaction ends. WriteBatchWithIndex::NewIteratorWithBase says which later writes of
  // the transaction the iterator shows.
  Iterator* GetIterator(const ReadOptions& options) { return GetIterator(options, nullptr); }
  Iterator* GetIterator(const ReadOptions& options, ColumnFamilyHandle* family);

  // ---- Snapshot

  // From now on keys are tracked as of this moment, not of the call that tracks them: Commit fails if anything that the
  // transaction touches was changed behind it. To read at it, give GetSnapshot() in ReadOptions. IOError without
  // memory.
  Status SetSnapshot();
  // The snapshot that was set last, nullptr: none. The transaction's, until it ends, sets another one or clears it.
  const Snapshot* GetSnapshot() const;
  void ClearSnapshot();

  // ---- Save points

  // Remembers writes, which keys are tracked, and the snapshot.
  Status SetSavePoint();
  // Takes all three back to the last save point, and forgets that. NotFound if there is none.
  Status RollbackToSavePoint();
  // Forgets the last save point. NotFound if there is none.
  Status PopSavePoint();

  // ---- The end

  // Applies all writes as one batch, if no tracked key was changed by anybody else. A transaction without writes only
  // looks. OK: it is empty, and may be used for the next one; the snapshot is gone. Busy: a key has changed, nothing
  // was written, and the transaction is as it was: Rollback. Other errors are those of DB::Write, and InvalidArgument
  // for a family that was dropped; they leave the transaction as it was, too.
  Status Commit();

  // Forgets writes, tracked keys, save points and snapshot. The transaction may be used for the next one.
  Status Rollback();

  // ---- For those who want to know

  // How many keys are tracked, of all families together.
  size_t GetNumKeys() const;

  // The writes so far. To be read only.
  WriteBatchWithIndex* GetWriteBatch();

 private:
  struct Rep;
  const std::unique_ptr<Rep> rep_;
};

// A database and what its transactions have in common. For a database that was opened otherwise, make
// OptimisticTransactions by their constructor: they keep nothing here.
class MIODB_EXPORT OptimisticTransactionDB {
 public:
  // Opens the database as DB::Open does, with its errors. The caller deletes *db, which deletes the database.
  static Status Open(const Options& options, const std::string& name, OptimisticTransactionDB** db);

  OptimisticTransactionDB(const OptimisticTransactionDB&) = delete;
  OptimisticTransactionDB& operator=(const OptimisticTransactionDB&) = delete;
  ~OptimisticTransactionDB();

  // The database, for everything else: what is written through it at once counts as a change of its keys. Not to be
  // deleted.
  DB* GetBaseDB() const;

  // A new transaction, which the caller deletes. write_options: of its Commit. nullptr without memory,
  // or if set_snapshot is wanted and the database gives no snapshot.
  OptimisticTransaction* BeginTransaction(const WriteOptions& write_options,
                                          const OptimisticTransactionOptions& options = OptimisticTransactionOptions());

 private:
  OptimisticTransactionDB(std::unique_ptr<DB> db, const Options& options);

  const std::unique_ptr<DB> db_;
  const Comparator* const comparator_;
  const MergeOperator* const merge_operator_;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_OPTIMISTIC_TRANSACTION_H_
