// Assertions about our own making: what fails here is a bug in this program, never bytes from a medium or arguments
// from a user, which get a Status.
//
//   CHECK(cond)            always on: prints file, line and expression to stderr and aborts
//   CHECK_EQ(a, b) ...     the same for ==, !=, <, <=, >, >=, and prints both values
//   DCHECK..., the same but compiled to nothing with NDEBUG, arguments not evaluated; for hot paths
//
// Each argument is evaluated once. Integers of different signedness are compared by value.

#ifndef MIODB_SRC_UTIL_CHECK_CHECK_H_
#define MIODB_SRC_UTIL_CHECK_CHECK_H_

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace miodb {
namespace check_internal {

// Prints and aborts. "values" is empty or what the two sides were.
[[noreturn]] void Fail(const char* file, int line, const char* expression, const std::string& values);

std::string FormatPointer(const void* p);

// A value for people. Types that are neither numbers, pointers nor strings print as "?".
template <typename T>
std::string Format(const T& v) {
  if constexpr (std::is_same_v<T, bool>) {
    return v ? "true" : "false";
  } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
    return "nullptr";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(v);
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<std::underlying_type_t<T>>(v));
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return "\"" + std::string(std::string_view(v)) + "\"";
  } else if constexpr (std::is_pointer_v<T>) {
    return FormatPointer(reinterpret_cast<const void*>(v));
  } else if constexpr (requires { std::string(v.ToString()); }) {
    return "\"" + v.ToString() + "\"";
  } else {
    return "?";
  }
}

template <typename T>
inline constexpr bool kComparedByValue = std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>;

#define MIODB_DEFINE_COMPARISON(name, op, by_value)             \
  template <typename A, typename B>                             \
  constexpr bool name(const A& a, const B& b) {                 \
    if constexpr (kComparedByValue<A> && kComparedByValue<B>) { \
      return by_value(a, b);                                    \
    } else {                                                    \
      return a op b;                                            \
    }                                                           \
  }
MIODB_DEFINE_COMPARISON(Eq, ==, std::cmp_equal)
MIODB_DEFINE_COMPARISON(Ne, !=, std::cmp_not_equal)
MIODB_DEFINE_COMPARISON(Lt, <, std::cmp_less)
MIODB_DEFINE_COMPARISON(Le, <=, std::cmp_less_equal)
MIODB_DEFINE_COMPARISON(Gt, >, std::cmp_greater)
MIODB_DEFINE_COMPARISON(Ge, >=, std::cmp_greater_equal)
#undef MIODB_DEFINE_COMPARISON

// Apart from the comparison, so that the code where the check stands stays small.
template <typename A, typename B>
[[noreturn, gnu::noinline, gnu::cold]] void FailComparison(const char* file, int line, const char* expression,
                                                           const A& a, const B& b) {
  Fail(file, line, expression, Format(a) + " and " + Format(b));
}

}  // namespace check_internal
}  // namespace miodb

#define CHECK(cond)                                     \
  (__builtin_expect(!!(cond), 1) ? static_cast<void>(0) \
                                 : ::miodb::check_internal::Fail(__FILE__, __LINE__, #cond, ::std::string()))

#define MIODB_CHECK_COMPARISON(name, op, a, b)                                                                      \
  do {                                                                                                              \
    const auto& miodb_check_a = (a);                                                                                \
    const auto& miodb_check_b = (b);                                                                                \
    if (!__builtin_expect(::miodb::check_internal::name(miodb_check_a, miodb_check_b), 1)) {                        \
      ::miodb::check_internal::FailComparison(__FILE__, __LINE__, #a " " #op " " #b, miodb_check_a, miodb_check_b); \
    }                                                                                                               \
  } while (false)

#define CHECK_EQ(a, b) MIODB_CHECK_COMPARISON(Eq, ==, a, b)
#define CHECK_NE(a, b) MIODB_CHECK_COMPARISON(Ne, !=, a, b)
#define CHECK_LT(a, b) MIODB_CHECK_COMPARISON(Lt, <, a, b)
#define CHECK_LE(a, b) MIODB_CHECK_COMPARISON(Le, <=, a, b)
#define CHECK_GT(a, b) MIODB_CHECK_COMPARISON(Gt, >, a, b)
#define CHECK_GE(a, b) MIODB_CHECK_COMPARISON(Ge, >=, a, b)

// With NDEBUG the arguments are still compiled, so that they cannot rot and their variables count as used.
#ifndef NDEBUG
#define MIODB_DCHECK(check) check
#else
#define MIODB_DCHECK(check) \
  do {                      \
    if (false) {            \
      check;                \
    }                       \
  } while (false)
#endif

namespace miodb {

// Whether objects check all of themselves after every change: in debug builds, and under the simulator.
#if !defined(NDEBUG) || defined(MIODB_SIMULATOR)
inline constexpr bool kChecksWhole = true;
#else
inline constexpr bool kChecksWhole = false;
#endif

}  // namespace miodb

#define DCHECK(cond) MIODB_DCHECK(CHECK(cond))
#define DCHECK_EQ(a, b) MIODB_DCHECK(CHECK_EQ(a, b))
#define DCHECK_NE(a, b) MIODB_DCHECK(CHECK_NE(a, b))
#define DCHECK_LT(a, b) MIODB_DCHECK(CHECK_LT(a, b))
#define DCHECK_LE(a, b) MIODB_DCHECK(CHECK_LE(a, b))
#define DCHECK_GT(a, b) MIODB_DCHECK(CHECK_GT(a, b))
#define DCHECK_GE(a, b) MIODB_DCHECK(CHECK_GE(a, b))

#endif  // MIODB_SRC_UTIL_CHECK_CHECK_H_
