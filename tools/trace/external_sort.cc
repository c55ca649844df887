#include "tools/trace/external_sort.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace miodb::tools {

namespace {

constexpr size_t kLengthsBytes = 2 * sizeof(uint32_t);
constexpr size_t kRunBufferBytes = 1 << 20;

// The first eight bytes from "skip" on as a number that sorts as they do.
uint64_t HeadOf(std::string_view key, size_t skip) {
  unsigned char bytes[8] = {};
  if (key.size() > skip) std::memcpy(bytes, key.data() + skip, std::min<size_t>(8, key.size() - skip));
  uint64_t head = 0;
  for (unsigned char byte : bytes) head = head << 8 | byte;
  return head;
}

size_t CommonPrefix(std::string_view a, std::string_view b) {
  const size_t most = std::min(a.size(), b.size());
  return static_cast<size_t>(std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(most), b.begin()).first -
                             a.begin());
}

Status FileError(const std::string& folder) {
  return Status::IOError(folder, std::string("temporary file of the sort: ") + std::strerror(errno));
}

}  // namespace

// A sorted run in a file without a name, and the part of it that is in memory.
struct ExternalSort::Run {
  explicit Run(size_t index) : number(index) {}
  ~Run() {
    if (file >= 0) close(file);
  }

  Status Open(const std::string& folder) {
    file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return Status::OK();
    // Not every file system can do that.
    std::string path = folder + "/sort.XXXXXX";
    file = mkostemp(path.data(), O_CLOEXEC);
    if (file < 0) return FileError(folder);
    unlink(path.c_str());
    return Status::OK();
  }

  Status Write(const std::string& folder, const char* data, size_t bytes) {
    while (bytes > 0) {
      const ssize_t n = write(file, data, bytes);
      if (n < 0) return FileError(folder);
      data += n;
      bytes -= static_cast<size_t>(n);
    }
    return Status::OK();
  }

  // Loads the next entry. False at the end and on an error.
  bool Next(const std::string& folder, Status* status) {
    if (!Fill(kLengthsBytes, folder, status)) {
      if (status->ok() && end != begin) *status = Status::IOError(folder, "a temporary file of the sort was cut");
      return false;
    }
    uint32_t lengths[2];
    std::memcpy(lengths, buffer.data() + begin, sizeof(lengths));
    const size_t bytes = kLengthsBytes + lengths[0] + lengths[1];
    if (!Fill(bytes, folder, status)) {
      if (status->ok()) *status = Status::IOError(folder, "a temporary file of the sort was cut");
      return false;
    }
    key = std::string_view(buffer.data() + begin + kLengthsBytes, lengths[0]);
    payload = std::string_view(key.data() + key.size(), lengths[1]);
    begin += bytes;
    return true;
  }

  // Has so many bytes in [begin, end).
  bool Fill(size_t bytes, const std::string& folder, Status* status) {
    if (end - begin >= bytes) return true;
    if (buffer.size() < std::max(bytes, kRunBufferBytes)) {
      std::vector<char> larger(std::max(bytes, kRunBufferBytes));
      std::copy(buffer.begin() + static_cast<std::ptrdiff_t>(begin), buffer.begin() + static_cast<std::ptrdiff_t>(end),
                larger.begin());
      buffer = std::move(larger);
    } else {
      std::memmove(buffer.data(), buffer.data() + begin, end - begin);
    }
    end -= begin;
    begin = 0;
    while (end < bytes) {
      const ssize_t n = read(file, buffer.data() + end, buffer.size() - end);
      if (n < 0) *status = FileError(folder);
      if (n <= 0) return false;
      end += static_cast<size_t>(n);
    }
    return true;
  }

  const size_t number;  // Earlier runs hold earlier entries.
  int file = -1;
  std::vector<char> buffer;
  size_t begin = 0;
  size_t end = 0;
  std::string_view key;
  std::string_view payload;
};

ExternalSort::ExternalSort(std::string folder, size_t memory_bytes)
    : folder_(std::move(folder)), memory_bytes_(memory_bytes) {}

ExternalSort::~ExternalSort() = default;

