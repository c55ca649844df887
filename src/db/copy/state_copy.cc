// The parts of a state, and writing them.

#include "src/db/copy/state_copy.h"

#include <map>
#include <memory>
#include <utility>

#include "src/util/files/own_files.h"
#include "src/util/files/posix_file.h"
#include "src/version/manifest/manifest.h"

namespace miodb {

// With a volatile pool and an SSD tier an open writes the log once more, and then a version may be in a table and in a
// file: merges of such a database know that, and those of a copy would not.
Status CheckCopyable(const DbContext& db, const char* call) {
  if (db.hooks.memory != nullptr || !IsSystemEnv(db.options.env)) {
    return Status::NotSupported(call, "Options::env is not the system's");
  }
  if (!db.LogsUntilSsd()) return Status::OK();
  return Status::NotSupported(call,
                              "the pool is anonymous and has an SSD tier: close the database and copy its directories");
}

// In the order of their offsets. Chunks that a flush has made tables of are not among the log chunks.
std::vector<PoolCopy::Part> PartsOf(const FrozenState& frozen) {
  CHECK(frozen.version != nullptr);
  std::map<PmRef, PoolCopy::Part> parts;
  const auto add = [&](const Extent& extent) {
    parts[extent.offset()] = {extent.offset(), extent.size(), extent.kind()};
  };
  for (const ExtentRef& extent : frozen.version->payload) add(*extent);
  for (const Run* run : frozen.version->runs) {
    for (const TableRef& table : run->tables) add(*table->index());
  }
  for (const LogChunkPlace& chunk : frozen.state.chunks) {
    DCHECK(chunk.sealed && parts.count(chunk.offset) == 0);
    parts[chunk.offset] = {chunk.offset, chunk.sealed_size, ExtentKind::kLog};
  }
  std::vector<PoolCopy::Part> list;
  for (const auto& [offset, part] : parts) list.push_back(part);
  return list;
}

// The manifest is made as that of a new database, whose first edit is the state.
Status WriteStatePool(StatePool pool, const Uuid& uuid, FileAccess access, const std::string& path) {
  CHECK(pool.source != nullptr);
  std::string encoded;
  pool.state.EncodeTo(&encoded);
  PoolCopy copy(pool.secret, path);
  Status s = copy.Begin(uuid, std::move(pool.parts), Manifest::MostBytes(encoded.size()));
  if (!s.ok()) return s;
  Manifest manifest(copy.pool());
  s = manifest.Create(pool.state.comparator);
  if (s.ok()) s = manifest.Append(pool.state);
  return s.ok() ? copy.Finish(access, pool.source) : s;
}

// The mark comes before the files, so that nobody takes them for another database's; their names are durable at once,
// in the end.
Status WriteSsd(Env* env, const std::string& folder, uint64_t pool_id, const VersionEdit& state,
                const MakeTable& make) {
  CHECK(make != nullptr);
  Status s = env->CreateDir(folder);
  if (s.ok()) s = SsdStore::WriteMark(env, folder, pool_id, 0);
  for (const SstPlace& file : state.files) {
    if (s.ok()) s = make(IdOf(file), folder + "/" + SsdStore::TableName(IdOf(file)));
  }
  return s.ok() ? SyncDirectory(folder) : s;
}

// A read may give less than it was asked for: a piece is whole before it is handed on.
Status ReadPieces(Env* env, const std::string& path, const OnPiece& on_piece) {
  DCHECK(on_piece != nullptr);
  SequentialFile* opened = nullptr;
  Status s = env->NewSequentialFile(path, &opened);
  const std::unique_ptr<SequentialFile> in(opened);
  std::string buffer(kPieceBytes, '\0');
  size_t filled = 0;
  Slice bytes;
  do {
    if (s.ok()) s = in->Read(buffer.size() - filled, &bytes, buffer.data() + filled);
    if (!s.ok()) return s;
    DCHECK(bytes.empty() || bytes.data() == buffer.data() + filled);
    filled += bytes.size();
    if (filled < buffer.size() && (!bytes.empty() || filled == 0)) continue;
    s = on_piece(Slice(buffer.data(), filled));
    filled = 0;
  } while (s.ok() && !bytes.empty());
  return s;
}

// Without a source nothing is made: that it is missing is told apart from a folder that is.
Status CopyFile(Env* env, const std::string& from, const std::string& to, const OnPiece& on_piece) {
  DCHECK(from != to);
  WritableFile* made = nullptr;
  if (!env->FileExists(from)) return Status::NotFound(from, "no such file");
  Status s = env->NewWritableFile(to, &made);
  const std::unique_ptr<WritableFile> out(made);
  if (s.ok()) {
    s = ReadPieces(env, from, [&](const Slice& piece) {
      const Status checked = on_piece(piece);
      return checked.ok() ? out->Append(piece) : checked;
    });
  }
  if (s.ok()) s = out->Sync();
  return s.ok() ? out->Close() : s;
}

}  // namespace miodb
