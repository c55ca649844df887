#include "tools/inspect/arguments.h"

#include <sys/stat.h>

#include <cstdio>

#include "src/inspect/verify.h"

namespace miodb {

bool OpenImage(const char* program, const std::string& path, std::unique_ptr<PoolImage>* image, ExitCode* code) {
  struct stat st;
  const bool is_directory = stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
  Status s = PoolImage::Open(is_directory ? path + "/pool" : path, image);
  *code = kExitCannotRun;
  if (s.ok()) {
    s = CheckReadable(**image);
    if (s.IsCorruption()) *code = kExitDamage;
  }
  if (!s.ok()) fprintf(stderr, "%s: %s\n", program, s.ToString().c_str());
  return s.ok();
}

}  // namespace miodb
