// The operating system as the library sees it: files, locks, threads, time.
//
// The pool is the exception: it is mapped memory, which no Env can give. An Env of the user's is only asked whether the
// pool's file exists and whether one may be made; it has to lie where the system finds it under the same name, else
// Open returns NotSupported. Every other file goes through the Env, so that tests and embedding programs can watch,
// fake or redirect it. To change only some calls, derive from EnvWrapper.
//
// A database asks an Env for: its directory, STORE, LOG and LOCK, log files, table files, and the marks of their
// folders (docs/files.md says what each is for). The pool's locks, mapping and storage are the system's; the clock and
// the background threads of the engine are, too, so NowMicros, Schedule and StartThread are for programs and for an Env
// that wraps another.
//
// An Env that counts what a database syncs:
//
//   class CountingFile : public miodb::WritableFile { ... Sync() counts and calls the other file's ... };
//   class CountingEnv : public miodb::EnvWrapper {
//    public:
//     using EnvWrapper::EnvWrapper;
//     miodb::Status NewWritableFile(const std::string& fname, miodb::WritableFile** result) override {
//       miodb::Status s = target()->NewWritableFile(fname, result);
//       if (s.ok()) *result = new CountingFile(*result);   // owns the other one
//       return s;
//     }
//   };
//   CountingEnv env(miodb::Env::Default());
//   options.env = &env;
//
// Threads: an Env and a Logger may be used by any number of threads at once, a RandomAccessFile too. A SequentialFile
// and a WritableFile belong to one thread at a time, which need not be the same one for ever.
//
// Ownership: objects stored through a "result" pointer are the caller's to delete, and must be gone before the Env is.
// On failure *result is nullptr. An Env given to a database stays the caller's and must outlive it. Strings and slices
// passed in need to live only for the call.
//
// After a crash: bytes survive the process from Flush on and the machine from Sync on. A name that was made, and
// a rename, survive the machine when the file behind it was synced, or its folder; the library syncs what it relies
// on. An Env of one's own that says that something is durable when it is not takes from the database what db.h
// promises.
//
// Errors: NotFound if a file or directory that should exist does not, NotSupported if an Env cannot do it at all,
// IOError for the rest; the message begins with the file's name. The kinds matter: the library takes NotFound for
// "there is none" and every other error for "nobody knows". A function of an Env must not throw.
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
  // An Env is made by deriving from it, or from EnvWrapper, which has an answer to every call.
  Env();

  Env(const Env&) = delete;
  Env& operator=(const Env&) = delete;

  virtual ~Env();

  // The Env of this operating system. Belongs to the library, lives until the process ends; do not delete it. New files
  // have mode 0600 and new folders 0700, whatever the umask; files that exist keep their mode. This Env follows
  // symbolic links (a database does not: Options::env).
  //
  // This Env opens only files that can be read and written as files: a FIFO is refused, and never waited for; a device
  // may be written to and not read. A child of fork() may use it: locks that the parent holds stay the parent's alone.
  static Env* Default();

  // The same with another mode for what it makes. Default() is that with FileAccess::kOwner. Like it, the result is
  // the library's and the same at every call; locks hold between all of them.
  static Env* WithAccess(FileAccess access);

  // ---- Files -----------------------------------------------------------------------------------------------------

  // Opens a file for reading from its start: traces, and the small files that are read whole. NotFound if it does not
  // exist.
  virtual Status NewSequentialFile(const std::string& fname, SequentialFile** result) = 0;

  // Opens a file for reading at any offset: log files, and table files, which stay open for many reads. NotFound if it
  // does not exist.
  virtual Status NewRandomAccessFile(const std::string& fname, RandomAccessFile** result) = 0;

  // Opens an empty file for writing. A file that exists is cut to nothing, at once; where that must not be seen half
  // done, write under another name and rename.
  virtual Status NewWritableFile(const std::string& fname, WritableFile** result) = 0;

  // As NewRandomAccessFile and NewWritableFile, past the page cache of the system (Options::use_direct_reads and its
  // neighbour). NotSupported, which is the default, where this Env or the file system cannot do it. The files take any
  // offset and length; the alignment that the device wants is their own affair.
  virtual Status NewDirectRandomAccessFile(const std::string& fname, RandomAccessFile** result);
  virtual Status NewDirectWritableFile(const std::string& fname, WritableFile** result);

  // Opens a file for writing at its end; creates it if it does not exist. The default returns NotSupported, which
  // every caller must be prepared for: the library uses it only to sync a file that another process may have written.
  virtual Status NewAppendableFile(const std::string& fname, WritableFile** result);

  // Whether a file or directory of this name exists, behind a symbolic link too. A name that cannot be looked at counts
  // as not there.
  virtual bool FileExists(const std::string& fname) = 0;

  // Stores in *result the names, without the path, of what is in the directory, in any order. May contain "." and
  // "..". Names that *result held before are gone, also on failure. NotFound if there is no such directory.
  virtual Status GetChildren(const std::string& dir, std::vector<std::string>* result) = 0;

  // Removes a file. A program that has the file open goes on using it. NotFound if there is none. An Env overrides
  // either this or DeleteFile: by default each calls the other, so one that overrides neither calls itself without end.
  virtual Status RemoveFile(const std::string& fname);

  // DEPRECATED: the old name of RemoveFile. Override and call that one.
  virtual Status DeleteFile(const std::string& fname);

  // Creates a directory. Fails if it exists or if the one above it does not. The default Env returns when the name
  // survives loss of power, where the folder above may be read.
  virtual Status CreateDir(const std::string& dirname) = 0;

  // Removes an empty directory; one that is not empty stays, with an error. An Env overrides either this or DeleteDir:
  // by default each calls the other.
  virtual Status RemoveDir(const std::string& dirname);

  // DEPRECATED: the old name of RemoveDir. Override and call that one.
  virtual Status DeleteDir(const std::string& dirname);

  // Stores the size of a file in *file_size, in bytes; 0 on failure. For a file that is being written, the size counts
  // the bytes that were flushed.
  virtual Status GetFileSize(const std::string& fname, uint64_t* file_size) = 0;

  // Gives src the name target, in one atomic step. A file that has that name already is replaced. A crash leaves the
  // old file or the new one under the name, never neither: STORE and every other small file are replaced so.
  virtual Status RenameFile(const std::string& src, const std::string& target) = 0;

  // Locks a file, which is created if need be, against other processes and other callers in this one. Does not wait:
  // IOError if someone else holds it. The lock ends with UnlockFile or with the process, however that dies, and a
  // child of fork() does not have it. The lock is on the file, under whatever name; the content of the file is not
  // touched.
  virtual Status LockFile(const std::string& fname, FileLock** lock) = 0;

  // Ends a lock and deletes the FileLock, whatever is returned. The file stays, and may be removed before by whoever
  // holds the lock.
  // REQUIRES: lock came from a LockFile of this Env that succeeded, and was not unlocked.
  virtual Status UnlockFile(FileLock* lock) = 0;

  // ---- Threads ---------------------------------------------------------------------------------------------------

  // Has function(arg) called once in the background. Whether functions run one after another and in which order is up
  // to the Env; the default one runs them in their order in one thread, once the system gives it that. Without memory
  // to remember it the function is called here, before Schedule returns. The function must not throw. There is no way
  // to take it back.
  virtual void Schedule(void (*function)(void* arg), void* arg) = 0;

  // Calls function(arg) in a thread of its own, which ends with it; where the system gives none, as Schedule does.
  // Nobody can wait for the thread: a function that must be waited for says itself when it has ended.
  virtual void StartThread(void (*function)(void* arg), void* arg) = 0;

  // ---- Other -----------------------------------------------------------------------------------------------------

  // Stores in *path the name of a directory for tests, which exists. Two calls of one user may give the same one. The
  // default Env takes the environment variable TEST_TMPDIR, or makes a directory of this user's below /tmp, and
  // refuses what another user made there.
  virtual Status GetTestDirectory(std::string* path) = 0;

  // Opens a file that takes messages, for Options::info_log. Messages that the file holds already stay. The default Env
  // begins each line with the time in UTC and the number of the thread, and several processes may write to one file.
  virtual Status NewLogger(const std::string& fname, Logger** result) = 0;

  // Microseconds since some fixed moment; never goes back. For measuring spans, not for telling the date. The moment
  // may differ between two starts of the machine.
  virtual uint64_t NowMicros() = 0;

  // Has the calling thread sleep for at least this long, in microseconds; returns at once if it is 0 or less.
  virtual void SleepForMicroseconds(int micros) = 0;
};

