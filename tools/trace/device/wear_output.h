// The wear and the energy that the accesses of a trace cost a medium, as a table: figure,x,series,value.
//
//   figure           x                      series     value
//   blocks_256       writes                 -          blocks of 256 bytes that were written so many times
//   blocks_4096      writes                 -          the same of 4096 bytes
//   pool             offset of a stretch    purpose    writes of blocks of 256 bytes there, up to 1024 stretches
//   bytes            seconds                purpose    bytes of the blocks of 256 that were written from there on
//   amplification    seconds                -          of all bytes so far, by blocks of 256, to those of the log
//   joules           0                      read, write
//
// An access counts once for each block that it touches. A flush of bytes in their place is a write.
//
// Threads: one.

#ifndef MIODB_TOOLS_TRACE_DEVICE_WEAR_OUTPUT_H_
#define MIODB_TOOLS_TRACE_DEVICE_WEAR_OUTPUT_H_

#include <array>
#include <cstdint>
#include <cstdio>
#include <unordered_map>
#include <vector>

#include "tools/trace/device/access_output.h"

namespace miodb::tools {

// The defaults are figures of phase-change memory; docs/nvm_model.md gives the source.
struct MediumEnergy {
  double read_picojoules_per_bit = 2.47;
  double write_picojoules_per_bit = 16.82;
};

class WearOutput final : public AccessOutput {
 public:
  // Memory grows with the pages that were written, by about 120 bytes for each.
  WearOutput(const MediumEnergy& energy, FILE* out) : energy_(energy), out_(out) {}

  void Take(const TraceAccess& access) override;
  void Finish() override;

 private:
  static constexpr size_t kPurposes = TraceAccess::kManifest + 1;
  static constexpr size_t kUnitsOfPage = 16;
  using ByPurpose = std::array<uint64_t, kPurposes>;

  struct Page {
    uint32_t writes = 0;
    std::array<uint32_t, kUnitsOfPage> units{};
    std::array<uint32_t, kPurposes> by_purpose{};  // units
  };

  // Units that were written and log bytes, of a span of time.
  struct Span {
    ByPurpose units{};
    uint64_t log_bytes = 0;
  };

  Span* SpanAt(uint64_t nanos);
  void PrintBlocks() const;
  void PrintPool() const;
  void PrintTime() const;
  void PrintEnergy() const;

  const MediumEnergy energy_;
  FILE* const out_;
  std::unordered_map<uint64_t, Page> pages_;
  std::vector<Span> spans_;
  uint64_t span_nanos_ = 1000000;
  uint64_t read_units_ = 0;
};

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_DEVICE_WEAR_OUTPUT_H_
