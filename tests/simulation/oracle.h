// The content that a database may have after a crash: its state after some prefix of the writes in sequence order,
// batches whole, that has every write promised and none that was not started.
//
// Keys are numbers below some count; the text of a key is KeyText. Some of them may lie in a column family.

#ifndef MIODB_TESTS_SIMULATION_ORACLE_H_
#define MIODB_TESTS_SIMULATION_ORACLE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "miodb/db.h"

namespace miodb::sim {

struct Update {
  enum class Kind {
    kPut,
    kDelete,
    kMerge,
    kSingleDelete,
    kDeleteRange,
    kPutForMoment,  // with a lifetime that is over when anybody reads: the key is gone
    kPutForAges,    // with one that is not
  };

  int key;  // below 0: a write of no key, as a drop of an empty column family is
  Kind kind;
  std::string value;  // of a put, or the operand of a merge, which is appended behind a comma; the end of a range
};

class Oracle {
 public:
  // By key: its value, or null.
  using State = std::vector<const std::string*>;

  // Keys from first_family_key up to end_family_key, which is none of them, lie in the family kFamily.
  explicit Oracle(int keys, int first_family_key = 0, int end_family_key = 0);

  static constexpr char kFamily[] = "family";
  bool InFamily(int key) const { return key >= first_family_key_ && key < end_family_key_; }

  // An oracle for what happens after a recovery that came to sequence p of this one. This one must outlive it.
  Oracle Fork(uint64_t p) const;

  // A write is under way; it becomes acknowledged, and perhaps promised, or was refused before it began.
  void Start(const std::vector<Update>& batch);
  void Acknowledge(bool promise);
  void Refuse();
  // Acknowledges and promises the writes under way up to this sequence.
  void AcknowledgeUpTo(uint64_t sequence);
  void PromiseAll() { promised_ = acknowledged_; }

  // A savepoint is being made of what was started, or dropped; then it is there, or not.
  enum class Phase { kMaking, kThere, kDropping };
  void StartSavepoint(const std::string& name);
  void EndSavepoint(const std::string& name, bool is_there);
  bool HasSavepoint(const std::string& name) const { return savepoints_.count(name) > 0; }

  // Writes that were not promised are no longer acknowledged.
  void LosePower() { acknowledged_ = promised_; }

  // Where it begins: nothing is known of what came before.
  uint64_t base() const { return base_; }
  uint64_t promised() const { return promised_; }          // survives loss of power
  uint64_t acknowledged() const { return acknowledged_; }  // survives the process
  uint64_t started() const { return started_; }

  // The state after the writes up to sequence p; null if a write straddles p or p is beyond what was started.
  const State* At(uint64_t p) const;
  const State& now() const { return states_.back(); }

  int keys() const { return static_cast<int>(states_[0].size()); }
  static const std::string& KeyText(int key);

  // Compares everything the database says with the state of some allowed prefix. Empty, or what is wrong; *p is the
  // prefix.
  std::string Check(DB* db, uint64_t low, uint64_t high, uint64_t* p) const;

 private:
  Oracle() = default;

  struct Saved {
    Phase phase;
    State state;
  };

  std::string CheckState(DB* db, const State& state) const;
  std::string CheckScan(DB* db, const State& state, ColumnFamilyHandle* family) const;
  std::string CheckSavepoints(DB* db) const;

  int first_family_key_ = 0;
  int end_family_key_ = 0;
  uint64_t base_ = 0;  // sequence of states_[0]
  uint64_t promised_ = 0;
  uint64_t acknowledged_ = 0;
  uint64_t started_ = 0;
  std::vector<State> states_;   // after each write
  std::vector<uint64_t> ends_;  // sequence after each write, beginning with base_
  std::shared_ptr<std::deque<std::string>> values_;
  std::map<std::string, Saved> savepoints_;
};

}  // namespace miodb::sim

#endif  // MIODB_TESTS_SIMULATION_ORACLE_H_
