// The operating system as the library sees it: files, locks, threads, time.
//
// The pool is the exception: it is mapped memory, which no Env can give. An Env of the user's is only asked whether the
// pool's file exists and whether one may be made; it has to lie where the system finds it under the same name, else
// Open returns NotSupported. Every other file goes through the Env, so that tests and embedding programs can watch,
// fake or redirect it. To change only some calls, derive from EnvWrapper.
//
// Threads: an Env and a Logger may be used by any number of threads at once, a RandomAccessFile too. A SequentialFile
// and a WritableFile belong to one thread at a time.
//
// Ownership: objects stored through a "result" pointer are the caller's to delete, and must be gone before the Env
// is. On failure *result is nullptr. An Env given to a database stays the caller's and must outlive it.
//
// Errors: NotFound if a file or directory that should exist does not, NotSupported if an Env cannot do it at all,
// IOError for the rest; the message begins with the file's name.
//
// Units: offsets and sizes are bytes, times microseconds.

#ifndef MIODB_INCLUDE_ENV_H_
#define MIODB_INCLUDE_ENV_H_

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "miodb/export.h"
#include "miodb/slice.h"
#include "miodb/status.h"

namespace miodb {

enum class FileAccess : int;  // miodb/options.h
class FileLock;
class Logger;
class RandomAccessFile;
class SequentialFile;
class WritableFile;

class MIODB_EXPORT Env {
 public:
  Env();

  Env(const Env&) = delete;
  Env& operator=(const Env&) = delete;

  virtual ~Env();

  // The Env of this operating system. Belongs to the library, lives until the process ends; do not delete it. What it
  // makes is its owner's alone: files have mode 0600 and folders 0700, whatever the umask; what exists keeps its mode.
  // It follows symbolic links (a database does not: Options::env).
  static Env* Default();

  // The same with another mode for what it makes. Default() is that with FileAccess::kOwner.
  static Env* WithAccess(FileAccess access);

  // ---- Files -----------------------------------------------------------------------------------------------------

  // Opens a file for reading from its start. NotFound if it does not exist.
  virtual Status NewSequentialFile(const std::string& fname, SequentialFile** result) = 0;

  // Opens a file for reading at any offset. NotFound if it does not exist.
  virtual Status NewRandomAccessFile(const std::string& fname, RandomAccessFile** result) = 0;

  // Opens an empty file for writing. A file that exists is cut to nothing.
  virtual Status NewWritableFile(const std::string& fname, WritableFile** result) = 0;

  // As NewRandomAccessFile and NewWritableFile, past the page cache of the system. NotSupported, which is the default,
  // where this Env or the file system cannot do it.
  virtual Status NewDirectRandomAccessFile(const std::string& fname, RandomAccessFile** result);
  virtual Status NewDirectWritableFile(const std::string& fname, WritableFile** result);

  // Opens a file for writing at its end; creates it if it does not exist. The default returns NotSupported, which
  // every caller must be prepared for.
  virtual Status NewAppendableFile(const std::string& fname, WritableFile** result);

  // Whether a file or directory of this name exists.
  virtual bool FileExists(const std::string& fname) = 0;

  // Stores in *result the names, without the path, of what is in the directory. May contain "." and "..".
  // What *result held before is gone.
  virtual Status GetChildren(const std::string& dir, std::vector<std::string>* result) = 0;

  // Removes a file. An Env overrides either this or DeleteFile: by default each calls the other.
  virtual Status RemoveFile(const std::string& fname);

  // DEPRECATED: the old name of RemoveFile. Override and call that one.
  virtual Status DeleteFile(const std::string& fname);

  // Creates a directory. Fails if it exists or if the one above it does not.
  virtual Status CreateDir(const std::string& dirname) = 0;

  // Removes an empty directory. An Env overrides either this or DeleteDir: by default each calls the other.
  virtual Status RemoveDir(const std::string& dirname);

  // DEPRECATED: the old name of RemoveDir. Override and call that one.
  virtual Status DeleteDir(const std::string& dirname);

  // Stores the size of a file in *file_size; 0 on failure.
  virtual Status GetFileSize(const std::string& fname, uint64_t* file_size) = 0;

