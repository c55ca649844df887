// Column families: named key spaces in one database. Each has keys of its own, which no other family sees, and one
// batch may write to several of them: all of it is there or nothing.
//
//   miodb::ColumnFamilyHandle* index = nullptr;
//   status = db->GetColumnFamily("index", &index);
//   if (status.IsNotFound()) status = db->CreateColumnFamily("index", &index);
//   ...
//   miodb::WriteBatch batch;
//   batch.Put("user:7", record);                  // the default family, where everything lies that names no family
//   batch.Put(index, "berlin:user:7", "");
//   status = db->Write(miodb::WriteOptions(), &batch);
//
// A family is read like the database itself:
//
//   std::unique_ptr<miodb::Iterator> it(db->NewIterator(miodb::ReadOptions(), index));
//   for (it->Seek("berlin:"); it->Valid() && it->key().starts_with("berlin:"); it->Next()) ...
//   if (!it->status().ok()) ...
//
// and goes as a whole, in no time, whatever it has:
//
//   status = db->DropColumnFamily(index);
//
// All families of a database share its log, memtables, levels and options, and a family is a range of keys there. So
// families cost nothing until they are used, a write to ten of them costs what one costs, and there is nothing to tune
// for each. A key takes 12 bytes more than in the default family, and may be 12 bytes shorter than 16 MiB.
//
// When to use one: for keys that are walked, counted or dropped by themselves, such as an index, or the data of one
// tenant or one day. When not: to give data other options, another merge operator or a memtable of its own, which a
// family has not; open another database for that.
//
// Cost: making or dropping a family writes one record of the manifest. A name takes room there and in memory, as long
// as there is the family; of a dropped one the number stays until a later open. Thousands of families are no burden.
//
// Order: that of the bytes, in every family but the default one, which has the database's comparator. Under another
// comparator than the bytewise one the first family is refused while there is a savepoint, or an open view of one.
//
// The default family: what the calls without a handle read and write. This family has the name "default" and cannot be
// dropped. The other families take some keys from it: once a database has had a family, keys of the default one that
// begin with eight bytes (0xff, "MioFam", 0xf5) are refused with InvalidArgument when they are written, and are not
// there when they are read.
//
// Threads: as DB. Ownership: a handle belongs to the database and lives as long as it is open, also that of a family
// that was dropped. A handle serves no other database.
//
// After a crash: a family is there once CreateColumnFamily has returned OK, and gone for ever once DropColumnFamily
// has. If a call had not returned, the crash leaves the state before or after the call. A dropped family's content goes
// with it.
//
// Snapshots, iterators and flushes are of the database: a snapshot shows all families as of one moment. So do
// savepoints, checkpoints and backups, which have the names of that moment too. Traces record
// calls with the ids of families (miodb/trace.h). RepairDB keeps families with their names and ids.
//
// Errors: InvalidArgument for nullptr, for a handle of another database and for a family that was dropped.

#ifndef MIODB_INCLUDE_COLUMN_FAMILY_H_
#define MIODB_INCLUDE_COLUMN_FAMILY_H_

#include <cstdint>
#include <string>

#include "miodb/export.h"

namespace miodb {

// Stands for a column family in calls of DB and WriteBatch.
class MIODB_EXPORT ColumnFamilyHandle {
 public:
  ColumnFamilyHandle(const ColumnFamilyHandle&) = delete;
  ColumnFamilyHandle& operator=(const ColumnFamilyHandle&) = delete;

  // The name that it was made with. The string lives as long as the handle. Once this family was dropped, another
  // family may get the name.
  virtual const std::string& GetName() const = 0;

  // 0 is the default family. Other families get numbers from 1 up, and no number is given twice in a database.
  virtual uint32_t GetID() const = 0;

 protected:
  ColumnFamilyHandle() = default;
  virtual ~ColumnFamilyHandle();
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_COLUMN_FAMILY_H_
