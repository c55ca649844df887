// How long a value lives. A put may give its value a lifetime: when that is over the key is gone, as if it had been
// deleted, and what it took is free again some time later.
//
//   miodb::Options options;
//   options.lifetime_seconds = 24 * 3600;                  // every value lives a day,
//   options.lifetime_policy = &policy;                     // or what a policy says of each,
//   write_options.lifetime_seconds = 60;                   // or what a write says
//
// When it begins: at the write, by the date that the system's clock has then. The moment of expiry is stored with the
// value and stays what it is: options of later opens change it for nothing that is there. A value that was written
// without a lifetime never expires.
//
// Values of Put and of puts in batches have a lifetime. An operand of Merge has none: it counts as long as its key has
// it, and where the value below it has expired it counts alone, as if that had been deleted. Until then such operands
// are not folded into that value. A put over another one has its own lifetime and begins anew.
//
// Expiry is no removal as SingleDelete means it (db.h): a key whose value expired and that was put again has been put
// twice.
//
// A get asks the clock when it meets a value with a lifetime, MultiGet once for all its keys, an iterator when it is
// made or refreshed, and none shows what has expired then. Puts of one batch with the same lifetime expire at the same
// moment. A snapshot does not keep values beyond their lifetime. An iterator and a pinned slice keep what they show.
// DB::WriteIfUnchanged finds writes that have expired too; where some went unread since, a key of which there is
// nothing left counts as changed. Sizes of ranges and estimates count what has expired until it is dropped, and a trace
// has no lifetimes.
//
// Space: merges drop expired records as they drop deleted records. A table whose records have all expired goes as a
// whole, its records unread, within a moment of the database being open, unless it lies over older data of the same
// keys, which it hides until a merge takes both. So does a file of the SSD tier. CompactRange drops all that had
// expired when it was called and hides nothing; WaitForIdle does the same in the pool. Else, of tables in which other
// values live on, what has expired goes with merges, sooner or later.
//
// A clock that is set back shows values again that had expired, as far as they are still there; one that is set forward
// lets them expire early. Set it while nobody writes, if it must be.
//
// After a crash: a value and its expiry are one record, kept or lost together.
//
// Units: seconds; the moment of expiry has microseconds. Errors: a lifetime above kMostLifetimeSeconds is
// InvalidArgument. A value with a lifetime may be 8 bytes smaller than others at most.

#ifndef MIODB_INCLUDE_LIFETIME_H_
#define MIODB_INCLUDE_LIFETIME_H_

#include <cstdint>

#include "miodb/export.h"

namespace miodb {

class Slice;

// The longest lifetime, some 317 years.
constexpr uint64_t kMostLifetimeSeconds = 10000000000;

// For WriteOptions::lifetime_seconds: the values live for ever, whatever Options say.
constexpr uint64_t kNoLifetime = UINT64_MAX;

// Says of each put how long its value lives, for Options::lifetime_policy.
//
// Threads: any number of threads call at once, those that write. Ownership: it stays its maker's and must outlive the
// database. Slices live for the call. Nothing may be thrown.
class MIODB_EXPORT LifetimePolicy {
 public:
  virtual ~LifetimePolicy();

  // Seconds from now on; 0: the value never expires. key: as the user knows it, of whichever column family.
  virtual uint64_t LifetimeSeconds(const Slice& key, const Slice& value) const = 0;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_LIFETIME_H_
