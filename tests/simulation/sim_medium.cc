#include "tests/simulation/sim_medium.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"

namespace miodb::sim {

namespace {

// Changes that a parent remembers; then its images are made by copying everything once.
constexpr size_t kMaxChanges = size_t{1} << 20;

uint64_t NewMediumId() {
  static uint64_t last = 0;
  return ++last;
}

PersistMode PersistModeOf(Mode mode) { return mode == Mode::kFile ? kPersistFile : kPersistEmulated; }

// "miodb::Status miodb::Manifest::WriteRecord(const string&)" -> "Manifest::WriteRecord".
std::string ShortFunction(const char* function) {
  std::string name(function);
  name = name.substr(0, name.find('('));
  const size_t space = name.rfind(' ');
  if (space != std::string::npos) name = name.substr(space + 1);
  for (const char* const space_name : {"miodb::", "{anonymous}::", "<unnamed>::"}) {
    const size_t length = std::strlen(space_name);
    for (size_t at = name.find(space_name); at != std::string::npos; at = name.find(space_name)) name.erase(at, length);
  }
  return name;
}

struct SiteTable {
  std::map<std::pair<const char*, uint32_t>, int> numbers;
  std::vector<std::string> names;
  std::vector<SiteKind> kinds;
};

SiteTable& Table() {
  static SiteTable table;
  return table;
}

}  // namespace

const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kAdr:
      return "adr";
    case Mode::kEadr:
      return "eadr";
    case Mode::kFile:
      return "file";
  }
  return "";
}

int Sites::Of(const PersistSite& site, SiteKind kind) {
  SiteTable& table = Table();
  // Calls of one function come from few places: a look at the last answers spares most searches.
  struct Recent {
    const char* file = nullptr;
    uint32_t line = 0;
    int number = 0;
  };
  static Recent recent[64];
  Recent& slot = recent[(site.line() ^ reinterpret_cast<uintptr_t>(site.file_name()) >> 4) % 64];
  if (slot.file == site.file_name() && slot.line == site.line()) return slot.number;
  auto [it, fresh] = table.numbers.try_emplace({site.file_name(), site.line()}, static_cast<int>(table.names.size()));
  if (fresh) {
    table.kinds.push_back(kind);
    const std::string file = site.file_name();
    table.names.push_back(ShortFunction(site.function_name()) + " " + file.substr(file.rfind('/') + 1) + ":" +
                          std::to_string(site.line()));
  }
  slot = {site.file_name(), site.line(), it->second};
  return it->second;
}

const std::string& Sites::Name(int site) {
  static const std::string none = "(nothing)";
  return site < 0 ? none : Table().names[static_cast<size_t>(site)];
}

SiteKind Sites::KindOf(int site) { return Table().kinds[static_cast<size_t>(site)]; }

int Sites::Count() { return static_cast<int>(Table().names.size()); }

SimMedium::SimMedium(Mode mode, uint64_t capacity) : mode_(mode) {
  const size_t lines = capacity / kLineBytes;
  CHECK_EQ(capacity % 4096, 0u);
  memory_.base = static_cast<char*>(std::aligned_alloc(4096, capacity));
  CHECK(memory_.base != nullptr);
  memory_.capacity = capacity;
  memory_.mode = PersistModeOf(mode);
  memory_.hook = this;
  shadow_.reset(new LineContent[lines]);
  durable_.reset(new LineContent[lines]);
  line_hash_.resize(lines);
  open_index_.assign(lines, kClosed);
  is_touched_.assign(lines, 0);
  Reset(0);
}

SimMedium::~SimMedium() { std::free(memory_.base); }

void SimMedium::Reset(uint64_t size) {
  DropOpen();
  memory_.size = durable_size_ = size;
  memset(memory_.base, 0, memory_.capacity);
  memset(shadow_.get(), 0, memory_.capacity);
  memset(durable_.get(), 0, memory_.capacity);
  durable_hash_ = 0;
  for (size_t line = 0; line < line_hash_.size(); line++) {
    line_hash_[line] = Hash64(durable_[line].bytes, kLineBytes, line);
    durable_hash_ ^= line_hash_[line];
  }
  thread_ = 0;
  parent_ = nullptr;
  for (uint32_t line : touched_) is_touched_[line] = 0;
  touched_.clear();
  changes_.clear();
  id_ = NewMediumId();
}

void SimMedium::DropOpen() {
  for (const OpenLine& line : open_) {
    open_index_[line.line] = kClosed;
    free_contents_.push_back(line.contents);
  }
  open_.clear();
}

void SimMedium::Touch(uint32_t line) {
  if (parent_ == nullptr || is_touched_[line] != 0) return;
  is_touched_[line] = 1;
  touched_.push_back(line);
}

void SimMedium::SetDurable(uint32_t line, const LineContent& content, uint64_t hash) {
  durable_[line] = content;
  durable_hash_ ^= line_hash_[line] ^ hash;
  line_hash_[line] = hash;
  if (changes_.size() == kMaxChanges) {
    changes_.clear();
    id_ = NewMediumId();
  }
  changes_.push_back(line);
}

