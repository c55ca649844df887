// What a loss of power may leave of the files below a folder, by what the library has synced.
//
//   content   what the last fsync or fdatasync of the file covered; of what came later any sectors, and any length
//             between the two
//   a name    is there, renamed or gone as of the last fsync of its directory; what came later may be there or not,
//             one by one
//   mappings  of a shared mapping what msync covered, or, if the medium is persistent memory, every store
//
// Files are real ones; the calls of the library are watched (system_calls.h), so a program that uses this is linked
// with
// --wrap like one that makes calls fail.
//
// Threads: one, which also makes all calls that are watched.

#ifndef MIODB_TESTS_FAULTS_LOSSY_FILES_H_
#define MIODB_TESTS_FAULTS_LOSSY_FILES_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/common/random/random.h"
#include "tests/faults/system_calls.h"

namespace miodb::test {

class LossyFiles final : public FileWatch {
 public:
  // Everything by its path below the folder.
  struct Image {
    std::map<std::string, std::string> files;
    std::set<std::string> folders;

    // Makes the folder hold this and nothing else.
    void WriteTo(const std::string& folder) const;
    uint64_t Hash() const;
  };

  // What is in the folder is durable; calls are watched from now on, and those of an older object no longer.
  LossyFiles(const std::string& folder, bool stores_are_durable);
  ~LossyFiles() override;
  LossyFiles(const LossyFiles&) = delete;
  LossyFiles& operator=(const LossyFiles&) = delete;

  // Called before every call that matters. What the function does itself is not watched.
  void set_crash_point(std::function<void()> crash_point) { crash_point_ = std::move(crash_point); }

  // What a loss of power would leave now: nothing that is not durable, or if there is a random what that draws.
  Image Take(Random* random);

 private:
  using FileId = std::pair<dev_t, ino_t>;
  struct File {
    int fd = -1;  // keeps the system from giving the number to another file
    std::string durable;
    bool synced = false;   // once; before that not even the size of a mapping lasts
    bool mapped = false;   // once
    char* base = nullptr;  // of the mapping
    size_t size = 0;
  };
  struct Name {
    bool is_folder = false;
    FileId file;
    bool operator==(const Name& other) const { return is_folder == other.is_folder && file == other.file; }
  };
  using Names = std::map<std::string, Name>;

  void BeforeCall() override;
  void Synced(int fd) override;
  void Mapped(int fd, char* base, size_t size) override;
  void PagesSynced(char* at, size_t size) override;

  bool IsBelow(const std::string& path) const;
  Names NamesNow(const std::string& path);
  void TakeFolder(const std::string& path, const std::string& below, Random* random, Image* image);
  std::string Content(const File& file, Random* random) const;

  const std::string folder_;
  const bool stores_are_durable_;
  FileWatch* const outer_;
  std::function<void()> crash_point_;
  std::map<FileId, File> files_;
  std::map<std::string, Names> names_;  // what is durable, by the folder's path
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_FAULTS_LOSSY_FILES_H_
