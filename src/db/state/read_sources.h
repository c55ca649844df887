// ReadSources: what reads look at, and up to where they see. In a live database they are a part of the tree, which
// publishes one state after the other; in a view there is one state, and the sequence stays as it is.
//
// Threads: any; whoever changes a state says how.

#ifndef MIODB_SRC_DB_STATE_READ_SOURCES_H_
#define MIODB_SRC_DB_STATE_READ_SOURCES_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "miodb/status.h"
#include "src/db/context/snapshot_list.h"
#include "src/db/state/gone_unread.h"
#include "src/db/state/read_state.h"

namespace miodb {

struct ReadSources {
  ReadStates states;
  SnapshotList snapshots;

  // Set in a reader (reader_db.h) and called before a read begins, so that the read does not see an old state. null:
  // nothing is to be done.
  std::function<Status()> before_read;
  Status BeforeRead() const { return before_read == nullptr ? Status::OK() : before_read(); }

  // The memtable that is to be sealed: walks over what is hidden in it have cost as much as its flush would, or its
  // flush would free much. A wish, so relaxed.
  std::atomic<const MemTable*> seal_asked{nullptr};

  // The newest sequence that reads may see. Release by the leader after its group is in the memtable, acquire by
  // readers. On a line of its own, because each put writes it, and a get that need not look at it reads what is above.
  alignas(64) std::atomic<uint64_t> last_sequence{0};

  alignas(64) GoneUnread gone_unread;  // since the open
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_STATE_READ_SOURCES_H_
