// Checks, before anything is written, for reasons that would keep a repair from being finished.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "src/db/offline/repairer.h"
#include "src/db/store/places.h"
#include "src/numa/file_system.h"
#include "src/nvm/pool/memory_env.h"
#include "src/nvm/region/region.h"
#include "src/util/check/check.h"
#include "src/util/files/posix_file.h"

namespace miodb {

namespace {

// A mount point cannot be exchanged for another directory.
bool IsMountPoint(const std::string& path) {
  struct stat inside, above;
  return ::stat(path.c_str(), &inside) == 0 && ::stat((path + "/..").c_str(), &above) == 0 &&
         inside.st_dev != above.st_dev;
}

// Free bytes in the file systems of these files, each file system counted once.
Status RoomBeside(const std::vector<std::string>& paths, uint64_t* bytes) {
  CHECK(!paths.empty());
  std::set<dev_t> counted;
  *bytes = 0;
  for (const std::string& path : paths) {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) return PosixError(path, errno);
    if (!counted.insert(info.st_dev).second) continue;
    FileSystemSize size;
    Status s = MeasureFileSystemOf(path, &size);
    if (!s.ok()) return s;
    *bytes += size.available;
  }
  return Status::OK();
}

}  // namespace

// Refuses databases that cannot be repaired, by their options. A repair of them would fail at the exchange, when all
// the work has been done.
Status Repairer::CheckKind() const {
  if (MemoryEnv::Of(env_) != nullptr) {
    return Status::NotSupported(pool_path_, "a pool in the memory of an Env cannot be repaired");
  }
  Status s = CheckNameLength("pool_path", pool_path_);
  if (s.ok()) s = CheckNameLength("ssd_path", options_.ssd_path);
  if (!s.ok()) return s;
  if (!options_.ssd_path.empty() && IsMountPoint(options_.ssd_path)) {
    return Status::NotSupported(options_.ssd_path,
                                "a repair puts another directory in its place, which a mount point does not allow");
  }
  if (!is_volatile() && Region::IsDevice(pool_path_)) {
    return Status::NotSupported(pool_path_,
                                "a repair needs a file: copy the device into one, and name that as pool_path");
  }
  return Status::OK();
}

// The repaired pool opens with all regions that the options name. So a region that the damaged pool does not lead to
// any more has to make room at its path. A file there that is not the pool's stays, and the repair does not begin.
Status Repairer::FindLostRegions() {
  CHECK(lost_regions_.empty());
  for (const NvmRegion& named : options_.nvm_regions) {
    const auto is_here = [&](const std::string& path) { return RealPath(path) == RealPath(named.path); };
    if (std::any_of(damaged_regions_.begin(), damaged_regions_.end(), is_here)) continue;
    RegionContent content;
    RegionHeader header;
    Status s = LookAtRegion(named.path, &content, &header);
    if (!s.ok()) return s;
    if (content == RegionContent::kNothing || content == RegionContent::kBlank) continue;
    const bool stored = std::any_of(store_.regions.begin(), store_.regions.end(),
                                    [&](const StoreDescriptor::Region& region) { return is_here(region.path); });
    const bool ours = content == RegionContent::kRegion ? SameUuid(header.pool_uuid, store_.pool.data()) : stored;
    if (!ours) {
      return Status::InvalidArgument(named.path,
                                     "nothing says that this is a region of the database's pool: give another path in "
                                     "Options::nvm_regions, or move it away");
    }
    if (Region::IsDevice(named.path)) {
      return Status::NotSupported(named.path,
                                  "the damaged pool does not lead to this region, and a device cannot be "
                                  "set aside: make its first page zero, or do not name it");
    }
    Report({named.path, "lost: the damaged pool does not lead to this region; it is set aside"});
    lost_regions_.push_back(named.path);
  }
  return Status::OK();
}

// Gives the damaged pool the second name that it has in the end (RegionFile::Replace), for a moment.
Status Repairer::CheckSecondName() const {
  const std::string kept = FreeDamagedPath(env_, pool_path_);
  Status s;
  if (::link(pool_path_.c_str(), kept.c_str()) != 0) {
    s = PosixError(kept, errno);
  } else if (::unlink(kept.c_str()) != 0) {
    s = PosixError(kept, errno);
  }
  if (s.ok()) return s;
  return Status::IOError(
      pool_path_, "cannot be repaired here, where it cannot be given a second name (a hard link): " + s.ToString() +
                      ". Copy the database to a file system that has hard links, as the user who "
                      "repairs it, and repair it there");
}

// The new pool lies beside the damaged one. The records are read an extra time for this only if room may be short.
Status Repairer::CheckRoom(const PoolImage& image, Salvage* salvage) const {
  CHECK(salvage != nullptr);
  if (!options_.ssd_path.empty()) return Status::OK();  // what does not fit is drained
  std::vector<std::string> paths = damaged_regions_;
  paths.push_back(pool_path_);
  uint64_t room = 0, most = 0;
  Status s = RoomBeside(paths, &room);
  if (!s.ok()) return s;
  const bool limited = options_.pool_size != 0 && options_.pool_size < room && damaged_regions_.empty();
  if (limited) room = options_.pool_size;
  for (const PoolImage::Range& range : image.DataRanges()) most += range.end - range.begin;
  if (room >= most) return s;
  const uint64_t needed = salvage->LiveBytes();
  if (room >= needed) return s;
  return Status::NoSpace(
      fresh_path_, "a repair writes a new pool here, of at least " + std::to_string(needed) + " bytes; " +
                       (limited ? "Options::pool_size is " + std::to_string(room) + ": give a larger one"
                                : std::to_string(room) + " are available: make room, or copy the database to where "
                                                         "there is some and repair it there"));
}

}  // namespace miodb
