#include "src/util/replace_file.h"

#include <memory>

namespace miodb {

namespace {

Status WriteWhole(Env* env, const std::string& path, const Slice& content, Synced synced) {
  WritableFile* opened = nullptr;
  Status s = env->NewWritableFile(path, &opened);
  if (!s.ok()) return s;
  const std::unique_ptr<WritableFile> file(opened);
  s = file->Append(content);
  if (s.ok() && synced == Synced::kYes) s = file->Sync();
  return s.ok() ? file->Close() : s;
}

}  // namespace

Status ReplaceFile(Env* env, const std::string& path, const Slice& content, Synced synced) {
  const std::string unfinished = path + ".tmp";
  Status s = WriteWhole(env, unfinished, content, synced);
  if (s.ok()) s = env->RenameFile(unfinished, path);
  if (!s.ok()) env->RemoveFile(unfinished).IgnoreError();
  return s;
}

Status SyncExistingFile(Env* env, const std::string& path) {
  WritableFile* opened = nullptr;
  Status s = env->NewAppendableFile(path, &opened);
  if (s.IsNotSupportedError()) return Status::OK();
  const std::unique_ptr<WritableFile> file(opened);
  return s.ok() ? file->Sync() : s;
}

}  // namespace miodb
