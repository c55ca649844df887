#include "src/version/edit/version_edit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "src/format/record.h"
#include "src/util/bytes/coding.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/version/edit_maker.h"

namespace miodb::test {
namespace {

// Decodes bytes that stand alone on the heap.
bool DecodeAlone(const std::string& bytes, VersionEdit* edit) {
  const std::unique_ptr<char[]> copy(new char[bytes.size()]);
  memcpy(copy.get(), bytes.data(), bytes.size());
  *edit = VersionEdit();
  return edit->DecodeFrom(Slice(copy.get(), bytes.size()));
}

std::string Encoded(const VersionEdit& edit) {
  std::string bytes;
  edit.EncodeTo(&bytes);
  return bytes;
}

TEST(VersionEditTest, RoundTrips) {
  for (uint64_t seed : Seeds(ByScale(500, 2000, 100000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    EditMaker maker(seed);
    const VersionEdit edit = maker.AnyEdit(random.OneIn(2));
    VersionEdit decoded;
    ASSERT_TRUE(DecodeAlone(Encoded(edit), &decoded));
    EXPECT_EQ(edit.has_comparator, decoded.has_comparator);
    EXPECT_EQ(edit.comparator, decoded.comparator);
    EXPECT_EQ(edit.has_next_id, decoded.has_next_id);
    EXPECT_EQ(edit.next_id, decoded.next_id);
    EXPECT_EQ(edit.has_flushed_sequence, decoded.has_flushed_sequence);
    EXPECT_EQ(edit.flushed_sequence, decoded.flushed_sequence);
    EXPECT_EQ(edit.removed_tables, decoded.removed_tables);
    EXPECT_EQ(edit.removed_chunks, decoded.removed_chunks);
    ASSERT_EQ(edit.tables.size(), decoded.tables.size());
    for (size_t i = 0; i < edit.tables.size(); i++) EXPECT_EQ(TextOf(edit.tables[i]), TextOf(decoded.tables[i]));
    ASSERT_EQ(edit.chunks.size(), decoded.chunks.size());
    for (size_t i = 0; i < edit.chunks.size(); i++) EXPECT_EQ(TextOf(edit.chunks[i]), TextOf(decoded.chunks[i]));
    EXPECT_EQ(edit.removed_files, decoded.removed_files);
    ASSERT_EQ(edit.files.size(), decoded.files.size());
    for (size_t i = 0; i < edit.files.size(); i++) EXPECT_EQ(TextOf(edit.files[i]), TextOf(decoded.files[i]));
    EXPECT_EQ(edit.removed_savepoints, decoded.removed_savepoints);
    ASSERT_EQ(edit.savepoints.size(), decoded.savepoints.size());
    for (size_t i = 0; i < edit.savepoints.size(); i++) {
      EXPECT_EQ(TextOf(edit.savepoints[i]), TextOf(decoded.savepoints[i]));
    }
    EXPECT_EQ(edit.removed_kept, decoded.removed_kept);
    ASSERT_EQ(edit.kept.size(), decoded.kept.size());
    for (size_t i = 0; i < edit.kept.size(); i++) EXPECT_EQ(TextOf(edit.kept[i]), TextOf(decoded.kept[i]));
    EXPECT_EQ(Encoded(edit), Encoded(decoded));
  }
}

// Such keys would make edits as long as the keys, and a snapshot as long as all keys together.
TEST(VersionEditTest, LongKeysOfFilesAreLeftOut) {
  VersionEdit edit, decoded;
  const auto add = [&](uint64_t number, size_t smallest_bytes, size_t largest_bytes) {
    auto meta = std::make_shared<SstMeta>();
    meta->number = number;
    meta->fingerprint = 7 * number;
    meta->smallest.assign(smallest_bytes, 's');
    meta->largest.assign(largest_bytes, 't');
    edit.files.push_back({3, std::move(meta)});
  };
  add(1, 500, 524);
  add(2, 500, 525);
  add(3, 10, 16 << 20);
  add(4, 16 << 20, 10);
  const std::string bytes = Encoded(edit);
  EXPECT_LT(bytes.size(), 1200u);
  ASSERT_TRUE(DecodeAlone(bytes, &decoded));
  ASSERT_EQ(edit.files.size(), decoded.files.size());
  for (size_t i = 0; i < edit.files.size(); i++) {
    const SstMeta& meta = *decoded.files[i].meta;
    EXPECT_EQ(i == 0, meta.has_range);
    EXPECT_EQ(i == 0 ? edit.files[0].meta->largest : "", meta.largest);
    EXPECT_EQ(edit.files[i].meta->number, meta.number);
    EXPECT_EQ(edit.files[i].meta->fingerprint, meta.fingerprint);
    EXPECT_EQ(3u, decoded.files[i].level);
  }
  EXPECT_EQ(bytes, Encoded(decoded)) << "what was left out stays so";
}

TEST(VersionEditTest, FilesWithValuesThatExpireSayWhen) {
  VersionEdit edit, decoded;
  for (const bool long_keys : {false, true}) {
    auto meta = std::make_shared<SstMeta>();
    meta->number = 7;
    meta->entries = 5;
    meta->tombstones = 2;
    meta->expiring = 3;
    meta->expiry = {11, 13};
    meta->smallest = meta->largest = std::string(long_keys ? 2000 : 1, 'k');
    edit.files.push_back({1, std::move(meta)});
  }
  const std::string bytes = Encoded(edit);
  ASSERT_TRUE(DecodeAlone(bytes, &decoded));
  ASSERT_EQ(2u, decoded.files.size());
  for (const SstPlace& file : decoded.files) {
    EXPECT_EQ(3u, file.meta->expiring);
    EXPECT_EQ(11u, file.meta->expiry.first);
    EXPECT_EQ(13u, file.meta->expiry.last);
    EXPECT_EQ(13u, file.meta->whole_expiry());
  }
  EXPECT_EQ('\x13', bytes[0]);
  EXPECT_EQ(bytes, Encoded(decoded));
  // Bounds that hold no moment are damage, and so is a file of such a field with none.
  for (const char* const numbers : {"\0\1\2", "\1\3\2"}) {
    std::string damaged = bytes;
    damaged.replace(damaged.find("\3\x0b\x0d"), 3, numbers, 3);
    EXPECT_FALSE(DecodeAlone(damaged, &decoded));
  }
}

TEST(VersionEditTest, AnEmptyEditIsNoBytes) {
  EXPECT_EQ("", Encoded(VersionEdit()));
  VersionEdit edit;
  EXPECT_TRUE(DecodeAlone("", &edit));
}

TEST(VersionEditTest, FieldNumbersAreThoseOfTheFormat) {
  VersionEdit edit;
  edit.has_comparator = true;
  edit.comparator = "c";
  edit.SetNextId(2);
  edit.SetFlushedSequence(3);
  edit.removed_tables = {4};
  edit.tables.push_back({5, 6, 7, 8, 9});
  edit.removed_chunks = {10};
  edit.chunks.push_back({11, 12, 13, false, 0});
  edit.chunks.push_back({14, 15, 16, true, 12});
  edit.removed_files = {17};
  edit.files.push_back({2, std::make_shared<SstMeta>(SstMeta{18, 19, 20, 21, 22, "s", "lg", true, 0, 0, {}, 0})});
  const char expected[] =
      "\1\1c"
      "\2\2"
      "\3\3"
      "\4\4"
      "\5\5\6\7\x08\x09"
      "\6\x0a"
      "\7\x0b\x0c\x0d"
      "\x08\x0e\x0f\x10\x0c"
      "\x09\x11"
      "\x0a\x12\2\x13\x14\x15\x16\0\0\0\0\0\0\0\1s\2lg";
  EXPECT_EQ(std::string(expected, sizeof(expected) - 1), Encoded(edit));
}

TEST(VersionEditTest, WhatIsCutShortIsRefusedOrHasFewerFields) {
  EditMaker maker(3);
  for (int i = 0; i < 50; i++) {
    const std::string bytes = Encoded(maker.AnyEdit(true));
    for (size_t size = 0; size < bytes.size(); size++) {
      VersionEdit edit;
      EXPECT_TRUE(!DecodeAlone(bytes.substr(0, size), &edit) || Encoded(edit).size() < bytes.size()) << size;
    }
  }
}

TEST(VersionEditTest, HostileBytesAreRefusedOrSane) {
  for (uint64_t seed : Seeds(ByScale(20, 100, 3000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    EditMaker maker(seed);
    for (int i = 0; i < 500; i++) {
      std::string bytes = Encoded(maker.AnyEdit(random.OneIn(2)));
      for (uint64_t n = random.Uniform(4); n > 0 && !bytes.empty(); n--) {
        bytes[random.Uniform(bytes.size())] = static_cast<char>(random.OneIn(2) ? random.Uniform(10) : random.Next64());
      }
      if (random.OneIn(4)) bytes = random.Bytes(random.Uniform(50));
      VersionEdit edit;
      if (!DecodeAlone(bytes, &edit)) continue;
      for (const TablePlace& t : edit.tables) ASSERT_LE(t.level, kRepositoryLevel);
      for (const LogChunkPlace& c : edit.chunks) ASSERT_LE(c.sealed_size, c.size);
      for (const SstPlace& f : edit.files) ASSERT_LT(f.level, kMaxSsdLevels);
      ManifestState state;
      state.Apply(edit).IgnoreError();
    }
  }
}

TEST(VersionEditTest, UnknownFieldsAndLevelsAreRefused) {
  VersionEdit edit;
  for (int field = 0; field < 256; field++) {
    // A field by itself, with nothing behind it, is never whole; 15 and what is beyond 26 are unknown.
    EXPECT_FALSE(DecodeAlone(std::string(1, static_cast<char>(field)), &edit)) << field;
    const bool known = field >= 1 && field <= 26 && field != 15;
    EXPECT_TRUE(known || !DecodeAlone(static_cast<char>(field) + std::string(20, '\1'), &edit)) << field;
  }
  std::string bytes("\5\1", 2);
  PutVarint64(&bytes, 256);
  EXPECT_FALSE(DecodeAlone(bytes + std::string("\1\1\1", 3), &edit)) << "level 256";
  EXPECT_FALSE(DecodeAlone(std::string("\x08\1\1\4\5", 5), &edit)) << "sealed beyond its size";
  EXPECT_TRUE(DecodeAlone(std::string("\x08\1\1\5\5", 5), &edit));
  const std::string file("\1\1\1\0\0\0\0\0\0\0\0\0\0", 13);  // behind number and level
  EXPECT_TRUE(DecodeAlone("\x0a\1\x0f" + file, &edit));
  EXPECT_FALSE(DecodeAlone("\x0a\1\x10" + file, &edit)) << "SSD level 16";
}

// The next number would begin at zero again.
TEST(VersionEditTest, NumbersWithoutANextOneAreRefused) {
  VersionEdit edit;
  const auto number = [](uint64_t n) {
    std::string bytes;
    PutVarint64(&bytes, n);
    return bytes;
  };
  for (const uint64_t id : {kMostId, kMostId + 1, UINT64_MAX}) {
    const bool good = id == kMostId;
    const std::string file("\1\1\1\1\0\0\0\0\0\0\0\0\0", 13);
    EXPECT_EQ(good, DecodeAlone("\2" + number(id), &edit)) << "next id";
    EXPECT_EQ(good, DecodeAlone("\5" + number(id) + "\1\1\1\1", &edit)) << "table";
    EXPECT_EQ(good, DecodeAlone("\5\1\1" + number(id) + "\1\1", &edit)) << "run";
    EXPECT_EQ(good, DecodeAlone("\7" + number(id) + "\1\1", &edit)) << "chunk";
    EXPECT_EQ(good, DecodeAlone("\x0a" + number(id) + "\1" + file.substr(1) + std::string(1, '\0'), &edit)) << "file";
  }
  EXPECT_FALSE(DecodeAlone("\2" + number(0), &edit)) << "ids begin at one";
  EXPECT_TRUE(DecodeAlone("\3" + number(kMostReadSequence), &edit));
  EXPECT_FALSE(DecodeAlone("\3" + number(kMostReadSequence + 1), &edit));
}

TEST(VersionEditTest, SavepointsHaveTheFieldsOfTheFormat) {
  VersionEdit edit;
  edit.removed_savepoints = {4};
  edit.savepoints.push_back({5, "a", 6, 7, {{8, 9}}, {}});
  edit.savepoints.push_back({10, "b", 11, 12, {}, {14, 15, 16, 13}});
  const char expected[] =
      "\x16\4"
      "\x15\5\1a\6\7\1\x08\x09\0"
      "\x15\x0a\1b\x0b\x0c\0\x0d\x0e\x0f\x10\0\0\0\0\0\0\0";
  EXPECT_EQ(std::string(expected, sizeof(expected) - 1), Encoded(edit));
}

TEST(VersionEditTest, SavepointsThatCannotBeAreRefused) {
  VersionEdit edit;
  const auto savepoint = [](const std::string& id, const std::string& name, uint64_t sequence, uint64_t chunks) {
    std::string bytes = "\x15" + id;
    PutLengthPrefixedSlice(&bytes, name);
    PutVarint64(&bytes, sequence);
    bytes += '\1';  // micros
    PutVarint64(&bytes, chunks);
    return bytes + std::string(8, '\1') + '\0';  // four chunks, no area
  };
  const std::string last(kMostSavepointName, 'n');
  EXPECT_TRUE(DecodeAlone(savepoint("\1", last, kMostReadSequence, 4), &edit));
  EXPECT_EQ(4u, edit.savepoints.at(0).chunks.size());
  EXPECT_FALSE(DecodeAlone(savepoint("\1", last + "n", 1, 4), &edit)) << "a name too long";
  EXPECT_FALSE(DecodeAlone(savepoint("\1", "", 1, 4), &edit)) << "no name";
  EXPECT_FALSE(DecodeAlone(savepoint("\1", "n", kMostReadSequence + 1, 4), &edit));
  for (const uint64_t chunks : {uint64_t{5}, uint64_t{1} << 30, UINT64_MAX}) {
    EXPECT_FALSE(DecodeAlone(savepoint("\1", "n", 1, chunks), &edit)) << chunks;
  }
  std::string id;
  PutVarint64(&id, kMostId + 1);
  EXPECT_FALSE(DecodeAlone(savepoint(id, "n", 1, 4), &edit)) << "an id without a next one";
  EXPECT_FALSE(DecodeAlone(savepoint(std::string(1, '\0'), "n", 1, 4), &edit)) << "no id";
}

TEST(VersionEditTest, KeptChunksHaveTheFieldsOfTheFormat) {
  VersionEdit edit;
  edit.removed_kept = {4};
  edit.kept.push_back({5, 6, 7, 8, 10});
  EXPECT_EQ(std::string("\x18\4\x17\5\6\7\x08\2"), Encoded(edit));
}

TEST(VersionEditTest, KeptChunksThatCannotBeAreRefused) {
  VersionEdit edit;
  const auto kept = [](uint64_t id, uint64_t bytes, uint64_t first, uint64_t more) {
    std::string encoded = "\x17";
    for (const uint64_t number : {id, uint64_t{4096}, bytes, first, more}) PutVarint64(&encoded, number);
    return encoded;
  };
  EXPECT_TRUE(DecodeAlone(kept(kMostId, 1, 1, kMostReadSequence - 1), &edit));
  EXPECT_EQ(kMostReadSequence, edit.kept.at(0).last_sequence);
  EXPECT_FALSE(DecodeAlone(kept(1, 0, 1, 1), &edit)) << "no bytes";
  EXPECT_FALSE(DecodeAlone(kept(1, 1, 0, 1), &edit)) << "no write";
  EXPECT_FALSE(DecodeAlone(kept(1, 1, 1, kMostReadSequence), &edit));
  EXPECT_FALSE(DecodeAlone(kept(1, 1, UINT64_MAX, 1), &edit));
  EXPECT_FALSE(DecodeAlone(kept(1, 1, 1, UINT64_MAX), &edit));
  EXPECT_FALSE(DecodeAlone(kept(kMostId + 1, 1, 1, 1), &edit)) << "an id without a next one";
}

TEST(VersionEditTest, PayloadHasTheFieldsOfTheFormat) {
  VersionEdit edit;
  edit.payload.push_back({3 * kExtentUnit, 2 * kExtentUnit, ExtentKind::kSettled, 5, 6});
  edit.dropped.push_back({4 * kExtentUnit, 7});
  EXPECT_EQ(std::string("\x19\3\2\3\5\6\x1a\4\7"), Encoded(edit));
}

TEST(VersionEditTest, PayloadThatCannotBeIsRefused) {
  VersionEdit edit;
  const auto payload = [](uint64_t offset, uint64_t size, uint64_t kind, uint64_t bytes, uint64_t live) {
    std::string encoded = "\x19";
    for (const uint64_t number : {offset, size, kind, bytes, live}) PutVarint64(&encoded, number);
    return encoded;
  };
  constexpr uint64_t kMostUnits = IndexWord::kMaxRef / kExtentUnit;
  EXPECT_TRUE(DecodeAlone(payload(kMostUnits, 1, 2, kExtentUnit, 2 * kExtentUnit), &edit));
  EXPECT_EQ(kMostUnits * kExtentUnit, edit.payload.at(0).offset);
  EXPECT_FALSE(DecodeAlone(payload(kMostUnits + 1, 1, 2, 1, 1), &edit)) << "beyond all references";
  EXPECT_FALSE(DecodeAlone(payload(UINT64_MAX, 1, 2, 1, 1), &edit));
  EXPECT_FALSE(DecodeAlone(payload(1, 0, 2, 0, 1), &edit)) << "no bytes";
  EXPECT_FALSE(DecodeAlone(payload(1, UINT64_MAX, 2, 1, 1), &edit));
  EXPECT_FALSE(DecodeAlone(payload(1, 1, 2, 0, 1), &edit)) << "a log chunk that nothing was flushed from";
  EXPECT_FALSE(DecodeAlone(payload(1, 1, 1, 1, 1), &edit)) << "an index";
  EXPECT_FALSE(DecodeAlone(payload(1, 1, 256 + 2, 1, 1), &edit)) << "no kind at all";
  EXPECT_FALSE(DecodeAlone(payload(1, 1, 2, kExtentUnit + 1, 1), &edit)) << "more than its bytes";
  EXPECT_FALSE(DecodeAlone(payload(1, 1, 2, 1, 0), &edit)) << "nothing lives there";
  EXPECT_FALSE(DecodeAlone(payload(1, 1, 2, 1, 2 * kExtentUnit + 1), &edit));
  EXPECT_TRUE(DecodeAlone(std::string("\x1a\1\1"), &edit));
  EXPECT_FALSE(DecodeAlone(std::string("\x1a\1\0", 3), &edit)) << "a drop of nothing";
}

// Places that overlap are found only when their space is claimed, so their sums are bounded before.
TEST(ManifestStateTest, PayloadOfMoreThanAllReferencesIsRefused) {
  constexpr uint64_t kMost = IndexWord::kMaxRef / kExtentUnit * kExtentUnit;
  ManifestState state;
  Status s;
  uint64_t extents = 0;
  while (s.ok() && extents < (1 << 16) + 8) {
    VersionEdit edit;
    edit.payload = {{++extents * kExtentUnit, kMost, ExtentKind::kLog, kMost, PayloadPlace::MostLiveBytes(kMost)}};
    s = state.Apply(edit);
  }
  EXPECT_STATUS(Corruption, s);
  EXPECT_EQ(2u, extents);
  VersionEdit drop;
  drop.dropped = {{kExtentUnit, PayloadPlace::MostLiveBytes(kMost)}};
  ASSERT_OK(state.Apply(drop));
  EXPECT_TRUE(state.payload.empty());
}

TEST(ManifestStateTest, PayloadGoesWithItsLastByte) {
  ManifestState state;
  VersionEdit edit;
  edit.payload = {{kExtentUnit, kExtentUnit, ExtentKind::kLog, 100, 90},
                  {3 * kExtentUnit, kExtentUnit, ExtentKind::kLog, 50, 40}};
  ASSERT_OK(state.Apply(edit));
  EXPECT_STATUS(Corruption, state.Apply(edit));  // twice
  EXPECT_EQ(150u, state.payload_totals.bytes);
  EXPECT_EQ(130u, state.payload_totals.live_bytes);
  const auto dropping = [](std::vector<PayloadDrop> dropped) {
    VersionEdit drops;
    drops.dropped = std::move(dropped);
    return drops;
  };
  const std::string before = TextOf(state);
  EXPECT_STATUS(Corruption, state.Apply(dropping({{kExtentUnit, 91}})));
  EXPECT_STATUS(Corruption, state.Apply(dropping({{2 * kExtentUnit, 1}})));
  EXPECT_STATUS(Corruption, state.Apply(dropping({{kExtentUnit, 1}, {kExtentUnit, 1}})));
  EXPECT_STATUS(Corruption, state.Apply(dropping({{kExtentUnit, 90}, {kExtentUnit, 90}})));  // more than there is
  EXPECT_EQ(before, TextOf(state));
  ASSERT_OK(state.Apply(dropping({{3 * kExtentUnit, 40}, {kExtentUnit, 30}})));
  ASSERT_EQ(1u, state.payload.size());
  EXPECT_EQ(60u, state.payload.at(kExtentUnit).live_bytes);
  EXPECT_EQ(100u, state.payload_totals.bytes);
  // The snapshot has the next edit already.
  const VersionEdit last = dropping({{kExtentUnit, 10}});
  ManifestState copy;
  ASSERT_OK(copy.Apply(state.Snapshot(last)));
  ASSERT_OK(state.Apply(last));
  EXPECT_EQ(TextOf(state), TextOf(copy));
  ASSERT_OK(state.Apply(dropping({{kExtentUnit, 50}})));
  EXPECT_TRUE(state.payload.empty());
  EXPECT_EQ(0u, state.payload_totals.bytes);
}

// Whose edits name none of the pool.
TEST(VersionEditTest, TheStateOfAStoreHasNoSavepointAndNoKeptLog) {
  VersionEdit edit, decoded;
  edit.SetNextId(2);
  EXPECT_TRUE(decoded.DecodeSsdState(Encoded(edit)));
  VersionEdit keeping = edit;
  keeping.kept.push_back({5, 6, 7, 8, 9});
  decoded = VersionEdit();
  EXPECT_FALSE(decoded.DecodeSsdState(Encoded(keeping)));
  VersionEdit with_payload = edit;
  with_payload.dropped.push_back({kExtentUnit, 1});
  decoded = VersionEdit();
  EXPECT_FALSE(decoded.DecodeSsdState(Encoded(with_payload)));
  edit.savepoints.push_back({5, "a", 6, 7, {}, {}});
  decoded = VersionEdit();
  EXPECT_FALSE(decoded.DecodeSsdState(Encoded(edit)));
}

// Chunks of a log that goes on, of which some were removed, named again, or taken in another order than they were made.
TEST(ManifestStateTest, AKeptWriteIsFoundAsAWalkOverAllFindsIt) {
  for (uint64_t seed : Seeds(ByScale(200, 2000, 100000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    ManifestState state;
    uint64_t next = 1 + random.Uniform(5), id = 100;
    for (int step = 0; step < 30; step++) {
      VersionEdit edit;
      for (uint64_t added = random.Uniform(4); added > 0; added--) {
        if (random.OneIn(8)) next += random.Uniform(4);  // a gap, which only a foreign hand makes
        const uint64_t last = next + random.Uniform(6);
        const uint64_t older = random.OneIn(3) && id > 110 ? id - 50 : id;  // ids do not follow the writes
        edit.kept.push_back({older, random.Uniform(100) * 64, 1 + random.Uniform(5000), next, last});
        next = last + 1;
        id++;
      }
      for (const auto& [known, chunk] : state.kept.by_id) {
        if (random.OneIn(4)) edit.removed_kept.push_back(known);
      }
      ASSERT_OK(state.Apply(edit));
      uint64_t space = 0;
      for (const auto& [known, chunk] : state.kept.by_id) space += SpaceOf(chunk);
      ASSERT_EQ(space, state.kept.space);
      ASSERT_EQ(state.kept.by_id.size(), state.kept.by_age.size());
      for (uint64_t sequence = 1; sequence < next; sequence++) {
        const KeptChunk* hit = nullptr;
        uint64_t after = next, end = 0;
        for (const auto& [known, chunk] : state.kept.by_id) {
          if (chunk.first_sequence > sequence) after = std::min(after, chunk.first_sequence);
          end = std::max(end, chunk.last_sequence + 1);
          if (chunk.first_sequence <= sequence && sequence <= chunk.last_sequence) hit = &chunk;
        }
        const bool reaches = end == next;
        uint64_t begin = next;
        EXPECT_EQ(reaches ? hit : nullptr, state.kept.Find(sequence, &begin));
        EXPECT_EQ(reaches && hit == nullptr ? after : next, begin);
      }
    }
  }
}

TEST(ManifestStateTest, SavepointsHaveNamesOfTheirOwn) {
  const auto named = [](uint64_t id, const char* name) {
    VersionEdit edit;
    edit.savepoints.push_back({id, name, 6, 7, {{8, 9}}, {}});
    return edit;
  };
  ManifestState state;
  ASSERT_OK(state.Apply(named(5, "a")));
  state.PlaceSavepoints({4096, 8192, 77, 2});
  EXPECT_EQ(2u, state.savepoints.at(5).area.records);
  EXPECT_STATUS(Corruption, state.Apply(named(6, "a")));  // of two
  EXPECT_STATUS(Corruption, state.Apply(named(5, "b")));  // of one id
  VersionEdit edit = named(6, "b");
  edit.savepoints.push_back({7, "b", 6, 7, {}, {}});
  EXPECT_STATUS(Corruption, state.Apply(edit));  // in one edit
  ASSERT_OK(state.Apply(named(6, "b")));
  state.PlaceSavepoints({4096, 8192, 77, 3});
  EXPECT_EQ(2u, state.savepoints.at(5).area.records) << "it keeps its place";
  EXPECT_EQ(3u, state.savepoints.at(6).area.records);
  // A snapshot names them with their places.
  ManifestState copy;
  ASSERT_OK(copy.Apply(state.Snapshot()));
  EXPECT_EQ(TextOf(state), TextOf(copy));
  edit = VersionEdit();
  edit.removed_savepoints = {7};
  EXPECT_STATUS(Corruption, state.Apply(edit));  // it is not there
  edit.removed_savepoints = {5};
  edit.savepoints = named(8, "a").savepoints;
  ASSERT_OK(state.Apply(edit));
  EXPECT_EQ("a", state.savepoints.at(8).name);
  EXPECT_EQ(0u, state.savepoints.count(5));
  EXPECT_EQ((PlaceNames{{"a", 8}, {"b", 6}}), state.savepoint_names);
  EXPECT_STATUS(Corruption, state.Apply(edit));
}

TEST(ManifestStateTest, FamiliesHaveNamesOfTheirOwn) {
  const auto with = [](std::vector<FamilyEntry> families, uint64_t next) {
    VersionEdit edit;
    edit.families = std::move(families);
    edit.next_family = next;
    return edit;
  };
  ManifestState state;
  EXPECT_STATUS(Corruption, state.Apply(with({{1, "default"}}, 2)));
  EXPECT_STATUS(Corruption, state.Apply(with({{2, "a"}}, 2)));  // above all ids
  ASSERT_OK(state.Apply(with({{1, "a"}}, 2)));
  EXPECT_STATUS(Corruption, state.Apply(with({{2, "a"}}, 3)));
  EXPECT_STATUS(Corruption, state.Apply(with({{2, "b"}, {3, "b"}}, 4)));  // in one edit
  ASSERT_OK(state.Apply(with({{2, "b"}}, 3)));
  // The name of a dropped family is free at once, and so is the name of a family that the edit removes.
  ASSERT_OK(state.Apply(with({{1, ""}, {3, "a"}}, 4)));
  EXPECT_EQ((PlaceNames{{"a", 3}, {"b", 2}}), state.family_names);
  VersionEdit edit = with({{4, "b"}}, 5);
  edit.removed_families = {2};
  ASSERT_OK(state.Apply(edit));
  EXPECT_EQ((PlaceNames{{"a", 3}, {"b", 4}}), state.family_names);
  EXPECT_STATUS(Corruption, state.Apply(with({{5, "b"}}, 6)));
  ASSERT_OK(state.Apply(with({{3, "b"}, {4, "a"}}, 5)));  // they change their names
  EXPECT_EQ((PlaceNames{{"a", 4}, {"b", 3}}), state.family_names);
  ManifestState copy;
  ASSERT_OK(copy.Apply(state.Snapshot()));
  EXPECT_EQ(TextOf(state), TextOf(copy));
}

TEST(ManifestStateTest, ASnapshotLeadsToTheSameState) {
  for (uint64_t seed : Seeds(ByScale(50, 200, 5000))) {
    SCOPED_TRACE(Repeat(seed));
    EditMaker maker(seed);
    ManifestState state;
    for (int i = 0; i < 100; i++) {
      ASSERT_OK(state.Apply(maker.NextEdit()));
      ManifestState copy;
      VersionEdit decoded;
      ASSERT_TRUE(DecodeAlone(Encoded(state.Snapshot()), &decoded));
      ASSERT_OK(copy.Apply(decoded));
      ASSERT_EQ(TextOf(state), TextOf(copy));
      ASSERT_EQ(TextOf(maker.state()), TextOf(state));
    }
  }
}

TEST(ManifestStateTest, RemovingWhatIsNotThereIsCorruption) {
  ManifestState state;
  VersionEdit add;
  add.tables.push_back({7, 0, 1, 4096, 4096});
  add.chunks.push_back({8, 8192, 4096, false, 0});
  ASSERT_OK(state.Apply(add));
  VersionEdit remove;
  remove.removed_tables = {8};
  EXPECT_STATUS(Corruption, state.Apply(remove));
  remove.removed_tables = {};
  remove.removed_chunks = {7};
  EXPECT_STATUS(Corruption, state.Apply(remove));
  remove.removed_tables = {7};
  remove.removed_chunks = {8};
  EXPECT_OK(state.Apply(remove));
  EXPECT_STATUS(Corruption, state.Apply(remove));
  EXPECT_TRUE(state.tables.empty() && state.chunks.empty());
}

TEST(ManifestStateTest, RemovalComesBeforeAddition) {
  ManifestState state;
  VersionEdit edit;
  edit.tables.push_back({7, 0, 1, 4096, 4096});
  ASSERT_OK(state.Apply(edit));
  // The same number again, removed and placed elsewhere, in one edit.
  edit.removed_tables = {7};
  edit.tables[0].level = 3;
  ASSERT_OK(state.Apply(edit));
  EXPECT_EQ(3u, state.tables.at(7).level);
}

}  // namespace
}  // namespace miodb::test
