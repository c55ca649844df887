#include "benchmarks/common/figures/hdr_log.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

#include "benchmarks/common/clock/ticks.h"

namespace miodb::bench {

namespace {

// Version 2 of the encoding. The lower half byte of the upper word says how wide counts are: variable.
constexpr uint32_t kHistogramCookie = 0x1c849313;
constexpr uint32_t kCompressedCookie = 0x1c849314;
constexpr uint32_t kSignificantDigits = 3;
constexpr uint64_t kLowest = 1;
constexpr uint64_t kHighest = (uint64_t{1} << FineLatencyHistogram::kMaxBits) - 1;

// Most significant byte first.
void PutFixed(std::string* bytes, uint64_t number, int width) {
  for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) *bytes += static_cast<char>(number >> shift);
}

// Seven bits a byte, least first, of a number whose sign is its lowest bit; a ninth byte has eight bits.
void PutZigZag(std::string* bytes, int64_t number) {
  uint64_t rest = (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
  for (int i = 0; i < 8 && rest >= 0x80; i++, rest >>= 7) *bytes += static_cast<char>(rest | 0x80);
  *bytes += static_cast<char>(rest);
}

// Counts up to the last bucket that has any; a run of empty ones is its length below zero.
std::string Counts(const FineLatencyHistogram& histogram) {
  std::string bytes;
  int64_t empty = 0;
  for (size_t b = 0; b < FineLatencyHistogram::kBuckets; b++) {
    const uint64_t count = histogram.bucket(b);
    if (count == 0) {
      empty++;
      continue;
    }
    if (empty > 0) PutZigZag(&bytes, -empty);
    empty = 0;
    PutZigZag(&bytes, static_cast<int64_t>(count));
  }
  return bytes;
}

uint32_t Adler32(std::string_view bytes) {
  constexpr uint32_t kPrime = 65521;
  uint32_t low = 1, high = 0;
  for (const char byte : bytes) {
    low = (low + static_cast<unsigned char>(byte)) % kPrime;
    high = (high + low) % kPrime;
  }
  return high << 16 | low;
}

// A zlib stream of stored blocks.
std::string Stored(std::string_view bytes) {
  constexpr size_t kMostStored = 65535;
  std::string stream = "\x78\x01";
  const uint32_t checksum = Adler32(bytes);
  do {
    const size_t length = std::min(bytes.size(), kMostStored);
    stream += static_cast<char>(length == bytes.size());
    for (const size_t field : {length, ~length}) {
      stream += static_cast<char>(field);
      stream += static_cast<char>(field >> 8);
    }
    stream += bytes.substr(0, length);
    bytes.remove_prefix(length);
  } while (!bytes.empty());
  PutFixed(&stream, checksum, 4);
  return stream;
}

std::string Base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t present = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; k++) group = group << 8 | (k < present ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; k++) text += k <= present ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

double EpochSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string EncodeHdrHistogram(const FineLatencyHistogram& histogram) {
  const std::string counts = Counts(histogram);
  std::string plain;
  PutFixed(&plain, kHistogramCookie, 4);
  PutFixed(&plain, counts.size(), 4);
  PutFixed(&plain, 0, 4);  // no offset
  PutFixed(&plain, kSignificantDigits, 4);
  PutFixed(&plain, kLowest, 8);
  PutFixed(&plain, kHighest, 8);
  PutFixed(&plain, std::bit_cast<uint64_t>(1.0), 8);  // what integers stand for
  const std::string stream = Stored(plain + counts);
  std::string bytes;
  PutFixed(&bytes, kCompressedCookie, 4);
  PutFixed(&bytes, stream.size(), 4);
  return Base64(bytes + stream);
}

HdrLogs::HdrLogs(std::string prefix)
    : prefix_(std::move(prefix)), base_nanos_(Ticks::MonotonicNanos()), base_seconds_(EpochSeconds()) {}

std::string HdrLogs::Header() const {
  const time_t seconds = static_cast<time_t>(base_seconds_);
  tm local;
  char date[60];
  std::strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Z %Y", localtime_r(&seconds, &local));
  char text[400];
  std::snprintf(text, sizeof(text),
                "#[Histogram log format version 1.3]\n#[Nanoseconds of operations]\n"
                "#[StartTime: %.3f (seconds since epoch), %s]\n#[BaseTime: %.3f (seconds since epoch)]\n"
                "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
                base_seconds_, date, base_seconds_);
  return text;
}

std::string HdrLogs::Append(const std::string& operation, const std::string& tag, uint64_t begin_nanos,
                            uint64_t end_nanos, const FineLatencyHistogram& histogram) {
  const auto [it, is_new] = paths_.try_emplace(operation, prefix_ + operation + ".hdr");
  std::string text = is_new ? Header() : "";
  char times[100];
  std::snprintf(times, sizeof(times), "%.3f,%.3f,%.3f,",
                static_cast<double>(std::max(begin_nanos, base_nanos_) - base_nanos_) / 1e9,
                static_cast<double>(end_nanos - begin_nanos) / 1e9, static_cast<double>(histogram.max()) / 1e6);
  text += "Tag=" + tag + "," + times + EncodeHdrHistogram(histogram) + "\n";
  std::FILE* const file = std::fopen(it->second.c_str(), is_new ? "we" : "ae");
  const bool is_written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  const bool is_closed = file != nullptr && std::fclose(file) == 0;
  if (is_written && is_closed) return "";
  return "cannot write " + it->second + ": " + std::strerror(errno);
}

}  // namespace miodb::bench
