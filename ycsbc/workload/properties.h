// Names and values as property files and -p give them, before anybody asks what they mean.
//
// A file has one name=value a line; lines that begin with # or ! and blank lines are passed over; blanks around names
// and values do not count. A name that comes again replaces the value.

#ifndef MIODB_YCSBC_WORKLOAD_PROPERTIES_H_
#define MIODB_YCSBC_WORKLOAD_PROPERTIES_H_

#include <map>
#include <string>

namespace miodb::ycsb {

class Properties {
 public:
  void Set(const std::string& name, const std::string& value) { values_[name] = value; }

  // Adds "name=value". Returns what is wrong with the text, or nothing.
  std::string Add(const std::string& text);

  // Adds what a file holds. Returns what is wrong, naming file and line, or nothing.
  std::string AddFile(const std::string& path);

  void AddAll(const Properties& later);

  // nullptr if there is none.
  const std::string* Find(const std::string& name) const;

  const std::map<std::string, std::string>& all() const { return values_; }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_WORKLOAD_PROPERTIES_H_
