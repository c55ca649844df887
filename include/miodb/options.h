// Options that control a database, its reads and its writes.
//
// Every struct here is a plain value: copy it freely, change it before the call that takes it. Pointers in it
// (comparator, env, info_log, ...) are borrowed: the caller keeps them alive until the database is deleted.
// A value outside its stated range makes DB::Open return InvalidArgument naming the option and the range; nothing is
// clipped silently. Sizes are bytes unless the name says otherwise.
//
// Options are read by DB::Open and kept as they were then: changing the struct afterwards changes no database. They
// are not stored with the database, so every open gives them anew, and may give others, where nothing else is said
// below. The database stores the comparator's name, the pool and its regions, the log folder and the SSD tier, and
// every open must give these as they are.
//
// The defaults suit a pool of some GiB and more. A smaller database makes its pieces small by itself.
//
//   miodb::Options options;
//   options.create_if_missing = true;
//   options.pool_path = "/mnt/pmem0/store";                  // on persistent memory,
//   options.persist_mode = miodb::kPersistPmem;              // or Open fails
//   options.ssd_path = "/mnt/ssd/store";                     // for what the pool is too small for
//   status = miodb::DB::Open(options, "/var/lib/store", &db);
//
// The first part of Options carries LevelDB's names and meanings. The second part is MioDB's own.

#ifndef MIODB_INCLUDE_OPTIONS_H_
#define MIODB_INCLUDE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "miodb/export.h"

namespace miodb {

class Cache;
class CompactionFilter;
class Comparator;
class Env;
class EventListener;
class FilterPolicy;
class LifetimePolicy;
class Logger;
class MergeOperator;
class SharedResources;
class Slice;
class Snapshot;

// The enumerations are of type int, so that any value may be stored, as C programs can, and DB::Open refuses it.
// LevelDB's CompressionType has its enumerators in the namespace. The enumerators of the other enumerations are
// constants of namespace miodb too. LevelDB programs have names of their own in namespace leveldb (such as kLogFile),
// so these programs write LogMode::kLogFile.

// Block compression of SSTables. The values are those of the LevelDB table format, and of LevelDB's own enumeration. A
// block says for itself how it is stored, so files of all kinds may lie side by side, and readers need not be told.
enum CompressionType : int {
  kNoCompression = 0x0,
  kSnappyCompression = 0x1,
  kZstdCompression = 0x2,
};

// How stores to the pool are made durable. See docs/reference.md, "Persist modes"; README.md has a table of what
// survives what. The mode belongs to an open of the database and not to its data: a pool may be copied from one medium
// to another.
enum class PersistMode : int {
  // Find out from the mapping: kPersistPmem on DAX, kPersistEmulated on tmpfs, kPersistFile elsewhere.
  kPersistAuto = 0,
  // Flush cache lines and fence. An acknowledged write survives loss of power. Open fails with NotSupported when the
  // file cannot be mapped with MAP_SYNC, because then the kernel may still lose the file's metadata.
  kPersistPmem = 1,
  // The same instructions on memory that is not persistent (tmpfs): costs stay honest, an acknowledged write
  // survives the process but not the machine.
  kPersistEmulated = 2,
  // Any other file system: msync when a write asks for sync and before every manifest record. An acknowledged write
  // survives the process; a synced one survives loss of power if the device's flush is honest.
  kPersistFile = 3,
};

// Where the payload of a write goes before it is acknowledged. The tables are in the pool in every mode, and durable
// as the pool is once a flush has installed them.
enum class LogMode : int {
  // Log frames in the pool. The frame is also the table's payload, so a flush copies nothing.
  kLogPmem = 0,
  // No log: payload stays in DRAM until the memtable is flushed. A crash loses what was not flushed.
  kLogOff = 1,
  // Files in LevelDB's log format in wal_dir. Payload stays in DRAM until the memtable is flushed. An acknowledged
  // write survives the process, a synced one loss of power; what was flushed survives what the pool survives.
  kLogFile = 2,
};

#if !defined(MIODB_AS_LEVELDB) || defined(MIODB_BUILDS_LIBRARY)
constexpr PersistMode kPersistAuto = PersistMode::kPersistAuto;
constexpr PersistMode kPersistPmem = PersistMode::kPersistPmem;
constexpr PersistMode kPersistEmulated = PersistMode::kPersistEmulated;
constexpr PersistMode kPersistFile = PersistMode::kPersistFile;

constexpr LogMode kLogPmem = LogMode::kLogPmem;
constexpr LogMode kLogOff = LogMode::kLogOff;
constexpr LogMode kLogFile = LogMode::kLogFile;
#endif

// Users who may use the files and folders of a database, whatever the umask. The owner reads and writes them in any
// case; other users never do, because the files hold everything that the program stores.
enum class FileAccess : int {
  kOwner = 0,        // 0600, folders 0700
  kGroupReads = 1,   // 0640, folders 0750
  kGroupWrites = 2,  // 0660, folders 0770: databases that several users of a group open in turn
};

// How much the info log is told: messages of this kind and of those below it. The words of a message may change between
// versions; for programs there are properties and listeners.
enum class InfoLogLevel : int {
  kInfo = 0,     // every merge, what was opened, what is waited for
  kWarning = 1,  // what somebody should look at: long waits, a pool without room for a flush, an unfit file system
  kError = 2,    // what failed
  kNone = 3,
};

// A further part of the pool, on memory of its own (docs/placement.md).
struct MIODB_EXPORT NvmRegion {
  // A file, made if it is not there, or a DAX device.
  std::string path;

