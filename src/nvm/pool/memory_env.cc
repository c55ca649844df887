// Files of a MemoryEnv are strings behind names; a handle keeps the string, so a file whose name is removed lives on
// until its last handle goes, as one of a real file system does. Nothing outlives the process, so to sync is nothing.

#include "src/nvm/pool/memory_env.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "miodb/memenv.h"
#include "src/nvm/pool/pool_names.h"
#include "src/util/check/check.h"
#include "src/util/files/page.h"
#include "src/util/files/posix_file.h"
#include "src/util/files/system_random.h"

namespace miodb {

namespace {

// Less than this is no use to a pool that has no limit.
constexpr uint64_t kLeastUnlimitedBytes = 64 * 1024 * 1024;
static_assert(kPageBytes % kExtentUnit == 0 && kLeastUnlimitedBytes >= kInitialRegionSize);

// The same text as that of a file system, which callers may compare.
Status NoFile(const std::string& fname) { return PosixError(fname, ENOENT); }

// Folders are known without a slash at their end, the root with the only one that it has.
std::string WithoutSlash(const std::string& dirname) {
  const size_t end = dirname.find_last_not_of('/');
  return end == std::string::npos ? dirname.substr(0, 1) : dirname.substr(0, end + 1);
}

// Addresses for as much as the pool may become, without memory behind them: that comes with use, and is zero. A pool
// without a limit may become as large as the machine's memory, or half of that and so on where the process has fewer
// addresses.
MemoryEnv::Memory MapMemory(uint64_t limit) {
  const uint64_t machine =
      static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  auto medium = std::make_unique<MemoryMedium>();
  uint64_t capacity = (limit > 0 ? limit : machine) / kPageBytes * kPageBytes;
  for (;;) {
    void* const base =
        ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base != MAP_FAILED) {
      // The shared pointer calls its deleter also when it cannot be made.
      MemoryEnv::Memory memory(medium.release(), [capacity, base](MemoryMedium* m) {
        ::munmap(base, capacity);
        delete m;
      });
      CHECK(capacity % kPageBytes == 0 && reinterpret_cast<uintptr_t>(base) % kPageBytes == 0);
      memory->base = static_cast<char*>(base);
      memory->capacity = capacity;
      memory->size = std::min(capacity, kInitialRegionSize);
      CHECK(memory->size > 0 && memory->size <= memory->capacity);
      memory->random = SystemRandom64;
      return memory;
    }
    if (limit > 0 || capacity / 2 < kLeastUnlimitedBytes) return nullptr;
    capacity = capacity / 2 / kPageBytes * kPageBytes;  // the process may have a limit on addresses
  }
}

// An info log would be a file that grows in memory, for nobody to read.
class NoLogger final : public Logger {
 public:
  void Logv(const char*, std::va_list) override {}
};

}  // namespace

// The bytes of a file. An open file keeps its bytes when the name is removed.
class MemoryEnv::Content {
 public:
  uint64_t size() EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    return bytes_.size();
  }
  void Append(const Slice& data) EXCLUDES(mutex_) {
    CHECK(data.size() == 0 || data.data() != nullptr);
    MutexLock lock(&mutex_);
    bytes_.append(data.data(), data.size());
  }

  // Copies, since a writer may append meanwhile and move the bytes.
  Slice Read(uint64_t offset, size_t n, char* scratch) EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    if (offset >= bytes_.size()) return Slice(scratch, 0);
    const size_t length = std::min<size_t>(n, bytes_.size() - offset);
    CHECK(length == 0 || scratch != nullptr);
    memcpy(scratch, bytes_.data() + offset, length);
    return Slice(scratch, length);
  }

 private:
  Mutex mutex_;
  std::string bytes_ GUARDED_BY(mutex_);
};

// A class for both kinds of reading; only sequential reading uses the position.
class MemoryEnv::Reader final : public SequentialFile, public RandomAccessFile {
 public:
  explicit Reader(std::shared_ptr<Content> content) : content_(std::move(content)) { CHECK(content_ != nullptr); }

  Status Read(size_t n, Slice* result, char* scratch) override {
    *result = content_->Read(position_, n, scratch);
    CHECK_LE(result->size(), n);
    position_ += result->size();
    return Status::OK();
  }
  // Beyond the end, too: what is read there is nothing.
  Status Skip(uint64_t n) override {
    position_ += std::min(n, UINT64_MAX - position_);
    return Status::OK();
  }
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = content_->Read(offset, n, scratch);
    return Status::OK();
  }

 private:
  const std::shared_ptr<Content> content_;
  uint64_t position_ = 0;
};

