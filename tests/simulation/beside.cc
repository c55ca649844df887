#include "tests/simulation/beside.h"

#include <deque>
#include <string>

#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "tests/common/random/random.h"
#include "tests/simulation/db_peer.h"

namespace miodb::sim {

namespace {

// A writer between its reservation and the moment at which its caller would hear of it.
struct InFlight {
  enum class Next { kStore, kInsert, kFence, kPublish, kNothing };

  std::string key;
  Writer writer;
  WriteLanes::Pass pass;
  Next next = Next::kStore;
};

bool Enter(WriteLanes* lanes, const Update& update, InFlight* one) {
  one->key = Oracle::KeyText(update.key);
  CHECK(update.kind == Update::Kind::kPut || update.kind == Update::Kind::kDelete);  // as UpdatesOf draws them
  one->writer.type = update.kind == Update::Kind::kPut ? kTypeValue : kTypeDeletion;
  one->writer.key = one->key;
  one->writer.value = update.value;
  one->writer.count = 1;
  one->writer.body_bytes = RecordSize(one->key.size(), update.value.size());
  return WriteLanes::Fits(one->writer) && lanes->Enter(one->writer, &one->pass);
}

// The next step, if it need not wait.
void Advance(WriteLanes* lanes, InFlight* one) {
  using Next = InFlight::Next;
  switch (one->next) {
    case Next::kStore:
      if (!lanes->WindowReaches(one->pass)) return;
      lanes->Store(&one->pass);
      one->next = Next::kInsert;
      return;
    case Next::kInsert:
      lanes->Insert(one->pass);
      if (MIODB_MUTATED(kVisibleBeforeDurable)) lanes->Publish(one->pass, one->writer);
      one->next = Next::kFence;
      return;
    case Next::kFence:
      lanes->Fence(one->pass);
      one->next = MIODB_MUTATED(kVisibleBeforeDurable) ? Next::kNothing : Next::kPublish;
      return;
    case Next::kPublish:
      lanes->Publish(one->pass, one->writer);
      one->next = Next::kNothing;
      return;
    case Next::kNothing:
      return;
  }
}

}  // namespace

size_t WriteBeside(DB* db, SimMedium* medium, const std::vector<Update>& updates, uint64_t seed, Oracle* oracle) {
  CHECK_LE(updates.size(), static_cast<size_t>(kMostWriters));
  WriteLanes* const lanes = DBPeer::OpenLanes(db);
  if (lanes == nullptr) return 0;
  Random random(seed);
  std::deque<InFlight> writers;
  size_t visible = 0;
  bool room = true;
  while (visible < writers.size() || (room && writers.size() < updates.size())) {
    const size_t i = random.Uniform(writers.size() + 1);
    if (i < writers.size()) {
      medium->set_thread(kFirstWriterThread + static_cast<int>(i));
      Advance(lanes, &writers[i]);
    } else if (room && i < updates.size()) {
      oracle->Start({updates[i]});
      room = Enter(lanes, updates[i], &writers.emplace_back());
      if (!room) {
        writers.pop_back();
        oracle->Refuse();
      }
    }
    for (; visible < writers.size() && lanes->IsVisible(writers[visible].pass); visible++) {
      if (writers[visible].next != InFlight::Next::kNothing) break;
      oracle->AcknowledgeUpTo(writers[visible].pass.sequence);
    }
  }
  medium->set_thread(0);
  return writers.size();
}

}  // namespace miodb::sim
