// NUMA nodes: which there are, where memory is to lie, and where it lies.
//
// The kernel is asked by its system calls, which libnuma wraps, and by sysfs. Nodes are the kernel's numbers; a node of
// CXL or persistent memory has no CPUs of its own.
//
// Threads: any number at once; a ThreadMemoryPolicy belongs to the thread that made it.

#ifndef MIODB_SRC_NUMA_NUMA_H_
#define MIODB_SRC_NUMA_NUMA_H_

#include <sched.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "miodb/status.h"

namespace miodb {

// In place of a node: wherever the kernel likes.
inline constexpr int kAnyNode = -1;

class NumaTopology {
 public:
  struct Node {
    std::vector<int> cpus;
    std::vector<int> distances;  // to the online nodes in rising order; empty: not known
    bool has_memory = false;
  };

  // Reads what sysfs says now. root: another folder of the same form, for tests.
  explicit NumaTopology(std::string root = "/sys/devices/system/node");

  // Empty: this system has no NUMA support.
  const std::map<int, Node>& nodes() const { return nodes_; }

  // InvalidArgument that names the option and the nodes there are, unless memory can be had on this node.
  Status CheckMemory(const std::string& option, int node) const;

  // The CPUs of the node or, if it has none, of the nearest one that has, as far as this process may run on them.
  std::vector<int> CpusNear(int node) const;

  // Bytes that can still be had on the node without pushing anybody's memory out. The kernel's own reserve is left
  // alone, because the kernel answers an allocation bound to a node without memory by killing the process.
  uint64_t AvailableBytes(int node) const;

  // The same in pages of this size, as hugetlbfs hands them out: those that the system keeps there and nobody has.
  uint64_t AvailableHugePages(int node, uint64_t page_bytes) const;

  // "0 (CPUs 0-1, 21504 MiB available), 2 (no CPUs, ...)"
  std::string Describe() const;

 private:
  std::string ReadLine(const std::string& file) const;

  const std::string root_;
  std::map<int, Node> nodes_;
};

// "0-3,8"; and the reverse. From text that is no such list, ParseIntList returns the numbers that it can read.
std::string FormatIntList(const std::vector<int>& numbers);
std::vector<int> ParseIntList(const std::string& text);

// Binds [addr, addr + size), whole pages, to the node: pages there come from it or not at all. On a shared mapping of a
// tmpfs file this holds for the file, whoever touches it. Pages that are there stay where they are. option: that asks
// for the node, for the message of InvalidArgument; empty: no option.
Status BindMemory(void* addr, uint64_t size, int node, const std::string& option = std::string());

// The same for private memory, pages that are there included: they are moved.
Status MoveAndBindMemory(void* addr, uint64_t size, int node);

// While it lives, memory that this thread is the first to touch comes from the node.
class ThreadMemoryPolicy {
 public:
  enum class Strength { kPrefer, kBind };

  // kAnyNode: changes nothing.
  ThreadMemoryPolicy(int node, Strength strength);
  ~ThreadMemoryPolicy();
  ThreadMemoryPolicy(const ThreadMemoryPolicy&) = delete;
  ThreadMemoryPolicy& operator=(const ThreadMemoryPolicy&) = delete;

 private:
  static constexpr int kMaskWords = 16;
  bool changed_ = false;
  int old_mode_ = 0;
  unsigned long old_nodes_[kMaskWords] = {};
};

// Keeps this thread on these CPUs for as long as it lives; empty: where it may be anyway. Without effect where the
// system refuses.
class ThreadCpus {
 public:
  explicit ThreadCpus(const std::vector<int>& cpus);
  ~ThreadCpus();
  ThreadCpus(const ThreadCpus&) = delete;
  ThreadCpus& operator=(const ThreadCpus&) = delete;

 private:
  bool changed_ = false;
  cpu_set_t old_;
};

// Where pages lie: of each node, how many of those that were looked at.
struct PageSample {
  std::map<int, uint64_t> pages;
  uint64_t looked_at = 0;

  uint64_t Elsewhere(int node, int other) const;  // on neither of these nodes
  std::string Describe() const;                   // "node 0: 62, node 1: 2 of 64 pages"
};

// How a page is faulted in to be looked at. A page that nobody has written yet may be a page of zeros that everybody
// shares, and says nothing; so it is made dirty, its content unchanged, unless that would mean work for a disk.
enum class Touch { kForReading, kForWriting };

// Adds up to count pages of [base, base + size), spread evenly, to the sample. Pages that the kernel says nothing about
// are left out, and those whose offset is not wanted.
void SamplePages(const char* base, uint64_t size, uint64_t count, Touch touch, PageSample* sample,
                 const std::function<bool(uint64_t)>& wanted = nullptr);

}  // namespace miodb

#endif  // MIODB_SRC_NUMA_NUMA_H_
