// A shared library that is loaded when a program asks for it, so that any version and any fork of a store serves, and a
// program that does not ask needs none.
//
// Where no file is named, the library is looked for in the folder peers/ beside the program, and then where the system
// has its libraries.
//
// Threads: any, after Load. Ownership: a library stays loaded until the process ends.

#ifndef MIODB_BENCHMARKS_COMMON_LIBRARY_H_
#define MIODB_BENCHMARKS_COMMON_LIBRARY_H_

#include <span>
#include <string>
#include <vector>

#include "benchmarks/common/outcome.h"

namespace miodb::bench {

class Library {
 public:
  // Loads the file, or, if that is empty, the first of these names that is there. kNotFound: there is none; the message
  // has the loader's reason, and the package of Debian that has the library.
  Outcome Load(const std::string& file, std::span<const std::string> names, const std::string& package);

  // Stores where a function is, or nullptr.
  template <typename Function>
  bool Find(const std::string& name, Function* function) const {
    *function = reinterpret_cast<Function>(Address(name));
    return *function != nullptr;
  }

  // The same for a function that cannot be done without: the first that is missing is remembered.
  template <typename Function>
  void Need(const std::string& name, Function* function) {
    if (!Find(name, function) && missing_.empty()) missing_ = name;
  }

  // An error names the first missing function of Need.
  Outcome Complete() const;

  // The file that was loaded, all links followed.
  const std::string& path() const { return path_; }

  // The numbers in the name of the file, as in librocksdb.so.7.8.3; empty: there are none.
  std::string VersionInName() const;

 private:
  void* Address(const std::string& name) const;

  void* handle_ = nullptr;
  std::string path_;
  std::string missing_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_LIBRARY_H_
