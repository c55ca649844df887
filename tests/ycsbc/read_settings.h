// Settings from a few properties, for tests.

#ifndef MIODB_TESTS_YCSBC_READ_SETTINGS_H_
#define MIODB_TESTS_YCSBC_READ_SETTINGS_H_

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ycsbc/workload/settings.h"

namespace miodb::ycsb {

using Values = std::map<std::string, std::string>;

// 1000 records and operations, and over that "values".
inline Properties MakeProperties(const Values& values) {
  Properties properties;
  properties.Set("recordcount", "1000");
  properties.Set("operationcount", "1000");
  for (const auto& [name, value] : values) properties.Set(name, value);
  return properties;
}

inline Settings ReadSettings(const Values& values) {
  Settings settings;
  EXPECT_EQ(settings.Read(MakeProperties(values)), "");
  return settings;
}

}  // namespace miodb::ycsb

#endif  // MIODB_TESTS_YCSBC_READ_SETTINGS_H_
