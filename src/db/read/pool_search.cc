#include "src/db/read/pool_search.h"

#include "src/util/check/check.h"
#include "src/util/clock/perf_clock.h"

namespace miodb {

// The order in which a get asks: the first source that has the key has its newest version.
PoolSources::PoolSources(const ReadState& state, const KeyOrder& key_order) : order(key_order) {
  DCHECK(state.memtable != nullptr && state.version != nullptr);
  memtables.push_back(state.memtable.get());
  for (const MemTableRef& memtable : state.immutables) memtables.push_back(memtable.get());
  runs = state.version->runs;
}

// A run of several tables has its filter asked for when its turn comes: which one it is takes a search.
void PoolSearch::Start(const PoolSources& sources, const LookupKey& key, size_t index) {
  DCHECK(!sources.memtables.empty());
  sources_ = &sources;
  key_ = &key;
  index_ = index;
  source_ = 0;
  stage_ = Stage::kBetween;
  found_ = false;
  status_ = Status::OK();
  for (const MemTable* memtable : sources.memtables) memtable->Prefetch(key);
  for (const Run* run : sources.runs) {
    if (run->tables.size() == 1) __builtin_prefetch(run->tables.front()->FilterLine(key));
  }
}

// Goes to the next source that can have the key, as far as that is known without its filter.
PoolSearch::Next PoolSearch::EnterNext(PrefetchList* wanted) {
  DCHECK(stage_ == Stage::kBetween);
  const size_t memtables = sources_->memtables.size();
  while (source_ < memtables + sources_->runs.size()) {
    const size_t source = source_++;
    if (source < memtables) {
      memtable_.Start(*sources_->memtables[source]);
      stage_ = Stage::kMemTable;
      return Next::kReady;
    }
    const Run& run = *sources_->runs[source - memtables];
    const PMTable* const table = run.TableFor(sources_->order, key_->key);
    if (table == nullptr) continue;
    table_.Start(*table);
    stage_ = Stage::kTable;
    if (run.tables.size() == 1) return Next::kReady;
    wanted->Add(table->FilterLine(*key_), 1);
    return Next::kAskedFor;
  }
  return Next::kNone;
}

// True: the source has said all it can.
bool PoolSearch::StepInSource(PrefetchList* wanted) {
  DCHECK(stage_ != Stage::kBetween);
  if (stage_ == Stage::kTable) return table_.Step(*key_, wanted, &status_, &found_, &record_);
  PerfClock clock;
  const bool over = memtable_.Step(*key_, wanted, &status_, &found_, &record_);
  clock.Lap(&PerfContext::get_memtable);
  return over;
}

// A source that turns out not to have the key costs no turn of its own: the next one is entered at once, up to where
// its first line has to be waited for.
bool PoolSearch::Step(PrefetchList* wanted) {
  DCHECK(sources_ != nullptr && status_.ok() && !found_);
  for (;;) {
    if (stage_ != Stage::kBetween) {
      if (!StepInSource(wanted)) return false;
      stage_ = Stage::kBetween;
      if (!status_.ok() || found_) return true;
    }
    const Next next = EnterNext(wanted);
    if (next != Next::kReady) return next == Next::kNone;
  }
}

}  // namespace miodb