  // Most bytes it may take: 64 KiB to 128 TiB; 0: all that its file system or device has when it is made. A device is
  // taken as a whole. Later opens may ask for less, or for more up to what it was rounded up to, the next GiB.
  uint64_t limit = 0;

  // As Options::nvm_node, of this region.
  int node = -1;
};

struct MIODB_EXPORT Options {
  // ---- LevelDB's options ---------------------------------------------------------------------------------------

  // Total order of keys. The same comparator name must be used at every open of one database.
  // Default: bytewise order; only this order gets the fast paths (key prefixes in nodes, filters).
  // Not nullptr. comparator.h says what depends on the order.
  const Comparator* comparator;

  // Create the database if there is none: its directory, if only that is missing of its path, and everything in it.
  // A database of which a part is missing is not created anew: the open names the missing part and the places where it
  // looked. If this is false and there is no database, InvalidArgument.
  bool create_if_missing = false;

  // Fail if the database exists, with InvalidArgument: for programs that must not meet what another one has left.
  bool error_if_exists = false;

  // Verify the checksum of every record that is read and of every table that is opened. Slower; meant for tests and
  // for media that are not trusted. An open takes time for all tables then, and a hole in a log file, which is
  // otherwise what loss of power leaves, is Corruption. ReadOptions::verify_checksums asks for the same for single
  // reads.
  bool paranoid_checks = false;

  // The file system for everything but the pool itself (env.h says what that is). Not nullptr. Default:
  // Env::Default().
  //
  // The database directory, wal_dir and ssd_path may be symbolic links, and so may the pool and its regions where they
  // exist. A file that a database makes in its folders is never made or written through a symbolic link: IOError,
  // naming the link. An env of the program's goes by its own rules.
  Env* env;

  // Access to all files that the database makes: pool and regions, log files, tables, LOG, LOCK. Files that exist keep
  // their access. The group is that of the folder or of the process, as the system decides. An env other than
  // Env::Default() gives its files what it likes (Env::WithAccess may be below it); the pool and its regions have this
  // in any case.
  FileAccess file_access = FileAccess::kOwner;

