// The database: an ordered, durable map from byte strings to byte strings.
//
// Threads: a DB may be used by any number of threads without outside locking. Reads take no lock that a writer or a
// compaction holds for longer than a few pointers' work, and none at all from the first 128 threads of a process. An
// Iterator or a WriteBatch belongs to one thread at a time.
//
// Ownership: DB::Open hands the caller a DB to delete. Iterators must be deleted, snapshots released and pinned
// slices reset before the DB is. Strings and slices passed in need to live only for the call.
//
// After a crash: the state after some prefix of the writes in the order in which the database sequenced them.
// With log_mode kLogPmem the prefix holds every write that returned OK if only the process died, and on persistent
// memory also if the machine lost power; in kPersistFile it then holds every write up to the last one made with
// sync. A WriteBatch is there as a whole or not at all.
//
// A child of fork() cannot use what its parent opened: calls return IOError or nothing, iterators end with it, and what
// is deleted there is left as it is. The parent goes on; the child may open databases of its own.
//
// Limits: keys up to 16 MiB (16,777,216 bytes), values up to 1 GiB, a batch below 2 GiB; more is InvalidArgument.
//
// Errors: no call throws or prints; what runs out of memory is an IOError that says so. NotFound: the key is not there.
// InvalidArgument: an option or argument is out of range; nothing happened. IOError: the file system refused; the
// message names the file. NoSpace (Status::IsNoSpace): the pool is full; nothing of the write happened, reads and
// deletes still work. Corruption: bytes of the pool are damaged; the message names the place. After a failure to write
// the manifest or the log, or when a merge meets damage, the database is read-only until it is reopened, and every
// write returns that first error.

#ifndef MIODB_INCLUDE_DB_H_
#define MIODB_INCLUDE_DB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "miodb/column_family.h"
#include "miodb/export.h"
#include "miodb/iterator.h"
#include "miodb/options.h"
#include "miodb/pinnable_slice.h"
#include "miodb/status.h"

namespace miodb {

#ifndef MIODB_AS_LEVELDB  // leveldb/db.h has LevelDB's
// Version of this library.
static const int kMajorVersion = 1;
static const int kMinorVersion = 0;
#endif

struct BackupInfo;
struct BackupOptions;
struct TraceOptions;
class TraceWriter;
class UpdateIterator;
class WriteBatch;

// A state of the database that reads can be made against. Immutable, usable by any thread at once. A snapshot is a
// sequence number, and the database keeps the versions that this sequence sees. The object itself costs next to
// nothing.
class MIODB_EXPORT Snapshot {
 public:
  // The number of the last update that it sees: a later snapshot has a greater one, if anything was written between.
  // Not LevelDB's; the default is 0.
  virtual uint64_t GetSequenceNumber() const;

 protected:
  virtual ~Snapshot();
};

// The keys k with start <= k < limit, in the comparator's order; none if limit is not behind start. The bytes behind
// both slices belong to the caller.
struct MIODB_EXPORT Range {
  Range() = default;
  Range(const Slice& s, const Slice& l) : start(s), limit(l) {}

  Slice start;
  Slice limit;
};

// A key, and the sequence number up to which somebody knows what it has: of a snapshot, or of
// DB::GetLatestSequenceNumber before it was read. The bytes of the key are the caller's. family: nullptr is the default
// one. expiry_micros: the moment from which on that knowledge is out of date by itself, which DB::GetWithExpiry tells.
struct MIODB_EXPORT KeyAsOf {
  KeyAsOf() = default;
  KeyAsOf(const Slice& k, uint64_t number) : key(k), sequence(number) {}
  KeyAsOf(ColumnFamilyHandle* f, const Slice& k, uint64_t number) : family(f), key(k), sequence(number) {}

