// Opening a database by its directory: where its parts are it says itself (tools/inspect/inspect.h).
//
// Threads: one. Ownership: the DB belongs to whoever opened it; what its options point at lives as long as the process.

#ifndef MIODB_TOOLS_MIODB_STORES_STORE_H_
#define MIODB_TOOLS_MIODB_STORES_STORE_H_

#include <memory>
#include <string>
#include <vector>

#include "miodb/db.h"
#include "tools/miodb/stores/families.h"
#include "tools/miodb/terminal/command.h"
#include "tools/miodb/terminal/text.h"

namespace miodb::tool {

// Options of every verb that opens a database.
class OpenOptions {
 public:
  void AddOptions(OptionTable* options);
  // The option --create, of verbs that may make a database.
  void AddCreate(OptionTable* options, const std::string& help);
  // A setting of the verb's own, as --option has it, which --option may overrule.
  void AddSetting(const std::string& setting) { settings_.insert(settings_.begin(), setting); }

  // Where the database in this directory has its parts, and what the command line says of it besides. A database that
  // is there keeps all of its log for followers (Options::keep_log_bytes), unless the command line says otherwise.
  // Returns what is wrong with that, or nothing.
  std::string Make(const std::string& directory, Options* options) const;

  // Opens the database, or a reader of the database. null: the open failed and the message was printed.
  std::unique_ptr<DB> Open(const Call& call, const std::string& directory) const;
  std::unique_ptr<DB> OpenReader(const Call& call, const std::string& directory) const;

  bool create() const { return create_; }

  // Whether an open would make the database in this directory.
  bool WouldCreate(const std::string& directory) const;

 private:
  using OpenCall = Status (*)(const Options& options, const std::string& name, DB** db);

  std::unique_ptr<DB> OpenBy(OpenCall open, const Call& call, const std::string& directory) const;

  bool create_ = false;
  std::string merge_operator_;
  std::vector<std::string> settings_;
};

// A verb that opens a database, the first operand, and works with it. In the shell it is open already.
//
// The words are read before the database is opened: words that cannot be used make no database.
class StoreCommand : public Command {
 public:
  explicit StoreCommand(FamilyScope scope) : families_(scope) {}

  void AddOptions(OptionTable* options) override;
  int Run(const Call& call) final;

  // Adds the options that the shell has as well: all but those that say how the database is opened.
  virtual void AddShellOptions(OptionTable* options);
  // Reads the words and does the work. The operands are those behind the database.
  int RunIn(DB* db, const Call& call);

 protected:
  virtual void AddOwnOptions(OptionTable*) {}
  // Reads the operands behind the database. given: how the database is going to be opened; null in the shell. Not
  // kDone: the message was printed, and nothing is opened.
  virtual int ReadWords(const Call& call, const Options* given);
  virtual std::unique_ptr<DB> Open(const Call& call, const std::string& directory) const;
  // Chooses the families and does the work.
  virtual int Work(DB* db, const Call& call);
  virtual int RunOn(DB* db, const Call& call) = 0;

  const OpenOptions& open() const { return open_; }
  OpenOptions* mutable_open() { return &open_; }

  FamilyChoice* families() { return &families_; }
  // The family of a verb that works in one.
  ColumnFamilyHandle* family() const { return families_.families().front(); }

 private:
  FamilyChoice families_;
  OpenOptions open_;
};

// Advice if a savepoint does not exist.
inline constexpr char kListsSavepoints[] = "\"miodb savepoint DATABASE list\" shows which there are.";

// A verb that reads a database, also beside the process that has it open, or a savepoint of it.
class ReadCommand : public StoreCommand {
 public:
  using StoreCommand::StoreCommand;

  void AddOptions(OptionTable* options) final;
  void AddShellOptions(OptionTable* options) final;

 protected:
  std::unique_ptr<DB> Open(const Call& call, const std::string& directory) const final;
  int Work(DB* db, const Call& call) final;

 private:
  std::optional<std::string> savepoint_;
  bool reader_ = false;
};

// The range of keys for a verb.
class KeyRange {
 public:
  void AddOptions(OptionTable* options);
  // The option --limit, of verbs that go from record to record.
  void AddLimit(OptionTable* options);

  // Decodes what was given. Returns what is wrong with it, or nothing.
  std::string Read(const Coding& coding);

  // The bounds: the range and the keys that begin with the prefix, whichever is narrower. The slices are the range's.
  const Slice* lower() const { return has_lower_ ? &lower_ : nullptr; }
  const Slice* upper() const { return has_upper_ ? &upper_ : nullptr; }
  void Bind(ReadOptions* options) const;

  // Most records; UINT64_MAX: all.
  uint64_t limit() const { return limit_ < 0 ? UINT64_MAX : static_cast<uint64_t>(limit_); }

 private:
  std::optional<std::string> from_;
  std::optional<std::string> to_;
  std::optional<std::string> prefix_;
  int64_t limit_ = -1;
  std::string lower_key_, upper_key_;
  bool has_lower_ = false, has_upper_ = false;
  Slice lower_, upper_;
};

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_STORES_STORE_H_
