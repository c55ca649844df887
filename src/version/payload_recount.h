// A recount of live bytes from the words of tables, against which the account of the manifest is held in builds with
// whole checks.
//
// Threads: one.

#ifndef MIODB_SRC_VERSION_PAYLOAD_RECOUNT_H_
#define MIODB_SRC_VERSION_PAYLOAD_RECOUNT_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pmtable/pmtable.h"
#include "src/util/check/check.h"
#include "src/version/edit/payload_place.h"
#include "src/version/version.h"

namespace miodb {

class PayloadRecount {
 public:
  // Whether the places have the bytes that the tables of the version refer to. A table is read when it is first met.
  bool Agrees(const Version& version, const std::map<PmRef, PayloadPlace>& places) {
    std::map<PmRef, uint64_t> live;
    std::unordered_map<uint64_t, Uses> tables;
    for (const Run* run : version.runs) {
      for (const TableRef& table : run->tables) {
        auto known = tables_.extract(table->number());
        const auto uses = known ? tables.insert(std::move(known)).position
                                : tables.emplace(table->number(), Count(*table, version.payload)).first;
        for (const auto& [offset, bytes] : uses->second) live[offset] += bytes;
      }
    }
    tables_ = std::move(tables);
    return live.size() == places.size() &&
           std::equal(live.begin(), live.end(), places.begin(), [](const auto& counted, const auto& place) {
             return counted.first == place.first && counted.second == place.second.live_bytes;
           });
  }

 private:
  using Uses = std::vector<std::pair<PmRef, uint64_t>>;  // bytes by the offsets of extents

  // Words that lead nowhere are counted at offset 0, where no extent is.
  static Uses Count(const PMTable& table, const ExtentList& payload) {
    std::map<PmRef, uint64_t> live;
    const Extent* last = nullptr;
    const Status s = ForEachWord(table, [&](IndexWord word) {
      if (last == nullptr || !last->Contains(word.ref())) last = FindExtent(payload, word.ref());
      DCHECK(last == nullptr || last->Contains(word.ref()));
      live[last != nullptr ? last->offset() : 0] += word.size();
      return true;
    });
    if (!s.ok()) live[0] += 1;
    return Uses(live.begin(), live.end());
  }

  std::unordered_map<uint64_t, Uses> tables_;  // by number
};

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_PAYLOAD_RECOUNT_H_
