// RecordRing: copies of records in DRAM, found by their keys. New copies take the place of the oldest ones.
//
// The ring is an array of words. A copy is stored behind the one before it:
//
//   word 0     number of the table that has the record
//   word 1     tag (record.h)
//   word 2     bytes of the key, 32 bits; bytes of the value, 32 bits
//   then       the key, in whole words; the value, in whole words
//
// Positions count words and only grow; a position modulo the size of the ring is a place. A copy begins at a place
// from which it fits to the end of the ring. The directory has buckets of kSlots slots, one line each. A slot has the
// position of a copy and 16 bits of the hash of its key.
//
// A look-up reads one line of the directory and the lines of the copy, and writes nothing. A reader does not keep
// writers off: after it has copied words out, it asks how far writers have come (reserved_), and throws away what they
// may have written over.
//
// Threads: any number. One thread at a time stores; others that want to store meanwhile do not. Ownership: a copy that
// is taken out is the caller's. After a crash, or a close: nothing is left.
//
// Units: bytes, but for positions.
//
// Errors: the constructor and Take throw bad_alloc without memory.

#ifndef MIODB_SRC_DB_READ_RECORD_RING_H_
#define MIODB_SRC_DB_READ_RECORD_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "miodb/slice.h"

namespace miodb {

class RecordRing {
 public:
  // bytes: of ring and directory, kLeastBytes or more.
  explicit RecordRing(size_t bytes);
  RecordRing(const RecordRing&) = delete;
  RecordRing& operator=(const RecordRing&) = delete;

  static constexpr size_t kLeastBytes = 8192;

  // A copy in the ring, as it was when it was found.
  struct Found {
    bool any = false;
    uint64_t table = 0;
    uint64_t tag = 0;
    uint64_t value_at = 0;  // position
    uint64_t position = 0;
    size_t value_bytes = 0;
  };

  // Asks for the line of the directory that Find reads.
  void Prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[FirstSlot(hash)]); }

  // The copy that is found for a key. hash: 64 bits of it, as in Keep.
  Found Find(const Slice& key, uint64_t hash) const;

  // Copies the value out. Null: the copy has been written over.
  std::unique_ptr<char[]> Take(const Found& found) const;

  // Stores a copy, unless it is too large for the ring or another thread stores one.
  void Keep(const Slice& key, uint64_t hash, uint64_t table, uint64_t tag, const Slice& value);

  // Whether the older half of what the ring has begins behind this copy: it will be written over soon.
  bool IsOld(const Found& found) const { return Reserved() > found.position + words_ / 2; }
  bool IsFull() const { return Reserved() >= words_; }

  // Bytes that were written to.
  size_t memory_bytes() const;

 private:
  using Word = std::atomic<uint64_t>;

  // Words of memory of their own, zeros at first. Pages are taken only as they are used, and are huge where the system
  // gives such: a look-up touches two places anywhere.
  class Zeros {
   public:
    explicit Zeros(size_t words);
    ~Zeros();
    Zeros(const Zeros&) = delete;
    Zeros& operator=(const Zeros&) = delete;

    Word* words() const { return words_; }

   private:
    const size_t bytes_;
    Word* words_;
  };

  static constexpr size_t kSlots = 8;         // of a bucket
  static constexpr size_t kHeadWords = 3;     // of a copy, before the key
  static constexpr size_t kLeastCopies = 32;  // a larger copy would push out much of what the ring has
  static constexpr int kTagBits = 16;

  static size_t WordsOf(size_t bytes) { return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t); }

  // The upper half of a hash chooses the bucket, the lower bits are told apart within it. Slots: never 0 in use.
  size_t FirstSlot(uint64_t hash) const { return ((hash >> 32) * buckets_ >> 32) * kSlots; }
  static uint64_t SlotOf(uint64_t position, uint64_t hash) { return (position + 1) << kTagBits | TagOf(hash); }
  static uint64_t TagOf(uint64_t hash_or_slot) { return hash_or_slot & ((1 << kTagBits) - 1); }
  static uint64_t PositionOf(uint64_t slot) { return (slot >> kTagBits) - 1; }

  // Nothing of a copy at this position was written over before the call. To be asked after its words were read.
  bool IsWhole(uint64_t position) const { return Reserved() <= position + words_; }

  // relaxed: words that a writer stored behind the position that it had reserved are read by acquire, so whoever has
  // seen one of them sees the position too.
  uint64_t Reserved() const { return reserved_.load(std::memory_order_relaxed); }

  const Word& At(uint64_t position) const { return ring_.words()[position % words_]; }
  Word& At(uint64_t position) { return ring_.words()[position % words_]; }
  bool HasKey(uint64_t position, const Slice& key) const;
  void CopyOut(uint64_t position, size_t bytes, char* to) const;
  void CopyIn(uint64_t position, const Slice& bytes);
  void Publish(uint64_t position, uint64_t hash);

  const uint64_t buckets_;
  const uint64_t words_;  // of the ring
  const Zeros directory_;
  const Zeros ring_;
  Word* const slots_;                              // of the directory
  alignas(64) std::atomic<uint64_t> reserved_{0};  // everything from words_ before here on may be being written
  std::atomic<bool> storing_{false};
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_RECORD_RING_H_
