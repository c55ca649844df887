#include "src/numa/numa.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "src/numa/placement.h"
#include "src/nvm/region/region.h"
#include "tests/common/environment.h"
#include "tests/common/paths.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/faults/system_calls.h"

namespace miodb::test {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A folder like /sys/devices/system/node of a machine with CPUs on node 0, none on node 2, and no memory on node 3.
class FakeNodes {
 public:
  FakeNodes() {
    Write("online", "0,2-3\n");
    Write("has_memory", "0,2\n");
    Node(0, "0-1\n", "10 17 20\n");
    Node(2, "\n", "17 10 20\n");
    Node(3, "4000-4003\n", "20 20 10\n");
    Write("node0/meminfo", "Node 0 MemTotal: 1048576 kB\nNode 0 MemFree: 524288 kB\nNode 0 Active(file): 1024 kB\n");
    Write("node2/meminfo",
          "Node 2 MemTotal: 65536 kB\nNode 2 MemFree: 49152 kB\nNode 2 Shmem: 9999 kB\n"
          "Node 2 Inactive(file): 2048 kB\nNode 2 Dirty: 1024 kB\n");
  }

  std::string path() const { return dir_.path(); }

 private:
  void Node(int id, const std::string& cpus, const std::string& distances) {
    const std::string folder = "node" + std::to_string(id);
    std::filesystem::create_directory(dir_ / folder);
    Write(folder + "/cpulist", cpus);
    Write(folder + "/distance", distances);
  }
  void Write(const std::string& file, const std::string& text) { std::ofstream(dir_ / file) << text; }

  TestDir dir_;
};

// The first node of this machine that memory can be bound to, or kAnyNode.
int AnUsableNode() {
  const NumaTopology topology;
  for (const auto& [id, node] : topology.nodes()) {
    Options options;
    options.nvm_node = id;
    Placement placement;
    if (Placement::Make(options, topology, &placement).ok()) return id;
  }
  return kAnyNode;
}

TEST(NumaTopologyTest, ReadsNodesCpusAndMemory) {
  const FakeNodes fake;
  const NumaTopology topology(fake.path());
  ASSERT_EQ(3u, topology.nodes().size());
  EXPECT_EQ((std::vector<int>{0, 1}), topology.nodes().at(0).cpus);
  EXPECT_TRUE(topology.nodes().at(2).cpus.empty());
  EXPECT_TRUE(topology.nodes().at(2).has_memory);
  EXPECT_FALSE(topology.nodes().at(3).has_memory);
  EXPECT_EQ((512 + 1 - 32) * kMiB, topology.AvailableBytes(0)) << "32 MiB are left to the kernel";
  EXPECT_EQ((48 + 2 - 1 - 32) * kMiB, topology.AvailableBytes(2));
  EXPECT_EQ(0u, topology.AvailableBytes(3));
  EXPECT_EQ(
      "node 0 (CPUs 0-1, 481 MiB available), node 2 (no CPUs, 17 MiB available), node 3 (CPUs 4000-4003, no memory)",
      topology.Describe());
}

TEST(NumaTopologyTest, ANodeThatCannotBeUsedIsRefusedWithTheNodesThereAre) {
  const FakeNodes fake;
  const NumaTopology topology(fake.path());
  EXPECT_OK(topology.CheckMemory("nvm_node", 2));
  Status s = topology.CheckMemory("nvm_node", 1);
  EXPECT_STATUS(InvalidArgument, s);
  for (const char* part : {"nvm_node is 1", "no such NUMA node", "node 0 (CPUs 0-1", "node 2 (no CPUs"}) {
    EXPECT_TRUE(Mentions(s, part));
  }
  s = topology.CheckMemory("nvm_node", 3);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "has no memory"));
}

TEST(NumaTopologyTest, ASystemWithoutNumaIsSaidToBeOne) {
  const TestDir empty;
  const NumaTopology topology(empty / "nothing");
  EXPECT_TRUE(topology.nodes().empty());
  const Status s = topology.CheckMemory("dram_node", 0);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "no NUMA nodes"));
}

