#include "ycsbc/workload/record.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "benchmarks/common/draw/fnv.h"
#include "ycsbc/workload/settings.h"

namespace miodb::ycsb {

namespace {

static_assert(std::endian::native == std::endian::little, "lengths are stored as they lie in memory");

constexpr size_t kLengthBytes = 4;
// Small enough to stay in a second-level cache beside the store's own data.
constexpr size_t kMinPoolBytes = 256 << 10;
// The pool is the same in every run: what differs are the windows.
constexpr uint64_t kPoolSeed = 0x79637362;

bool TakeText(std::string_view* record, std::string_view* text) {
  if (record->size() < kLengthBytes) return false;
  uint32_t length = 0;
  std::memcpy(&length, record->data(), kLengthBytes);
  if (length > record->size() - kLengthBytes) return false;
  *text = record->substr(kLengthBytes, length);
  record->remove_prefix(kLengthBytes + length);
  return true;
}

}  // namespace

bool NextField(std::string_view* record, Field* field) {
  std::string_view rest = *record;
  if (!TakeText(&rest, &field->name) || !TakeText(&rest, &field->value)) return false;
  *record = rest;
  return true;
}

bool FindField(std::string_view record, std::string_view name, Field* field, bool* is_sound) {
  bool is_found = false;
  while (!is_found && NextField(&record, field)) is_found = field->name == name;
  *is_sound = is_found || record.empty();
  return is_found;
}

RecordShape::RecordShape(const Settings& settings)
    : max_field_bytes_(settings.MaxFieldBytes()), max_record_bytes_(0), is_verifiable_(settings.dataintegrity) {
  for (int64_t i = 0; i < settings.fieldcount; i++) {
    names_.push_back(settings.fieldnameprefix + std::to_string(i));
    max_record_bytes_ += 2 * kLengthBytes + names_.back().size() + max_field_bytes_;
  }
  pool_.resize(std::max(kMinPoolBytes, 2 * max_record_bytes_));
  bench::Random random(kPoolSeed);
  for (char& c : pool_) c = static_cast<char>(' ' + random.Uniform('~' - ' ' + 1));
}

void FillVerifiable(std::string_view key, std::string_view field, char* out, size_t bytes) {
  size_t used = 0;
  uint64_t hash = bench::kFnvOfNothing;
  const auto append = [&](std::string_view text) {
    for (const char c : text) {
      if (used == bytes) return;
      hash = bench::FnvStep(hash, static_cast<unsigned char>(c));
      out[used++] = c;
    }
  };
  append(key);
  append(":");
  append(field);
  while (used < bytes) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), hash);
    append(":");
    append(std::string_view(digits, static_cast<size_t>(end.ptr - digits)));
  }
}

RecordWriter::RecordWriter(const RecordShape& shape, const Settings& settings)
    : shape_(shape), length_(NewFieldLengthChooser(settings)), buffer_(shape.max_record_bytes()) {
  if (shape.is_verifiable()) expected_.resize(shape.max_field_bytes());
  has_fixed_layout_ = settings.fieldlengthdistribution == "constant" && !shape.is_verifiable();
}

// A stored record that is replaced may be larger than those of this workload, so room is checked.
char* RecordWriter::Room(size_t bytes) {
  if (buffer_.size() - used_ < bytes) buffer_.resize(2 * buffer_.size() + bytes);
  used_ += bytes;
  return &buffer_[used_ - bytes];
}

void RecordWriter::Append(const void* bytes, size_t count) {
  if (count > 0) std::memcpy(Room(count), bytes, count);
}

void RecordWriter::AppendStored(const Field& field) {
  for (const std::string_view text : {field.name, field.value}) {
    const uint32_t length = static_cast<uint32_t>(text.size());
    Append(&length, kLengthBytes);
    Append(text.data(), text.size());
  }
}

void RecordWriter::AppendField(std::string_view key, size_t field, bench::Random* random) {
  const std::string& name = shape_.name(field);
  const size_t bytes = length_->Next(random);
  const uint32_t name_length = static_cast<uint32_t>(name.size());
  const uint32_t length = static_cast<uint32_t>(bytes);
  char* out = Room(2 * kLengthBytes + name.size() + bytes);
  std::memcpy(out, &name_length, kLengthBytes);
  std::memcpy(out + kLengthBytes, name.data(), name.size());
  std::memcpy(out + kLengthBytes + name.size(), &length, kLengthBytes);
  out += 2 * kLengthBytes + name.size();
  if (shape_.is_verifiable()) {
    FillVerifiable(key, name, out, bytes);
  } else {
    const std::string_view pool = shape_.pool();
    std::memcpy(out, &pool[random->Uniform(pool.size() - bytes)], bytes);
  }
}

// Where all records have the same layout, names and lengths are written once and new values copied between them.
std::string_view RecordWriter::BuildFixed(std::string_view key, bench::Random* random) {
  if (!is_laid_out_) {
    used_ = 0;
    for (size_t field = 0; field < shape_.fields(); field++) AppendField(key, field, random);
    is_laid_out_ = true;
  }
  const size_t bytes = shape_.max_field_bytes();
  const char* value = &shape_.pool()[random->Uniform(shape_.pool().size() - shape_.fields() * bytes)];
  char* out = buffer_.data();
  for (size_t field = 0; field < shape_.fields(); field++) {
    out += 2 * kLengthBytes + shape_.name(field).size();
    std::memcpy(out, value, bytes);
    out += bytes;
    value += bytes;
  }
  return std::string_view(buffer_.data(), static_cast<size_t>(out - buffer_.data()));
}

std::string_view RecordWriter::Build(std::string_view key, bench::Random* random) {
  if (has_fixed_layout_) return BuildFixed(key, random);
  used_ = 0;
  for (size_t field = 0; field < shape_.fields(); field++) AppendField(key, field, random);
  return std::string_view(buffer_.data(), used_);
}

std::string_view RecordWriter::Replace(std::string_view stored, std::string_view key, size_t field,
                                       bench::Random* random) {
  used_ = 0;
  is_laid_out_ = false;
  bool is_replaced = false;
  Field old;
  while (NextField(&stored, &old)) {
    if (old.name == shape_.name(field)) {
      AppendField(key, field, random);
      is_replaced = true;
    } else {
      AppendStored(old);
    }
  }
  if (!stored.empty()) return {};
  if (!is_replaced) AppendField(key, field, random);
  return std::string_view(buffer_.data(), used_);
}

bool RecordWriter::Verify(std::string_view key, std::string_view stored) {
  size_t fields = 0;
  Field field;
  while (NextField(&stored, &field)) {
    if (field.value.size() != expected_.size()) return false;
    FillVerifiable(key, field.name, expected_.data(), expected_.size());
    if (field.value != std::string_view(expected_.data(), expected_.size())) return false;
    fields++;
  }
  return stored.empty() && fields == shape_.fields();
}

}  // namespace miodb::ycsb
