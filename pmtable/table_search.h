// PMTable::Search: a get in a table that is made in steps, so that those of many keys wait for memory together.
//
// Threads: one for each search. Ownership: the table has to outlive it.

#ifndef MIODB_PMTABLE_TABLE_SEARCH_H_
#define MIODB_PMTABLE_TABLE_SEARCH_H_

#include <cstdint>

#include "pmtable/pmtable.h"
#include "src/util/bytes/prefetch.h"

namespace miodb {

class PMTable::Search {
 public:
  // The first step asks the filter, whose line (FilterLine) should have been asked for some time before it.
  void Start(const PMTable& table);

  // Does what Get does until it would wait for memory, and adds that memory to what is wanted. True: there are no more
  // steps, and *s, *found and *record are what Get would have given. *s is OK before the first step. The key is the
  // same in all steps.
  bool Step(const LookupKey& key, PrefetchList* wanted, Status* s, bool* found, RecordView* record);

 private:
  enum class Stage : uint8_t { kFilter, kInner, kLeaf, kWord, kRecord };

  void AskForNode(PrefetchList* wanted);
  void AskForLeaf(PrefetchList* wanted);
  bool AskForWord(PrefetchList* wanted);

  const PMTable* table_ = nullptr;
  Stage stage_ = Stage::kFilter;
  uint64_t node_ = 0;     // on the lowest inner level, then the leaf
  uint64_t matches_ = 0;  // of the leaf, those not read yet
  IndexWord word_;        // of the first of them
};

}  // namespace miodb

#endif  // MIODB_PMTABLE_TABLE_SEARCH_H_