  // Gives src the name target, in one atomic step. A file that has that name already is replaced.
  virtual Status RenameFile(const std::string& src, const std::string& target) = 0;

  // Locks a file, which is created if need be, against other processes and other callers in this one. Does not wait:
  // IOError if someone else holds it. The lock ends with UnlockFile or with the process.
  virtual Status LockFile(const std::string& fname, FileLock** lock) = 0;

  // Ends a lock and deletes the FileLock, whatever is returned. The file stays.
  // REQUIRES: lock came from a LockFile of this Env that succeeded, and was not unlocked.
  virtual Status UnlockFile(FileLock* lock) = 0;

  // ---- Threads ---------------------------------------------------------------------------------------------------

  // Has function(arg) called once in the background. Whether functions run one after another and in which order is up
  // to the Env; the default one runs them in their order in one thread, once the system gives it that.
  virtual void Schedule(void (*function)(void* arg), void* arg) = 0;

  // Calls function(arg) in a thread of its own, which ends with it; where the system gives none, as Schedule does.
  virtual void StartThread(void (*function)(void* arg), void* arg) = 0;

  // ---- Other -----------------------------------------------------------------------------------------------------

  // Stores in *path the name of a directory for tests, which exists. Two calls of one user may give the same one.
  virtual Status GetTestDirectory(std::string* path) = 0;

  // Opens a file that takes messages. What the file holds already stays.
  virtual Status NewLogger(const std::string& fname, Logger** result) = 0;

  // Microseconds since some fixed moment; never goes back. For measuring spans, not for telling the date.
  virtual uint64_t NowMicros() = 0;

  // Sleeps for at least this long; returns at once if it is 0 or less.
  virtual void SleepForMicroseconds(int micros) = 0;
};

// A file read from start to end.
class MIODB_EXPORT SequentialFile {
 public:
  SequentialFile() = default;

  SequentialFile(const SequentialFile&) = delete;
  SequentialFile& operator=(const SequentialFile&) = delete;

  // Closes the file.
  virtual ~SequentialFile();

  // Reads up to n bytes and moves on behind them. Fewer only at the end of the file, where *result is empty and the
  // status OK. *result may point into scratch[0, n), so scratch must live as long as *result is used.
  virtual Status Read(size_t n, Slice* result, char* scratch) = 0;

  // Moves on by n bytes without reading them. Beyond the end of the file this is OK and the next Read gives nothing.
  virtual Status Skip(uint64_t n) = 0;
};

// How a file can be read past its object, together with other files: from a descriptor, which stays the object's, in
// pieces whose offset and length are multiples of alignment, into memory at a multiple of 4096. descriptor < 0: not at
// all.
struct RawFile {
  int descriptor;
  size_t alignment;
};

// A file read at any offset.
class MIODB_EXPORT RandomAccessFile {
 public:
  RandomAccessFile() = default;

  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;

  // Closes the file.
  virtual ~RandomAccessFile();

  // Reads up to n bytes from offset on. Fewer only where the file ends. *result may point into scratch[0, n), so
  // scratch must live as long as *result is used.
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;

  // For reads that the library has the system do side by side (Options::multi_get_io_uring). The descriptor gives the
  // bytes that Read gives. The default, {-1, 1}, has every read come through Read.
  virtual RawFile Raw() const;
};

// A file written from its start or its end on. Small appends are collected in a buffer.
//
// After a failure every later call returns an error as well, for what the file then holds is not known.
class MIODB_EXPORT WritableFile {
 public:
  WritableFile() = default;

  WritableFile(const WritableFile&) = delete;
  WritableFile& operator=(const WritableFile&) = delete;

  // Closes the file if Close was not called; errors are lost then.
  virtual ~WritableFile();

  // Adds data at the end.
  virtual Status Append(const Slice& data) = 0;

  // Writes out the buffer and closes the file. Does not sync. No other call may follow.
  virtual Status Close() = 0;

  // Hands what was appended to the operating system: from then on it survives this process, not the machine.
  virtual Status Flush() = 0;

