// Lines from a person or a pipe. On a terminal they are edited, with history and completion, by libedit; without a
// terminal they are read as they come.
//
// The terminal is in libedit's mode only while a line is being read, and libedit puts it back when the reading ends,
// also by a signal: characters are waited for here, where a signal ends the wait.
//
// Threads: one.

#ifndef MIODB_TOOLS_MIODB_TERMINAL_LINE_EDITOR_H_
#define MIODB_TOOLS_MIODB_TERMINAL_LINE_EDITOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "miodb/status.h"
#include "tools/miodb/terminal/files.h"

namespace miodb::tool {

class LineEditor {
 public:
  enum class Result { kLine, kEnd, kInterrupted, kFailed };

  // The words that may stand where the last word of this beginning of a line stands.
  using Complete = std::function<std::vector<std::string>(const std::string& beginning)>;

  explicit LineEditor(Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Whether a person is asked: input and output are a terminal.
  bool is_interactive() const { return is_interactive_; }

  Result Read(const std::string& prompt, std::string* line);

  // Why the last read failed, if it did.
  const Status& status() const;

 private:
  class LibEdit;

  const bool is_interactive_;
  Input input_;
  std::unique_ptr<LibEdit> libedit_;  // null: lines are not edited
};

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_TERMINAL_LINE_EDITOR_H_
