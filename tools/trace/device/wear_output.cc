#include "tools/trace/device/wear_output.h"

#include <algorithm>
#include <cassert>
#include <cinttypes>
#include <map>
#include <utility>

// Counts of blocks lie by pages in a hash table, because a pool is written in some places and has others that a trace
// does not touch. Spans of time double when there are too many, so a trace of any length has some hundreds.

namespace miodb::tools {

namespace {

constexpr unsigned kPageShift = 12;
constexpr size_t kMostSpans = 1024;
constexpr uint64_t kMostStretches = 1024;

const char* NameOf(size_t purpose) { return AccessPurposeName(static_cast<TraceAccess::Purpose>(purpose)); }

}  // namespace

WearOutput::Span* WearOutput::SpanAt(uint64_t nanos) {
  while (nanos / span_nanos_ >= kMostSpans) {
    for (size_t i = 0; i < spans_.size(); i++) {
      const Span span = std::exchange(spans_[i], Span());
      Span& into = spans_[i / 2];
      for (size_t p = 0; p < kPurposes; p++) into.units[p] += span.units[p];
      into.log_bytes += span.log_bytes;
    }
    spans_.resize((spans_.size() + 1) / 2);
    span_nanos_ *= 2;
  }
  const size_t i = nanos / span_nanos_;
  if (spans_.size() <= i) spans_.resize(i + 1);
  return &spans_[i];
}

void WearOutput::Take(const TraceAccess& access) {
  const uint64_t units = BlocksOf(access, kUnitShift);
  if (access.kind == TraceAccess::kRead) read_units_ += units;
  if (access.kind != TraceAccess::kWrite && access.kind != TraceAccess::kFlush) return;
  // A write of a trace that somebody made may have none.
  if (access.purpose == TraceAccess::kNoPurpose) return;
  const size_t purpose = static_cast<size_t>(access.purpose);
  assert(purpose < kPurposes && units > 0);
  Span* const span = SpanAt(access.nanos);
  span->units[purpose] += units;
  if (access.purpose == TraceAccess::kLog) span->log_bytes += access.bytes;
  const uint64_t first = access.offset >> kUnitShift;
  Page* page = nullptr;
  for (uint64_t unit = first; unit < first + units; unit++) {
    if (page == nullptr || unit % kUnitsOfPage == 0) {
      page = &pages_[unit / kUnitsOfPage];
      page->writes++;
    }
    page->units[unit % kUnitsOfPage]++;
    page->by_purpose[purpose]++;
  }
}

void WearOutput::Finish() {
  std::fputs("figure,x,series,value\n", out_);
  PrintBlocks();
  PrintPool();
  PrintTime();
  PrintEnergy();
}

void WearOutput::PrintBlocks() const {
  std::map<uint32_t, uint64_t> units, pages;
  for (const auto& [number, page] : pages_) {
    pages[page.writes]++;
    for (const uint32_t writes : page.units) {
      if (writes > 0) units[writes]++;
    }
  }
  for (const auto& [writes, blocks] : units) std::fprintf(out_, "blocks_256,%u,-,%" PRIu64 "\n", writes, blocks);
  for (const auto& [writes, blocks] : pages) std::fprintf(out_, "blocks_4096,%u,-,%" PRIu64 "\n", writes, blocks);
}

// Stretches are as many pages as a power of two.
void WearOutput::PrintPool() const {
  uint64_t last = 0;
  for (const auto& [number, page] : pages_) last = std::max(last, number);
  unsigned shift = 0;
  while (last >> shift >= kMostStretches) shift++;
  std::map<uint64_t, ByPurpose> stretches;
  for (const auto& [number, page] : pages_) {
    ByPurpose& stretch = stretches[number >> shift];
    for (size_t p = 0; p < kPurposes; p++) stretch[p] += page.by_purpose[p];
  }
  for (const auto& [number, writes] : stretches) {
    for (size_t p = 0; p < kPurposes; p++) {
      if (writes[p] == 0) continue;
      std::fprintf(out_, "pool,%" PRIu64 ",%s,%" PRIu64 "\n", number << shift << kPageShift, NameOf(p), writes[p]);
    }
  }
}

// A span in which nothing is written has no line. Before the first byte of the log there is no amplification.
void WearOutput::PrintTime() const {
  uint64_t all = 0, logged = 0;
  for (size_t i = 0; i < spans_.size(); i++) {
    const double seconds = static_cast<double>(i) * static_cast<double>(span_nanos_) / 1e9;
    uint64_t written = 0;
    for (size_t p = 0; p < kPurposes; p++) {
      const uint64_t bytes = spans_[i].units[p] << kUnitShift;
      if (bytes > 0) std::fprintf(out_, "bytes,%.3f,%s,%" PRIu64 "\n", seconds, NameOf(p), bytes);
      written += bytes;
    }
    all += written;
    logged += spans_[i].log_bytes;
    if (written == 0 || logged == 0) continue;
    std::fprintf(out_, "amplification,%.3f,-,%.3f\n", seconds, static_cast<double>(all) / static_cast<double>(logged));
  }
}

void WearOutput::PrintEnergy() const {
  uint64_t written = 0;
  for (const Span& span : spans_) {
    for (const uint64_t units : span.units) written += units;
  }
  const auto joules = [](uint64_t units, double picojoules_per_bit) {
    return static_cast<double>(units << kUnitShift) * 8 * picojoules_per_bit * 1e-12;
  };
  std::fprintf(out_, "joules,0,read,%.6g\n", joules(read_units_, energy_.read_picojoules_per_bit));
  std::fprintf(out_, "joules,0,write,%.6g\n", joules(written, energy_.write_picojoules_per_bit));
}

}  // namespace miodb::tools
