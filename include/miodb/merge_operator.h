// The operator by which DB::Merge changes a value. A merge writes an operand instead of a value. When the key is read,
// Options::merge_operator computes its value from the value before and the operands since:
//
//   options.merge_operator = miodb::UInt64AddOperator();
//   ...
//   char one[8] = {1};
//   status = db->Merge(miodb::WriteOptions(), "visits", miodb::Slice(one, 8));   // no read, no lock
//
// Why: a counter, a list or a maximum is updated by one write, as cheap as a put, by any number of threads.
//
// When what happens: reads give the operator all operands of a key that are not folded yet. Merges that copy records,
// into the repository and on the SSD tier, fold operands of a key into one value for good, unless a snapshot needs them
// apart. When that is nobody knows, and it may be never. DB::CompactRange folds those that a snapshot kept apart in the
// pool and that no snapshot needs any more; on the SSD tier they wait for a job that writes their file anew.
//
// A database keeps what it gets of operands, not of operators: the same one is to be given at every open, and one with
// another meaning gives other values. Without one the database opens, writes of operands are NotSupported, reads of
// keys that have operands InvalidArgument, and everything else is as usual; no operand is lost.
//
// Threads: every method may be called from any number of threads at once, background threads too, and none may change
// what a later call returns: the same operands always give the same value.
//
// Ownership: an operator stays its maker's and must outlive the database. Slices live for the call.
//
// Errors: a method returns false for operands or values that it makes no sense of. A read is then Corruption that names
// the operator; merges leave the records as they are. Nothing may be thrown.

#ifndef MIODB_INCLUDE_MERGE_OPERATOR_H_
#define MIODB_INCLUDE_MERGE_OPERATOR_H_

#include <string>
#include <vector>

#include "miodb/export.h"
#include "miodb/slice.h"

namespace miodb {

class MIODB_EXPORT MergeOperator {
 public:
  virtual ~MergeOperator();

  // The name of what the operator does, for messages.
  virtual const char* Name() const = 0;

  // Stores in *new_value what the key has after all operands, oldest first, were applied to *existing_value; nullptr:
  // the key had no value, or was deleted. There is at least one operand, and *new_value is empty before.
  virtual bool FullMerge(const Slice& key, const Slice* existing_value, const std::vector<Slice>& operands,
                         std::string* new_value) const = 0;

  // Makes one operand of two that follow each other, left the older one: applied to whatever value it has to do what
  // the two do one after the other. Returns false if the two operands do not combine; this is no error, and it is the
  // default.
  virtual bool PartialMerge(const Slice& key, const Slice& left, const Slice& right, std::string* new_operand) const;

  // The same of several operands, oldest first. The default is PartialMerge of two after two.
  virtual bool PartialMergeMulti(const Slice& key, const std::vector<Slice>& operands, std::string* new_operand) const;

  // Whether PartialMergeMulti is to be asked for single operands too: for an operator that can make one shorter. A
  // result that is not shorter is not taken. The default is false: then it gets two at least.
  virtual bool AllowSingleOperand() const;
};

// An operator whose operands are values, combined in any grouping: (a b) c is a (b c), as with sums, maxima and lists.
// A derived class needs a single method.
class MIODB_EXPORT AssociativeMergeOperator : public MergeOperator {
 public:
  ~AssociativeMergeOperator() override;

  // Stores in *new_value what value makes of *existing_value, nullptr: of nothing.
  virtual bool Merge(const Slice& key, const Slice* existing_value, const Slice& value,
                     std::string* new_value) const = 0;

  bool FullMerge(const Slice& key, const Slice* existing_value, const std::vector<Slice>& operands,
                 std::string* new_value) const override;
  bool PartialMerge(const Slice& key, const Slice& left, const Slice& right, std::string* new_operand) const override;
};

// Operators that are there already. The first three live as long as the process and are nobody's to delete.

// Numbers of 64 bits, 8 bytes, lowest first: the sum, modulo 2^64. Other sizes fail.
MIODB_EXPORT const MergeOperator* UInt64AddOperator();

// The greatest, by bytes as unsigned numbers; of two of which one begins with the other, the longer.
MIODB_EXPORT const MergeOperator* MaxOperator();

// The newest: a merge is then a put that is folded.
MIODB_EXPORT const MergeOperator* PutOperator();

// All of them, in order, with the delimiter between each two. The caller deletes it, after the databases that use it.
MIODB_EXPORT const MergeOperator* NewStringAppendOperator(const std::string& delimiter);

}  // namespace miodb

#endif  // MIODB_INCLUDE_MERGE_OPERATOR_H_