Status ExternalSort::Add(std::string_view key, std::string_view payload) {
  const uint32_t lengths[2] = {static_cast<uint32_t>(key.size()), static_cast<uint32_t>(payload.size())};
  const size_t bytes = kLengthsBytes + key.size() + payload.size();
  const size_t used = arena_.size() + places_.size() * sizeof(Place);
  if (!places_.empty() && used + bytes + sizeof(Place) > memory_bytes_) {
    Status s = Spill();
    if (!s.ok()) return s;
  }
  // Growing by doubling would need half as much memory again.
  if (arena_.capacity() == 0) arena_.reserve(std::min(memory_bytes_, size_t{64} << 20));
  places_.push_back({0, arena_.size()});
  const auto append = [this](const void* data, size_t n) {
    const char* const from = static_cast<const char*>(data);
    arena_.insert(arena_.end(), from, from + n);
  };
  append(lengths, sizeof(lengths));
  append(key.data(), key.size());
  append(payload.data(), payload.size());
  entries_++;
  return Status::OK();
}

std::string_view ExternalSort::KeyAt(size_t offset) const {
  uint32_t key_bytes;
  std::memcpy(&key_bytes, arena_.data() + offset, sizeof(key_bytes));
  return std::string_view(arena_.data() + offset + kLengthsBytes, key_bytes);
}

void ExternalSort::SortPlaces() {
  if (places_.empty()) return;
  const std::string_view first = KeyAt(places_[0].offset);
  size_t common = first.size();
  for (const Place& place : places_) common = std::min(common, CommonPrefix(first, KeyAt(place.offset)));
  for (Place& place : places_) place.head = HeadOf(KeyAt(place.offset), common);
  std::sort(places_.begin(), places_.end(), [this](const Place& a, const Place& b) {
    if (a.head != b.head) return a.head < b.head;
    const int order = KeyAt(a.offset).compare(KeyAt(b.offset));
    return order != 0 ? order < 0 : a.offset < b.offset;
  });
}

Status ExternalSort::Spill() {
  SortPlaces();
  runs_.push_back(std::make_unique<Run>(runs_.size()));
  Run* const run = runs_.back().get();
  Status s = run->Open(folder_);
  std::vector<char> buffer;
  buffer.reserve(2 * kRunBufferBytes);
  for (size_t i = 0; s.ok() && i < places_.size(); i++) {
    uint32_t lengths[2];
    const char* const entry = arena_.data() + places_[i].offset;
    std::memcpy(lengths, entry, sizeof(lengths));
    buffer.insert(buffer.end(), entry, entry + kLengthsBytes + lengths[0] + lengths[1]);
    if (buffer.size() < kRunBufferBytes) continue;
    s = run->Write(folder_, buffer.data(), buffer.size());
    buffer.clear();
  }
  if (s.ok()) s = run->Write(folder_, buffer.data(), buffer.size());
  if (s.ok() && lseek(run->file, 0, SEEK_SET) != 0) s = FileError(folder_);
  arena_.clear();
  places_.clear();
  return s;
}

Status ExternalSort::Finish() {
  if (runs_.empty()) {
    SortPlaces();
    return status_;
  }
  status_ = Spill();
  std::vector<char>().swap(arena_);
  std::vector<Place>().swap(places_);
  for (const auto& run : runs_) {
    if (status_.ok() && run->Next(folder_, &status_)) heap_.push_back(run.get());
  }
  return status_;
}

bool ExternalSort::NextInMemory(std::string_view* key, std::string_view* payload) {
  if (next_place_ == places_.size()) return false;
  const size_t offset = places_[next_place_++].offset;
  uint32_t lengths[2];
  std::memcpy(lengths, arena_.data() + offset, sizeof(lengths));
  *key = KeyAt(offset);
  *payload = std::string_view(key->data() + key->size(), lengths[1]);
  return true;
}

bool ExternalSort::Next(std::string_view* key, std::string_view* payload) {
  if (runs_.empty()) return NextInMemory(key, payload);
  const auto later = [](const Run* a, const Run* b) {
    const int order = a->key.compare(b->key);
    return order != 0 ? order > 0 : a->number > b->number;
  };
  if (current_ == nullptr) {
    std::make_heap(heap_.begin(), heap_.end(), later);
  } else if (current_->Next(folder_, &status_)) {
    std::push_heap(heap_.begin(), heap_.end(), later);
  } else {
    heap_.pop_back();
  }
  if (!status_.ok() || heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), later);  // to the back, where it stays until the next call
  current_ = heap_.back();
  *key = current_->key;
  *payload = current_->payload;
  return true;
}

}  // namespace miodb::tools
