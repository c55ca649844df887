// How the tool miodb writes bytes: whatever is shown can be given back.

#include <gtest/gtest.h>

#include <string>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tools/miodb/terminal/text.h"

namespace miodb::tool {
namespace {

// Bytes of all kinds: anything, printable, and characters of UTF-8 of every length.
std::string RandomBytes(Random* random) {
  static const char* const kPieces[] = {
      "a",        "\\",           "\"",   "\n",       "\t",  "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
      "\xc2\x85", "\xed\xa0\x80", "\xff", "\xc0\x80", "\x7f"};
  std::string bytes;
  for (uint64_t left = random->Uniform(20); left > 0; left--) {
    if (random->Uniform(3) == 0) {
      bytes.push_back(static_cast<char>(random->Uniform(256)));
    } else {
      bytes += kPieces[random->Uniform(std::size(kPieces))];
    }
  }
  return bytes;
}

TEST(MiodbTextTest, WhatIsShownCanBeGivenBack) {
  Random random(test::Seeds(1)[0]);
  for (int i = 0; i < 20000; i++) {
    const std::string key = RandomBytes(&random), value = RandomBytes(&random);
    std::string back;
    const std::string text = ToText(key);
    EXPECT_TRUE(IsUtf8(text)) << ToHex(key);
    for (const char c : text) EXPECT_FALSE((c >= 0 && c < 0x20) || c == 0x7f) << ToHex(key);
    EXPECT_EQ("", FromText(text, &back));
    EXPECT_EQ(key, back);
    EXPECT_EQ("", FromHex(ToHex(key), &back));
    EXPECT_EQ(key, back);
    for (const bool hex : {false, true}) {
      const std::string family = random.OneIn(2) ? "" : "f" + RandomBytes(&random);
      const std::string line = ToJsonLine(family, key, value, hex);
      JsonLine read;
      EXPECT_TRUE(IsUtf8(line));
      EXPECT_EQ(std::string::npos, line.find('\n'));
      EXPECT_EQ("", FromJsonLine(line, &read)) << line;
      EXPECT_EQ(family, read.family);
      EXPECT_EQ(key, read.key);
      EXPECT_EQ(value, read.value);
      if (family.empty()) continue;
      EXPECT_EQ("", FromJsonLine(ToJsonFamilyLine(family, hex), &read));
      EXPECT_EQ(family, read.family);
      EXPECT_FALSE(read.key.has_value() || read.value.has_value());
    }
  }
}

TEST(MiodbTextTest, WrongTextAndWrongLinesAreRefusedWithAReason) {
  std::string key;
  JsonLine read;
  for (const char* const text : {"\\", "\\q", "\\x", "\\x1", "\\xg0", "a\\x0"})
    EXPECT_NE("", FromText(text, &key)) << text;
  for (const char* const hex : {"0", "0g", "zz", "000"}) EXPECT_NE("", FromHex(hex, &key)) << hex;
  for (const char* const line :
       {"", "x", "{", "{}", "[]", "{\"key\": \"a\"}", "{\"value\": \"a\"}", "{\"key\": \"a\", \"value\": 1}",
        "{\"key\": \"a\", \"value\": \"b\"} x", "{\"key\": \"a\", \"key_hex\": \"00\", \"value\": \"b\"}",
        "{\"key\": \"a\", \"value\": \"b\", \"time\": \"c\"}", "{\"key\": \"\\ud800\", \"value\": \"b\"}",
        "{\"key\": \"a\xff\", \"value\": \"b\"}", "{\"key\": \"a\", \"value\": \"b\"",
        "{\"key\": \"a\\q\", \"value\": \"\"}", "{\"key_hex\": \"abc\", \"value\": \"\"}", "{\"column_family\": \"\"}",
        "{\"column_family\": \"f\", \"key\": \"a\"}", "{\"column_family\": \"f\", \"column_family_hex\": \"00\"}"}) {
    EXPECT_NE("", FromJsonLine(line, &read)) << line;
  }
  EXPECT_EQ("", FromJsonLine("{ \"value\" : \"\\u00e9\\ud83d\\ude00\\/\" , \"key\":\"\" } ", &read));
  EXPECT_EQ("", read.key);
  EXPECT_EQ("\xc3\xa9\xf0\x9f\x98\x80/", read.value);
}

}  // namespace
}  // namespace miodb::tool
