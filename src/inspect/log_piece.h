// The log as a row of pieces: chunks of the pool, single frames of it, and log files.
//
// A log may have pieces of both kinds, whichever mode its database was in last. Sequences alone say which comes first.

#ifndef MIODB_SRC_INSPECT_LOG_PIECE_H_
#define MIODB_SRC_INSPECT_LOG_PIECE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "src/inspect/problem.h"
#include "src/log/frame_reader.h"

namespace miodb {

// Of a file without what is flushed.
struct LogPiece {
  std::string name;
  uint64_t first_sequence = 0;  // 0: it has nothing
  uint64_t last_sequence = 0;
  uint64_t writes = 0;
  bool sealed = false;  // has no end that a crash left
  std::vector<Problem> problems;
  uint64_t chunk_id = 0;          // 0: a file
  std::vector<FrameView> frames;  // of a chunk, for who wants them
};

// Puts the pieces in the order in which they were written. Of two that begin with the same write the one that counts
// comes first: a file, which is removed before its sequences are given out again, or else the chunk that was begun
// later.
inline void SortPieces(std::vector<LogPiece>* pieces) {
  std::stable_sort(pieces->begin(), pieces->end(), [](const LogPiece& a, const LogPiece& b) {
    if (a.first_sequence != b.first_sequence) return a.first_sequence < b.first_sequence;
    return a.chunk_id == 0 ? b.chunk_id != 0 : b.chunk_id != 0 && a.chunk_id > b.chunk_id;
  });
}

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_LOG_PIECE_H_
