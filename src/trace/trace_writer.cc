// The writer to a file.

#include <memory>
#include <utility>

#include "miodb/env.h"
#include "miodb/trace.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

namespace miodb {

namespace {

// Nothing is synced: a trace is worth the time that its calls take and not more, and a reader knows how to tell a cut
// one. The bytes are counted here, because the file's own length lags behind its buffer.
class FileTraceWriter final : public TraceWriter {
 public:
  explicit FileTraceWriter(std::unique_ptr<WritableFile> file) : file_(std::move(file)) { CHECK(file_ != nullptr); }

  // Bytes that could not be written do not count: the size says how much a reader will find.
  Status Write(const Slice& data) override {
    Status s = file_->Append(data);
    if (s.ok()) bytes_ += data.size();
    return s;
  }
  // The buffer's last bytes are written now, so an error of them is one of the trace.
  Status Close() override { return file_->Close(); }
  // The tracer asks after every record, so this must cost nothing.
  uint64_t GetFileSize() override { return bytes_; }

 private:
  const std::unique_ptr<WritableFile> file_;
  uint64_t bytes_ = 0;
};

}  // namespace

TraceWriter::~TraceWriter() = default;

// The system's Env and not the database's: a trace is a file for other programs, also where a database keeps its own
// elsewhere.
// A file of this name that is there is written over.
Status NewFileTraceWriter(const std::string& path, std::unique_ptr<TraceWriter>* writer) {
  writer->reset();
  return NoThrow(path, [&] {
    WritableFile* opened = nullptr;
    Status s = Env::Default()->NewWritableFile(path, &opened);
    std::unique_ptr<WritableFile> file(opened);
    if (s.ok()) writer->reset(new FileTraceWriter(std::move(file)));
    return s;
  });
}

}  // namespace miodb
