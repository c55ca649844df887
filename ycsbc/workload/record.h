// Records: named fields in one value of the store, as YCSB-cpp lays them out. For each field, little-endian: 32 bits
// with the length of the name, the name, 32 bits with the length of the value, the value.
//
// Threads: RecordShape is read-only; each thread owns its RecordWriter.
// Cost: no allocation after construction.

#ifndef MIODB_YCSBC_WORKLOAD_RECORD_H_
#define MIODB_YCSBC_WORKLOAD_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/common/draw/random.h"
#include "ycsbc/workload/choosers.h"

namespace miodb::ycsb {

struct Settings;

struct Field {
  std::string_view name;
  std::string_view value;
};

// Takes the first field off *record. False at the end, and where the bytes are no record: then *record is not empty.
bool NextField(std::string_view* record, Field* field);

// The field of this name. False if there is none; *is_sound tells whether what was looked at is a record.
bool FindField(std::string_view record, std::string_view name, Field* field, bool* is_sound);

// Properties that all records of a workload share.
class RecordShape {
 public:
  explicit RecordShape(const Settings& settings);

  size_t fields() const { return names_.size(); }
  const std::string& name(size_t field) const { return names_[field]; }
  size_t max_field_bytes() const { return max_field_bytes_; }
  size_t max_record_bytes() const { return max_record_bytes_; }
  bool is_verifiable() const { return is_verifiable_; }
  // Printable random bytes; every value is a window of it.
  std::string_view pool() const { return pool_; }

 private:
  std::vector<std::string> names_;
  size_t max_field_bytes_;
  size_t max_record_bytes_;
  bool is_verifiable_;
  std::string pool_;
};

// The value that a field of this key has when dataintegrity is on: key, field name and a chain of hashes, cut to size.
void FillVerifiable(std::string_view key, std::string_view field, char* out, size_t bytes);

class RecordWriter {
 public:
  // "shape" and "settings" outlive the writer.
  RecordWriter(const RecordShape& shape, const Settings& settings);

  // Results of the functions are valid until the next call.

  // A record with new values in all fields.
  std::string_view Build(std::string_view key, bench::Random* random);

  // The stored record with a new value in one field; a field that is not there is added. Nothing if the stored bytes
  // are no record.
  std::string_view Replace(std::string_view stored, std::string_view key, size_t field, bench::Random* random);

  // Whether every field has the value that FillVerifiable gives.
  bool Verify(std::string_view key, std::string_view stored);

 private:
  std::string_view BuildFixed(std::string_view key, bench::Random* random);
  void AppendField(std::string_view key, size_t field, bench::Random* random);
  void AppendStored(const Field& field);
  void Append(const void* bytes, size_t count);
  char* Room(size_t bytes);

  const RecordShape& shape_;
  std::unique_ptr<Chooser> length_;
  std::vector<char> buffer_;
  size_t used_ = 0;
  bool has_fixed_layout_ = false;
  bool is_laid_out_ = false;  // Names and lengths of the fixed layout are in the buffer.
  std::vector<char> expected_;
};

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_WORKLOAD_RECORD_H_