  ColumnFamilyHandle* family = nullptr;
  Slice key;
  uint64_t sequence = 0;
  uint64_t expiry_micros = UINT64_MAX;  // since 1970; UINT64_MAX: never
};

// A savepoint (DB::CreateSavepoint).
struct SavepointInfo {
  std::string name;
  uint64_t sequence = 0;    // of its newest update
  uint64_t micros = 0;      // when it was made, by the system's date: microseconds since 1970
  uint64_t held_bytes = 0;  // space of the pool that it keeps and the database needs no more; what several savepoints
                            // keep counts for each of them
};

class MIODB_EXPORT DB {
 public:
  // Opens the database in directory "name" and stores a new DB in *dbptr, which the caller deletes. On failure *dbptr
  // is nullptr, the status names the file and the reason, and nothing half-created is left behind.
  //
  // InvalidArgument: an option is out of range, there is no database and none is to be made, or there is one and must
  // not be, or what is found is not this database's: another pool, log or SSD tier, another comparator. NotSupported:
  // the medium cannot give the persist mode, or the pool is of another version. Corruption: the pool, the log or STORE
  // is damaged (RepairDB). IOError and NoSpace: the file system; trying again later may help.
  // Takes time proportional to the number of tables and to the log that was not yet flushed, not to the data.
  // A database is open in one process and once in it: a second open returns IOError naming the LOCK file.
  // A directory that holds a database of LevelDB's format is refused.
  static Status Open(const Options& options, const std::string& name, DB** dbptr);

  // Opens a database for reading while another process, or this one, may have it open and write to it; any number of
  // readers may. *dbptr, which the caller deletes, has all calls of DB that read, and NotSupported for all that write.
  // options: of those that say what the database is, as for Open: comparator, merge_operator, pool_path, and for what
  // a reader has of its own. Nothing is created or written but the reader's place in READERS, a file of the database's
  // directory: whoever reads needs permission to write that file, and to read all others. By cutting that file off such
  // a program can end the writer's process.
  //
  // Reads see the database as it was at some moment, with whole batches; a later read never sees an earlier moment.
  // This moment is some milliseconds old at most; Refresh brings the reader up to date. An iterator keeps the moment at
  // which it was made. GetSnapshot returns nullptr: what a sequence needs is the writer's to keep.
  //
  // A writer waits for no reader unless space is short: what one still looks at, an open iterator or a pinned value
  // above all, is used again only later. A reader that dies keeps nothing. When the writer dies or closes, readers go
  // on; the next writer's open waits 0.1 s for them at most, or some seconds where they hold all the space it needs.
  //
  // NotSupported for an anonymous pool, and where the log is in files; with kLogOff what is not flushed is not seen.
  // InvalidArgument if there is no database, or it is not as the options say; Corruption if it is damaged; IOError from
  // the file system, if 512 readers are there, and of reads once the database was removed or replaced. Takes
  // time proportional to the number of tables and to the part of the log that is in no full chunk.
  static Status OpenReader(const Options& options, const std::string& name, DB** dbptr);

  // Brings a reader up to date: reads from now on see what the database has now. Errors are those of OpenReader; reads
  // then fail with the same error until a look succeeds. A DB that is no reader returns OK, because it always sees the
  // current content.
  virtual Status Refresh();

  DB() = default;
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;

  // Ends background work; a merge under way is given up and done again after the next open. With log_mode kLogOff
  // flushes what is in memory first.
  virtual ~DB();

  // Sets the value of key, whether it had one or not. Durable when it returns OK, as far as said above, and seen by
  // every read that begins afterwards. May wait for other writers, for space, or because a limit is near
  // (docs/reference.md, "Back-pressure"). InvalidArgument for a key or value that is too large; NoSpace when the pool
  // is full and nothing could be freed; IOError or Corruption, the first error of the background, when the database is
  // read-only.
  // A class that implements DB may have this and Delete call DB::Put and DB::Delete, which call Write. Of a call that
  // LevelDB does not have only the form with a handle is virtual; the form without a handle is that call of the default
  // family. Get of a PinnableSlice is virtual in both forms.
  virtual Status Put(const WriteOptions& options, const Slice& key, const Slice& value) = 0;

  // Removes key. Removing a key that is not there is not an error, and not found out: a delete is a write like any
  // other, with the same errors. In a full pool it may use space that puts may not. The space of the values that a
  // delete hides is free once merges have met the delete.
  virtual Status Delete(const WriteOptions& options, const Slice& key) = 0;

  // Merges operand into the value of key, as Options::merge_operator does it when the key is read (merge_operator.h):
  // a write like Put, that reads nothing. NotSupported without an operator; else the errors of Put. Not LevelDB's, and
  // nor is the next. A class that implements DB by Write alone has both.
  Status Merge(const WriteOptions& options, const Slice& key, const Slice& operand) {
    return Merge(options, DefaultColumnFamily(), key, operand);
  }