// Appended bytes are there for readers at once: nothing is buffered, and there is nothing that a sync could add.
class MemoryEnv::Writer final : public WritableFile {
 public:
  explicit Writer(std::shared_ptr<Content> content) : content_(std::move(content)) { CHECK(content_ != nullptr); }

  Status Append(const Slice& data) override {
    content_->Append(data);
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return Status::OK(); }

 private:
  const std::shared_ptr<Content> content_;
};

// A lock is its name in locked_. The lock holds inside of this process alone, because no other process sees the files.
class MemoryEnv::Lock final : public FileLock {
 public:
  explicit Lock(std::string name) : fname(std::move(name)) { CHECK(!fname.empty()); }
  const std::string fname;
};

// The caller owns the Env, and the base Env has to outlive it.
Env* NewMemEnv(Env* base_env) { return new MemoryEnv(base_env); }

// A program may wrap the Env of NewMemEnv in one of its own, which counts calls or fails some.
MemoryEnv* MemoryEnv::Of(Env* env) {
  while (env != nullptr) {
    auto* const memory = dynamic_cast<MemoryEnv*>(env);
    if (memory != nullptr) return memory;
    auto* const wrapper = dynamic_cast<EnvWrapper*>(env);
    env = wrapper != nullptr ? wrapper->target() : nullptr;
  }
  return nullptr;
}

// A pool is in use for as long as somebody but its name holds the memory. Fresh memory bears no name yet: a database
// that is made and fails leaves nothing behind.
Status MemoryEnv::PoolMemory(const std::string& path, const Options& options, Memory* memory) {
  if (options.nvm_node >= 0 || !options.nvm_regions.empty()) {
    return Status::NotSupported(path, "a pool in the memory of an Env has no nvm_node and no nvm_regions");
  }
  if (options.persist_mode != kPersistAuto && options.persist_mode != kPersistEmulated) {
    return Status::NotSupported(path, "the memory of an Env is not persistent; use kPersistAuto or kPersistEmulated");
  }
  MutexLock lock(&mutex_);
  const auto file = files_.find(path);
  if (file == files_.end()) {
    *memory = MapMemory(options.pool_size);
    return *memory != nullptr ? Status::OK() : PosixError("addresses for the pool " + path, ENOMEM);
  }
  if (file->second.pool == nullptr) return Status::Corruption(path, "is a file and no pool");
  // The name is one owner. Nobody else can come to be one while the mutex is held.
  if (file->second.pool.use_count() > 1) return Status::IOError(path, "the pool is in use by another open database");
  *memory = file->second.pool;
  CHECK_LE((*memory)->size, (*memory)->capacity);  // as its last database left it
  return Status::OK();
}

// Called when the pool has its first root: a name that can be opened stands for a pool that is whole.
void MemoryEnv::AddPool(const std::string& path, const Memory& memory) {
  CHECK(memory->base != nullptr && memory->size <= memory->capacity);
  CHECK_GT(memory->size, 0u);
  MutexLock lock(&mutex_);
  files_[path] = File{nullptr, memory};
}

// The bytes of a pool are mapped and change under the database, so they are no file that can be read.
Status MemoryEnv::FindContent(const std::string& fname, std::shared_ptr<Content>* content) {
  MutexLock lock(&mutex_);
  const auto file = files_.find(fname);
  if (file == files_.end()) return NoFile(fname);
  CHECK_NE(file->second.content == nullptr, file->second.pool == nullptr);
  if (file->second.content == nullptr)
    return Status::NotSupported(fname, "is a pool in memory, which only its database reads");
  *content = file->second.content;
  return Status::OK();
}

Status MemoryEnv::NewSequentialFile(const std::string& fname, SequentialFile** result) {
  *result = nullptr;
  std::shared_ptr<Content> content;
  Status s = FindContent(fname, &content);
  if (s.ok()) *result = new Reader(std::move(content));
  return s;
}

Status MemoryEnv::NewRandomAccessFile(const std::string& fname, RandomAccessFile** result) {
  *result = nullptr;
  std::shared_ptr<Content> content;
  Status s = FindContent(fname, &content);
  if (s.ok()) *result = new Reader(std::move(content));
  return s;
}

// Memory is allocated first, so that a file is there as a whole or not at all. Handles of a file that had the name keep
// its bytes.
Status MemoryEnv::NewWritableFile(const std::string& fname, WritableFile** result) {
  *result = nullptr;
  auto content = std::make_shared<Content>();
  auto writer = std::make_unique<Writer>(content);
  MutexLock lock(&mutex_);
  files_[fname] = File{std::move(content), nullptr};
  *result = writer.release();
  return Status::OK();
}

