// log_faults: puts faults into a closed log, one in each copy, recovers the copies, and counts which faults are told
// from the end of the log. docs/crash_model.md explains the classes.

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/common/flags.h"
#include "tests/log/log_faults.h"

namespace miodb::test {
namespace {

// Bytes of keys and values. Each fault reads the whole log.
constexpr uint64_t kMostBytes = uint64_t{16} << 20;

struct Command {
  LogShape shape;
  uint64_t seed = 1;
  uint64_t faults = 4000;
  std::string csv;
};

struct Row {
  std::string name;
  FaultCounts counts;
};

void Register(bench::FlagSet* flags, Command* command) {
  flags->Section("The log");
  flags->Word("log", &command->shape.medium,
              {{"file", LogMedium::kFile}, {"padded", LogMedium::kPaddedFile}, {"pool", LogMedium::kPool}},
              "file: in a file; padded: the same with wal_padding; pool: a chunk of the pool");
  flags->Int("records", &command->shape.records, 2, 1000000, "writes, each of one record");
  flags->Int("key_size", &command->shape.key_bytes, 1, 1 << 16, "bytes");
  flags->Int("value_size", &command->shape.value_bytes, 0, 1 << 20, "bytes");
  flags->Int("wal_block_size", &command->shape.block_bytes, kLeastLogBlock, kMostLogBlock, "bytes; a power of two");
  flags->Section("The faults");
  flags->Int("faults", &command->faults, 1, bench::kNoBound, "of each kind; of bits all, if there are no more");
  flags->Int("seed", &command->seed, 0, bench::kNoBound, "records and faults are drawn from it");
  flags->Section("The report");
  flags->Text("csv", &command->csv, "a file that gets the table, with each part of a sector in a row of its own");
}

// The sum of the parts of a sector goes before its parts.
void AddTornRows(const Command& command, ClosedLog* log, Random* random, std::vector<Row>* rows) {
  constexpr std::pair<const char*, TornPart> kParts[] = {{"prefix", TornPart::kPrefix},
                                                         {"middle", TornPart::kMiddle},
                                                         {"suffix", TornPart::kSuffix},
                                                         {"whole", TornPart::kWhole}};
  for (const uint64_t sector_bytes : {512, 4096}) {
    for (const TornContent content : {TornContent::kZeros, TornContent::kOld}) {
      const std::string name =
          "torn-" + std::to_string(sector_bytes) + (content == TornContent::kZeros ? "-zeros" : "-old");
      const size_t sum = rows->size();
      rows->push_back({name, {}});
      for (const auto& [part_name, part] : kParts) {
        const FaultCounts counts = TearSectors(log, {sector_bytes, part, content}, command.faults, random);
        (*rows)[sum].counts.Add(counts);
        rows->push_back({name + "-" + part_name, counts});
      }
    }
  }
}

double Percent(uint64_t part, const FaultCounts& counts) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(counts.faults);
}

void Print(const std::vector<Row>& rows) {
  std::printf("%-24s %8s %8s %8s %8s %8s %8s %8s %8s\n", "fault", "faults", "told", "last", "before", "harmless",
              "missed", "wrong", "told %");
  for (const Row& row : rows) {
    const FaultCounts& c = row.counts;
    std::printf("%-24s", row.name.c_str());
    for (const uint64_t count : {c.faults, c.told, c.last, c.before, c.harmless, c.missed, c.wrong}) {
      std::printf(" %8llu", static_cast<unsigned long long>(count));
    }
    std::printf(" %8.3f\n", Percent(c.told, c));
  }
}

bool WriteCsv(const std::string& path, const std::vector<Row>& rows) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  std::fprintf(file, "name,faults,told,last,before,harmless,missed,wrong,told_percent,last_percent,before_percent\n");
  for (const Row& row : rows) {
    const FaultCounts& c = row.counts;
    std::fprintf(file, "%s", row.name.c_str());
    for (const uint64_t count : {c.faults, c.told, c.last, c.before, c.harmless, c.missed, c.wrong}) {
      std::fprintf(file, ",%llu", static_cast<unsigned long long>(count));
    }
    std::fprintf(file, ",%.4f,%.4f,%.4f\n", Percent(c.told, c), Percent(c.last, c), Percent(c.before, c));
  }
  return std::fclose(file) == 0;
}

// 0: no fault was taken for data, and none was missed; 1: one was; 2: the report could not be written.
int Run(const Command& command) {
  ClosedLog log(command.shape, command.seed);
  Random random(command.seed + 1);
  std::vector<Row> rows = {{"bit", TurnBits(&log, command.faults, &random)}};
  AddTornRows(command, &log, &random, &rows);
  std::printf("A log of %llu records in %llu bytes, recovered behind each fault:\n\n",
              static_cast<unsigned long long>(command.shape.records), static_cast<unsigned long long>(log.used()));
  Print(rows);
  if (!command.csv.empty() && !WriteCsv(command.csv, rows)) {
    std::fprintf(stderr, "log_faults: --csv=%s: cannot be written\n", command.csv.c_str());
    return 2;
  }
  FaultCounts sum;
  for (const Row& row : rows) sum.Add(row.counts);
  return sum.wrong == 0 && sum.missed == 0 ? 0 : 1;
}

int Main(int argc, char** argv) {
  Command command;
  bench::FlagSet flags;
  Register(&flags, &command);
  const bench::FlagSet::Result result = flags.Parse(argc, argv);
  if (result.outcome == bench::FlagSet::Outcome::kError) {
    std::fprintf(stderr, "log_faults: %s\n", result.error.c_str());
    return 2;
  }
  if (result.outcome != bench::FlagSet::Outcome::kRun) {
    std::printf("usage: log_faults [options]\n\n%s", flags.Help().c_str());
    return 0;
  }
  if (!IsLogBlockSize(command.shape.block_bytes)) {
    std::fprintf(stderr, "log_faults: Invalid flag '--wal_block_size=%zu': no power of two\n",
                 command.shape.block_bytes);
    return 2;
  }
  const LogShape& shape = command.shape;
  if (shape.records * (shape.key_bytes + shape.value_bytes) > kMostBytes) {
    std::fprintf(stderr, "log_faults: --records=%llu: a log of more than %llu bytes\n",
                 static_cast<unsigned long long>(shape.records), static_cast<unsigned long long>(kMostBytes));
    return 2;
  }
  return Run(command);
}

}  // namespace
}  // namespace miodb::test

int main(int argc, char** argv) { return miodb::test::Main(argc, argv); }
