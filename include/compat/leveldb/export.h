/* Marks what libleveldb exports. Valid C and C++. */

#ifndef STORAGE_LEVELDB_INCLUDE_EXPORT_H_
#define STORAGE_LEVELDB_INCLUDE_EXPORT_H_

#ifndef LEVELDB_EXPORT
#if defined(__GNUC__) || defined(__clang__)
#define LEVELDB_EXPORT __attribute__((visibility("default")))
#else
#define LEVELDB_EXPORT
#endif
#endif

#endif /* STORAGE_LEVELDB_INCLUDE_EXPORT_H_ */
