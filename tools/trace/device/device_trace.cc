// device_trace: writes a trace of accesses to the memory of a pool as text. See docs/nvm_model.md.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "benchmarks/common/flags.h"
#include "miodb/trace.h"
#include "src/util/files/descriptors.h"
#include "tools/trace/device/access_output.h"
#include "tools/trace/device/wear_output.h"
#include "tools/trace/trace_end.h"

namespace {

using miodb::Status;
using miodb::TraceReader;
using miodb::bench::FlagSet;

constexpr double kMostSeconds = 1e9;
constexpr double kMostPicojoules = 1e9;
constexpr int64_t kMostBase = int64_t{1} << 62;

struct DeviceTraceOptions {
  std::string trace_path;
  std::string format = "counts";
  double from_seconds = 0;
  double to_seconds = kMostSeconds;
  int64_t base = 0;
  miodb::tools::MediumEnergy energy;
};

void RegisterFlags(FlagSet* flags, DeviceTraceOptions* options) {
  flags->Text("trace_path", &options->trace_path, "the file of Options::device_trace");
  flags->Text("format", &options->format, "of the text, see below");
  flags->Real("from_seconds", &options->from_seconds, 0, kMostSeconds, "leave out accesses before this time");
  flags->Real("to_seconds", &options->to_seconds, 0, kMostSeconds, "leave out accesses from this time on");
  flags->Int("base", &options->base, 0, kMostBase,
             "added to offsets in simulators' formats, a multiple of 256: where the simulated memory begins");
  flags->Real("read_picojoules_per_bit", &options->energy.read_picojoules_per_bit, 0, kMostPicojoules,
              "of the medium, for --format=wear");
  flags->Real("write_picojoules_per_bit", &options->energy.write_picojoules_per_bit, 0, kMostPicojoules, "the same");
}

std::unique_ptr<miodb::tools::AccessOutput> NewOutput(const DeviceTraceOptions& options) {
  if (options.format == "wear") return std::make_unique<miodb::tools::WearOutput>(options.energy, stdout);
  return miodb::tools::NewAccessOutput(options.format, static_cast<uint64_t>(options.base), stdout);
}

Status Convert(const DeviceTraceOptions& options, miodb::tools::AccessOutput* output) {
  std::unique_ptr<TraceReader> reader;
  Status s = TraceReader::Open(options.trace_path, &reader);
  if (!s.ok()) return s;
  const uint64_t from = static_cast<uint64_t>(options.from_seconds * 1e9);
  const uint64_t to = static_cast<uint64_t>(options.to_seconds * 1e9);
  bool has_accesses = false;
  for (miodb::TraceRecord record; reader->Next(&record);) {
    if (record.type != miodb::kTraceAccesses) continue;
    has_accesses = true;
    miodb::TraceAccess access;
    for (miodb::TraceAccesses accesses(record.accesses); accesses.Next(&access);) {
      if (access.nanos >= from && access.nanos < to) output->Take(access);
    }
  }
  s = miodb::tools::JudgeTraceEnd(*reader, false);
  if (!s.ok()) return s;
  if (!has_accesses)
    return Status::InvalidArgument(options.trace_path, "has no accesses: Options::device_trace makes them");
  output->Finish();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return Status::IOError("standard output", std::strerror(errno));
  }
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  if (!miodb::FillStandardDescriptors()) return 1;
  DeviceTraceOptions options;
  FlagSet flags;
  RegisterFlags(&flags, &options);
  const FlagSet::Result parsed = flags.Parse(argc, argv);
  if (parsed.outcome == FlagSet::Outcome::kHelp) {
    std::printf(
        "device_trace: writes a trace of accesses to the memory of a pool as text. docs/nvm_model.md explains it.\n"
        "%s\nFormats:\n%s",
        flags.Help().c_str(), miodb::tools::AccessFormatsHelp().c_str());
    return 0;
  }
  for (const std::string& warning : parsed.warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  std::string error = parsed.error;
  if (error.empty() && options.trace_path.empty()) error = "--trace_path is missing";
  if (error.empty() && options.base % 256 != 0) error = "--base is no multiple of 256";
  try {
    std::unique_ptr<miodb::tools::AccessOutput> output;
    if (error.empty()) output = NewOutput(options);
    if (error.empty() && output == nullptr) error = "--format=" + options.format + " is none of the formats of --help";
    if (error.empty()) {
      const Status s = Convert(options, output.get());
      if (!s.ok()) error = s.ToString();
    }
  } catch (const std::bad_alloc&) {
    error = "out of memory";
  }
  if (error.empty()) return 0;
  std::fprintf(stderr, "device_trace: %s\n", error.c_str());
  return 1;
}
