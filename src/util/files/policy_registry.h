// Policies by name: those of the library, those that a program has registered, and those of shared libraries, which are
// known by their paths. merge_policy.h and placement_policy.h are two kinds of policies.
//
// Threads: any. Lifetime: a registry is never destroyed, so that a thread of a database may ask while the process ends.

#ifndef MIODB_SRC_UTIL_FILES_POLICY_REGISTRY_H_
#define MIODB_SRC_UTIL_FILES_POLICY_REGISTRY_H_

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "miodb/status.h"
#include "src/util/check/check.h"

namespace miodb {

// The words of one kind of policies.
struct PolicyWords {
  const char* kind;      // as errors name one
  const char* option;    // of Options, which has its name
  const char* function;  // of a library, which returns its policy
};

// Whether the name is the path of a library.
bool IsLibraryPath(const std::string& name);

// Loads the library, which stays loaded unless it has no such function. InvalidArgument: there is none.
Status LoadPolicyFunction(const PolicyWords& words, const std::string& library, void** function);

// InvalidArgument, by its reason.
Status NoSuchPolicy(const PolicyWords& words, const std::string& name, const std::vector<std::string>& known);
Status NullPolicy(const PolicyWords& words, const std::string& library);

// A policy has a function Name.
template <typename Policy>
class PolicyRegistry {
 public:
  // own: the policies of the library, the default first.
  PolicyRegistry(const PolicyWords& words, std::vector<const Policy*> own) : words_(words), policies_(std::move(own)) {
    CHECK(!policies_.empty());
  }
  PolicyRegistry(const PolicyRegistry&) = delete;
  PolicyRegistry& operator=(const PolicyRegistry&) = delete;

  // Makes the policy known. InvalidArgument: the policy is null, or its name is empty, has a slash, or is another's.
  Status Add(const Policy* policy) {
    const std::string kind = words_.kind;
    if (policy == nullptr) return Status::InvalidArgument("a " + kind, "must not be null");
    const std::string name = policy->Name();
    if (name.empty()) return Status::InvalidArgument("a " + kind, "has an empty name");
    if (IsLibraryPath(name)) return Status::InvalidArgument(kind + " " + name, "has a slash in its name");
    const std::lock_guard<std::mutex> lock(mutex_);
    const Policy* const known = OfName(name);
    if (known != nullptr && known != policy) {
      return Status::InvalidArgument(kind + " " + name, "another policy has this name");
    }
    if (known == nullptr) policies_.push_back(policy);
    return Status::OK();
  }

  // The policy of this name, or of the library with this path, which is loaded. InvalidArgument: there is none.
  Status Find(const std::string& name, const Policy** policy) {
    CHECK(policy != nullptr);
    *policy = nullptr;
    if (IsLibraryPath(name)) return Load(name, policy);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      *policy = OfName(name);
    }
    return *policy != nullptr ? Status::OK() : NoSuchPolicy(words_, name, Names());
  }

  // In the order of their registration.
  std::vector<std::string> Names() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::string> names;
    for (const Policy* policy : policies_) names.emplace_back(policy->Name());
    return names;
  }

 private:
  // A library is asked once, and stays loaded: nobody knows when the last database that uses its policy is gone.
  Status Load(const std::string& library, const Policy** policy) {
    const std::lock_guard<std::mutex> lock(loading_);
    const Policy*& of_library = of_libraries_[library];
    if (of_library == nullptr) {
      void* function = nullptr;
      Status s = LoadPolicyFunction(words_, library, &function);
      if (!s.ok()) return s;
      const Policy* const loaded = reinterpret_cast<const Policy* (*)()>(function)();
      s = loaded == nullptr ? NullPolicy(words_, library) : Add(loaded);
      if (!s.ok()) return s;
      of_library = loaded;
    }
    DCHECK(of_library != nullptr);
    *policy = of_library;
    return Status::OK();
  }

  const Policy* OfName(const std::string& name) const {
    for (const Policy* policy : policies_) {
      if (policy->Name() == name) return policy;
    }
    return nullptr;
  }

  const PolicyWords words_;
  mutable std::mutex mutex_;
  std::vector<const Policy*> policies_;

  std::mutex loading_;  // taken before the other: a library may register policies while it is loaded
  std::map<std::string, const Policy*> of_libraries_;
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_POLICY_REGISTRY_H_
