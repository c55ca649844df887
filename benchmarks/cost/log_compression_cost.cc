// The savings and the cost of compressing the records of a log in files: bytes for each put, and the CPU time of a
// writer and of a recovery.
//
//   log_compression_cost [--key_size=BYTES] [--value_size=BYTES] [--group=PUTS] [--seed=N] [--csv=FILE]
//
// A record is the batch of a write group, of so many puts (1), with values that a compressor brings down to a half, as
// db_bench makes them. "none" is the log as it is: a header of 7 bytes and a checksum. The others compress the record
// and make a checksum of the result; "zstd-stream" is one stream for all records of the log, flushed at each, as
// RocksDB's wal_compression has it. Blocks and their padding are left out. Codecs that this program was built without
// are left out.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/common/flags.h"
#include "benchmarks/cost/cost.h"
#include "benchmarks/db_bench/config/generator.h"
#include "src/util/bytes/crc32c.h"

#ifdef MIODB_WITH_SNAPPY
#include <snappy.h>
#endif
#ifdef MIODB_WITH_ZSTD
#include <zstd.h>
#endif

namespace {

using miodb::cost::Clock;
using miodb::cost::Since;

constexpr size_t kFragmentHeaderBytes = 7;
constexpr size_t kBatchHeaderBytes = 12;
constexpr uint64_t kLogBytes = uint64_t{32} << 20;
constexpr uint64_t kMostRecords = 200 * 1000;

struct Command {
  uint64_t key_bytes = 16;
  uint64_t value_bytes = 100;
  uint64_t group = 1;
  uint64_t seed = 1;
  std::string csv;
};

// Empty after a failure.
using Transform = std::function<std::string_view(std::string_view input, std::string* output)>;

struct Codec {
  const char* name;
  Transform write;
  Transform read;  // output has room for the record
};

struct Figures {
  const char* name;
  double record_bytes, log_bytes, saved_percent, write_nanos, read_nanos;
};

void PutLength(std::string* record, size_t size) {
  for (; size >= 128; size >>= 7) record->push_back(static_cast<char>(size | 128));
  record->push_back(static_cast<char>(size));
}

std::vector<std::string> MakeRecords(const Command& command) {
  const miodb::bench::ValuePool pool(command.seed, 0.5, command.value_bytes);
  miodb::bench::ValueCursor values(pool, 0);
  const uint64_t put_bytes = command.key_bytes + command.value_bytes + 8;
  const uint64_t count = std::clamp<uint64_t>(kLogBytes / (command.group * put_bytes), 100, kMostRecords);
  std::vector<std::string> records;
  for (uint64_t i = 0; i < count; i++) {
    std::string record(kBatchHeaderBytes, '\0');
    for (size_t byte = 0; byte < 8; byte++) record[byte] = static_cast<char>((i * command.group + 1) >> (8 * byte));
    for (size_t byte = 0; byte < 4; byte++) record[8 + byte] = static_cast<char>(command.group >> (8 * byte));
    for (uint64_t put = 0; put < command.group; put++) {
      std::string key = miodb::cost::Key(i * command.group + put + command.seed);
      key.resize(command.key_bytes, '0');
      const std::string_view value = values.Next(command.value_bytes);
      record.push_back(1);
      PutLength(&record, key.size());
      record += key;
      PutLength(&record, value.size());
      record += value;
    }
    records.push_back(std::move(record));
  }
  return records;
}

#ifdef MIODB_WITH_SNAPPY
Codec Snappy() {
  return {"snappy",
          [](std::string_view input, std::string* output) {
            output->resize(snappy::MaxCompressedLength(input.size()));
            size_t bytes = 0;
            snappy::RawCompress(input.data(), input.size(), output->data(), &bytes);
            return std::string_view(output->data(), bytes);
          },
          [](std::string_view input, std::string* output) {
            return std::string_view(
                output->data(), snappy::RawUncompress(input.data(), input.size(), output->data()) ? output->size() : 0);
          }};
}
#endif

#ifdef MIODB_WITH_ZSTD
// The contexts live as long as the program.
Codec Zstd() {
  ZSTD_CCtx* const writer = ZSTD_createCCtx();
  ZSTD_DCtx* const reader = ZSTD_createDCtx();
  return {
      "zstd",
      [writer](std::string_view input, std::string* output) {
        output->resize(ZSTD_compressBound(input.size()));
        const size_t bytes = ZSTD_compressCCtx(writer, output->data(), output->size(), input.data(), input.size(), 1);
        return std::string_view(output->data(), ZSTD_isError(bytes) ? 0 : bytes);
      },
      [reader](std::string_view input, std::string* output) {
        const size_t bytes = ZSTD_decompressDCtx(reader, output->data(), output->size(), input.data(), input.size());
        return std::string_view(output->data(), ZSTD_isError(bytes) ? 0 : bytes);
      }};
}

Codec ZstdStream() {
  ZSTD_CCtx* const writer = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(writer, ZSTD_c_compressionLevel, 1);
  ZSTD_DCtx* const reader = ZSTD_createDCtx();
  return {"zstd-stream",
          [writer](std::string_view input, std::string* output) {
            output->resize(ZSTD_compressBound(input.size()) + 64);  // the frame's header, and the end of a block
            ZSTD_inBuffer in = {input.data(), input.size(), 0};
            ZSTD_outBuffer out = {output->data(), output->size(), 0};
            const size_t left = ZSTD_compressStream2(writer, &out, &in, ZSTD_e_flush);
            return std::string_view(output->data(), left == 0 ? out.pos : 0);
          },
          [reader](std::string_view input, std::string* output) {
            ZSTD_inBuffer in = {input.data(), input.size(), 0};
            ZSTD_outBuffer out = {output->data(), output->size(), 0};
            while (in.pos < in.size) {
              if (ZSTD_isError(ZSTD_decompressStream(reader, &out, &in))) return std::string_view();
            }
            return std::string_view(output->data(), out.pos);
          }};
}
#endif

Codec None() {
  const Transform same = [](std::string_view input, std::string*) { return input; };
  return {"none", same, same};
}

std::vector<Codec> Codecs() {
  std::vector<Codec> codecs = {None()};
#ifdef MIODB_WITH_SNAPPY
  codecs.push_back(Snappy());
#endif
#ifdef MIODB_WITH_ZSTD
  codecs.push_back(Zstd());
  codecs.push_back(ZstdStream());
#endif
  return codecs;
}

// Nanoseconds are those of a put, bytes too.
Figures Measure(const Codec& codec, const std::vector<std::string>& records, uint64_t group) {
  std::vector<std::string> log(records.size());
  std::vector<uint32_t> checksums(records.size());
  std::string output;
  uint64_t record_bytes = 0, log_bytes = 0;
  double write_nanos = 0;
  for (size_t i = 0; i < records.size(); i++) {
    const Clock::time_point start = Clock::now();
    const std::string_view payload = codec.write(records[i], &output);
    checksums[i] = miodb::Crc32c(payload.data(), payload.size());
    write_nanos += Since<std::nano>(start);
    miodb::cost::Check(payload.empty() ? miodb::Status::Corruption(codec.name, "does not compress")
                                       : miodb::Status::OK());
    log[i] = payload;
    record_bytes += records[i].size();
    log_bytes += kFragmentHeaderBytes + payload.size();
  }
  double read_nanos = 0;
  for (size_t i = 0; i < records.size(); i++) {
    output.resize(records[i].size());
    const Clock::time_point start = Clock::now();
    const bool checks = miodb::Crc32c(log[i].data(), log[i].size()) == checksums[i];
    const std::string_view record = codec.read(log[i], &output);
    read_nanos += Since<std::nano>(start);
    miodb::cost::Check(checks && record == records[i] ? miodb::Status::OK()
                                                      : miodb::Status::Corruption(codec.name, "gives other bytes"));
  }
  const double puts = static_cast<double>(records.size() * group);
  const double plain = static_cast<double>(record_bytes + kFragmentHeaderBytes * records.size());
  return {codec.name,
          plain / puts,
          static_cast<double>(log_bytes) / puts,
          100 * (1 - static_cast<double>(log_bytes) / plain),
          write_nanos / puts,
          read_nanos / puts};
}

bool WriteCsv(const std::string& path, const std::vector<Figures>& all) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  std::fprintf(file, "name,record_bytes,log_bytes,saved_percent,write_ns,read_ns\n");
  for (const Figures& f : all) {
    std::fprintf(file, "%s,%.2f,%.2f,%.2f,%.1f,%.1f\n", f.name, f.record_bytes, f.log_bytes, f.saved_percent,
                 f.write_nanos, f.read_nanos);
  }
  return std::fclose(file) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  Command command;
  miodb::bench::FlagSet flags;
  flags.Int("key_size", &command.key_bytes, 1, 1 << 16, "bytes");
  flags.Int("value_size", &command.value_bytes, 1, 1 << 20, "bytes");
  flags.Int("group", &command.group, 1, 1000, "puts of a record");
  flags.Int("seed", &command.seed, 0, miodb::bench::kNoBound, "keys and values are drawn from it");
  flags.Text("csv", &command.csv, "a file that gets the table");
  const auto result = flags.Parse(argc, argv);
  if (result.outcome != miodb::bench::FlagSet::Outcome::kRun) {
    std::fprintf(stderr, "log_compression_cost: %s\n%s", result.error.c_str(), flags.Help().c_str());
    return 2;
  }
  const std::vector<std::string> records = MakeRecords(command);
  std::vector<Figures> all;
  std::printf("%-12s %12s %12s %12s %12s %12s\n", "codec", "bytes/put", "log bytes", "saved %", "write ns", "read ns");
  for (const Codec& codec : Codecs()) {
    all.push_back(Measure(codec, records, command.group));
    const Figures& f = all.back();
    std::printf("%-12s %12.1f %12.1f %12.1f %12.1f %12.1f\n", f.name, f.record_bytes, f.log_bytes, f.saved_percent,
                f.write_nanos, f.read_nanos);
  }
  if (command.csv.empty() || WriteCsv(command.csv, all)) return 0;
  std::fprintf(stderr, "log_compression_cost: --csv=%s: cannot be written\n", command.csv.c_str());
  return 2;
}