  // Where progress and errors are written, one line for every merge, and why something was refused. nullptr: a file
  // named LOG in the database directory, anew at every open; the one before is kept as LOG.old.
  Logger* info_log = nullptr;

  // The least level of a line that is written, also to a logger of the program's. Names of this and the next two as in
  // RocksDB.
  InfoLogLevel info_log_level = InfoLogLevel::kInfo;

  // With the database's own LOG: at so many bytes it becomes LOG.old and a new one is begun. 0: only at every open.
  // A file ends with the message that has made it too large, so each is whole lines.
  size_t max_log_file_size = 0;

  // So many of them are kept: LOG, LOG.old, LOG.old.2 and so on, the newest first. 1 to 1000.
  // With a smaller number than at the last open, the files beyond it are removed.
  size_t keep_log_file_num = 2;

  // Bytes of log payload that one memtable takes before it is sealed and flushed. 4 KiB to 64 GiB.
  // With the default the DRAM index over it is about 6 MiB at 1 KiB values and 47 MiB at 100 B values.
  // A larger one makes fewer tables, which are merged less often, and takes more DRAM, more log to replay after a
  // crash, and a longer flush. Records that are small against their index entries fill a memtable by its DRAM before
  // that.
  size_t write_buffer_size = 64 * 1024 * 1024;

  // Options of LevelDB's SSTables. With ssd_path they are those of the SSD tier's files, in the ranges given; without
  // it they are accepted with any value and change nothing.

  // Table files that are kept open. 16 to 10 million.
  // Each keeps its index and its filter in memory. With fewer than there are files, reads open and close them.
  int max_open_files = 1000;

  // Blocks of table files that are kept in memory, uncompressed. nullptr: an own cache of 8 MiB.
  // Several databases may share a cache (cache.h). Tables in the pool need none.
  Cache* block_cache = nullptr;

  // Bytes of a block before compression, about: what one read of the disk brings. 64 to 64 MiB.
  // Larger blocks compress better and make the indexes smaller; a get reads and checks one block as a whole.
  size_t block_size = 4 * 1024;

  // Entries between two keys of a block that are stored whole. 1 to 65536.
  // Keys in between are stored as what differs from the one before. More of them make files smaller and reads slower.
  int block_restart_interval = 16;

  // Compression is none, snappy, or zstd with the level below, -131072 to 22. RocksDB reads the first two, LevelDB 1.23
  // too. A block that compression does not make smaller by an eighth is stored as it is. Files that are there keep
  // theirs: each block says how it is stored.
  CompressionType compression = kSnappyCompression;
  int zstd_compression_level = 1;

  // Filters of table files. nullptr: LevelDB's Bloom filters with filter_bits_per_key, for the default comparator.
  // filter_policy.h says what a policy has to promise. Files with filters of another policy are read without.
  const FilterPolicy* filter_policy = nullptr;

  // The operator by which DB::Merge changes a value (merge_operator.h). nullptr: nothing can be merged, and keys with
  // operands from an earlier open cannot be read. Outlives the database.
  const MergeOperator* merge_operator = nullptr;

  // How long values live (lifetime.h): in seconds, 0 to 10^10, or as the policy says of each. 0 and nullptr: for ever.
  // Not both. The policy outlives the database. WriteOptions may give single writes another lifetime.
  uint64_t lifetime_seconds = 0;
  const LifetimePolicy* lifetime_policy = nullptr;

  // Asked about records that background work copies, whether they are to stay (compaction_filter.h). nullptr: all stay.
  // Outlives the database.
  const CompactionFilter* compaction_filter = nullptr;

  // Options of LevelDB's files that have no meaning here, accepted with any value: ssd_file_size is the size of table
  // files, and the log is never rewritten.
  size_t max_file_size = 2 * 1024 * 1024;
  bool reuse_logs = false;

  // ---- The pool --------------------------------------------------------------------------------------------------

