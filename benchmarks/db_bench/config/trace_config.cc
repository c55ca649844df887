#include "benchmarks/db_bench/config/trace_config.h"

namespace miodb::bench {

void RegisterTraceFlags(FlagSet* f, TraceConfig* c) {
  f->Section("Traces");
  f->Text("trace_file", &c->trace_file, "where the workload is traced to; the input of replay");
  f->Int("trace_max_file_size", &c->settings.max_file_bytes, 0, kNoBound, "bytes from which on nothing more is traced");
  f->Int("trace_sampling_frequency", &c->settings.sampling_frequency, 1, kNoBound, "trace every n-th operation");
  f->Int("trace_filter", &c->settings.filter, 0, 31,
         "sum of what is not traced: 1 gets, 2 writes, 4 seeks, 8 backward seeks, 16 multi-gets");
  f->Bool("trace_preserve_write_order", &c->settings.preserve_write_order,
          "writes as they are applied, not as they are called (miodb)");
  f->Bool("trace_own_records", &c->settings.own_records, "trace scan lengths and checksums, unlike RocksDB (miodb)");
  f->Real("trace_replay_fast_forward", &c->replay_fast_forward, 1e-6, 1e12, "how much faster to replay");
  f->Int("trace_replay_threads", &c->replay_threads, 1, 1024, "threads that replay");
  f->Bool("trace_replay_as_fast_as_possible", &c->replay_as_fast_as_possible, "replay without waiting");
}

}  // namespace miodb::bench
