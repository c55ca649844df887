// With any bytes in a pool's table of regions, its files are mapped where nothing else is, one behind the other, or not
// at all.

#include "tests/nvm/hostile_regions.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <filesystem>

#include "miodb/dumpfile.h"
#include "miodb/env.h"
#include "src/format/pm_ref.h"
#include "src/inspect/verify/verify.h"
#include "src/nvm/pool/pool.h"
#include "src/nvm/pool/pool_image.h"
#include "tests/common/status_asserts.h"
#include "tests/common/string_file.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

constexpr uint64_t kFile = 16 * kExtentUnit;
constexpr uint64_t kGiB = uint64_t{1} << 30;
static_assert(kRegionAlignment == kGiB);

class HostileRegionsTest : public testing::Test {
 protected:
  // The image has the regions before the first that is wrong, and says what is wrong; the engine opens nothing.
  void ExpectRefused(const std::vector<HostileRegion>& regions, size_t good) {
    WriteHostilePool(dir_.path(), kFile, regions);
    ExpectImage(good);
    Pool::Options options;
    options.search.AddFolder(dir_.path());
    std::unique_ptr<Pool> pool;
    const Status s = Pool::Open(path_, options, &pool);
    EXPECT_STATUS(Corruption, s);
    EXPECT_TRUE(Mentions(s, dir_.path())) << s.ToString();
  }

  void ExpectImage(size_t good) {
    std::unique_ptr<PoolImage> image;
    ASSERT_OK(PoolImage::Open(path_, &image));
    EXPECT_EQ(good, image->region_paths().size());
    EXPECT_FALSE(image->missing().empty());
    for (size_t i = 0; i < image->parts().size(); i++) {
      const PoolImage::Part& part = image->parts()[i];
      const uint64_t magic = i == 0 ? kPoolMagic : kRegionMagic;
      EXPECT_EQ(0, memcmp(image->At(part.base), &magic, sizeof(magic)));
      EXPECT_EQ('\0', *image->At(part.base + part.size - 1));
      if (i > 0) {
        EXPECT_GE(part.base, image->parts()[i - 1].base + image->parts()[i - 1].size);
      }
    }
  }

  TestDir dir_;
  const std::string path_ = dir_ / "pool";
};

// The regions are as large as ever, and what is said to be the header page is not there.
TEST_F(HostileRegionsTest, APoolThatIsShorterThanItsHeaderHasNone) {
  for (const uint64_t size : {uint64_t{0}, uint64_t{100}, kPoolHeaderSize / 2, kPoolHeaderSize - 1}) {
    SCOPED_TRACE(size);
    WriteHostilePool(dir_.path(), kFile, {{kGiB, kGiB, kFile}});
    std::filesystem::resize_file(path_, size);
    std::unique_ptr<PoolImage> image;
    ASSERT_OK(PoolImage::Open(path_, &image));
    EXPECT_FALSE(image->Header().has_superblock);
    EXPECT_STATUS(Corruption, CheckReadable(*image));
    image.reset();
    StringSink sink;
    DumpFile(Env::Default(), path_, &sink).IgnoreError();
  }
}

TEST_F(HostileRegionsTest, GoodOnesAreOpened) {
  WriteHostilePool(dir_.path(), kFile, {{kGiB, kGiB, kFile}, {5 * kGiB, 2 * kGiB, kFile}});
  {
    std::unique_ptr<PoolImage> image;
    ASSERT_OK(PoolImage::Open(path_, &image));
    EXPECT_EQ(2u, image->region_paths().size());
    EXPECT_TRUE(image->missing().empty());
    EXPECT_TRUE(image->Readable(5 * kGiB + kPoolHeaderSize, kFile - kPoolHeaderSize));
    EXPECT_FALSE(image->Readable(5 * kGiB + kPoolHeaderSize, kFile));
  }
  Pool::Options options;
  options.search.AddFolder(dir_.path());
  std::unique_ptr<Pool> pool;
  ASSERT_OK(Pool::Open(path_, options, &pool));
  EXPECT_EQ(3, pool->regions().count());
}

// The bound of what is mapped came from the last entry alone.
TEST_F(HostileRegionsTest, AnEntryThatLiesBehindTheNextIsNotMapped) {
  ExpectRefused({{kGiB * 100, kGiB, kFile}, {kGiB, kGiB, kFile}}, 1);
  ExpectRefused({{kGiB * 4, kGiB, kFile}, {kGiB * 2, kGiB, kFile}, {kGiB * 3, kGiB, kFile}}, 1);
}

TEST_F(HostileRegionsTest, EntriesThatOverlapAreNotMapped) {
  ExpectRefused({{kGiB, 2 * kGiB, kFile}, {2 * kGiB, kGiB, kFile}}, 1);
  ExpectRefused({{kGiB, kGiB, kFile}, {kGiB, kGiB, kFile}}, 1);
  ExpectRefused({{0, kGiB, kFile}}, 0);
}

TEST_F(HostileRegionsTest, EntriesBeyondWhatReferencesCanNameAreNotMapped) {
  constexpr uint64_t kEnd = IndexWord::kMaxRef + 1;
  ExpectRefused({{kEnd, kGiB, kFile}}, 0);
  ExpectRefused({{kEnd - kGiB, 2 * kGiB, kFile}}, 0);
  ExpectRefused({{kGiB, UINT64_MAX, kFile}}, 0);
  ExpectRefused({{uint64_t{1} << 63, uint64_t{1} << 63, kFile}}, 0);
  // The end of the first is small again.
  ExpectRefused({{kGiB, 0 - kGiB, kFile}, {kGiB, kGiB, kFile}}, 0);
  ExpectRefused({{uint64_t{0} - kGiB, 2 * kGiB, kFile}, {kGiB, kGiB, kFile}}, 0);
}

TEST_F(HostileRegionsTest, EntriesWithoutARangeOrOffTheGridAreNotMapped) {
  ExpectRefused({{kGiB, 0, kFile}}, 0);
  ExpectRefused({{kGiB + kExtentUnit, kGiB, kFile}}, 0);
}

TEST_F(HostileRegionsTest, FilesLargerThanTheirRangesAreNotMapped) {
  ExpectRefused({{kGiB, kExtentUnit, kFile}, {2 * kGiB, kGiB, kFile}}, 1);
  // The pool's own file reaches into the range of a region.
  WriteHostilePool(dir_.path(), kGiB + kFile, {{kGiB, kGiB, kFile}});
  ExpectImage(0);
}

}  // namespace
}  // namespace miodb::test
