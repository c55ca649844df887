#include "src/db/region_places.h"

#include <sstream>

#include "miodb/env.h"
#include "src/db/file_names.h"
#include "src/format/region_table.h"
#include "src/util/posix_file.h"
#include "src/util/replace_file.h"

namespace miodb {

namespace {

constexpr size_t kUuidDigits = 2 * kUuidBytes;

// What REGIONS says. Lines that are no such thing are left out.
std::vector<std::string> RememberedPaths(Env* env, const std::string& name) {
  std::vector<std::string> paths;
  std::string text;
  if (!env->FileExists(RegionsPath(name)) || !ReadSmallFile(env, RegionsPath(name), &text).ok()) return paths;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > kUuidDigits + 1 && line[kUuidDigits] == ' ') paths.push_back(line.substr(kUuidDigits + 1));
  }
  return paths;
}

}  // namespace

RegionPlaces PlacesOfRegions(const Options& options, const std::string& name) {
  RegionPlaces places;
  for (const NvmRegion& region : options.nvm_regions) places.AddNeighbourhood(region.path);
  for (const std::string& path : RememberedPaths(options.env, name)) places.AddNeighbourhood(path);
  places.AddFolder(DirectoryOf(PoolPath(options, name)));
  for (const std::string& folder : options.nvm_region_search) places.AddFolder(folder);
  return places;
}

std::vector<Pool::RegionOptions> RegionsOf(const Options& options) {
  std::vector<Pool::RegionOptions> regions;
  for (const NvmRegion& region : options.nvm_regions) {
    regions.push_back({region.path, region.limit, RegionNodes{region.node, kAnyNode}});
  }
  return regions;
}

Status RememberRegions(Env* env, const std::string& name, const Pool& pool) {
  std::string text;
  for (int i = 1; i < pool.regions().count(); i++) {
    const RegionSet::Member& m = pool.regions().at(i);
    text += UuidText(m.uuid) + " " + m.region->path() + "\n";
  }
  const std::string file = RegionsPath(name);
  std::string now;
  const bool exists = env->FileExists(file);
  if (exists && !ReadSmallFile(env, file, &now).ok()) now.clear();
  if (now == text && (exists || text.empty())) return Status::OK();
  return ReplaceFile(env, file, text);
}

}  // namespace miodb
