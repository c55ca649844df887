#include "src/numa/numa.h"

#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "src/util/check/check.h"
#include "src/util/files/descriptors.h"
#include "src/util/files/page.h"

// The nodes that sysfs lists, and the kernel's calls that bind memory and threads to them.

namespace miodb {

namespace {

// Nodes are numbered below this (the kernel's largest CONFIG_NODES_SHIFT is 10).
constexpr int kMaxNodes = 1024;
constexpr int kBitsPerWord = 64;
static_assert(sizeof(unsigned long) * 8 == kBitsPerWord && kMaxNodes % kBitsPerWord == 0);

// A set of nodes with one in it, as the kernel's calls want it.
struct NodeMask {
  explicit NodeMask(int node) {
    CHECK(node >= 0 && node < kMaxNodes);
    words[node / kBitsPerWord] = 1UL << (node % kBitsPerWord);
  }
  unsigned long words[kMaxNodes / kBitsPerWord] = {};
};

// Bytes that the kernel's reclaim works on before a node is really empty.
uint64_t KernelShare(uint64_t total) { return std::max(uint64_t{32} << 20, total / 256); }

// InvalidArgument and no IOError: the options ask for something that this process cannot have.
Status CannotBind(const std::string& option, int node, const char* call) {
  const std::string reason = std::string(call) + ": " + strerror(errno);
  const std::string given = option.empty() ? "" : option + " is " + std::to_string(node) + ": ";
  return Status::InvalidArgument(given + "cannot bind memory to NUMA node " + std::to_string(node), reason);
}

Status Bind(void* addr, uint64_t size, const std::string& option, int node, unsigned flags) {
  CHECK(addr != nullptr && size > 0);
  const NodeMask mask(node);
  // The kernel takes one bit less than it is told.
  if (mbind(addr, size, MPOL_BIND, mask.words, kMaxNodes + 1, flags) == 0) return Status::OK();
  return CannotBind(option, node, "mbind");
}

}  // namespace

// The form in which sysfs writes lists of nodes and CPUs, so that people see in messages what they know from there.
std::string FormatIntList(const std::vector<int>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) last++;
    if (!text.empty()) text += ",";
    CHECK(last >= i && last < numbers.size());
    text += std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

// The text comes from the system: what cannot be read ends the list without an error, and a range has a limit, so that
// no text can ask for memory without end.
std::vector<int> ParseIntList(const std::string& text) {
  std::vector<int> numbers;
  const char* p = text.c_str();
  for (;;) {
    char* end;
    const long first = strtol(p, &end, 10);
    if (end == p || first < 0) return numbers;
    long last = first;
    if (*end == '-') {
      p = end + 1;
      last = strtol(p, &end, 10);
      if (end == p) return numbers;
    }
    for (long n = first; n <= last && n - first < 65536; n++) numbers.push_back(static_cast<int>(n));
    if (*end != ',') return numbers;
    p = end + 1;
  }
}

// ---- NumaTopology

// Reads everything at once: what comes and goes later (CPUs that are switched off, memory that is plugged in) is not
// seen by this object. Nodes above what the masks hold are left out, as nothing could be bound to them.
NumaTopology::NumaTopology(std::string root) : root_(std::move(root)) {
  const std::vector<int> online = ParseIntList(ReadLine("online"));
  const std::vector<int> with_memory = ParseIntList(ReadLine("has_memory"));
  for (int id : online) {
    if (id >= kMaxNodes) continue;
    const std::string folder = "node" + std::to_string(id) + "/";
    Node& node = nodes_[id];
    node.cpus = ParseIntList(ReadLine(folder + "cpulist"));
    node.has_memory = std::find(with_memory.begin(), with_memory.end(), id) != with_memory.end();
    std::string distances = ReadLine(folder + "distance");
    std::replace(distances.begin(), distances.end(), ' ', ',');
    node.distances = ParseIntList(distances);
  }
}

// An empty line if the file is not there; older kernels lack has_memory, for example.
std::string NumaTopology::ReadLine(const std::string& file) const {
  std::ifstream in = MakeDescriptor([&] { return std::ifstream(root_ + "/" + file); });
  std::string line;
  std::getline(in, line);
  return line;
}

// Three reasons with three messages, because each needs another answer of the user's: no NUMA at all, a wrong number,
// a node of processors only.
Status NumaTopology::CheckMemory(const std::string& option, int node) const {
  const std::string given = option + " is " + std::to_string(node);
  if (nodes_.empty()) {
    return Status::InvalidArgument(given, "this system has no NUMA nodes (" + root_ + " is not there); use -1");
  }
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return Status::InvalidArgument(given, "no such NUMA node; there is " + Describe());
  if (!found->second.has_memory) {
    return Status::InvalidArgument(given, "that NUMA node has no memory; there is " + Describe());
  }
  return Status::OK();
}

// Only CPUs that this process may run on count (taskset, cgroups): binding threads to others would fail, and a node
// all of whose CPUs are forbidden is as one without. Distances are in the order of the online nodes, so they are
// counted along with these.
std::vector<int> NumaTopology::CpusNear(int node) const {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  const auto found = nodes_.find(node);
  std::vector<int> nearest;
  if (found == nodes_.end()) return nearest;
  int least = 0;
  size_t i = 0;
  for (const auto& [id, other] : nodes_) {
    const int distance = id == node ? 0 : i < found->second.distances.size() ? found->second.distances[i] : 255;
    i++;
    std::vector<int> cpus;
    for (int cpu : other.cpus) {
      if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
    }
    if (cpus.empty() || (!nearest.empty() && distance >= least)) continue;
    least = distance;
    nearest = std::move(cpus);
  }
  return nearest;
}

// Clean pages of the page cache count as available; dirty pages do not, because they have to be written before they can
// be given up.
uint64_t NumaTopology::AvailableBytes(int node) const {
  const std::string file = root_ + "/node" + std::to_string(node) + "/meminfo";
  std::ifstream in = MakeDescriptor([&] { return std::ifstream(file); });
  uint64_t total = 0, have = 0, dirty = 0;
  for (std::string line; std::getline(in, line);) {
    char name[64];
    uint64_t kib;
    if (sscanf(line.c_str(), "Node %*d %63s %lu kB", name, &kib) != 2) continue;
    const std::string what = name;
    if (what == "MemTotal:") total = kib << 10;
    // The page cache is given up when somebody asks; shared memory is not counted in these two.
    if (what == "MemFree:" || what == "Active(file):" || what == "Inactive(file):") have += kib << 10;
    if (what == "Dirty:") dirty = kib << 10;
  }
  const uint64_t not_ours = KernelShare(total) + dirty;
  return have > not_ours ? have - not_ours : 0;
}

// hugetlbfs hands out pages that the system has set aside, so other free memory of the node does not count here, and
// there is nothing to leave to the kernel.
uint64_t NumaTopology::AvailableHugePages(int node, uint64_t page_bytes) const {
  uint64_t pages = 0;
  const std::string file = root_ + "/node" + std::to_string(node) + "/hugepages/hugepages-" +
                           std::to_string(page_bytes >> 10) + "kB/free_hugepages";
  MakeDescriptor([&] { return std::ifstream(file); }) >> pages;
  return pages * page_bytes;
}

// For messages of InvalidArgument: what the user could have asked for instead.
std::string NumaTopology::Describe() const {
  std::string text;
  for (const auto& [id, node] : nodes_) {
    if (!text.empty()) text += ", ";
    text += "node " + std::to_string(id);
    text += node.cpus.empty() ? " (no CPUs, " : " (CPUs " + FormatIntList(node.cpus) + ", ";
    text += node.has_memory ? std::to_string(AvailableBytes(id) >> 20) + " MiB available)" : "no memory)";
  }
  return text;
}

// ---- Binding

// Binds what is not there yet. Pages that somebody has touched before stay where they are, which is right for a file:
// a pool that lies elsewhere is reported (SamplePages) and not moved.
Status BindMemory(void* addr, uint64_t size, int node, const std::string& option) {
  return Bind(addr, size, option, node, 0);
}

// Strict: memory of the heap may have been used before by others, and a page that cannot be moved to the node is an
// error.
Status MoveAndBindMemory(void* addr, uint64_t size, int node) {
  return Bind(addr, size, std::string(), node, MPOL_MF_MOVE | MPOL_MF_STRICT);
}

// Where the kernel refuses (in containers it often does) nothing changes, and the thread goes on as it was: whoever
// needs the node binds the memory itself.
ThreadMemoryPolicy::ThreadMemoryPolicy(int node, Strength strength) {
  static_assert(kMaskWords * kBitsPerWord == kMaxNodes);
  if (node == kAnyNode) return;
  const NodeMask mask(node);
  if (get_mempolicy(&old_mode_, old_nodes_, kMaxNodes, nullptr, 0) != 0) return;
  const int mode = strength == Strength::kBind ? MPOL_BIND : MPOL_PREFERRED;
  changed_ = set_mempolicy(mode, mask.words, kMaxNodes + 1) == 0;
}

ThreadMemoryPolicy::~ThreadMemoryPolicy() {
  if (changed_) set_mempolicy(old_mode_, old_nodes_, kMaxNodes + 1);
}

// The calling thread alone is bound.
ThreadCpus::ThreadCpus(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) {
    CHECK(cpu >= 0 && cpu < CPU_SETSIZE);
    CPU_SET(cpu, &set);
  }
  changed_ = sched_getaffinity(0, sizeof(old_), &old_) == 0 && sched_setaffinity(0, sizeof(set), &set) == 0;
}

