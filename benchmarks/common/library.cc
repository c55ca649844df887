#include "benchmarks/common/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include <filesystem>
#include <system_error>

namespace miodb::bench {

namespace {

std::string ResolvedPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

std::string PeersFolder() { return std::filesystem::path(ResolvedPath("/proc/self/exe")).parent_path() / "peers"; }

}  // namespace

Outcome Library::Load(const std::string& file, std::span<const std::string> names, const std::string& package) {
  std::vector<std::string> candidates;
  if (!file.empty()) {
    candidates = {file};
  } else {
    const std::string folder = PeersFolder();
    for (const std::string& name : names) {
      std::error_code ignored;
      if (std::filesystem::exists(folder + "/" + name, ignored)) candidates.push_back(folder + "/" + name);
    }
    candidates.insert(candidates.end(), names.begin(), names.end());
  }
  std::string reason;
  for (const std::string& name : candidates) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) break;
    if (reason.empty()) reason = dlerror();
  }
  if (handle_ == nullptr) {
    return Outcome{Code::kNotFound, (file.empty() ? "" : file + ": ") + reason + "; install the library (Debian: " +
                                        package + "), or say where it is with --library=PATH"};
  }
  const link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) path_ = ResolvedPath(map->l_name);
  return {};
}

Outcome Library::Complete() const {
  if (missing_.empty()) return {};
  return Outcome::Error(path_ + " has no function " + missing_ + "; another version of it is wanted");
}

void* Library::Address(const std::string& name) const { return dlsym(handle_, name.c_str()); }

std::string Library::VersionInName() const {
  const size_t at = path_.rfind(".so.");
  const std::string version = at == std::string::npos ? "" : path_.substr(at + 4);
  return version.find_first_not_of("0123456789.") == std::string::npos ? version : "";
}

}  // namespace miodb::bench
