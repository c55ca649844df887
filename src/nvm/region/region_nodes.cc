// Binding and asking: the nodes' figures are those of the kernel at this moment, so every call reads them anew.

#include "src/nvm/region/region_nodes.h"

#include <cstdint>

#include "src/format/superblock.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// DAX decides by itself where memory lies.
bool IsDax(const RegionFile& file) { return file.kind() == RegionKind::kFsdax || file.kind() == RegionKind::kDevdax; }

// Huge pages are a store of their own, which the node's free memory does not count.
uint64_t AvailableOnOne(const NumaTopology& topology, const RegionFile& file, int node) {
  DCHECK_NE(node, kAnyNode);
  DCHECK_GT(file.granularity(), 0u);
  return file.kind() == RegionKind::kHugetlbfs ? topology.AvailableHugePages(node, file.granularity())
                                               : topology.AvailableBytes(node);
}

}  // namespace

// Pages of a file on a disk are the page cache's, which serves other files as well and is bound to no node.
Status CheckBindable(const RegionNodes& nodes, const RegionFile& file) {
  if (!nodes.bound() || file.kind() != RegionKind::kOtherFile) return Status::OK();
  return Status::InvalidArgument(
      file.path(),
      "memory of this file system cannot be bound to NUMA node " + std::to_string(nodes.node) +
          " (nvm_node): it lies in the page cache. Use a tmpfs, or a DAX file system on a device of that node");
}

// A piece is bound to one node as a whole, the first that has all of it: a policy that spills over page by page would
// leave nobody knowing where a piece lies. Room on a node is no promise; the pages are looked at afterwards.
Status BindStorage(const RegionNodes& nodes, const RegionFile& file, char* at, uint64_t size, int* node) {
  CHECK_GT(size, 0u);
  CHECK_EQ(reinterpret_cast<uintptr_t>(at) % kExtentUnit, 0u);
  *node = kAnyNode;
  if (!nodes.bound() || IsDax(file)) return Status::OK();
  // The first node, and the second if it has one.
  const NumaTopology topology;
  for (const int candidate : {nodes.node, nodes.next_node}) {
    if (candidate == kAnyNode || AvailableOnOne(topology, file, candidate) < size) continue;
    *node = candidate;
    return BindMemory(at, size, candidate);
  }
  return Status::NoSpace(file.path(),
                         "cannot grow by " + std::to_string(size) + " bytes: " + DescribeNodes(nodes, file));
}

// The sum of both nodes, for a file takes from the second node the memory that the first does not have.
uint64_t AvailableOn(const RegionNodes& nodes, const RegionFile& file) {
  if (!nodes.bound() || file.kind() == RegionKind::kFsdax) return UINT64_MAX;
  const NumaTopology topology;
  uint64_t bytes = AvailableOnOne(topology, file, nodes.node);
  if (nodes.next_node != kAnyNode) bytes += AvailableOnOne(topology, file, nodes.next_node);
  return bytes;
}

// For the text of an error: what each node has, at the moment in which it is asked.
std::string DescribeNodes(const RegionNodes& nodes, const RegionFile& file) {
  std::string text;
  if (!nodes.bound()) return text;
  const NumaTopology topology;
  for (const int node : {nodes.node, nodes.next_node}) {
    if (node == kAnyNode) continue;
    text += (text.empty() ? "" : ", ") + std::string("NUMA node ") + std::to_string(node) + " has " +
            std::to_string(AvailableOnOne(topology, file, node)) + " bytes available";
  }
  return text;
}

// A sample without a page is no proof: the kernel would not say, or there was nothing to look at.
Status CheckSample(const RegionNodes& nodes, const std::string& path, const PageSample& sample) {
  if (!nodes.bound()) return Status::OK();
  if (sample.looked_at > 0 && sample.Elsewhere(nodes.node, nodes.next_node) == 0) return Status::OK();
  std::string asked = "nvm_node is " + std::to_string(nodes.node);
  if (nodes.next_node != kAnyNode) asked += ", nvm_next_node " + std::to_string(nodes.next_node);
  return Status::InvalidArgument(path, asked + ", but its memory lies on " + sample.Describe());
}

}  // namespace miodb
