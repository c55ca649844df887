// The engine that a program drives, the place of its database, and the setup of the engine. The programs bind the
// fields to their own command lines; names, ranges and help texts of the options are the same in all of them. An option
// of MioDB is a row of the library's table (miodb/option_table.h) and becomes a flag by itself.
//
// Threads: filled before the first thread starts, read-only afterwards.
// Units: sizes are bytes unless the name says otherwise.

#ifndef MIODB_BENCHMARKS_COMMON_ENGINE_CONFIG_H_
#define MIODB_BENCHMARKS_COMMON_ENGINE_CONFIG_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "benchmarks/common/flags.h"
#include "benchmarks/common/peer_flags.h"
#include "miodb/options.h"

namespace miodb::bench {

struct EngineConfig {
  std::string engine = "miodb";
  std::string db;
  bool pinned_get = false;
  bool comparisons = false;
  bool readonly = false;          // The program makes no updates, and the engine is opened so if it can be.
  bool create_if_missing = true;  // The program may begin with an empty database.
  int64_t perf_sampling = 0;

  // Options of MioDB, which also set the same options of other engines.
  Options options;

  // ---- Every engine ------------------------------------------------------------------------------------------------
  bool sync = false;
  bool disable_wal = false;
  int num_column_families = 1;         // that keys are spread over
  std::string merge_operator = "put";  // or uint64add, max, stringappend; empty: none
  bool verify_checksum = false;
  int64_t cache_size = -1;
  int64_t bloom_bits = -1;
  int64_t open_files = -1;
  int64_t num_levels = -1;
  bool compression = false;
  std::string compression_type = "none";
  int perf_level = 1;
  size_t readahead_size = 0;

  // ---- MioDB -------------------------------------------------------------------------------------------------------
  uint64_t keys_per_datatable = 2097152;

  // ---- Peers -------------------------------------------------------------------------------------------------------
  std::string library;  // file of the engine's shared library; empty: the one that is installed
  PeerSettings peer;

  // ---- Derived -----------------------------------------------------------------------------------------------------
  // "none" or the algorithm asked for by compression_type or compression.
  std::string Compression() const;

  // The flags of table files that are given: without them an engine has its own defaults, which may not be those of
  // options. By FinishEngineConfig.
  std::vector<std::string> table_flags;

  // Whether a flag of the peers, or of all engines, was on the command line.
  bool Given(const std::string& flag) const { return peer.Given(flag); }
  // The same by the name of an option of MioDB, of which the flag may have another name.
  bool GivenOption(const std::string& option) const;

  // Whether both are the same engine, at the same place, with the same values of all flags.
  bool operator==(const EngineConfig& other) const;
};

// Binds options and the fields from "Every engine" on to flags of the same names, under headings of their own. Each
// program has its own names for the fields before.
void RegisterEngineFlags(FlagSet* flags, EngineConfig* config);

// Checks what one flag alone cannot, and brings names to one spelling. Returns what is wrong, or nothing.
std::string FinishEngineConfig(const FlagSet& flags, EngineConfig* config);

struct IdleFlag {
  std::string name;
  std::string needs;  // With this flag besides it would mean something; empty: not to this engine.
};

// The flags that were given and change nothing for this engine.
std::vector<IdleFlag> IdleEngineFlags(const FlagSet& flags, const EngineConfig& config);

// For the user, if the pool has become a file on a disk (by what Engine::PersistMode says) and nobody asked for that:
// what that means, and what to give who expected a tier there. A line with its newline, or nothing.
std::string FileModeNote(const EngineConfig& config, const std::string& persist_mode);

// Returns what is wrong with a flag that has to be one of these words, or nothing.
std::string OneOf(const std::string& name, const std::string& value, std::initializer_list<const char*> allowed);

// "<parent>/<name>" for miodb, "<parent>/<name>-<engine>" for the others, whose file names are alike. The parent is
// $TEST_TMPDIR or /tmp/miodbtest-<uid>.
std::string DefaultDatabasePath(const std::string& name, const std::string& engine);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINE_CONFIG_H_
