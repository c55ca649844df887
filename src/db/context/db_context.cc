// The objects that a database is made with, and the way in which a part writes to the info log.

#include "src/db/context/db_context.h"

#include <cstdarg>

#include "src/db/context/options_check.h"
#include "src/format/file_names.h"
#include "src/util/check/check.h"
#include "src/version/edit/version_edit.h"

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
      pool_place(PlaceOfPool(options.pool_path)),
      name(directory),
      hooks(test_hooks),
      order(user_options.comparator, families.has_families()),
      statistics(static_cast<size_t>(user_options.num_levels), kMaxSsdLevels) {
  CHECK(options.env != nullptr && options.comparator != nullptr);  // CheckOptions comes first
  CHECK_GE(options.num_levels, 2);
  if (options.statistics) statistics.times = std::make_unique<OpTimes>();
}

Status DbContext::StartDeviceTrace() {
  CHECK(pool == nullptr && device_trace == nullptr);
  if (options.device_trace.empty()) return Status::OK();
  CHECK(nvm_model != nullptr);
  const Status s = AccessTrace::Start(options.device_trace, options.device_trace_sample, &device_trace);
  if (s.ok()) nvm_model->TraceTo(device_trace.get());
  return s;
}

// A logger of the user's may throw as well as one without memory. Neither is a reason to fail what is being logged.
void DbContext::Logv(InfoLogLevel level, const char* format, va_list arguments) const {
  DCHECK(format != nullptr);
  if (info_log == nullptr || level < options.info_log_level) return;
  try {
    info_log->Logv(format, arguments);
  } catch (const std::exception&) {
    // A message less.
  }
}

void DbContext::Log(const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  Logv(InfoLogLevel::kInfo, format, arguments);
  va_end(arguments);
}

void DbContext::LogWarning(const char* format, ...) const {
  DCHECK(format != nullptr);
  va_list arguments;
  va_start(arguments, format);
  Logv(InfoLogLevel::kWarning, format, arguments);
  va_end(arguments);
}

void DbContext::LogStatus(const char* what, const Status& s) const {
  DCHECK(what != nullptr && !s.ok());
  const auto log = [this](const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    Logv(InfoLogLevel::kError, format, arguments);
    va_end(arguments);
  };
  try {
    log("%s: %s", what, s.ToString().c_str());
  } catch (const std::exception&) {
    // A message less.
  }
}

}  // namespace miodb
