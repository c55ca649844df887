// A program that calls functions of plugin_client.cc one after another, each on a database of its own: first those that
// are linked into it, then those of the libraries it is told to load.
//
//   plugin_host FOLDER [local|global LIBRARY=FUNCTION...]

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <string>

#ifdef FIRST
extern "C" int FIRST(const char* path);
#endif
#ifdef SECOND
extern "C" int SECOND(const char* path);
#endif

namespace {

bool Run(int (*function)(const char*), const std::string& path) {
  const int line = function(path.c_str());
  if (line != 0) std::printf("%s: wrong at line %d\n", path.c_str(), line);
  return line == 0;
}

bool RunLoaded(const std::string& folder, const std::string& what, int scope) {
  const std::string::size_type split = what.find('=');
  void* const library = dlopen(what.substr(0, split).c_str(), RTLD_NOW | scope);
  void* const found = library == nullptr ? nullptr : dlsym(library, what.c_str() + split + 1);
  if (found == nullptr) {
    std::printf("%s\n", dlerror());
    return false;
  }
  int (*function)(const char*) = nullptr;
  std::memcpy(&function, &found, sizeof(found));
  return Run(function, folder + "/" + what.substr(split + 1));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string folder = argv[1];
  bool fine = true;
#ifdef FIRST
  fine = fine && Run(FIRST, folder + "/first");
#endif
#ifdef SECOND
  fine = fine && Run(SECOND, folder + "/second");
#endif
  const int scope = argc > 2 && std::strcmp(argv[2], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
  for (int i = 3; i < argc; i++) fine = fine && RunLoaded(folder, argv[i], scope);
  return fine ? 0 : 1;
}
