#include "tools/miodb/terminal/line_editor.h"

#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>

#include "benchmarks/common/interrupt.h"

namespace miodb::tool {

namespace {

// Constants of libedit's header histedit.h: its interface since 2016.
enum : int {
  kElPrompt = 0,
  kElEditor = 2,
  kElSignal = 3,
  kElBind = 4,
  kElAddFn = 9,
  kElHist = 10,
  kElGetCfn = 13,
  kElPrepTerm = 16
};
enum : int { kHistorySetSize = 1, kHistoryEnter = 10, kHistorySetUnique = 20 };
enum : unsigned char { kRefresh = 4, kError = 6 };

constexpr int kHistoryLines = 1000;

}  // namespace

// The library, with one line editor. libedit calls back without saying for whom, so there is one at a time.
class LineEditor::LibEdit {
 public:
  struct LineInfo {
    const char* buffer;
    const char* cursor;
    const char* last;
  };

  struct HistoryEvent {
    int number;
    const char* text;
  };

  static std::unique_ptr<LibEdit> Load(Complete complete) {
    auto libedit = std::unique_ptr<LibEdit>(new LibEdit(std::move(complete)));
    return libedit->Start() ? std::move(libedit) : nullptr;
  }

  ~LibEdit() {
    if (history_ != nullptr) history_end_(history_);
    if (editor_ != nullptr) end_(editor_);
    current_ = nullptr;
  }

  // The line without its newline; false at the end of the input, after an error and after a signal.
  bool Read(const std::string& prompt, std::string* line) {
    prompt_ = prompt;
    set_(editor_, kElPrepTerm, 1);  // before the prompt: a key that answers it is never the terminal's to interpret
    int count = 0;
    const char* const text = gets_(editor_, &count);
    if (text == nullptr || count <= 0 || bench::Interrupt::StopRequested()) return false;
    line->assign(text, static_cast<size_t>(count));
    while (line->ends_with('\n') || line->ends_with('\r')) line->pop_back();
    HistoryEvent event;
    if (!line->empty()) history_call_(history_, &event, kHistoryEnter, line->c_str());
    return true;
  }

  const Status& status() const { return status_; }

 private:
  explicit LibEdit(Complete complete) : complete_(std::move(complete)) {}

  template <typename Function>
  bool Find(void* library, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
  }

  bool Start() {
    void* const library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    void* (*init)(const char*, FILE*, FILE*, FILE*);
    void* (*history_init)();
    if (!Find(library, "el_init", &init) || !Find(library, "el_end", &end_) || !Find(library, "el_set", &set_) ||
        !Find(library, "el_gets", &gets_) || !Find(library, "el_line", &line_) ||
        !Find(library, "el_insertstr", &insert_) || !Find(library, "history_init", &history_init) ||
        !Find(library, "history_end", &history_end_) || !Find(library, "history", &history_call_)) {
      return false;
    }
    std::setlocale(LC_CTYPE, "");
    editor_ = init("miodb", stdin, stdout, stderr);
    history_ = history_init();
    if (editor_ == nullptr || history_ == nullptr) return false;
    current_ = this;
    HistoryEvent event;
    history_call_(history_, &event, kHistorySetSize, kHistoryLines);
    history_call_(history_, &event, kHistorySetUnique, 1);
    set_(editor_, kElEditor, "emacs");
    set_(editor_, kElSignal, 0);  // signals are the program's
    set_(editor_, kElPrompt, &LibEdit::Prompt);
    set_(editor_, kElHist, history_call_, history_);
    set_(editor_, kElGetCfn, &LibEdit::GetCharacter);
    set_(editor_, kElAddFn, "miodb-complete", "Completes a word", &LibEdit::CompleteWord);
    set_(editor_, kElBind, "^I", "miodb-complete", nullptr);
    set_(editor_, kElBind, "^R", "em-inc-search-prev", nullptr);
    return true;
  }

  static const char* Prompt(void*) { return current_->prompt_.c_str(); }

  // Reads a character of the terminal's encoding. -1 ends the line: after a signal, or for bytes that are no character.
  static int GetCharacter(void*, wchar_t* character) {
    std::mbstate_t state = {};
    for (int bytes = 0; bytes < 8; bytes++) {
      if (!bench::Interrupt::Wait(STDIN_FILENO, POLLIN)) return -1;
      char byte;
      const ssize_t n = read(STDIN_FILENO, &byte, 1);
      if (n < 0) current_->status_ = Status::IOError("standard input", strerror(errno));
      if (n <= 0) return static_cast<int>(n);
      const size_t converted = std::mbrtowc(character, &byte, 1, &state);
      if (converted <= 1) return 1;
      if (converted == static_cast<size_t>(-1)) break;
    }
    *character = L'?';
    return 1;
  }

  // Adds what all completions of the last word have in common, or shows them.
  static unsigned char CompleteWord(void* editor, int) {
    const LineInfo* const info = current_->line_(editor);
    const std::string beginning(info->buffer, info->cursor);
    const std::string word = beginning.substr(beginning.find_last_of(" \t") + 1);
    std::vector<std::string> matches;
    for (const std::string& candidate : current_->complete_(beginning)) {
      if (candidate.starts_with(word)) matches.push_back(candidate);
    }
    if (matches.empty()) return kError;
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
    } else if (current_->insert_(editor, added.c_str()) < 0) {
      return kError;
    }
    return kRefresh;
  }

  static LibEdit* current_;

  const Complete complete_;
  std::string prompt_;
  Status status_;
  void* editor_ = nullptr;
  void* history_ = nullptr;
  void (*end_)(void*);
  int (*set_)(void*, int, ...);
  const char* (*gets_)(void*, int*);
  const LineInfo* (*line_)(void*);
  int (*insert_)(void*, const char*);
  void (*history_end_)(void*);
  int (*history_call_)(void*, HistoryEvent*, int, ...);
};

LineEditor::LibEdit* LineEditor::LibEdit::current_ = nullptr;

LineEditor::LineEditor(Complete complete)
    : is_interactive_(isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0), input_("-") {
  if (is_interactive_) libedit_ = LibEdit::Load(std::move(complete));
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
