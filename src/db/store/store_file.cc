// Reading and replacing STORE.

#include "src/db/store/store_file.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "src/format/file_names.h"
#include "src/util/check/mutation.h"
#include "src/util/files/replace_file.h"
#include "src/util/files/system_random.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

namespace {

// In the file one byte that no path has stands for the name of the database directory.
constexpr char kDirectoryMark = '\0';

// The names in a path; empty ones and "." stand for no step.
std::vector<std::string> NamesOf(const std::string& path) {
  std::vector<std::string> names;
  for (size_t begin = 0, end; begin < path.size(); begin = end + 1) {
    end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (!name.empty() && name != ".") names.push_back(name);
  }
  return names;
}

// All that a move of the database directory would make wrong.
template <typename Call>
void ForEachPath(StoreDescriptor* store, Call call) {
  for (std::string* path : {&store->pool_path, &store->log.wal_dir, &store->ssd_path}) call(path);
  for (StoreDescriptor::Region& region : store->regions) call(&region.path);
}

}  // namespace

// The file is bounded (ReadSmallFile), so a large or endless file in its place costs no memory. Whether the file exists
// is found out by opening it, because Env::FileExists also says no if the file cannot be looked at.
Status ReadStore(Env* env, const std::string& name, StoreDescriptor* store) {
  *store = StoreDescriptor();
  const std::string path = StorePath(name);
  std::string content;
  Status s = ReadSmallFile(env, path, &content);
  VersionEdit state;
  if (s.ok() && !(store->DecodeFrom(content) && state.DecodeSsdState(store->ssd_state))) {
    s = Status::Corruption(path,
                           "does not say which parts the database has, or in another version's form; RepairDB "
                           "makes it anew");
  }
  ForEachPath(store, [&](std::string* place) {
    if (!place->empty() && place->front() == kDirectoryMark) place->replace(0, 1, name);
  });
  return s;
}

// The file is replaced as a whole and synced, then its folder: a crash leaves the old descriptor or the new one.
Status WriteStore(Env* env, const std::string& name, const StoreDescriptor& store, Status* in_doubt) {
  StoreDescriptor in_file = store;
  ForEachPath(&in_file, [&](std::string* place) {
    const std::optional<std::string> below = PathBelow(name, *place);
    if (below.has_value()) *place = std::string(1, kDirectoryMark) + "/" + *below;
  });
  Status s = ReplaceFile(env, StorePath(name), in_file.Encode());
  if (!s.ok()) return s;
  s = SyncStore(env, name);
  if (in_doubt != nullptr) *in_doubt = s;
  return s;
}

Status SyncStore(Env* env, const std::string& name) {
  return MIODB_MUTATED(kLogFolderUnsynced) ? Status::OK() : SyncExistingFile(env, StorePath(name));
}

// By names alone: neither path need exist. A path that goes up again ("..") may lead anywhere, and is below nothing.
std::optional<std::string> PathBelow(const std::string& folder, const std::string& path) {
  const std::vector<std::string> above = NamesOf(folder), names = NamesOf(path);
  if (path.starts_with('/') != folder.starts_with('/') || names.size() <= above.size() ||
      !std::equal(above.begin(), above.end(), names.begin())) {
    return std::nullopt;
  }
  std::string below;
  for (size_t i = above.size(); i < names.size(); i++) {
    if (names[i] == "..") return std::nullopt;
    below += (below.empty() ? "" : "/") + names[i];
  }
  return below;
}

// Where a path cannot be resolved, because a part of it is missing or there is no memory, its names stand for it.
std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  if (real != nullptr) return real.get();
  std::string names;
  for (const std::string& name : NamesOf(path)) names += (names.empty() && !path.starts_with('/') ? "" : "/") + name;
  return names;
}

// An id is random, so that no two databases ever have the same without one being a copy.
uint64_t NewId() { return SystemRandom64(); }

// 128 random bits: two pools have the same uuid only if one is a copy of the other.
Uuid NewUuid() {
  const uint64_t random[] = {NewId(), NewId()};
  static_assert(sizeof(random) == kUuidBytes);
  return MakeUuid(reinterpret_cast<const uint8_t*>(random));
}

}  // namespace miodb
