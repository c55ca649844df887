// Finds the further regions of a pool by their uuids, wherever their files or devices are now.
//
// Threads: any.

#ifndef MIODB_SRC_NVM_REGION_REGION_FINDER_H_
#define MIODB_SRC_NVM_REGION_REGION_FINDER_H_

#include <string>
#include <vector>

#include "miodb/status.h"
#include "src/format/region_table.h"

namespace miodb {

// The content found at a path.
enum class RegionContent {
  kNothing,  // no such file
  kBlank,    // a device with nothing on it, or with a header that a crash cut off
  kRegion,   // a region of some pool
  kOther,    // anything else
};

// Looks at the first page of the file or DAX device. *header is set for a region. Fails if it cannot be read, or if it
// is a device in use.
Status LookAtRegion(const std::string& path, RegionContent* content, RegionHeader* header);

// Whether a region's file has bytes other than zero behind its header page: then somebody has stored in the region.
// Fails if the file cannot be read.
Status HoldsData(const std::string& path, bool* holds);

// Reads the first page of a file or DAX device, zeros for what a short file lacks. NotFound if there is none.
Status ReadFirstPage(const std::string& path, std::string* page);

// Reads the entries of a pool's header page. Corruption, naming the pool by path, where one is damaged; *entries has
// those before it. An entry that a crash cut off is not counted. The ranges of *entries ascend, overlap nowhere, and
// end at a reference that there can be, whoever wrote the page.
Status ReadRegionTable(const char* page, uint64_t pool_id, const std::string& path, std::vector<RegionEntry>* entries);

// Where regions may be. A path is believed before what is found in folders; of these the files and the DAX devices are
// looked at, not folders inside.
struct RegionPlaces {
  std::vector<std::string> paths;
  std::vector<std::string> folders;

  void AddFolder(const std::string& folder);

  // Adds the path, and the folder it lies in.
  void AddNeighbourhood(const std::string& path);
};

// Finds the region that the entry names. IOError, naming its uuid and every place, if it is nowhere; InvalidArgument if
// two files in the folders hold it.
Status FindRegion(const RegionPlaces& places, const uint8_t* pool_uuid, const RegionEntry& entry, std::string* path);

}  // namespace miodb

#endif  // MIODB_SRC_NVM_REGION_REGION_FINDER_H_
