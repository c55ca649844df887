#include "tools/miodb/stores/source.h"

#include "tools/miodb/stores/families.h"
#include "tools/miodb/stores/foreign_store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/terminal/text.h"

namespace miodb::tool {

namespace {

class JsonSource final : public Source {
 public:
  explicit JsonSource(const SourceRequest& request)
      : path_(request.path == "-" ? "standard input" : request.path),
        wanted_(request.column_family),
        found_(wanted_.value_or(kDefaultFamilyName) == kDefaultFamilyName),
        input_(request.path) {
    status_ = input_.status();
  }

  bool Next(std::string* family, std::optional<SourceRecord>* record) override {
    do {
      if (!NextLine()) return false;
      if (line_.family.empty()) line_.family = kDefaultFamilyName;
      found_ = found_ || line_.family == wanted_;
    } while (wanted_.has_value() && line_.family != *wanted_);
    *family = wanted_.has_value() ? kDefaultFamilyName : line_.family;
    record->reset();
    if (line_.key.has_value()) *record = SourceRecord{*line_.key, *line_.value};
    return true;
  }

  Status status() const override { return status_; }
  double ShareRead() override { return input_.ShareRead(); }

 private:
  // False at the end, which is an error if the family that is wanted did not come.
  bool NextLine() {
    std::string_view text;
    do {
      if (!status_.ok()) return false;
      if (!input_.ReadLine(&text)) {
        status_ = input_.status();
        if (status_.ok() && !found_) {
          status_ = Status::InvalidArgument(path_, "no line has the column family \"" + ToText(*wanted_) + "\"");
        }
        return false;
      }
      line_number_++;
    } while (text.find_first_not_of(" \t\r") == std::string_view::npos);
    const std::string problem = FromJsonLine(text, &line_);
    if (problem.empty()) return true;
    status_ = Status::InvalidArgument(path_ + ", line " + std::to_string(line_number_), problem);
    return false;
  }

  const std::string path_;
  const std::optional<std::string> wanted_;
  bool found_;  // a line of it; the default family is there without one
  Input input_;
  Status status_;
  uint64_t line_number_ = 0;
  JsonLine line_;
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
  *source = std::make_unique<JsonSource>(known);
  return (*source)->status();
}

}  // namespace miodb::tool
