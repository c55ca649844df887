// Histories: what is done to a simulated database, as text, from a seed, and with the options that fit.
//
//   p3.40   put key 3, value of 40 bytes      d3    delete key 3      b5.9  batch of 5 updates drawn from seed 9
//   m3.40   merge an operand of 40 bytes into key 3
//   l3.40   put key 3 with a lifetime that is over before anybody reads      g3.40   with one that is long
//   z3.40   one batch that single-deletes single key 3 and puts it again          y3    and single-deletes it once more
//   w3.9    3 updates drawn from seed 9, each by a writer of its own, all beside one another
//   v3.5    delete all keys from key 3 up to key 5, in the order of their texts
//   ...!    the write asks for sync                         h    a write of nothing that asks for sync
//   P F M   one step of preparing, flushing, merging            e     mark an extent for evacuation, then merge
//   f       flush                             c     settle everything in the repository (lazy copy)
//   s r     take a snapshot, release the oldest      t     release one, or take one if none is held
//   a       add a region to the pool
//   q3      make savepoint 3, or drop it if it is there
//   n       make a column family with nothing in it, or drop it if it is there
//   o k x   close and open; kill the process and open; the same after a loss of power
//
// Operations are separated by blanks.

#ifndef MIODB_TESTS_SIMULATION_HISTORY_H_
#define MIODB_TESTS_SIMULATION_HISTORY_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "miodb/options.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/sim_medium.h"

namespace miodb::sim {

struct Op {
  char kind = 0;
  uint32_t a = 0;
  uint32_t b = 0;
  bool sync = false;

  bool is_write() const { return has_size() || kind == 'd' || kind == 'y'; }
  bool has_number() const { return is_write() || kind == 'q'; }
  bool has_size() const { return std::strchr("pbwmzvlg", kind) != nullptr; }
};

using History = std::vector<Op>;

std::string ToText(const Op& op);
std::string ToText(const History& history);

// False if the text is no history.
bool FromText(const std::string& text, History* history);

// A database so small that a history of some hundred operations uses all of it.
struct Config {
  uint64_t seed = 0;
  Options options;  // without env and info_log
  int keys = 0;
  uint64_t value_bytes = 0;  // of most values, at most
  uint64_t initial_bytes = 0;
  int single_keys = 0;     // the last of them, which only z and y write
  bool lifetimes = false;  // random histories have some
  uint64_t split = 0;      // where a second region may begin; 0: nowhere
  int savepoints = 0;      // random histories make and drop so many
  int family_keys = 0;     // of the others the last ones, which lie in a column family that their first write makes

  int first_single_key() const { return keys - single_keys; }
  int first_family_key() const { return first_single_key() - family_keys; }
};

inline constexpr uint64_t kMediumBytes = 128 * 1024;

// The clock of simulated databases: some seconds later whenever it is asked, so that a lifetime of a second has always
// passed.
uint64_t NextDate();

// The one of kKeepAllLog.
inline constexpr uint64_t kKeepsLogSeed = 1000000;

// The repository of this configuration is taken in parts as soon as it has most of the keys.
inline constexpr uint64_t kPartsSeed = 1000001;

// Merges of the buffer of this configuration go part by part.
inline constexpr uint64_t kBufferPartsSeed = 1000002;

// The same, with flushes and merges in shares.
inline constexpr uint64_t kSharesSeed = 1000003;

// Whether the value of a put says that its lifetime is over before anybody reads.
bool IsOverBeforeRead(const Slice& value);

// Drawn from the seed; seed 0 is the one of exhaustive exploration.
Config MakeConfig(uint64_t seed);

History MakeHistory(uint64_t seed, const Config& config);

// The updates of a write. Values begin with their sequence, so that no two writes are alike.
std::vector<Update> UpdatesOf(const Op& op, const Config& config, uint64_t first_sequence);

}  // namespace miodb::sim

#endif  // MIODB_TESTS_SIMULATION_HISTORY_H_
