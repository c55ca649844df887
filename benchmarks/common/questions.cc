#include "benchmarks/common/questions.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

namespace miodb::bench {

namespace {

constexpr int kKeys = 100;
constexpr const char* kNotAsked = "not asked";  // the engine has no call, or the process has threads

std::string Key(int i) {
  std::string digits = std::to_string(i);
  return std::string(16 - digits.size(), '0') + digits;
}

// A store that a child process has opened. Each check returns what is wrong, or nothing; "where" says when it was made.
class Asked {
 public:
  explicit Asked(const EngineConfig& config) : engine_(NewEngine(config, &problem_)) {
    if (engine_ == nullptr) return;
    const Outcome opened = engine_->Open();
    if (!opened.ok()) problem_ = "opening fails: " + opened.message;
    if (opened.ok()) session_ = engine_->NewSession(SessionOptions());
  }

  const std::string& problem() const { return problem_; }
  Session& session() { return *session_; }

  void Put(int key, const std::string& value) { Note(session_->Put(Key(key), value), "a put"); }
  void Delete(int key) { Note(session_->Delete(Key(key)), "a delete"); }
  void Note(Code code, const std::string& call) {
    if (code != Code::kOk && problem_.empty()) problem_ = call + " fails: " + session_->error();
  }
  void Flush() {
    const Outcome outcome = engine_->Flush();
    if (!outcome.ok() && problem_.empty()) problem_ = "a flush fails: " + outcome.message;
  }
  void Close() {
    session_.reset();
    engine_->Close();
  }

  // Whether a get and a cursor find this value; an empty one: nothing.
  void Expect(int key, const std::string& value, const std::string& where) {
    if (!problem_.empty()) return;
    const std::string name = Key(key);
    std::string_view found;
    const Code code = session_->Get(name, &found);
    if (code == Code::kError) problem_ = "a get fails " + where + ": " + session_->error();
    if (code != Code::kError) Compare("a get", code == Code::kOk, found, value, where);
    const std::unique_ptr<Cursor> cursor = session_->NewCursor();
    Entry entry;
    const bool is_there = cursor->Seek(name, &entry) && entry.key == name;
    Compare("a cursor", is_there, is_there ? entry.value : "", value, where);
    if (is_there && cursor->Next(&entry) && entry.key == name) problem_ = "a cursor finds a key twice " + where;
  }

 private:
  void Compare(const std::string& who, bool is_there, std::string_view found, const std::string& wanted,
               const std::string& where) {
    if (!problem_.empty() || (is_there ? !wanted.empty() && found == wanted : wanted.empty())) return;
    problem_ = who + " finds " +
               (!is_there       ? "nothing"
                : found.empty() ? "an empty value"
                                : "another value") +
               " " + where + (wanted.empty() ? ", of a deleted key" : "");
  }