ThreadCpus::~ThreadCpus() {
  if (changed_) sched_setaffinity(0, sizeof(old_), &old_);
}

// ---- Looking

// Pages that the kernel says nothing of are in none of the counts, so 0 means that none was found elsewhere.
uint64_t PageSample::Elsewhere(int node, int other) const {
  CHECK(pages.size() <= looked_at);
  uint64_t elsewhere = 0;
  for (const auto& [id, count] : pages) {
    if (id != node && id != other) elsewhere += count;
  }
  return elsewhere;
}

// A sample of nothing is "not known", which is not the same as "nowhere else".
std::string PageSample::Describe() const {
  std::string text;
  for (const auto& [id, count] : pages) {
    text += (text.empty() ? "" : ", ") + std::string("node ") + std::to_string(id) + ": " + std::to_string(count);
  }
  return text.empty() ? "not known" : text + " of " + std::to_string(looked_at) + " pages";
}

// A system call for each page, so the count bounds what a look costs however large the range is.
void SamplePages(const char* base, uint64_t size, uint64_t count, Touch touch, PageSample* sample,
                 const std::function<bool(uint64_t)>& wanted) {
  CHECK(base != nullptr && sample != nullptr);
  const uint64_t pages = size / kPageBytes;
  count = std::min(count, pages);
  for (uint64_t i = 0; i < count; i++) {
    // The first and the last page, and what lies between.
    const uint64_t page = count == 1 ? 0 : i * (pages - 1) / (count - 1);
    CHECK_LT(page, pages);
    if (wanted != nullptr && !wanted(page * kPageBytes)) continue;
    char* const address = const_cast<char*>(base) + page * kPageBytes;
    if (touch == Touch::kForWriting) madvise(address, kPageBytes, MADV_POPULATE_WRITE);
    int node;
    // Unlike move_pages it also answers for pages of persistent memory.
    if (get_mempolicy(&node, nullptr, 0, address, MPOL_F_NODE | MPOL_F_ADDR) != 0) continue;
    sample->pages[node]++;
    sample->looked_at++;
  }
  CHECK_GE(sample->looked_at, sample->pages.size());
}

}  // namespace miodb
