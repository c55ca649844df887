// Has the headers of MioDB declare everything in namespace leveldb. Every C++ header of this folder begins with this
// one.
//
// The classes are really leveldb::DB and so on, and libleveldb, which is built from the same sources in the same way,
// defines them under these names. An alias (namespace leveldb = miodb) would be thinner, but programs reopen the
// namespace: "namespace leveldb { class DB; }" is an error beside an alias, and with using-declarations it declares
// another class. docs/leveldb_compat.md compares the ways.
//
// From here to the end of the translation unit the word miodb stands for leveldb, so headers of MioDB that are included
// later, and code that says miodb::Options, mean the same classes.

#ifndef MIODB_COMPAT_LEVELDB_MIODB_NAMESPACE_H_
#define MIODB_COMPAT_LEVELDB_MIODB_NAMESPACE_H_

#if defined(MIODB_INCLUDE_EXPORT_H_) && !defined(MIODB_AS_LEVELDB)
#error "a header of MioDB came first: include leveldb/*.h before miodb/*.h, or use only one of them in a source file"
#endif

#ifndef MIODB_AS_LEVELDB
#define MIODB_AS_LEVELDB
#endif

#ifndef miodb
#define miodb leveldb
#endif

#endif  // MIODB_COMPAT_LEVELDB_MIODB_NAMESPACE_H_
