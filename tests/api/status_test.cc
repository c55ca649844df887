#include "miodb/status.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace miodb {
namespace {

struct Kind {
  Status status;
  const char* text;
  bool (Status::*is)() const;
};

std::vector<Kind> AllErrors() {
  return {
      {Status::NotFound("a", "b"), "NotFound: a: b", &Status::IsNotFound},
      {Status::Corruption("a", "b"), "Corruption: a: b", &Status::IsCorruption},
      {Status::NotSupported("a", "b"), "Not implemented: a: b", &Status::IsNotSupportedError},
      {Status::InvalidArgument("a", "b"), "Invalid argument: a: b", &Status::IsInvalidArgument},
      {Status::IOError("a", "b"), "IO error: a: b", &Status::IsIOError},
      {Status::NoSpace("a", "b"), "No space: a: b", &Status::IsNoSpace},
      {Status::Busy("a", "b"), "Resource busy: a: b", &Status::IsBusy},
      {Status::MergeInProgress("a", "b"), "Merge in progress: a: b", &Status::IsMergeInProgress},
  };
}

TEST(StatusTest, OkIsNoErrorAndOnePointer) {
  const Status s;
  EXPECT_TRUE(s.ok());
  EXPECT_EQ("OK", s.ToString());
  EXPECT_TRUE(Status::OK().ok());
  EXPECT_EQ(sizeof(void*), sizeof(Status));
  for (const Kind& kind : AllErrors()) EXPECT_FALSE((s.*kind.is)()) << kind.text;
}

TEST(StatusTest, EveryErrorIsItsOwnKindOnly) {
  const std::vector<Kind> kinds = AllErrors();
  for (size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_FALSE(kinds[i].status.ok());
    EXPECT_EQ(kinds[i].text, kinds[i].status.ToString());
    for (size_t j = 0; j < kinds.size(); ++j) EXPECT_EQ(i == j, (kinds[i].status.*kinds[j].is)()) << i << " " << j;
  }
}

TEST(StatusTest, WithoutASecondMessageThereIsNoColon) {
  EXPECT_EQ("IO error: file", Status::IOError("file").ToString());
  EXPECT_EQ("NotFound: ", Status::NotFound("").ToString());
}

TEST(StatusTest, MessagesAreCopiedWithEveryByte) {
  std::string message("a\0b", 3);
  const Status s = Status::IOError(message, "c");
  message = "gone";
  EXPECT_EQ(std::string("IO error: a\0b: c", 16), s.ToString());
}

TEST(StatusTest, ACopyIsIndependent) {
  Status a = Status::NoSpace("pool", "full");
  Status b = a;
  a = Status::OK();
  EXPECT_EQ("No space: pool: full", b.ToString());
  a = b;
  b = Status::IOError("x");
  EXPECT_EQ("No space: pool: full", a.ToString());
}

TEST(StatusTest, WhatIsMovedFromIsOk) {
  Status a = Status::Corruption("x");
  Status b = std::move(a);
  EXPECT_TRUE(a.ok());  // NOLINT: this is the promise
  EXPECT_TRUE(b.IsCorruption());
  Status c = Status::NotFound("y");
  c = std::move(b);
  EXPECT_TRUE(b.ok());  // NOLINT: this is the promise
  EXPECT_EQ("Corruption: x", c.ToString());
}

TEST(StatusTest, AssigningToItselfKeepsIt) {
  Status a = Status::Corruption("x");
  Status& same = a;
  a = same;
  EXPECT_EQ("Corruption: x", a.ToString());
  a = std::move(same);
  EXPECT_EQ("Corruption: x", a.ToString());
}

}  // namespace
}  // namespace miodb
