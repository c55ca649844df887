// The store descriptor as bytes: fields in a fixed order, sealed with magic, version and checksum.

#include "src/format/store_descriptor.h"

#include "src/format/record.h"
#include "src/format/sealed.h"
#include "src/format/superblock.h"
#include "src/format/uuid_coding.h"

namespace miodb {

namespace {

constexpr Seal kStoreSeal = {"MIOSTORE", kStoreFormatVersion};
constexpr Seal kStoreOfCopySeal = {"MIOSTORE", kStoreOfCopyFormatVersion};

// The Get functions take their field off the front of *input, and say false where the bytes end early. The checksum
// was good by then, so false means another writer's mistake and not damage; it is answered in the same way.
bool GetByte(Slice* input, uint8_t* byte) {
  if (input->empty()) return false;
  *byte = static_cast<uint8_t>((*input)[0]);
  input->remove_prefix(1);
  return true;
}

// Paths are bytes and not text: a file system may have any name.
bool GetText(Slice* input, std::string* text) {
  Slice bytes;
  if (!GetLengthPrefixedSlice(input, &bytes)) return false;
  *text = bytes.ToString();
  return true;
}

// Takes what was sealed apart. Every value that has a range is checked, and nothing may follow the last field: a
// descriptor with more in it is another version's, and its meaning is not guessed. The count of former ids
// needs no limit, since each takes bytes of the input.
bool DecodeFields(Slice* input, StoreDescriptor* store) {
  uint8_t state, in_use;
  uint32_t count;
  if (!GetByte(input, &state) || !GetByte(input, &in_use) || !GetUuid(input, &store->pool) ||
      !GetUuid(input, &store->successor) || !GetFixed64(input, &store->log.id) ||
      !GetFixed64(input, &store->log.epoch) || !GetText(input, &store->directory) ||
      !GetText(input, &store->pool_path) || !GetText(input, &store->log.wal_dir) || !GetText(input, &store->ssd_path) ||
      !GetVarint32(input, &count)) {
    return false;
  }
  if (state < static_cast<uint8_t>(StoreState::kMaking) || state > static_cast<uint8_t>(StoreState::kInUse) ||
      in_use > 1 || store->log.epoch > kMostEpoch) {
    return false;
  }
  if (count >= static_cast<uint32_t>(kMaxRegions)) return false;
  store->state = static_cast<StoreState>(state);
  store->log.in_use = in_use == 1;
  for (; count > 0; count--) {
    StoreDescriptor::Region region;
    if (!GetUuid(input, &region.uuid) || !GetText(input, &region.path)) return false;
    store->regions.push_back(std::move(region));
  }
  if (!GetVarint32(input, &count)) return false;
  for (; count > 0; count--) {
    uint64_t id;
    if (!GetFixed64(input, &id)) return false;
    store->former_ids.push_back(id);
  }
  return GetFixed64(input, &store->log_reach) && store->log_reach <= kMostReadSequence &&
         GetText(input, &store->ssd_state);
}

bool DecodeOrigin(Slice* input, StoreDescriptor::Origin* origin) {
  using State = StoreDescriptor::Origin::State;
  DCHECK(origin->state == State::kNone);
  uint8_t state;
  if (!GetByte(input, &state) || state < static_cast<uint8_t>(State::kCopied) ||
      state > static_cast<uint8_t>(State::kUpTo) || !GetUuid(input, &origin->source) ||
      !GetUuid(input, &origin->copy) || !GetFixed64(input, &origin->sequence)) {
    return false;
  }
  origin->state = static_cast<State>(state);
  return origin->sequence <= (origin->state == State::kUpTo ? kMaxSequence : 0);
}

}  // namespace

StoreDescriptor StoreDescriptor::Counting() const {
  if (state == StoreState::kInUse) return *this;
  StoreDescriptor making;
  making.pool = pool;
  making.log.id = log.id;
  making.directory = directory;
  return making;
}

// The order of the fields is that of docs/format.md. Equal descriptors have equal bytes.
std::string StoreDescriptor::Encode() const {
  CHECK(state == StoreState::kMaking || state == StoreState::kInUse);
  CHECK_LT(regions.size(), static_cast<size_t>(kMaxRegions));
  CHECK_LE(log_reach, kMaxSequence);
  std::string content;
  content.push_back(static_cast<char>(state));
  content.push_back(log.in_use ? 1 : 0);
  PutUuid(&content, pool);
  PutUuid(&content, successor);
  PutFixed64(&content, log.id);
  PutFixed64(&content, log.epoch);
  PutLengthPrefixedSlice(&content, directory);
  PutLengthPrefixedSlice(&content, pool_path);
  PutLengthPrefixedSlice(&content, log.wal_dir);
  PutLengthPrefixedSlice(&content, ssd_path);
  PutVarint32(&content, static_cast<uint32_t>(regions.size()));
  for (const Region& region : regions) {
    PutUuid(&content, region.uuid);
    PutLengthPrefixedSlice(&content, region.path);
  }
  PutVarint32(&content, static_cast<uint32_t>(former_ids.size()));
  for (const uint64_t id : former_ids) PutFixed64(&content, id);
  PutFixed64(&content, log_reach);
  PutLengthPrefixedSlice(&content, ssd_state);
  if (origin.state == Origin::State::kNone) return Sealed(kStoreSeal, content);
  CHECK_LE(origin.sequence, origin.state == Origin::State::kUpTo ? kMaxSequence : 0);
  content.push_back(static_cast<char>(origin.state));
  PutUuid(&content, origin.source);
  PutUuid(&content, origin.copy);
  PutFixed64(&content, origin.sequence);
  return Sealed(kStoreOfCopySeal, content);
}

// On failure the descriptor may hold a part; callers throw it away. If the bytes differ from the encoding of the
// result, they are another version's or have something behind the last field; their meaning is not guessed.
bool StoreDescriptor::DecodeFrom(const Slice& bytes) {
  *this = StoreDescriptor();
  Slice content;
  const bool read = Unseal(kStoreSeal, bytes, &content)
                        ? DecodeFields(&content, this)
                        : Unseal(kStoreOfCopySeal, bytes, &content) && DecodeFields(&content, this) &&
                              DecodeOrigin(&content, &origin);
  return read && Slice(Encode()) == bytes;
}

}  // namespace miodb
