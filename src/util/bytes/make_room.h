// MakeRoom: a place for another item in a list, made before a step that must not fail behind it.

#ifndef MIODB_SRC_UTIL_BYTES_MAKE_ROOM_H_
#define MIODB_SRC_UTIL_BYTES_MAKE_ROOM_H_

#include <vector>

namespace miodb {

// The next push_back needs no memory. A full list gets twice its length: reserve(size() + 1) takes exactly one place
// more, so a list that grows by it is moved as a whole for each item.
template <typename T>
void MakeRoom(std::vector<T>* list) {
  if (list->size() == list->capacity()) list->reserve(2 * list->size() + 1);
}

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_BYTES_MAKE_ROOM_H_
