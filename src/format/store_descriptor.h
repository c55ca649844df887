// The store descriptor: which parts a database has, and where they are. The descriptor is the content of the file STORE
// in the database directory, and is replaced as a whole (src/db/store/store_file.h).
//
//   8 bytes "MIOSTORE" | u32 format version | u32 masked CRC-32C of all that follows
//   u8 state | u8 1 if the log is in use | uuid of the pool | uuid of its successor | u64 id and u64 epoch of the log
//   directory | path of the pool | log folder | directory of the SSD tier         each a length-prefixed string
//   varint32 number of regions | for each its uuid and path
//   varint32 number of former ids | u64 each
//   u64 log reach | a length-prefixed edit: the state of the SSD tier, of a volatile pool's database
//   of a copy besides: u8 state of the origin | uuid of the source | uuid of the copy | u64 sequence
//
// Parts are known by their ids. A path is as the options named it, and empty where they did not. In the file one zero
// byte at its beginning stands for the database directory, which so may be moved with what lies in it.
//
// Threads: a value.

#ifndef MIODB_SRC_FORMAT_STORE_DESCRIPTOR_H_
#define MIODB_SRC_FORMAT_STORE_DESCRIPTOR_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "miodb/slice.h"
#include "src/format/region_table.h"

namespace miodb {

inline constexpr uint32_t kStoreFormatVersion = 3;
inline constexpr uint32_t kStoreOfCopyFormatVersion = 4;  // the same with an origin

using Uuid = std::array<uint8_t, kUuidBytes>;

inline Uuid MakeUuid(const uint8_t* bytes) {
  Uuid uuid;
  memcpy(uuid.data(), bytes, uuid.size());
  return uuid;
}

// The id in the marks of the pool with this uuid: the first 8 bytes of the uuid.
inline uint64_t PoolIdOf(const Uuid& uuid) {
  uint64_t id;
  memcpy(&id, uuid.data(), sizeof(id));
  return id;
}

enum class StoreState : uint8_t {
  kMaking = 1,  // the database's making has not ended: nothing was written to it
  kInUse = 2,   // every part that the descriptor names has to be there
};

// Where the memory of a database's pool is.
enum class PoolPlace : uint8_t {
  kNamed,      // in a file or on a device, where the next open finds the pool
  kAnonymous,  // volatile memory without a name: every open makes the pool anew
};

struct StoreDescriptor {
  struct Region {
    Uuid uuid = {};
    std::string path;
    bool operator==(const Region&) const = default;
  };

  struct Log {
    uint64_t id = 0;      // that the folder's WAL_OWNER states; with a volatile pool POOL in the SSD tier, too
    uint64_t epoch = 0;   // how many opens have had the log; WAL_OWNER states it as well, before STORE does
    bool in_use = false;  // false: log files hold nothing that is not in tables
    std::string wal_dir;  // empty: the database directory
    bool operator==(const Log&) const = default;
  };

  // Whose copy the database is, if that is known: from which writes its content has come (DB::FollowSource).
  struct Origin {
    enum class State : uint8_t {
      kNone = 0,
      kCopied = 1,   // all writes that the pool has are the source's; nobody has opened it yet
      kFollows = 2,  // the same, and so are the writes that are being added
      kUpTo = 3,     // the writes up to the sequence are
    };
    State state = State::kNone;
    Uuid source = {};       // the pool whose writes they are
    Uuid copy = {};         // the pool of which this is said; of a pool that a repair has made nothing is said
    uint64_t sequence = 0;  // with kUpTo; else 0
    bool operator==(const Origin&) const = default;
  };

  StoreState state = StoreState::kMaking;
  Uuid pool = {};         // zeros: the pool is volatile
  Uuid successor = {};    // not zeros: a repair puts this pool into the other's place
  std::string pool_path;  // empty: "pool" in the database directory
  std::string directory;  // the database directory itself, without links, when the database was last open
  Log log;
  std::string ssd_path;              // empty: there is no SSD tier
  std::vector<Region> regions;       // further regions of the pool
  std::vector<uint64_t> former_ids;  // of pools and SSD tiers that repairs have set aside

  // The state of a volatile pool's database that its files do not hold; with any other pool nothing is set. The state
  // is an edit from nothing (edit/version_edit.h): comparator, next id, files, and the flushed sequence up to which
  // writes are in files, or hidden by others that are; the log goes on from there. Writes up to the log reach were
  // durable in the log when this was written, and files may hold any of them, so a log that ends earlier is damaged.
  uint64_t log_reach = 0;
  std::string ssd_state;

  Origin origin;

  bool operator==(const StoreDescriptor&) const = default;

  PoolPlace pool_place() const { return pool == Uuid{} ? PoolPlace::kAnonymous : PoolPlace::kNamed; }

  // The part of the descriptor that counts: all of it, once the database is in use. Parts that a making has named and
  // nobody has written to have no places yet; the pool may be there under its uuid.
  StoreDescriptor Counting() const;

  std::string Encode() const;

  // False if the bytes are no descriptor, or one of another version.
  bool DecodeFrom(const Slice& bytes);
};

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_STORE_DESCRIPTOR_H_