  // The pool file. Empty: a file named "pool" in the database directory. Put it on a DAX file system for persistent
  // memory or on tmpfs for emulation; its directory must exist.
  // "anonymous": memory without a name, on nvm_node if that is given, for memory that is larger than DRAM but loses its
  // content. The property miodb.persist-mode is "volatile". All nvm_regions are then "anonymous", too.
  // With ssd_path, log_mode has to be kLogFile: log files stay until what they hold is on SSD, and an open writes it
  // once more, which takes as long as the writes took. Durability is that of log files, see docs/crash_model.md.
  // Without ssd_path, log_mode has to be kLogOff: nothing of the database outlives the process.
  // A database remembers where its pool is, and its id. Refused are another path, until miodb_move has said that the
  // pool was moved there; a pool that is not found here; and another pool in its place.
  std::string pool_path;

  // The most space the pool may take: 128 KiB to 128 TiB, and 32 log_chunk_size or more: a smaller pool could not be
  // emptied when it is full; 0: all that its file system has. A limit below what the
  // database already uses is refused. Near the limit writes are delayed, at the limit they return NoSpace while
  // reads, deletes and compaction go on.
  // A larger one at a later open gives the pool more room, up to where its first further region begins. The file
  // begins small and grows; this much is not taken in advance.
  uint64_t pool_size = 0;

  // A background thread lets the pool's files grow ahead of need, so that half of this is free in one piece, in steps
  // of this but at most 16 MiB. Where something waits for space a file grows by what it needs, and at least by this or
  // 4 MiB, whichever is less. Neither the free space nor a step is more than what is in use, but a step may have 64 KiB
  // in any case. 4 KiB to 1 TiB, a multiple of 4 KiB.
  // Larger steps are fewer, so that writers meet growth less often; what was not needed goes back to the file system.
  uint64_t pool_growth = 64 * 1024 * 1024;

  // The durability to insist on. Anything but kPersistAuto and kPersistEmulated is refused where the medium cannot give
  // it; kPersistEmulated may be forced on any file system for experiments and is then reported as such. The property
  // miodb.persist-mode tells what is in force. To be told of a pool that is not on persistent memory when it should be,
  // for example because it is not mounted, ask for kPersistPmem.
  PersistMode persist_mode = PersistMode::kPersistAuto;

  // ---- Placement (docs/placement.md) -------------------------------------------------------------------------------

  // NUMA nodes by the system's numbers, -1 to 1023; -1: wherever the system puts it. Where a node does not exist, has
  // no memory or cannot be bound to, DB::Open returns InvalidArgument with the reason and the nodes there are.
  //
  // The node of memtables, filters and inner index levels. Background threads run on its CPUs, or on the nearest ones.
  int dram_node = -1;

  // The node of the pool, strictly: if the node has no memory left, the result is NoSpace, never memory of another
  // node. The pool is on tmpfs or hugetlbfs, which are bound, or on a DAX file system, of which it is verified that its
  // device belongs to the node.
  int nvm_node = -1;

  // The node that the pool goes on on when nvm_node has no more. Must differ from nvm_node, which must be given.
  int nvm_next_node = -1;

  // Further regions of the pool, 12 at most, used in this order when the pool file is full; what is freed is used
  // again, in the pool file first: placement_policy may say otherwise. All have the pool's persist mode. A region that
  // does not exist is made. From then on it is a part of the pool, and every open has to find it by its uuid, whether
  // or not this list names it: at these paths, where it was last, and in the folders of the next option. If a region
  // was moved to a path in this list, run miodb_move first.
  std::vector<NvmRegion> nvm_regions;

  // Folders with files or DAX devices that may be regions, besides those of the pool file and of the regions' paths. So
  // regions may be moved.
  std::vector<std::string> nvm_region_search;

