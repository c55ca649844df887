// miodb_move: tells a closed database where its parts have been moved to. docs/tools.md.

#include <getopt.h>

#include <cstdio>
#include <string>

#include "miodb/env.h"
#include "src/db/places.h"
#include "src/db/store_file.h"
#include "tools/inspect/arguments.h"

namespace miodb {
namespace {

constexpr char kUsage[] =
    "Usage: miodb_move [--pool=PATH] [--region=PATH]... [--wal=DIRECTORY] [--ssd=DIRECTORY] DIRECTORY\n"
    "\n"
    "Tells a database that nobody has open where its parts are, after you have moved them: pool_path, nvm_regions,\n"
    "wal_dir and ssd_path of the opens to come. DIRECTORY is the database's. Moves nothing itself. Looks at the "
    "parts:\n"
    "their ids have to be those that the file STORE has, and the pool must not be older than the files of its SSD "
    "tier.\n"
    "What is not named is where it was. Parts that were moved together with DIRECTORY, inside of it, need none of "
    "this.\n"
    "\n"
    "  --pool   the pool; empty: the file \"pool\" in DIRECTORY\n"
    "  --region a further region of the pool\n"
    "  --wal    the log folder; empty: DIRECTORY\n"
    "  --ssd    the directory of the SSD tier\n"
    "  --help   print this\n"
    "\n"
    "Exit code: 0 done, 1 a part is not the database's, 2 cannot be done (usage, no such file, open elsewhere).\n";

int Main(int argc, char** argv) {
  enum { kPool, kRegion, kWal, kSsd, kHelp };
  const option choices[] = {
      {"pool", required_argument, nullptr, kPool}, {"region", required_argument, nullptr, kRegion},
      {"wal", required_argument, nullptr, kWal},   {"ssd", required_argument, nullptr, kSsd},
      {"help", no_argument, nullptr, kHelp},       {nullptr, 0, nullptr, 0}};
  const char* pool = nullptr;
  const char* wal = nullptr;
  const char* ssd = nullptr;
  Options options;
  for (int c; (c = getopt_long(argc, argv, "", choices, nullptr)) != -1;) {
    switch (c) {
      case kPool:
        pool = optarg;
        break;
      case kRegion:
        options.nvm_regions.emplace_back();
        options.nvm_regions.back().path = optarg;
        break;
      case kWal:
        wal = optarg;
        break;
      case kSsd:
        ssd = optarg;
        break;
      case kHelp:
        fputs(kUsage, stdout);
        return kExitOk;
      default:
        fputs(kUsage, stderr);
        return kExitCannotRun;
    }
  }
  if (optind + 1 != argc) {
    fputs(kUsage, stderr);
    return kExitCannotRun;
  }
  const std::string name = argv[optind];
  StoreDescriptor store;
  Status s = ReadStore(Env::Default(), name, &store);
  options.pool_path = pool != nullptr ? pool : store.pool_path;
  options.wal_dir = wal != nullptr ? wal : store.log.wal_dir;
  options.ssd_path = ssd != nullptr ? ssd : store.ssd_path;
  if (s.ok()) s = MoveStore(name, options);
  if (s.ok()) return kExitOk;
  fprintf(stderr, "miodb_move: %s\n", s.ToString().c_str());
  return s.IsInvalidArgument() || s.IsCorruption() ? kExitDamage : kExitCannotRun;
}

}  // namespace
}  // namespace miodb

int main(int argc, char** argv) { return miodb::Main(argc, argv); }
