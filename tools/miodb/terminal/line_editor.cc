#include "tools/miodb/terminal/line_editor.h"

#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <cwchar>

#include "benchmarks/common/interrupt.h"

namespace miodb::tool {

namespace {

constexpr int kHistoryLines = 1000;

}  // namespace

// A line editor of the library. libedit's callbacks find it as the editor's client data.
class LineEditor::LibEdit {
 public:
  // Null if libedit finds no memory.
  static std::unique_ptr<LibEdit> Start(Complete complete) {
    auto libedit = std::unique_ptr<LibEdit>(new LibEdit(std::move(complete)));
    return libedit->SetUp() ? std::move(libedit) : nullptr;
  }

  ~LibEdit() {
    if (history_ != nullptr) history_end(history_);
    if (editor_ != nullptr) el_end(editor_);
  }

  // The line without its newline; false at the end of the input, after an error and after a signal.
  bool Read(const std::string& prompt, std::string* line) {
    prompt_ = prompt;
    el_set(editor_, EL_PREP_TERM, 1);  // before the prompt: a key that answers it is never the terminal's to interpret
    int count = 0;
    const char* const text = el_gets(editor_, &count);
    if (text == nullptr || count <= 0 || bench::Interrupt::StopRequested()) return false;
    line->assign(text, static_cast<size_t>(count));
    while (line->ends_with('\n') || line->ends_with('\r')) line->pop_back();
    HistEvent event;
    if (!line->empty()) history(history_, &event, H_ENTER, line->c_str());
    return true;
  }

  const Status& status() const { return status_; }

 private:
  explicit LibEdit(Complete complete) : complete_(std::move(complete)) {}

  bool SetUp() {
    std::setlocale(LC_CTYPE, "");
    editor_ = el_init("miodb", stdin, stdout, stderr);
    history_ = history_init();
    if (editor_ == nullptr || history_ == nullptr) return false;
    HistEvent event;
    history(history_, &event, H_SETSIZE, kHistoryLines);
    history(history_, &event, H_SETUNIQUE, 1);
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_SIGNAL, 0);  // signals are the program's
    el_set(editor_, EL_PROMPT, &LibEdit::Prompt);
    el_set(editor_, EL_HIST, history, history_);
    el_set(editor_, EL_GETCFN, &LibEdit::GetCharacter);
    el_set(editor_, EL_ADDFN, "miodb-complete", "Completes a word", &LibEdit::CompleteWord);
    el_set(editor_, EL_BIND, "^I", "miodb-complete", nullptr);
    el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    return true;
  }

  static LibEdit* Of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return static_cast<LibEdit*>(data);
  }

  static const char* Prompt(EditLine* editor) { return Of(editor)->prompt_.c_str(); }

  // Reads a character of the terminal's encoding. -1 ends the line: after a signal, or for bytes that are no character.
  static int GetCharacter(EditLine* editor, wchar_t* character) {
    std::mbstate_t state = {};
    for (int bytes = 0; bytes < 8; bytes++) {
      if (!bench::Interrupt::Wait(STDIN_FILENO, POLLIN)) return -1;
      char byte;
      const ssize_t n = read(STDIN_FILENO, &byte, 1);
      if (n < 0) Of(editor)->status_ = Status::IOError("standard input", strerror(errno));
      if (n <= 0) return static_cast<int>(n);
      const size_t converted = std::mbrtowc(character, &byte, 1, &state);
      if (converted <= 1) return 1;
      if (converted == static_cast<size_t>(-1)) break;
    }
    *character = L'?';
    return 1;
  }

  // Adds what all completions of the last word have in common, or shows them.
  static unsigned char CompleteWord(EditLine* editor, int) {
    const LineInfo* const info = el_line(editor);
    const std::string beginning(info->buffer, info->cursor);
    const std::string word = beginning.substr(beginning.find_last_of(" \t") + 1);
    std::vector<std::string> matches;
    for (const std::string& candidate : Of(editor)->complete_(beginning)) {
      if (candidate.starts_with(word)) matches.push_back(candidate);
    }
    if (matches.empty()) return CC_ERROR;
    std::string common = matches[0];
    for (const std::string& match : matches) {
      while (!match.starts_with(common)) common.pop_back();
    }
    std::string added = common.substr(word.size());
    if (matches.size() == 1 && !common.ends_with('=')) added += ' ';
    if (added.empty()) {
      std::string list = "\n";
      for (const std::string& match : matches) list += match + "  ";
      std::fprintf(stdout, "%s\n", list.c_str());
    } else if (el_insertstr(editor, added.c_str()) < 0) {
      return CC_ERROR;
    }
    return CC_REFRESH;
  }

  const Complete complete_;
  std::string prompt_;
  Status status_;
  EditLine* editor_ = nullptr;
  History* history_ = nullptr;
};

LineEditor::LineEditor(Complete complete)
    : is_interactive_(isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0), input_("-") {
  if (is_interactive_) libedit_ = LibEdit::Start(std::move(complete));
}

LineEditor::~LineEditor() = default;

LineEditor::Result LineEditor::Read(const std::string& prompt, std::string* line) {
  bool is_read = false;
  if (libedit_ != nullptr) {
    is_read = libedit_->Read(prompt, line);
  } else {
    if (is_interactive_) {
      std::fputs(prompt.c_str(), stdout);
      std::fflush(stdout);
    }
    std::string_view text;
    is_read = input_.ReadLine(&text);
    if (is_read) line->assign(text);
  }
  if (is_read) return Result::kLine;
  if (bench::Interrupt::StopRequested()) return Result::kInterrupted;
  return status().ok() ? Result::kEnd : Result::kFailed;
}

const Status& LineEditor::status() const { return libedit_ != nullptr ? libedit_->status() : input_.status(); }

}  // namespace miodb::tool
