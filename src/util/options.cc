#include "miodb/options.h"

#include "miodb/comparator.h"
#include "miodb/env.h"

namespace miodb {

Options::Options() : comparator(BytewiseComparator()), env(Env::Default()) {}

}  // namespace miodb