// A file read from start to end, by one thread at a time. The position of the file is behind the bytes that were read
// or skipped last.
class MIODB_EXPORT SequentialFile {
 public:
  SequentialFile() = default;

  SequentialFile(const SequentialFile&) = delete;
  SequentialFile& operator=(const SequentialFile&) = delete;

  // Closes the file.
  virtual ~SequentialFile();

  // Reads up to n bytes and moves on behind them. Fewer only at the end of the file, where *result is empty and the
  // status OK; a file that has grown since gives more at the next call. *result may point into scratch[0, n), so
  // scratch must live as long as *result is used, or into memory of the file's own. REQUIRES: scratch has room for n
  // bytes.
  virtual Status Read(size_t n, Slice* result, char* scratch) = 0;

  // Moves on by n bytes without reading them. Beyond the end of the file this is OK and the next Read gives nothing,
  // because the file's end is not looked for.
  virtual Status Skip(uint64_t n) = 0;
};

// How a file can be read past its object, together with other files: from a descriptor, which stays the object's, in
// pieces whose offset and length are multiples of alignment, into memory at a multiple of 4096. descriptor < 0: not at
// all. The descriptor is not used after the object is gone, and its position is neither used nor changed.
struct RawFile {
  int descriptor;
  size_t alignment;
};

