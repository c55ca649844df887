// Faults that a build with MIODB_MUTANTS can plant, one at a time, to find out whether a test notices: checks that are
// left out, and steps that are left out or come too early. In every other build MIODB_MUTATED is false at compile time.
//
// Fences, copies and flushes need no entry here: the simulator disables them by the place that calls the door.

#ifndef MIODB_SRC_UTIL_CHECK_MUTATION_H_
#define MIODB_SRC_UTIL_CHECK_MUTATION_H_

namespace miodb {

// name, what the fault is.
#define MIODB_MUTATIONS(X)                                                                       \
  X(kSuperblockUnchecked, "superblock accepted without its checksum")                            \
  X(kRootUnchecked, "root slot accepted without its checksum")                                   \
  X(kRootCopiesTogether, "both copies of a root slot written before one fence")                  \
  X(kRootUnrepaired, "torn copies of root slots left as they are")                               \
  X(kRootBeforeSnapshot, "root switched before the new area's snapshot is written")              \
  X(kRegionEntryUnchecked, "entry of a region accepted without its checksum")                    \
  X(kRegionEntriesTogether, "both copies of a region's entry written before one fence")          \
  X(kRegionTableUnrepaired, "torn copies of regions' entries left as they are")                  \
  X(kManifestUnchecked, "manifest record accepted without its checksum")                         \
  X(kManifestGenerationUnseeded, "manifest checksum does not depend on the generation")          \
  X(kManifestAppendAfterOpen, "manifest appended to behind the end that recovery found")         \
  X(kManifestLaterUnseen, "no look for later records behind a damaged manifest record")          \
  X(kSavepointAreaReused, "manifest area that a savepoint names becomes the spare")              \
  X(kSavepointsUnclaimed, "an open claims nothing of what savepoints name")                      \
  X(kSavedTablesDropped, "tables and files dropped though a savepoint has them")                 \
  X(kSavedChunksWhole, "a savepoint's chunks count with what was written to them later")         \
  X(kNextIdVolatile, "next id not made durable, so ids are used again")                          \
  X(kFamilyUnnamed, "column family used without an edit that names it")                          \
  X(kDropBeforeWrites, "column family dropped before the writes in front of it are durable")     \
  X(kFrameUnchecked, "log frame accepted without its checksum")                                  \
  X(kFrameRecordUnchecked, "records of a log frame accepted without their checks")               \
  X(kFrameValueUncovered, "record hash, and so every checksum of a frame, omits values")         \
  X(kFrameIdUnseeded, "frame checksum does not depend on the chunk's id")                        \
  X(kFrameSequenceUnchecked, "a frame need not follow the one before it in sequence")            \
  X(kFrameLaterUnseen, "no look for later frames behind a damaged one")                          \
  X(kChunkIndexUnchecked, "index of a log chunk accepted without its checksum")                  \
  X(kChunkIndexIdUnseeded, "checksum of a log chunk's index does not depend on the chunk's id")  \
  X(kChunkIndexEarly, "log chunk gets its index while frames still come")                        \
  X(kFrameAheadUnseen, "a hole in a log chunk taken for a crash's whatever later frames say")    \
  X(kLogWindowUnkept, "a frame stored further ahead than the window")                            \
  X(kVisibleOutOfOrder, "a write visible before those ahead of it")                              \
  X(kRecoveredTailUnflushed, "of the log's last frames only the last one flushed by a recovery") \
  X(kLogGapUnseen, "a gap between log chunks taken for the end of the log")                      \
  X(kLogAppendAfterOpen, "log chunk appended to behind the end that recovery found")             \
  X(kChunkUnnamed, "log chunk used before the manifest names it")                                \
  X(kFlushInTwoEdits, "flush drops the log in an edit before the one that adds the table")       \
  X(kFlushedSequenceUnset, "flush leaves the flushed sequence as it was")                        \
  X(kFlushFreesEarly, "unused tail of a log chunk freed before the edit without it")             \
  X(kFlushedLogUnsynced, "records of writes without sync not synced by their flush")             \
  X(kKeptUnclaimed, "chunks kept for the update stream not claimed by an open")                  \
  X(kKeptInTwoEdits, "flush lets go of the log in an edit before the one that keeps it")         \
  X(kPayloadUnnamed, "flush leaves an extent of its payload out of its edit")                    \
  X(kDropUncounted, "a merge's edit does not say what it drops")                                 \
  X(kDropCountedTwice, "a merge's edit drops twice what it drops")                               \
  X(kRangesUnnamed, "flush leaves the deletions of ranges out of its edit")                      \
  X(kRangesForgotten, "deletions of ranges dropped while they still hide something")             \
  X(kRestUnplaced, "merge of a range leaves what a table has outside of it out of its edit")     \
  X(kMergeInTwoEdits, "merge drops its inputs in an edit before the one that adds its output")   \
  X(kExpiredHidesNothing, "a table that expired removed though it hides something")              \
  X(kExpiryOfFirst, "a table's bounds of expiry are those of its first record that expires")     \
  X(kExpiredDroppedEarly, "a value that expired dropped while something older may lie below")    \
  X(kFoldIntoExpiring, "operands folded into a value that will expire")                          \
  X(kLoneOperandRewritten, "a lone operand written anew although it is no shorter")              \
  X(kGoneUnreadForgotten, "conditions do not know of writes that expired and went unread")       \
  X(kFilterUnderSnapshot, "a compaction filter asked about what a snapshot sees")                \
  X(kTableHeaderUnchecked, "table header accepted without its checksum")                         \
  X(kTableInnerUnchecked, "inner levels of a table accepted without their checksum")             \
  X(kTableLeafUnchecked, "leaf of a table accepted without its checksum")                        \
  X(kRecordUnchecked, "record of a table accepted without its check")                            \
  X(kVisibleBeforeDurable, "a group of writes visible before its fence")                         \
  X(kIdsUnskipped, "ids that went down with the process given out again after an open")          \
  X(kLogFileUnsynced, "log file not synced by a write with sync")                                \
  X(kLogFileOlderUnsynced, "older log files not synced by a write with sync")                    \
  X(kLogFileKeptUnsynced, "log files that recovery kept not made durable")                       \
  X(kLogFileRemovalUnsynced, "removal of log files that recovery left out not made durable")     \
  X(kLogFileRetiredEarly, "log file removed before the edit that flushes it")                    \
  X(kLogFileUnchecked, "fragment of a log file accepted without its checksum")                   \
  X(kLogFileSequenceUnchecked, "a batch need not follow the one before it in sequence")          \
  X(kLogFileLaterUnseen, "no look for later batches behind a damaged one")                       \
  X(kLogFileGapUnseen, "log files behind a missing one replayed")                                \
  X(kLogOwnerUnsynced, "the name of a log folder's owner not synced")                            \
  X(kOlderLogBelieved, "an older copy of a log folder taken for the log")                        \
  X(kLogFolderUnsynced, "the name of the log folder not synced")                                 \
  X(kSsdFileUnsynced, "table file not synced before the edit that names it")                     \
  X(kLogFileUncut, "log files that recovery kept in part not cut")                               \
  X(kVolatileLogUnsynced, "log not synced before files hold its writes")                         \
  X(kSsdOwnerUnsynced, "the name of an SSD directory's owner not synced")                        \
  X(kSsdInTwoEdits, "SSD job drops its inputs in an edit before the one that adds its output")   \
  X(kSsdInputsRemovedEarly, "files removed before the edit that drops them")                     \
  X(kSsdOrphansKept, "files that no manifest names left at open")                                \
  X(kSsdSizeUnchecked, "table file accepted with another size than the manifest's")              \
  X(kSsdFileUnidentified, "table file accepted with another fingerprint than the manifest's")    \
  X(kSsdBlockUnchecked, "block of a table file accepted without its checksum")                   \
  X(kPoolUnsynced, "new pool file not synced before it gets its name")                           \
  X(kPoolNameUnsynced, "directory of a new pool not synced")                                     \
  X(kDirectoryUnsynced, "sync of a new file leaves out its directory")                           \
  X(kFolderUnsynced, "a new directory's name not synced")                                        \
  X(kOperandBaseDropped, "the version right below an operand dropped as hidden")                 \
  X(kSingleDeletionHidden, "a single deletion dropped because a newer version hides it")         \
  X(kSingleDeletionEarly, "a single deletion dropped where its put may lie deeper")              \
  X(kPairAcrossSnapshot, "a put and its single deletion dropped though a snapshot is between")   \
  X(kFoldAcrossSnapshot, "operands folded though a snapshot is between")                         \
  X(kFoldWithoutBase, "operands folded into a value though their base may lie deeper")           \
  X(kVersionsOnceAssumed, "a version that the log may bring back taken for the only copy")       \
  X(kConditionUnasked, "a write under a condition made without a look at what came since")

enum class Mutation : int {
  kNone,
#define MIODB_MUTATION_ENUM(name, text) name,
  MIODB_MUTATIONS(MIODB_MUTATION_ENUM)
#undef MIODB_MUTATION_ENUM
};

#ifdef MIODB_MUTANTS
// Set before the first database is opened. Also by the environment variable MIODB_MUTANT, for tests that know nothing
// of it: the name of a mutation.
extern Mutation g_mutation;
#define MIODB_MUTATED(name) (::miodb::g_mutation == ::miodb::Mutation::name)
#else
#define MIODB_MUTATED(name) false
#endif

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_CHECK_MUTATION_H_
