// EXPERIMENTAL: which runs of the buffer are merged, and when.
//
// The buffer is the levels of a database between its memtables and its repository. A flush puts a run into level 0. A
// policy proposes merges of runs. The database holds each proposal against its invariants and does the work. A wrong
// proposal is refused and never carried out, so no policy can lose or reorder data. Any sequence of proposals comes to
// an end, since each one makes runs fewer or puts them deeper.
//
// Merges that no policy proposes: for CompactRange and WaitForIdle, for a pool that is short of space, of a database
// that is quiet, and collections of garbage. Writers are slowed where a level has several times
// Options::level_trigger runs.
//
//   class Tiered final : public miodb::MergePolicy {
//     const char* Name() const override { return "tiered by 4"; }
//     void Propose(miodb::MergePlan* plan) const override {
//       for (int level = 0; level + 1 < plan->Levels(); level++) {
//         if (plan->Runs(level) >= 4 && plan->Merge(level, 4)) return;
//       }
//       const int last = plan->Levels() - 1;
//       if (plan->Runs(last) >= 4) plan->Copy(last, 4);
//     }
//   };
//
// A policy of the program is registered. A policy of a shared library needs no change of the program: if
// Options::merge_policy is a path, the open loads the library and calls its function
//
//   extern "C" const miodb::MergePolicy* miodb_merge_policy_1();
//
// once. So db_bench, ycsbc and crash_explorer run a policy that they do not know. examples/merge_policy.cc is a whole
// one. This interface may change with any version, and the number in the function's name changes with it.

#ifndef MIODB_INCLUDE_MERGE_POLICY_H_
#define MIODB_INCLUDE_MERGE_POLICY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "miodb/export.h"
#include "miodb/status.h"

namespace miodb {

// A run: sorted by key, and newer or older than any other run as a whole.
struct MergeRun {
  uint64_t entries;        // versions of keys, with deletions
  uint64_t payload_bytes;  // bytes of records; an index has some 24 bytes an entry besides
};

// The buffer as it is, and the proposals to it. Valid during the call that it was given to, and of that thread alone.
class MIODB_EXPORT MergePlan {
 public:
  // Levels of the buffer, at least 1. Level 0 has the newest runs.
  virtual int Levels() const = 0;

  // Runs of a level, and one of them, 0 being the newest.
  // REQUIRES: 0 <= level < Levels(), 0 <= run < Runs(level)
  virtual int Runs(int level) const = 0;
  virtual MergeRun Run(int level, int run) const = 0;

  // Entries of the repository. 0: the repository is empty.
  virtual uint64_t RepositoryEntries() const = 0;

  // Whether a proposal may take the level's runs: the level is one of the buffer, no running merge takes runs from it,
  // and none that has begun waits for its next part with one of them.
  virtual bool IsFree(int level) const = 0;

  // Whether a merge within the buffer that takes the oldest run of the level has merged a part of it. Large merges go
  // part by part. Until the last part the level is not free. False for a level that is none of the buffer.
  virtual bool HasBegun(int level) const = 0;

  // Whether a part of the oldest run of the buffer is in the repository already. Copy goes on with it. A merge of that
  // run within the buffer ends its copy, and the next copy begins at the smallest key again.
  virtual bool HasBegunToCopy() const = 0;

  // Options::level_trigger, and Options::write_buffer_size, which bounds the payload of a run that was just flushed.
  virtual int Trigger() const = 0;
  virtual uint64_t MemTableBytes() const = 0;

  // Proposals. True: this is the next job, and the policy returns. False: the merge cannot be done now or not at all,
  // or there is a job already; another proposal may do.
  //
  // Merge: the oldest so many runs of the level, and all runs of so many levels below, into one run of the level below
  // these. Two runs at least in all. Levels below are taken along only if all runs of the level are. No record is
  // copied.
  virtual bool Merge(int level, int runs, int levels_below = 0) = 0;

  // MergeInto: the oldest so many runs of the level and all runs of the next level, into one run there. No record is
  // copied.
  virtual bool MergeInto(int level, int runs) = 0;

  // Copy: the oldest so many runs of the level, which is the deepest that has any, into the repository. Their records
  // are copied, and a part of the repository is rewritten.
  virtual bool Copy(int level, int runs) = 0;

  // GoOn: the next part of the merge within the buffer that has begun at this level. If a policy proposes nothing, the
  // database goes on with such merges.
  virtual bool GoOn(int level) = 0;

 protected:
  MergePlan() = default;
  ~MergePlan() = default;
  MergePlan(const MergePlan&) = default;
};

// Lifetime: as long as the process, also while it ends. An object that is never deleted has that.
//
// Threads: Propose is called by any number of threads at a time, for any databases. The calling thread holds the mutex
// of its database, so Propose is short, does not throw, and calls nothing of the library but the plan.
class MIODB_EXPORT MergePolicy {
 public:
  MergePolicy() = default;
  virtual ~MergePolicy() = default;
  MergePolicy(const MergePolicy&) = delete;
  MergePolicy& operator=(const MergePolicy&) = delete;

  // The name for Options::merge_policy. Without a slash.
  virtual const char* Name() const = 0;

  // Makes one proposal or none. A thread that looks for work asks, and so does WaitForIdle. The same state has the same
  // answer.
  virtual void Propose(MergePlan* plan) const = 0;
};

// Makes a policy known to all later opens of this process. A policy that is known already stays so. InvalidArgument:
// the policy is null, or its name is empty, has a slash, or is that of another policy. Threads: any.
MIODB_EXPORT Status RegisterMergePolicy(const MergePolicy* policy);

// Names of all policies: "default", "levelled", "tiered", and those that were registered. Threads: any.
MIODB_EXPORT std::vector<std::string> MergePolicyNames();

}  // namespace miodb

#endif  // MIODB_INCLUDE_MERGE_POLICY_H_