size_t SimMedium::Open(uint32_t line) {
  if (open_index_[line] != kClosed) return open_index_[line];
  OpenLine fresh{};
  fresh.line = line;
  if (free_contents_.empty()) {
    fresh.contents = static_cast<int>(contents_.size());
    contents_.emplace_back();
  } else {
    fresh.contents = free_contents_.back();
    free_contents_.pop_back();
  }
  open_index_[line] = static_cast<uint32_t>(open_.size());
  open_.push_back(fresh);
  return open_.size() - 1;
}

const char* SimMedium::Content(const OpenLine& line, int store) const {
  return contents_[static_cast<size_t>(line.contents)].after[store - 1].bytes;
}

void SimMedium::Store(uint32_t line, const char* content, int site, bool flushed) {
  OpenLine& open = open_[Open(line)];
  if (open.stores < kMaxStores) open.stores++;
  memcpy(contents_[static_cast<size_t>(open.contents)].after[open.stores - 1].bytes, content, kLineBytes);
  open.site = site;
  if (flushed) open.flushed[thread_] = open.stores;
  Touch(line);
}

// The line's first stores are durable from now on.
void SimMedium::MakeDurable(size_t open_index, int stores) {
  OpenLine& open = open_[open_index];
  Contents& contents = contents_[static_cast<size_t>(open.contents)];
  const LineContent& last = contents.after[stores - 1];
  SetDurable(open.line, last, Hash64(last.bytes, kLineBytes, open.line));
  if (stores == open.stores) {
    Close(open_index);
    return;
  }
  std::move(contents.after + stores, contents.after + open.stores, contents.after);
  open.stores = static_cast<uint8_t>(open.stores - stores);
  for (uint8_t& flushed : open.flushed) flushed = static_cast<uint8_t>(std::max(0, flushed - stores));
}

void SimMedium::Close(size_t open_index) {
  free_contents_.push_back(open_[open_index].contents);
  open_index_[open_[open_index].line] = kClosed;
  if (open_index + 1 < open_.size()) {
    open_[open_index] = open_.back();
    open_index_[open_[open_index].line] = static_cast<uint32_t>(open_index);
  }
  open_.pop_back();
}

bool SimMedium::OnCopy(const PersistSite& where, Purpose purpose, char* dst, const void* src, size_t n, bool streamed) {
  const int site = Sites::Of(where, SiteKind::kCopy);
  if (watch_) watch_(site, SiteKind::kCopy, purpose);
  const bool lost = fault_.site == site && fault_.kind == SiteKind::kCopy;
  memcpy(dst, src, n);
  const uint32_t first = LineOf(dst);
  const uint32_t last = LineOf(dst + n - 1);
  memcpy(shadow_[0].bytes + (dst - memory_.base), src, n);
  for (uint32_t line = first; line <= last; line++) Store(line, shadow_[line].bytes, site, !lost);
  if (mode_ == Mode::kEadr && !streamed) {
    if (crash_point_) crash_point_(site, SiteKind::kCopy);
    for (uint32_t line = first; line <= last; line++) {
      const size_t open = open_index_[line];
      MakeDurable(open, open_[open].stores);
    }
  }
  return !lost;
}

bool SimMedium::OnFlush(const PersistSite& where, char* addr, size_t n) {
  const int site = Sites::Of(where, SiteKind::kFlush);
  if (watch_) watch_(site, SiteKind::kFlush, Purpose::kCount);
  if (fault_.site == site && fault_.kind == SiteKind::kFlush) return false;
  for (uint32_t line = LineOf(addr), last = LineOf(addr + n - 1); line <= last; line++) {
    if (open_index_[line] == kClosed) continue;
    OpenLine& open = open_[open_index_[line]];
    open.flushed[thread_] = open.stores;
  }
  return true;
}

bool SimMedium::OnFence(const PersistSite& where) {
  const int site = Sites::Of(where, SiteKind::kFence);
  if (watch_) watch_(site, SiteKind::kFence, Purpose::kCount);
  if (crash_point_) crash_point_(site, SiteKind::kFence);
  if (fault_.site == site && fault_.kind == SiteKind::kFence) return false;
  durable_size_ = memory_.size;
  if (mode_ == Mode::kFile) return true;  // OnSync does it
  for (size_t i = open_.size(); i-- > 0;) {
    if (open_[i].flushed[thread_] > 0) MakeDurable(i, open_[i].flushed[thread_]);
  }
  return true;
}

void SimMedium::OnSync(char* addr, size_t n) {
  for (uint32_t line = LineOf(addr), last = LineOf(addr + n - 1); line <= last; line++) {
    const size_t open = open_index_[line];
    if (open != kClosed) MakeDurable(open, open_[open].stores);
  }
}

void SimMedium::OnShareBegin(Purpose purpose, size_t share) {
  CHECK_LT(share, static_cast<size_t>(kMostShares));
  shares_[static_cast<size_t>(purpose)]++;
  job_thread_ = thread_;
  thread_ = kFirstShareThread + static_cast<int>(share);
}