// A file read at any offset, by any number of threads at once: it has no position. A file that is removed while it is
// open can be read on.
class MIODB_EXPORT RandomAccessFile {
 public:
  RandomAccessFile() = default;

  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;

  // Closes the file.
  virtual ~RandomAccessFile();

  // Reads up to n bytes from offset on. Fewer only where the file ends, and none behind its end, which is OK. *result
  // may point into scratch[0, n), so scratch must live as long as *result is used. Read verifies nothing: the library
  // checks the checksums of blocks where it was asked to (ReadOptions::verify_checksums).
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;

  // For reads that the library has the system do side by side (Options::multi_get_io_uring). The descriptor gives the
  // bytes that Read gives: a class that decrypts, caches or counts in Read must not hand out one. The default, {-1,
  // 1}, has every read come through Read.
  virtual RawFile Raw() const;
};

// A file written from its start or its end on. Small appends are collected in a buffer.
//
// The file need not be there whole after a crash: what was flushed may be missing at its end after loss of power, and
// in any order what was not synced. So the formats that the library writes find their own end.
//
// After a failure every later call returns an error as well, for what the file then holds is not known. After a failed
// Sync the next Sync fails too, because the system reports a failure only once.
class MIODB_EXPORT WritableFile {
 public:
  WritableFile() = default;

  WritableFile(const WritableFile&) = delete;
  WritableFile& operator=(const WritableFile&) = delete;

  // Closes the file if Close was not called; errors are lost then, those of writing out the buffer too.
  virtual ~WritableFile();

  // Adds data at the end. Data is copied or written before this returns. Small appends are cheap: the default Env has
  // a buffer in front of the system.
  virtual Status Append(const Slice& data) = 0;

  // Writes out the buffer and closes the file. Does not sync: after loss of power the file may be empty. No other call
  // may follow, but for the destructor.
  virtual Status Close() = 0;

  // Hands what was appended to the operating system: from then on it survives this process, not the machine, and other
  // readers of the file see it.
  virtual Status Flush() = 0;

  // Flushes, and returns when what was appended survives loss of power, as far as the device is honest; a new file's
  // name too. May take as long as the device needs for all that was flushed before.
  virtual Status Sync() = 0;

  // Has the system start writing [offset, offset + size) of what was flushed to the device, and does not wait, so that
  // a later Sync has less to do. Promises nothing: neither that the bytes are on the device, nor that the file's
  // length is. The default calls Sync. Not LevelDB's. The library calls it for log files
  // (Options::wal_bytes_per_sync).
  virtual Status RangeSync(uint64_t offset, uint64_t size);
};

// Takes messages for people: what the database did in the background, and why it refused something. Nothing depends on
// them.
class MIODB_EXPORT Logger {
 public:
  Logger() = default;

  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  virtual ~Logger();

  // Writes one message, formatted as by vprintf. A final newline is added if it is missing. Called from any thread,
  // also with locks of the database held: it must not call the database. There is no way to report an error; a message
  // may get lost.
  virtual void Logv(const char* format, std::va_list ap) = 0;
};

// Stands for a lock on a file. Only Env::UnlockFile ends it; deleting it does not, and must be left to that call.
class MIODB_EXPORT FileLock {
 public:
  FileLock() = default;

  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  virtual ~FileLock();
};

// Writes a message, formatted as by printf, to *info_log; does nothing if that is nullptr. Any thread.
MIODB_EXPORT void Log(Logger* info_log, const char* format, ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((__format__(__printf__, 2, 3)))
#endif
    ;

// Makes data the whole content of the file, which is created or cut to nothing first. Does not sync, and is not
// atomic: a crash may leave a part. If it was opened and cannot be written, the file is removed, also one that was
// there before.
MIODB_EXPORT Status WriteStringToFile(Env* env, const Slice& data, const std::string& fname);

// Stores the whole content of the file in *data. On failure *data holds what was read until then, and nothing if the
// file could not be opened. IOError if there is no memory for it.
MIODB_EXPORT Status ReadFileToString(Env* env, const std::string& fname, std::string* data);

// An Env that passes every call on to another one. Derive from it and override what should differ: an Env that counts
// syncs, or that fails the hundredth write, is a few lines. Calls of DeleteFile and DeleteDir arrive as RemoveFile and
// RemoveDir.
//
// A database on a wrapper of Env::Default() has its pool where the system finds it. On a wrapper of NewMemEnv the pool
// is in that one's memory.
class MIODB_EXPORT EnvWrapper : public Env {
 public:
  // Passes calls on to *target, which stays the caller's and must outlive this.
  explicit EnvWrapper(Env* target) : target_(target) {}
  ~EnvWrapper() override;

  // Where calls go. An Env that overrides a call uses this one for the rest of the work.
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
