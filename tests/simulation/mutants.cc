#include "tests/simulation/mutants.h"

#include <algorithm>

namespace miodb::sim {

namespace {

const char* KindName(SiteKind kind) {
  switch (kind) {
    case SiteKind::kCopy:
      return "copy";
    case SiteKind::kFlush:
      return "flush";
    case SiteKind::kFence:
      return "fence";
  }
  return "";
}

const char* FaultText(SiteKind kind) {
  switch (kind) {
    case SiteKind::kCopy:
      return "stores of this copy not flushed";
    case SiteKind::kFlush:
      return "flush left out";
    case SiteKind::kFence:
      return "fence left out";
  }
  return "";
}

}  // namespace

std::vector<Mutant> AllMutants() {
  std::vector<Mutant> mutants;
  for (int site = 0; site < Sites::Count(); site++) {
    const SiteKind kind = Sites::KindOf(site);
    mutants.push_back({std::string(KindName(kind)) + ":" + Sites::Name(site), FaultText(kind), {site, kind}});
  }
  std::sort(mutants.begin(), mutants.end(), [](const Mutant& a, const Mutant& b) { return a.name < b.name; });
#define MIODB_MUTATION_ENTRY(mutation, what) mutants.push_back({#mutation, what, {}, Mutation::mutation});
  MIODB_MUTATIONS(MIODB_MUTATION_ENTRY)
#undef MIODB_MUTATION_ENTRY
  return mutants;
}

bool FindMutant(const std::string& name, Mutant* mutant) {
  for (Mutant& candidate : AllMutants()) {
    if (candidate.name != name) continue;
    *mutant = std::move(candidate);
    return true;
  }
  return false;
}

}  // namespace miodb::sim
