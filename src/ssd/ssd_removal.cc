// Table files that nobody needs any more.

#include <new>
#include <vector>

#include "src/nvm/readers/reader_guard.h"
#include "src/ssd/ssd_store.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

// The life of a table file: a job writes it under a new id (NewFile), syncs it with its name, opens it, and an edit
// names it. When the last version that has it is gone, its SstFile notes the number, and an SSD thread removes it
// (RemoveDiscarded). A crash in between leaves a file that no manifest names, an orphan: the next open removes it,
// once the mark has told that the pool is no older copy, to which every newer file would look like one.
//
// Readers in other processes may still have a version with the file, so its number waits until all of them have looked
// at the manifest since.

namespace miodb {

// Readers may still look at what the manifest named before. No manifest names a file of another spelling, so no reader
// does, and two files may have one number.
Status SsdStore::RemoveOrphans(const std::set<uint64_t>& named) {
  TableFiles files;
  Status s = FindTables(options_.env, path(), &files);
  std::erase_if(files, [&](const auto& file) { return named.count(file.first) > 0; });
  CHECK(lock_ != nullptr);  // the directory is this store's
  if (files.empty() || MIODB_MUTATED(kSsdOrphansKept)) return s;
  const bool seen = guard_ == nullptr || guard_->Passed(guard_->NewTime());
  for (const auto& [number, name] : files) {
    if (!seen && name == FileName(number)) {
      Discard(number);
    } else if (s.ok()) {
      s = options_.env->RemoveFile(name);
    }
  }
  return s;
}

void SsdStore::Discard(uint64_t number) noexcept {
  const uint64_t time = guard_ != nullptr ? guard_->NewTime() : 0;
  MutexLock lock(&mutex_);
  try {
    CHECK(discarded_.emplace(number, time).second);  // a file has one owner
  } catch (const std::exception&) {
    // An orphan, until the next open.
  }
}

// A reader that has the table pinned goes on reading the removed file. A removal that fails leaves an orphan. Where
// readers have passed a time they have passed all before it, so few times are asked for, however many files wait.
void SsdStore::RemoveDiscarded() {
  std::vector<uint64_t> going;
  {
    MutexLock lock(&mutex_);
    uint64_t passed = 0, waits = UINT64_MAX;  // by readers; not by all of them
    for (const auto& [number, time] : discarded_) {
      if (time > passed && time < waits) (guard_ == nullptr || guard_->Passed(time) ? passed : waits) = time;
      if (time <= passed) going.push_back(number);
    }
    for (const uint64_t number : going) discarded_.erase(number);
  }
  for (const uint64_t number : going) {
    char key[8];
    EncodeFixed64(key, number);
    tables_->Erase(Slice(key, sizeof(key)));
    options_.env->RemoveFile(FileName(number)).IgnoreError();
  }
}

}  // namespace miodb
