#include "ycsbc/workload/properties.h"

#include <fstream>

namespace miodb::ycsb {

namespace {

std::string Trim(const std::string& text) {
  const char* const blanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

std::string Properties::Add(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = Trim(text.substr(0, equals));
  if (equals == std::string::npos || name.empty()) return "'" + text + "' is not name=value";
  Set(name, Trim(text.substr(equals + 1)));
  return "";
}

std::string Properties::AddFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return "cannot read property file " + path;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    number++;
    const std::string text = Trim(line);
    if (text.empty() || text[0] == '#' || text[0] == '!') continue;
    const std::string problem = Add(text);
    if (!problem.empty()) return path + ":" + std::to_string(number) + ": " + problem;
  }
  // A folder opens like a file and fails at the first read.
  return file.bad() ? "cannot read property file " + path : "";
}

void Properties::AddAll(const Properties& later) {
  for (const auto& [name, value] : later.values_) values_[name] = value;
}

const std::string* Properties::Find(const std::string& name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}

}  // namespace miodb::ycsb
