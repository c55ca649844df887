#include "tests/stress/db_stress/verifier.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tests/common/random/option_sets.h"

namespace miodb::test {

namespace {

constexpr uint64_t kKiB = 1024;

uint64_t UsedBytes(DB* db) {
  std::string text;
  return db->GetProperty("miodb.pool-bytes-used", &text) ? std::strtoull(text.c_str(), nullptr, 10) : 0;
}

// Areas of the manifest, of which a spare one is as large as the state once was.
uint64_t ManifestBytes(DB* db) {
  constexpr char kManifest[] = "-bytes-manifest: ";
  std::string text;
  uint64_t bytes = 0;
  if (!db->GetProperty("miodb.placement", &text)) return 0;
  for (size_t at = text.find(kManifest); at != std::string::npos; at = text.find(kManifest, at + 1)) {
    bytes += std::strtoull(text.c_str() + at + sizeof(kManifest) - 1, nullptr, 10);
  }
  return bytes;
}

}  // namespace

int StressVerifier::Run(const std::string& path, bool last) {
  const std::string fault = Verify(path, last);
  db_.reset();
  if (fault.empty()) return 0;
  std::fprintf(stderr, "db_stress: verifier: %s\n", fault.c_str());
  return 1;
}

Status StressVerifier::Open(const std::string& path, uint64_t pool_size) {
  db_.reset();
  DB* opened = nullptr;
  Options options = AtPath(round_.options, path);
  options.pool_size = pool_size;
  Status s = DB::Open(options, path, &opened);
  db_.reset(opened);
  return s;
}

std::string StressVerifier::Verify(const std::string& path, bool last) {
  Status s = Open(path, round_.options.pool_size);
  if (!s.ok()) return "open: " + s.ToString();
  FoundValues found;
  std::string fault = ReadAll(&found);
  if (fault.empty()) fault = History(flags_.seed, data_, round_, state_).Judge(found);
  if (!fault.empty()) return fault;
  state_->keys_verified.fetch_add(found.size());
  if (round_.settles || last) fault = CheckSpace(path);
  if (fault.empty() && last) fault = CheckEmpty(path);
  if (fault.empty()) state_->verified.fetch_add(1);
  return fault;
}

std::string StressVerifier::ReadAll(FoundValues* found) {
  ReadOptions verify;
  verify.verify_checksums = true;
  const std::vector<StressKey>& keys = data_.keys();
  found->assign(keys.size(), std::nullopt);
  std::string value;
  for (size_t rank = 0; rank < keys.size(); rank++) {
    const Status s = db_->Get(verify, keys[rank].text, &value);
    if (s.ok()) {
      (*found)[rank] = value;
    } else if (!s.IsNotFound()) {
      return "Get of " + keys[rank].text + ": " + s.ToString();
    }
  }
  const std::unique_ptr<Iterator> it(db_->NewIterator(verify));
  size_t rank = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), rank++) {
    while (rank < keys.size() && !(*found)[rank].has_value()) rank++;
    if (rank == keys.size() || it->key() != Slice(keys[rank].text)) {
      return "a scan yields " + it->key().ToString() + (rank == keys.size() ? "" : " instead of " + keys[rank].text);
    }
    if (it->value() != Slice(*(*found)[rank])) return "Get and scan differ at " + keys[rank].text;
  }
  if (!it->status().ok()) return "scan: " + it->status().ToString();
  while (rank < keys.size() && !(*found)[rank].has_value()) rank++;
  if (rank < keys.size()) return "a scan misses " + keys[rank].text;
  return ReadBackward(*found);
}

std::string StressVerifier::ReadBackward(const FoundValues& found) {
  const std::vector<StressKey>& keys = data_.keys();
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  size_t rank = keys.size();
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    while (rank > 0 && !found[rank - 1].has_value()) rank--;
    if (rank == 0) return "a backward scan yields " + it->key().ToString() + " beyond the first key";
    rank--;
    if (it->key() != Slice(keys[rank].text)) {
      return "a backward scan yields " + it->key().ToString() + " instead of " + keys[rank].text;
    }
    if (it->value() != Slice(*found[rank])) return "Get and backward scan differ at " + keys[rank].text;
  }
  if (!it->status().ok()) return "backward scan: " + it->status().ToString();
  while (rank > 0 && !found[rank - 1].has_value()) rank--;
  return rank == 0 ? "" : "a backward scan misses " + keys[rank - 1].text;
}