  // EXPERIMENTAL: which region a piece of space is taken from, while several have room. The name of a policy, or the
  // path of a library that has one, which the open loads (placement_policy.h). An open with an unknown name is refused.
  // Nothing in the pool depends on it, so each open may have another one.
  //   default: the pool file first, then nvm_regions in their order
  //   hot-first: records that merges copy go to the last region first, everything else to the pool file first
  //   spread: the region with the largest free share first
  std::string placement_policy = "default";

  // Whether the pool asks for huge pages where the system may give them: on tmpfs mounted with huge=advise, and on DAX.
  // On hugetlbfs there are no others.
  bool nvm_huge_pages = true;

  // Makes the pool as slow as other memory, by waiting: "optane", "cxl", "cxl-switch", "cmm-h" or a file of figures. ""
  // and "none": the memory as it is; "count": the same, reads are counted (docs/nvm_model.md).
  std::string nvm_model;

  // A file that gets a trace of the accesses to the pool's memory that nvm_model charges, from this open to the close:
  // what is read, written, flushed and fenced, where, why and when (docs/nvm_model.md). Reads of records of memtables
  // are not charged. "": none. A file that is there is written over. Without nvm_model the model "count" is taken. A
  // failure to write ends the trace, is told in the info log, and fails no call. A crash leaves a file without an end.
  std::string device_trace;

  // Which accesses the trace has. "": all; "every:N": of every N runs of 64 accesses that a thread makes, the first;
  // "seconds:FROM-TO": those between two times since the open.
  std::string device_trace_sample;

  // ---- Log and memtable ------------------------------------------------------------------------------------------

  // Where a write is before it is in a table: see LogMode. The mode may change at every open: the open first reads the
  // log that the last mode left.
  LogMode log_mode = LogMode::kLogPmem;

  // A memtable's log segment is made of chunks of this size, prepared in the background. 4 KiB to 1 GiB, a multiple
  // of 4 KiB, and up to a 32nd of pool_size; 0: half of write_buffer_size or, of one above 8 MiB, what makes it of
  // chunks of 4 MiB at most, but no more than a 256th of the pool. Chunks of a small database are smaller then, 64 KiB
  // to begin with. A chunk belongs to one memtable, so a database that is flushed often loses the rest of one each
  // time, until the flush gives it back. A write larger than a chunk gets one of its own.
  size_t log_chunk_size = 0;

  // Sealed memtables that may wait for their flush before writers have to. 1 to 64.
  // More of them bear longer bursts, for DRAM of one memtable's index each. While as many wait as may, writers are
  // slowed down.
  int max_immutable_memtables = 4;

  // ---- The log in files: with kLogFile, else without effect. Names as in RocksDB ----------------------------------

  // The folder for log files, made if it is not there (the one above it must be). Empty: the database directory. Each
  // pool needs its own. The first log fixes it, until miodb_move says that the folder was moved. Where a folder with
  // unflushed writes is gone, for example because its disk is not mounted, Open returns Corruption.
  std::string wal_dir;

  // Bytes of a block of the format. A power of two from 256 to 65536; LevelDB's own is 32768. Recovery reads any.
  size_t wal_block_size = 32 * 1024;

  // Whether a record that does not fit into what is left of its block starts the next block; the rest is zeros, which
  // readers of the format skip. For studies of logs on devices that write whole blocks; it makes log files larger.
  bool wal_padding = false;

  // Every so many bytes the system is told to start writing the log to the device, so that a sync finds less to do. 0:
  // when it likes.
  // Nothing becomes durable earlier by this option: only a write with sync does that.
  uint64_t wal_bytes_per_sync = 0;

  // Log files that are not needed any more are moved to the folder "archive" in wal_dir and deleted after so many
  // seconds, or when the archive has more than so many MiB (0 to 2^44 - 1). If both are 0, log files are deleted at
  // once. The database never reads the archive: it is for programs that follow the log. The database looks through the
  // archive now and then, so files stay somewhat longer than asked for.
  uint64_t wal_ttl_seconds = 0;
  uint64_t wal_size_limit_mb = 0;

