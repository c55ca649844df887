// The shadow of a database: a std::map, its snapshots, and a cursor that moves as a database iterator promises to.

#ifndef MIODB_TESTS_COMMON_MODEL_H_
#define MIODB_TESTS_COMMON_MODEL_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

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
  // Values are shared between states. The key holds the bytes that were written last.
  using Map = std::map<std::string, std::shared_ptr<const std::string>, Less>;
  using State = std::shared_ptr<const Map>;

  explicit Model(const Comparator* comparator) : map_(std::make_shared<Map>(Less{comparator})) {}

  void Put(const std::string& key, const std::string& value);
  void Delete(const std::string& key);
  void Apply(const WriteBatch& batch);

  const Map& map() const { return *map_; }

  // The state of now, for as long as it is held. Costs nothing; the next write copies the map.
  State Snapshot() const { return map_; }

  // The value of a key in a state, or nullptr.
  static const std::string* Find(const Map& state, const std::string& key);

 private:
  Map* Own();

  std::shared_ptr<Map> map_;
};

// What an Iterator with these bounds does over this state.
class ModelCursor {
 public:
  ModelCursor(Model::State state, std::optional<std::string> lower, std::optional<std::string> upper);

  bool Valid() const { return valid_; }
  void SeekToFirst();
  void SeekToLast();
  void Seek(const std::string& target);
  void Next();
  void Prev();
  const std::string& key() const { return at_->first; }
  const std::string& value() const { return *at_->second; }
  const Model::Map& state() const { return *state_; }

 private:
  const Model::State state_;
  Model::Map::const_iterator begin_;
  Model::Map::const_iterator end_;
  Model::Map::const_iterator at_;
  bool valid_ = false;
};

// Text for messages: printable bytes as they are, others in hex, long strings cut.
std::string Printable(const Slice& bytes);

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_MODEL_H_
