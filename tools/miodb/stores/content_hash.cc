#include "tools/miodb/stores/content_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cinttypes>
#include <cstdio>

namespace miodb::tool {

struct ContentHash::State {
  XXH3_state_t state;
};

ContentHash::ContentHash() : state_(new State) { XXH3_64bits_reset(&state_->state); }
ContentHash::~ContentHash() = default;

// No record has a key of the size that stands before the name of a family.
void ContentHash::BeginFamily(const Slice& name) {
  if (name.empty()) return;
  const uint64_t sizes[] = {UINT64_MAX, name.size()};
  XXH3_64bits_update(&state_->state, sizes, sizeof(sizes));
  XXH3_64bits_update(&state_->state, name.data(), name.size());
  families_++;
}

// With the sizes in front, where a key ends and its value begins counts as well.
void ContentHash::Add(const Slice& key, const Slice& value) {
  const uint64_t sizes[] = {key.size(), value.size()};
  XXH3_64bits_update(&state_->state, sizes, sizeof(sizes));
  XXH3_64bits_update(&state_->state, key.data(), key.size());
  XXH3_64bits_update(&state_->state, value.data(), value.size());
  records_++;
  key_bytes_ += key.size();
  value_bytes_ += value.size();
}

uint64_t ContentHash::hash() const { return XXH3_64bits_digest(&state_->state); }

std::string ContentHash::Describe() const {
  char text[200];
  std::snprintf(text, sizeof(text),
                "records      %" PRIu64 "\nkey_bytes    %" PRIu64 "\nvalue_bytes  %" PRIu64 "\nhash         %016" PRIx64
                "\n",
                records_, key_bytes_, value_bytes_, hash());
  return (families_ == 1 ? "" : "families     " + std::to_string(families_) + "\n") + text;
}

}  // namespace miodb::tool
