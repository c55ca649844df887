#include "benchmarks/db_bench/config/generator.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "benchmarks/db_bench/config/config.h"

namespace miodb::bench {

namespace {

constexpr size_t kMinPoolBytes = 1 << 20;

void PutBigEndian(char* out, size_t bytes, uint64_t number) {
  for (size_t i = 0; i < bytes; i++) out[i] = static_cast<char>(number >> (8 * (bytes - 1 - i)));
}

}  // namespace

KeyFormat::KeyFormat(const Config& config)
    : binary_(config.key_format == "binary"),
      lead_bytes_(static_cast<size_t>(config.key_prefix)),
      prefix_bytes_(binary_ && config.keys_per_prefix > 0 ? static_cast<size_t>(config.prefix_size) : 0),
      number_bytes_(0),
      key_bytes_(lead_bytes_ + static_cast<size_t>(config.key_size)),
      second_bytes_(config.second_key_size == 0 ? key_bytes_
                                                : lead_bytes_ + static_cast<size_t>(config.second_key_size)),
      second_share_(config.second_key_share),
      prefixes_(prefix_bytes_ > 0 ? std::max<int64_t>(1, config.num / config.keys_per_prefix) : 0) {
  const size_t key_size = std::min(key_bytes_, second_bytes_) - lead_bytes_;
  const size_t left = key_size > prefix_bytes_ ? key_size - prefix_bytes_ : 0;
  number_bytes_ = binary_ ? std::min<size_t>(8, left) : left;
}

std::string KeyFormat::Problem(int64_t num) const {
  uint64_t last = static_cast<uint64_t>(num - 1);
  size_t needed = 1;
  while ((last = binary_ ? last >> 8 : last / 10) > 0) needed++;
  if (number_bytes_ >= needed) return "";
  const char* const flag = second_bytes_ < key_bytes_ ? "second_key_size" : "key_size";
  return std::string("keys of --") + flag + "=" + std::to_string(std::min(key_bytes_, second_bytes_) - lead_bytes_) +
         " bytes have room for " + std::to_string(number_bytes_) + " bytes of number, --num=" + std::to_string(num) +
         " needs " + std::to_string(needed);
}

// A number says the same each time, whoever asks, and neighbours have nothing to do with each other.
bool KeyFormat::IsSecond(uint64_t number) const {
  return static_cast<double>(SplitMix(&number) >> 11) * 0x1p-53 < second_share_;
}

KeyBuffer::KeyBuffer(const KeyFormat& format, const ExistingKeys* existing)
    : format_(format), existing_(existing), bytes_(std::max(format.key_bytes_, format.second_bytes_) + 1, '0') {
  std::fill_n(bytes_.begin(), format.lead_bytes_, 'a');
}

std::string_view KeyBuffer::MakeWith(uint64_t number, char last) {
  if (existing_ != nullptr) {
    bytes_.assign(existing_->At(number));
    bytes_.push_back(last);
    return bytes_;
  }
  Fill(number);
  marked_ = format_.Bytes(number);
  bytes_[marked_] = last;
  return std::string_view(bytes_.data(), marked_ + 1);
}

void KeyBuffer::Fill(uint64_t number) {
  if (marked_ > 0) bytes_[marked_] = '0';
  char* out = &bytes_[format_.lead_bytes_];
  if (!format_.binary_) {
    size_t zeros = format_.number_bytes_;
    for (; number > 0; number /= 10) out[--zeros] = static_cast<char>('0' + number % 10);
    std::fill_n(out, zeros, '0');
    return;
  }
  if (format_.prefixes_ > 0) {
    PutBigEndian(out, std::min<size_t>(8, format_.prefix_bytes_), number % format_.prefixes_);
    out += format_.prefix_bytes_;
  }
  PutBigEndian(out, format_.number_bytes_, number);
}

ValueSizes::ValueSizes(const Config& config)
    : ValueSizes(config.value_size_distribution_type == "uniform"  ? Kind::kUniform
                 : config.value_size_distribution_type == "normal" ? Kind::kNormal
                                                                   : Kind::kFixed,
                 static_cast<size_t>(config.value_size_min), static_cast<size_t>(config.value_size_max)) {
  if (kind_ == Kind::kFixed) min_ = max_ = static_cast<size_t>(config.value_size);
}

size_t ValueSizes::Draw(Random* random) const {
  if (kind_ == Kind::kUniform) return min_ + random->Uniform(max_ - min_ + 1);
  // Box and Muller; 1 - Unit() is never 0.
  const double radius = std::sqrt(-2 * std::log(1 - random->Unit()));
  const double deviate = radius * std::cos(2 * std::numbers::pi * random->Unit());
  const double size = mean() + deviate * static_cast<double>(max_ - min_) / 6;
  return static_cast<size_t>(std::clamp(std::round(size), static_cast<double>(min_), static_cast<double>(max_)));
}

std::string ValueSizes::ToString() const {
  if (kind_ == Kind::kFixed) return std::to_string(max_) + " bytes each";
  return std::string(kind_ == Kind::kUniform ? "uniform" : "normal") + " from " + std::to_string(min_) + " to " +
         std::to_string(max_) + " bytes";
}

ValuePool::ValuePool(uint64_t seed, double compression_ratio, size_t max_value_bytes) {
  const size_t distinct = std::max<size_t>(1, static_cast<size_t>(kPieceBytes * compression_ratio));
  const size_t size = std::max(kMinPoolBytes, 2 * max_value_bytes);
  bytes_.reserve(size + kPieceBytes);
  Random random(seed);
  std::string piece(distinct, ' ');
  while (bytes_.size() < size) {
    for (char& c : piece) c = static_cast<char>(' ' + random.Uniform('~' - ' ' + 1));
    for (size_t used = 0; used < kPieceBytes; used += distinct) {
      bytes_.append(piece, 0, std::min(distinct, kPieceBytes - used));
    }
  }
}

}  // namespace miodb::bench
