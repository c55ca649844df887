// The places of a database's parts: pool, regions, log folder, SSD tier.
//
// A part gets its place when it is made, and STORE has it (format/store_descriptor.h). An open that names another place
// is refused, whatever lies there. MoveStore is the one step that changes STORE, once the parts have been moved.
//
// Regions are known by their uuids as well: Options::nvm_region_search says where those may be that were moved.
//
// Threads: one call for a database at a time.

#ifndef MIODB_SRC_DB_STORE_PLACES_H_
#define MIODB_SRC_DB_STORE_PLACES_H_

#include <string>
#include <vector>

#include "miodb/env.h"
#include "miodb/options.h"
#include "miodb/status.h"
#include "src/format/owner_mark.h"
#include "src/format/store_descriptor.h"
#include "src/nvm/pool/pool.h"

namespace miodb {

// The message for a STORE by which nobody has written to the database yet.
inline constexpr char kMakingCutOff[] =
    "says that the database's making was cut off: nothing was written to it. Open it, which makes it anew, or remove "
    "the file";

// Whether the options name the places that STORE has. InvalidArgument names both of them, and the tool that moves.
// Parts that the options do not use, or that were never made, have no place to compare.
Status CheckPlaces(const Options& options, const std::string& name, const StoreDescriptor& store);

// Whether the name of a part leaves room for the names that a repair makes beside it. InvalidArgument names the option
// and the longest name.
Status CheckNameLength(const char* option, const std::string& path);

// The same for the parts that STORE does not name yet.
Status CheckNewNames(const Options& options, const std::string& name, const StoreDescriptor& store);

// InvalidArgument if a repair of the database was cut off before it gave the SSD tier its name.
Status CheckRepairedTier(const Options& options, uint64_t store_id);

// Whether the options name the places that STORE has for the regions of the open pool.
Status CheckRegionPlaces(const Options& options, const std::string& name, const StoreDescriptor& store,
                         const Pool& pool);

// Whether the pool has every region that STORE names by a uuid. STORE gets a uuid only when the pool has the region
// durably, so InvalidArgument, naming the region, tells an older copy of the pool. REQUIRES: the regions of STORE are
// those of this pool, and not of a successor.
Status CheckPoolAge(const std::string& name, const StoreDescriptor& store, const Pool& pool);

// Whether a database whose directory was copied from one that is still there has its own copy of every part, as the
// paths of these parts tell; empty ones do not count. InvalidArgument names the part that both have.
Status CheckOriginal(Env* env, const std::string& name, const StoreDescriptor& store,
                     const std::vector<std::string>& parts);

// A log folder's mark and STORE state how many opens have had the log; an open writes the mark first, then STORE, then
// to the log. So a mark that is behind STORE is that of an older copy of the folder, and one that is more than one open
// ahead was seen by a newer STORE. InvalidArgument names the older of the two and what to put back.
Status CheckLogCopy(const std::string& name, const StoreDescriptor::Log& log, const std::string& folder,
                    const OwnerMark& owner);
Status OlderStore(const std::string& name, const StoreDescriptor::Log& log, const std::string& folder,
                  const OwnerMark& owner);

// Makes STORE name the places that the options name, for a database that nobody has open. The parts have to lie there,
// which their ids tell, and the pool must not be older than the table files. On failure STORE is as it was.
Status MoveStore(const std::string& name, const Options& options);

}  // namespace miodb

#endif  // MIODB_SRC_DB_STORE_PLACES_H_
