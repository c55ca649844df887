#include "src/numa/placement.h"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include "src/util/check/check.h"
#include "src/util/files/page.h"

// Options about nodes, checked against this machine before anything is bound.

namespace miodb {

namespace {

// Whether the kernel lets this process bind memory at all: containers often do not.
Status TryToBind(const std::string& option, int node) {
  CHECK_GE(node, 0);
  void* const page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return Status::IOError("mmap", "no memory");
  Status s = BindMemory(page, kPageBytes, node, option);
  munmap(page, kPageBytes);
  return s;
}

// A node that exists and has memory may still be out of reach, so one page is bound for a try: an open fails with a
// reason here instead of with NoSpace in the middle of a load.
Status CheckNode(const std::string& name, int node, const NumaTopology& topology) {
  if (node == kAnyNode) return Status::OK();
  const std::string option = "Options::" + name;
  Status s = topology.CheckMemory(option, node);
  return s.ok() ? TryToBind(option, node) : s;
}

}  // namespace

// Systems without NUMA, or without /sys, never come to Make: nothing there is looked at unless an option names a node.
bool Placement::IsAskedFor(const Options& options) {
  const auto names_node = [](const NvmRegion& region) { return region.node != kAnyNode; };
  return options.dram_node != kAnyNode || options.nvm_node != kAnyNode || options.nvm_next_node != kAnyNode ||
         std::any_of(options.nvm_regions.begin(), options.nvm_regions.end(), names_node);
}

// Everything is checked before anything is changed, so that a database whose placement cannot be had leaves no
// half-bound memory behind.
Status Placement::Make(const Options& options, const NumaTopology& topology, Placement* placement) {
  CHECK(placement != nullptr);
  if (options.nvm_next_node != kAnyNode && options.nvm_node == kAnyNode) {
    return Status::InvalidArgument("Options::nvm_next_node is " + std::to_string(options.nvm_next_node),
                                   "it follows nvm_node, which is -1");
  }
  if (options.nvm_next_node != kAnyNode && options.nvm_next_node == options.nvm_node) {
    return Status::InvalidArgument("Options::nvm_next_node is " + std::to_string(options.nvm_next_node),
                                   "nvm_node is the same");
  }
  Status s = CheckNode("dram_node", options.dram_node, topology);
  if (s.ok()) s = CheckNode("nvm_node", options.nvm_node, topology);
  if (s.ok()) s = CheckNode("nvm_next_node", options.nvm_next_node, topology);
  for (size_t i = 0; s.ok() && i < options.nvm_regions.size(); i++) {
    s = CheckNode("nvm_regions[" + std::to_string(i) + "].node", options.nvm_regions[i].node, topology);
  }
  if (!s.ok()) return s;
  placement->dram_node = options.dram_node;
  placement->nvm = {options.nvm_node, options.nvm_next_node};
  placement->cpus.clear();
  if (options.dram_node == kAnyNode) return s;
  // Threads go where memtables are; a node of memory alone has none, and then the nearest node's do.
  placement->cpus = topology.CpusNear(options.dram_node);
  if (placement->cpus.empty()) {
    return Status::InvalidArgument("Options::dram_node is " + std::to_string(options.dram_node),
                                   "this process may run on no CPU of any NUMA node; there is " + topology.Describe());
  }
  return s;
}

}  // namespace miodb
