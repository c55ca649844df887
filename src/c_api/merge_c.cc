#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "miodb/c.h"
#include "src/c_api/c_types.h"
#include "src/util/check/check.h"

// Merges and single deletions of the C API, and operators that are made of C functions.

using miodb::MergeOperator;
using miodb::RepOf;
using miodb::SaveError;
using miodb::Slice;

namespace {

using FullMergeFunction = char* (*)(void*, const char*, size_t, const char*, size_t, const char* const*, const size_t*,
                                    int, uint8_t*, size_t*);
using PartialMergeFunction = char* (*)(void*, const char*, size_t, const char* const*, const size_t*, int, uint8_t*,
                                       size_t*);

// Operands as C functions take them.
struct Parts {
  explicit Parts(const std::vector<Slice>& operands) {
    for (const Slice& operand : operands) {
      bytes.push_back(operand.data());
      sizes.push_back(operand.size());
    }
  }
  int count() const { return static_cast<int>(bytes.size()); }

  std::vector<const char*> bytes;
  std::vector<size_t> sizes;
};

// The functions of C are called by several threads at once, as an operator's methods are; what they share is in their
// state.
class COperator final : public MergeOperator, private miodb::CState {
 public:
  COperator(void* state, void (*destructor)(void*), FullMergeFunction full_merge, PartialMergeFunction partial_merge,
            void (*delete_value)(void*, const char*, size_t), const char* (*name)(void*))
      : CState(state, destructor),
        full_merge_(full_merge),
        partial_merge_(partial_merge),
        delete_value_(delete_value),
        name_(name) {
    CHECK(full_merge_ != nullptr && name_ != nullptr);
  }

  const char* Name() const override { return name_(state_); }

  bool FullMerge(const Slice& key, const Slice* existing_value, const std::vector<Slice>& operands,
                 std::string* new_value) const override {
    DCHECK(!operands.empty());
    const Parts parts(operands);
    const bool has = existing_value != nullptr;
    uint8_t success = 1;
    size_t size = 0;
    char* const made = full_merge_(state_, key.data(), key.size(), has ? existing_value->data() : nullptr,
                                   has ? existing_value->size() : 0, parts.bytes.data(), parts.sizes.data(),
                                   parts.count(), &success, &size);
    return Take(made, size, success, new_value);
  }

  bool PartialMergeMulti(const Slice& key, const std::vector<Slice>& operands,
                         std::string* new_operand) const override {
    DCHECK(!operands.empty());
    if (partial_merge_ == nullptr) return false;
    const Parts parts(operands);
    uint8_t success = 1;
    size_t size = 0;
    char* const made = partial_merge_(state_, key.data(), key.size(), parts.bytes.data(), parts.sizes.data(),
                                      parts.count(), &success, &size);
    return Take(made, size, success, new_operand);
  }

 private:
  // Memory that the function has allocated is freed in any case: a function that fails may have returned something all
  // the same.
  bool Take(char* made, size_t size, uint8_t success, std::string* result) const {
    DCHECK(result != nullptr);
    if (made == nullptr) return false;
    if (success != 0) result->assign(made, size);
    delete_value_ != nullptr ? delete_value_(state_, made, size) : free(made);
    return success != 0;
  }

  const FullMergeFunction full_merge_;
  const PartialMergeFunction partial_merge_;
  void (*const delete_value_)(void*, const char*, size_t);
  const char* (*const name_)(void*);
};

}  // namespace

extern "C" {

miodb_mergeoperator_t* miodb_mergeoperator_create(void* state, void (*destructor)(void*), FullMergeFunction full_merge,
                                                  PartialMergeFunction partial_merge,
                                                  void (*delete_value)(void*, const char*, size_t),
                                                  const char* (*name)(void*)) {
  auto own = std::make_unique<const COperator>(state, destructor, full_merge, partial_merge, delete_value, name);
  const MergeOperator* const rep = own.get();
  return new miodb_mergeoperator_t{rep, std::move(own)};
}

// The library's operators live as long as the process; the handles are made for each call and destroyed like any other.
miodb_mergeoperator_t* miodb_mergeoperator_create_uint64_add() {
  return new miodb_mergeoperator_t{miodb::UInt64AddOperator(), nullptr};
}
miodb_mergeoperator_t* miodb_mergeoperator_create_max() {
  return new miodb_mergeoperator_t{miodb::MaxOperator(), nullptr};
}
miodb_mergeoperator_t* miodb_mergeoperator_create_put() {
  return new miodb_mergeoperator_t{miodb::PutOperator(), nullptr};
}
miodb_mergeoperator_t* miodb_mergeoperator_create_string_append(const char* delimiter, size_t len) {
  DCHECK(delimiter != nullptr || len == 0);
  std::unique_ptr<const MergeOperator> own(miodb::NewStringAppendOperator(std::string(delimiter, len)));
  const MergeOperator* const rep = own.get();
  return new miodb_mergeoperator_t{rep, std::move(own)};
}

void miodb_mergeoperator_destroy(miodb_mergeoperator_t* merge_operator) { delete merge_operator; }

// The options keep a pointer: the operator outlives the databases that are opened with them.
void miodb_options_set_merge_operator(leveldb_options_t* options, miodb_mergeoperator_t* merge_operator) {
  DCHECK(merge_operator == nullptr || RepOf(merge_operator) != nullptr);
  RepOf(options).merge_operator = merge_operator != nullptr ? RepOf(merge_operator) : nullptr;
}

// The two calls are writes like leveldb_put. Without an operator a merge is an error.
void miodb_merge(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key, size_t keylen,
                 const char* operand, size_t operand_len, char** errptr) {
  DCHECK((key != nullptr || keylen == 0) && (operand != nullptr || operand_len == 0));
  SaveError(errptr, RepOf(db)->Merge(RepOf(options), Slice(key, keylen), Slice(operand, operand_len)));
}

void miodb_single_delete(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key, size_t keylen,
                         char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  SaveError(errptr, RepOf(db)->SingleDelete(RepOf(options), Slice(key, keylen)));
}

// A batch takes merges without an operator; the write that it is given to refuses it.
void miodb_writebatch_merge(leveldb_writebatch_t* batch, const char* key, size_t keylen, const char* operand,
                            size_t operand_len) {
  DCHECK((key != nullptr || keylen == 0) && (operand != nullptr || operand_len == 0));
  RepOf(batch).Merge(Slice(key, keylen), Slice(operand, operand_len));
}

void miodb_writebatch_single_delete(leveldb_writebatch_t* batch, const char* key, size_t keylen) {
  DCHECK(key != nullptr || keylen == 0);
  RepOf(batch).SingleDelete(Slice(key, keylen));
}

// The order of the bounds is checked by the write.
void miodb_delete_range(leveldb_t* db, const leveldb_writeoptions_t* options, const char* begin, size_t beginlen,
                        const char* end, size_t endlen, char** errptr) {
  DCHECK((begin != nullptr || beginlen == 0) && (end != nullptr || endlen == 0));
  SaveError(errptr, RepOf(db)->DeleteRange(RepOf(options), Slice(begin, beginlen), Slice(end, endlen)));
}

void miodb_writebatch_delete_range(leveldb_writebatch_t* batch, const char* begin, size_t beginlen, const char* end,
                                   size_t endlen) {
  DCHECK((begin != nullptr || beginlen == 0) && (end != nullptr || endlen == 0));
  RepOf(batch).DeleteRange(Slice(begin, beginlen), Slice(end, endlen));
}

}  // extern "C"
