// The walk that dumpers of a pool take: what the current root leads to, as it lies there, damaged or not.
//
// PoolWalk owns what it read of the manifest and knows no text; a visitor makes that. DumpFile and miodb_dump each have
// one.
//
// Threads: one. Image and visitor must outlive the walk.

#ifndef MIODB_SRC_INSPECT_IMAGE_POOL_WALK_H_
#define MIODB_SRC_INSPECT_IMAGE_POOL_WALK_H_

#include <cstdint>
#include <string>

#include "miodb/status.h"
#include "src/format/record.h"
#include "src/inspect/image/manifest_image.h"
#include "src/inspect/image/table_image.h"
#include "src/inspect/image/unknown_order.h"
#include "src/log/frame_reader.h"
#include "src/nvm/pool/pool_image.h"
#include "src/util/bytes/key_order.h"

namespace miodb {

// Is told everything that a walk meets. A status that is not OK ends the walk, which returns it.
class PoolVisitor {
 public:
  virtual ~PoolVisitor() = default;

  virtual Status OnDamage(const std::string& place, const std::string& reason) = 0;

  // A log chunk, then each of its frames, each followed by its records.
  virtual Status OnChunk(const LogChunkPlace& place) = 0;
  virtual Status OnFrame(PmRef at, const FrameView& frame) = 0;

  // A table, then each of its entries, each followed by the record or, if that is not the entry's, by damage.
  virtual Status OnTable(const TableImage& table, const TablePlace& place) = 0;
  virtual Status OnEntry(uint64_t number, PmRef record) = 0;

  virtual Status OnRecord(const RecordView& record) = 0;
};

class PoolWalk {
 public:
  // Reads the manifest to which the root in force leads. REQUIRES: CheckReadable(image) is OK.
  PoolWalk(const PoolImage& image, PoolVisitor* visitor);
  PoolWalk(const PoolWalk&) = delete;
  PoolWalk& operator=(const PoolWalk&) = delete;

  // Whether a good root leads to a manifest. Otherwise there is nothing to walk.
  bool has_manifest() const { return has_manifest_; }
  const ManifestImage& manifest() const { return manifest_; }

  // The bytewise order, or one that knows nothing if the database has another comparator.
  const KeyOrder& order() const { return order_; }

  // All log chunks, oldest first.
  Status Log();
  Status Table(const TablePlace& place);

 private:
  Status Chunk(const LogChunkPlace& place);
  Status Leaf(const TableImage& table, uint64_t number);

  const PoolImage& image_;
  PoolVisitor* const visitor_;
  const UnknownOrder unknown_;
  std::atomic<bool> has_families_{false};
  bool has_manifest_ = false;
  ManifestImage manifest_;
  KeyOrder order_;
};

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_IMAGE_POOL_WALK_H_
