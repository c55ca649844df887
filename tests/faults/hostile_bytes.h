// Bytes that mean harm, as tests put them into the files of a database. Some are changed blindly. Others are changed as
// one who knows the formats would: one structure says something else, and then its checksums are made right, so that
// only what it says is wrong.
//
// Threads: functions of their arguments. The same random numbers make the same change.

#ifndef MIODB_TESTS_FAULTS_HOSTILE_BYTES_H_
#define MIODB_TESTS_FAULTS_HOSTILE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/common/random/random.h"

namespace miodb::test {

// Bits, stretches, pages, the length: without regard to what is there.
void ChangeBlindly(std::string* bytes, Random* random);

// Changes one structure of the file with these bytes, by its kind: a pool, a table file, a log file, or a small file
// with a seal. What was done, for people; empty, if the file is none of these or has nothing to change.
std::string ChangeKnowingly(const std::string& file, std::string* bytes, Random* random);

// The same of a pool.
std::string ChangePool(std::string* bytes, Random* random);

// What these are made of: a number at the edge of what something may be, and some bytes of a stretch.
uint64_t EdgeNumber(Random* random, uint64_t usual);
void ChangeStretch(char* bytes, size_t size, Random* random);  // REQUIRES: size > 0

}  // namespace miodb::test

#endif  // MIODB_TESTS_FAULTS_HOSTILE_BYTES_H_
