#include "tools/trace/fit_input.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>

namespace miodb::tools {

namespace {

// Calls take(line) for every line; false from it means that the line is not what it should be.
Status ForEachLine(const std::string& path, const std::function<bool(const std::string&)>& take) {
  std::ifstream file(path);
  if (!file)
    return errno == ENOENT ? Status::NotFound(path, std::strerror(errno)) : Status::IOError(path, std::strerror(errno));
  uint64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    number++;
    // The analyzer ends every line.
    if (file.eof()) return Status::Corruption(path, "line " + std::to_string(number) + " has no end: it is cut short");
    if (!take(line)) return Status::Corruption(path, "line " + std::to_string(number) + ": " + line.substr(0, 60));
  }
  if (file.bad()) return Status::IOError(path, std::strerror(errno));
  return Status::OK();
}

// The analyzer writes counts, sizes and seconds: no number is negative, and each is exact as a double.
constexpr double kMostNumber = 1e15;

// The whole word as such a number.
bool ParseNumber(const std::string& word, double* number) {
  char* end = nullptr;
  *number = std::strtod(word.c_str(), &end);
  return !word.empty() && end == word.c_str() + word.size() && *number >= 0 && *number <= kMostNumber;
}

// Whether the last one belongs behind the others, and stands for something.
bool Rises(const std::vector<Bin>& bins) {
  return bins.back().count > 0 && (bins.size() < 2 || bins.back().above >= bins[bins.size() - 2].upto);
}
bool Rises(const std::vector<AnalysisFiles::Key>& keys) {
  return keys.back().accesses > 0 && (keys.size() < 2 || keys.back().place > keys[keys.size() - 2].place);
}

// The numbers of a line, words left out. False unless there are so many.
bool Numbers(const std::string& line, size_t count, std::vector<double>* numbers) {
  numbers->clear();
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    double number = 0;
    if (ParseNumber(word, &number)) {
      numbers->push_back(number);
    } else if (std::isdigit(static_cast<unsigned char>(word[0])) != 0 || word[0] == '-') {
      return false;
    }
  }
  return count == 0 ? !numbers->empty() : numbers->size() == count;
}

Status ReadBins(const std::string& path, std::vector<Bin>* bins) {
  bins->clear();
  std::vector<double> n;
  return ForEachLine(path, [&](const std::string& line) {
    if (!Numbers(line, 2, &n)) return false;
    bins->push_back({n[0] - 1, n[0], n[1]});
    return Rises(*bins);
  });
}

}  // namespace

Status AnalysisFiles::ReadComposition(std::map<std::string, double>* queries) const {
  bool is_head = true;
  return ForEachLine(start_ + "composition.csv", [&](const std::string& line) {
    if (is_head) {
      is_head = false;
      return line.rfind("type,cf,queries", 0) == 0;
    }
    std::istringstream fields(line);
    std::string access, family, count;
    if (!std::getline(fields, access, ',') || !std::getline(fields, family, ',') || !std::getline(fields, count, ',')) {
      return false;
    }
    double number = 0;
    if (!ParseNumber(count, &number)) return false;
    if (family == family_ && number > 0) (*queries)[access] = number;
    return true;
  });
}

Status AnalysisFiles::ReadValueSizes(const std::string& access, std::vector<Bin>* bins) const {
  bins->clear();
  std::vector<double> n;
  return ForEachLine(Path(access, "accessed_value_size_distribution.txt"), [&](const std::string& line) {
    if (!Numbers(line, 3, &n)) return false;
    bins->push_back({n[0] - 1, n[1] - 1, n[2]});
    return n[1] > n[0] && Rises(*bins);
  });
}

Status AnalysisFiles::ReadScanLengths(std::vector<Bin>* bins) const {
  return ReadBins(Path("iterator", "scan_length_distribution.txt"), bins);
}

Status AnalysisFiles::ReadKeySizes(const std::string& access, std::vector<Bin>* bins) const {
  return ReadBins(Path(access, "accessed_key_size_distribution.txt"), bins);
}

Status AnalysisFiles::ReadAccessCounts(const std::string& access, std::vector<Bin>* bins) const {
  return ReadBins(Path(access, "accessed_key_count_distribution.txt"), bins);
}

Status AnalysisFiles::ReadAccessedKeys(const std::string& access, std::vector<Key>* keys) const {
  keys->clear();
  std::vector<double> n;
  return ForEachLine(Path(access, "accessed_key_stats.txt"), [&](const std::string& line) {
    if (!Numbers(line, 5, &n)) return false;
    keys->push_back({static_cast<uint64_t>(n[2]), static_cast<uint64_t>(n[3]), static_cast<uint64_t>(n[1])});
    return Rises(*keys);
  });
}

Status AnalysisFiles::ReadKeys(const std::string& access, bool* is_whole, std::vector<Key>* keys) const {
  keys->clear();
  std::vector<double> n;
  const Status s = ForEachLine(Path(access, "whole_key_stats.txt"), [&](const std::string& line) {
    if (!Numbers(line, 2, &n)) return false;
    keys->push_back({static_cast<uint64_t>(n[0]), static_cast<uint64_t>(n[1]), 0});
    return Rises(*keys);
  });
  *is_whole = !s.IsNotFound();
  return *is_whole ? s : ReadAccessedKeys(access, keys);
}

Status AnalysisFiles::ReadRates(std::vector<std::vector<double>>* columns) const {
  columns->clear();
  std::vector<double> n;
  return ForEachLine(start_ + "qps_stats.txt", [&](const std::string& line) {
    if (!Numbers(line, columns->empty() ? 0 : columns->size(), &n)) return false;
    columns->resize(n.size());
    for (size_t i = 0; i < n.size(); i++) (*columns)[i].push_back(n[i]);
    return true;
  });
}

}  // namespace miodb::tools
