// The update stream: what was written to a database, in order, for programs that follow it: a copy in another place, an
// index, a cache.
//
//   std::string identity;
//   source->GetProperty("miodb.identity", &identity);
//   status = copy->FollowSource(identity);
//   std::unique_ptr<miodb::UpdateIterator> updates;
//   if (status.ok()) status = source->GetUpdatesSince(copy->GetLatestSequenceNumber() + 1, &updates);
//   while (status.ok()) {
//     for (; status.ok() && updates->Valid(); updates->Next()) status = copy->Write(options, updates->batch());
//     if (status.ok()) status = updates->status();
//     ...                // wait a while
//     updates->Next();   // go on with what was written since
//   }
//   // status.IsNotFound(): make the copy anew
//
// A copy is a checkpoint (DB::CreateCheckpoint), a backup that was restored, or a database that was never written to.
// As long as nobody else writes to it, its sequence numbers are the source's, so that it knows by itself how far it is,
// also after a crash: each batch is written as a whole or not at all. Numbers alone do not say whose they are:
// DB::FollowSource refuses a source whose copy this is not, and a copy that something else was written to.
//
// A batch is a whole call of DB::Write, DB::Put or the like, or several such calls that were made durable together, in
// their order. Each update is what was stored: operands are not combined, and values that expire do so at the moment at
// which they do in the source, whatever the options of the copy say. Write with lifetime_seconds = kNoLifetime if these
// give others lifetimes.
//
// Column families are named in batches by their ids (ColumnFamilyHandle::GetID). Making and dropping one is not in the
// stream: whoever follows makes the same ones in the same order, so that they have the same ids, and drops them. A
// batch for a family that the copy does not have is refused by its Write with InvalidArgument; make the family, and
// write the batch again. Dropping one is a write of its own, whose batch has no updates and says which it was
// (dropped_family); so a copy that is to keep the numbers drops the family then.
//
// Log mode. The stream is read from the log in the pool, so Options::log_mode has to be kLogPmem: with kLogOff and
// kLogFile DB::GetUpdatesSince is NotSupported. A reader looks at the log_mode that it was opened with itself.
//
// How far back. All that is in no table, and what Options::keep_log_bytes keeps besides. Behind that GetUpdatesSince
// and Next are NotFound; the message names the oldest write that there is.
//
// With the persist mode file a write without sync is in the stream before it is durable. Loss of power may take it from
// the source and leave it in the copy: write with sync, or make the copy anew after a loss of power. GetUpdatesSince is
// InvalidArgument as long as the copy has more than the source. Once the source has written as many others, nothing
// tells that the two differ. The same holds for a source whose files were put back from a copy of files.
//
// An iterator holds nothing of the pool between two calls: it reads some updates ahead, and a follower that stands
// still is told NotFound when it comes too late.
//
// A reader (DB::OpenReader) gives the stream in another process. The stream ends where the view of the reader ends, so
// call DB::Refresh before Next. With any persist mode the last batch may be a write whose writer does not know yet that
// it is durable; for loss of power the same holds as with the persist mode file.
//
// Threads: one at a time. The iterator is deleted before the database.

#ifndef MIODB_INCLUDE_UPDATES_H_
#define MIODB_INCLUDE_UPDATES_H_

#include <cstdint>

#include "miodb/export.h"
#include "miodb/status.h"

namespace miodb {

class WriteBatch;

class MIODB_EXPORT UpdateIterator {
 public:
  UpdateIterator() = default;
  UpdateIterator(const UpdateIterator&) = delete;
  UpdateIterator& operator=(const UpdateIterator&) = delete;
  virtual ~UpdateIterator();

  // Whether there is a batch. If not, and the status is OK, everything that reads see was given.
  virtual bool Valid() const = 0;

  // Goes to the next batch. At the end, or after an error, it looks once more for what comes behind the last batch.
  virtual void Next() = 0;

  // The result of the last look for a batch. NotFound: the log does not reach back so far any more. Corruption: the log
  // is damaged.
  virtual Status status() const = 0;

  // The numbers of the first and of the last update that the batch had when it was written.
  // REQUIRES: Valid()
  virtual uint64_t sequence() const = 0;
  virtual uint64_t last_sequence() const = 0;

  // The id of the family that was dropped by this write, whose batch is empty; else 0.
  // REQUIRES: Valid()
  virtual uint32_t dropped_family() const = 0;

  // The batch, until the next call of Next. The batch may be moved from. REQUIRES: Valid()
  virtual WriteBatch* batch() = 0;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_UPDATES_H_