  // Removes key, which was put once at most since it was last removed, and neither merged into nor removed by Delete
  // since it was first written. Reads see what Delete would have done. Merges that meet the put drop both, where a
  // deletion would have to go down to the last level. For entries of indexes, which are never overwritten. Where the
  // condition does not hold, what a read finds is undefined: older values of the key may come back. A flush or merge
  // that sees two puts below a single deletion drops both, and in builds with checks (without NDEBUG) ends with
  // Corruption, which makes the database read-only. Errors as of Put.
  Status SingleDelete(const WriteOptions& options, const Slice& key) {
    return SingleDelete(options, DefaultColumnFamily(), key);
  }

  // Removes all keys k with begin <= k < end, by the database's order: one record in the log, whatever lies there. Seen
  // by every read that begins afterwards; snapshots from before see what was there. Gets ask for the range that has
  // their key, iterators pass over what is hidden, and merges drop it without reading it; tables that are hidden as a
  // whole go at once, with their space. Nothing is done if begin and end are equal. InvalidArgument if begin comes
  // after end, or if one is longer than 64 KiB; else the errors of Put. Not LevelDB's. A class that implements DB by
  // Write alone has it.
  Status DeleteRange(const WriteOptions& options, const Slice& begin, const Slice& end) {
    return DeleteRange(options, DefaultColumnFamily(), begin, end);
  }

  // Applies all updates of the batch, in their order, as one atomic step: reads see all of them or none, and so does
  // an open after a crash. The batch is not changed. Errors as of Put and Merge, for the whole batch; InvalidArgument
  // also for nullptr, for a batch that is too large, and for one with a key of a column family that was dropped or that
  // the database does not have; Corruption for one whose bytes are damaged.
  virtual Status Write(const WriteOptions& options, WriteBatch* updates) = 0;

  // Write, if none of the keys was written, merged or removed behind its sequence, and the clock has reached the expiry
  // of none. Between the look and the write nothing else is written, by whatever call. Busy, naming the key, if a key
  // has changed, and nothing is written then; else as Write; InvalidArgument also for a key of a family that was
  // dropped. An empty batch only looks. Takes a get for each key; other writers wait only while what was written since
  // those gets is looked through, mostly in the memtable. OptimisticTransaction commits with this call
  // (optimistic_transaction.h). A change is found if a snapshot at or before the key's sequence is held; without one,
  // merges may have dropped a deletion together with all that it hid. A put and the single deletion that removed it may
  // go unseen in any case: the key has again what it had. A deletion of a range is a change of every key in it. A value
  // or operand that a compaction filter removes or changes is no change: the filter's answer counts as written when the
  // record was (compaction_filter.h). Not LevelDB's.
  virtual Status WriteIfUnchanged(const WriteOptions& options, WriteBatch* updates, const std::vector<KeyAsOf>& keys);

  // Copies the value of key into *value and returns OK; NotFound leaves *value unchanged, and so does every other
  // error. Corruption if what has to be read is damaged and verification is asked for, or it cannot be read at all;
  // IOError if a table file cannot be read. Never waits for a write, a flush or a merge.
  virtual Status Get(const ReadOptions& options, const Slice& key, std::string* value) = 0;

  // The same without a copy: *value refers to the bytes in the pool and keeps them there until it is reset or
  // destroyed, which must happen before the database is deleted. A pinned value also keeps the space of the tables
  // that were current when it was read, so do not hold many for long.
  // Not LevelDB's. A class that implements only LevelDB's calls may leave it out, and those of which the same is said
  // below; they then return NotSupported unless something else is said.
  virtual Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value);

