// EXPERIMENTAL: which region of a pool an allocation takes its space from.
//
// A pool has its own file and Options::nvm_regions, which may lie on different media. A policy is asked for each piece
// of space and proposes an order in which the regions are tried. The database tries them in this order, and then those
// that the policy left out, first to last. So a policy never makes a write fail while there is room. The
// database ignores numbers that no region has, and repeated numbers. A policy that throws counts as one that proposes
// nothing. If a region has no free run of the size and its file cannot grow, the next region is tried.
//
// Placement says where space is taken, and nothing else. The pool is the same with any policy, so each open may have
// another one, and no crash depends on it. Data that is in the pool stays where it is until a merge or a collection
// writes it anew.
//
// Pieces that no policy is asked about: all, while the pool has one region. Filters lie in DRAM, outside of the pool.
//
//   class LogBehind final : public miodb::PlacementPolicy {
//     const char* Name() const override { return "log behind"; }
//     void Order(const miodb::PlacementRequest& request, const std::vector<miodb::PlacementRegion>& regions,
//                std::vector<int>* order) const override {
//       if (request.purpose != miodb::PlacementPurpose::kLogChunk) return;
//       for (int i = static_cast<int>(regions.size()) - 1; i >= 0; i--) order->push_back(i);
//     }
//   };
//
// A policy of the program is registered. A policy of a shared library needs no change of the program: if
// Options::placement_policy is a path, the open loads the library and calls its function
//
//   extern "C" const miodb::PlacementPolicy* miodb_placement_policy_1();
//
// once. examples/placement_policy.cc is a whole one. This interface may change with any version, and the number in the
// function's name changes with it.

#ifndef MIODB_INCLUDE_PLACEMENT_POLICY_H_
#define MIODB_INCLUDE_PLACEMENT_POLICY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "miodb/export.h"
#include "miodb/status.h"

namespace miodb {

enum class PlacementPurpose : uint8_t {
  kManifest,  // which tables and chunks there are; few bytes, written by each flush and merge
  kIndex,     // of a table: read by gets whose filter says yes, and by iterators
  kLogChunk,  // records as they are written; after the flush the records of the new table, until a merge copies them
  kPayload,   // records that a merge or a collection copies, in key order
};

// The level of the repository. Levels of the buffer are smaller, and 0 is the newest.
constexpr int kPlacementRepositoryLevel = 1000;

// A piece of space that is wanted.
struct PlacementRequest {
  PlacementPurpose purpose;
  int level;       // that the table or the records go to: the deeper, the older; 0 for the log and the manifest
  uint64_t bytes;  // the database may settle for less where space is short
};

// A region as it is, in bytes. Index 0 is the pool's own file, then come further regions in the order in which they
// were added. Regions without a limit on one file system each count all that the file system had.
struct PlacementRegion {
  uint64_t capacity;  // what its limit allows, or, without one, its file as it is and what the file system had last
  uint64_t free;      // of these
  int node;           // the NUMA node that was asked for; -1: none was
};

// Lifetime: as long as the process, also while it ends. An object that is never deleted has that.
//
// Threads: Order is called by any number of threads at a time, for any databases, writers among them. So Order is
// short, never blocks, and calls nothing of the library.
class MIODB_EXPORT PlacementPolicy {
 public:
  PlacementPolicy() = default;
  virtual ~PlacementPolicy() = default;
  PlacementPolicy(const PlacementPolicy&) = delete;
  PlacementPolicy& operator=(const PlacementPolicy&) = delete;

  // The name for Options::placement_policy. Without a slash.
  virtual const char* Name() const = 0;

  // Appends indexes of regions to *order, which is empty: those to be tried first. The regions' figures are of this
  // moment; other threads may take space before the database does.
  virtual void Order(const PlacementRequest& request, const std::vector<PlacementRegion>& regions,
                     std::vector<int>* order) const = 0;
};

// Makes a policy known to all later opens of this process. A policy that is known already stays so. InvalidArgument:
// the policy is null, or its name is empty, has a slash, or is that of another policy. Threads: any.
MIODB_EXPORT Status RegisterPlacementPolicy(const PlacementPolicy* policy);

// Names of all policies: "default", "hot-first", "spread", and those that were registered. Threads: any.
MIODB_EXPORT std::vector<std::string> PlacementPolicyNames();

}  // namespace miodb

#endif  // MIODB_INCLUDE_PLACEMENT_POLICY_H_
