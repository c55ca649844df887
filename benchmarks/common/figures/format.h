// A text by a format of printf.

#ifndef MIODB_BENCHMARKS_COMMON_FIGURES_FORMAT_H_
#define MIODB_BENCHMARKS_COMMON_FIGURES_FORMAT_H_

#include <cstdarg>
#include <cstdio>
#include <string>

namespace miodb::bench {

// The text, of whatever length. Threads: any.
[[gnu::format(printf, 1, 2)]] inline std::string Format(const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  return text;
}

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_FIGURES_FORMAT_H_
