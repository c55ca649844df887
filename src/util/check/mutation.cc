#include "src/util/check/mutation.h"

#ifdef MIODB_MUTANTS

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace miodb {

namespace {

// Only programs built with MIODB_MUTANTS have this: each mutation breaks one step of the engine, and the crash tests
// have to notice every one (docs/crash_model.md, "Mutation score"). A name that is unknown ends the process, since a
// run of the tests with no mutation at all would look like a mutation that nobody noticed.
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

// Set once before main, and read everywhere without order: it never changes.
Mutation g_mutation = FromEnvironment();

}  // namespace miodb

#endif
