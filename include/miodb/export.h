// Marks what the shared library exports. Everything else is built with hidden visibility.

#ifndef MIODB_INCLUDE_EXPORT_H_
#define MIODB_INCLUDE_EXPORT_H_

#if defined(__GNUC__) || defined(__clang__)
#define MIODB_EXPORT __attribute__((visibility("default")))
#else
#define MIODB_EXPORT
#endif

#endif  // MIODB_INCLUDE_EXPORT_H_