void SimMedium::Choose(const OpenLine& line, Choice choice, char* content) const {
  if (choice < kTorn) {
    memcpy(content, choice == 0 ? durable_[line.line].bytes : Content(line, choice), kLineBytes);
    return;
  }
  memcpy(content, durable_[line.line].bytes, kLineBytes);
  const char* const newest = Content(line, line.stores);
  for (uint64_t word = 0; word < kLineWords; word++) {
    if ((choice >> word & 1) != 0) memcpy(content + word * 8, newest + word * 8, 8);
  }
}

uint64_t SimMedium::ImageHash(const std::vector<Choice>& choices) const {
  uint64_t hash = durable_hash_;
  LineContent content;
  for (size_t i = 0; i < open_.size(); i++) {
    if (choices[i] == 0) continue;
    const uint32_t line = open_[i].line;
    Choose(open_[i], choices[i], content.bytes);
    hash ^= line_hash_[line] ^ Hash64(content.bytes, kLineBytes, line);
  }
  return hash;
}

// The line's content from now on, in the mapping and after a crash.
void SimMedium::SetLine(uint32_t line, const LineContent& content, uint64_t hash) {
  memcpy(memory_.base + uint64_t{line} * kLineBytes, content.bytes, kLineBytes);
  shadow_[line] = content;
  SetDurable(line, content, hash);
}

void SimMedium::Resync(const SimMedium& parent, uint32_t line) {
  SetLine(line, parent.durable_[line], parent.line_hash_[line]);
}

// Makes this equal to the durable content of parent.
void SimMedium::Follow(const SimMedium& parent) {
  DropOpen();
  thread_ = 0;
  if (parent_ != &parent || parent_id_ != parent.id_) {
    parent_ = &parent;
    parent_id_ = parent.id_;
    memcpy(memory_.base, parent.durable_.get(), memory_.capacity);
    memcpy(shadow_.get(), parent.durable_.get(), memory_.capacity);
    memcpy(durable_.get(), parent.durable_.get(), memory_.capacity);
    line_hash_ = parent.line_hash_;
    durable_hash_ = parent.durable_hash_;
    changes_.clear();
    id_ = NewMediumId();
  } else {
    for (uint32_t line : touched_) Resync(parent, line);
    for (size_t i = followed_; i < parent.changes_.size(); i++) Resync(parent, parent.changes_[i]);
  }
  for (uint32_t line : touched_) is_touched_[line] = 0;
  touched_.clear();
  followed_ = parent.changes_.size();
}

void SimMedium::LoadImage(const std::vector<Choice>& choices, SimMedium* target) const {
  target->Follow(*this);
  bool any = false;
  LineContent content;
  for (size_t i = 0; i < open_.size(); i++) {
    if (choices[i] == 0) continue;
    any = true;
    const uint32_t line = open_[i].line;
    Choose(open_[i], choices[i], content.bytes);
    target->Touch(line);
    target->SetLine(line, content, Hash64(content.bytes, kLineBytes, line));
  }
  target->memory_.size = target->durable_size_ = any ? memory_.size : durable_size_;
}

void SimMedium::LoadKilled(SimMedium* target) const {
  target->Follow(*this);
  for (const OpenLine& open : open_) {
    const char* const newest = Content(open, open.stores);
    memcpy(target->memory_.base + uint64_t{open.line} * kLineBytes, newest, kLineBytes);
    memcpy(target->shadow_[open.line].bytes, newest, kLineBytes);
    for (int store = 1; store <= open.stores; store++) {
      target->Store(open.line, Content(open, store), open.site, false);
    }
    target->open_[target->open_index_[open.line]].left = true;
  }
  target->memory_.size = memory_.size;
  target->durable_size_ = durable_size_;
}

void SimMedium::Kill() {
  for (OpenLine& open : open_) {
    open.left = true;
    std::fill(std::begin(open.flushed), std::end(open.flushed), uint8_t{0});
  }
}

void SimMedium::LosePower(const std::vector<Choice>& choices) {
  bool any = false;
  LineContent content;
  for (size_t i = 0; i < open_.size(); i++) {
    any = any || choices[i] != 0;
    const uint32_t line = open_[i].line;
    Choose(open_[i], choices[i], content.bytes);
    SetLine(line, content, Hash64(content.bytes, kLineBytes, line));
  }
  if (!any) memory_.size = durable_size_;
  durable_size_ = memory_.size;
  DropOpen();
}

std::string SimMedium::FindUnflushedStore() const {
  if (mode_ != Mode::kAdr) return "";
  for (const OpenLine& open : open_) {
    if (open.left || *std::max_element(std::begin(open.flushed), std::end(open.flushed)) == open.stores) continue;
    return "nobody flushes line " + std::to_string(open.line) + ", stored by " + Sites::Name(open.site);
  }
  return "";
}

std::string SimMedium::FindStrayStore() const {
  if (memcmp(memory_.base, shadow_.get(), memory_.capacity) == 0) return "";
  uint64_t at = 0;
  while (memory_.base[at] == shadow_[0].bytes[at]) at++;
  return "a store at pool offset " + std::to_string(at) + " did not go through the door";
}

}  // namespace miodb::sim
