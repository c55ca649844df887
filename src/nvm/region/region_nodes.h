// On which NUMA nodes the storage of a region lies: it is taken from the nodes that were asked for, or there is an
// error.
//
// The first node gives what it has room for, then the next one. A DAX file system's memory lies where its device is, so
// there it is only looked at, afterwards. All functions do nothing for regions whose nodes are not bound.
//
// Threads: any.

#ifndef MIODB_SRC_NVM_REGION_REGION_NODES_H_
#define MIODB_SRC_NVM_REGION_REGION_NODES_H_

#include <cstdint>
#include <string>

#include "miodb/status.h"
#include "src/numa/numa.h"
#include "src/numa/placement.h"
#include "src/nvm/region/region_file.h"

namespace miodb {

// InvalidArgument if the memory of this file cannot be bound to nodes.
Status CheckBindable(const RegionNodes& nodes, const RegionFile& file);

// Binds [at, at + size), where nothing is stored yet, to the first node that has room for it; *node is kAnyNode if that
// is nobody's to choose. NoSpace if none has.
Status BindStorage(const RegionNodes& nodes, const RegionFile& file, char* at, uint64_t size, int* node);

// Bytes that the nodes could still give to the file. UINT64_MAX if the file does not take it from them.
uint64_t AvailableOn(const RegionNodes& nodes, const RegionFile& file);

// "NUMA node 2 has 4096 bytes available", for errors; "" if the nodes are not bound.
std::string DescribeNodes(const RegionNodes& nodes, const RegionFile& file);

// InvalidArgument, naming the path, if a page of the sample lies elsewhere, or if it has none.
Status CheckSample(const RegionNodes& nodes, const std::string& path, const PageSample& sample);

}  // namespace miodb

#endif  // MIODB_SRC_NVM_REGION_REGION_NODES_H_
