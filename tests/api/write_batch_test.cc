#include "miodb/write_batch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "src/api/batch/write_batch_internal.h"
#include "src/format/value_type.h"
#include "src/util/bytes/coding.h"
#include "tests/common/random/random.h"

namespace miodb {
namespace {

// The two places that number the updates; the batch may not include the formats above it.
static_assert(kBatchDeletion == kTypeDeletion && kBatchPut == kTypeValue);

// Writes down what it is handed.
class Recorder : public WriteBatch::Handler {
 public:
  void Put(const Slice& key, const Slice& value) override {
    text += "Put(" + key.ToString() + "," + value.ToString() + ")";
  }
  void Delete(const Slice& key) override { text += "Delete(" + key.ToString() + ")"; }

  std::string text;
};

std::string Print(const WriteBatch& batch) {
  Recorder recorder;
  const Status s = batch.Iterate(&recorder);
  return s.ok() ? recorder.text : recorder.text + s.ToString();
}

// The text that a reader makes of these bytes. Nothing lies behind them, so that a sanitizer sees each read beyond.
std::string Read(const std::string& rep) {
  const std::unique_ptr<char[]> exact(new char[rep.size()]);
  std::memcpy(exact.get(), rep.data(), rep.size());
  BatchReader reader(Slice(exact.get(), rep.size()));
  std::string text;
  uint8_t type;
  Slice key, value;
  while (reader.Next(&type, &key, &value)) {
    text +=
        type == kBatchPut ? "Put(" + key.ToString() + "," + value.ToString() + ")" : "Delete(" + key.ToString() + ")";
  }
  EXPECT_FALSE(reader.Next(&type, &key, &value));  // stays at its end
  return reader.corrupt() ? text + "Corrupt" : text;
}

std::string Bytes(const WriteBatch& batch) { return WriteBatchInternal::Contents(&batch).ToString(); }
uint64_t Sequence(const WriteBatch& batch) { return DecodeFixed64(Bytes(batch).data()); }

WriteBatch Example() {
  WriteBatch batch;
  batch.Put("foo", "bar");
  batch.Delete("box");
  batch.Put("baz", "");
  batch.Put("", "empty");
  return batch;
}

TEST(WriteBatchTest, ANewOneIsEmpty) {
  const WriteBatch batch;
  EXPECT_EQ("", Print(batch));
  EXPECT_EQ(0u, WriteBatchInternal::Count(&batch));
  EXPECT_EQ(12u, batch.ApproximateSize());
  EXPECT_EQ(12u, Bytes(batch).size());
}

TEST(WriteBatchTest, UpdatesComeBackInTheirOrder) {
  const WriteBatch batch = Example();
  EXPECT_EQ("Put(foo,bar)Delete(box)Put(baz,)Put(,empty)", Print(batch));
  EXPECT_EQ(Print(batch), Read(Bytes(batch)));
  EXPECT_EQ(4u, WriteBatchInternal::Count(&batch));
}

TEST(WriteBatchTest, HasTheDocumentedBytes) {
  WriteBatch batch;
  batch.Put("k", "vv");
  batch.Delete("d");
  WriteBatchInternal::SetSequence(&batch, 0x0102030405060708);
  EXPECT_EQ(0x0102030405060708u, Sequence(batch));
  EXPECT_EQ(std::string("\x08\x07\x06\x05\x04\x03\x02\x01"
                        "\x02\x00\x00\x00"
                        "\x01\x01k\x02vv"
                        "\x00\x01"
                        "d",
                        21),
            Bytes(batch));
}

TEST(WriteBatchTest, ClearForgetsAll) {
  WriteBatch batch = Example();
  batch.Clear();
  EXPECT_EQ("", Print(batch));
  EXPECT_EQ(12u, batch.ApproximateSize());
  batch.Delete("x");
  EXPECT_EQ("Delete(x)", Print(batch));
}

TEST(WriteBatchTest, SizeGrowsWithWhatIsAdded) {
  WriteBatch batch;
  const size_t empty = batch.ApproximateSize();
  batch.Put(std::string(100, 'k'), std::string(1000, 'v'));
  const size_t one = batch.ApproximateSize();
  EXPECT_GE(one, empty + 1100);
  EXPECT_LE(one, empty + 1110);
  batch.Delete("box");
  EXPECT_GT(batch.ApproximateSize(), one);
}

TEST(WriteBatchTest, AppendAddsAndLeavesTheSourceAlone) {
  WriteBatch a, b;
  WriteBatchInternal::SetSequence(&a, 200);
  WriteBatchInternal::SetSequence(&b, 300);
  a.Append(b);
  EXPECT_EQ("", Print(a));
  b.Put("a", "va");
  a.Append(b);
  EXPECT_EQ("Put(a,va)", Print(a));
  b.Clear();
  b.Delete("c");
  a.Append(b);
  EXPECT_EQ("Put(a,va)Delete(c)", Print(a));
  EXPECT_EQ("Delete(c)", Print(b));
  EXPECT_EQ(2u, WriteBatchInternal::Count(&a));
  EXPECT_EQ(200u, Sequence(a));
}

TEST(WriteBatchTest, CanBeAppendedToItself) {
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Delete("b");
  batch.Append(batch);
  EXPECT_EQ("Put(a,1)Delete(b)Put(a,1)Delete(b)", Print(batch));
  EXPECT_EQ(4u, WriteBatchInternal::Count(&batch));
}

TEST(WriteBatchTest, CopiesAreIndependentAndAMoveLeavesAnEmptyOne) {
  WriteBatch a = Example();
  WriteBatch b = a;
  b.Delete("more");
  EXPECT_EQ(Print(Example()), Print(a));
  WriteBatch c = std::move(a);
  EXPECT_EQ(Print(Example()), Print(c));
  EXPECT_EQ("", Print(a));  // NOLINT: this is the promise
  a.Put("again", "1");
  EXPECT_EQ("Put(again,1)", Print(a));
  c = std::move(a);
  EXPECT_EQ("Put(again,1)", Print(c));
  EXPECT_EQ("", Print(a));  // NOLINT: this is the promise
}

TEST(WriteBatchTest, SetContentsTakesAWholeBatchAndNothingElse) {
  const WriteBatch source = Example();
  WriteBatch batch;
  ASSERT_TRUE(WriteBatchInternal::SetContents(&batch, WriteBatchInternal::Contents(&source)).ok());
  EXPECT_EQ(Print(source), Print(batch));

  const std::string good = Bytes(source);
  WriteBatch untouched;
  untouched.Put("old", "1");
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_TRUE(WriteBatchInternal::SetContents(&untouched, Slice(good.data(), n)).IsCorruption()) << n;
  }
  EXPECT_TRUE(WriteBatchInternal::SetContents(&untouched, good + "x").IsCorruption());
  EXPECT_EQ("Put(old,1)", Print(untouched));
}

TEST(BatchReaderTest, ACutBatchYieldsWhatIsWholeAndIsCorrupt) {
  const std::string good = Bytes(Example());
  EXPECT_EQ("Put(foo,bar)Delete(box)Put(baz,)Corrupt", Read(good.substr(0, good.size() - 1)));
  EXPECT_EQ("Put(foo,bar)Corrupt", Read(good.substr(0, 12 + 9 + 2)));
  for (size_t n = 0; n < good.size(); ++n) EXPECT_NE(std::string::npos, Read(good.substr(0, n)).find("Corrupt")) << n;
}

TEST(BatchReaderTest, MergesHaveAnOperandAndSingleDeletionsHaveNone) {
  WriteBatch batch;
  batch.Merge("a", "1");
  batch.SingleDelete("b");
  batch.Merge("", "");
  BatchReader reader(WriteBatchInternal::Contents(&batch));
  std::string text;
  uint8_t type;
  Slice key, value;
  while (reader.Next(&type, &key, &value)) {
    text += std::to_string(type) + "(" + key.ToString() + "," + value.ToString() + ")";
  }
  EXPECT_FALSE(reader.corrupt());
  EXPECT_EQ("2(a,1)7(b,)2(,)", text);
  EXPECT_EQ(size_t{12} + 5 + 3 + 3, batch.ApproximateSize());
}

TEST(BatchReaderTest, DeletionsOfRangesHaveBothBounds) {
  WriteBatch batch;
  batch.DeleteRange("a", "bc");
  batch.DeleteRange("", "");
  BatchReader reader(WriteBatchInternal::Contents(&batch));
  std::string text;
  uint8_t type;
  Slice key, value;
  while (reader.Next(&type, &key, &value)) {
    text += std::to_string(type) + "(" + key.ToString() + "," + value.ToString() + ")";
  }
  EXPECT_FALSE(reader.corrupt());
  EXPECT_EQ("15(a,bc)15(,)", text);
  Recorder recorder;
  EXPECT_TRUE(batch.Iterate(&recorder).IsNotSupportedError());
}

// A handler written for LevelDB's interface must not leave a merge out by mistake.
TEST(WriteBatchTest, AHandlerThatKnowsNoMergesEndsIterateWithAnError) {
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Merge("b", "2");
  batch.Put("c", "3");
  Recorder recorder;
  EXPECT_TRUE(batch.Iterate(&recorder).IsNotSupportedError());
  EXPECT_EQ("Put(a,1)", recorder.text);
  WriteBatch single;
  single.SingleDelete("a");
  EXPECT_TRUE(single.Iterate(&recorder).IsNotSupportedError());
}

TEST(BatchReaderTest, AWrongCountIsCorrupt) {
  std::string rep = Bytes(Example());
  EncodeFixed32(&rep[8], 5);
  EXPECT_EQ("Put(foo,bar)Delete(box)Put(baz,)Put(,empty)Corrupt", Read(rep));
  EncodeFixed32(&rep[8], 3);
  EXPECT_EQ("Put(foo,bar)Delete(box)Put(baz,)Corrupt", Read(rep));
}

TEST(BatchReaderTest, TypesThatThisVersionDoesNotKnowAreCorrupt) {
  for (int type : {3, 6, 8, 14, 16, 128, 255}) {
    std::string rep = Bytes(Example());
    rep[12] = static_cast<char>(type);
    EXPECT_EQ("Corrupt", Read(rep)) << type;
  }
}

TEST(BatchReaderTest, LengthsBeyondTheEndAreCorrupt) {
  const std::string header("\0\0\0\0\0\0\0\0\x01\0\0\0", 12);
  EXPECT_EQ("Corrupt", Read(header + std::string("\x00\xff\xff\xff\xff\x0f", 6) + "key"));
  EXPECT_EQ("Corrupt", Read(header + "\x01\x01k\xff\xff\xff\xff\x0f"));
  EXPECT_EQ("Corrupt", Read(header + std::string("\x00\xff\xff\xff\xff\x1f", 6)));
  EXPECT_EQ("Corrupt", Read(header + "\x01\x01k"));
  EXPECT_EQ("Corrupt", Read(header + "\x01"));
}

TEST(BatchReaderTest, RandomDamageIsNeverReadPast) {
  Random random(13);
  const std::string good = Bytes(Example());
  for (int i = 0; i < 20000; ++i) {
    std::string rep = good;
    for (uint64_t n = random.Uniform(4); n > 0; --n) rep[random.Uniform(rep.size())] = random.Bytes(1)[0];
    rep.resize(random.Uniform(rep.size() + 1));
    const std::string text = Read(rep);
    WriteBatch batch;
    const bool corrupt = text.size() >= 7 && text.substr(text.size() - 7) == "Corrupt";
    ASSERT_EQ(corrupt, WriteBatchInternal::SetContents(&batch, rep).IsCorruption());
  }
}

}  // namespace
}  // namespace miodb
