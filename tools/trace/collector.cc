#include "tools/trace/collector.h"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>

#include "benchmarks/common/figures/progress.h"

namespace miodb::tools {

namespace {

constexpr uint64_t kRecordsBetweenLooks = 1 << 12;  // at the clock

// Figures by second need memory for each. A trace of more than three years has a damaged time in it.
constexpr uint64_t kMostSeconds = 100 * 1000 * 1000;

std::string_view View(const Slice& slice) { return std::string_view(slice.data(), slice.size()); }

void PutNumber(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out += static_cast<char>(value | 0x80);
  *out += static_cast<char>(value);
}

uint64_t TakeNumber(std::string_view* in) {
  uint64_t value = 0;
  for (int shift = 0; !in->empty(); shift += 7) {
    const unsigned char byte = static_cast<unsigned char>((*in)[0]);
    in->remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

Access AccessOf(TraceUpdate::Kind kind) {
  switch (kind) {
    case TraceUpdate::kPut:
      return kPut;
    case TraceUpdate::kDelete:
      return kDelete;
    case TraceUpdate::kSingleDelete:
      return kSingleDelete;
    case TraceUpdate::kDeleteRange:
      return kRangeDelete;
    case TraceUpdate::kMerge:
      break;
  }
  return kMerge;
}

}  // namespace

uint32_t AccessCounts::Peak() const {
  return per_second.empty() ? 0 : *std::max_element(per_second.begin(), per_second.end());
}

std::string Touch::Encode(bool with_sequence) const {
  std::string payload(1, static_cast<char>(access));
  PutNumber(&payload, micros);
  PutNumber(&payload, value_size);
  if (with_sequence) PutNumber(&payload, sequence);
  return payload;
}

Touch Touch::Decode(std::string_view payload, bool with_sequence) {
  Touch touch;
  touch.access = static_cast<Access>(payload[0]);
  payload.remove_prefix(1);
  touch.micros = TakeNumber(&payload);
  touch.value_size = TakeNumber(&payload);
  if (with_sequence) touch.sequence = TakeNumber(&payload);
  return touch;
}

std::string SortKey(uint32_t column_family, std::string_view key) {
  std::string sort_key;
  sort_key.reserve(4 + key.size());
  for (int shift = 24; shift >= 0; shift -= 8) sort_key += static_cast<char>(column_family >> shift);
  sort_key += key;
  return sort_key;
}

uint32_t SortKeyFamily(std::string_view sort_key) {
  uint32_t family = 0;
  for (size_t i = 0; i < 4; i++) family = family << 8 | static_cast<unsigned char>(sort_key[i]);
  return family;
}

Collector::Collector(const AnalyzerOptions& options, OutputFiles* files, ExternalSort* sort)
    : options_(options), sort_(sort) {
  if (options.convert_to_human_readable_trace) readable_ = files->Create("human_readable_trace.txt");
}

Status Collector::Run(TraceReader* reader) {
  start_micros_ = reader->start_micros();
  bench::ProgressLine progress(isatty(STDERR_FILENO) != 0);
  uint64_t records = 0;
  for (TraceRecord record; reader->Next(&record);) {
    Status s = SetTime(record);
    if (s.ok()) s = Take(record);
    if (!s.ok()) return s;
    if (++records % kRecordsBetweenLooks == 0) {
      progress.Show("read", static_cast<double>(reader->offset()) / static_cast<double>(reader->file_bytes()));
    }
  }
  return Status::OK();
}

Status Collector::SetTime(const TraceRecord& record) {
  // Writers of several threads may note times that go back a little.
  wall_micros_ = record.micros;
  micros_ = std::max(record.micros, start_micros_) - start_micros_;
  const uint64_t second = micros_ / 1000000;
  if (second >= kMostSeconds) {
    return Status::Corruption("offset " + std::to_string(record.offset),
                              "a record more than three years after the first");
  }
  seconds_ = std::max(seconds_, second + 1);
  duration_seconds_ = std::max(duration_seconds_, static_cast<double>(micros_) / 1e6);
  return Status::OK();
}

Status Collector::Take(const TraceRecord& record) {
  switch (record.type) {
    case kTraceWrite:
      totals_.write_batches++;
      totals_.requests++;
      return TakeWrite(record);
    case kTraceGet:
      totals_.gets++;
      totals_.requests++;
      return TakeAccess(kGet, record.column_family, record.key, Slice(), 0);
    case kTraceSeek:
      totals_.seeks++;
      totals_.requests++;
      return TakeAccess(kIteratorSeek, record.column_family, record.key, Slice(), 0);
    case kTraceSeekForPrev:
      totals_.seek_for_prevs++;
      totals_.requests++;
      return TakeAccess(kIteratorSeekForPrev, record.column_family, record.key, Slice(), 0);
    case kTraceMultiGet:
      totals_.multigets++;
      totals_.requests++;
      for (const TraceKey& key : record.keys) {
        Status s = TakeAccess(kMultiGet, key.column_family, key.key, Slice(), 0);
        if (!s.ok()) return s;
      }
      return Status::OK();
    case kTraceSeekToFirst:
    case kTraceSeekToLast:
      totals_.edge_seeks++;
      totals_.requests++;
      return Status::OK();
    case kTraceScan:
      totals_.scans++;
      if (options_.analyze_iterator) scan_lengths_[record.column_family].Add(record.nexts + record.prevs);
      return Status::OK();
    default:
      totals_.unknown++;
      return Status::OK();
  }
}

Status Collector::TakeWrite(const TraceRecord& record) {
  TraceUpdates updates(record.batch);
  for (TraceUpdate update; updates.Next(&update);) {
    const Access access = AccessOf(update.kind);
    const bool has_value = access == kPut || access == kMerge;
    Status s = TakeAccess(access, update.column_family, update.key, access == kRangeDelete ? update.value : Slice(),
                          has_value ? update.value.size() : 0);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// end: of a deleted range, which counts as one access to the key at its beginning.
Status Collector::TakeAccess(Access access, uint32_t column_family, const Slice& key, const Slice& end,
                             uint64_t value_size) {
  if (readable_ != nullptr) {
    const std::string keys =
        options_.no_key ? "" : Hex(View(key)) + " " + (access == kRangeDelete ? Hex(View(end)) + " " : "");
    readable_->Print("%s%d %u %" PRIu64 " %" PRIu64 "\n", keys.c_str(), access, column_family, value_size,
                     wall_micros_);
  }
  if (!options_.analyze[access]) return Status::OK();
  uint64_t& sampled = sampled_[access];
  if (sampled++ % options_.sample_every != 0) return Status::OK();

  AccessCounts& counts = counts_[{access, column_family}];
  counts.accesses++;
  const uint64_t second = micros_ / 1000000;
  if (counts.per_second.size() <= second) counts.per_second.resize(second + 1);
  counts.per_second[second]++;
  if (access == kPut || access == kMerge) counts.value_sizes.Add(value_size);
  Touch touch;
  touch.access = access;
  touch.micros = micros_;
  touch.value_size = value_size;
  touch.sequence = sequence_++;
  return sort_->Add(SortKey(column_family, View(key)), touch.Encode(options_.output_time_series));
}

}  // namespace miodb::tools
