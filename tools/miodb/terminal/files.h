// Standard input, standard output and files, read and written so that Ctrl-C is noticed while they wait, and so that a
// full disk and a reader that went away are.
//
// Threads: one. Errors: a Status, or a state that is asked for at the end.

#ifndef MIODB_TOOLS_MIODB_TERMINAL_FILES_H_
#define MIODB_TOOLS_MIODB_TERMINAL_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "miodb/status.h"
#include "tools/miodb/terminal/command.h"

namespace miodb::tool {

// Where results go. Collects small pieces.
class Output {
 public:
  Output();  // standard output
  // A file with a new name. The file is made under another name and gets its own by Finish.
  explicit Output(const std::string& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void Write(std::string_view text);

  // False as soon as nothing more can be written: whoever produces may stop.
  bool ok() const { return state_ == State::kOpen; }

  // Writes what is left and gives a file its name. Returns the code, or kFailed, having said why; nothing is said of a
  // reader that went away, as head(1) does, nor after an interruption.
  int Finish(const Call& call, int code);

 private:
  enum class State { kOpen, kReaderGone, kInterrupted, kFailed };

  void Flush();
  void SetFailed(const std::string& what);

  const std::string path_;  // empty: standard output
  int descriptor_;
  State state_ = State::kOpen;
  std::string buffer_;
  std::string error_;
};

// Where data comes from: a file, or standard input, which is called "-".
class Input {
 public:
  explicit Input(const std::string& path);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  const Status& status() const { return status_; }

  // The next line without its newline. False at the end, on an error and after an interruption.
  bool ReadLine(std::string_view* line);

  // All that is left. InvalidArgument: that is more than so many bytes.
  bool ReadAll(uint64_t most, std::string* text);

  // From 0 to 1; 0 if that cannot be known.
  double ShareRead() const;

 private:
  bool Fill();

  const std::string path_;
  int descriptor_;
  Status status_;
  bool at_end_ = false;
  std::string buffer_;
  size_t begin_ = 0;  // of what was not handed out
  uint64_t bytes_read_ = 0;
  uint64_t bytes_ = 0;  // of the file; 0: not known
};

bool Exists(const std::string& path);
bool IsDirectory(const std::string& path);

// Whether a directory can be given the name of this empty one: a mount point and a link keep theirs.
bool IsReplaceable(const std::string& directory);

// The names in a directory; none if it cannot be read.
std::vector<std::string> NamesIn(const std::string& directory);

// The path without slashes at its end, which DirectoryOf would take for a name.
std::string WithoutLastSlashes(std::string path);

// The name under which a directory is made that is to have this path when it is whole.
std::string Unfinished(const std::string& path);

// Gives a file or a directory that is whole its path, which nothing may have but, if it is a directory, an empty one.
// The name is durable.
Status GiveName(const std::string& unfinished, const std::string& path);

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_TERMINAL_FILES_H_
