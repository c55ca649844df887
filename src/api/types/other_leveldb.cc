#include "src/api/types/other_leveldb.h"

#ifdef MIODB_AS_LEVELDB

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace miodb {

namespace {

// Options::Options(), which every LevelDB has, and whose address no program can take: an address of it is its own,
// never that of a jump in a program.
constexpr const char* kTheirs = "_ZN7leveldb7OptionsC1Ev";
// A name that no LevelDB but this one has.
constexpr const char* kOurs = "miodb_major_version";

// The first byte of the library or program that defines the address; nullptr if none does.
const void* ObjectOf(const void* address) {
  Dl_info info;
  return address != nullptr && ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// A loaded library or program; with an empty name the program and all that is loaded for everybody.
// Looks a library up among those that are loaded and loads none (RTLD_NOLOAD), so looking changes nothing. The handle
// keeps it from being unloaded meanwhile.
class Loaded {
 public:
  explicit Loaded(const char* name)
      : handle_(::dlopen(name[0] == '\0' ? nullptr : name, RTLD_LAZY | RTLD_NOLOAD | RTLD_LOCAL)) {}
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }

  const void* Find(const char* name) const { return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr; }

 private:
  void* const handle_;
};

// Names of the loaded libraries, in the order in which they were loaded. The names are copied out first, because dlopen
// must not be called from inside of the iteration, which holds the linker's lock.
std::vector<std::string> LoadedNames() {
  std::vector<std::string> names;
  ::dl_iterate_phdr(
      [](struct dl_phdr_info* info, size_t, void* arg) {
        static_cast<std::vector<std::string>*>(arg)->emplace_back(info->dlpi_name);
        return 0;
      },
      &names);
  return names;
}

// How often something was loaded.
// The linker counts by itself; comparing the count is all that most calls do.
unsigned long long Loads() {
  unsigned long long loads = 0;
  ::dl_iterate_phdr(
      [](struct dl_phdr_info* info, size_t, void* arg) {
        *static_cast<unsigned long long*>(arg) = info->dlpi_adds;
        return 1;
      },
      &loads);
  return loads;
}

// An address in another LevelDB that is loaded, or nullptr. Another copy of this library is none.
const void* FindOther(const void* ours) {
  for (const std::string& name : LoadedNames()) {
    const Loaded object(name.c_str());
    const void* const found = object.Find(kTheirs);
    if (found == nullptr || ObjectOf(found) == ours || ObjectOf(found) == ObjectOf(object.Find(kOurs))) continue;
    return found;
  }
  return nullptr;
}

// An address in another LevelDB whose names the linker takes for ours, or ours for its.
// A conflict needs both libraries in one scope of the dynamic linker. If our names cannot be found by a search that
// begins at the program, nor in this very library by its own path, nobody calls us by them, and another LevelDB is
// none of our business.
const void* FindConflict() {
  const void* const ours = ObjectOf(reinterpret_cast<const void*>(&Loads));
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void*>(&Loads), &info) == 0) return nullptr;
  const Loaded program("");
  const void* const global = ObjectOf(program.Find(kTheirs));
  // A program that has this library inside is named by its path, under which nothing is loaded.
  const Loaded self(info.dli_fname);
  if (ObjectOf(self.Find(kTheirs)) != ours && global != ours) return nullptr;  // our names are not to be seen
  const void* const other = FindOther(ours);
  const bool ours_is_first = ObjectOf(::dlsym(RTLD_DEFAULT, kTheirs)) == ours;
  return ours_is_first && global != ours ? nullptr : other;
}

[[gnu::constructor]] void CheckWhenLoaded() { CheckNoOtherLevelDB(); }

}  // namespace

void CheckNoOtherLevelDB() noexcept {
  // relaxed: two threads that both look find the same
  static std::atomic<unsigned long long> loads_seen{0};
  const unsigned long long loads = Loads();
  if (loads_seen.load(std::memory_order_relaxed) == loads) return;
  const void* other = nullptr;
  try {
    other = FindConflict();
  } catch (const std::exception&) {
    return;  // without memory for names; the next call looks again
  }
  loads_seen.store(loads, std::memory_order_relaxed);
  Dl_info info;
  if (other == nullptr || ::dladdr(other, &info) == 0) return;
  std::fprintf(
      stderr,
      "MioDB's libleveldb: %s has another LevelDB, whose functions have the same names, so that calls of one end "
      "in the other. Link one of them, or load each with dlopen and RTLD_LOCAL.\n",
      info.dli_fname);
  std::abort();
}

}  // namespace miodb

#endif  // MIODB_AS_LEVELDB
