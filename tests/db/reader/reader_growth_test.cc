// Readers in other processes and the files of the pool: files that grow, are cut off or get neighbours while a reader
// has them mapped, and the manifest that goes on in what is new.

#include <gtest/gtest.h>
#include <sys/statvfs.h>

#include <atomic>
#include <cstdarg>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "miodb/comparator.h"
#include "miodb/env.h"
#include "src/db/store/store_file.h"
#include "src/nvm/pool/pool_image.h"
#include "tests/common/reader_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

class ReaderGrowthTest : public ReaderTestBase {
 protected:
  std::string Pool() const { return path_ + "/pool"; }

  // A region in a folder of its own, which only STORE names.
  NvmRegion RegionIn(const std::string& folder) const {
    fs::create_directory(dir_ / folder);
    NvmRegion region;
    region.path = dir_ / folder + "/region";
    region.limit = 16 * kMiB;
    return region;
  }
};

// ---- the manifest

// As the bytewise one. A thread that asks for its name calls the thread's hooks: a look does so between reading the
// manifest and opening the tables. hook is called once, with call number hook_at; always tells the name.
class NamedComparator final : public Comparator {
 public:
  const char* Name() const override {
    calls++;
    if (hook != nullptr && calls == hook_at) std::exchange(hook, nullptr)();
    if (always != nullptr) return always();
    return BytewiseComparator()->Name();
  }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  static thread_local int calls, hook_at;
  static thread_local std::function<void()> hook;
  static thread_local std::function<const char*()> always;
};
thread_local int NamedComparator::calls = 0, NamedComparator::hook_at = 0;
thread_local std::function<void()> NamedComparator::hook;
thread_local std::function<const char*()> NamedComparator::always;

// The offset of the manifest area that the newest root of a pool names.
uint64_t NewestArea(const std::string& pool) {
  std::string page(kPoolHeaderSize, '\0');
  std::ifstream(pool, std::ios::binary).read(page.data(), kPoolHeaderSize);
  return ReadPoolHeader(page.data(), page.size()).current.manifest_offset;
}

// Tables of the state that a look has read are dropped before the look opens them, and the manifest goes on where the
// reader has mapped nothing yet.
TEST_F(ReaderGrowthTest, FollowsAManifestThatWentIntoNewSpace) {
  static const NamedComparator named;  // outlives the database
  options_.comparator = &named;
  options_.write_buffer_size = 16 * kKiB;
  options_.log_chunk_size = 8 * kKiB;
  options_.pool_growth = 64 * kKiB;
  Open();
  Fill(200, 400);
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->WaitForIdle());
  NamedComparator::calls = 0;
  ASSERT_NE(nullptr, OpenReader());
  NamedComparator::hook_at = NamedComparator::calls;  // the last call is that of the look
  NamedComparator::calls = 0;
  bool went_on = false;
  NamedComparator::hook = [&] {
    const uint64_t mapped = fs::file_size(Pool());
    Fill(200, 400, 1);
    db_->CompactRange(nullptr, nullptr);  // drops the tables that the look has read of
    for (int round = 0; round < 1000 && NewestArea(Pool()) < mapped; round++) {
      Fill(200, 400, 2);
      ASSERT_OK(db_->CreateSavepoint(std::to_string(round)));  // keeps an area of the manifest
    }
    went_on = NewestArea(Pool()) >= mapped;
  };
  const std::unique_ptr<DB> reader = OpenReader();
  NamedComparator::hook = nullptr;
  EXPECT_TRUE(went_on);
  ASSERT_NE(nullptr, reader);
  EXPECT_EQ(Forward(db_.get()), Forward(reader.get()));
}

// An owner that makes an edit for each attempt of a look does not keep the look from ending.
TEST_F(ReaderGrowthTest, ALookEndsBesideAnOwnerThatNeverRests) {
  static const NamedComparator named;  // outlives the database
  options_.comparator = &named;
  Open();
  Put("a", "1");
  ASSERT_OK(db_->Flush());
  int attempts = 0;
  NamedComparator::always = [&] {
    if (attempts++ < 1000) EXPECT_OK(db_->CreateSavepoint(std::to_string(attempts)));
    return "miodb.test.Other";
  };
  DB* reader = nullptr;
  const Status s = DB::OpenReader(options_, path_, &reader);
  NamedComparator::always = nullptr;
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_EQ(nullptr, reader);
  EXPECT_LT(attempts, 1000);
}

