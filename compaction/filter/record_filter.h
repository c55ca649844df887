// RecordFilter: what becomes of a record on its way to a copy, by the compaction filter of the user. The one place that
// asks it: what the user sees of keys and values is made here from what is stored.
//
// Threads: one. Ownership: what it is made of outlives it.

#ifndef MIODB_COMPACTION_FILTER_RECORD_FILTER_H_
#define MIODB_COMPACTION_FILTER_RECORD_FILTER_H_

#include <cstdint>
#include <string>

#include "compaction/filter/version_filter.h"
#include "miodb/compaction_filter.h"
#include "src/format/record.h"
#include "src/util/bytes/key_order.h"

namespace miodb {

class RecordFilter {
 public:
  // order: of the keys, which knows whether there are column families. filter: null: everything is kept. level: where
  // records go, as the filter is told. now_micros: what has expired by then is not asked about.
  RecordFilter(const KeyOrder& order, const CompactionFilter* filter, int level, const VersionFilter* versions,
               uint64_t now_micros)
      : order_(order), filter_(filter), level_(level), versions_(versions), now_micros_(now_micros) {
    CHECK(versions_ != nullptr && level_ >= 0);
  }

  enum class Action : uint8_t {
    kKeep,
    kDrop,     // it leaves nothing
    kReplace,  // replacement() is written instead
  };

  // newest: the output has no newer version of the key. The filter does not judge a put below an operand, because the
  // removal of a base would leave half a value. bottom: nothing older than the inputs has the key, so that a removal
  // needs no tombstone.
  Action Ask(const RecordView& record, bool newest, bool bottom) {
    return filter_ == nullptr || (!newest && record.type() != kTypeMerge) ? Action::kKeep : AskFilter(record, bottom);
  }

  // Valid until the next Ask. Key and record share their bytes.
  const RecordView& replacement() const { return replacement_; }

 private:
  Action AskFilter(const RecordView& record, bool bottom);

  const KeyOrder order_;
  const CompactionFilter* const filter_;
  const int level_;
  const VersionFilter* const versions_;
  const uint64_t now_micros_;
  RecordView replacement_;
  std::string new_value_;
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_FILTER_RECORD_FILTER_H_
