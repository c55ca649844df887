// Names of keys: the ones that Java YCSB and its C++ ports give.

#include "ycsbc/workload/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace miodb::ycsb {
namespace {

std::string Key(KeyHash hash, uint64_t number) {
  KeyBuffer buffer(/*is_hashed=*/true, hash, /*padding=*/1);
  return std::string(buffer.Make(number));
}

TEST(HashTest, KeysAreThoseOfTheReference) {
  EXPECT_EQ(Key(KeyHash::kJava, 0), "user6284781860667377211");
  EXPECT_EQ(Key(KeyHash::kJava, 1), "user8517097267634966620");
  EXPECT_EQ(Key(KeyHash::kJava, 2), "user1820151046732198393");
  EXPECT_EQ(Key(KeyHash::kJava, 3), "user4052466453699787802");
  EXPECT_EQ(Key(KeyHash::kJava, 99999), "user7592201923306675823");
}

TEST(HashTest, KeysOfTheCppPortsAreUnsigned) {
  EXPECT_EQ(Key(KeyHash::kCpp, 0), "user12161962213042174405");
  EXPECT_EQ(Key(KeyHash::kCpp, 1), "user9929646806074584996");
  EXPECT_EQ(Key(KeyHash::kCpp, 2), "user16626593026977353223");
  EXPECT_EQ(Key(KeyHash::kCpp, 3), "user14394277620009763814");
  EXPECT_EQ(Key(KeyHash::kCpp, 99999), "user10854542150402875793");
}

TEST(HashTest, OrderedKeysArePaddedNumbers) {
  KeyBuffer plain(/*is_hashed=*/false, KeyHash::kJava, 1);
  EXPECT_EQ(plain.Make(0), "user0");
  EXPECT_EQ(plain.Make(42), "user42");
  KeyBuffer padded(/*is_hashed=*/false, KeyHash::kJava, 6);
  EXPECT_EQ(padded.Make(42), "user000042");
  EXPECT_EQ(padded.Make(1234567), "user1234567");
  KeyBuffer widest(/*is_hashed=*/true, KeyHash::kCpp, KeyBuffer::kMaxPadding);
  EXPECT_EQ(widest.Make(0).size(), 4u + KeyBuffer::kMaxPadding);
}

}  // namespace
}  // namespace miodb::ycsb
