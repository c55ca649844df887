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
// What they are: all families of a database share its log, memtables, levels and options, and a family is a range of
// keys there. So families cost nothing until they are used, a write to ten of them costs what one costs, and there is
// nothing to tune for each. A key takes 12 bytes more than in the default family, and may be 12 bytes shorter than 16
// MiB.
//
// Order: that of the bytes, in every family but the default one, which has the database's comparator.
//
// The default family: what the calls without a handle read and write. It has the name "default", cannot be dropped, and
// loses one thing to the others: once a database has had a family, keys of the default one that begin with eight bytes
// (0xff, "MioFam", 0xf5) are refused with InvalidArgument when they are written, and are not there when they are read.
//
// Threads: as DB. Ownership: a handle belongs to the database and lives as long as it is open, also that of a family
// that was dropped. It serves no other database.
//
// What a crash leaves: a family is there once CreateColumnFamily has returned OK, and gone for ever once
// DropColumnFamily has; one of which neither has returned is there or not. A dropped family's content goes with it.
//
// Snapshots, iterators and flushes are of the database: a snapshot shows all families as of one moment. Traces record
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

  // The name that it was made with.
  virtual const std::string& GetName() const = 0;

  // 0 is the default family. Others get numbers from 1 up, and no number is given twice in a database.
  virtual uint32_t GetID() const = 0;

 protected:
  ColumnFamilyHandle() = default;
  virtual ~ColumnFamilyHandle();
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_COLUMN_FAMILY_H_
