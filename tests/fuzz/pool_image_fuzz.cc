// src/nvm/pool/pool_image.h and Pool::Open: a pool with regions, in files, whose table says anything.

#include <sys/mman.h>
#include <unistd.h>

#include "src/format/pm_ref.h"
#include "src/nvm/pool/pool.h"
#include "src/nvm/pool/pool_image.h"
#include "tests/common/test_dir.h"
#include "tests/fuzz/fuzz.h"
#include "tests/nvm/hostile_regions.h"

namespace {

using namespace miodb;

// A region as the input has it. unit: what base and range are multiples of, as a power of two.
struct Input {
  uint32_t base;
  uint32_t range;
  uint8_t base_unit;
  uint8_t range_unit;
  uint8_t file_units;
  uint8_t unused;
};

uint64_t Shifted(uint32_t number, uint8_t unit) { return uint64_t{number} << unit % 48; }

// Reads the ends of what is said to be there: whatever is mapped wrongly is a fault, here or of the sanitizer.
void TouchImage(const PoolImage& image) {
  uint64_t end = 0;
  volatile char byte;
  for (const PoolImage::Part& part : image.parts()) {
    FUZZ_CHECK(part.base >= end && part.base <= IndexWord::kMaxRef && part.size <= IndexWord::kMaxRef - part.base);
    end = part.base + part.size;
    if (part.size == 0) continue;
    byte = *image.At(part.base);
    byte = *image.At(end - 1);
  }
  static_cast<void>(byte);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const test::TestDir dir;
  const uint8_t shape = fuzz::TakeByte(&data, &size);
  std::vector<test::HostileRegion> regions;
  for (int i = 0; i < (shape & 3); i++) {
    Input input = {};
    fuzz::TakeInto(&input, &data, &size);
    regions.push_back({Shifted(input.base, input.base_unit), Shifted(input.range, input.range_unit),
                       input.file_units * (kExtentUnit / 2)});
  }
  test::WriteHostilePool(dir.path(), uint64_t{shape} / 4 * kExtentUnit, regions);
  const std::string path = dir / "pool";
  {
    std::unique_ptr<PoolImage> image;
    if (PoolImage::Open(path, &image).ok()) TouchImage(*image);
  }
  Pool::Options options;
  options.search.AddFolder(dir.path());
  std::unique_ptr<Pool> pool;
  if (Pool::Open(path, options, &pool).ok()) {
    volatile char byte;
    for (int i = 0; i < pool->regions().count(); i++) {
      const RegionSet::Member& region = pool->regions().at(i);
      byte = *pool->At(region.base);
      byte = *pool->At(region.end() - 1);
    }
    static_cast<void>(byte);
  }
  return 0;
}
