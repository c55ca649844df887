#include "tools/trace/output_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace miodb::tools {

void OutputFile::Print(const char* format, ...) {
  if (file_ == nullptr) return;
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(file_, format, arguments);
  va_end(arguments);
}

OutputFiles::~OutputFiles() {
  for (const auto& file : files_) {
    if (file->file_ != nullptr) std::fclose(file->file_);
    unlink((file->path_ + ".partial").c_str());
  }
  if (has_made_folder_) rmdir(folder_.c_str());  // which leaves one with files in it
}

Status OutputFiles::MakeFolder() {
  std::error_code error;
  has_made_folder_ = std::filesystem::create_directory(folder_, error);
  return error ? Status::IOError("--output_dir=" + folder_, error.message()) : Status::OK();
}

OutputFile* OutputFiles::Create(const std::string& name) {
  files_.push_back(std::make_unique<OutputFile>());
  OutputFile* const file = files_.back().get();
  file->path_ = folder_ + "/" + prefix_ + "-" + name;
  file->file_ = std::fopen((file->path_ + ".partial").c_str(), "w");
  if (file->file_ == nullptr && status_.ok()) status_ = Status::IOError(file->path_, std::strerror(errno));
  return file;
}

Status OutputFiles::Close(OutputFile* file) {
  const bool failed = std::ferror(file->file_) != 0;
  const bool closed = std::fclose(file->file_) == 0;
  file->file_ = nullptr;
  return failed || !closed ? Status::IOError(file->path_, std::strerror(errno)) : Status::OK();
}

Status OutputFiles::Finish() {
  for (const auto& file : files_) {
    if (status_.ok()) status_ = Close(file.get());
  }
  return status_;
}

Status OutputFiles::Commit() {
  for (size_t i = 0; i < files_.size(); i++) {
    const std::string& path = files_[i]->path_;
    if (std::rename((path + ".partial").c_str(), path.c_str()) == 0) continue;
    status_ = Status::IOError(path, std::strerror(errno));
    for (size_t named = 0; named < i; named++) unlink(files_[named]->path_.c_str());
    return status_;
  }
  files_.clear();
  return status_;
}

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string text = "0x";
  for (char c : bytes) {
    const unsigned char byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace miodb::tools
