#include "miodb/env.h"

#include <memory>

#include "src/util/check/no_throw.h"

// The default answers of Env and of the file interfaces for classes that derive from them, and two helpers over any
// Env.

namespace miodb {

// The interfaces' own answers. Destructors are here and not in the header, so that there is one vtable of each in the
// library, whatever a program derives.
Env::Env() = default;
Env::~Env() = default;
EnvWrapper::~EnvWrapper() = default;
SequentialFile::~SequentialFile() = default;
RandomAccessFile::~RandomAccessFile() = default;
RawFile RandomAccessFile::Raw() const { return {-1, 1}; }
WritableFile::~WritableFile() = default;
Status WritableFile::RangeSync(uint64_t, uint64_t) { return Sync(); }
Logger::~Logger() = default;
FileLock::~FileLock() = default;

// An Env that was written for an older interface has no such calls, and says so by these.
Status Env::NewAppendableFile(const std::string& fname, WritableFile** result) {
  *result = nullptr;
  return Status::NotSupported(fname, "this Env does not append to files");
}

Status Env::NewDirectRandomAccessFile(const std::string& fname, RandomAccessFile** result) {
  *result = nullptr;
  return Status::NotSupported(fname, "this Env has no direct I/O");
}

Status Env::NewDirectWritableFile(const std::string& fname, WritableFile** result) {
  *result = nullptr;
  return Status::NotSupported(fname, "this Env has no direct I/O");
}

// Old and new names lead to each other, so an Env written for either works with callers of both.
Status Env::RemoveFile(const std::string& fname) { return DeleteFile(fname); }
Status Env::DeleteFile(const std::string& fname) { return RemoveFile(fname); }
Status Env::RemoveDir(const std::string& dirname) { return DeleteDir(dirname); }
Status Env::DeleteDir(const std::string& dirname) { return RemoveDir(dirname); }

// The arguments are formatted by the logger, so a message costs nothing where there is none.
void Log(Logger* info_log, const char* format, ...) {
  if (info_log == nullptr) return;
  std::va_list ap;
  va_start(ap, format);
  info_log->Logv(format, ap);
  va_end(ap);
}

// For small files that nothing durable depends on; where a crash matters, ReplaceFile writes under another name and
// syncs.
Status WriteStringToFile(Env* env, const Slice& data, const std::string& fname) {
  WritableFile* opened;
  Status s = env->NewWritableFile(fname, &opened);
  if (!s.ok()) return s;
  std::unique_ptr<WritableFile> file(opened);
  s = file->Append(data);
  if (s.ok()) s = file->Close();
  // A part of a file would look like the file to whoever reads it next.
  file.reset();
  if (!s.ok()) env->RemoveFile(fname).IgnoreError();  // the first error is the one that counts
  return s;
}

// Reads until the file ends, whatever its length is said to be, so that pseudo-files with a length of 0 can be read as
// well.
Status ReadFileToString(Env* env, const std::string& fname, std::string* data) {
  data->clear();
  return NoThrow(fname, [&] {
    SequentialFile* opened;
    Status s = env->NewSequentialFile(fname, &opened);
    if (!s.ok()) return s;
    std::unique_ptr<SequentialFile> file(opened);
    constexpr size_t kPieceBytes = 64 * 1024;
    std::unique_ptr<char[]> scratch(new char[kPieceBytes]);
    while (true) {
      Slice piece;
      s = file->Read(kPieceBytes, &piece, scratch.get());
      if (!s.ok() || piece.empty()) return s;
      data->append(piece.data(), piece.size());  // of the scratch, or of the Env's own memory
    }
  });
}

}  // namespace miodb
