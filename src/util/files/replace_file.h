// Small files that are replaced as a whole: they say where something lies, or whose it is.
//
// Threads: one call for a file at a time.

#ifndef MIODB_SRC_UTIL_FILES_REPLACE_FILE_H_
#define MIODB_SRC_UTIL_FILES_REPLACE_FILE_H_

#include <string>

#include "miodb/env.h"
#include "miodb/slice.h"
#include "miodb/status.h"

namespace miodb {

enum class Synced { kNo, kYes };

// Gives the file this content; it keeps its mode, and its owner where the system allows that. A crash leaves what there
// was before or all of the new content, the latter for sure once the directory is synced; an error leaves what there
// was before. With Synced::kNo, for tests of what a missing sync costs, loss of power may leave a part of it.
Status ReplaceFile(Env* env, const std::string& path, const Slice& content, Synced synced = Synced::kYes);

// Reads such a file. Corruption if it is longer than any of them gets, which a sparse file may say without holding
// much.
Status ReadSmallFile(Env* env, const std::string& path, std::string* content);

// The file's content so far, and its name, survive loss of power. An Env that cannot open it again gets no promise.
Status SyncExistingFile(Env* env, const std::string& path);

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_REPLACE_FILE_H_
