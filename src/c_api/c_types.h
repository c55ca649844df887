// The structs behind the opaque types of leveldb/c.h and miodb/c.h: each wraps the C++ object of the same name.

#ifndef MIODB_SRC_C_API_C_TYPES_H_
#define MIODB_SRC_C_API_C_TYPES_H_

#include <memory>
#include <string>

#include "leveldb/c.h"
#include "miodb/cache.h"
#include "miodb/column_family.h"
#include "miodb/db.h"
#include "miodb/env.h"
#include "miodb/filter_policy.h"
#include "miodb/merge_operator.h"
#include "miodb/optimistic_transaction.h"
#include "miodb/options.h"
#include "miodb/pinnable_slice.h"
#include "miodb/shared_resources.h"
#include "miodb/write_batch.h"
#include "miodb/write_batch_with_index.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

struct leveldb_t {
  miodb::DB* rep;
};

struct leveldb_cache_t {
  miodb::Cache* rep;
};

// Only the default one can be made in C, and that is not the caller's to delete.
struct leveldb_env_t {
  miodb::Env* rep;
};

struct leveldb_iterator_t {
  miodb::Iterator* rep;
};

// C has no way to make one; here so that set_info_log has a meaning for programs that make it in C++.
struct leveldb_logger_t {
  miodb::Logger* rep;
};

struct leveldb_options_t {
  miodb::Options rep;
};

struct miodb_sharedresources_t {
  std::shared_ptr<miodb::SharedResources> rep;
};

// Holds the keys of the bounds that rep points to.
struct leveldb_readoptions_t {
  miodb::ReadOptions rep;
  std::string lower_key;
  std::string upper_key;
  miodb::Slice lower;
  miodb::Slice upper;
};

struct leveldb_snapshot_t {
  const miodb::Snapshot* rep;
};

struct leveldb_writebatch_t {
  miodb::WriteBatch rep;
};

struct leveldb_writeoptions_t {
  miodb::WriteOptions rep;
};

// own: deleted with the handle; the operators that live for ever are not.
struct miodb_mergeoperator_t {
  const miodb::MergeOperator* rep;
  std::unique_ptr<const miodb::MergeOperator> own;
};

// Never made: a handle of C is the address of one of C++.
struct miodb_column_family_t;

struct miodb_transaction_t {
  miodb::OptimisticTransaction rep;
};

struct miodb_writebatch_wi_t {
  miodb::WriteBatchWithIndex rep;
};

struct miodb_pinnedslice_t {
  miodb::PinnableSlice rep;
};

namespace miodb {

// The state that a C program gives with its functions, and the function that destroys it; NULL: none does.
class CState {
 public:
  CState(void* state, void (*destructor)(void*)) : state_(state), destructor_(destructor) {}
  ~CState() {
    if (destructor_ != nullptr) destructor_(state_);
  }
  CState(const CState&) = delete;
  CState& operator=(const CState&) = delete;

 protected:
  void* const state_;

 private:
  void (*const destructor_)(void*);
};

// The C++ object behind a handle of C. As with LevelDB's, a NULL is no handle unless the header says what it means; a
// program that gives one would crash at the next line, and in builds with checks does so here.
template <typename Handle>
auto& RepOf(Handle* handle) {
  DCHECK(handle != nullptr);
  return handle->rep;
}

// An item of a list that a C program has. A number that the list does not have is a mistake of the program.
template <typename List>
const auto& At(const List* list, size_t i) {
  CHECK_LT(i, RepOf(list).size());
  return RepOf(list)[i];
}

// A C program has the address of the database's own handle, so there is nothing that it has to free.
inline ColumnFamilyHandle* HandleOf(miodb_column_family_t* family) {
  return reinterpret_cast<ColumnFamilyHandle*>(family);
}

// The bytes and a final zero in memory from malloc, which is what C callers free.
char* CopyForC(const Slice& bytes);

// If s is an error, puts its message in place of *errptr and returns true.
bool SaveError(char** errptr, const Status& s);

// Makes a handle of C and has fill(&rep) store what it stands for. NULL if that fails, with the error in *errptr. The
// handle comes first, so that nothing can fail when there is something to close.
template <typename Handle, typename Fill>
Handle* NewHandle(const Slice& place, char** errptr, Fill fill) {
  std::unique_ptr<Handle> handle;
  const Status s = NoThrow(place, [&] {
    handle = std::make_unique<Handle>();
    return fill(&handle->rep);
  });
  return SaveError(errptr, s) ? nullptr : handle.release();
}

// For a call that looks for something: whether the call found it. NotFound is an answer and no error.
bool Found(const Status& s, char** errptr);

// A copy, made by CopyForC, of the value that such a call found, and its size in *vallen; NULL and 0 if it found none.
char* ValueForC(const Status& s, const Slice& value, size_t* vallen, char** errptr);

}  // namespace miodb

#endif  // MIODB_SRC_C_API_C_TYPES_H_
