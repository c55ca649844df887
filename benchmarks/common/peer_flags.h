// Options of the other stores by their own names: RocksDB's as text for its own parser, and presets of both.
//
// Threads: filled before the first thread starts, read-only afterwards.

#ifndef MIODB_BENCHMARKS_COMMON_PEER_FLAGS_H_
#define MIODB_BENCHMARKS_COMMON_PEER_FLAGS_H_

#include <map>
#include <string>
#include <vector>

#include "benchmarks/common/flags.h"

namespace miodb::bench {

// Settings of an engine that its own project names for this kind of load.
struct PeerPreset {
  const char* engine;
  const char* name;
  const char* options;  // of RocksDB as its parser takes them; of LevelDB FLAG=VALUE
  const char* source;   // who says so
};

struct PeerSettings {
  std::string preset;                // empty: none
  std::string rocksdb_options;       // NAME=VALUE;..., after all others
  std::string rocksdb_options_file;  // as RocksDB writes it

  std::map<std::string, std::string> values;  // of flags of RocksDB's db_bench
  std::map<std::string, bool> switches;
  std::vector<std::string> given;  // of both, and of the flags that all engines have, those that were given

  bool Given(const std::string& flag) const;
  // Those that were given, in the words of RocksDB's parser: NAME=VALUE;...
  std::string RocksDbText() const;
};

// Binds what the fields hold. REQUIRES: settings stays where it is until the flags are parsed.
void RegisterRocksDbFlags(FlagSet* flags, PeerSettings* settings);

// The preset of this engine, or nullptr.
const PeerPreset* FindPeerPreset(const std::string& engine, const std::string& name);

// "leveldb: 64m; rocksdb: plain, ...": for messages and help.
std::string PeerPresetNames();

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_PEER_FLAGS_H_