  // Returns when what was appended survives loss of power, as far as the device is honest; a new file's name too.
  virtual Status Sync() = 0;

  // Has the system start writing [offset, offset + size) of what was flushed to the device, and does not wait, so that
  // a later Sync has less to do. Promises nothing. The default calls Sync. Not LevelDB's.
  virtual Status RangeSync(uint64_t offset, uint64_t size);
};

// Takes messages for people.
class MIODB_EXPORT Logger {
 public:
  Logger() = default;

  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  virtual ~Logger();

  // Writes one message, formatted as by vprintf. A final newline is added if it is missing.
  virtual void Logv(const char* format, std::va_list ap) = 0;
};

// Stands for a lock on a file. Only Env::UnlockFile ends it.
class MIODB_EXPORT FileLock {
 public:
  FileLock() = default;

  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  virtual ~FileLock();
};

// Writes a message, formatted as by printf, to *info_log; does nothing if that is nullptr.
MIODB_EXPORT void Log(Logger* info_log, const char* format, ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((__format__(__printf__, 2, 3)))
#endif
    ;

// Makes data the whole content of the file. Does not sync. On failure the file is removed.
MIODB_EXPORT Status WriteStringToFile(Env* env, const Slice& data, const std::string& fname);

// Stores the whole content of the file in *data. On failure *data holds what was read until then.
MIODB_EXPORT Status ReadFileToString(Env* env, const std::string& fname, std::string* data);

// An Env that passes every call on to another one. Derive from it and override what should differ.
class MIODB_EXPORT EnvWrapper : public Env {
 public:
  // Passes calls on to *target, which stays the caller's and must outlive this.
  explicit EnvWrapper(Env* target) : target_(target) {}
  ~EnvWrapper() override;

  // Where calls go.
  Env* target() const { return target_; }

  Status NewSequentialFile(const std::string& fname, SequentialFile** result) override {
    return target_->NewSequentialFile(fname, result);
  }
  Status NewRandomAccessFile(const std::string& fname, RandomAccessFile** result) override {
    return target_->NewRandomAccessFile(fname, result);
  }
  Status NewWritableFile(const std::string& fname, WritableFile** result) override {
    return target_->NewWritableFile(fname, result);
  }
  Status NewDirectRandomAccessFile(const std::string& fname, RandomAccessFile** result) override {
    return target_->NewDirectRandomAccessFile(fname, result);
  }
  Status NewDirectWritableFile(const std::string& fname, WritableFile** result) override {
    return target_->NewDirectWritableFile(fname, result);
  }
  Status NewAppendableFile(const std::string& fname, WritableFile** result) override {
    return target_->NewAppendableFile(fname, result);
  }
  bool FileExists(const std::string& fname) override { return target_->FileExists(fname); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* result) override {
    return target_->GetChildren(dir, result);
  }
  Status RemoveFile(const std::string& fname) override { return target_->RemoveFile(fname); }
  Status CreateDir(const std::string& dirname) override { return target_->CreateDir(dirname); }
  Status RemoveDir(const std::string& dirname) override { return target_->RemoveDir(dirname); }
  Status GetFileSize(const std::string& fname, uint64_t* file_size) override {
    return target_->GetFileSize(fname, file_size);
  }
  Status RenameFile(const std::string& src, const std::string& target) override {
    return target_->RenameFile(src, target);
  }
  Status LockFile(const std::string& fname, FileLock** lock) override { return target_->LockFile(fname, lock); }
  Status UnlockFile(FileLock* lock) override { return target_->UnlockFile(lock); }
  void Schedule(void (*function)(void* arg), void* arg) override { target_->Schedule(function, arg); }
  void StartThread(void (*function)(void* arg), void* arg) override { target_->StartThread(function, arg); }
  Status GetTestDirectory(std::string* path) override { return target_->GetTestDirectory(path); }
  Status NewLogger(const std::string& fname, Logger** result) override { return target_->NewLogger(fname, result); }
  uint64_t NowMicros() override { return target_->NowMicros(); }
  void SleepForMicroseconds(int micros) override { target_->SleepForMicroseconds(micros); }

 private:
  Env* target_;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_ENV_H_
