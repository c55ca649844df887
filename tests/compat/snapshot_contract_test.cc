#include "tests/compat/leveldb_fixture.h"

namespace {

using SnapshotContract = LevelDBTest;

TEST_F(SnapshotContract, SeesValuesThatWereOverwrittenAndDeletedSince) {
  Put("over", "old");
  Put("gone", "old");
  const leveldb::Snapshot* const snapshot = db_->GetSnapshot();
  Put("over", "new");
  Delete("gone");
  Put("later", "new");
  EXPECT_EQ("old", Get("over", snapshot));
  EXPECT_EQ("old", Get("gone", snapshot));
  EXPECT_EQ("(none)", Get("later", snapshot));
  EXPECT_EQ("new", Get("over"));
  EXPECT_EQ("(none)", Get("gone"));
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(SnapshotContract, SurvivesCompactionsBetweenTheWrites) {
  std::vector<const leveldb::Snapshot*> snapshots;
  for (int i = 0; i < 5; i++) {
    Put("key", std::to_string(i));
    if (i == 3) Delete("key");
    snapshots.push_back(db_->GetSnapshot());
    Churn();
  }
  for (int i = 0; i < 5; i++) EXPECT_EQ(i == 3 ? "(none)" : std::to_string(i), Get("key", snapshots[i])) << i;
  for (int i : {2, 0, 4, 1, 3}) {
    db_->ReleaseSnapshot(snapshots[i]);
    snapshots[i] = nullptr;
    Churn();
    for (int j = 0; j < 5; j++) {
      if (snapshots[j] == nullptr) continue;
      EXPECT_EQ(j == 3 ? "(none)" : std::to_string(j), Get("key", snapshots[j])) << j << " after releasing " << i;
    }
  }
  EXPECT_EQ("4", Get("key"));
}

TEST_F(SnapshotContract, TwoOfOneStateAreReleasedOneByOne) {
  Put("key", "old");
  const leveldb::Snapshot* const a = db_->GetSnapshot();
  const leveldb::Snapshot* const b = db_->GetSnapshot();
  Put("key", "new");
  db_->ReleaseSnapshot(a);
  Churn();
  EXPECT_EQ("old", Get("key", b));
  db_->ReleaseSnapshot(b);
}

TEST_F(SnapshotContract, OfAnEmptyDatabaseSeesNothing) {
  const leveldb::Snapshot* const snapshot = db_->GetSnapshot();
  Put("key", "value");
  Churn();
  EXPECT_EQ("(none)", Get("key", snapshot));
  const auto it = NewIterator(snapshot);
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  db_->ReleaseSnapshot(snapshot);
}

}  // namespace