// Makes the file if it does not exist, as LevelDB's posix Env does.
Status MemoryEnv::NewAppendableFile(const std::string& fname, WritableFile** result) {
  *result = nullptr;
  std::shared_ptr<Content> content;
  Status s = FindContent(fname, &content);
  if (s.IsNotFound()) return NewWritableFile(fname, result);
  if (s.ok()) *result = new Writer(std::move(content));
  return s;
}

// NotSupported, as Env says of itself: those of the wrapped Env would look for the file on a disk.
Status MemoryEnv::NewDirectRandomAccessFile(const std::string& fname, RandomAccessFile** result) {
  return Env::NewDirectRandomAccessFile(fname, result);
}

Status MemoryEnv::NewDirectWritableFile(const std::string& fname, WritableFile** result) {
  return Env::NewDirectWritableFile(fname, result);
}

bool MemoryEnv::FileExists(const std::string& fname) {
  MutexLock lock(&mutex_);
  return files_.count(fname) > 0 || directories_.count(WithoutSlash(fname)) > 0;
}

// A folder is whatever stands before a slash in a name; of names further down the first part is a child.
Status MemoryEnv::GetChildren(const std::string& dirname, std::vector<std::string>* result) {
  CHECK(result != nullptr);
  result->clear();
  const std::string prefix = WithoutSlash(dirname) + "/";
  std::set<std::string> names;
  const auto add = [&](const std::string& path) {
    if (path.compare(0, prefix.size(), prefix) != 0) return;
    names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
  };
  // Names are in order, and a set keeps a folder with several files from being told as often.
  MutexLock lock(&mutex_);
  for (const auto& [path, file] : files_) add(path);
  for (const std::string& path : directories_) add(path);
  result->assign(names.begin(), names.end());
  return Status::OK();
}

// The name goes; the bytes, or the pool's memory, go with the last of those who have them open.
Status MemoryEnv::RemoveFile(const std::string& fname) {
  MutexLock lock(&mutex_);
  return files_.erase(fname) > 0 ? Status::OK() : NoFile(fname);
}

Status MemoryEnv::CreateDir(const std::string& dirname) {
  MutexLock lock(&mutex_);
  directories_.insert(WithoutSlash(dirname));
  return Status::OK();
}

// OK for a folder that is not there, or not empty: names need no folder.
Status MemoryEnv::RemoveDir(const std::string& dirname) {
  MutexLock lock(&mutex_);
  directories_.erase(WithoutSlash(dirname));
  return Status::OK();
}

Status MemoryEnv::GetFileSize(const std::string& fname, uint64_t* file_size) {
  CHECK(file_size != nullptr);
  *file_size = 0;
  MutexLock lock(&mutex_);
  const auto file = files_.find(fname);
  if (file == files_.end()) return NoFile(fname);
  CHECK_NE(file->second.content == nullptr, file->second.pool == nullptr);
  *file_size = file->second.pool != nullptr ? file->second.pool->size : file->second.content->size();
  return Status::OK();
}

// In one step, as of a real file system: a reader of target sees the old file or the new one.
Status MemoryEnv::RenameFile(const std::string& src, const std::string& target) {
  MutexLock lock(&mutex_);
  const auto file = files_.find(src);
  if (file == files_.end()) return NoFile(src);
  if (src == target) return Status::OK();
  files_[target] = file->second;
  CHECK_EQ(files_.erase(src), 1u);
  return Status::OK();
}

// As a real one, the lock leaves a file of its name behind.
Status MemoryEnv::LockFile(const std::string& fname, FileLock** lock) {
  *lock = nullptr;
  auto held = std::make_unique<Lock>(fname);
  MutexLock guard(&mutex_);
  if (locked_.count(fname) > 0) return Status::IOError("lock " + fname, "already held by process");
  if (files_.count(fname) == 0) files_[fname] = File{std::make_shared<Content>(), nullptr};
  CHECK(locked_.insert(fname).second);
  *lock = held.release();
  return Status::OK();
}

// The lock object goes whatever happens; its name is there, because LockFile put it there.
Status MemoryEnv::UnlockFile(FileLock* lock) {
  const std::unique_ptr<Lock> held(static_cast<Lock*>(lock));
  CHECK(held != nullptr);
  MutexLock guard(&mutex_);
  CHECK_EQ(locked_.erase(held->fname), 1u);
  return Status::OK();
}

Status MemoryEnv::GetTestDirectory(std::string* path) {
  *path = "/test";
  return CreateDir(*path);
}

Status MemoryEnv::NewLogger(const std::string&, Logger** result) {
  *result = new NoLogger;
  return Status::OK();
}

}  // namespace miodb
