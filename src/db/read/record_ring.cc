#include "src/db/read/record_ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "src/util/check/check.h"

namespace miodb {

namespace {

// A sixteenth of the memory is directory: a slot for each 128 bytes of the ring.
constexpr size_t kDirectoryShare = 16;

constexpr size_t kLineBytes = 64;

// The lines that a look-up asks for before it knows how long the copy is.
constexpr size_t kLinesAhead = 12;

}  // namespace

RecordRing::RecordRing(size_t bytes)
    : buckets_(std::clamp<size_t>(bytes / kDirectoryShare / (kSlots * sizeof(Word)), 1, UINT32_MAX)),
      words_((bytes - buckets_ * kSlots * sizeof(Word)) / sizeof(Word)),
      directory_(buckets_ * kSlots),
      ring_(words_),
      slots_(directory_.words()) {
  CHECK_GE(bytes, kLeastBytes);
  static_assert(sizeof(Word) == sizeof(uint64_t) && Word::is_always_lock_free && kSlots * sizeof(Word) == kLineBytes);
}

RecordRing::Zeros::Zeros(size_t words) : bytes_(words * sizeof(Word)) {
  DCHECK_GT(words, 0u);
  void* const begin = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  madvise(begin, bytes_, MADV_HUGEPAGE);  // small pages do as well
  words_ = static_cast<Word*>(begin);
}

RecordRing::Zeros::~Zeros() { munmap(words_, bytes_); }

RecordRing::Found RecordRing::Find(const Slice& key, uint64_t hash) const {
  const Word* const bucket = &slots_[FirstSlot(hash)];
  for (size_t i = 0; i < kSlots; i++) {
    const uint64_t slot = bucket[i].load(std::memory_order_acquire);  // pairs with Publish: its copy is there
    if (slot == 0 || TagOf(slot) != TagOf(hash)) continue;
    Found found;
    found.position = PositionOf(slot);
    if (!IsWhole(found.position)) continue;
    // The lines of a copy come side by side, and not one after the other.
    const char* const lines = reinterpret_cast<const char*>(&At(found.position));
    for (size_t line = 0; line < kLinesAhead; line++) __builtin_prefetch(lines + line * kLineBytes);
    // acquire, here and in CopyOut: see Reserved.
    found.table = At(found.position).load(std::memory_order_acquire);
    found.tag = At(found.position + 1).load(std::memory_order_acquire);
    const uint64_t sizes = At(found.position + 2).load(std::memory_order_acquire);
    found.value_bytes = sizes >> 32;
    found.value_at = found.position + kHeadWords + WordsOf(key.size());
    if (!IsWhole(found.position) || (sizes & UINT32_MAX) != key.size() || !HasKey(found.position, key)) continue;
    found.any = IsWhole(found.position);
    if (found.any) return found;
  }
  return Found();
}

bool RecordRing::HasKey(uint64_t position, const Slice& key) const {
  DCHECK_LE(position % words_ + kHeadWords + WordsOf(key.size()), words_);
  for (size_t done = 0; done < key.size(); done += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, key.data() + done, std::min(sizeof(word), key.size() - done));
    if (At(position + kHeadWords + done / sizeof(word)).load(std::memory_order_acquire) != word) return false;
  }
  return true;
}

void RecordRing::CopyOut(uint64_t position, size_t bytes, char* to) const {
  DCHECK_LE(position % words_ + WordsOf(bytes), words_);
  const Word* from = &At(position);
  for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t), to += sizeof(uint64_t)) {
    const uint64_t word = from++->load(std::memory_order_acquire);
    memcpy(to, &word, sizeof(word));
  }
  if (bytes == 0) return;
  const uint64_t word = from->load(std::memory_order_acquire);
  memcpy(to, &word, bytes);
}

std::unique_ptr<char[]> RecordRing::Take(const Found& found) const {
  DCHECK(found.any);
  auto bytes = std::make_unique_for_overwrite<char[]>(std::max<size_t>(found.value_bytes, 1));
  CopyOut(found.value_at, found.value_bytes, bytes.get());
  if (!IsWhole(found.position)) bytes.reset();
  return bytes;
}

// release: pairs with the acquire of readers, who then see what was reserved before.
void RecordRing::CopyIn(uint64_t position, const Slice& bytes) {
  DCHECK_LE(position % words_ + WordsOf(bytes.size()), words_);
  Word* to = &At(position);
  for (size_t done = 0; done < bytes.size(); done += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, bytes.data() + done, std::min(sizeof(word), bytes.size() - done));
    to++->store(word, std::memory_order_release);
  }
}

void RecordRing::Keep(const Slice& key, uint64_t hash, uint64_t table, uint64_t tag, const Slice& value) {
  DCHECK(key.size() <= UINT32_MAX && value.size() <= UINT32_MAX);
  const uint64_t words = kHeadWords + WordsOf(key.size()) + WordsOf(value.size());
  if (words > words_ / kLeastCopies) return;
  if (storing_.exchange(true, std::memory_order_acquire)) return;  // acquire: pairs with the release below
  uint64_t position = Reserved();
  DCHECK_LT(position, UINT64_MAX >> (kTagBits + 1));
  const uint64_t left = words_ - position % words_;
  if (words > left) position += left;
  reserved_.store(position + words, std::memory_order_relaxed);  // relaxed: see Reserved
  // release: as in CopyIn
  At(position).store(table, std::memory_order_release);
  At(position + 1).store(tag, std::memory_order_release);
  At(position + 2).store(value.size() << 32 | key.size(), std::memory_order_release);
  CopyIn(position + kHeadWords, key);
  CopyIn(position + kHeadWords + WordsOf(key.size()), value);
  Publish(position, hash);
  storing_.store(false, std::memory_order_release);  // release: the next one who stores sees what was reserved
}

// The place of the key's last copy, a free one, or that of the oldest copy.
void RecordRing::Publish(uint64_t position, uint64_t hash) {
  Word* const bucket = &slots_[FirstSlot(hash)];
  const uint64_t slot = SlotOf(position, hash);
  Word* place = bucket;
  DCHECK(slot != 0 && PositionOf(slot) == position);
  for (size_t i = 0; i < kSlots; i++) {
    const uint64_t present = bucket[i].load(std::memory_order_relaxed);  // relaxed: only this thread stores now
    if (present != 0 && TagOf(present) == TagOf(slot)) {
      place = &bucket[i];
      break;
    }
    if (present < place->load(std::memory_order_relaxed)) place = &bucket[i];
  }
  place->store(slot, std::memory_order_release);  // pairs with the acquire of Find
}

size_t RecordRing::memory_bytes() const { return (buckets_ * kSlots + std::min(Reserved(), words_)) * sizeof(Word); }

}  // namespace miodb
