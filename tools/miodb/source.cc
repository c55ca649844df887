#include "tools/miodb/source.h"

#include "tools/miodb/files.h"
#include "tools/miodb/foreign_store.h"
#include "tools/miodb/text.h"

namespace miodb::tool {

namespace {

class JsonSource final : public Source {
 public:
  explicit JsonSource(const std::string& path) : path_(path == "-" ? "standard input" : path), input_(path) {
    status_ = input_.status();
  }

  bool Next(Slice* key, Slice* value) override {
    std::string_view line;
    do {
      if (!status_.ok()) return false;
      if (!input_.ReadLine(&line)) {
        status_ = input_.status();
        return false;
      }
      line_number_++;
    } while (line.find_first_not_of(" \t\r") == std::string_view::npos);
    const std::string problem = FromJsonLine(line, &key_, &value_);
    if (!problem.empty()) {
      status_ = Status::InvalidArgument(path_ + ", line " + std::to_string(line_number_), problem);
      return false;
    }
    *key = key_;
    *value = value_;
    return true;
  }

  Status status() const override { return status_; }
  double ShareRead() override { return input_.ShareRead(); }

 private:
  const std::string path_;
  Input input_;
  Status status_;
  uint64_t line_number_ = 0;
  std::string key_, value_;
};

}  // namespace

// RocksDB has files that LevelDB never had.
Format FormatOf(const std::string& path) {
  if (path == "-" || !IsDirectory(path)) return Format::kJson;
  for (const std::string& name : NamesIn(path)) {
    if (name == "IDENTITY" || name.starts_with("OPTIONS-")) return Format::kRocksDb;
  }
  return Format::kLevelDb;
}

Status OpenSource(const SourceRequest& request, std::unique_ptr<Source>* source) {
  SourceRequest known = request;
  if (known.format == Format::kAuto) known.format = FormatOf(known.path);
  if (known.format != Format::kJson) return OpenForeignSource(known, source);
  if (IsDirectory(known.path)) return Status::InvalidArgument(known.path, "is a directory; a file of lines is wanted");
  *source = std::make_unique<JsonSource>(known.path);
  return (*source)->status();
}

}  // namespace miodb::tool
