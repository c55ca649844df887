// Column families, for all verbs in the same way: a verb says whether it is about the database, one family or all of
// them, and --column_family=NAME names one. A family that is named stands alone: its records are shown as those of a
// database without families. Where a verb goes through all of them, the default family comes first and the others
// follow by their names; a record of another family than the default one has the name of its family in front.
//
// Threads: one. Ownership: handles are the database's. Errors: a Status that names the families which are there.

#ifndef MIODB_TOOLS_MIODB_STORES_FAMILIES_H_
#define MIODB_TOOLS_MIODB_STORES_FAMILIES_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "miodb/db.h"
#include "tools/miodb/terminal/command.h"

namespace miodb::tool {

inline constexpr char kDefaultFamilyName[] = "default";

// Whether a family comes before another one in a walk through all of them.
bool FamilyComesBefore(const std::string& a, const std::string& b);

// The handles of all families that the database has now, in the order of a walk.
Status AllFamilies(DB* db, std::vector<ColumnFamilyHandle*>* families);

// Finds the family of this name, or makes one.
Status FamilyToWrite(DB* db, const std::string& name, ColumnFamilyHandle** family);

// The families that a verb is made for.
enum class FamilyScope {
  kDatabase,  // the database as a whole
  kOne,       // one family: the default one unless another one is named
  kAll,       // all families unless one is named
};

// The families that a verb works in.
class FamilyChoice {
 public:
  explicit FamilyChoice(FamilyScope scope) : scope_(scope) {}

  void AddOptions(OptionTable* options);

  // Decodes the name that was given, for the looks. InvalidArgument: no family can have that name.
  Status ReadName();

  // Looks for the families in the database, or a view of it, that a verb works on. With make a family that is named and
  // not there is made.
  enum class Missing { kIsAnError, kIsMade };
  Status Look(DB* db, Missing missing);

  // The result of the last look.
  const std::vector<ColumnFamilyHandle*>& families() const { return families_; }
  bool is_named() const { return option_.has_value(); }
  // The name to be shown with records of a family; empty: it is the default one, or stands alone.
  std::string Shown(const ColumnFamilyHandle& family) const;

  // The advice to look for a missing key in the other families; empty where the database has none.
  std::string AdviceForMissingKey(DB* db) const;

 private:
  const FamilyScope scope_;
  std::optional<std::string> option_;
  std::string name_ = kDefaultFamilyName;
  std::vector<ColumnFamilyHandle*> families_;
};

// "default, orders", as text.
std::string NamesOf(const std::vector<ColumnFamilyHandle*>& families);

class KeyRange;

// The records of the chosen families that lie in a range, as of one moment.
class RecordWalk {
 public:
  enum class Direction { kForward, kBackward };

  // Looks at the database. IOError: a reader changed all the time, and there was no moment to look at.
  Status Open(DB* db, const KeyRange& range, ReadOptions options, FamilyChoice* choice);

  // Calls begin(name) at each family, with the name that is shown with its records, and use(key, value) for each record
  // until it returns false. Ends also at the limit of the range and after a signal.
  Status Go(Direction direction, const std::function<void(const std::string& family)>& begin,
            const std::function<bool(const Slice& key, const Slice& value)>& use);

 private:
  struct Part {
    std::string family;  // as it is shown
    std::unique_ptr<Iterator> records;
  };

  std::vector<Part> parts_;
  uint64_t limit_ = 0;
};

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_STORES_FAMILIES_H_
