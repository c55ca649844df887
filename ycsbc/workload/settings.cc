#include "ycsbc/workload/settings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "ycsbc/workload/choosers.h"

namespace miodb::ycsb {

namespace {

using bench::FlagSet;
using bench::OneOf;

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxRecords = int64_t{1} << 48;
constexpr int64_t kMaxFieldBytes = 64 << 20;
constexpr int64_t kMaxFields = 1 << 16;

void RegisterRecords(FlagSet* f, Settings* s) {
  f->Section("Records");
  f->Int("recordcount", &s->recordcount, 1, kMaxRecords, "records that the database has after the load; required");
  f->Int("insertstart", &s->insertstart, 0, kMaxRecords, "number of the first record");
  f->Int("insertcount", &s->insertcount, 0, kMaxRecords, "records to load; -1: recordcount - insertstart");
  f->Int("fieldcount", &s->fieldcount, 1, kMaxFields, "fields of a record");
  f->Int("fieldlength", &s->fieldlength, 1, kMaxFieldBytes, "bytes of a field, or the most bytes");
  f->Int("minfieldlength", &s->minfieldlength, 1, kMaxFieldBytes, "least bytes of a field: uniform, zipfian");
  f->Text("fieldlengthdistribution", &s->fieldlengthdistribution, "constant, uniform, zipfian or histogram");
  f->Text("fieldlengthhistogram", &s->fieldlengthhistogram, "file with lengths and weights");
  f->Text("fieldnameprefix", &s->fieldnameprefix, "field names are this and a number from 0");
  f->Text("insertorder", &s->insertorder, "hashed: key order is unlike insert order; ordered: the same");
  f->Int("zeropadding", &s->zeropadding, 1, KeyBuffer::kMaxPadding, "least digits of a key's number");
  f->Text("keyhash", &s->keyhash, "java: keys as the reference names them; cpp: as the C++ ports do");
  f->Bool("dataintegrity", &s->dataintegrity, "values follow from key and field, reads verify them");
}

void RegisterOperations(FlagSet* f, Settings* s) {
  f->Section("Operations");
  f->Int("operationcount", &s->operationcount, 0, kMaxRecords, "operations of a run; required; 0: until stopped");
  f->Real("readproportion", &s->readproportion, 0, 1e9, "share of reads");
  f->Real("updateproportion", &s->updateproportion, 0, 1e9, "share of updates");
  f->Real("insertproportion", &s->insertproportion, 0, 1e9, "share of inserts");
  f->Real("scanproportion", &s->scanproportion, 0, 1e9, "share of scans");
  f->Real("readmodifywriteproportion", &s->readmodifywriteproportion, 0, 1e9, "share of read-modify-writes");
  f->Bool("readallfields", &s->readallfields, "a read wants all fields, otherwise one");
  f->Bool("readallfieldsbyname", &s->readallfieldsbyname, "it wants all of them and names them");
  f->Bool("writeallfields", &s->writeallfields, "an update replaces all fields, otherwise one");
  f->Text("requestdistribution", &s->requestdistribution,
          "uniform, zipfian, latest, hotspot, exponential or sequential");
  f->Real("zipfian_const", &s->zipfian_const, 0.01, 0.9999, "theta of zipfian and latest");
  f->Text("zipfianrange", &s->zipfianrange, "zipfian is over the records, or (java) over one more, as in Java YCSB");
  f->Real("hotspotdatafraction", &s->hotspotdatafraction, 0, 1, "hotspot: this share of the records");
  f->Real("hotspotopnfraction", &s->hotspotopnfraction, 0, 1, "gets this share of the requests");
  f->Real("exponential.percentile", &s->exponential_percentile, 0.001, 99.999999,
          "exponential: so many percent of the");
  f->Real("exponential.frac", &s->exponential_frac, 1e-9, 1, "requests go to this share of the records, the newest");
  f->Int("minscanlength", &s->minscanlength, 1, kMaxRecords, "least records of a scan");
  f->Int("maxscanlength", &s->maxscanlength, 1, kMaxRecords, "most records of a scan");
  f->Text("scanlengthdistribution", &s->scanlengthdistribution, "uniform or zipfian");
  f->Int("core_workload_insertion_retry_limit", &s->insertion_retry_limit, 0, kMaxInt, "load: tries after a failure");
  f->Int("core_workload_insertion_retry_interval", &s->insertion_retry_interval, 0, kMaxInt, "seconds between them");
  f->Bool("core_workload_insertion_keep_going_on_error", &s->insertion_keep_going, "load: pass over failed inserts");
}

void RegisterRun(FlagSet* f, Settings* s) {
  f->Section("How it runs");
  f->Text("db", &s->db, "miodb, leveldb, rocksdb, lmdb, wiredtiger, or basic: no store, measures the driver");
  f->Text("dbpath", &s->dbpath, "database folder; empty: ycsb or ycsb-<db> under $TEST_TMPDIR or /tmp/miodbtest-<uid>");
  f->Bool("destroy", &s->destroy, "remove the database that is there before a load");
  f->Bool("dotransactions", &s->dotransactions, "false: load, where neither -load nor -t is given");
  f->Bool("doload", &s->doload, "true: load; a run follows if dotransactions=true is given, too");
  f->Int("threadcount", &s->threadcount, 1, 4096, "client threads (-threads)");
  f->Bool("pinthreads", &s->pinthreads, "each client thread stays on one CPU");
  f->Real("target", &s->target, 0, 1e12, "operations a second over all threads (-target); 0: as fast as it goes");
  f->Text("limit.file", &s->limit_file, "lines: seconds since the start, new target");
  f->Int("maxexecutiontime", &s->maxexecutiontime, 0, kMaxInt, "seconds after which a phase ends; 0: never");
  f->Int("sleepafterload", &s->sleepafterload, 0, kMaxInt, "seconds");
  f->Int("seed", &s->seed, 0, bench::kNoBound, "of all random numbers; the same for every engine");
  f->Bool("pinned_get", &s->engine.pinned_get, "read without a copy where the engine can (miodb, rocksdb)");
}

void RegisterReport(FlagSet* f, Settings* s) {
  f->Section("What is printed");
  f->Text("outputstyle", &s->outputstyle, "java, cpp (YCSB-cpp) or miodb (default of input files)");
  f->Bool("status", &s->status, "a line on stderr at intervals (-s)");
  f->Int("status.interval", &s->status_interval, 1, kMaxInt, "seconds, for status, intervalfile and HDR logs");
  f->Text("label", &s->label, "stands before every status line (-l)");
  f->Text("exporter", &s->exporter, "text, json, jsonarray or csv");
  f->Text("exportfile", &s->exportfile, "file for the measurements, otherwise stdout");
  f->Text("intervalfile", &s->intervalfile, "CSV file: operations and latencies of each interval");
  f->Text("measurementtype", &s->measurementtype,
          "hdrhistogram, histogram, timeseries, raw, hdrhistogram+histogram, hdrhistogram+raw or basic");
  f->Text("measurement.interval", &s->measurement_interval,
          "op, intended (from the moment an operation was due) or both; empty: both with a target, else op");
  f->Text("hdrhistogram.percentiles", &s->hdrhistogram_percentiles, "comma list");
  f->Bool("hdrhistogram.fileoutput", &s->hdrhistogram_fileoutput,
          "write <path><OP>.hdr, logs of each interval, and <path><OP>.hgrm, percentile tables");
  f->Text("hdrhistogram.output.path", &s->hdrhistogram_output_path, "what those names begin with");
  f->Int("histogram.buckets", &s->histogram_buckets, 1, 1 << 24,
         "milliseconds that measurementtype=histogram tells apart");
  f->Bool("measurement.histogram.verbose", &s->histogram_verbose, "and print all of them");
  f->Int("timeseries.granularity", &s->timeseries_granularity, 1, kMaxInt, "milliseconds, measurementtype=timeseries");
  f->Text("measurement.raw.output_file", &s->raw_output_file, "file of measurementtype=raw, otherwise stdout");
  f->Bool("measurement.raw.no_summary", &s->raw_no_summary, "raw without totals");
  f->Bool("reportlatencyforeacherror", &s->reportlatencyforeacherror, "READ-NOT_FOUND instead of READ-FAILED");
  f->Text("latencytrackederrors", &s->latencytrackederrors, "comma list of results for which to do so");
}

void RegisterMioDb(FlagSet* f, Settings* s) {
  f->Section("MioDB's driver");
  f->Bool("timeseries", &s->timeseries, "a line for every 100 operations of a thread");
  f->Bool("dbstatistics", &s->dbstatistics, "print the store's statistics after each phase");
  f->Bool("dbwaitforbalance", &s->dbwaitforbalance, "wait after a phase until the store has nothing left to do");
  f->Int("dboption", &s->dboption, 0, kMaxInt, "no effect");
}

// Names of the same properties in other drivers.
constexpr std::pair<const char*, const char*> kOtherNames[] = {
    {"field_len_dist", "fieldlengthdistribution"},
    {"dbname", "db"},
    {"dotransaction", "dotransactions"},
    {"limit.ops", "target"},
    {"engine", "db"},
};

// Known to other drivers, without a meaning here.
constexpr const char* kNoEffect[] = {"table", "hosts", "port", "host", "slaves"};

constexpr const char* kEngines[] = {"miodb", "leveldb", "rocksdb", "lmdb", "wiredtiger"};

// The name of an option of LevelDB or RocksDB, behind the engine's name, in YCSB-cpp and Java YCSB, and its name here.
constexpr std::pair<const char*, const char*> kPeerNames[] = {
    {"dbname", "dbpath"},
    {"dir", "dbpath"},
    {"compression", "compression_type"},
    {"filter_bits", "bloom_bits"},
    {"max_open_files", "open_files"},
    {"allow_mmap_reads", "mmap_read"},
    {"allow_mmap_writes", "mmap_write"},
    {"optionsfile", "rocksdb_options_file"},
    {"use_direct_io_for_flush_compaction", "use_direct_io_for_flush_and_compaction"},
};

std::string NameHere(const std::string& peer_name) {
  for (const auto& [other, ours] : kPeerNames) {
    if (peer_name == other) return ours;
  }
  return peer_name;
}

void Register(FlagSet* flags, Settings* settings) {
  RegisterRecords(flags, settings);
  RegisterOperations(flags, settings);
  RegisterRun(flags, settings);
  RegisterReport(flags, settings);
  RegisterMioDb(flags, settings);
  bench::RegisterEngineFlags(flags, &settings->engine);
}

std::string Lowercase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// The part behind the last dot of the name of a Java class.
std::string ClassName(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

// "rocksdb" for "rocksdb" and for "site.ycsb.db.rocksdb.RocksDBClient".
std::string PlainDbName(const std::string& name) {
  const std::string word = Lowercase(ClassName(name));
  if (word == "basicdb") return "basic";
  if (word == "rocksdbclient") return "rocksdb";
  return word;
}

// "json" for "json" and for "site.ycsb.measurements.exporter.JSONMeasurementsExporter".
std::string PlainExporterName(const std::string& name) {
  std::string word = Lowercase(ClassName(name));
  const size_t end = word.find("measurementsexporter");
  if (end != std::string::npos) word.resize(end);
  return word;
}

std::string Wrong(const std::string& name, const std::string& value, const std::string& reason) {
  return "property " + name + "=" + value + ": " + reason;
}

// Assigns one property. Returns what is wrong with it, or nothing.
std::string Assign(const std::string& name, const std::string& value, const std::string& db, FlagSet* flags,
                   Settings* s) {
  for (const auto& [other, ours] : kOtherNames) {
    if (name == other) return Assign(ours, value, db, flags, s);
  }
  if (name == "workload") {
    const std::string word = Lowercase(ClassName(value));
    return word == "coreworkload" || word == "core" ? ""
                                                    : Wrong(name, value, "unknown workload; there is CoreWorkload");
  }
  if (flags->Knows(name)) {
    const std::string problem = flags->Set(name, value);
    return problem.empty() ? "" : Wrong(name, value, problem);
  }
  const auto no_effect = [&] {
    s->notes.push_back("no effect: property " + name);
    return std::string();
  };
  for (const char* known : kNoEffect) {
    if (name == known) return name == "table" ? "" : no_effect();
  }
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return "unknown property '" + name + "'; see --help";
  const std::string engine = name.substr(0, dot);
  const std::string option = name.substr(dot + 1);
  if (std::find(std::begin(kEngines), std::end(kEngines), engine) == std::end(kEngines)) return no_effect();
  if (engine != db) return "";  // One file may hold options for all engines.
  const std::string ours = NameHere(option);
  if (!flags->Knows(ours)) {
    if (option == "format" && value == "single") return "";
    // RocksDB's own parser judges what it knows.
    if (engine == "rocksdb") {
      s->engine.peer.rocksdb_options += option + "=" + value + ";";
      return "";
    }
    return "unknown property '" + name + "'; see --help";
  }
  const std::string problem = flags->Set(ours, value);
  return problem.empty() ? "" : Wrong(name, value, problem);
}

std::string ParsePercentiles(const std::string& list, std::vector<double>* percentiles) {
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    double percent = 0;
    std::string rest;
    std::istringstream text(word);
    if (!(text >> percent) || text >> rest || !(percent > 0 && percent <= 100)) {
      return Wrong("hdrhistogram.percentiles", list, "'" + word + "' is no number above 0 and up to 100");
    }
    percentiles->push_back(percent);
  }
  return percentiles->empty() ? Wrong("hdrhistogram.percentiles", list, "no number") : "";
}

// Replaces the wording of command lines by that of properties.
std::string AsProperty(const std::string& problem) {
  const std::string flag = "Invalid flag '--";
  if (problem.rfind(flag, 0) != 0) return problem;
  std::string text = "property " + problem.substr(flag.size());
  text.erase(text.find('\''), 1);
  return text;
}

std::string CheckWords(const Settings& s) {
  for (const std::string& problem :
       {OneOf("fieldlengthdistribution", s.fieldlengthdistribution, {"constant", "uniform", "zipfian", "histogram"}),
        OneOf("requestdistribution", s.requestdistribution,
              {"uniform", "zipfian", "latest", "hotspot", "exponential", "sequential"}),
        OneOf("scanlengthdistribution", s.scanlengthdistribution, {"uniform", "zipfian"}),
        OneOf("zipfianrange", s.zipfianrange, {"records", "java"}), OneOf("keyhash", s.keyhash, {"java", "cpp"}),
        OneOf("db", s.db, {"miodb", "leveldb", "rocksdb", "lmdb", "wiredtiger", "basic"}),
        OneOf("outputstyle", s.outputstyle, {"java", "cpp", "miodb"}),
        OneOf("exporter", s.exporter, {"text", "json", "jsonarray", "csv"}),
        OneOf("measurement.interval", s.measurement_interval, {"op", "intended", "both"}),
        OneOf("measurementtype", s.measurementtype,
              {"hdrhistogram", "histogram", "hdrhistogram+histogram", "hdrhistogram+raw", "timeseries", "raw",
               "basic"})}) {
    if (!problem.empty()) return AsProperty(problem);
  }
  return "";
}

std::string CheckNumbers(const Settings& s) {
  const auto number = [](int64_t value) { return std::to_string(value); };
  if (s.recordcount < 0) return "property recordcount is not set";
  if (s.insertstart > s.recordcount) {
    return Wrong("insertstart", number(s.insertstart), "above recordcount=" + number(s.recordcount));
  }
  if (s.insertcount > s.recordcount - s.insertstart) {
    return Wrong(
        "insertcount", number(s.insertcount),
        "from insertstart=" + number(s.insertstart) + " on it goes beyond recordcount=" + number(s.recordcount));
  }
  if (s.minfieldlength > s.fieldlength && s.fieldlengthdistribution != "constant") {
    return Wrong("minfieldlength", number(s.minfieldlength), "above fieldlength=" + number(s.fieldlength));
  }
  if (s.minscanlength > s.maxscanlength) {
    return Wrong("minscanlength", number(s.minscanlength), "above maxscanlength=" + number(s.maxscanlength));
  }
  if (s.dataintegrity && s.fieldlengthdistribution != "constant") {
    return Wrong("dataintegrity", "true", "needs fieldlengthdistribution=constant");
  }
  return "";
}

}  // namespace

std::string Settings::Read(const Properties& properties) {
  *this = Settings();
  FlagSet flags;
  Register(&flags, this);
  for (const char* name : {"engine", "dbname", "db"}) {
    if (const std::string* value = properties.Find(name)) db = *value;
  }
  db = PlainDbName(db);
  const std::string chosen = db;
  for (const auto& [name, value] : properties.all()) {
    const std::string problem = Assign(name, value, chosen, &flags, this);
    if (!problem.empty()) return problem;
  }
  db = chosen;
  exporter = PlainExporterName(exporter);
  if (measurement_interval.empty()) measurement_interval = target > 0 || !limit_file.empty() ? "both" : "op";

  engine.engine = db;
  engine.db = dbpath.empty() ? bench::DefaultDatabasePath("ycsb", db) : dbpath;
  for (const std::string& problem :
       {CheckWords(*this), CheckNumbers(*this), AsProperty(bench::FinishEngineConfig(flags, &engine)),
        ParsePercentiles(hdrhistogram_percentiles, &percentiles)}) {
    if (!problem.empty()) return problem;
  }
  if (fieldlengthdistribution == "histogram") {
    const std::string problem = ReadLengthHistogram(fieldlengthhistogram, &length_block_size, &length_counts);
    if (!problem.empty()) return problem;
    if (MaxFieldBytes() > static_cast<uint64_t>(kMaxFieldBytes)) {
      return fieldlengthhistogram + ": lengths above " + std::to_string(kMaxFieldBytes);
    }
  }
  if (db != "basic") {
    for (const auto& [name, needs] : bench::IdleEngineFlags(flags, engine)) {
      notes.push_back("no effect on " + db + (needs.empty() ? "" : " without " + needs) + ": property " + name);
    }
  }
  return "";
}

std::string Settings::CheckLoad() const {
  return LoadedRecords() > 0 ? "" : "there is nothing to load: insertcount is 0";
}

std::string Settings::CheckRun() const {
  if (operationcount < 0) return "property operationcount is not set";
  if (LoadedRecords() == 0) return "there is nothing to run on: insertcount is 0";
  const double sum = readproportion + updateproportion + insertproportion + scanproportion + readmodifywriteproportion;
  return sum > 0 ? "" : "all proportions are 0";
}

uint64_t Settings::ExpectedInserts() const {
  const double sum = readproportion + updateproportion + insertproportion + scanproportion + readmodifywriteproportion;
  const double inserts = 2 * static_cast<double>(std::max<int64_t>(0, operationcount)) * insertproportion / sum;
  return static_cast<uint64_t>(inserts);
}

Distribution Settings::RequestDistribution() const {
  constexpr std::pair<const char*, Distribution> kNames[] = {
      {"zipfian", Distribution::kZipfian},       {"latest", Distribution::kLatest},
      {"hotspot", Distribution::kHotspot},       {"exponential", Distribution::kExponential},
      {"sequential", Distribution::kSequential},
  };
  for (const auto& [name, distribution] : kNames) {
    if (requestdistribution == name) return distribution;
  }
  return Distribution::kUniform;
}

Style Settings::OutputStyle() const {
  if (outputstyle == "miodb") return Style::kMioDb;
  return outputstyle == "cpp" ? Style::kCpp : Style::kJava;
}

uint64_t Settings::MaxFieldBytes() const {
  if (fieldlengthdistribution == "histogram") return length_block_size * length_counts.size();
  return static_cast<uint64_t>(fieldlength);
}

std::string PropertyHelp() {
  Settings settings;
  FlagSet flags;
  Register(&flags, &settings);
  return flags.Help("");
}

}  // namespace miodb::ycsb
