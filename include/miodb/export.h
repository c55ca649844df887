// Marks what the shared library exports. Everything else is built with hidden visibility, so that programs can use
// nothing but what the public headers declare, and other libraries in the process never meet the names inside. A check
// lets no other names out (tools/checks/check_exports.sh).

#ifndef MIODB_INCLUDE_EXPORT_H_
#define MIODB_INCLUDE_EXPORT_H_

#if defined(__GNUC__) || defined(__clang__)
#define MIODB_EXPORT __attribute__((visibility("default")))
#else
#define MIODB_EXPORT
#endif

#endif  // MIODB_INCLUDE_EXPORT_H_
