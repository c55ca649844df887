// The rules for a table's header, so that its index can be read: the same for a table that is opened and for one that a
// checker or a repair looks at.

#ifndef MIODB_PMTABLE_TABLE_HEADER_H_
#define MIODB_PMTABLE_TABLE_HEADER_H_

#include <cstdint>
#include <string>

#include "src/format/index_node.h"

namespace miodb {

// Copies the header at p. False if these bytes are none, whatever bytes they are, or none of the pool with this secret.
bool ReadAnyTableHeader(const char* p, TableHeader* header);
bool ReadTableHeader(const char* p, uint64_t secret, TableHeader* header);

// Returns the problem of a header whose checksum and version are right, in an index extent of so many bytes; empty if
// there is none. The header comes from a medium, so nothing in it is taken on trust.
std::string TableHeaderProblem(const TableHeader& header, uint64_t extent_bytes, uint64_t number, bool bytewise);

}  // namespace miodb

#endif  // MIODB_PMTABLE_TABLE_HEADER_H_