  std::string problem_;
  const std::unique_ptr<Engine> engine_;
  std::unique_ptr<Session> session_;
};

constexpr const char* kInMemory = "before the flush";
constexpr const char* kFlushed = "after the flush";

std::string Deletes(const EngineConfig& config) {
  Asked store(config);
  if (!store.problem().empty()) return store.problem();
  for (int i = 0; i < kKeys; i++) store.Put(i, "value");
  store.Delete(1);
  store.Expect(1, "", kInMemory);
  store.Flush();
  store.Expect(1, "", kFlushed);
  store.Delete(2);
  store.Expect(2, "", std::string(kInMemory) + " of the delete");
  store.Flush();
  store.Expect(2, "", kFlushed);
  store.Expect(3, "value", kFlushed);
  return store.problem();
}

std::string Overwrites(const EngineConfig& config) {
  Asked store(config);
  if (!store.problem().empty()) return store.problem();
  for (const char* value : {"first", "second"}) {
    for (int i = 0; i < kKeys; i++) store.Put(i, value);
  }
  store.Expect(1, "second", kInMemory);
  store.Flush();
  store.Expect(1, "second", kFlushed);
  store.Put(1, "third");
  store.Expect(1, "third", "over a flushed value");
  return store.problem();
}

std::string Snapshots(const EngineConfig& config) {
  Asked store(config);
  if (!store.problem().empty()) return store.problem();
  for (int i = 0; i < kKeys; i++) store.Put(i, "old");
  store.Delete(3);
  if (!store.session().BeginSnapshot()) return kNotAsked;
  store.Put(1, "new");
  store.Delete(2);
  store.Put(3, "new");
  for (const char* where : {kInMemory, kFlushed}) {
    store.Expect(1, "old", std::string("in a snapshot ") + where);
    store.Expect(2, "old", std::string("in a snapshot ") + where);
    store.Expect(3, "", std::string("in a snapshot ") + where);
    store.Flush();
  }
  store.session().EndSnapshot();
  store.Expect(1, "new", "after the snapshot");
  store.Expect(2, "", "after the snapshot");
  return store.problem();
}

// The second write has to go over what was put between both.
std::string BatchesTwice(const EngineConfig& config) {
  Asked store(config);
  if (!store.problem().empty()) return store.problem();
  Session& session = store.session();
  session.BatchPut(Key(1), "of the batch");
  session.BatchDelete(Key(2));
  store.Note(session.BatchWriteTwice([&] {
    store.Put(1, "between");
    store.Put(2, "between");
  }),
             "a batch");
  store.Expect(1, "of the batch", "after the second write");
  store.Expect(2, "", "after the second write");
  return store.problem();
}

// Writes that a process leaves in the store. Find looks for them in the next process.
std::string Leave(const EngineConfig& config, bool closes) {
  Asked store(config);
  if (!store.problem().empty()) return store.problem();
  for (int i = 0; i < kKeys; i++) store.Put(i, "first");
  store.Flush();
  for (int i = 0; i < kKeys; i += 2) store.Put(i, "second");
  store.Delete(1);
  if (!store.problem().empty()) return store.problem();
  if (!closes) raise(SIGKILL);
  store.Close();
  return "";
}

std::string Find(EngineConfig config) {
  config.create_if_missing = false;
  Asked store(config);
  for (int i = 0; i < kKeys && store.problem().empty(); i++) {
    store.Expect(i, i % 2 == 0 ? "second" : i == 1 ? "" : "first", "in the opened store");
  }
  return store.problem();
}

using Question = std::function<std::string(const EngineConfig& config)>;

// The text of a child process, until its end or a time.
std::string ReadUntilEnd(int descriptor, pid_t child, int seconds, bool* in_time) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  std::string text;
  char bytes[1024];
  *in_time = true;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd wait = {descriptor, POLLIN, 0};
    if (left <= 0) break;
    if (poll(&wait, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t count = read(descriptor, bytes, sizeof(bytes));
    if (count <= 0) return text;
    text.append(bytes, static_cast<size_t>(count));
  }
  *in_time = false;
  kill(child, SIGKILL);
  return text;
}

// Does the work in a child process, in the folder of the store. With a signal that the child is to end by, the answer
// is right if the child does.
std::string InChild(const EngineConfig& config, const std::string& folder, const Question& work, int seconds,
                    int expected_signal) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "cannot be asked: no pipe";
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nowhere = open("/dev/null", O_RDWR);
    for (int stream = 0; stream <= 2; stream++) dup2(nowhere, stream);
    std::string problem = chdir(folder.c_str()) == 0 ? work(config) : "the folder is gone";
    if (write(ends[1], problem.data(), problem.size()) < 0) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  bool in_time = true;
  std::string problem = child < 0 ? "cannot be asked: no process" : ReadUntilEnd(ends[0], child, seconds, &in_time);
  close(ends[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (!in_time) return "there is no answer within " + std::to_string(seconds) + " s";
  if (!problem.empty()) return problem;
  if (WIFSIGNALED(status) && WTERMSIG(status) != expected_signal) {
    return "the process ends by signal " + std::to_string(WTERMSIG(status));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    return "the process ends with status " + std::to_string(status >> 8);
  return "";
}

struct Step {
  Question work;
  int expected_signal = 0;
};

struct Questioned {
  const char* name;
  std::vector<Step> steps;
};

std::vector<Questioned> Questions(const EngineConfig& config) {
  const auto leave = [](bool closes) { return [=](const EngineConfig& c) { return Leave(c, closes); }; };
  std::vector<Questioned> questions = {{"deletes", {{Deletes}}},
                                       {"overwrites", {{Overwrites}}},
                                       {"snapshots", {{Snapshots}}},
                                       {"batches written twice", {{BatchesTwice}}},
                                       {"opening again", {{leave(true)}, {Find}}}};
  // Without a log nothing is promised.
  if (!config.disable_wal) questions.push_back({"opening after kill -9", {{leave(false), SIGKILL}, {Find}}});
  return questions;
}

// A child has the thread alone that makes it. Locks of others stay held in it, and nobody does their work.
bool HasOtherThreads() {
  std::error_code ignored;
  const std::filesystem::directory_iterator threads("/proc/self/task", ignored);
  return std::distance(begin(threads), end(threads)) > 1;
}

}  // namespace

std::vector<Answer> AskEngine(const EngineConfig& config, const Engine& engine, int seconds) {
  std::error_code ignored;
  const auto absolute = [&](const std::string& path) {
    return path.empty() ? path : std::filesystem::absolute(path, ignored).string();
  };
  EngineConfig asked = config;
  asked.library = engine.LibraryPath();
  asked.peer.rocksdb_options_file = absolute(config.peer.rocksdb_options_file);
  asked.readonly = false;
  asked.create_if_missing = true;
  asked.num_column_families = 1;
  const std::filesystem::path parent = std::filesystem::path(absolute(config.db)).parent_path();
  std::vector<Answer> answers;
  const bool alone = !HasOtherThreads();
  for (const Questioned& question : Questions(config)) {
    if (!alone) {
      answers.push_back({question.name, kNotAsked});
      continue;
    }
    std::string folder = parent / "miodb_questions_XXXXXX";
    Answer answer = {question.name, ""};
    if (mkdtemp(folder.data()) == nullptr) answer.problem = "cannot be asked: no folder in " + parent.string();
    asked.db = folder + "/store";
    for (const Step& step : question.steps) {
      if (answer.problem.empty()) answer.problem = InChild(asked, folder, step.work, seconds, step.expected_signal);
    }
    std::filesystem::remove_all(folder, ignored);
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::string AnswersText(const std::string& name, const std::vector<Answer>& answers) {
  std::string right, not_asked, wrong;
  for (const auto& [question, problem] : answers) {
    if (problem.empty() || problem == kNotAsked) {
      std::string* const list = problem.empty() ? &right : &not_asked;
      *list += (list->empty() ? "" : ", ") + question;
    } else {
      wrong += "WARNING: " + name + " answers wrong, " + question + ": " + problem + "\n";
    }
  }
  if (!not_asked.empty()) not_asked = "; not asked: " + not_asked;
  return "Answers:    right: " + (right.empty() ? "none" : right) + not_asked + "\n" + wrong;
}

}  // namespace miodb::bench
