#include "tests/common/environment.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__has_feature)
#define MIODB_HAS_FEATURE(x) __has_feature(x)
#else
#define MIODB_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || MIODB_HAS_FEATURE(address_sanitizer)
#define MIODB_ADDRESS_SANITIZER 1
#else
#define MIODB_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__) || MIODB_HAS_FEATURE(thread_sanitizer)
#define MIODB_THREAD_SANITIZER 1
#else
#define MIODB_THREAD_SANITIZER 0
#endif

namespace miodb::test {

namespace {

[[noreturn]] void Refuse(const char* variable, const char* value, const char* wanted) {
  std::fprintf(stderr, "%s is \"%s\"; it must be %s\n", variable, value, wanted);
  std::exit(2);
}

}  // namespace

Scale TestScale() {
  const char* const value = std::getenv("MIODB_TEST_SCALE");
  if (value == nullptr || *value == '\0' || std::strcmp(value, "quick") == 0) return Scale::kQuick;
  if (std::strcmp(value, "ci") == 0) return Scale::kCi;
  if (std::strcmp(value, "heavy") == 0) return Scale::kHeavy;
  Refuse("MIODB_TEST_SCALE", value, "quick, ci or heavy");
}

uint64_t ByScale(uint64_t quick, uint64_t ci, uint64_t heavy) {
  switch (TestScale()) {
    case Scale::kQuick:
      return quick;
    case Scale::kCi:
      return ci;
    case Scale::kHeavy:
      return heavy;
  }
  return quick;
}

bool RunsUnderSanitizer() { return MIODB_ADDRESS_SANITIZER || MIODB_THREAD_SANITIZER; }

bool RunsUnderThreadSanitizer() { return MIODB_THREAD_SANITIZER; }

std::vector<uint64_t> Seeds(uint64_t count, uint64_t first) {
  if (RunsUnderThreadSanitizer() && TestScale() == Scale::kQuick) count = (count + 3) / 4;
  const char* const value = std::getenv("MIODB_TEST_SEED");
  if (value != nullptr && *value != '\0') {
    char* end;
    first = std::strtoull(value, &end, 10);
    const uint64_t last = *end == '-' ? std::strtoull(end + 1, &end, 10) : first;
    if (*end != '\0' || last < first) Refuse("MIODB_TEST_SEED", value, "a decimal number, or FIRST-LAST");
    count = last - first + 1;
  }
  std::vector<uint64_t> seeds;
  for (uint64_t i = 0; i < count; i++) seeds.push_back(first + i);
  return seeds;
}

std::string Repeat(uint64_t seed) {
  const auto* const info = testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = info == nullptr ? "*" : std::string(info->test_suite_name()) + "." + info->name();
  const std::string program = testing::internal::GetArgvs().empty() ? "" : testing::internal::GetArgvs()[0];
  return "repeat with: MIODB_TEST_SEED=" + std::to_string(seed) + " " + program + " --gtest_filter='" + name + "'";
}

}  // namespace miodb::test
