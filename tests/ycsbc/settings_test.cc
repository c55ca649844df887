// Properties: where they come from, what they mean, and what is said about wrong ones.

#include "ycsbc/workload/settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "tests/ycsbc/read_settings.h"

namespace miodb::ycsb {
namespace {

// The answer of Read to these properties, besides the required ones.
std::string Problem(const Values& values, Settings* settings) { return settings->Read(MakeProperties(values)); }

std::string Problem(const Values& values) {
  Settings settings;
  return Problem(values, &settings);
}

TEST(PropertiesTest, FilesHaveCommentsAndBlanksAndTheLastOneWins) {
  const std::string path = testing::TempDir() + "/settings_test.properties";
  std::ofstream(path) << "# comment\n\n  recordcount = 5 \r\n!other\nlabel=a=b\nrecordcount=7\nempty=\n";
  Properties properties;
  ASSERT_EQ(properties.AddFile(path), "");
  EXPECT_EQ(properties.all(), (Values{{"empty", ""}, {"label", "a=b"}, {"recordcount", "7"}}));
}

TEST(PropertiesTest, WrongFilesAndLinesAreNamed) {
  const std::string path = testing::TempDir() + "/settings_test.bad";
  std::ofstream(path) << "a=1\nnonsense\n";
  Properties properties;
  EXPECT_EQ(properties.AddFile(path), path + ":2: 'nonsense' is not name=value");
  EXPECT_EQ(properties.AddFile(path + ".none"), "cannot read property file " + path + ".none");
  EXPECT_EQ(properties.AddFile(testing::TempDir()), "cannot read property file " + testing::TempDir());
  EXPECT_EQ(properties.Add("=3"), "'=3' is not name=value");
}

TEST(SettingsTest, DefaultsAreThoseOfTheReference) {
  const Settings s = ReadSettings({});
  EXPECT_EQ(s.fieldcount, 10);
  EXPECT_EQ(s.fieldlength, 100);
  EXPECT_EQ(s.minfieldlength, 1);
  EXPECT_EQ(s.fieldlengthdistribution, "constant");
  EXPECT_TRUE(s.readallfields);
  EXPECT_FALSE(s.writeallfields);
  EXPECT_EQ(s.readproportion, 0.95);
  EXPECT_EQ(s.updateproportion, 0.05);
  EXPECT_EQ(s.insertproportion + s.scanproportion + s.readmodifywriteproportion, 0);
  EXPECT_EQ(s.RequestDistribution(), Distribution::kUniform);
  EXPECT_EQ(s.zipfian_const, 0.99);
  EXPECT_EQ(s.hotspotdatafraction, 0.2);
  EXPECT_EQ(s.hotspotopnfraction, 0.8);
  EXPECT_EQ(s.exponential_percentile, 95);
  EXPECT_NEAR(s.exponential_frac, 6.0 / 7, 1e-9);
  EXPECT_EQ(s.minscanlength, 1);
  EXPECT_EQ(s.maxscanlength, 1000);
  EXPECT_EQ(s.insertorder, "hashed");
  EXPECT_EQ(s.Hash(), KeyHash::kJava);
  EXPECT_EQ(s.LoadedRecords(), 1000u);
  EXPECT_EQ(s.OutputStyle(), Style::kJava);
  EXPECT_EQ(s.db, "basic");
}

TEST(SettingsTest, NamesOfTheOtherDriversAreUnderstood) {
  EXPECT_EQ(ReadSettings({{"field_len_dist", "zipfian"}}).fieldlengthdistribution, "zipfian");
  EXPECT_EQ(ReadSettings({{"dbname", "leveldb"}}).db, "leveldb");
  EXPECT_EQ(ReadSettings({{"db", "site.ycsb.db.rocksdb.RocksDBClient"}}).db, "rocksdb");
  EXPECT_EQ(ReadSettings({{"db", "site.ycsb.BasicDB"}}).db, "basic");
  EXPECT_EQ(ReadSettings({{"limit.ops", "500"}}).target, 500);
  EXPECT_EQ(ReadSettings({{"exporter", "site.ycsb.measurements.exporter.JSONArrayMeasurementsExporter"}}).exporter,
            "jsonarray");
  EXPECT_EQ(Problem({{"workload", "com.yahoo.ycsb.workloads.CoreWorkload"}, {"table", "t"}}), "");
}

TEST(SettingsTest, EngineOptionsMayCarryTheNameOfTheirEngine) {
  const Settings s = ReadSettings({{"db", "miodb"},
                                   {"write_buffer_size", "1048576"},
                                   {"miodb.pool_size", "123456789"},
                                   {"rocksdb.mmap_read", "true"},
                                   {"miodb.dbname", "/tmp/x"}});
  EXPECT_EQ(s.engine.engine, "miodb");
  EXPECT_EQ(s.engine.options.write_buffer_size, 1048576u);
  EXPECT_EQ(s.engine.options.pool_size, 123456789u);
  EXPECT_FALSE(s.engine.Given("mmap_read"));  // Meant for another engine.
  EXPECT_EQ(s.engine.db, "/tmp/x");
  EXPECT_TRUE(ReadSettings({{"db", "rocksdb"}, {"rocksdb.mmap_read", "true"}}).engine.Given("mmap_read"));
  EXPECT_EQ(Problem({{"db", "miodb"}, {"miodb.pool_sise", "1"}}), "unknown property 'miodb.pool_sise'; see --help");
}

// The properties that YCSB-cpp's documented commands name, in the form of its files.
TEST(SettingsTest, PropertyFilesOfYcsbCppAreUnderstood) {
  const Settings leveldb = ReadSettings({{"db", "leveldb"},
                                         {"leveldb.dbname", "/tmp/x"},
                                         {"leveldb.format", "single"},
                                         {"leveldb.destroy", "true"},
                                         {"leveldb.write_buffer_size", "4194304"},
                                         {"leveldb.max_file_size", "8388608"},
                                         {"leveldb.max_open_files", "77"},
                                         {"leveldb.compression", "snappy"},
                                         {"leveldb.cache_size", "1000000"},
                                         {"leveldb.filter_bits", "9"},
                                         {"leveldb.block_size", "8192"},
                                         {"leveldb.block_restart_interval", "24"}});
  EXPECT_EQ(leveldb.engine.db, "/tmp/x");
  EXPECT_TRUE(leveldb.destroy);
  EXPECT_EQ(leveldb.engine.options.write_buffer_size, 4194304u);
  EXPECT_EQ(leveldb.engine.options.max_file_size, 8388608u);
  EXPECT_EQ(leveldb.engine.open_files, 77);
  EXPECT_EQ(leveldb.engine.Compression(), "snappy");
  EXPECT_EQ(leveldb.engine.cache_size, 1000000);
  EXPECT_EQ(leveldb.engine.bloom_bits, 9);
  EXPECT_EQ(leveldb.engine.options.block_size, 8192u);
  EXPECT_EQ(leveldb.engine.options.block_restart_interval, 24);
  EXPECT_EQ(leveldb.notes, std::vector<std::string>());

  const Settings rocksdb = ReadSettings({{"db", "rocksdb"},
                                         {"leveldb.filter_bits", "9"},  // Of another engine.
                                         {"rocksdb.allow_mmap_reads", "true"},
                                         {"rocksdb.allow_mmap_writes", "false"},
                                         {"rocksdb.compression", "no"},
                                         {"rocksdb.format", "row"},
                                         {"rocksdb.max_open_files", "-1"},
                                         {"rocksdb.optionsfile", "options.ini"},
                                         {"rocksdb.target_file_size_base", "1048576"},
                                         {"rocksdb.target_file_size_multiplier", "1"},
                                         {"rocksdb.use_direct_io_for_flush_compaction", "true"}});
  EXPECT_EQ(rocksdb.engine.peer.RocksDbText(),
            "target_file_size_base=1048576;allow_mmap_reads=true;allow_mmap_writes=false;");
  EXPECT_EQ(rocksdb.engine.peer.rocksdb_options_file, "options.ini");
  EXPECT_EQ(rocksdb.engine.peer.rocksdb_options, "format=row;target_file_size_multiplier=1;");
  EXPECT_EQ(rocksdb.engine.Compression(), "none");
  EXPECT_EQ(rocksdb.engine.bloom_bits, -1);
  EXPECT_TRUE(rocksdb.engine.options.use_direct_io_for_flush_and_compaction);
  EXPECT_TRUE(rocksdb.notes.empty());
  EXPECT_EQ(ReadSettings({{"db", "leveldb"}, {"leveldb.compression", "true"}}).engine.Compression(), "snappy");
  EXPECT_EQ(ReadSettings({{"db", "leveldb"}, {"leveldb.compression", "false"}}).engine.Compression(), "none");
  EXPECT_EQ(Problem({{"db", "rocksdb"}, {"rocksdb.compression", "zip"}}),
            "property compression_type=zip: one of none, snappy, zlib, bzip2, lz4, lz4hc, zstd");
}

TEST(SettingsTest, WhatHasNoEffectIsSaid) {
  const Settings s = ReadSettings({{"redis.host", "here"}, {"db", "miodb"}, {"mmap_read", "true"}});
  ASSERT_EQ(s.notes.size(), 2u);
  EXPECT_EQ(s.notes[0], "no effect: property redis.host");
  EXPECT_EQ(s.notes[1], "no effect on miodb: property mmap_read");
}

TEST(SettingsTest, WrongPropertiesAreNamedWithTheReason) {
  const std::pair<Values, const char*> kCases[] = {
      {{{"recordcuont", "1"}}, "unknown property 'recordcuont'; see --help"},
      {{{"recordcount", "ten"}}, "property recordcount=ten: 'ten' is not a decimal integer from 1 to 281474976710656"},
      {{{"recordcount", "0"}}, "property recordcount=0: '0' is not a decimal integer from 1 to 281474976710656"},
      {{{"readproportion", "-1"}}, "property readproportion=-1: '-1' is not a number from 0 to 1e+09"},
      {{{"readallfields", "maybe"}}, "property readallfields=maybe: 'maybe' is not a boolean"},
      {{{"requestdistribution", "zipf"}},
       "property requestdistribution=zipf: one of uniform, zipfian, latest, hotspot, exponential, sequential"},
      {{{"workload", "TimeSeriesWorkload"}},
       "property workload=TimeSeriesWorkload: unknown workload; there is CoreWorkload"},
      {{{"db", "redis"}}, "property db=redis: one of miodb, leveldb, rocksdb, lmdb, wiredtiger, basic"},
      {{{"insertstart", "400"}, {"insertcount", "601"}},
       "property insertcount=601: from insertstart=400 on it goes beyond recordcount=1000"},
      {{{"insertstart", "1001"}}, "property insertstart=1001: above recordcount=1000"},
      {{{"minscanlength", "5"}, {"maxscanlength", "4"}}, "property minscanlength=5: above maxscanlength=4"},
      {{{"minfieldlength", "101"}, {"fieldlengthdistribution", "uniform"}},
       "property minfieldlength=101: above fieldlength=100"},
      {{{"dataintegrity", "true"}, {"fieldlengthdistribution", "uniform"}},
       "property dataintegrity=true: needs fieldlengthdistribution=constant"},
      {{{"hdrhistogram.percentiles", "50,101"}},
       "property hdrhistogram.percentiles=50,101: '101' is no number above 0 and up to 100"},
      {{{"persist_mode", "maybe"}}, "property persist_mode=maybe: one of auto, pmem, emulated, file"},
      {{{"zipfian_const", "1"}}, "property zipfian_const=1: '1' is not a number from 0.01 to 0.9999"},
      {{{"fieldlengthdistribution", "histogram"}, {"fieldlengthhistogram", "/nowhere/hist.txt"}},
       "/nowhere/hist.txt: cannot read it"},
  };
  for (const auto& [values, problem] : kCases) EXPECT_EQ(Problem(values), problem);
}

TEST(SettingsTest, WhatAPhaseNeedsIsAskedForByThatPhase) {
  Properties properties;
  Settings s;
  EXPECT_EQ(s.Read(properties), "property recordcount is not set");
  properties.Set("recordcount", "10");
  ASSERT_EQ(s.Read(properties), "");
  EXPECT_EQ(s.CheckLoad(), "");
  EXPECT_EQ(s.CheckRun(), "property operationcount is not set");
  properties.Set("operationcount", "0");
  ASSERT_EQ(s.Read(properties), "");
  EXPECT_EQ(s.CheckRun(), "");
  for (const char* name : {"readproportion", "updateproportion"}) properties.Set(name, "0");
  ASSERT_EQ(s.Read(properties), "");
  EXPECT_EQ(s.CheckRun(), "all proportions are 0");
  properties.Set("insertcount", "0");
  ASSERT_EQ(s.Read(properties), "");
  EXPECT_EQ(s.CheckLoad(), "there is nothing to load: insertcount is 0");
}

TEST(SettingsTest, IntendedLatenciesComeWithATarget) {
  EXPECT_FALSE(ReadSettings({}).MeasuresIntended());
  const Settings paced = ReadSettings({{"target", "100"}});
  EXPECT_TRUE(paced.MeasuresIntended() && paced.MeasuresOp());
  EXPECT_FALSE(ReadSettings({{"target", "100"}, {"measurement.interval", "op"}}).MeasuresIntended());
  EXPECT_FALSE(ReadSettings({{"measurement.interval", "intended"}}).MeasuresOp());
}

TEST(SettingsTest, ReadForgetsWhatWasReadBefore) {
  Settings s;
  ASSERT_EQ(Problem({{"maxscanlength", "7"}, {"insertproportion", "0.5"}, {"db", "leveldb"}}, &s), "");
  ASSERT_EQ(Problem({}, &s), "");
  EXPECT_EQ(s.maxscanlength, 1000);
  EXPECT_EQ(s.insertproportion, 0);
  EXPECT_EQ(s.db, "basic");
}

TEST(SettingsTest, HelpNamesTheProperties) {
  const std::string help = PropertyHelp();
  for (const char* name : {"recordcount=", "exponential.frac=", "measurement.interval=", "pool_size="}) {
    EXPECT_NE(help.find(std::string("  ") + name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace miodb::ycsb
