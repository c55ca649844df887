// trace_analyzer: what a trace of a database says about its workload. See docs/tracing.md.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "benchmarks/common/figures/progress.h"
#include "miodb/trace.h"
#include "src/util/files/descriptors.h"
#include "tools/trace/analyzer_options.h"
#include "tools/trace/analyzer_report.h"
#include "tools/trace/collector.h"
#include "tools/trace/external_sort.h"
#include "tools/trace/key_analysis.h"
#include "tools/trace/output_files.h"
#include "tools/trace/trace_end.h"

namespace {

using miodb::Status;
using miodb::TraceReader;
using miodb::bench::FlagSet;
using miodb::tools::AnalyzerOptions;

Status Analyze(const AnalyzerOptions& options) {
  std::unique_ptr<TraceReader> reader;
  Status s = TraceReader::Open(options.trace_path, &reader);
  if (!s.ok()) return s;
  miodb::tools::OutputFiles files(options.output_dir, options.output_prefix);
  s = files.MakeFolder();
  if (!s.ok()) return s;
  miodb::tools::ExternalSort sort(options.output_dir, static_cast<size_t>(options.memory_mb) << 20);
  miodb::tools::Collector collected(options, &files, &sort);
  s = collected.Run(reader.get());
  if (s.ok()) s = miodb::tools::JudgeTraceEnd(*reader, options.try_process_corrupted_trace);
  if (s.ok()) s = sort.Finish();
  if (!s.ok()) return s;
  miodb::tools::KeyAnalysis keys(options, collected, &files);
  {
    miodb::bench::ProgressLine progress(isatty(STDERR_FILENO) != 0);
    s = keys.Run(&sort, &progress);
  }
  if (!s.ok()) return s;
  WriteOverallFiles(options, collected, keys, &files);
  s = files.Finish();
  if (!s.ok()) return s;
  if (!options.no_print) std::fputs(ReportText(options, collected, keys).c_str(), stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return Status::IOError("standard output", std::strerror(errno));
  }
  return files.Commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (!miodb::FillStandardDescriptors()) return 1;
  AnalyzerOptions options;
  FlagSet flags;
  miodb::tools::RegisterAnalyzerFlags(&flags, &options);
  const FlagSet::Result parsed = flags.Parse(argc, argv);
  if (parsed.outcome == FlagSet::Outcome::kHelp) {
    std::printf("trace_analyzer: what a trace says about its workload. docs/tracing.md explains options and files.\n%s",
                flags.Help().c_str());
    return 0;
  }
  for (const std::string& warning : parsed.warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  std::string error = parsed.error;
  if (error.empty()) error = FinishAnalyzerOptions(&options);
  if (error.empty()) {
    try {
      const Status s = Analyze(options);
      if (!s.ok()) error = s.ToString();
    } catch (const std::bad_alloc&) {
      error = "out of memory, with --memory_mb=" + std::to_string(options.memory_mb);
    }
  }
  if (error.empty()) return 0;
  std::fprintf(stderr, "trace_analyzer: %s\n", error.c_str());
  return 1;
}
