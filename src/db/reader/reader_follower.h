// ReaderFollower: keeps what a reader sees up with a database that another process writes to.
//
// Threads: Open by one; Look by any, one at a time. Ownership: the context, whose pool it sets, and the sources outlive
// it.

#ifndef MIODB_SRC_DB_READER_READER_FOLLOWER_H_
#define MIODB_SRC_DB_READER_READER_FOLLOWER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "src/db/context/db_context.h"
#include "src/db/reader/log_follower.h"
#include "src/db/reader/reader_pins.h"
#include "src/db/space/log_source.h"
#include "src/db/state/read_sources.h"
#include "src/format/store_descriptor.h"
#include "src/util/files/posix_file.h"
#include "src/util/threads/mutex.h"
#include "src/version/manifest/manifest_reader.h"
#include "src/version/version_shape.h"

namespace miodb {

class ReaderFollower final : public LogSource {
 public:
  // How far a look goes.
  enum class Depth { kTables, kLog };

  ReaderFollower(DbContext* db, ReadSources* sources) : db_(*db), sources_(sources) { CHECK(sources != nullptr); }

  // Finds the database, maps its pool, and takes the first look.
  Status Open();

  // Brings what reads see up to date. After an error reads see what they saw. Throws nothing.
  Status Look(Depth depth) EXCLUDES(mutex_);

  // How the last look ended. After one that failed this waits for a look that is under way.
  Status LastLook() const EXCLUDES(mutex_);

  // Of the state that was published last, with whatever it takes to keep the part where it is. A look that failed may
  // have left parts behind, and then is the reason of an error.
  uint64_t LastVisible() const override;
  Status FindPart(uint64_t sequence, LogPart* part) const override EXCLUDES(mutex_);

  // The families of the state that was published last.
  std::map<uint64_t, FamilyEntry> families() EXCLUDES(mutex_);
  uint64_t next_family() EXCLUDES(mutex_);

 private:
  // A version, and what keeps the owner of the pool from using its space again: this goes last, since what the version
  // has of that space is known as taken until then.
  struct HeldVersion {
    std::shared_ptr<ReaderPins::Hold> hold;
    VersionRef version;
  };

  // The file that a name leads to. On an overlay file system a file that is copied to the upper layer keeps device and
  // inode, and whoever has it mapped keeps the lower one: only its birth tells.
  struct FileIdentity {
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t born_seconds = 0;
    uint32_t born_nanos = 0;

    bool operator==(const FileIdentity&) const = default;
  };

  // The identity of the file behind a name, and its figures that change when it is written.
  struct FileMark {
    FileIdentity file;
    int64_t seconds = 0;
    uint32_t nanos = 0;

    bool operator==(const FileMark&) const = default;
  };

  void ForgetOthers(const std::string& pool);
  static Status MarkOf(const std::string& path, FileMark* mark);
  Status MarkMapped(const std::string& pool, const StoreDescriptor& store);
  Status OpenPool(const std::string& path);
  Status OpenTier(const StoreDescriptor& store);
  Status CheckSame() REQUIRES(mutex_);
  Status FollowLog(uint64_t time) REQUIRES(mutex_);
  Status KeepOwnersOut(const std::string& path);
  RegionPlaces Search() const;
  Status FollowManifest() REQUIRES(mutex_);
  Status Follow(uint64_t time) REQUIRES(mutex_);
  Status OpenVersion(uint64_t time) REQUIRES(mutex_);
  Status TakeLook(Depth depth) REQUIRES(mutex_);
  void Publish() REQUIRES(mutex_);
  Status Find(uint64_t sequence, LogPart* part) const REQUIRES(mutex_);

  DbContext& db_;
  ReadSources* const sources_;
  std::shared_ptr<ReaderPins> pins_;
  Descriptor nobody_writes_{-1};  // keeps owners out, where there is no page
  std::map<std::string, FileIdentity>
      mapped_;  // the pool and its regions by path, as they were before they were opened

  std::atomic<bool> failed_{false};  // the last look did
  std::atomic<uint64_t> shown_{0};   // the last sequence of the state that was published last

  mutable Mutex mutex_;
  Status last_look_ GUARDED_BY(mutex_);
  FileMark store_mark_ GUARDED_BY(mutex_);
  std::unique_ptr<ManifestReader> manifest_ GUARDED_BY(mutex_);
  std::unique_ptr<StateOpener> opener_ GUARDED_BY(mutex_);
  std::unique_ptr<LogFollower> log_ GUARDED_BY(mutex_);
  std::shared_ptr<const HeldVersion> version_ GUARDED_BY(mutex_);  // null before the first look
  uint64_t edits_ GUARDED_BY(mutex_) = 0;                          // of the version
  std::vector<MemTableRef> published_ GUARDED_BY(mutex_);          // memtables
  std::shared_ptr<const HeldVersion> published_version_ GUARDED_BY(mutex_);
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READER_READER_FOLLOWER_H_
