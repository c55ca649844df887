// What a database is made with, and how a part of it writes to the info log.

#include "src/db/db_context.h"

#include <cstdarg>

#include "src/db/file_names.h"
#include "src/util/check.h"
#include "src/version/version_edit.h"

namespace miodb {

namespace {

Options WithOperator(Options options, const MergeOperator* merge_operator) {
  if (options.merge_operator != nullptr) options.merge_operator = merge_operator;
  return options;
}

}  // namespace

// The comparator and the number of levels are the user's; the Env is replaced by one for the database's own files,
// which follows no link and gives files the modes that Options::file_access asks for; and the merge operator by one
// that knows the keys of column families.
DbContext::DbContext(const Options& user_options, const std::string& directory, const DbHooks& test_hooks)
    : merge_operator(user_options.merge_operator, families.has_families()),
      options(WithOperator(WithOwnFiles(user_options), &merge_operator)),
      name(directory),
      hooks(test_hooks),
      order(user_options.comparator, families.has_families()),
      statistics(static_cast<size_t>(user_options.num_levels), kMaxSsdLevels) {
  CHECK(options.env != nullptr && options.comparator != nullptr);  // CheckOptions comes first
  CHECK_GE(options.num_levels, 2);
}

// A logger of the user's may throw as well as one without memory. Neither is a reason to fail what is being logged.
void DbContext::Log(const char* format, ...) const {
  DCHECK(format != nullptr);
  if (info_log == nullptr) return;
  va_list arguments;
  va_start(arguments, format);
  try {
    info_log->Logv(format, arguments);
  } catch (const std::exception&) {
    // A message less.
  }
  va_end(arguments);
}

void DbContext::LogStatus(const char* what, const Status& s) const {
  try {
    Log("%s: %s", what, s.ToString().c_str());
  } catch (const std::exception&) {
    // A message less.
  }
}

}  // namespace miodb
