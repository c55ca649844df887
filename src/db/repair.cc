#include "miodb/db.h"

namespace miodb {

Status RepairDB(const std::string& name, const Options& options) {
  (void)options;
  return Status::NotSupported(name, "repair is not built yet");
}

}  // namespace miodb
