// Records: their layout, what an update leaves alone, and values that can be verified.

#include "ycsbc/workload/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tests/ycsbc/read_settings.h"

namespace miodb::ycsb {
namespace {

std::map<std::string, std::string> Decode(std::string_view record) {
  std::map<std::string, std::string> fields;
  Field field;
  while (NextField(&record, &field)) fields.emplace(field.name, field.value);
  EXPECT_TRUE(record.empty());
  return fields;
}

TEST(RecordTest, LayoutIsLengthNameLengthValue) {
  const Settings s = ReadSettings({{"fieldcount", "1"}, {"fieldlength", "3"}});
  const RecordShape shape(s);
  RecordWriter writer(shape, s);
  bench::Random random(1);
  const std::string record(writer.Build("user1", &random));
  EXPECT_EQ(record.substr(0, 14), std::string("\x06\0\0\0field0\x03\0\0\0", 14));
  EXPECT_EQ(record.size(), 17u);
  EXPECT_EQ(record.size(), shape.max_record_bytes());
}

TEST(RecordTest, ValuesArePrintableAndDiffer) {
  const Settings s = ReadSettings({});
  const RecordShape shape(s);
  RecordWriter writer(shape, s);
  bench::Random random(1);
  std::set<std::string> values;
  for (int i = 0; i < 100; i++) {
    const auto fields = Decode(writer.Build("user1", &random));
    ASSERT_EQ(fields.size(), 10u);
    for (int f = 0; f < 10; f++) {
      const std::string& value = fields.at("field" + std::to_string(f));
      EXPECT_EQ(value.size(), 100u);
      EXPECT_TRUE(std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; }));
      // Not one character repeated.
      EXPECT_GT(std::set<char>(value.begin(), value.end()).size(), 30u);
      values.insert(value);
    }
  }
  EXPECT_EQ(values.size(), 1000u);
}

TEST(RecordTest, FieldsVaryInLengthWhereAskedFor) {
  const Settings s = ReadSettings({{"fieldlengthdistribution", "uniform"}, {"fieldlength", "30"}, {"fieldcount", "2"}});
  const RecordShape shape(s);
  RecordWriter writer(shape, s);
  bench::Random random(1);
  std::set<size_t> lengths;
  for (int i = 0; i < 2000; i++) {
    for (const auto& [name, value] : Decode(writer.Build("user1", &random))) lengths.insert(value.size());
  }
  EXPECT_EQ(lengths.size(), 30u);
  EXPECT_EQ(*lengths.begin(), 1u);
  EXPECT_EQ(*lengths.rbegin(), 30u);
}

TEST(RecordTest, ReplaceChangesOneFieldAndKeepsTheOthers) {
  const Settings s = ReadSettings({{"fieldcount", "3"}});
  const RecordShape shape(s);
  RecordWriter writer(shape, s);
  bench::Random random(1);
  const std::string before(writer.Build("user1", &random));
  const std::string after(writer.Replace(before, "user1", 1, &random));
  auto old_fields = Decode(before);
  auto new_fields = Decode(after);
  EXPECT_EQ(after.size(), before.size());
  EXPECT_EQ(new_fields["field0"], old_fields["field0"]);
  EXPECT_NE(new_fields["field1"], old_fields["field1"]);
  EXPECT_EQ(new_fields["field2"], old_fields["field2"]);
  // A record that is built afterwards is whole again.
  EXPECT_EQ(Decode(writer.Build("user1", &random)).size(), 3u);
}

TEST(RecordTest, ReplaceTakesLargerRecordsThanItsOwnAndAddsAMissingField) {
  const Settings large = ReadSettings({{"fieldcount", "4"}, {"fieldlength", "5000"}});
  const Settings small = ReadSettings({{"fieldcount", "6"}, {"fieldlength", "10"}});
  const RecordShape large_shape(large);
  const RecordShape small_shape(small);
  RecordWriter large_writer(large_shape, large);
  RecordWriter small_writer(small_shape, small);
  bench::Random random(1);
  const std::string record(large_writer.Build("user1", &random));
  auto fields = Decode(small_writer.Replace(record, "user1", 5, &random));
  EXPECT_EQ(fields.size(), 5u);
  EXPECT_EQ(fields["field3"].size(), 5000u);
  EXPECT_EQ(fields["field5"].size(), 10u);
}

TEST(RecordTest, BytesThatAreNoRecordAreSeen) {
  const Settings s = ReadSettings({});
  const RecordShape shape(s);
  RecordWriter writer(shape, s);
  bench::Random random(1);
  const std::string record(writer.Build("user1", &random));
  Field field;
  bool is_sound = false;
  EXPECT_TRUE(FindField(record, "field9", &field, &is_sound));
  EXPECT_TRUE(is_sound);
  EXPECT_FALSE(FindField(record, "field10", &field, &is_sound));
  EXPECT_TRUE(is_sound);
  for (size_t length = 1; length < record.size(); length++) {
    FindField(record.substr(0, length), "none", &field, &is_sound);
    const bool is_boundary = length % 114 == 0;  // Between two fields.
    EXPECT_EQ(is_sound, is_boundary) << length;
  }
  EXPECT_TRUE(writer.Replace(record.substr(1), "user1", 0, &random).empty());
}

TEST(RecordTest, VerifiableValuesFollowFromKeyAndField) {
  const Settings s = ReadSettings({{"dataintegrity", "true"}});
  const RecordShape shape(s);
  RecordWriter writer(shape, s);
  bench::Random random(1);
  const std::string record(writer.Build("user1", &random));
  EXPECT_EQ(record, std::string(writer.Build("user1", &random)));
  EXPECT_EQ(Decode(record)["field3"].substr(0, 13), "user1:field3:");
  EXPECT_TRUE(writer.Verify("user1", record));
  EXPECT_TRUE(writer.Verify("user1", std::string(writer.Replace(record, "user1", 4, &random))));
  EXPECT_FALSE(writer.Verify("user2", record));
  EXPECT_FALSE(writer.Verify("user1", record.substr(0, 114)));  // A field is missing.
  for (size_t i = 0; i < record.size(); i++) {
    std::string damaged = record;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(writer.Verify("user1", damaged)) << i;
  }
}

TEST(RecordTest, ShortVerifiableValuesAreCut) {
  char value[8];
  FillVerifiable("user1", "field0", value, sizeof(value));
  EXPECT_EQ(std::string(value, 8), "user1:fi");
}

}  // namespace
}  // namespace miodb::ycsb
