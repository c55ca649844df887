// The records of recovered log chunks, found by their order (record_order.h) where they lie: what an open reads by
// until a memtable's tree was built over them.
//
// A search costs a few misses for each chunk, so this is for the time between an open and the flush, and not for more.
//
// Threads: one adds, before anybody reads; then any number read. Ownership: of the places; the chunks' bytes outlive
// this. Errors: a record that is damaged is Corruption.

#ifndef MIODB_SRC_MEMTABLE_SORTED_CHUNKS_H_
#define MIODB_SRC_MEMTABLE_SORTED_CHUNKS_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "miodb/status.h"
#include "src/format/record.h"
#include "src/iterator/internal_iterator.h"
#include "src/iterator/lookup_key.h"
#include "src/util/bytes/key_order.h"
#include "src/util/check/check.h"

namespace miodb {

// A chunk with its order. Nobody may have looked at its bytes yet, or the medium may have changed since.
class SortedChunk {
 public:
  struct Bytes {
    const char* base;
    uint64_t size;
    uint64_t first_sequence;  // of the records
    uint64_t last_sequence;
  };

  // places: of all records in key order, but for those of ranges. They are the chunk's own, or lie in it.
  SortedChunk(KeyOrder order, const Bytes& bytes, std::vector<uint32_t> places)
      : order_(order), bytes_(bytes), own_(std::move(places)), places_(own_.data()), count_(own_.size()) {}
  SortedChunk(KeyOrder order, const Bytes& bytes, const uint32_t* places, uint64_t count)
      : order_(order), bytes_(bytes), places_(places), count_(count) {}
  SortedChunk(const SortedChunk&) = delete;
  SortedChunk& operator=(const SortedChunk&) = delete;

  const Bytes& bytes() const { return bytes_; }
  size_t count() const { return count_; }
  size_t memory_bytes() const { return own_.capacity() * sizeof(uint32_t); }

  Status At(size_t index, RecordView* record) const;

  // The first index that is not before (key, sequence), or count(); *record: of the one there.
  Status Seek(const Slice& key, uint64_t sequence, size_t* index, RecordView* record) const;

 private:
  const KeyOrder order_;
  const Bytes bytes_;
  const std::vector<uint32_t> own_;
  const uint32_t* const places_;
  const uint64_t count_;
};

class SortedChunks {
 public:
  explicit SortedChunks(KeyOrder order) : order_(order) {}

  // Chunks come in the order of their sequences.
  void Add(std::unique_ptr<SortedChunk> chunk) {
    DCHECK(chunk != nullptr && chunk->count() > 0);
    chunks_.push_back(std::move(chunk));
  }

  size_t chunks() const { return chunks_.size(); }
  uint64_t count() const;
  size_t memory_bytes() const;

  // As MemTable::Get, but *record is not verified.
  Status Get(const LookupKey& key, bool* found, RecordView* record) const;

  std::unique_ptr<InternalIterator> NewIterator() const;

 private:
  const KeyOrder order_;
  std::vector<std::unique_ptr<SortedChunk>> chunks_;
};

}  // namespace miodb

#endif  // MIODB_SRC_MEMTABLE_SORTED_CHUNKS_H_
