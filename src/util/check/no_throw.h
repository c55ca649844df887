// Nothing is thrown across the API: what the standard library throws becomes a status. Reasons are mostly lack of
// memory, but also a container that would be too long, a thread that cannot be started, and a source of random numbers
// that is not there.

#ifndef MIODB_SRC_UTIL_CHECK_NO_THROW_H_
#define MIODB_SRC_UTIL_CHECK_NO_THROW_H_

#include <exception>
#include <new>

#include "miodb/status.h"

namespace miodb {

// Returns the status of call(), or an IOError of this place for what it threw. Making this error needs no memory.
template <typename Call>
Status NoThrow(const Slice& place, Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status::IOError(place, "out of memory");
  } catch (const std::exception& error) {
    return Status::IOError(place, error.what());
  }
}

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_CHECK_NO_THROW_H_
