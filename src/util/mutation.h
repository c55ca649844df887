// Faults that a build with MIODB_MUTANTS can plant, one at a time, to find out whether a test notices: checks that are
// left out, and steps that are left out or come too early. In every other build MIODB_MUTATED is false at compile time.
//
// Fences, copies and flushes need no entry here: the simulator disables them by the place that calls the door.

#ifndef MIODB_SRC_UTIL_MUTATION_H_
#define MIODB_SRC_UTIL_MUTATION_H_

namespace miodb {

// name, what the fault is.
#define MIODB_MUTATIONS(X)                                                                     \
  X(kSuperblockUnchecked, "superblock accepted without its checksum")                          \
  X(kRootUnchecked, "root slot accepted without its checksum")                                 \
  X(kRootCopiesTogether, "both copies of a root slot written before one fence")                \
  X(kRootUnrepaired, "torn copies of root slots left as they are")                             \
  X(kRootBeforeSnapshot, "root switched before the new area's snapshot is written")            \
  X(kRegionEntryUnchecked, "entry of a region accepted without its checksum")                  \
  X(kRegionEntriesTogether, "both copies of a region's entry written before one fence")        \
  X(kRegionTableUnrepaired, "torn copies of regions' entries left as they are")                \
  X(kManifestUnchecked, "manifest record accepted without its checksum")                       \
  X(kManifestGenerationUnseeded, "manifest checksum does not depend on the generation")        \
  X(kManifestAppendAfterOpen, "manifest appended to behind the end that recovery found")       \
  X(kManifestLaterUnseen, "no look for later records behind a damaged manifest record")        \
  X(kNextIdVolatile, "next id not made durable, so ids are used again")                        \
  X(kFrameUnchecked, "log frame accepted without its checksum")                                \
  X(kFrameRecordUnchecked, "records of a log frame accepted without their checks")             \
  X(kFrameValueUncovered, "record hash, and so every checksum of a frame, omits values")       \
  X(kFrameIdUnseeded, "frame checksum does not depend on the chunk's id")                      \
  X(kFrameSequenceUnchecked, "a frame need not follow the one before it in sequence")          \
  X(kFrameLaterUnseen, "no look for later frames behind a damaged one")                        \
  X(kLogGapUnseen, "a gap between log chunks taken for the end of the log")                    \
  X(kLogAppendAfterOpen, "log chunk appended to behind the end that recovery found")           \
  X(kChunkUnnamed, "log chunk used before the manifest names it")                              \
  X(kFlushInTwoEdits, "flush drops the log in an edit before the one that adds the table")     \
  X(kFlushedSequenceUnset, "flush leaves the flushed sequence as it was")                      \
  X(kFlushFreesEarly, "unused tail of a log chunk freed before the edit without it")           \
  X(kMergeInTwoEdits, "merge drops its inputs in an edit before the one that adds its output") \
  X(kTableHeaderUnchecked, "table header accepted without its checksum")                       \
  X(kTableMetaUnchecked, "table meta block accepted without its checksum")                     \
  X(kTableInnerUnchecked, "inner levels of a table accepted without their checksum")           \
  X(kTableLeafUnchecked, "leaf of a table accepted without its checksum")                      \
  X(kRecordUnchecked, "record of a table accepted without its check")

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

#endif  // MIODB_SRC_UTIL_MUTATION_H_
