// Copying a state of the database: what its parts are, and how they become those of another database.
//
// Threads: functions of their arguments. After a crash: files that nothing names.

#ifndef MIODB_SRC_DB_COPY_STATE_COPY_H_
#define MIODB_SRC_DB_COPY_STATE_COPY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/db/context/db_context.h"
#include "src/db/copy/savepoints.h"
#include "src/format/store_descriptor.h"
#include "src/nvm/pool/pool_copy.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

// NotSupported, of the call with this name, if what the database has does not lie in its pool and its table files.
Status CheckCopyable(const DbContext& db, const char* call);

// The extents of a state, each once, by their offsets.
std::vector<PoolCopy::Part> PartsOf(const FrozenState& frozen);

// The parts of a pool that has a state and nothing else.
struct StatePool {
  const VersionEdit& state;  // leads from nothing to it
  std::vector<PoolCopy::Part> parts;
  uint64_t secret = 0;
  PoolCopy::Source source;
};

// Writes it to a file, which must not exist, and syncs it.
Status WriteStatePool(StatePool pool, const Uuid& uuid, FileAccess access, const std::string& path);

// What STORE says of a copy that has all writes of the source's state and no others.
inline StoreDescriptor::Origin OriginOfCopy(const Uuid& source, const Uuid& copy) {
  DCHECK(source != copy);
  return {StoreDescriptor::Origin::State::kCopied, source, copy, 0};
}

// Makes the directory of an SSD tier, which must not exist, with the table files of a state. make: makes the file with
// this number under this path, durably but for its name.
using MakeTable = std::function<Status(uint64_t number, const std::string& path)>;
Status WriteSsd(Env* env, const std::string& folder, uint64_t pool_id, const VersionEdit& state, const MakeTable& make);

// Files are read in pieces; all pieces but the last have this size.
inline constexpr size_t kPieceBytes = size_t{1} << 20;

// Gets each piece, in order; an error ends the reading.
using OnPiece = std::function<Status(const Slice& piece)>;
Status ReadPieces(Env* env, const std::string& path, const OnPiece& on_piece);

// Copies a file under a name that must not exist, and syncs it. Each piece is written once on_piece was content with
// it.
Status CopyFile(Env* env, const std::string& from, const std::string& to, const OnPiece& on_piece);

}  // namespace miodb

#endif  // MIODB_SRC_DB_COPY_STATE_COPY_H_
