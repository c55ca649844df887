// The cost of dropping everything at once: one DeleteRange over all keys, or the drop of a column family that has them,
// and the scans over the hole.
//
//   drop_cost DIRECTORY [KEYS [VALUE_BYTES]]    makes databases there with so many keys (10,000,000) and values of so
//                                               many bytes (100), drops the keys, removes the databases
//
// A scan is an iterator that is made, moved to the first and to the last key and dropped: before anything was
// compacted, and after WaitForIdle.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/cost/cost.h"
#include "miodb/db.h"
#include "miodb/options.h"

using miodb::cost::Check;
using miodb::cost::Clock;
using miodb::cost::Key;
using miodb::cost::Since;

namespace {

constexpr int kScans = 11;

double MillisOf(const std::function<void()>& call) {
  const Clock::time_point start = Clock::now();
  call();
  return Since<std::milli>(start);
}

struct Shape {
  std::string directory;
  uint64_t keys;
  uint64_t value_bytes;
};

enum class Drop { kRange, kFamily };

class DropCost {
 public:
  DropCost(const Shape& shape, Drop drop) : shape_(shape), drop_(drop) {
    options_.create_if_missing = options_.error_if_exists = true;
    miodb::DB* db;
    Check(miodb::DB::Open(options_, shape_.directory, &db));
    db_.reset(db);
    family_ = db_->DefaultColumnFamily();
    if (drop_ == Drop::kFamily) Check(db_->CreateColumnFamily("dropped", &family_));
  }
  ~DropCost() {
    db_.reset();
    Check(miodb::DestroyDB(shape_.directory, options_));
  }

  void Run() {
    const uint64_t empty = PoolBytes();
    const std::string value(shape_.value_bytes, 'v');
    for (uint64_t i = 0; i < shape_.keys; i++) Check(db_->Put(miodb::WriteOptions(), family_, Key(i), value));
    Check(db_->WaitForIdle());
    const uint64_t full = PoolBytes() - empty;
    const double call = MillisOf([this] { Call(); });
    const double at_once = drop_ == Drop::kRange ? Scan() : 0;
    const double idle = MillisOf([this] { Check(db_->WaitForIdle()); });
    const uint64_t left = PoolBytes() - std::min(empty, PoolBytes());
    std::printf("%-13s %.3f ms", drop_ == Drop::kRange ? "DeleteRange" : "family drop", call);
    if (drop_ == Drop::kRange) std::printf(", scan at once %.3f ms, scan afterwards %.3f ms", at_once, Scan());
    std::printf(", WaitForIdle %.0f ms, pool %.1f -> %.1f MiB\n", idle, static_cast<double>(full) / (1 << 20),
                static_cast<double>(left) / (1 << 20));
  }

 private:
  void Call() {
    if (drop_ == Drop::kFamily) return Check(db_->DropColumnFamily(family_));
    Check(db_->DeleteRange(miodb::WriteOptions(), Key(0), ":"));  // all digits are less
  }

  // The median of several.
  double Scan() {
    std::vector<double> millis;
    millis.reserve(kScans);
    for (int i = 0; i < kScans; i++) {
      millis.push_back(MillisOf([this] {
        const std::unique_ptr<miodb::Iterator> it(db_->NewIterator(miodb::ReadOptions()));
        it->SeekToFirst();
        const bool forward = it->Valid();
        it->SeekToLast();
        if (forward || it->Valid()) Check(miodb::Status::Corruption("a key is still there"));
        Check(it->status());
      }));
    }
    std::sort(millis.begin(), millis.end());
    return millis[kScans / 2];
  }

  uint64_t PoolBytes() const {
    std::string text;
    if (!db_->GetProperty("miodb.pool-bytes-used", &text)) Check(miodb::Status::NotFound("miodb.pool-bytes-used"));
    return std::strtoull(text.c_str(), nullptr, 10);
  }

  const Shape shape_;
  const Drop drop_;
  miodb::Options options_;
  std::unique_ptr<miodb::DB> db_;
  miodb::ColumnFamilyHandle* family_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: drop_cost DIRECTORY [KEYS [VALUE_BYTES]]\n");
    return 2;
  }
  const Shape shape{argv[1], argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10 * 1000 * 1000,
                    argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 100};
  for (const Drop drop : {Drop::kRange, Drop::kFamily}) DropCost(shape, drop).Run();
  return 0;
}
