#include "tests/faults/lossy_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"

namespace miodb::test {

namespace {

namespace fs = std::filesystem;

constexpr size_t kSectorBytes = 512;

std::string LinkOf(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// By streams of the standard library, which are not watched.
std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(static_cast<size_t>(fs::file_size(path)), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  CHECK(file.good());
  return bytes;
}

}  // namespace

void LossyFiles::Image::WriteTo(const std::string& folder) const {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const std::string& below : folders) fs::create_directory(folder + "/" + below);
  for (const auto& [name, content] : files) {
    std::ofstream file(folder + "/" + name, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    CHECK(file.good());
  }
}

uint64_t LossyFiles::Image::Hash() const {
  uint64_t hash = 0;
  for (const std::string& below : folders) hash = Hash64(below.data(), below.size(), hash);
  for (const auto& [name, content] : files) {
    hash = Hash64(content.data(), content.size(), Hash64(name.data(), name.size(), hash));
  }
  return hash;
}

LossyFiles::LossyFiles(const std::string& folder, bool stores_are_durable)
    : folder_(fs::canonical(folder)), stores_are_durable_(stores_are_durable), outer_(SetFileWatch(nullptr)) {
  names_[folder_] = NamesNow(folder_);
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (entry.is_directory()) names_[entry.path()] = NamesNow(entry.path());
  }
  for (auto& [id, file] : files_) {
    file.durable = ReadAll(LinkOf(file.fd));
    file.synced = true;
  }
  SetFileWatch(this);
}

LossyFiles::~LossyFiles() {
  SetFileWatch(outer_);
  for (const auto& [id, file] : files_) close(file.fd);
}

bool LossyFiles::IsBelow(const std::string& path) const {
  return path == folder_ || path.compare(0, folder_.size() + 1, folder_ + "/") == 0;
}

// The names in a folder. Files that were not known before have nothing durable.
LossyFiles::Names LossyFiles::NamesNow(const std::string& path) {
  Names names;
  for (const auto& entry : fs::directory_iterator(path)) {
    struct stat info;
    CHECK_EQ(lstat(entry.path().c_str(), &info), 0);
    Name& name = names[entry.path().filename()];
    name.is_folder = S_ISDIR(info.st_mode);
    name.file = {info.st_dev, info.st_ino};
    if (name.is_folder) continue;
    File& file = files_[name.file];
    if (file.fd < 0) file.fd = open(entry.path().c_str(), O_PATH | O_CLOEXEC);
    CHECK_GE(file.fd, 0);
  }
  return names;
}

void LossyFiles::BeforeCall() {
  if (!crash_point_) return;
  SetFileWatch(nullptr);
  crash_point_();
  SetFileWatch(this);
}

void LossyFiles::Synced(int fd) {
  const std::string path = fs::read_symlink(LinkOf(fd));
  if (!IsBelow(path)) return;
  SetFileWatch(nullptr);
  struct stat info;
  CHECK_EQ(fstat(fd, &info), 0);
  if (S_ISDIR(info.st_mode)) {
    names_[path] = NamesNow(path);
  } else {
    File& file = files_[{info.st_dev, info.st_ino}];
    if (file.fd < 0) file.fd = open(LinkOf(fd).c_str(), O_PATH | O_CLOEXEC);
    CHECK_GE(file.fd, 0);
    file.durable = ReadAll(LinkOf(fd));
    file.synced = true;
  }
  SetFileWatch(this);
}

void LossyFiles::Mapped(int fd, char* base, size_t size) {
  const std::string path = fs::read_symlink(LinkOf(fd));
  struct stat info;
  if (!IsBelow(path) || fstat(fd, &info) != 0) return;
  SetFileWatch(nullptr);
  File& file = files_[{info.st_dev, info.st_ino}];
  if (file.fd < 0) file.fd = open(LinkOf(fd).c_str(), O_PATH | O_CLOEXEC);
  for (auto& [id, other] : files_) {
    if (other.base == base) other.base = nullptr;  // of a database that was closed
  }
  file.mapped = true;
  file.base = base;
  file.size = size;
  SetFileWatch(this);
}

void LossyFiles::PagesSynced(char* at, size_t size) {
  for (auto& [id, file] : files_) {
    if (file.base == nullptr || at < file.base || at >= file.base + file.size) continue;
    const std::string now = ReadAll(LinkOf(file.fd));
    const size_t begin = static_cast<size_t>(at - file.base), end = std::min(begin + size, now.size());
    file.durable.resize(now.size(), '\0');
    file.synced = true;
    if (begin < end) memcpy(file.durable.data() + begin, now.data() + begin, end - begin);
    return;
  }
}

LossyFiles::Image LossyFiles::Take(Random* random) {
  Image image;
  TakeFolder(folder_, "", random, &image);
  return image;
}

void LossyFiles::TakeFolder(const std::string& path, const std::string& below, Random* random, Image* image) {
  const Names durable = names_[path];
  const Names now = fs::exists(path) ? NamesNow(path) : Names();
  std::set<std::string> all;
  for (const auto& [name, what] : durable) all.insert(name);
  for (const auto& [name, what] : now) all.insert(name);
  for (const std::string& name : all) {
    const auto before = durable.find(name), after = now.find(name);
    const bool sure = before != durable.end() && after != now.end() && before->second == after->second;
    const bool take_before = sure || random == nullptr || random->OneIn(2);
    const Names& from = take_before ? durable : now;
    const auto taken = take_before ? before : after;
    if (taken == from.end()) continue;
    if (taken->second.is_folder) {
      image->folders.insert(below + name);
      TakeFolder(path + "/" + name, below + name + "/", random, image);
    } else {
      image->files[below + name] = Content(files_.at(taken->second.file), random);
    }
  }
}

std::string LossyFiles::Content(const File& file, Random* random) const {
  std::string now = ReadAll(LinkOf(file.fd));
  if (file.mapped && !file.synced && random == nullptr) return "";
  if (file.mapped && stores_are_durable_) return now;
  std::string left = file.durable;
  if (file.mapped) left.resize(now.size(), '\0');  // it grew by calls that last
  if (random == nullptr || left == now) return left;
  const size_t least = std::min(left.size(), now.size()), most = std::max(left.size(), now.size());
  left.resize(random->OneIn(3)   ? least + random->Uniform(most - least + 1)
              : random->OneIn(2) ? most
                                 : now.size(),
              '\0');
  for (size_t at = 0; at < std::min(left.size(), now.size()); at += kSectorBytes) {
    if (random->OneIn(2)) continue;
    const size_t size = std::min({kSectorBytes, left.size() - at, now.size() - at});
    memcpy(left.data() + at, now.data() + at, size);
  }
  return left;
}

}  // namespace miodb::test
