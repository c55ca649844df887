#include "src/inspect/salvage/ssd_salvage.h"

#include <utility>
#include <vector>

#include "src/iterator/merging_iterator.h"
#include "src/util/check/check.h"

// Walks over the table files of a damaged SSD tier, merged into one.

namespace miodb {

namespace {

// OK if the error says that something is damaged or missing, which is lost then. Any other error, such as a lack of
// memory or descriptors, is no reason to do without the file.
Status LostOr(const Status& error, const std::string& name) {
  if (error.IsCorruption() || error.IsNotFound()) return Status::OK();
  return Status::IOError(name, "cannot be read (" + error.ToString() + "); to repair without it, move it away");
}

// A walk over a file, up to its first damage.
class FileWalk final : public InternalIterator {
 public:
  FileWalk(SsdStore* store, std::shared_ptr<const SstMeta> meta, ReportProblem report)
      : name_(store->FileName(meta->number)),
        report_(std::move(report)),
        files_(std::vector<SstRef>{std::make_shared<SstFile>(store, std::move(meta))}),
        walk_(store->NewIterator(&files_, {Checksums::kVerify, false})) {
    CHECK(report_ != nullptr);
  }

  bool Valid() const override { return walk_->Valid(); }
  // Every block is verified as it is read, and none goes into the cache.
  void SeekToFirst() override {
    walk_->SeekToFirst();
    Look();
  }
  void Next() override {
    walk_->Next();
    Look();
  }
  void SeekToLast() override { CHECK(false); }                  // forward only
  void Seek(const Slice&, uint64_t) override { CHECK(false); }  // the same
  void Prev() override { CHECK(false); }                        // the same
  const RecordView& record() const override {
    DCHECK(Valid());
    return walk_->record();
  }
  Status status() const override { return status_; }

 private:
  // Where a walk stops for damage the file is at its end for whoever merges it; any other error ends the merge.
  void Look() {
    if (walk_->Valid() || walk_->status().ok()) return;
    status_ = LostOr(walk_->status(), name_);
    if (status_.ok()) report_({name_, "lost from here on: " + walk_->status().ToString()});
  }

  const std::string name_;
  const ReportProblem report_;
  const FileList files_;
  const std::unique_ptr<InternalIterator> walk_;
  Status status_;
};

}  // namespace

// Without a manifest all files count, also those that a job had replaced and that were not removed yet. The merge goes
// by sequence, so the newest version of a key is shown whichever file has it.
Status NewSsdSalvage(SsdStore* store, const ManifestState* state, const std::set<uint64_t>& dropped,
                     const ReportProblem& report, std::unique_ptr<InternalIterator>* walk) {
  CHECK(store != nullptr && walk != nullptr);
  std::vector<std::shared_ptr<const SstMeta>> files;
  if (state != nullptr) {
    for (const auto& [number, place] : state->files) files.push_back(place.meta);
  } else {
    std::vector<uint64_t> numbers;
    Status s = store->ListFiles(&numbers);
    if (!s.ok()) return s;
    // The file itself gives the figures that the manifest would have given.
    for (const uint64_t number : numbers) {
      if (dropped.count(number) > 0) continue;
      auto meta = std::make_shared<SstMeta>();
      s = store->ReadMeta(number, meta.get());
      if (s.ok()) {
        files.push_back(std::move(meta));
        continue;
      }
      const Status other = LostOr(s, store->FileName(number));
      if (!other.ok()) return other;
      report({store->FileName(number), "lost: " + s.ToString()});
    }
  }
  // All files are walked side by side, whatever level they were on: which of two versions is newer, sequences tell.
  std::vector<std::unique_ptr<InternalIterator>> walks;
  for (auto& meta : files) walks.push_back(std::make_unique<FileWalk>(store, std::move(meta), report));
  *walk = NewMergingIterator(store->order(), std::move(walks));
  return Status::OK();
}

}  // namespace miodb
