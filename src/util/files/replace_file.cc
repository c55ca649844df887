#include "src/util/files/replace_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

#include "src/util/check/check.h"
#include "src/util/files/posix_file.h"

namespace miodb {

namespace {

// A manifest of a million table files has half of it.
constexpr uint64_t kMostSmallFile = uint64_t{256} << 20;

// The file is synced before it is closed, so that the rename to come never gives the name to a file without its
// content.
Status WriteWhole(Env* env, const std::string& path, const Slice& content, Synced synced) {
  WritableFile* opened = nullptr;
  Status s = env->NewWritableFile(path, &opened);
  if (!s.ok()) return s;
  const std::unique_ptr<WritableFile> file(opened);
  s = file->Append(content);
  if (s.ok() && synced == Synced::kYes) s = file->Sync();
  return s.ok() ? file->Close() : s;
}

// If root replaces the file of another user, the file stays that user's. The change of owner goes through the open
// descriptor, and only if this is the file that was made just now, because somebody may make the name lead elsewhere
// meanwhile. If owner or mode cannot be kept, they are those of a new file.
void KeepOwner(const std::string& replaced, const std::string& fresh) {
  struct stat old, made;
  const Descriptor fd(OpenFile(fresh, O_RDONLY | O_NOFOLLOW | kDontWait));
  if (::stat(replaced.c_str(), &old) != 0 || !fd.valid() || ::fstat(fd.get(), &made) != 0 || !S_ISREG(made.st_mode) ||
      made.st_nlink != 1 || made.st_uid != ::geteuid()) {
    return;
  }
  if (::fchown(fd.get(), old.st_uid, old.st_gid) != 0 && ::fchown(fd.get(), -1, old.st_gid) != 0) errno = 0;
  if (::fchmod(fd.get(), old.st_mode & 0777) != 0) errno = 0;
}

}  // namespace

// Whole under another name, then the rename: a crash leaves the old file or the new one, and perhaps the unfinished
// one, which the next call removes. The rename itself is durable once the folder is synced; callers that need to know
// that sync it.
Status ReplaceFile(Env* env, const std::string& path, const Slice& content, Synced synced) {
  CHECK(env != nullptr && !path.empty());
  const std::string unfinished = path + ".tmp";
  // A file of this name is left of an attempt that was cut off, and goes: were it a link, the content would go
  // elsewhere.
  env->RemoveFile(unfinished).IgnoreError();
  Status s = WriteWhole(env, unfinished, content, synced);
  if (s.ok()) KeepOwner(path, unfinished);
  if (s.ok()) s = env->RenameFile(unfinished, path);
  if (!s.ok()) env->RemoveFile(unfinished).IgnoreError();
  return s;
}

// A limit, because the file is read into memory before its checksum can be looked at, and a damaged or foreign file
// may have any length.
Status ReadSmallFile(Env* env, const std::string& path, std::string* content) {
  uint64_t bytes = 0;
  Status s = env->GetFileSize(path, &bytes);
  if (!s.ok()) return s;
  if (bytes <= kMostSmallFile) return ReadFileToString(env, path, content);
  return Status::Corruption(path, "has " + std::to_string(bytes) + " bytes, more than such a file ever has");
}

// For a file that a process wrote which may have died before it synced: what this process has read of it must not be
// gone after loss of power. An Env that cannot append has files of its own rules, and is believed.
Status SyncExistingFile(Env* env, const std::string& path) {
  CHECK(env != nullptr && !path.empty());
  WritableFile* opened = nullptr;
  Status s = env->NewAppendableFile(path, &opened);
  if (s.IsNotSupportedError()) return Status::OK();
  const std::unique_ptr<WritableFile> file(opened);
  return s.ok() ? file->Sync() : s;
}

}  // namespace miodb
