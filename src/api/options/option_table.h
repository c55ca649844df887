// The ranges of all options, for an open.

#ifndef MIODB_SRC_API_OPTIONS_OPTION_TABLE_H_
#define MIODB_SRC_API_OPTIONS_OPTION_TABLE_H_

#include <cstdint>

#include "miodb/options.h"
#include "miodb/status.h"

namespace miodb {

// The largest pool that the table allows.
inline constexpr uint64_t kMostPoolBytes = uint64_t{1} << 47;

// InvalidArgument for the first option out of its range, naming the option, its value and the range. Options of the
// SSD tier are looked at only with ssd_path.
//   least_bytes  sizes may be as small as this even where the table says more; INT64_MAX: as the table says
//   page_bytes   sizes in pages are multiples of this
Status CheckRanges(const Options& options, int64_t least_bytes, uint64_t page_bytes);

}  // namespace miodb

#endif  // MIODB_SRC_API_OPTIONS_OPTION_TABLE_H_
