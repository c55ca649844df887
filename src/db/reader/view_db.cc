// How a view is made of a state: the parts of a live database that read, over sources that nobody changes.

#include "src/db/reader/view_db.h"

#include <utility>

#include "src/db/calls/family_handles.h"
#include "src/db/context/db_context.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

namespace miodb {

namespace {

// Room for the root of an empty memtable.
constexpr size_t kViewBlockBytes = 16 * 1024;

// Nothing of a view would be told to a listener, and a view keeps no records besides those of its database.
Options OfView(Options options) {
  options.listeners.clear();
  options.record_cache_size = 0;
  return options;
}

}  // namespace

Status ViewDb::Make(const Options& options, const std::string& name, const DbHooks& hooks, ViewState state,
                    std::unique_ptr<ViewDb>* view) {
  CHECK(*view == nullptr && state.pool != nullptr && state.version != nullptr);
  CHECK_EQ(state.ssd != nullptr, state.version->ssd != nullptr);
  for (const MemTableRef& memtable : state.memtables) CHECK(memtable != nullptr);
  return NoThrow(name, [&] {
    view->reset(new ViewDb(options, name, hooks, std::move(state)));
    return Status::OK();
  });
}

// The gate comes first: what keys mean is asked from the first read on.
ViewDb::ViewDb(const Options& options, const std::string& name, const DbHooks& hooks, ViewState state)
    : context_(std::make_unique<DbContext>(OfView(options), name, hooks)),
      sources_(std::make_unique<ReadSources>()),
      read_(std::make_unique<ReadPath>(*context_, sources_.get())) {
  CHECK_GE(state.next_family, 1u);
  CHECK_LE(state.sequence, kMaxSequence);
  if (state.next_family > 1) context_->families.SetHasFamilies();
  handles_ = std::make_unique<FamilyHandles>(*context_, read_.get(), state.families);
  context_->info_log = options.info_log;
  context_->pool = std::move(state.pool);
  context_->ssd = std::move(state.ssd);
  context_->blocks = std::make_unique<BlockPool>(kViewBlockBytes, 0);
  auto newest = std::make_shared<MemTable>(context_->order, context_->blocks.get(), 0, context_->pool->secret());
  sources_->states.Publish(
      std::make_unique<ReadState>(std::move(newest), std::move(state.memtables), std::move(state.version)));
  sources_->last_sequence.store(state.sequence, std::memory_order_release);  // release: as by a leader
  Serve({context_.get(), sources_.get(), read_.get(), handles_.get()});
}

ViewDb::~ViewDb() {
  DCHECK(sources_->snapshots.empty());  // the user releases all snapshots before
}

Status ViewDb::Refusal() const {
  return context_->WithMemory(
      [this] { return Status::NotSupported(context_->name, "is a view of a savepoint, which nobody can write to"); });
}

}  // namespace miodb
