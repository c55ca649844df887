// Loading a library, and the errors of all kinds of policies.

#include "src/util/files/policy_registry.h"

#include <dlfcn.h>

namespace miodb {

namespace {

std::string Named(const PolicyWords& words, const std::string& name) {
  CHECK(words.option != nullptr);
  return "Options::" + std::string(words.option) + " is \"" + name + "\"";
}

}  // namespace

bool IsLibraryPath(const std::string& name) { return name.find('/') != std::string::npos; }

Status LoadPolicyFunction(const PolicyWords& words, const std::string& library, void** function) {
  CHECK(IsLibraryPath(library) && *function == nullptr);
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Status::InvalidArgument(Named(words, library), dlerror());
  *function = dlsym(handle, words.function);
  if (*function != nullptr) return Status::OK();
  dlclose(handle);
  return Status::InvalidArgument(Named(words, library), std::string("it has no function ") + words.function);
}

Status NoSuchPolicy(const PolicyWords& words, const std::string& name, const std::vector<std::string>& known) {
  CHECK(!known.empty());
  std::string names;
  for (const std::string& policy : known) names += policy + ", ";
  return Status::InvalidArgument(Named(words, name), "allowed: " + names + "or the path of a library");
}

Status NullPolicy(const PolicyWords& words, const std::string& library) {
  CHECK(IsLibraryPath(library));
  return Status::InvalidArgument(Named(words, library), std::string(words.function) + " returned null");
}

}  // namespace miodb
