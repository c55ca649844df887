#include "tools/trace/device/access_output.h"

#include <array>
#include <cassert>
#include <cinttypes>
#include <map>
#include <utility>

// Simulators of memory take requests for lines of 64 bytes, so an access becomes a line of text for each line that it
// touches. Stores and flushes are writes there; fences have no word in any of the formats and are left out.

namespace miodb::tools {

namespace {

// A request of a simulator.
struct Request {
  bool is_write;
  uint64_t address;  // of the line
  uint64_t nanos;
  uint64_t number;  // from 1 on
};

void PrintRamulator(FILE* out, const Request& r) {
  std::fprintf(out, "0x%" PRIx64 " %c\n", r.address, r.is_write ? 'W' : 'R');
}

void PrintRamulator2(FILE* out, const Request& r) {
  std::fprintf(out, "%s 0x%" PRIx64 "\n", r.is_write ? "ST" : "LD", r.address);
}

// A tick is a picosecond.
void PrintGem5(FILE* out, const Request& r) {
  std::fprintf(out, "%c,%" PRIu64 ",64,%" PRIu64 "\n", r.is_write ? 'w' : 'r', r.address, r.nanos * 1000);
}

// An instruction of gem5's pipeline view, which is fetched and retired at the time of the request. A retirement at 0
// would not count.
void PrintPipeline(FILE* out, const Request& r) {
  const char* const name = r.is_write ? "store" : "load";
  const uint64_t tick = r.nanos * 1000 + 1;
  std::fprintf(out,
               "O3PipeView:fetch:%" PRIu64 ":0x0:0:%" PRIu64 ":%s\nO3PipeView:retire:%" PRIu64 ":%s:%" PRIu64
               "\nO3PipeView:address:%" PRIu64 "\n",
               tick, r.number, name, tick, name, tick, r.address);
}

class RequestOutput final : public AccessOutput {
 public:
  using Print = void (*)(FILE*, const Request&);
  RequestOutput(Print print, uint64_t base, FILE* out) : print_(print), base_(base), out_(out) {}

  void Take(const TraceAccess& access) override {
    const uint64_t lines = BlocksOf(access, kLineShift), first = (base_ + access.offset) >> kLineShift;
    for (uint64_t i = 0; i < lines; i++) {
      print_(out_, {access.kind != TraceAccess::kRead, (first + i) << kLineShift, access.nanos, ++requests_});
    }
  }

 private:
  const Print print_;
  const uint64_t base_;
  FILE* const out_;
  uint64_t requests_ = 0;
};

class CsvOutput final : public AccessOutput {
 public:
  explicit CsvOutput(FILE* out) : out_(out) { std::fputs("nanos,thread,kind,purpose,offset,bytes\n", out_); }

  void Take(const TraceAccess& access) override {
    std::fprintf(out_, "%" PRIu64 ",%u,%s,%s,%" PRIu64 ",%u\n", access.nanos, access.thread,
                 AccessKindName(access.kind), AccessPurposeName(access.purpose), access.offset, access.bytes);
  }

 private:
  FILE* const out_;
};

// The same figures as the counters of a database.
class CountsOutput final : public AccessOutput {
 public:
  explicit CountsOutput(FILE* out) : out_(out) {}

  void Take(const TraceAccess& access) override {
    Counts& counts = counts_[{access.kind, access.purpose}];
    counts[0]++;
    counts[1] += access.bytes;
    counts[2] += BlocksOf(access, kLineShift);
    counts[3] += BlocksOf(access, kUnitShift);
  }

  void Finish() override {
    std::fputs("kind,purpose,accesses,bytes,lines_64,units_256\n", out_);
    for (const auto& [what, counts] : counts_) {
      std::fprintf(out_, "%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", AccessKindName(what.first),
                   AccessPurposeName(what.second), counts[0], counts[1], counts[2], counts[3]);
    }
  }

 private:
  using Counts = std::array<uint64_t, 4>;
  FILE* const out_;
  std::map<std::pair<TraceAccess::Kind, TraceAccess::Purpose>, Counts> counts_;
};

struct RequestFormat {
  const char* name;
  RequestOutput::Print print;
  const char* help;
};

constexpr RequestFormat kRequestFormats[] = {
    {"ramulator", PrintRamulator, "Ramulator's memory trace: \"0x12340 R\""},
    {"ramulator2", PrintRamulator2, "Ramulator 2's LoadStoreTrace: \"LD 0x12340\""},
    {"vans", PrintRamulator, "VANS: as Ramulator's, without idle clocks"},
    {"gem5", PrintGem5, "gem5's util/encode_packet_trace.py: \"r,74560,64,1000\", the last a tick of a picosecond"},
    {"cxlmemsim", PrintPipeline, "CXLMemSimRoB: gem5's O3PipeView, an instruction for each request"},
};

}  // namespace

const char* AccessKindName(TraceAccess::Kind kind) {
  static constexpr const char* kNames[] = {"read", "write", "flush", "fence"};
  assert(kind >= 0 && kind <= TraceAccess::kFence);
  return kNames[kind];
}

const char* AccessPurposeName(TraceAccess::Purpose purpose) {
  static constexpr const char* kNames[] = {"log", "flush", "merge", "lazy-copy", "evacuation", "manifest"};
  if (purpose == TraceAccess::kNoPurpose) return "-";
  assert(purpose >= 0 && purpose <= TraceAccess::kManifest);
  return kNames[purpose];
}

uint64_t BlocksOf(const TraceAccess& access, unsigned shift) {
  if (access.bytes == 0) return 0;
  return ((access.offset + access.bytes - 1) >> shift) - (access.offset >> shift) + 1;
}

std::string AccessFormatsHelp() {
  std::string text =
      "  csv         an access a line: nanos,thread,kind,purpose,offset,bytes\n"
      "  counts      accesses, bytes, lines of 64 and units of 256 bytes of each kind and purpose\n"
      "  wear        writes of blocks, over the pool and over time, and energy, for tools/trace_plot --wearfile\n";
  for (const RequestFormat& format : kRequestFormats) {
    std::string name = format.name;
    name.resize(12, ' ');
    text += "  " + name + format.help + "\n";
  }
  return text;
}

std::unique_ptr<AccessOutput> NewAccessOutput(const std::string& format, uint64_t base, FILE* out) {
  assert(out != nullptr && base % (1 << kUnitShift) == 0);
  if (format == "csv") return std::make_unique<CsvOutput>(out);
  if (format == "counts") return std::make_unique<CountsOutput>(out);
  for (const RequestFormat& request : kRequestFormats) {
    if (format == request.name) return std::make_unique<RequestOutput>(request.print, base, out);
  }
  return nullptr;
}

}  // namespace miodb::tools
