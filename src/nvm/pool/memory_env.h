// The Env of miodb/memenv.h: files in memory, and with them the memory of pools.
//
// A pool is not read and written through an Env but mapped, so a database asks this one for memory instead (PoolMemory)
// and, when the pool is whole, has it bear the pool's name (AddPool). From then on it is a file like any other: it
// exists, has a size, and goes with RemoveFile, or with the last database that uses it if that is later.
//
// Threads: any.
//
// Errors: as miodb/env.h says.

#ifndef MIODB_SRC_NVM_POOL_MEMORY_ENV_H_
#define MIODB_SRC_NVM_POOL_MEMORY_ENV_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "miodb/options.h"
#include "src/nvm/persist/persist_hook.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class MemoryEnv final : public EnvWrapper {
 public:
  using Memory = std::shared_ptr<MemoryMedium>;

  explicit MemoryEnv(Env* base) : EnvWrapper(base) {}

  // The Env that env is, or that it wraps; nullptr if its files are elsewhere.
  static MemoryEnv* Of(Env* env);

  // The memory of the pool of this name, or, if there is none, fresh memory. IOError while a database uses it.
  // NotSupported for options that such a pool cannot have.
  Status PoolMemory(const std::string& path, const Options& options, Memory* memory) EXCLUDES(mutex_);
  void AddPool(const std::string& path, const Memory& memory) EXCLUDES(mutex_);

  Status NewSequentialFile(const std::string& fname, SequentialFile** result) override EXCLUDES(mutex_);
  Status NewRandomAccessFile(const std::string& fname, RandomAccessFile** result) override EXCLUDES(mutex_);
  Status NewWritableFile(const std::string& fname, WritableFile** result) override EXCLUDES(mutex_);
  Status NewAppendableFile(const std::string& fname, WritableFile** result) override EXCLUDES(mutex_);
  Status NewDirectRandomAccessFile(const std::string& fname, RandomAccessFile** result) override;
  Status NewDirectWritableFile(const std::string& fname, WritableFile** result) override;
  bool FileExists(const std::string& fname) override EXCLUDES(mutex_);
  Status GetChildren(const std::string& dirname, std::vector<std::string>* result) override EXCLUDES(mutex_);
  Status RemoveFile(const std::string& fname) override EXCLUDES(mutex_);
  Status CreateDir(const std::string& dirname) override EXCLUDES(mutex_);
  Status RemoveDir(const std::string& dirname) override EXCLUDES(mutex_);
  Status GetFileSize(const std::string& fname, uint64_t* file_size) override EXCLUDES(mutex_);
  Status RenameFile(const std::string& src, const std::string& target) override EXCLUDES(mutex_);
  Status LockFile(const std::string& fname, FileLock** lock) override EXCLUDES(mutex_);
  Status UnlockFile(FileLock* lock) override EXCLUDES(mutex_);
  Status GetTestDirectory(std::string* path) override;
  Status NewLogger(const std::string& fname, Logger** result) override;

 private:
  class Content;
  class Reader;
  class Writer;
  class Lock;

  // The object behind a name: bytes, or a pool.
  struct File {
    File() = default;
    File(std::shared_ptr<Content> bytes, Memory memory) : content(std::move(bytes)), pool(std::move(memory)) {
      CHECK_NE(content == nullptr, pool == nullptr);
    }

    std::shared_ptr<Content> content;
    Memory pool;
  };

  Status FindContent(const std::string& fname, std::shared_ptr<Content>* content) EXCLUDES(mutex_);

  Mutex mutex_;
  std::map<std::string, File> files_ GUARDED_BY(mutex_);
  std::set<std::string> directories_ GUARDED_BY(mutex_);  // without a slash at the end
  std::set<std::string> locked_ GUARDED_BY(mutex_);
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_MEMORY_ENV_H_