  // The memtable is sealed, if none waits for its flush, when the log files that are needed have more bytes than this.
  // 0: no limit but the memtables' own.
  // With a volatile pool (see pool_path): above it data in the pool are moved to SSD, the oldest first, and writers are
  // slowed down; at least four memtables; 0: twice the size of the pool.
  uint64_t max_total_wal_size = 0;

  // With kLogPmem: so many bytes of log stay in the pool for DB::GetUpdatesSince after their flush, the newest ones. 0:
  // the log reaches back to the last flush. Much of it is the payload of tables, and takes no space besides; what was
  // overwritten or copied since does. When the pool is nearly full its older half is let go of, as often as needed,
  // before writers are slowed down. If the next open has a lower limit, it gives up the kept log above that limit.
  uint64_t keep_log_bytes = 0;

  // ---- Tables and compaction ---------------------------------------------------------------------------------------

  // The most levels that the store has: num_levels - 1 levels of the elastic buffer and the repository below them.
  // 2 to 16. Runs of the last buffer level go into the repository one lazy copy after the other. Of more than 8 levels
  // as many are used as the data needs: a run goes into the repository as soon as it has half of its entries, so
  // each entry is rewritten a bounded number of times while the data doubles. With fewer levels than at the last open
  // the deeper buffer levels join the last one that is left.
  int num_levels = 16;

  // A buffer level holding this many runs has them merged into one run of the next level. 2 to 64.
  // A larger one rewrites less and leaves a get more runs to look into; filters answer for most of them.
  int level_trigger = 2;

  // EXPERIMENTAL: which runs of the buffer are merged, and when. The name of a policy, or the path of a library that
  // has one, which the open loads (merge_policy.h). An open with an unknown name is refused.
  //   default: levels of runs of like sizes, and a depth that follows the repository
  //   levelled: one run in each level, level_trigger times as large as that of the level before
  //   tiered: level_trigger runs of a level become one of the next
  std::string merge_policy = "default";

  // Merge jobs that may run at once, besides the flush. 0: one for every two CPUs. 0 to 64.
  // CPUs are those that the system reports to the process; a limit on its share of them is not seen.
  int max_background_merges = 0;

  // When no write has come for so many milliseconds, what is left in the elastic buffer is merged into the repository
  // by itself, as far as it is worth its cost, so that scans and gets have fewer places to look into; the next write
  // stops that at once. A memtable that is large against the tables is flushed before, and when nothing is left to do,
  // free space of the pool goes back to the file system. 0: never. 0 to 10^9. These merges write what WaitForIdle would
  // write, and a merge that is stopped has written in vain: "miodb.quiet-bytes-written" counts these bytes. A merge
  // that was stopped is tried again after twice as long a silence, up to 1024 times as long.
  int settle_after_idle_ms = 1000;

  // Payload bytes at which a partition of the repository is split. 4 KiB to 64 GiB.
  // A lazy copy rewrites the partitions that its run overlaps, so smaller ones are rewritten for less, and there are
  // more of them. With an SSD tier a partition is at most a share of nvm_budget.
  uint64_t partition_size = 64 * 1024 * 1024;

  // Lazy copy moves records of at most this many bytes into extents of their own, in key order; larger ones stay where
  // the log put them until garbage collection marks their extent. 0 to 1 GiB. With an SSD tier lazy copy moves records
  // of every size once tables take more than half of nvm_budget. In a full pool lazy copy moves none.
  // Copying frees the log chunks that records came in, and lays records side by side that are read together; it writes
  // each of them once more.
  size_t lazy_copy_limit = 1024;

  // Garbage collection starts when the pool holds more than this percentage of live bytes in payload extents, once no
  // write has come for a second or WaitForIdle waits, and stops just below. While writes come and a third of the pool
  // is free, it starts at three times as much garbage: the later it is collected, the less is left to be copied. In a
  // pool that is nearly full it starts at 106 percent. 105 to 1000.
  int space_amplification_percent = 125;

