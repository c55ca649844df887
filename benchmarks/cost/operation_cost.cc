// Executes the operations whose instructions tools/checks/check_instructions.sh counts.
//
//   operation_cost DIRECTORY fill          makes a database there
//   operation_cost DIRECTORY               uses what fill has made
//   operation_cost DIRECTORY RANGES        the same with so many live deletions of ranges between its keys
//   operation_cost DIRECTORY statistics    the same with Options::statistics
//
// Copies of what one fill has made are of one shape, whenever which merge ran, so that counts can be compared.
//
// Under callgrind only what the Counted functions call is counted, so that filling the database and the background
// threads do not matter. Each of them executes kOperations operations, one per call of the public interface.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "benchmarks/cost/cost.h"
#include "miodb/db.h"
#include "miodb/options.h"

using miodb::cost::Check;
using miodb::cost::Key;

namespace {

// No key whose number is this or larger is in the database.
constexpr uint64_t kRecords = 40000;
constexpr uint64_t kOperations = 5000;
constexpr size_t kValueBytes = 100;

// The keys are made before, so that their cost is not counted.
std::unique_ptr<std::string[]> MakeKeys(uint64_t first, uint64_t stride) {
  auto made = std::make_unique<std::string[]>(kOperations);
  for (uint64_t i = 0; i < kOperations; i++) made[i] = Key(first + i * stride);
  return made;
}

void DeleteRanges(miodb::DB* db, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    const std::string key = Key(i * 3);
    Check(db->DeleteRange(miodb::WriteOptions(), key + "a", key + "b"));
  }
  Check(db->Flush());
  std::string live;
  if (db->GetProperty("miodb.range-deletions", &live))
    std::fprintf(stderr, "%s live deletions of ranges\n", live.c_str());
}

void Expect(uint64_t found, uint64_t expected, const char* what) {
  if (found == expected) return;
  std::fprintf(stderr, "operation_cost: %s: %llu instead of %llu\n", what, static_cast<unsigned long long>(found),
               static_cast<unsigned long long>(expected));
  std::exit(1);
}

}  // namespace

// Names without arguments, as callgrind's options want them.
extern "C" {

[[gnu::noinline]] void CountedPut(miodb::DB* db, const std::string* keys, const std::string& value) {
  for (uint64_t i = 0; i < kOperations; i++) Check(db->Put(miodb::WriteOptions(), keys[i], value));
}

[[gnu::noinline]] uint64_t CountedGet(miodb::DB* db, const std::string* keys, std::string* value) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < kOperations; i++) found += db->Get(miodb::ReadOptions(), keys[i], value).ok();
  return found;
}

[[gnu::noinline]] uint64_t CountedGetMissing(miodb::DB* db, const std::string* keys, std::string* value) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < kOperations; i++) found += db->Get(miodb::ReadOptions(), keys[i], value).ok();
  return found;
}

[[gnu::noinline]] uint64_t CountedGetBuffered(miodb::DB* db, const std::string* keys, std::string* value) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < kOperations; i++) found += db->Get(miodb::ReadOptions(), keys[i], value).ok();
  return found;
}

[[gnu::noinline]] void CountedNewIterator(miodb::DB* db) {
  for (uint64_t i = 0; i < kOperations; i++) delete db->NewIterator(miodb::ReadOptions());
}

[[gnu::noinline]] uint64_t CountedSeek(miodb::Iterator* it, const std::string* keys) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < kOperations; i++) {
    it->Seek(keys[i]);
    found += it->Valid();
  }
  return found;
}

[[gnu::noinline]] uint64_t CountedNext(miodb::Iterator* it) {
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < kOperations; i++) {
    it->Next();
    bytes += it->value().size();
  }
  return bytes;
}

[[gnu::noinline]] uint64_t CountedPrev(miodb::Iterator* it) {
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < kOperations; i++) {
    it->Prev();
    bytes += it->value().size();
  }
  return bytes;
}

}  // extern "C"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: operation_cost DIRECTORY [fill | RANGES | statistics]\n");
    return 2;
  }
  const std::string what = argc == 3 ? argv[2] : "";
  miodb::Options options;
  options.statistics = what == "statistics";
  options.create_if_missing = options.error_if_exists = what == "fill";
  options.write_buffer_size = 2 << 20;
  options.pool_size = 256 << 20;  // more than valgrind can map otherwise
  miodb::DB* opened;
  Check(miodb::DB::Open(options, argv[1], &opened));
  std::unique_ptr<miodb::DB> db(opened);
  const std::string bytes(kValueBytes, 'v');
  std::string value;
  if (what == "fill") {
    for (uint64_t i = 0; i < kRecords; i++) Check(db->Put(miodb::WriteOptions(), Key(i), bytes));
    db->CompactRange(nullptr, nullptr);
    Check(db->WaitForIdle());
    return 0;
  }
  Check(db->WaitForIdle());
  if (!what.empty() && !options.statistics) DeleteRanges(db.get(), std::strtoull(argv[2], nullptr, 10));

  const auto there = MakeKeys(0, 7);
  const auto missing = MakeKeys(kRecords, 1);
  Check(db->Get(miodb::ReadOptions(), Key(0), &value));  // the first call of a thread makes what the others use
  Expect(CountedGet(db.get(), there.get(), &value), kOperations, "gets");
  Expect(CountedGetMissing(db.get(), missing.get(), &value), 0, "gets of missing keys");
  CountedPut(db.get(), missing.get(), bytes);
  Expect(CountedGetBuffered(db.get(), missing.get(), &value), kOperations, "gets from the memtable");

  CountedNewIterator(db.get());
  std::unique_ptr<miodb::Iterator> it(db->NewIterator(miodb::ReadOptions()));
  Expect(CountedSeek(it.get(), there.get()), kOperations, "seeks");
  it->SeekToFirst();
  Expect(CountedNext(it.get()), kOperations * kValueBytes, "bytes of steps forward");
  it->SeekToLast();
  Expect(CountedPrev(it.get()), kOperations * kValueBytes, "bytes of steps back");
  Check(it->status());
  return 0;
}