  // Looks up many keys as of one moment, and answers each as Get would: a Status for each in the order of the keys, and
  // in *values, which is given as many places, the values of those that are OK; the others are of no meaning. Reads of
  // the SSD tier overlap (Options::multi_get_io_uring). Without memory for the statuses themselves there are none. The
  // default, for classes that have their own Get alone, looks up one key after the other. Not LevelDB's.
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values) {
    return MultiGet(options, std::vector<ColumnFamilyHandle*>(), keys, values);
  }

  // The same without copies: each value that was found is pinned as Get with a PinnableSlice pins it. Pins that *values
  // held before are released. The default reads each key by Get. Not LevelDB's.
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<PinnableSlice>* values) {
    return MultiGet(options, std::vector<ColumnFamilyHandle*>(), keys, values);
  }

  // False: the key is not there, by what is in memory alone. True: it may be there, and Get tells. If its newest
  // version is in a memtable it is known, and with value given and not nullptr the value is copied there. *value_found,
  // if given and not nullptr, says whether it was. Reads no persistent memory but memtables' and no file: each table's
  // filter is asked, of table files the range of keys. An error is true. The default is true. Not LevelDB's.
  bool KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value = nullptr,
                   bool* value_found = nullptr) {
    return KeyMayExist(options, DefaultColumnFamily(), key, value, value_found);
  }

  // A new iterator over the state at this moment (or at options.snapshot), not yet positioned. Never nullptr; an
  // error shows in its status(). The caller deletes it before the database. While it lives it pins the tables it
  // reads, so space freed by compactions is reused only afterwards.
  virtual Iterator* NewIterator(const ReadOptions& options) = 0;

  // A handle to the current state, for reads that are to see one moment together. The caller releases it with
  // ReleaseSnapshot. nullptr if there is no memory for one. A snapshot does not outlive the process. While a snapshot
  // is held, merges keep every version that it can see, and tombstones that it needs: a pool that is overwritten
  // meanwhile fills up.
  virtual const Snapshot* GetSnapshot() = 0;

  // Releases a snapshot obtained from this database; it must not be used again. nullptr is allowed.
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // The number of the last update that reads see. Every update that becomes visible afterwards has a greater one. Not
  // LevelDB's; the default is 0.
  virtual uint64_t GetLatestSequenceNumber() const;

  // Describes the database. Returns false and leaves *value alone for a property it does not know. The figures are of
  // one moment each and need not fit together while others write. Names are stable, texts for people may change.
  //
  //  "leveldb.num-files-at-level<N>"      PMTables at level N, a decimal number
  //  "leveldb.stats"                      LevelDB's table of compaction work, then MioDB's own lines
  //  "leveldb.sstables"                   one line for every PMTable, by level
  //  "leveldb.approximate-memory-usage"   bytes of DRAM in memtables, filters, inner index levels, kept records
  //  "miodb.persist-mode"                 what durability the pool gives: pmem, emulated, file or volatile
  //  "miodb.pool"                         path, size and use of the pool, one "name: value" a line
  //  "miodb.placement"                    NUMA nodes and CPUs: asked for, and found by looking at pages; "name: value"
  //  "miodb.nvm-model"                    none, or the figures of the model that slows the pool down
  //  "miodb.counters"                     all counters, one "name: value" a line; bytes, counts, microseconds
  //  "miodb.<counter>"                    one of them, a decimal number
  //  "miodb.times"                        with Options::statistics: count, mean and percentiles of each kind of call
  //  "miodb.prometheus"                   counters, levels and times in the text format that Prometheus scrapes
  //  "miodb.estimate-num-keys"            about how many keys there are: entries, less two for each deletion in tables
  //  "miodb.column-families"              a line for each column family but the default one
  //  "miodb.next-family-id"               the id that the next column family gets
  //  "miodb.identity"                     whose the sequence numbers are: 32 hexadecimal digits, which no other
  //  database
  //                                       has. A checkpoint, a restored backup and a repaired database have new ones
  //  "miodb.origin"                       the identity of the database that this one is a copy of, and behind a space
  //                                       the last write of it that the copy has; without that while it follows
  //                                       (FollowSource). Empty: it is not known to be a copy
  //  "miodb.background-error"             OK, or the error that made the database read-only
  //  "miodb.compact-error"                OK, or the error of the CompactRange that ended last
  //  "miodb.ssd-error"                    OK, or the error of the last job of the SSD tier, which is tried again
  //
  // docs/reference.md, "Counters", says what each counter counts; docs/placement.md the lines of "miodb.placement".
  virtual bool GetProperty(const Slice& property, std::string* value) = 0;

  // Stores in sizes[i] how many bytes the records of range[i] take, for i in [0, n): those in memtables one by one; of
  // each table in the pool too, or, of more than 4096, by the mean of 4096 of them; in table files by their offsets.
  // Versions and deletions that are not compacted yet count as well. Takes time in proportion to what memtables have.
  virtual void GetApproximateSizes(const Range* range, int n, uint64_t* sizes) = 0;

  // Moves all records from memory and from all levels of the pool into the repository, whatever the range, drops
  // versions that no snapshot sees, and collects garbage. In the SSD tier it moves the tombstones of [*begin, *end]
  // down until they hide nothing. Free space of the pool goes back to the file system, unless somebody writes
  // meanwhile. Returns when all of that is done. nullptr is before the first or after the last key;
  // a range whose end is before its begin does nothing. "miodb.compact-error" tells whether it went well.
  virtual void CompactRange(const Slice* begin, const Slice* end) = 0;

  // The rest is not LevelDB's.

  // Flushes the memtable and returns when its table is installed. Writes from before the call are durable then, as far
  // as the pool is durable. With a volatile pool in front of an SSD tier they are durable because the call syncs the
  // log.
  virtual Status Flush();

  // Flushes, merges everything into the repository, collects garbage, and returns when nothing of that is left to do.
  // Writers that go on may keep it waiting. Returns the background error if there is one.
  virtual Status WaitForIdle();

  // Has WaitForIdle and CompactRange return soon, in whatever threads they wait, and later calls of them at once;
  // WaitForIdle returns IOError then. Work that was due goes on in the background, until the database is deleted. For
  // programs that were told to end.
  virtual void StopWaiting();

  // ---- column families (column_family.h). What a call does in one is what the call without a handle does in the
  // default family, with the same errors and those of handles. A class without families of its own may leave all of
  // them out: writes are then batches for Write, and the rest is NotSupported, properties that are not known, and
  // nothing.
  //
  // A call with a handle costs what the call without one costs, and the copy of the key behind 12 bytes. Reads never
  // wait, as without one. A write waits besides while a family is made or dropped, which takes one record of the
  // manifest.
  //
  // Handles are refused with InvalidArgument where a call returns a status. The others do what is said at each of them.

  // Makes a column family, durably, and stores its handle. InvalidArgument if there is one of this name, for "default",
  // for an empty name and one of more than 1024 bytes, and, of the first family, if the default one has keys, or
  // deletions that no merge has dropped yet, which begin with the bytes that are to be the families'; else errors as of
  // Put.
  //
  // The first family of a database with another comparator than the bytewise one is made after a look at all keys, and
  // so takes time in proportion to what there is; all others take one record of the manifest. The first family changes
  // the order of some keys under such a comparator. So the call is InvalidArgument while there is a savepoint from
  // before it, or an open view of one: drop the savepoints and close the views first.
  //
  // *family is nullptr on failure. After a crash: the family or none. Any thread may call it. Calls that make or drop a
  // family wait for each other. They also wait for a call that makes a savepoint, a checkpoint or a backup until that
  // call has taken its state, including the flush that it may wait for.
  virtual Status CreateColumnFamily(const std::string& name, ColumnFamilyHandle** family);

  // The handle of a family that is there; NotFound if there is none of this name. "default" always is. The handle is
  // the same at every call, and the one that CreateColumnFamily gave. Nothing is read for it: names are in memory as
  // long as the database is open. Another thread may make a family after this call has returned NotFound; then
  // CreateColumnFamily returns InvalidArgument, and this call finds the family.
  virtual Status GetColumnFamily(const std::string& name, ColumnFamilyHandle** family);

  // Drops a family with all that is in it. When it returns OK the name is free again, calls with the handle are
  // InvalidArgument, and the content is gone for every read that begins later; its space is free when merges have met
  // it, and where a snapshot sees it when that is released. Iterators and pinned slices that are open go on. The time
  // does not depend on what the family has. InvalidArgument for the default family. With another error than that and
  // those of handles the family may be dropped all the same; what is left of its content then goes when the database is
  // opened. Waits as CreateColumnFamily.
  virtual Status DropColumnFamily(ColumnFamilyHandle* family);

  // Stores the names of all families, by their ids; so the first is "default". Families that others make meanwhile may
  // be among them or not. The names of a closed database's families shows miodb_dump (docs/tools.md).
  virtual Status ListColumnFamilies(std::vector<std::string>* names);

  // The default family's handle; nullptr from a class without families. The default family has number 0, the name
  // "default", and the comparator of the database. Calls with it are those without a handle.
  virtual ColumnFamilyHandle* DefaultColumnFamily();

  // Sets the value of a key of this family. The key may be 12 bytes shorter than one of the default family, and may be
  // anything: only those of the default family have a beginning that is refused. To write to several families in one
  // step, add the updates to a WriteBatch, each with its handle.
  virtual Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& value);

  // Removes a key of this family, and no key of another one.
  virtual Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key);

  // Merges an operand into a key of this family, by the operator of the database, which all families share. The
  // operator gets the key as it is given here.
  virtual Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& operand);

  // Removes a key of this family that was put once, under the conditions that are said above.
  virtual Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key);

  // Removes all keys of this family from begin up to end, by their bytes. A deletion of a range without a handle, or
  // with the default family's, leaves out all other families, also where they lie in between. The bounds may be 12
  // bytes shorter than those without a handle.
  virtual Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
                             const Slice& end);

  // Reads a key of this family: as a copy, or without one, pinned until the slice is reset. A snapshot covers all
  // column families. For each family it shows the content at the moment the snapshot was taken; a family created later
  // is empty in it.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value);
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, PinnableSlice* value);

  // Get, and the moment from which on a get would give something else although nobody writes (lifetime.h): that at
  // which the value expires, or the value that operands were merged into. *expiry_micros is in microseconds since 1970;
  // UINT64_MAX if nothing of what was found expires, if nothing was found, and after an error. For whoever writes by
  // WriteIfUnchanged what depends on a value. nullptr as family is the default one. Errors as of Get. The default, for
  // classes without lifetimes, is Get. Not LevelDB's.
  virtual Status GetWithExpiry(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                               std::string* value, uint64_t* expiry_micros);

  // Whether the family may have the key, by what is in memory. With a handle that is refused it may.
  virtual bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                           std::string* value = nullptr, bool* value_found = nullptr);

  // Keys of several families, each by the handle at its place, as of one moment. The vector has a handle for each key,
  // or no handle: then all keys are the default family's. Otherwise every status is InvalidArgument. If a handle is
  // refused, the status of its own key alone says so.
  virtual std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                       const std::vector<Slice>& keys, std::vector<std::string>* values);
  virtual std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                       const std::vector<Slice>& keys, std::vector<PinnableSlice>* values);

  // A new iterator over the keys of this family alone, in the order of their bytes, in both directions. Bounds and
  // targets are keys of the family; both slices of bounds are copied. If the family is dropped, the iterator goes on
  // over the content that it was made for. With a handle that is refused its status says why. The caller deletes it
  // before the database.
  virtual Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family);

  // Two properties tell of this family alone, unless it is the default one: "miodb.estimate-num-keys", which counts
  // entries, versions and deletions too, and "miodb.approximate-bytes", the result of GetApproximateSizes for all keys
  // of the family, which the default family does not have. All other properties tell of the database, because one log,
  // one memtable and one set of levels serve all families. "miodb.column-families", with any handle or none, is a line
  // for each family but the default one: id, name, entries and bytes.
  virtual bool GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value);

  // Sizes of ranges of keys of this family; 0 with a handle that is refused. Without a handle, or with the default
  // family's, a range counts the default family's records alone.
  virtual void GetApproximateSizes(ColumnFamilyHandle* family, const Range* range, int n, uint64_t* sizes);

  // Compacts as the call without a handle does, with a range of keys of this family; nullptr is before the first or
  // after the last key of the family. Does nothing with a handle that is refused.
  virtual void CompactRange(ColumnFamilyHandle* family, const Slice* begin, const Slice* end);

  // ---- savepoints: states of the database that keep a name
  //
  // A savepoint is the state of one moment, all column families of it. A savepoint is durable once CreateSavepoint has
  // returned, survives crashes and closing, and stays until it is dropped. Making one costs a record of the manifest
  // and writes no data, however much there is; writers do not wait for it. With kLogOff and kLogFile, and after an open
  // that found log files, it waits for a flush first.
  //
  // Records of a savepoint stay in the pool and on SSD after the database has deleted or overwritten them, so a full
  // pool may have room again when savepoints are dropped. A volatile pool's savepoints are gone when it is closed.
  // RepairDB brings back no savepoint.

  // Makes a savepoint of what was written before the call, and perhaps of writes of others that came first while it
  // ran: of all writes up to its sequence. InvalidArgument if there is one of this name, or if the name is empty or has
  // more than 255 bytes; else errors as of Put. Any thread may call it; calls wait for each other. After a crash:
  // the savepoint or none.
  virtual Status CreateSavepoint(const Slice& name);

  // Drops a savepoint; NotFound if there is none of this name. The space that this savepoint alone has kept is free
  // once nobody reads it any more. Open views of the savepoint go on. After a crash: the savepoint or none.
  virtual Status DropSavepoint(const Slice& name);

  // Stores what there is of savepoints, the oldest first.
  virtual Status ListSavepoints(std::vector<SavepointInfo>* savepoints);

  // Opens a savepoint beside the database, for reading: *view has all calls of DB that read, and NotSupported for all
  // that write. The caller deletes it, before the database. NotFound if there is none of this name. Reading may be done
  // by any number of threads. The call takes the time and the DRAM of an index over the records that the memtables had.
  virtual Status OpenSavepoint(const Slice& name, DB** view);

  // Writes the database as it is into another directory, as a database of its own, while everything goes on: a backup,
  // or something to try out. The copy has what was written before the call, whole batches, and of what others write
  // meanwhile all up to some point; with kLogOff and kLogFile the call waits for a flush first. The copy is opened like
  // any other database: its pool is the file "pool" in the directory, its SSD tier is "ssd" there, and the options are
  // those of this one with pool_path and nvm_regions empty, pool_size for what all regions had, and ssd_path naming the
  // latter if there is one. A checkpoint has no savepoints.
  //
  // The directory must not exist, and the one above it must: InvalidArgument. Until the copy is whole and durable it is
  // "<directory>.tmp". NotSupported with an Env of the user's, and with an anonymous pool that has an SSD tier; an
  // anonymous pool without one becomes a database that lasts. Else NoSpace or IOError from the file system, or what a
  // write that waits for a flush may return. On failure nothing is left, and this database is as it was.
  //
  // Costs the time to write what the pool has in use, and as much space. Files of the SSD tier are given a second name
  // where both directories are on one file system, else copied too. Writers wait no longer than for one another, but
  // what the copy has stays in the pool until it is written. Any thread may call it, several at once. After a
  // crash: the checkpoint as a whole, or "<directory>.tmp", which the next call for the directory removes.
  virtual Status CreateCheckpoint(const std::string& directory);

  // Adds a generation to a folder of backups (backup.h), while everything goes on: what CreateCheckpoint would copy, of
  // which it reads all and writes what the newest generation does not have. The call makes the folder if there is none,
  // but not the folder above it. *info, which may be null, tells of the new generation. Errors as of CreateCheckpoint;
  // InvalidArgument also for a folder that has something else in it or backups of another database, and Corruption if
  // the record of the newest generation is damaged. Any thread may call it; a second call for the same folder is an
  // IOError. After a crash: the generation as a whole, or what the next call takes up.
  virtual Status CreateBackup(const BackupOptions& options, const std::string& folder, BackupInfo* info);

  // Gives the updates from the one with this number on, as batches in their order, to follow the database with
  // (miodb/updates.h). The first batch is the one that has the number; of a number inside of a batch the iterator's
  // sequence says where it begins. With the number behind the last write the iterator is at its end, OK, and goes on
  // when there is more.
  //
  // NotFound if the log does not reach back so far any more: then the message names the oldest write that it has. How
  // far it reaches Options::keep_log_bytes says. This log survives crashes and closing; RepairDB and checkpoints keep
  // none of it. InvalidArgument if the number is behind the next one. NotSupported unless log_mode is kLogPmem. Writers
  // do not wait for it. Any thread may call it. The caller deletes the iterator before the database.
  virtual Status GetUpdatesSince(uint64_t sequence, std::unique_ptr<UpdateIterator>* updates);

  // Records the calls made to this database from now on (miodb/trace.h). A database has at most one trace at a time.
  // While none runs, each call pays one branch for this; while one runs, calls make their records one after the other,
  // a few tenths of a microsecond each. Gets are recorded whether they find something or not. InvalidArgument if a
  // trace is running or an option is out of range; what the writer returned if it fails.
  virtual Status StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter> writer);

  // Writes the end record and closes the writer; deleting the database does, too. Returns the first error that writing
  // the trace met; InvalidArgument if no trace is running.
  virtual Status EndTrace();

  // Adds a region to the pool while it is open, durably: options.h says which may be added, and what later opens need.
  // Writers that wait for space get the space of the region. InvalidArgument if there is something else at its path, if
  // the pool has it or 12 others, if its persist mode is not the pool's, if its node cannot be had, or if no addresses
  // are left for it, which opening the database again helps; IOError or NoSpace from the file system. On failure the
  // pool is as before.
  virtual Status AddRegion(const NvmRegion& region);

  // Says that from now on, until the database is closed, nothing is written to it but the updates of the database with
  // this identity (property "miodb.identity"), in order and from the first one on that this database does not have.
  // Call it after each open of a copy, before the first of them. The database remembers whose copy it is, over closing
  // and crashes: a checkpoint and a restored backup know it from the beginning, a database that was never written to by
  // this call. A write to a copy after an open without this call ends that.
  //
  // InvalidArgument, which says what to do, if the database has writes and is not known to be a copy of that database,
  // or was written to besides, or if the text is no identity. A source that was repaired or put back from a backup is
  // another database, whose numbers begin anew. Copies that earlier versions have made do not know their source; nor
  // does a copy with an anonymous pool once it was closed. IOError or NoSpace from the file system: then what is
  // written before the next open may count as the source's. What a crash leaves: the copy as it was, or following.
  // Nobody else may write meanwhile.
  virtual Status FollowSource(const Slice& identity);
};

