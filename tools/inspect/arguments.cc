#include "tools/inspect/arguments.h"

#include <sys/stat.h>

#include <cstdio>

#include "miodb/env.h"
#include "miodb/options.h"
#include "src/db/file_names.h"
#include "src/db/region_places.h"
#include "src/inspect/verify.h"
#include "src/util/posix_file.h"

namespace miodb {

bool OpenImage(const char* program, const std::string& path, const std::vector<std::string>& regions,
               std::unique_ptr<PoolImage>* image, ExitCode* code) {
  struct stat st;
  const bool is_directory = stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
  const std::string pool = is_directory ? path + "/pool" : path;
  Options options;
  for (const std::string& region : regions) {
    options.nvm_regions.emplace_back();
    options.nvm_regions.back().path = region;
  }
  Status s = PoolImage::Open(pool, image, PlacesOfRegions(options, is_directory ? path : DirectoryOf(pool)));
  *code = kExitCannotRun;
  if (s.IsNotFound() && is_directory && Env::Default()->FileExists(SsdManifestPath(path))) {
    s = Status::NotSupported(path,
                             "the pool is volatile memory: what there is are log files, and the table files that " +
                                 SsdManifestPath(path) + " names");
  }
  if (s.ok()) {
    s = CheckReadable(**image);
    if (s.IsCorruption()) *code = kExitDamage;
  }
  if (!s.ok()) fprintf(stderr, "%s: %s\n", program, s.ToString().c_str());
  return s.ok();
}

}  // namespace miodb
