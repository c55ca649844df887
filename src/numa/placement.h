// Where a database's memory and threads are to be: Options::dram_node, nvm_node and nvm_next_node, checked against the
// machine.
//
// Persistent memory is bound strictly: what its nodes cannot give is NoSpace, never memory of another node. DRAM and
// threads are placed for speed: memtables are bound, other DRAM comes from dram_node as long as it has some.

#ifndef MIODB_SRC_NUMA_PLACEMENT_H_
#define MIODB_SRC_NUMA_PLACEMENT_H_

#include <vector>

#include "miodb/options.h"
#include "miodb/status.h"
#include "src/numa/numa.h"

namespace miodb {

// The nodes of one region. next_node takes what node has no more room for.
struct RegionNodes {
  int node = kAnyNode;
  int next_node = kAnyNode;

  bool bound() const { return node != kAnyNode; }
};

struct Placement {
  int dram_node = kAnyNode;
  std::vector<int> cpus;  // for background threads; empty: any
  RegionNodes nvm;

  // Whether an option names a node. If none does, a default Placement is what Make would make.
  static bool IsAskedFor(const Options& options);

  // Checks the nodes that the options name. InvalidArgument names the option, the reason and the nodes there are.
  static Status Make(const Options& options, const NumaTopology& topology, Placement* placement);
};

}  // namespace miodb

#endif  // MIODB_SRC_NUMA_PLACEMENT_H_