TEST(NumaTopologyTest, TheCpusNearANodeWithoutAnyAreThoseOfTheNearestThatHasSome) {
  const FakeNodes fake;
  const NumaTopology topology(fake.path());
  const std::vector<int> cpus = topology.CpusNear(2);
  EXPECT_EQ(topology.CpusNear(0), cpus);
  EXPECT_EQ(cpus, topology.CpusNear(3)) << "this process may not run on CPUs 4000-4003";
}

TEST(NumaTopologyTest, ListsAreReadAndWrittenAsTheKernelDoes) {
  EXPECT_EQ((std::vector<int>{0, 1, 2, 3, 8}), ParseIntList("0-3,8\n"));
  EXPECT_EQ("0-3,8", FormatIntList({0, 1, 2, 3, 8}));
  EXPECT_TRUE(ParseIntList("").empty());
  EXPECT_TRUE(ParseIntList("x").empty());
  EXPECT_EQ((std::vector<int>{5}), ParseIntList("5,"));
  EXPECT_EQ("", FormatIntList({}));
}

TEST(PlacementTest, WrongCombinationsAreRefused) {
  const FakeNodes fake;
  const NumaTopology topology(fake.path());
  const auto make = [&](int dram, int nvm, int next) {
    Options options;
    options.dram_node = dram;
    options.nvm_node = nvm;
    options.nvm_next_node = next;
    Placement placement;
    return Placement::Make(options, topology, &placement);
  };
  EXPECT_OK(make(-1, -1, -1));
  EXPECT_TRUE(Mentions(make(-1, -1, 0), "nvm_next_node is 0: it follows nvm_node"));
  EXPECT_TRUE(Mentions(make(-1, 2, 2), "nvm_next_node is 2: nvm_node is the same"));
  EXPECT_TRUE(Mentions(make(7, -1, -1), "dram_node is 7: no such NUMA node"));
  EXPECT_TRUE(Mentions(make(-1, 7, -1), "nvm_node is 7: no such NUMA node"));
  EXPECT_TRUE(Mentions(make(-1, 3, -1), "nvm_node is 3: that NUMA node has no memory"));
  for (const Status& s : {make(-1, -1, 0), make(-1, 2, 2), make(7, -1, -1), make(-1, 7, 0), make(-1, 3, -1)}) {
    EXPECT_STATUS(InvalidArgument, s);
  }
}

TEST(PlacementTest, ASystemThatRefusesToBindIsToldWithTheOption) {
  const FakeNodes fake;
  const NumaTopology topology(fake.path());
  const auto refusal = [&](const Options& options) {
    Placement placement;
    ArmCallFault({.at = 1, .forever = true, .error = EPERM, .only = "mbind"});
    Status s = Placement::Make(options, topology, &placement);
    EXPECT_EQ(1u, DisarmCallFault());
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, "cannot bind memory to NUMA node 0: mbind: Operation not permitted"));
    return s;
  };
  Options dram, nvm, region;
  dram.dram_node = nvm.nvm_node = 0;
  region.nvm_regions.resize(2);
  region.nvm_regions[1].node = 0;
  EXPECT_TRUE(Mentions(refusal(dram), "Options::dram_node is 0: "));
  EXPECT_TRUE(Mentions(refusal(nvm), "Options::nvm_node is 0: "));
  EXPECT_TRUE(Mentions(refusal(region), "Options::nvm_regions[1].node is 0: "));
}

TEST(PlacementTest, ANodeThatTheKernelDoesNotHaveCannotBeBoundTo) {
  constexpr int kNoNode = 1000;
  const NumaTopology topology;
  if (topology.nodes().empty() || topology.nodes().count(kNoNode) > 0) GTEST_SKIP() << "an unusual set of nodes";
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, page);
  const Status s = BindMemory(page, 4096, kNoNode);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "NUMA node 1000"));
  munmap(page, 4096);
}

TEST(PlacementTest, AThreadsPolicyEndsWithItsObject) {
  const int node = AnUsableNode();
  if (node == kAnyNode) GTEST_SKIP() << "memory cannot be bound here";
  for (const auto strength : {ThreadMemoryPolicy::Strength::kPrefer, ThreadMemoryPolicy::Strength::kBind}) {
    const ThreadMemoryPolicy policy(node, strength);
    std::vector<char> memory(kMiB, 'x');
    PageSample sample;
    SamplePages(reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory.data()) + 4095) & ~uintptr_t{4095}),
                kMiB - 4096, 16, Touch::kForWriting, &sample);
    EXPECT_EQ(16u, sample.looked_at);
    EXPECT_EQ(0u, sample.Elsewhere(node, kAnyNode)) << sample.Describe();
  }
}

