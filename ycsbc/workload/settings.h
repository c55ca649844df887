// The meaning of the properties of a command: CoreWorkload's under the names and with the defaults of Java YCSB, those
// of its C++ ports and of MioDB's driver, and our own. docs/ycsb.md lists them.
//
// Every command gets a Settings of its own, so nothing carries over from one to the next.
//
// Threads: filled before the first thread starts, read-only afterwards. -1 in a count: not given.

#ifndef MIODB_YCSBC_WORKLOAD_SETTINGS_H_
#define MIODB_YCSBC_WORKLOAD_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/common/engine_config.h"
#include "ycsbc/workload/hash.h"
#include "ycsbc/workload/properties.h"

namespace miodb::ycsb {

enum class Distribution { kUniform, kZipfian, kLatest, kHotspot, kExponential, kSequential };
enum class Style { kJava, kCpp, kMioDb };

struct Settings {
  // ---- Records -----------------------------------------------------------------------------------------------------
  int64_t recordcount = -1;
  int64_t insertstart = 0;
  int64_t insertcount = -1;
  int64_t fieldcount = 10;
  int64_t fieldlength = 100;
  int64_t minfieldlength = 1;
  std::string fieldlengthdistribution = "constant";
  std::string fieldlengthhistogram = "hist.txt";
  std::string fieldnameprefix = "field";
  std::string insertorder = "hashed";
  int64_t zeropadding = 1;
  std::string keyhash = "java";
  bool dataintegrity = false;

  // ---- Operations --------------------------------------------------------------------------------------------------
  int64_t operationcount = -1;
  double readproportion = 0.95;
  double updateproportion = 0.05;
  double insertproportion = 0;
  double scanproportion = 0;
  double readmodifywriteproportion = 0;
  bool readallfields = true;
  bool readallfieldsbyname = false;
  bool writeallfields = false;
  std::string requestdistribution = "uniform";
  double zipfian_const = 0.99;
  std::string zipfianrange = "records";
  double hotspotdatafraction = 0.2;
  double hotspotopnfraction = 0.8;
  double exponential_percentile = 95;
  double exponential_frac = 0.8571428571;
  int64_t minscanlength = 1;
  int64_t maxscanlength = 1000;
  std::string scanlengthdistribution = "uniform";
  int64_t insertion_retry_limit = 0;
  int64_t insertion_retry_interval = 3;
  bool insertion_keep_going = false;

  // ---- How it runs -------------------------------------------------------------------------------------------------
  std::string db = "basic";
  std::string dbpath;
  bool destroy = false;
  bool dotransactions = true;
  bool doload = false;
  int64_t threadcount = 1;
  bool pinthreads = false;
  double target = 0;
  std::string limit_file;
  int64_t maxexecutiontime = 0;
  int64_t sleepafterload = 0;
  int64_t seed = 0;

  // ---- What is printed ---------------------------------------------------------------------------------------------
  std::string outputstyle = "java";
  bool status = false;
  int64_t status_interval = 10;
  std::string label;
  std::string exporter = "text";
  std::string exportfile;
  std::string intervalfile;
  std::string measurementtype = "hdrhistogram";
  std::string measurement_interval;
  std::string hdrhistogram_percentiles = "50,95,99,99.9,99.99";
  bool hdrhistogram_fileoutput = false;
  std::string hdrhistogram_output_path;
  int64_t histogram_buckets = 1000;
  bool histogram_verbose = false;
  int64_t timeseries_granularity = 1000;
  std::string raw_output_file;
  bool raw_no_summary = false;
  bool reportlatencyforeacherror = false;
  std::string latencytrackederrors;

  // ---- MioDB's driver ----------------------------------------------------------------------------------------------
  bool timeseries = false;
  bool dbstatistics = false;
  bool dbwaitforbalance = false;
  int64_t dboption = 0;

  // ---- Derived by Read ---------------------------------------------------------------------------------------------
  bench::EngineConfig engine;
  std::vector<double> percentiles;
  std::vector<std::string> notes;  // Lines for the user: what was given and has no effect.
  uint64_t length_block_size = 0;  // Of fieldlengthhistogram, with its counts.
  std::vector<uint64_t> length_counts;

  // Fills in all of the above. Returns what is wrong, naming the property, or nothing.
  std::string Read(const Properties& properties);

  // Checks settings that only one of the phases needs. Returns what is wrong or nothing.
  std::string CheckLoad() const;
  std::string CheckRun() const;

  uint64_t FirstRecord() const { return static_cast<uint64_t>(insertstart); }
  // Records that a load inserts and that a run finds.
  uint64_t LoadedRecords() const {
    return static_cast<uint64_t>(insertcount >= 0 ? insertcount : recordcount - insertstart);
  }
  // Twice the inserts that a run will make on average: by so much zipfian draws reach beyond the loaded records.
  uint64_t ExpectedInserts() const;
  Distribution RequestDistribution() const;
  // Records over which zipfian requests are spread.
  uint64_t ZipfianRecords() const { return LoadedRecords() + ExpectedInserts() + (zipfianrange == "java" ? 1 : 0); }
  KeyHash Hash() const { return keyhash == "cpp" ? KeyHash::kCpp : KeyHash::kJava; }
  Style OutputStyle() const;
  // The longest value that a field can have.
  uint64_t MaxFieldBytes() const;
  bool MeasuresOp() const { return measurement_interval != "intended"; }
  bool MeasuresIntended() const { return measurement_interval != "op"; }
};

// All properties with defaults, for --help.
std::string PropertyHelp();

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_WORKLOAD_SETTINGS_H_