// The space of a settled database, and its space after a reopen, when only extents that the manifest names are taken.
// More before than after was forgotten in memory; prepared chunks and areas of the manifest may differ.
std::string StressVerifier::CheckSpace(const std::string& path) {
  Status s = db_->WaitForIdle();
  if (s.IsNoSpace() && round_.options.pool_size > 0) return "";
  if (!s.ok()) return "settling: " + s.ToString();
  if (!round_.options.pool_path.empty()) return "";  // a volatile pool: an open has it anew
  const uint64_t before = UsedBytes(db_.get()), manifest = ManifestBytes(db_.get());
  s = Open(path, round_.options.pool_size);
  if (!s.ok()) return "reopen: " + s.ToString();
  const uint64_t after = UsedBytes(db_.get());
  uint64_t chunk = round_.options.log_chunk_size;
  if (chunk == 0) chunk = std::max(round_.options.write_buffer_size / 4, size_t{4 * kKiB});
  const uint64_t most = 2 * chunk * 8 + 2 * 64 * kKiB + manifest;
  if (before <= after + most && after <= before + most) return "";
  return "a settled database takes " + std::to_string(before) + " bytes, after a reopen " + std::to_string(after);
}

// With everything deleted the pool must be as empty as a new one.
std::string StressVerifier::CheckEmpty(const std::string& path) {
  const auto make_empty = [this](DB* db) {
    Status s;
    for (const StressKey& key : data_.keys()) {
      if (!s.ok()) break;
      const bool single = StressData::IsSingle(key.unit);
      s = single ? db->SingleDelete(WriteOptions(), key.text) : db->Delete(WriteOptions(), key.text);
    }
    if (s.ok() && !round_.options.ssd_path.empty())
      db->CompactRange(nullptr, nullptr);  // tombstones over what is on SSD
    return s.ok() ? db->WaitForIdle() : s;
  };
  Options options = AtPath(round_.options, path + ".empty");
  Status s = make_empty(db_.get());
  if (s.IsNoSpace() && round_.options.pool_size > 0) {
    // Rounds before this one had other chunk sizes, so they kept less in reserve than deletes now need. A larger pool
    // is the way out.
    options.pool_size = 0;
    s = Open(path, 0);
    if (s.ok()) s = make_empty(db_.get());
  }
  if (!s.ok()) return "deleting everything: " + s.ToString();
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    if (it->Valid()) return "everything was deleted, and " + it->key().ToString() + " is there";
  }
  DB* opened = nullptr;
  s = DB::Open(options, path + ".empty", &opened);
  std::unique_ptr<DB> fresh(opened);
  if (s.ok()) s = make_empty(fresh.get());
  if (!s.ok()) return "an empty database to compare with: " + s.ToString();
  // Both prepare log chunks in the background, and a manifest area may still have the size that it needed for more
  // tables, or for files of a few blocks on SSD, or that of a pool that has got a large region since it was made.
  const bool large_areas = !round_.options.ssd_path.empty() || !round_.options.nvm_regions.empty();
  // One that held more keeps more chunks ready, up to eight.
  const uint64_t buffer = options.write_buffer_size;
  const uint64_t chunk = options.log_chunk_size > 0 ? options.log_chunk_size
                                                    : std::max<uint64_t>(buffer / 16, std::min(buffer / 4, 64 * kKiB));
  const uint64_t slack = (large_areas ? 512 : 64) * kKiB + 8 * chunk;
  for (int i = 0; i < 100 && UsedBytes(db_.get()) > UsedBytes(fresh.get()) + slack; i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const uint64_t used = UsedBytes(db_.get()), fresh_used = UsedBytes(fresh.get());
  fresh.reset();
  s = DestroyDB(path + ".empty", options);
  if (!s.ok()) return s.ToString();
  if (used <= fresh_used + slack) return "";
  return "leaked: with everything deleted it takes " + std::to_string(used) + " bytes, a new one " +
         std::to_string(fresh_used);
}

}  // namespace miodb::test
