// The three ways to call ycsbc, and what they ask for.
//
//   Java YCSB, YCSB-cpp   ycsbc -load -t -db miodb -P FILE -p name=value -threads 4 -target 1000 -s -l label
//                         ycsbc load miodb -P FILE ... (also: run)
//   MioDB's driver        ycsbc INPUTFILE [option...]
//
// An input file holds commands: a number n, then n words like those of a command line, the first of which is the name
// of the program; a 0 ends it. Options behind the file's name count for every command of it.
//
// Why not benchmarks/common/flags.h for these words: published command lines have -load alone and with a word true or
// false behind it, -p for any property, and values in the next word alone. A value becomes a property, and a FlagSet
// reads the properties (settings.h).
//
// Everything is checked here, before anything runs: after an error nothing was opened, made or removed.
// A command line wins over property files, a later property file over an earlier one.

#ifndef MIODB_YCSBC_RUN_COMMAND_LINE_H_
#define MIODB_YCSBC_RUN_COMMAND_LINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ycsbc/run/pacer.h"
#include "ycsbc/workload/properties.h"
#include "ycsbc/workload/settings.h"

namespace miodb::ycsb {

struct Command {
  bool load = false;
  bool run = false;
  Properties properties;  // Of files and command line.
  Settings settings;
  RateSchedule schedule{0};
  // Sets the random numbers of this workload apart from those of others: the names of its property files, hashed.
  uint64_t stream = 0;
};

struct Invocation {
  enum class Outcome { kRun, kHelp, kVersion, kError };

  Outcome outcome = Outcome::kRun;
  std::string error;  // With kError: one line.
  std::vector<Command> commands;
};

// "words" is argv without the name of the program.
Invocation ParseCommandLine(const std::vector<std::string>& words);

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_RUN_COMMAND_LINE_H_
