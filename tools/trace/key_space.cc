#include "tools/trace/key_space.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace miodb::tools {

namespace {

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool ParseHex(const std::string& line, std::string* key) {
  if (line.size() % 2 != 0 || line.rfind("0x", 0) != 0) return false;
  key->clear();
  for (size_t i = 2; i < line.size(); i += 2) {
    const int high = DigitOf(line[i]), low = DigitOf(line[i + 1]);
    if (high < 0 || low < 0) return false;
    *key += static_cast<char>(high * 16 + low);
  }
  return true;
}

}  // namespace

KeySpace::KeySpace(const std::string& path, std::function<void(uint64_t, std::string_view)> on_key)
    : path_(path), on_key_(std::move(on_key)), file_(path) {
  if (!file_) status_ = Status::IOError(path, std::strerror(errno));
}

bool KeySpace::Advance() {
  std::string line;
  if (!status_.ok()) return false;
  if (!std::getline(file_, line)) {
    if (file_.bad()) status_ = Status::IOError(path_, std::strerror(errno));
    return false;
  }
  // Every file of key_space ends with a line end; without it the file was cut.
  if (file_.eof()) {
    status_ = Status::Corruption(path_, "line " + std::to_string(keys_ + 1) + " has no end: the file is cut short");
    return false;
  }
  std::string key;
  if (!ParseHex(line, &key)) {
    status_ = Status::Corruption(path_, "line " + std::to_string(keys_ + 1) + " is not a key as 0x and digits");
    return false;
  }
  if (keys_ > 0 && key <= key_) {
    status_ = Status::Corruption(path_, "line " + std::to_string(keys_ + 1) + " is not above the line before it");
    return false;
  }
  key_ = std::move(key);
  on_key_(keys_, key_);
  keys_++;
  return true;
}

bool KeySpace::Find(std::string_view key, uint64_t* place) {
  while (keys_ == 0 || key_ < key) {
    if (!Advance()) return false;
  }
  *place = keys_ - 1;
  return key_ == key;
}

Status KeySpace::Finish() {
  while (Advance()) {
  }
  return status_;
}

}  // namespace miodb::tools
