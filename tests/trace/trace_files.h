// Traces as bytes, for tests.

#ifndef MIODB_TESTS_TRACE_TRACE_FILES_H_
#define MIODB_TESTS_TRACE_TRACE_FILES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "miodb/db.h"
#include "miodb/env.h"
#include "miodb/trace.h"
#include "src/trace/trace_format.h"
#include "tests/common/status_asserts.h"

namespace miodb::test {

// Fails at the n-th write.
class FailingWriter final : public TraceWriter {
 public:
  explicit FailingWriter(int fail_at) : left_(fail_at) {}
  Status Write(const Slice& data) override {
    if (left_-- == 0) return Status::IOError("trace", "no space left");
    bytes_ += data.size();
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  uint64_t GetFileSize() override { return bytes_; }

 private:
  int left_;
  uint64_t bytes_ = 0;
};

// The bytes that "01 aB" stands for.
inline std::string FromHex(const std::string& hex) {
  std::string bytes, digits;
  for (char c : hex) {
    if (c != ' ') digits += c;
  }
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// A record made by the library's encoder.
inline std::string Encoded(const std::function<void(TraceEncoder)>& encode) {
  std::string record;
  encode(TraceEncoder(&record));
  return record;
}

// A begin record as RocksDB 7.8 writes it, with this version of the format.
inline std::string BeginRecord(const std::string& version = "0.2") {
  const std::string text =
      "feedcafedeadbeef\tTrace Version: " + version + "\tRocksDB Version: 7.8\tFormat: Timestamp OpType Payload\n";
  std::string record = FromHex("0000000000000000 01") + std::string(4, '\0') + text;
  record[9] = static_cast<char>(text.size());
  return record;
}

// A trace of these records, with a checksum and an end record behind them.
inline std::string Ended(const std::string& records, uint64_t micros) {
  uint64_t checksum = 0;
  for (size_t at = 0; at < records.size();) {
    const size_t bytes = kTraceHeadBytes + DecodeTraceHead(records.data() + at).payload_bytes;
    checksum = ChainChecksum(checksum, records.substr(at, bytes));
    at += bytes;
  }
  return records + Encoded([&](TraceEncoder e) { e.Checksum(micros, checksum); }) +
         Encoded([&](TraceEncoder e) { e.End(micros); });
}

inline void WriteFile(const std::string& path, const std::string& bytes) {
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes, path));
}

inline std::string ReadFile(const std::string& path) {
  std::string bytes;
  EXPECT_OK(ReadFileToString(Env::Default(), path, &bytes));
  return bytes;
}

// The numbers of each line of a file of the analyser; words are left out.
inline std::vector<std::vector<double>> Table(const std::string& path) {
  std::vector<std::vector<double>> table;
  std::istringstream lines(ReadFile(path));
  for (std::string line; std::getline(lines, line);) {
    std::vector<double> row;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (std::isdigit(static_cast<unsigned char>(word[0]))) row.push_back(std::stod(word));
    }
    table.push_back(row);
  }
  return table;
}

inline std::string KindName(TraceUpdate::Kind kind) {
  const char* const names[] = {"put", "delete", "single delete", "delete range", "merge"};
  return names[kind];
}

// A record as one word of text: "get(k)", "put(k=v)", "scan(k +2 -1)".
inline std::string Describe(const TraceRecord& record) {
  const std::string family = record.column_family == 0 ? "" : std::to_string(record.column_family) + ":";
  const std::string key = family + record.key.ToString();
  const std::string bounds = (record.lower_bound.empty() ? "" : " from " + record.lower_bound.ToString()) +
                             (record.upper_bound.empty() ? "" : " to " + record.upper_bound.ToString());
  std::string text;
  switch (record.type) {
    case kTraceWrite: {
      TraceUpdates updates(record.batch);
      for (TraceUpdate update; updates.Next(&update);) {
        if (!text.empty()) text += "+";
        text += KindName(update.kind) + "(" +
                (update.column_family == 0 ? "" : std::to_string(update.column_family) + ":") + update.key.ToString() +
                (update.value.empty() ? "" : "=" + update.value.ToString()) + ")";
      }
      return text;
    }
    case kTraceGet:
      return "get(" + key + ")";
    case kTraceSeek:
      return "seek(" + key + bounds + ")";
    case kTraceSeekForPrev:
      return "seek_for_prev(" + key + bounds + ")";
    case kTraceSeekToFirst:
      return "first(" + bounds + ")";
    case kTraceSeekToLast:
      return "last(" + bounds + ")";
    case kTraceMultiGet:
      for (const TraceKey& k : record.keys) text += " " + std::to_string(k.column_family) + ":" + k.key.ToString();
      return "multiget(" + text + ")";
    case kTraceScan:
      return "scan(" + key + " +" + std::to_string(record.nexts) + " -" + std::to_string(record.prevs) + ")";
    default:
      return "type " + std::to_string(record.type);
  }
}

// All records that can be read, described; what stopped the reader goes to *status.
inline std::vector<std::string> ReadTrace(const std::string& path, Status* status, bool* torn = nullptr) {
  std::vector<std::string> records;
  std::unique_ptr<TraceReader> reader;
  *status = TraceReader::Open(path, &reader);
  if (!status->ok()) return records;
  for (TraceRecord record; reader->Next(&record);) records.push_back(Describe(record));
  *status = reader->status();
  if (torn != nullptr) *torn = reader->torn();
  return records;
}

inline std::vector<std::string> ReadTrace(const std::string& path) {
  Status status;
  std::vector<std::string> records = ReadTrace(path, &status);
  EXPECT_OK(status);
  return records;
}

inline Status StartTrace(DB* db, const std::string& path, const TraceOptions& options = TraceOptions()) {
  std::unique_ptr<TraceWriter> writer;
  Status s = NewFileTraceWriter(path, &writer);
  return s.ok() ? db->StartTrace(options, std::move(writer)) : s;
}

}  // namespace miodb::test

#endif  // MIODB_TESTS_TRACE_TRACE_FILES_H_
