// RepairDB, told step by step in repair.cc, and in repair_volatile.cc for databases whose pool is volatile.
//
// Threads: one. Errors: as RepairDB says.

#ifndef MIODB_SRC_DB_OFFLINE_REPAIRER_H_
#define MIODB_SRC_DB_OFFLINE_REPAIRER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "miodb/db.h"
#include "miodb/env.h"
#include "miodb/options.h"
#include "miodb/write_batch.h"
#include "src/db/context/options_check.h"
#include "src/db/offline/repair_families.h"
#include "src/db/store/directory_lock.h"
#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "src/format/problem.h"
#include "src/inspect/salvage/salvage.h"
#include "src/log/file_log.h"
#include "src/nvm/pool/pool_image.h"
#include "src/ssd/ssd_store.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

class DBImpl;

struct KeyLess {
  KeyOrder order;
  bool operator()(const std::string& a, const std::string& b) const { return order.Compare(a, b) < 0; }
};

// The writes of a key, outside of log files, that log files may have older or newer ones beside.
struct NewestWrites {
  struct Operand {
    uint64_t sequence;
    std::string value;
  };
  uint64_t hides = 0;             // the newest write that is no operand: it hides itself and what is older
  std::vector<Operand> operands;  // newest first, all above hides; not written yet
};
using NewestByKey = std::map<std::string, NewestWrites, KeyLess>;

class Repairer {
 public:
  Repairer(const std::string& name, const Options& options)
      : name_(name),
        options_(WithOwnFiles(options)),
        env_(options_.env),
        pool_path_(PoolPath(options, name)),
        pool_place_(PlaceOfPool(pool_path_)),
        fresh_path_(RepairedPoolPath(options, name)),
        lock_(env_, name),
        newest_(KeyLess{KeyOrder(options.comparator, families_.has_families())}) {}

  // The next repair removes the files that stay, and sees how far an exchange has come. A repair that found no database
  // takes away the lock that it made.
  ~Repairer() {
    NoThrow(name_, [this] {
      if (info_log_ == nullptr) lock_.Undo();
      return RemoveFresh();
    }).IgnoreError();
  }
  Repairer(const Repairer&) = delete;
  Repairer& operator=(const Repairer&) = delete;

  Status Run();

 private:
  // The exchange of the old database's parts for the new parts. While the state is kUnknown, an earlier repair that was
  // cut off may have left an exchange to be finished (FinishSwap finds out). A repair that fails between kBegun and
  // kDone cannot tell which parts will be in place after a loss of power.
  enum class Exchange { kUnknown, kNotBegun, kBegun, kDone };

  bool is_volatile() const { return pool_place_ == PoolPlace::kAnonymous; }

  void Go(Exchange to) {
    CHECK_EQ(static_cast<int>(to), static_cast<int>(exchange_) + 1);
    exchange_ = to;
  }

  // ---- repair.cc
  Status Lock();
  Status OpenLog();
  Status LacksSwap(uint64_t pool_id, bool* lacks) const;
  Status FinishSwap(uint64_t pool_id, bool* finished);
  Status AddSsd(uint64_t pool_id, const ManifestState* state, Salvage* salvage);
  Status Write(Salvage* salvage);
  Status JudgeLog(Salvage* salvage, uint64_t flushed_sequence);
  Status FindRanges(Salvage* salvage);
  Status ApplyLogFiles(const LogHistory& log, DBImpl* db);
  bool TakeForLog(const RecordView& record);
  Status LeaveOutOlder(const Slice& contents, DBImpl* db, WriteBatch* batch);
  Status WriteLost(const Salvage::Counts& counts);
  std::vector<NvmRegion> FreshRegions() const;
  Status SetRegionsAside();
  Status Swap();
  Status SwapDirectories();
  Status RemoveFreshParts(const StoreDescriptor& fresh);
  Status RemoveFresh();
  void Report(const Problem& problem);

  // ---- repair_checks.cc
  Status CheckKind() const;
  Status FindLostRegions();
  Status CheckSecondName() const;
  Status CheckRoom(const PoolImage& image, Salvage* salvage) const;

  // ---- repair_store.cc
  bool IsInDirectory(const std::string& path) const;
  void MissStore(const Status& read);
  Status FindStore(bool* found);
  Status ReadParts(const PoolHeader& header);
  Status FindLogFolder();
  Status FindLogWithoutStore();
  Status CheckGivenFolder();
  Status NameSuccessor();
  Status FinishStore();
  Status WriteParts();
  void AddFormer(uint64_t id);
  Status ReadVolatileParts(bool* whole, VersionEdit* state);

  // ---- repair_volatile.cc
  Status RunVolatile();
  Status FindLogOwner();
  Status DrainAll(DB* db);
  Status SwapVolatile();
  Status BeginLog();

  const std::string name_;
  const Options options_;
  Env* const env_;
  const std::string pool_path_;
  const PoolPlace pool_place_;
  const std::string fresh_path_;
  RepairFamilies families_;
  DirectoryLock lock_;  // let go after the log, which stands below it
  std::unique_ptr<Logger> own_log_;
  Logger* info_log_ = nullptr;
  std::string lost_;                          // content of LOST
  uint64_t lost_lines_ = 0;                   // of it
  std::vector<std::string> damaged_regions_;  // further regions of the damaged pool
  std::vector<std::string> lost_regions_;     // that the options name and the damaged pool does not lead to
  std::string wal_folder_;                    // empty: there are no log files
  bool log_is_former_ = false;                // an earlier repair has applied what is in it
  StoreDescriptor store_;                     // what STORE said, or what was found out without it
  bool exchanged_ = false;                    // an earlier repair has put the new pool in its place
  uint64_t log_reach_ = 0;                    // the log went at least this far
  uint64_t log_begin_ = UINT64_MAX;           // the first write of the log files; from here on newest_ is kept
  NewestByKey newest_;                        // outside of log files
  uint64_t file_updates_ = 0;                 // that log files had and the new pool got
  RangeSetRef deleted_;                       // ranges that were; null: none
  std::unique_ptr<SsdStore> ssd_;             // of the damaged database
  Exchange exchange_ = Exchange::kUnknown;
};

// Removes what a repair keeps in its directory (RepairDirectory), but not the directory.
Status RemoveRepairFiles(Env* env, const std::string& name);

}  // namespace miodb

#endif  // MIODB_SRC_DB_OFFLINE_REPAIRER_H_
