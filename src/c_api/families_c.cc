// Column families in the C API. The database owns its handles, so a C handle is nothing but the pointer.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "miodb/c.h"
#include "miodb/column_family.h"
#include "src/c_api/c_types.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

using miodb::ColumnFamilyHandle;
using miodb::CopyForC;
using miodb::Found;
using miodb::HandleOf;
using miodb::RepOf;
using miodb::SaveError;
using miodb::Slice;
using miodb::Status;
using miodb::ValueForC;

namespace {

const ColumnFamilyHandle* HandleOf(const miodb_column_family_t* family) {
  DCHECK(family != nullptr);
  return reinterpret_cast<const ColumnFamilyHandle*>(family);
}
miodb_column_family_t* ForC(ColumnFamilyHandle* family) { return reinterpret_cast<miodb_column_family_t*>(family); }

}  // namespace

extern "C" {

// The copy of the name needs memory, so it is made where exceptions are caught: none may get into a C program.
miodb_column_family_t* miodb_create_column_family(leveldb_t* db, const char* name, size_t namelen, char** errptr) {
  DCHECK(name != nullptr || namelen == 0);
  ColumnFamilyHandle* family = nullptr;
  SaveError(errptr,
            miodb::NoThrow("name", [&] { return RepOf(db)->CreateColumnFamily(std::string(name, namelen), &family); }));
  return ForC(family);
}

// A name that no family has is an answer and no error: the result is null, and errptr stays as it is.
miodb_column_family_t* miodb_get_column_family(leveldb_t* db, const char* name, size_t namelen, char** errptr) {
  DCHECK(name != nullptr || namelen == 0);
  ColumnFamilyHandle* family = nullptr;
  const Status s =
      miodb::NoThrow("name", [&] { return RepOf(db)->GetColumnFamily(std::string(name, namelen), &family); });
  return Found(s, errptr) ? ForC(family) : nullptr;
}

void miodb_drop_column_family(leveldb_t* db, miodb_column_family_t* family, char** errptr) {
  SaveError(errptr, RepOf(db)->DropColumnFamily(HandleOf(family)));
}

// Names may have zeros in them, hence the sizes; each has one behind it all the same.
char** miodb_list_column_families(leveldb_t* db, size_t* count, size_t** lens, char** errptr) {
  DCHECK(count != nullptr && lens != nullptr);
  std::vector<std::string> names;
  *count = 0;
  *lens = nullptr;
  if (SaveError(errptr, RepOf(db)->ListColumnFamilies(&names))) return nullptr;
  char** const result = static_cast<char**>(malloc(names.size() * sizeof(char*)));
  *lens = static_cast<size_t*>(malloc(names.size() * sizeof(size_t)));
  CHECK(result != nullptr && *lens != nullptr);  // as CopyForC
  for (const std::string& name : names) {
    (*lens)[*count] = name.size();
    result[(*count)++] = CopyForC(name);
  }
  return result;
}

void miodb_list_column_families_destroy(char** names, size_t count, size_t* lens) {
  DCHECK(names != nullptr || count == 0);
  for (size_t i = 0; i < count; i++) free(names[i]);
  free(names);
  free(lens);
}

const char* miodb_column_family_name(const miodb_column_family_t* family, size_t* namelen) {
  DCHECK(namelen != nullptr);
  const std::string& name = HandleOf(family)->GetName();
  *namelen = name.size();
  return name.c_str();
}

uint32_t miodb_column_family_id(const miodb_column_family_t* family) { return HandleOf(family)->GetID(); }

// ---- Writes.

void miodb_put_cf(leveldb_t* db, const leveldb_writeoptions_t* options, miodb_column_family_t* family, const char* key,
                  size_t keylen, const char* val, size_t vallen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  DCHECK(val != nullptr || vallen == 0);
  SaveError(errptr, RepOf(db)->Put(RepOf(options), HandleOf(family), Slice(key, keylen), Slice(val, vallen)));
}

void miodb_delete_cf(leveldb_t* db, const leveldb_writeoptions_t* options, miodb_column_family_t* family,
                     const char* key, size_t keylen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  SaveError(errptr, RepOf(db)->Delete(RepOf(options), HandleOf(family), Slice(key, keylen)));
}

void miodb_merge_cf(leveldb_t* db, const leveldb_writeoptions_t* options, miodb_column_family_t* family,
                    const char* key, size_t keylen, const char* operand, size_t operand_len, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  DCHECK(operand != nullptr || operand_len == 0);
  SaveError(errptr,
            RepOf(db)->Merge(RepOf(options), HandleOf(family), Slice(key, keylen), Slice(operand, operand_len)));
}

void miodb_single_delete_cf(leveldb_t* db, const leveldb_writeoptions_t* options, miodb_column_family_t* family,
                            const char* key, size_t keylen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  SaveError(errptr, RepOf(db)->SingleDelete(RepOf(options), HandleOf(family), Slice(key, keylen)));
}

void miodb_delete_range_cf(leveldb_t* db, const leveldb_writeoptions_t* options, miodb_column_family_t* family,
                           const char* begin, size_t beginlen, const char* end, size_t endlen, char** errptr) {
  DCHECK(begin != nullptr || beginlen == 0);
  DCHECK(end != nullptr || endlen == 0);
  SaveError(errptr,
            RepOf(db)->DeleteRange(RepOf(options), HandleOf(family), Slice(begin, beginlen), Slice(end, endlen)));
}

void miodb_writebatch_delete_range_cf(leveldb_writebatch_t* batch, miodb_column_family_t* family, const char* begin,
                                      size_t beginlen, const char* end, size_t endlen) {
  DCHECK(begin != nullptr || beginlen == 0);
  DCHECK(end != nullptr || endlen == 0);
  RepOf(batch).DeleteRange(HandleOf(family), Slice(begin, beginlen), Slice(end, endlen));
}

void miodb_writebatch_put_cf(leveldb_writebatch_t* batch, miodb_column_family_t* family, const char* key, size_t keylen,
                             const char* val, size_t vallen) {
  DCHECK(key != nullptr || keylen == 0);
  DCHECK(val != nullptr || vallen == 0);
  RepOf(batch).Put(HandleOf(family), Slice(key, keylen), Slice(val, vallen));
}

void miodb_writebatch_delete_cf(leveldb_writebatch_t* batch, miodb_column_family_t* family, const char* key,
                                size_t keylen) {
  DCHECK(key != nullptr || keylen == 0);
  RepOf(batch).Delete(HandleOf(family), Slice(key, keylen));
}

void miodb_writebatch_merge_cf(leveldb_writebatch_t* batch, miodb_column_family_t* family, const char* key,
                               size_t keylen, const char* operand, size_t operand_len) {
  DCHECK(key != nullptr || keylen == 0);
  DCHECK(operand != nullptr || operand_len == 0);
  RepOf(batch).Merge(HandleOf(family), Slice(key, keylen), Slice(operand, operand_len));
}

void miodb_writebatch_single_delete_cf(leveldb_writebatch_t* batch, miodb_column_family_t* family, const char* key,
                                       size_t keylen) {
  DCHECK(key != nullptr || keylen == 0);
  RepOf(batch).SingleDelete(HandleOf(family), Slice(key, keylen));
}

// ---- Reads.

// NULL is a miss or an error, as everywhere: *errptr tells which.
char* miodb_get_cf(leveldb_t* db, const leveldb_readoptions_t* options, miodb_column_family_t* family, const char* key,
                   size_t keylen, size_t* vallen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  DCHECK(vallen != nullptr);
  std::string value;
  const Status s = RepOf(db)->Get(RepOf(options), HandleOf(family), Slice(key, keylen), &value);
  return ValueForC(s, value, vallen, errptr);
}

miodb_pinnedslice_t* miodb_get_pinned_cf(leveldb_t* db, const leveldb_readoptions_t* options,
                                         miodb_column_family_t* family, const char* key, size_t keylen, char** errptr) {
  DCHECK(key != nullptr || keylen == 0);
  auto value = std::make_unique<miodb_pinnedslice_t>();
  const Status s = RepOf(db)->Get(RepOf(options), HandleOf(family), Slice(key, keylen), &value->rep);
  return Found(s, errptr) ? value.release() : nullptr;
}

// Every place of the three arrays is written, whatever happens: without memory for the call each key gets the error,
// so that a program can free what it finds without knowing how far the call came.
void miodb_multi_get_cf(leveldb_t* db, const leveldb_readoptions_t* options, miodb_column_family_t* const* families,
                        size_t num_keys, const char* const* keys, const size_t* keylens, char** values, size_t* vallens,
                        char** errors) {
  DCHECK(num_keys == 0 || (keys != nullptr && keylens != nullptr));
  DCHECK(num_keys == 0 || (values != nullptr && vallens != nullptr && errors != nullptr));
  std::vector<std::string> found;
  std::vector<Status> statuses;
  const Status called = miodb::NoThrow("MultiGet", [&] {
    std::vector<ColumnFamilyHandle*> handles;
    std::vector<Slice> slices;
    for (size_t i = 0; i < num_keys; i++) {
      if (families != nullptr) handles.push_back(HandleOf(families[i]));
      slices.emplace_back(keys[i], keylens[i]);
    }
    statuses = RepOf(db)->MultiGet(RepOf(options), handles, slices, &found);
    return statuses.size() == num_keys ? Status::OK() : Status::IOError("MultiGet", "out of memory");
  });
  for (size_t i = 0; i < num_keys; i++) {
    const Status& s = called.ok() ? statuses[i] : called;
    errors[i] = nullptr;
    values[i] = ValueForC(s, s.ok() ? Slice(found[i]) : Slice(), &vallens[i], &errors[i]);
  }
}

// The iterator is never null, since an error of its making is one that the iterator has.
leveldb_iterator_t* miodb_create_iterator_cf(leveldb_t* db, const leveldb_readoptions_t* options,
                                             miodb_column_family_t* family) {
  return new leveldb_iterator_t{RepOf(db)->NewIterator(RepOf(options), HandleOf(family))};
}

char* miodb_property_value_cf(leveldb_t* db, miodb_column_family_t* family, const char* propname) {
  DCHECK(propname != nullptr);
  std::string value;
  return RepOf(db)->GetProperty(HandleOf(family), propname, &value) ? CopyForC(value) : nullptr;
}

void miodb_approximate_sizes_cf(leveldb_t* db, miodb_column_family_t* family, int num_ranges,
                                const char* const* range_start_key, const size_t* range_start_key_len,
                                const char* const* range_limit_key, const size_t* range_limit_key_len,
                                uint64_t* sizes) {
  DCHECK(num_ranges == 0 || sizes != nullptr);
  for (int i = 0; i < num_ranges; i++) {
    const miodb::Range range(Slice(range_start_key[i], range_start_key_len[i]),
                             Slice(range_limit_key[i], range_limit_key_len[i]));
    RepOf(db)->GetApproximateSizes(HandleOf(family), &range, 1, &sizes[i]);
  }
}

}  // extern "C"