  // Bits per key of the filter every PMTable has in DRAM; 0: none. 0 to 32.
  // At 10 a miss costs a table read about once in a hundred tables.
  // A filter costs DRAM for each index entry, versions that are hidden and deletes included. Only the default
  // comparator has filters. Tables that an open finds get theirs in the background, so gets are slower for a while.
  // Filters of memtables have a size of their own, but 0 switches them off too.
  int filter_bits_per_key = 10;

  // Bytes of DRAM for records of the pool that gets find often. 0, or 16 KiB to 1 TiB; 0: none.
  // For a pool in slower memory than DRAM (CXL, persistent memory) and gets of which many are for few keys: a get keeps
  // its record, or one get in eight when the memory is full, and the next gets of the key read nothing of the pool. A
  // record takes some 40 bytes besides key and value; those above a 32nd of the size are not kept. What is kept of a
  // table is of no use once a merge has replaced the table. Gets that verify, iterators and MultiGet go to the pool.
  // The memory is this database's alone; table files on SSD have block_cache.
  size_t record_cache_size = 0;

  // ---- What databases of a process share -----------------------------------------------------------------------

  // The threads that do the background work of this database and of all others that name the same
  // (shared_resources.h). nullptr: those of all databases of the process that name none. Options say how many of them
  // may work for one database at once.
  std::shared_ptr<SharedResources> shared_resources;

  // ---- The SSD tier ------------------------------------------------------------------------------------------------

  // A directory for table files in LevelDB's format, into which the repository drains when the pool holds more than
  // nvm_budget. The directory is made if need be, may lie on any file system, and belongs to this pool alone. Empty: no
  // SSD tier, all data stays in the pool; refused if the database has data on SSD. A directory that holds another
  // pool's files, or table files of nobody's, is InvalidArgument and left as it is. The first open with it fixes it.
  // The directory may be moved, because the pool's id identifies it; run miodb_move after that.
  std::string ssd_path;

  // Bytes of records and indexes in tables of the pool above which partitions drain. The pool also has to hold log,
  // garbage and merges at work. 64 KiB or more; 0: nine sixteenths of what the pool may take.
  // A smaller one leaves more of the pool to bursts of writes; a larger one keeps more of the data where it is fast.
  uint64_t nvm_budget = 0;

  // Levels on SSD, and the bytes of the first of them; each further one may have ssd_level_multiplier times as many,
  // the last as many as there are. 1 to 8; 4 KiB to 1 EiB; 2 to 100. ssd_level_size 0: as many levels are used, and
  // their sizes such, that from nvm_budget to all that is on SSD each is the same multiple of the one above, at most
  // ssd_level_multiplier.
  int ssd_levels = 4;
  uint64_t ssd_level_size = 0;
  int ssd_level_multiplier = 6;

  // Bytes of a table file, about. 1 KiB to 4 GiB. A compaction moves at least one file, and rewrites those below that
  // it overlaps: smaller files make smaller jobs and more files to keep open.
  uint64_t ssd_file_size = 8 * 1024 * 1024;

  // Drains and compactions that may run at once, in ranges of keys that do not overlap, each in a thread of its own. 1
  // to 64.
  int max_background_ssd_jobs = 2;

  // Bytes a second that drains and compactions may write together; 0: without limit. Where writers bring more than
  // that, the pool fills and slows them down.
  uint64_t ssd_rate_limit = 0;

  // A file that gets a trace of the blocks of table files that are asked for, from this open to the close: which block,
  // by whom, and whether the block cache had it, as text of RocksDB's format (docs/tracing.md). "": none. A file that
  // is there is written over. A failure to write ends the trace, is told in the info log, and fails no call. A crash
  // leaves a file that is cut.
  std::string block_cache_trace_file;