// ---- files

// The first file of a pool was long when a reader opened it, is cut off by an owner, and gets a neighbour whose
// references begin below the old length.
TEST_F(ReaderGrowthTest, FollowsAFileThatWasCutOffAndGotANeighbour) {
  Open();
  Put("a", "1");
  Close();
  fs::resize_file(Pool(), uint64_t{3} << 30);  // a hole, which an owner cuts off
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  Open();
  Close();
  ASSERT_LT(fs::file_size(Pool()), 64 * kMiB);
  options_.pool_size = 64 * kMiB;
  Open();
  ASSERT_OK(db_->AddRegion(RegionIn("elsewhere")));
  ASSERT_OK(reader->Refresh());
  Fill(1000, 400);
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ(Forward(db_.get()), Forward(reader.get()));
}

// The file system was smaller when the reader opened the pool.
TEST_F(ReaderGrowthTest, FollowsAFileBeyondTheFileSystemOfItsOpen) {
  Open();
  Put("a", "1");
  Close();
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  struct statvfs info;
  ASSERT_EQ(0, statvfs(path_.c_str(), &info));
  const uint64_t all = uint64_t{info.f_blocks} * info.f_frsize;
  std::error_code error;
  fs::resize_file(Pool(), (all / kMiB + 1024) * kMiB, error);
  if (error) GTEST_SKIP() << "no file is longer than its file system here: " << error.message();
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ("(a->1)", Forward(reader.get()));
}

// Calls a hook with each line.
class HookLogger final : public Logger {
 public:
  explicit HookLogger(std::function<void(const std::string&)> hook) : hook_(std::move(hook)) {}
  void Logv(const char* format, va_list ap) override {
    char line[1000];
    vsnprintf(line, sizeof(line), format, ap);
    hook_(line);
  }

 private:
  const std::function<void(const std::string&)> hook_;
};

// A region that lies where only STORE says is found as soon as the pool has it.
TEST_F(ReaderGrowthTest, FollowsIntoANewRegion) {
  options_.pool_size = 8 * kMiB;
  Open();
  Fill(1000, 400);
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  std::atomic<bool> stop{false};
  std::thread reads([&] {
    while (!stop.load()) ASSERT_OK(reader->Refresh());
  });
  for (uint64_t i = 0; i < 3; i++) {
    ASSERT_OK(db_->AddRegion(RegionIn("elsewhere" + std::to_string(i))));
    for (uint64_t k = 0; k < 25000; k++) Put("r" + std::to_string(i) + FilledKey(k), std::string(400, 'r'));
  }
  stop.store(true);
  reads.join();
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ(Forward(db_.get()), Forward(reader.get()));
}

// A region of the options is in the pool before the open that adds it has ended.
TEST_F(ReaderGrowthTest, FollowsIntoARegionThatAnOpenAdds) {
  Open();
  Put("a", "1");
  Close();
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  const Options without = options_;
  Status seen = Status::NotFound("no line");
  HookLogger log([&](const std::string& line) {
    if (line.find("region 1: ") != std::string::npos) seen = reader->Refresh();
  });
  options_.nvm_regions = {RegionIn("elsewhere")};
  options_.info_log = &log;
  Open();
  EXPECT_OK(seen);
  Close();
  options_ = without;
}

// A file that STORE names and the pool does not have is nothing to a reader.
TEST_F(ReaderGrowthTest, AFileThatIsNoRegionMayGo) {
  Open();
  Put("a", "1");
  Close();
  const std::string path = RegionIn("elsewhere").path;
  std::ofstream(path) << "left by a making that was cut off";
  StoreDescriptor store;
  ASSERT_OK(ReadStore(Env::Default(), path_, &store));
  store.regions.push_back({Uuid{}, path});
  ASSERT_OK(WriteStore(Env::Default(), path_, store));
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  fs::remove(path);
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ("(a->1)", Forward(reader.get()));
}

}  // namespace
}  // namespace miodb::test
