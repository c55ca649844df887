// LevelDB's Table and TableBuilder over the reader and writer that the SSD tier uses.

#include <memory>
#include <new>

#include "miodb/table.h"
#include "miodb/table_builder.h"
#include "src/ssd/sst_reader.h"
#include "src/ssd/sst_writer.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

namespace miodb {

namespace {

// The file is the program's, so there is no file name to tell.
Status OutOfMemory() { return Status::IOError("table", "out of memory"); }

}  // namespace

struct Table::Rep {
  std::unique_ptr<SstReader> reader;
};

// Nothing of the table is made unless all of it could be: *table is null until then, and the reader goes with the
// failed attempt.
Status Table::Open(const Options& options, RandomAccessFile* file, uint64_t file_size, Table** table) {
  *table = nullptr;
  return NoThrow("table", [&] {
    auto rep = std::make_unique<Rep>();
    // The file stays the caller's, so this owner never deletes it.
    const std::shared_ptr<const RandomAccessFile> borrowed(file, [](const RandomAccessFile*) {});
    Status s = SstReader::Open(SstFormatOf(options), borrowed, "table", file_size, ChecksumsIf(options.paranoid_checks),
                               options.block_cache, &rep->reader);
    if (!s.ok()) return s;
    CHECK(rep->reader != nullptr);
    *table = new Table(rep.get());
    rep.release();
    return s;
  });
}

// Iterators are gone before the table is, as its header asks.
Table::~Table() { delete rep_; }

// An iterator must never be nullptr, so lack of memory shows in the status of an empty one.
Iterator* Table::NewIterator(const ReadOptions& options) const {
  try {
    return rep_->reader->NewIterator(
        {ChecksumsIf(options.verify_checksums), options.fill_cache, options.readahead_size, options.readahead_size});
  } catch (const std::exception&) {
    return NewErrorIterator(OutOfMemory());
  }
}

// By the index in memory, so nothing can fail.
uint64_t Table::ApproximateOffsetOf(const Slice& key) const { return rep_->reader->ApproximateOffsetOf(key); }

// The order of keys is checked here and not in SstWriter, which the engine feeds from a merge that is in order by
// itself.
struct TableBuilder::Rep {
  Rep(const Options& options, WritableFile* file) : writer(SstFormatOf(options), file) {}

  SstWriter writer;
  Status error;  // the first that is not the file's
  std::string last_key;
  bool closed = false;

  Status status() const { return error.ok() ? writer.status() : error; }
};

TableBuilder::TableBuilder(const Options& options, WritableFile* file) : rep_(new Rep(options, file)) {}

// A table that was neither finished nor given up would be a file that looks written and is no table.
TableBuilder::~TableBuilder() {
  CHECK(rep_->closed);  // Finish or Abandon comes before
  delete rep_;
}

// The order of the keys that are in the table already, and the filter that has begun, rule out another comparator or
// policy.
Status TableBuilder::ChangeOptions(const Options& options) {
  const SstFormat& now = rep_->writer.format();
  if (options.comparator != now.comparator) {
    return Status::InvalidArgument("TableBuilder::ChangeOptions", "the comparator cannot change");
  }
  if (options.filter_policy != now.filter_policy) {
    return Status::InvalidArgument("TableBuilder::ChangeOptions", "the filter policy cannot change");
  }
  rep_->writer.SetFormat(SstFormatOf(options));
  return Status::OK();
}

// The last key is copied before the writer sees the new one: if that throws, the pair is refused as a whole and the
// table stays in order.
void TableBuilder::Add(const Slice& key, const Slice& value) {
  CHECK(!rep_->closed);
  if (!status().ok()) return;
  if (rep_->writer.entries() > 0 && rep_->writer.format().comparator->Compare(key, rep_->last_key) <= 0) {
    rep_->error = Status::InvalidArgument("TableBuilder::Add", "the key does not come after the last one");
    return;
  }
  try {
    rep_->last_key.assign(key.data(), key.size());
    rep_->writer.Add(key, value);
  } catch (const std::exception&) {
    rep_->error = OutOfMemory();
  }
}

// Where the program wants a block to end: lack of memory is kept as the table's error.
void TableBuilder::Flush() {
  CHECK(!rep_->closed);
  if (!status().ok()) return;
  try {
    rep_->writer.Flush();
  } catch (const std::exception&) {
    rep_->error = OutOfMemory();
  }
}

Status TableBuilder::status() const { return rep_->status(); }

// closed is set first, so that a table whose Finish failed counts as ended and may be destroyed.
Status TableBuilder::Finish() {
  CHECK(!rep_->closed);
  rep_->closed = true;
  if (!status().ok()) return status();
  try {
    return rep_->writer.Finish();
  } catch (const std::exception&) {
    rep_->error = OutOfMemory();
    return rep_->error;
  }
}

// Bytes that were written stay in the file, which the caller removes.
void TableBuilder::Abandon() {
  CHECK(!rep_->closed);
  rep_->closed = true;
}

uint64_t TableBuilder::NumEntries() const { return rep_->writer.entries(); }
uint64_t TableBuilder::FileSize() const { return rep_->writer.file_size(); }

}  // namespace miodb