  // About one of so many blocks is in the trace, with all its accesses. 1 to 1000000.
  int block_cache_trace_sampling_frequency = 1;

  // Read table files, and write them, past the page cache of the system. NotSupported where env or the file system of
  // ssd_path cannot.
  bool use_direct_reads = false;
  bool use_direct_io_for_flush_and_compaction = false;

  // Bytes that drains and compactions read ahead of each file, by a thread of its own, while they work on the last. 0
  // to 64 MiB; 0: each block when it is needed.
  size_t compaction_readahead_size = 1024 * 1024;

  // Whether MultiGet has the kernel do the reads of one call side by side with io_uring. Where the kernel has none, or
  // forbids it, and with files of an Env that are no plain files (RandomAccessFile::Raw), threads do them.
  bool multi_get_io_uring = true;

  // Threads that read table files for MultiGet besides the caller, so that the reads of one call overlap: with io_uring
  // where the call has several groups of keys, else key by key. They start with the first call that has a use for them.
  // 0 to 64.
  int multi_get_threads = 8;

  // ---- Watching ----------------------------------------------------------------------------------------------------

  // Whether the times of calls and of background work are kept: how long gets, puts (of batches too), the positioning
  // of iterators, stalls, flushes and merges took, from the open on. Steps of iterators and MultiGet are not timed. The
  // properties "miodb.times" and "miodb.prometheus" show them, as percentiles that are off by less than 1.6 percent.
  // Costs two readings of the processor's clock and an addition in each call, and up to 90 KiB for each thread that
  // uses the database. Without it a call pays a comparison.
  bool statistics = false;

  // The listeners that are told of flushes, merges, stalls, errors and of a pool that fills up (listener.h), in this
  // order. They outlive the database. No listener may be nullptr. Each database has a thread that tells them, if there
  // are any; events cost nothing else, and calls of the database nothing at all.
  std::vector<EventListener*> listeners;

  // LevelDB's defaults where it has the option, the bytewise comparator and the system's Env.
  Options();
};

// How one read is done. Objects that it points to must live for the call; for an iterator, as long as the iterator
// lives.
struct MIODB_EXPORT ReadOptions {
  // Verify the checksum of every record read, and of every block of a table file. Damage is then Corruption; without
  // this it may be a wrong value or a missing key, but never a read outside of the pool.
  bool verify_checksums = false;

  // Whether blocks of table files that are read stay in the block cache. Tables in the pool need no cache. A scan of
  // everything should not push out what gets need: switch this off for it.
  bool fill_cache = true;

  // Bytes of table files that an iterator reads ahead, at most. 0: it begins with little and doubles it up to 1 MiB.
  size_t readahead_size = 0;

  // Read as of this snapshot of the same database, not yet released. nullptr: as of the call. Writes after the snapshot
  // are not seen, from whatever thread they came.
  const Snapshot* snapshot = nullptr;

  // Iterators yield only keys in [lower, upper). The slices and their bytes stay unchanged while the iterator lives.
  // Gets do not look at them. nullptr: no bound. An upper bound also ends the walk before what lies behind it is read.
  const Slice* iterate_lower_bound = nullptr;
  const Slice* iterate_upper_bound = nullptr;
};

// How one write is done. Writes with and without sync may be mixed; those of several threads are ordered in any case.
struct MIODB_EXPORT WriteOptions {
  // Return only when the write survives loss of power, as far as the medium allows. Free of cost on persistent and
  // emulated persistent memory, where every write is made durable anyway; an msync in kPersistFile. Without effect
  // under kLogOff, where only a flush makes writes durable.
  // A write with sync also makes those before it durable, those of other threads too, because they lie before it in
  // the log. With kLogFile it is a sync of the log file.
  bool sync = false;

  // How long the values of this write live, in seconds (lifetime.h). 0: as Options say; kNoLifetime: for ever.
  uint64_t lifetime_seconds = 0;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_OPTIONS_H_
