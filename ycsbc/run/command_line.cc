#include "ycsbc/run/command_line.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "benchmarks/common/draw/fnv.h"

namespace miodb::ycsb {

namespace {

namespace fs = std::filesystem;

constexpr int kMaxWords = 10000;

// Options that are a property under another name; each takes a value.
constexpr std::pair<const char*, const char*> kValueOptions[] = {
    {"db", "db"},
    {"threads", "threadcount"},
    {"target", "target"},
    {"l", "label"},
    {"dbpath", "dbpath"},
    {"dboption", "dboption"},
    {"dbstatistics", "dbstatistics"},
    {"dbwaitforbalance", "dbwaitforbalance"},
    {"timeseries", "timeseries"},
    {"host", "host"},
    {"port", "port"},
    {"slaves", "slaves"},
};

// The words of a command, before properties are put together.
struct Words {
  std::optional<bool> load;
  std::optional<bool> run;
  bool is_miodb_style = false;
  std::vector<std::string> files;
  Properties properties;
  Invocation::Outcome outcome = Invocation::Outcome::kRun;
};

// -load, -run, -t: alone, or with a word true or false behind it, which is how MioDB's driver is called.
void ParsePhase(const std::vector<std::string>& words, size_t* i, Words* out, std::optional<bool>* phase) {
  *phase = true;
  if (*i + 1 == words.size() || (words[*i + 1] != "true" && words[*i + 1] != "false")) return;
  *phase = words[++*i] == "true";
  out->is_miodb_style = true;
}

// Returns what is wrong or nothing.
std::string ParseOption(const std::vector<std::string>& words, size_t* i, Words* out) {
  const std::string& word = words[*i];
  const std::string name = word.substr(word.rfind("--", 0) == 0 ? 2 : 1);
  if (name == "help" || name == "h") out->outcome = Invocation::Outcome::kHelp;
  if (name == "version") out->outcome = Invocation::Outcome::kVersion;
  if (out->outcome != Invocation::Outcome::kRun) return "";
  if (name == "load") {
    ParsePhase(words, i, out, &out->load);
  } else if (name == "run" || name == "t") {
    ParsePhase(words, i, out, &out->run);
  } else if (name == "s") {
    out->properties.Set("status", "true");
  } else {
    const auto option = std::find_if(std::begin(kValueOptions), std::end(kValueOptions),
                                     [&](const auto& known) { return name == known.first; });
    if (option == std::end(kValueOptions) && name != "P" && name != "p")
      return "unknown option " + word + "; see --help";
    if (*i + 1 == words.size()) return "option " + word + " needs a value";
    const std::string& value = words[++*i];
    if (name == "P") {
      out->files.push_back(value);
    } else if (name == "p") {
      const std::string problem = out->properties.Add(value);
      if (!problem.empty()) return "option -p: " + problem;
    } else {
      out->properties.Set(option->second, value);
    }
  }
  return "";
}

std::string ParseWords(const std::vector<std::string>& words, Words* out) {
  for (size_t i = 0; i < words.size() && out->outcome == Invocation::Outcome::kRun; i++) {
    const bool is_option = words[i].size() > 1 && words[i][0] == '-';
    const std::string problem =
        is_option ? ParseOption(words, &i, out) : "unexpected word '" + words[i] + "'; see --help";
    if (!problem.empty()) return problem;
  }
  return "";
}

// Where a property file of an input file lies: as named, or so named from one of the folders above the input file.
std::string FindFile(const std::string& path, const fs::path& input_file) {
  std::error_code ignored;
  if (fs::path(path).is_absolute() || fs::is_regular_file(path, ignored)) return path;
  for (fs::path folder = fs::absolute(input_file, ignored).parent_path();; folder = folder.parent_path()) {
    if (fs::is_regular_file(folder / path, ignored)) return (folder / path).string();
    if (folder == folder.parent_path()) return path;
  }
}

uint64_t StreamOf(const std::vector<std::string>& files) {
  uint64_t hash = bench::kFnvOfNothing;
  for (const std::string& file : files) hash = bench::Fnv(fs::path(file).filename().string() + "\n", hash);
  return hash;
}

// Chooses the phases of a command: those that its words name, else those that its properties name, else a run.
std::string ChoosePhases(const Words& words, Command* command) {
  command->load = words.load.value_or(false);
  command->run = words.run.value_or(false);
  if (!words.load.has_value() && !words.run.has_value()) {
    const bool is_run_named =
        command->properties.Find("dotransactions") != nullptr || command->properties.Find("dotransaction") != nullptr;
    command->load = command->settings.doload || !command->settings.dotransactions;
    command->run = command->settings.dotransactions && (is_run_named || !command->load);
  }
  return command->load || command->run ? "" : "nothing to do: neither -load nor -run is true";
}

std::string MakeCommand(const Words& words, const fs::path& input_file, Command* command) {
  for (const std::string& file : words.files) {
    const std::string problem = command->properties.AddFile(FindFile(file, input_file));
    if (!problem.empty()) return problem;
  }
  command->properties.AddAll(words.properties);
  const bool is_miodb_style = words.is_miodb_style || !input_file.empty();
  if (is_miodb_style && command->properties.Find("outputstyle") == nullptr) {
    command->properties.Set("outputstyle", "miodb");
  }
  command->stream = StreamOf(words.files);
  const Settings& settings = command->settings;
  std::string problem = command->settings.Read(command->properties);
  if (problem.empty()) problem = ChoosePhases(words, command);
  if (!problem.empty()) return problem;
  if (command->load && !settings.CheckLoad().empty()) return settings.CheckLoad();
  if (command->run && !settings.CheckRun().empty()) return settings.CheckRun();
  command->schedule = RateSchedule(settings.target);
  return settings.limit_file.empty() ? "" : command->schedule.ReadFile(settings.limit_file);
}

// Splits an input file into the words of its commands, without the program's name.
std::string ReadInputFile(const std::string& path, std::vector<std::vector<std::string>>* commands) {
  std::error_code ignored;
  std::ifstream file(path);
  if (!file || !fs::is_regular_file(path, ignored)) return "cannot read input file " + path;
  for (;;) {
    const std::string place = path + ": command " + std::to_string(commands->size() + 1) + ": ";
    int count = 0;
    if (!(file >> count)) return place + "the number of its words is missing (a 0 ends the file)";
    if (count == 0) return commands->empty() ? path + ": no command" : "";
    if (count < 0 || count > kMaxWords) return place + std::to_string(count) + " is no number of words";
    std::vector<std::string> words;
    std::string word;
    while (static_cast<int>(words.size()) < count && file >> word) words.push_back(word);
    if (static_cast<int>(words.size()) < count) {
      return place + std::to_string(words.size()) + " of " + std::to_string(count) + " words are there";
    }
    commands->emplace_back(words.begin() + 1, words.end());
  }
}

// MioDB's driver calls its own store "leveldb". The commands of its input files are known by an option that no other
// driver has. Says so in MioDB's place, and returns a line for the user, or nothing.
std::string NameOwnStore(Words* words) {
  const std::string* db = words->properties.Find("db");
  if (db == nullptr || *db != "leveldb" || words->properties.Find("dboption") == nullptr) return "";
  words->properties.Set("db", "miodb");
  return "-db leveldb of this input file, which is laid out for MioDB's driver, means MioDB; -db leveldb behind the "
         "file's name means LevelDB";
}

Invocation Failed(const std::string& error) {
  Invocation invocation;
  invocation.outcome = Invocation::Outcome::kError;
  invocation.error = error;
  return invocation;
}

// The commands of a file share one open database.
std::string CheckOneDatabase(const std::vector<Command>& commands) {
  for (size_t i = 1; i < commands.size(); i++) {
    if (commands[i].settings.engine == commands[0].settings.engine) continue;
    return "command " + std::to_string(i + 1) +
           ": database or engine options differ from those of command 1, which opens it for all";
  }
  return "";
}

Invocation ParseInputFile(const std::string& path, const std::vector<std::string>& options) {
  std::vector<std::vector<std::string>> listed;
  std::string problem = ReadInputFile(path, &listed);
  if (!problem.empty()) return Failed(problem);
  Invocation invocation;
  for (const std::vector<std::string>& words : listed) {
    Words parsed;
    Command command;
    problem = ParseWords(words, &parsed);
    const std::string note = problem.empty() ? NameOwnStore(&parsed) : "";
    if (problem.empty()) problem = ParseWords(options, &parsed);
    invocation.outcome = parsed.outcome;
    if (problem.empty() && parsed.outcome != Invocation::Outcome::kRun) return invocation;
    if (problem.empty()) problem = MakeCommand(parsed, path, &command);
    if (!problem.empty()) {
      return Failed(path + ": command " + std::to_string(invocation.commands.size() + 1) + ": " + problem);
    }
    if (!note.empty() && command.settings.db == "miodb") command.settings.notes.push_back(note);
    invocation.commands.push_back(std::move(command));
  }
  problem = CheckOneDatabase(invocation.commands);
  return problem.empty() ? invocation : Failed(path + ": " + problem);
}

}  // namespace

Invocation ParseCommandLine(const std::vector<std::string>& words) {
  if (words.empty()) return Failed("no arguments; see --help");
  std::vector<std::string> rest = words;
  if (words[0] == "load" || words[0] == "run") {
    rest[0] = "-" + words[0];
    if (rest.size() > 1 && rest[1].rfind("-", 0) != 0) rest.insert(rest.begin() + 1, "-db");
  } else if (words[0].empty() || words[0][0] != '-') {
    return ParseInputFile(words[0], std::vector<std::string>(words.begin() + 1, words.end()));
  }
  Invocation invocation;
  Words parsed;
  Command command;
  std::string problem = ParseWords(rest, &parsed);
  invocation.outcome = parsed.outcome;
  if (problem.empty() && parsed.outcome != Invocation::Outcome::kRun) return invocation;
  if (problem.empty()) problem = MakeCommand(parsed, "", &command);
  if (!problem.empty()) return Failed(problem);
  invocation.commands.push_back(std::move(command));
  return invocation;
}

}  // namespace miodb::ycsb
