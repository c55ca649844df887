#include <cstdlib>
#include <string>

#include "miodb/c.h"
#include "miodb/compaction_filter.h"
#include "miodb/lifetime.h"
#include "src/c_api/c_types.h"
#include "src/util/check/check.h"

// Lifetime policies and compaction filters that are made of C functions.

using miodb::RepOf;
using miodb::Slice;

namespace miodb::c_api {

using LifetimeFunction = uint64_t (*)(void*, const char*, size_t, const char*, size_t);
using FilterFunction = int (*)(void*, int, const char*, size_t, uint8_t, const char*, size_t, char**, size_t*);

// The functions of C are called by several threads at once, as the methods are; what they share is in their state. The
// bytes that they get are the database's and last for the call.
class CPolicy final : public miodb::LifetimePolicy, private CState {
 public:
  CPolicy(void* state, void (*destructor)(void*), LifetimeFunction lifetime_seconds)
      : CState(state, destructor), lifetime_seconds_(lifetime_seconds) {
    CHECK(lifetime_seconds_ != nullptr);
  }

  uint64_t LifetimeSeconds(const Slice& key, const Slice& value) const override {
    return lifetime_seconds_(state_, key.data(), key.size(), value.data(), value.size());
  }

 private:
  const LifetimeFunction lifetime_seconds_;
};

// Answers are numbers in C: 0 to keep, 1 to remove, 2 for another value.
class CFilter final : public miodb::CompactionFilter, private CState {
 public:
  CFilter(void* state, void (*destructor)(void*), FilterFunction filter,
          void (*delete_value)(void*, const char*, size_t), const char* (*name)(void*))
      : CState(state, destructor), filter_(filter), delete_value_(delete_value), name_(name) {
    CHECK(filter_ != nullptr && name_ != nullptr);
  }

  const char* Name() const override { return name_(state_); }

  // Memory that the program's function has allocated is freed in any case. A number that is no answer keeps the record.
  Decision Filter(int level, const Slice& key, ValueKind kind, const Slice& existing_value,
                  std::string* new_value) const override {
    DCHECK(new_value != nullptr);
    char* made = nullptr;
    size_t size = 0;
    const uint8_t is_operand = kind == ValueKind::kOperand ? 1 : 0;
    const int answer = filter_(state_, level, key.data(), key.size(), is_operand, existing_value.data(),
                               existing_value.size(), &made, &size);
    if (made != nullptr) {
      new_value->assign(made, size);
      delete_value_ != nullptr ? delete_value_(state_, made, size) : free(made);
    }
    return answer == 1 ? Decision::kRemove : answer == 2 ? Decision::kChangeValue : Decision::kKeep;
  }

 private:
  const FilterFunction filter_;
  void (*const delete_value_)(void*, const char*, size_t);
  const char* (*const name_)(void*);
};

}  // namespace miodb::c_api

struct miodb_lifetimepolicy_t {
  miodb::c_api::CPolicy rep;
};

struct miodb_compactionfilter_t {
  miodb::c_api::CFilter rep;
};

using miodb::c_api::FilterFunction;
using miodb::c_api::LifetimeFunction;

extern "C" {

miodb_lifetimepolicy_t* miodb_lifetimepolicy_create(void* state, void (*destructor)(void*),
                                                    LifetimeFunction lifetime_seconds) {
  return new miodb_lifetimepolicy_t{{state, destructor, lifetime_seconds}};
}
void miodb_lifetimepolicy_destroy(miodb_lifetimepolicy_t* policy) { delete policy; }

// The options keep a pointer: policy and filter outlive the databases that are opened with them.
void miodb_options_set_lifetime_policy(leveldb_options_t* options, miodb_lifetimepolicy_t* policy) {
  DCHECK(options != nullptr);
  RepOf(options).lifetime_policy = policy != nullptr ? &RepOf(policy) : nullptr;
}

miodb_compactionfilter_t* miodb_compactionfilter_create(void* state, void (*destructor)(void*), FilterFunction filter,
                                                        void (*delete_value)(void*, const char*, size_t),
                                                        const char* (*name)(void*)) {
  return new miodb_compactionfilter_t{{state, destructor, filter, delete_value, name}};
}
void miodb_compactionfilter_destroy(miodb_compactionfilter_t* filter) { delete filter; }

void miodb_options_set_compaction_filter(leveldb_options_t* options, miodb_compactionfilter_t* filter) {
  DCHECK(options != nullptr);
  RepOf(options).compaction_filter = filter != nullptr ? &RepOf(filter) : nullptr;
}

}  // extern "C"
