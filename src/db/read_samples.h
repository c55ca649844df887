// A sample of the keys that gets have found in tables of the pool lately, from which the SSD tier learns which
// partitions are cold.
//
// Threads: any number. Note never waits and needs no memory: a sample that meets another one is left out.

#ifndef MIODB_SRC_DB_READ_SAMPLES_H_
#define MIODB_SRC_DB_READ_SAMPLES_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "miodb/slice.h"

namespace miodb {

class ReadSamples {
 public:
  // Counts a get, and takes the key of every kInterval-th of a thread.
  void Note(const Slice& key) {
    thread_local uint32_t gets = 0;
    if (++gets % kInterval != 0 || busy_.test_and_set(std::memory_order_acquire)) return;  // acquire: of the last clear
    Key& place = keys_[next_++ % kSamples];
    place.size = static_cast<uint8_t>(std::min(key.size(), kKeyBytes));
    memcpy(place.bytes, key.data(), place.size);
    busy_.clear(std::memory_order_release);  // release: of what was written
  }

  // What was taken last, ascending by bytes; nothing while it is being added to. Keys are cut at kKeyBytes.
  std::vector<std::string> Sorted() {
    std::vector<std::string> keys;
    if (busy_.test_and_set(std::memory_order_acquire)) return keys;  // as above
    try {
      keys.reserve(kSamples);
      for (size_t i = 0; i < std::min<uint64_t>(next_, kSamples); i++) keys.emplace_back(keys_[i].bytes, keys_[i].size);
    } catch (const std::exception&) {
      // Less is known then.
    }
    busy_.clear(std::memory_order_release);  // as above
    std::sort(keys.begin(), keys.end());
    return keys;
  }

 private:
  static constexpr uint32_t kInterval = 64;
  static constexpr size_t kSamples = 1024;
  static constexpr size_t kKeyBytes = 64;

  struct Key {
    uint8_t size;
    char bytes[kKeyBytes];
  };

  std::atomic_flag busy_;  // keys_ and next_ are being used
  std::array<Key, kSamples> keys_;
  uint64_t next_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_SAMPLES_H_
