// The shadow of a database: a std::map of versions, its states, and a cursor that moves as a database iterator promises
// to.

#ifndef MIODB_TESTS_COMMON_RANDOM_MODEL_H_
#define MIODB_TESTS_COMMON_RANDOM_MODEL_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "miodb/comparator.h"
#include "miodb/slice.h"
#include "miodb/write_batch.h"

namespace miodb::test {

class Model {
 public:
  struct Less {
    const Comparator* comparator;
    bool operator()(const std::string& a, const std::string& b) const { return comparator->Compare(a, b) < 0; }
  };

  class State;

  explicit Model(const Comparator* comparator) : versions_(std::make_shared<Versions>(Less{comparator})) {}

  void Put(const std::string& key, const std::string& value) { Add(key, value); }
  void Delete(const std::string& key) { Add(key, std::nullopt); }
  // As NewStringAppendOperator(",") merges.
  void Merge(const std::string& key, const std::string& operand);
  // Deletes the keys from begin up to end, without end.
  void DeleteRange(const std::string& begin, const std::string& end);
  void Apply(const WriteBatch& batch);

  // The state of now, for as long as it is held. Costs nothing, then and later.
  State Snapshot() const;

 private:
  struct Version {
    uint64_t number;
    std::string key;  // as it was written: an equal key may have had other bytes before
    std::optional<std::string> value;
  };
  // All versions of every key, the oldest first. Nothing is ever taken out.
  using Versions = std::map<std::string, std::deque<Version>, Less>;

  void Add(const std::string& key, std::optional<std::string> value);

  std::shared_ptr<Versions> versions_;
  uint64_t number_ = 0;  // of writes
};

// The pairs that were there after a number of writes.
class Model::State {
 public:
  // Stands on a pair or behind the last one. Valid while any state of the model is.
  class Cursor {
   public:
    bool operator==(const Cursor& other) const { return at_ == other.at_; }
    Cursor& operator++();
    Cursor& operator--();
    const std::string& key() const { return found_->key; }
    const std::string& value() const { return *found_->value; }

   private:
    friend class State;
    Cursor(const State* state, Versions::const_iterator at);
    void SkipMissing();

    const Versions* versions_;
    uint64_t number_;
    Versions::const_iterator at_;
    const Version* found_ = nullptr;
  };

  Cursor begin() const { return Cursor(this, versions_->begin()); }
  Cursor end() const { return Cursor(this, versions_->end()); }
  Cursor LowerBound(const std::string& key) const { return Cursor(this, versions_->lower_bound(key)); }
  bool Before(const std::string& a, const std::string& b) const { return versions_->key_comp()(a, b); }

  // The value of a key, or nullptr.
  const std::string* Find(const std::string& key) const;

 private:
  friend class Model;
  State(std::shared_ptr<const Versions> versions, uint64_t number) : versions_(std::move(versions)), number_(number) {}
  static const Version* Visible(const std::deque<Version>& versions, uint64_t number);

  std::shared_ptr<const Versions> versions_;
  uint64_t number_;
};

// The model of an Iterator with these bounds over this state.
class ModelCursor {
 public:
  ModelCursor(Model::State state, std::optional<std::string> lower, std::optional<std::string> upper);

  bool Valid() const { return valid_; }
  void SeekToFirst();
  void SeekToLast();
  void Seek(const std::string& target);
  void Next();
  void Prev();
  const std::string& key() const { return at_.key(); }
  const std::string& value() const { return at_.value(); }
  const Model::State& state() const { return state_; }

 private:
  const Model::State state_;
  Model::State::Cursor begin_;
  Model::State::Cursor end_;
  Model::State::Cursor at_;
  bool valid_ = false;
};

// Text for messages: printable bytes as they are, others in hex, long strings cut.
std::string Printable(const Slice& bytes);

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_RANDOM_MODEL_H_
