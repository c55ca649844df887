// The store descriptor and the marks of owners: what is read is what was written, or nothing.

#include "src/format/store_descriptor.h"

#include <gtest/gtest.h>

#include <string>

#include "src/format/owner_mark.h"
#include "src/format/record.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/crc32c.h"

namespace miodb::test {
namespace {

StoreDescriptor Example() {
  StoreDescriptor store;
  store.state = StoreState::kInUse;
  for (uint8_t i = 0; i < kUuidBytes; i++) {
    store.pool[i] = i;
    store.successor[i] = static_cast<uint8_t>(0xf0 + i);
  }
  store.pool_path = "/mnt/pmem/pool";
  store.directory = "/var/lib/db";
  store.log = {0x123456789abcdef0, 3, true, "/mnt/log"};
  store.ssd_path = std::string("\0/ssd", 5);
  store.regions = {{store.successor, "/mnt/pmem1/region"}, {store.pool, ""}};
  store.former_ids = {1, 0xffffffffffffffff};
  store.log_reach = 0x5cba9876543210;
  store.ssd_state = "an edit";
  return store;
}

// Makes the checksum right again.
std::string Sealed(std::string content) {
  EncodeFixed32(&content[12], MaskedCrc(Crc32c(content.data() + 16, content.size() - 16)));
  return content;
}

using Origin = StoreDescriptor::Origin;

StoreDescriptor ExampleOfCopy() {
  StoreDescriptor store = Example();
  store.origin = {Origin::State::kUpTo, store.successor, store.pool, 0x23456789abcdef};
  return store;
}

TEST(StoreDescriptorTest, IsReadAsItWasWritten) {
  for (const StoreDescriptor& written : {Example(), StoreDescriptor(), ExampleOfCopy()}) {
    StoreDescriptor read = Example();
    ASSERT_TRUE(read.DecodeFrom(written.Encode()));
    EXPECT_TRUE(read == written);
  }
}

TEST(StoreDescriptorTest, NoBitMayBeOtherAndNoByteMissing) {
  StoreDescriptor store;
  for (const std::string& content : {Example().Encode(), ExampleOfCopy().Encode()}) {
    for (size_t i = 0; i < content.size() * 8; i++) {
      std::string flipped = content;
      flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << (i % 8)));
      EXPECT_FALSE(store.DecodeFrom(flipped)) << "bit " << i;
    }
    for (size_t size = 0; size < content.size(); size++) {
      EXPECT_FALSE(store.DecodeFrom(content.substr(0, size))) << size << " bytes";
      if (size < 16) continue;
      EXPECT_FALSE(store.DecodeFrom(Sealed(content.substr(0, size)))) << size << " bytes, sealed";
    }
    EXPECT_FALSE(store.DecodeFrom(Sealed(content + '\0')));
  }
}

TEST(StoreDescriptorTest, StatesAndVersionsThatAreNoneAreRefused) {
  StoreDescriptor store;
  for (int state = 0; state < 256; state++) {
    std::string content = Example().Encode();
    content[16] = static_cast<char>(state);
    EXPECT_EQ(state == 1 || state == 2, store.DecodeFrom(Sealed(content))) << state;
    content = Example().Encode();
    content[17] = static_cast<char>(state);
    EXPECT_EQ(state == 0 || state == 1, store.DecodeFrom(Sealed(content))) << state;
  }
  std::string content = Example().Encode();
  content[8] = 1;
  EXPECT_FALSE(store.DecodeFrom(Sealed(content)));
}

// A database that is no copy is read by earlier versions too.
TEST(StoreDescriptorTest, AnOriginHasAVersionAndAFewStates) {
  EXPECT_EQ(3, Example().Encode()[8]);
  EXPECT_EQ(4, ExampleOfCopy().Encode()[8]);
  StoreDescriptor store;
  const size_t at = Example().Encode().size();  // of the state, which the origin begins with
  for (int state = 0; state < 256; state++) {
    StoreDescriptor written = ExampleOfCopy();
    if (state != 3) written.origin = {Origin::State::kFollows, written.pool, written.successor, 0};
    std::string content = written.Encode();
    content[at] = static_cast<char>(state);
    EXPECT_EQ(state >= 1 && state <= 3, store.DecodeFrom(Sealed(content))) << state;
  }
  std::string content = ExampleOfCopy().Encode();
  content.back() = 1;
  EXPECT_FALSE(store.DecodeFrom(Sealed(content))) << "a sequence that there cannot be";
  content = ExampleOfCopy().Encode();
  content[8] = 3;
  EXPECT_FALSE(store.DecodeFrom(Sealed(content))) << "a version without an origin";
  content = Example().Encode();
  content[8] = 4;
  EXPECT_FALSE(store.DecodeFrom(Sealed(content))) << "an origin that is missing";
}

TEST(StoreDescriptorTest, CountsThatAreNotThereCostNoMemory) {
  StoreDescriptor empty, store;
  std::string content = empty.Encode();
  content.resize(content.size() - 11);  // without the two counts and what follows
  PutVarint32(&content, UINT32_MAX);
  EXPECT_FALSE(store.DecodeFrom(Sealed(content)));
}

// Whoever reads more than can be written would fail when it is to be written again.
TEST(StoreDescriptorTest, WhatCouldNotBeWrittenIsNotRead) {
  StoreDescriptor store;
  store.regions.resize(kMaxRegions - 1);
  StoreDescriptor read;
  EXPECT_TRUE(read.DecodeFrom(store.Encode()));
  // One region more than there can be.
  std::string content = StoreDescriptor().Encode();
  const size_t counts = content.size() - 11;  // without the two counts and what follows
  std::string more = content.substr(0, counts);
  PutVarint32(&more, static_cast<uint32_t>(kMaxRegions));
  more.append(static_cast<size_t>(kMaxRegions) * (kUuidBytes + 1), '\0');
  more += content.substr(counts + 1);
  EXPECT_FALSE(read.DecodeFrom(Sealed(more)));
  // A sequence that there cannot be.
  store = StoreDescriptor();
  store.log_reach = kMostReadSequence;
  content = store.Encode();
  EXPECT_TRUE(read.DecodeFrom(content));
  content[content.size() - 2] = 1;
  EXPECT_FALSE(read.DecodeFrom(Sealed(content)));
  // A number in more bytes than it needs.
  content = StoreDescriptor().Encode();
  content[counts] = static_cast<char>(0x80);
  content.insert(counts + 1, 1, '\0');
  EXPECT_FALSE(read.DecodeFrom(Sealed(content)));
}

TEST(OwnerMarkTest, IsReadAsItWasWrittenAndNoBitMayBeOther) {
  const OwnerMark written{OwnerKind::kSsd, 0x123456789abcdef0, 0x1234, 77};
  OwnerMark read;
  const std::string content = written.Encode();
  ASSERT_TRUE(read.DecodeFrom(content, OwnerKind::kSsd));
  EXPECT_TRUE(read == written);
  EXPECT_FALSE(read.DecodeFrom(content, OwnerKind::kLog));
  for (size_t i = 0; i < content.size() * 8; i++) {
    std::string flipped = content;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << (i % 8)));
    EXPECT_FALSE(read.DecodeFrom(flipped, OwnerKind::kSsd)) << "bit " << i;
  }
  for (size_t size = 0; size < content.size(); size++) {
    EXPECT_FALSE(read.DecodeFrom(content.substr(0, size), OwnerKind::kSsd)) << size << " bytes";
  }
}

}  // namespace
}  // namespace miodb::test