// Deletes the database in directory "name": its pool (options.pool_path) with all regions, what repairs kept or left
// unfinished of it, its files and, if then empty, the directory. With an anonymous pool_path the pool goes that the
// file STORE names, and without an ssd_path the SSD tier that it names. Outside of the directory only what says that it
// is the database's goes, nothing if it was copied or moved since. In a directory without a database LOG, its older
// ones and LOCK go. InvalidArgument for a foreign pool_path; fails if open; OK if missing.
MIODB_EXPORT Status DestroyDB(const std::string& name, const Options& options);

// Rebuilds the database in directory "name" from what can still be read of its pool: for a database that DB::Open
// refuses with Corruption. options: as for DB::Open, with the comparator that the database was made with.
//
// How. Nothing of the damaged pool is changed. Records that can be read are written into a new pool beside the damaged
// pool. The new pool then takes the name in one atomic step; the old pool stays as "<pool>.damaged" (".damaged.2" and
// so on if there is one). Delete it when nothing more is wanted of it. Meanwhile there must be room for both. Until the
// step, a crash or an error leaves the database as it was, and the repair can be started again.
//
// With a volatile pool and an SSD tier the table files and the log are written anew into table files; STORE is replaced
// in that step, and a copy of the old one stays as "STORE.damaged". The log files go, those kept in
// archive/ too.
//
// Kept is the newest version of every key that can be read. Batches and sequences are not kept; snapshots do not
// outlive a process anyway. If the manifest is whole, the tables and log chunks that it names are read; damaged leaves,
// records and frames are left out. If it is not, the pool is searched for tables and log frames: each identifies itself
// and is checksummed. A column family whose name is lost with the manifest is called "lost-" and its number. Its keys
// are there, and LOST names the family.
//
// Each of these doubts is reported with the range of keys or sequences that it concerns:
//  - The newest version of a key may have been in what is lost. Then the key has the value of an older version that
//    is still there, also where the lost one was its deletion, or is gone.
//  - A frame is kept or lost as a whole, so a batch is never torn by damage to the log; writes before and after a lost
//    frame are kept. Damage to a table may take part of a batch.
//  - With the manifest lost, a table that a merge had replaced can come back only if the machine or process died at the
//    moment after the merge, and then only those of its keys that nothing newer covers. In kPersistFile, unsynced
//    writes that a power failure had cut off may come back. Where values were made to look like log frames everywhere,
//    the search passes over some places, so that it ends; frames behind damage may then be left out.
//
// Everything left out goes to the info log and, one line each, to the file LOST in "name", which every repair writes
// anew. The last line of LOST counts the records that were kept and lost.
//
// Returns OK also if something was lost: look at LOST. A folder with nothing in it, if pool, log and table files would
// lie there, becomes an empty database. IOError if the database is open or its pool's file cannot have a second name (a
// hard link), InvalidArgument if it does not exist, if an option is out of range, if it has another comparator, if the
// options name other places than STORE or no ssd_path where that has one, or if it is a copy that shares a part with
// the database it was copied from, NotSupported if the pool has another version, NoSpace if there is no room for a new
// pool, Corruption if the file has nothing in it that could be kept. All of these leave the pool as it is. Before it
// writes anything, the repair finds out whether the file system has hard links and, without an SSD tier, whether there
// is less room than the live data take.
MIODB_EXPORT Status RepairDB(const std::string& name, const Options& options);

}  // namespace miodb

#endif  // MIODB_INCLUDE_DB_H_
