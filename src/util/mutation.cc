#include "src/util/mutation.h"

#ifdef MIODB_MUTANTS

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace miodb {

namespace {

Mutation FromEnvironment() {
  const char* const wanted = std::getenv("MIODB_MUTANT");
  if (wanted == nullptr || *wanted == '\0') return Mutation::kNone;
#define MIODB_MUTATION_NAME(name, text) \
  if (std::strcmp(wanted, #name) == 0) return Mutation::name;
  MIODB_MUTATIONS(MIODB_MUTATION_NAME)
#undef MIODB_MUTATION_NAME
  std::fprintf(stderr, "MIODB_MUTANT is \"%s\", which is no mutation\n", wanted);
  std::exit(2);
}

}  // namespace

Mutation g_mutation = FromEnvironment();

}  // namespace miodb

#endif