class BoundRegionTest : public testing::Test {
 protected:
  void SetUp() override {
    node_ = AnUsableNode();
    if (node_ == kAnyNode) GTEST_SKIP() << "memory cannot be bound here";
    if (!std::filesystem::exists("/dev/shm")) GTEST_SKIP() << "no tmpfs";
    path_ = "/dev/shm/miodb_numa_test." + std::to_string(getpid());
  }
  void TearDown() override {
    region_.reset();
    if (!path_.empty()) std::filesystem::remove(path_);
  }

  int node_ = kAnyNode;
  std::string path_;
  std::unique_ptr<Region> region_;
};

TEST_F(BoundRegionTest, LiesOnItsNodeAsCreatedAsGrownAndAsOpened) {
  const RegionNodes nodes{node_, kAnyNode};
  ASSERT_OK(Region::Create(path_, kMiB, 64 * kMiB, kPersistAuto, &region_, RegionPlace{nodes}));
  EXPECT_EQ(RegionKind::kTmpfs, region_->kind());
  ASSERT_OK(region_->Grow(8 * kMiB));
  memset(region_->base(), 'x', 8 * kMiB);
  for (int round = 0; round < 2; round++) {
    const PageSample sample = region_->Sample(100);
    EXPECT_EQ(100u, sample.looked_at);
    EXPECT_EQ(100u, sample.pages.count(node_) > 0 ? sample.pages.at(node_) : 0) << sample.Describe();
    region_.reset();
    ASSERT_OK(Region::Open(path_, 64 * kMiB, kPersistAuto, &region_, RegionPlace{nodes}));
  }
}

TEST_F(BoundRegionTest, AFileThatLiesElsewhereIsRefusedWithWhereItLies) {
  ASSERT_OK(Region::Create(path_, kMiB, kMiB, kPersistAuto, &region_));
  region_.reset();
  const int other = node_ + 1;  // need not exist: what is there lies on node_ in any case
  const Status s = Region::Open(path_, kMiB, kPersistAuto, &region_, RegionPlace{RegionNodes{other, kAnyNode}});
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "nvm_node is " + std::to_string(other)));
  EXPECT_TRUE(Mentions(s, "lies on node"));
}

TEST_F(BoundRegionTest, WhatTheNodeCannotGiveIsNoSpaceAndChangesNothing) {
  if (RunsUnderThreadSanitizer()) GTEST_SKIP() << "ThreadSanitizer leaves a region few addresses to grow into";
  ASSERT_OK(Region::Create(path_, kMiB, uint64_t{1} << 46, kPersistAuto, &region_,
                           RegionPlace{RegionNodes{node_, kAnyNode}}));
  const uint64_t available = NumaTopology().AvailableBytes(node_);
  EXPECT_LE(region_->FileSystemAvailable(), available + available / 4) << "it is the node's and not the file system's";
  const Status s = region_->Grow(2 * available + (uint64_t{1} << 40));
  EXPECT_STATUS(NoSpace, s);
  EXPECT_TRUE(Mentions(s, "NUMA node " + std::to_string(node_) + " has "));
  EXPECT_TRUE(Mentions(s, "bytes available"));
  EXPECT_EQ(kMiB, region_->size());
  EXPECT_EQ(kMiB, std::filesystem::file_size(path_));
  EXPECT_OK(region_->Grow(2 * kMiB));
}

TEST_F(BoundRegionTest, AFileInThePageCacheCannotBeBound) {
  // The build folder is rarely on tmpfs.
  const std::string path = BinaryDir() + "/numa_test." + std::to_string(getpid());
  ASSERT_OK(Region::Create(path, kMiB, kMiB, kPersistAuto, &region_));
  const RegionKind kind = region_->kind();
  region_.reset();
  std::filesystem::remove(path);
  if (kind != RegionKind::kOtherFile) GTEST_SKIP() << "the build folder can be bound";
  const Status s = Region::Create(path, kMiB, kMiB, kPersistAuto, &region_, RegionPlace{RegionNodes{node_, kAnyNode}});
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "page cache"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace miodb::test
