// Verifies the table files of an SSD tier against the manifest that names them. Part of VerifyPool.
//
//   directory  it is this pool's; which files lie in it that nobody names (a crash may have left them: a note)
//   files      each is there, with the size and the fingerprint that the manifest states; the checksum of every block;
//              order of the keys; first and last key, numbers of entries and tombstones; no sequence above the newest
//   levels     files of one level do not overlap
//
// A file that several states name is looked at once.
//
// Threads: one.

#ifndef MIODB_SRC_INSPECT_VERIFY_VERIFY_SSD_H_
#define MIODB_SRC_INSPECT_VERIFY_VERIFY_SSD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "src/format/problem.h"
#include "src/util/bytes/key_order.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

// The files that a state of the manifest names.
struct SsdState {
  const std::map<uint64_t, SstPlace>* files;
  ReportProblem report;
};

struct SsdVerifyRequest {
  Env* env;
  std::string path;  // of the directory
  uint64_t pool_id;
  std::vector<SsdState> states;  // the current one, then those of savepoints
  KeyOrder order;
  bool order_known;
  uint64_t last_sequence;
  std::function<void(uint64_t bytes)> on_file;  // behind each file, with the size that the manifest says
};

// Figures of the files of the current state.
struct SsdCheck {
  uint64_t entries = 0;
  uint64_t tombstones = 0;
  uint64_t bytes = 0;
  uint64_t saved_bytes = 0;  // of files that savepoints alone need
};

SsdCheck VerifySsd(const SsdVerifyRequest& request, const ReportProblem& report, const ReportProblem& note);

// Calls use for every entry of a table file as it is stored, up to damage, which is returned.
Status WalkTableFile(Env* env, const std::string& name, const KeyOrder& order,
                     const std::function<void(const Slice& key, const Slice& value)>& use);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_VERIFY_VERIFY_SSD_H_
