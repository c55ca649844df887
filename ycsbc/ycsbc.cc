// ycsbc: the YCSB workloads on MioDB and, in the same way, on the LevelDB and RocksDB libraries of the system. See
// docs/ycsb.md.

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/engine.h"
#include "benchmarks/common/interrupt.h"
#include "src/util/files/descriptors.h"
#include "ycsbc/run/command_line.h"
#include "ycsbc/run/driver.h"
#include "ycsbc/workload/basic_engine.h"

namespace {

using miodb::bench::Engine;
using miodb::ycsb::Invocation;

constexpr int kWrongCall = 2;

int PrintHelp() {
  std::printf(
      "ycsbc: the YCSB workloads on key-value stores. docs/ycsb.md explains properties and output.\n"
      "Engines: %s, basic\n"
      "\n"
      "  ycsbc -load -t -db miodb -P ycsbc/workloads/workloada -p recordcount=100000 -threads 4 -s\n"
      "  ycsbc load miodb -P FILE ...                      the same as -load -db miodb -P FILE ...\n"
      "  ycsbc ycsbc/input/small/1KB_busy [option...]      the commands of a file, as MioDB's driver reads them\n"
      "\n"
      "Options\n"
      "  -load, -t (or -run)     the phases; both: first the load. A word true or false may follow\n"
      "  -P FILE                 properties; may be repeated, later files win\n"
      "  -p NAME=VALUE           a property; wins over files\n"
      "  -db, -threads, -target, -l, -dbpath, -dboption, -dbstatistics, -dbwaitforbalance, -timeseries VALUE\n"
      "                          the properties db, threadcount, target, label, dbpath ...\n"
      "  -s                      status=true\n"
      "  --help, --version\n"
      "\n"
      "Properties, with their defaults. Those of the engines may have the name of the engine in front: "
      "rocksdb.mmap_read\n"
      "%s",
      miodb::bench::EngineVersions().c_str(), miodb::ycsb::PropertyHelp().c_str());
  return 0;
}

int Complain(const std::string& error) {
  std::fprintf(stderr, "ycsbc: %s\n", error.c_str());
  return kWrongCall;
}

}  // namespace

int main(int argc, char** argv) {
  if (!miodb::FillStandardDescriptors()) return kWrongCall;
  Invocation invocation = miodb::ycsb::ParseCommandLine(std::vector<std::string>(argv + 1, argv + argc));
  switch (invocation.outcome) {
    case Invocation::Outcome::kHelp:
      return PrintHelp();
    case Invocation::Outcome::kVersion:
      std::printf("ycsbc: %s, basic\n", miodb::bench::EngineVersions().c_str());
      return 0;
    case Invocation::Outcome::kError:
      return Complain(invocation.error);
    case Invocation::Outcome::kRun:
      break;
  }
  miodb::bench::EngineConfig config = invocation.commands.front().settings.engine;
  config.create_if_missing = invocation.commands.front().load;
  std::string error;
  const std::unique_ptr<Engine> engine =
      config.engine == "basic" ? miodb::ycsb::NewBasicEngine() : miodb::bench::NewEngine(config, &error);
  if (engine == nullptr) return Complain(error);
  miodb::bench::Ticks::Calibrate();
  miodb::bench::Interrupt::Install();
  return miodb::ycsb::Driver(std::move(invocation.commands), engine.get()).Run();
}
