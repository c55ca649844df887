// The verbs of the tool miodb as their users meet them: on a terminal, in a pipe, on a full disk, with right and wrong
// words. Exit codes are those that "miodb --help" states.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "miodb/db.h"
#include "tests/common/environment.h"
#include "tests/common/program.h"
#include "tests/common/random/random.h"
#include "tests/common/terminal.h"

namespace miodb::test {
namespace {

class MiodbVerbsTest : public ProgramTestBase {
 protected:
  MiodbVerbsTest() : ProgramTestBase("miodb_verbs_test"), miodb_(BinaryDir() + "/miodb ") {}

  std::string db() const { return Inside("db"); }

  // A database with so many records of 100 bytes.
  void Make(int records) {
    std::ofstream lines(Inside("lines"));
    for (int i = 0; i < records; i++) {
      char line[200];
      snprintf(line, sizeof(line), "{\"key\": \"key%08d\", \"value\": \"%080d\"}\n", i, i);
      lines << line;
    }
    lines.close();
    ASSERT_EQ(0, Run(miodb_ + "import " + db() + " " + Inside("lines"))) << err_;
  }

  // With standard output a pipe that nobody reads any more, or the file at path.
  int RunInto(const std::string& path, const std::string& command) {
    const pid_t child = fork();
    if (child == 0) {
      int out[2];
      if (path.empty() && pipe(out) == 0) {
        close(out[0]);
        dup2(out[1], STDOUT_FILENO);
      } else {
        dup2(open(path.c_str(), O_WRONLY), STDOUT_FILENO);
      }
      execl("/bin/sh", "sh", "-c", ("exec " + command + " 2>" + Inside("err")).c_str(), nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    err_ = FileContents(Inside("err"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  const std::string miodb_;
};

struct Line {
  const char* words;  // DB stands for a database with 100 records, NEW for a name that nothing has
  int code;
  const char* says;
};

// Each verb with right words, with wrong ones, and on a database that is not there.
constexpr Line kLines[] = {
    {"get DB key00000007", 0, "0000007"},
    {"get DB key00000007 key00000009", 0, "key00000009\t0"},
    {"get DB --hex 6b65793030303030303037", 0, "3030303037"},
    {"get --json DB key00000007", 0, "{\"key\": \"key00000007\", \"value\": \"0"},
    {"get DB nothing", 1, "no key 'nothing'"},
    {"get DB", 2, "Usage: miodb get [OPTION]... DATABASE KEY..."},
    {"get DB --hex xy", 2, "'xy' is not hex"},
    {"get DB 'a\\q'", 2, "begins no escape"},
    {"get NEW a", 2, "does not exist"},
    {"put DB a b", 0, ""},
    {"get DB a", 0, "b"},
    {"put DB -- --dashes -x", 0, ""},
    {"get DB -- --dashes", 0, "-x"},
    {"put DB", 2, "something is missing"},
    {"put DB a b c", 2, "too many words"},
    {"put NEW a b", 2, "--create"},
    {"put --wrong DB a b", 2, "Invalid flag '--wrong'"},
    {"put --create NEW a b", 0, ""},
    {"delete NEW a nothing", 0, ""},
    {"delete NEW --single b", 0, ""},
    {"delete NEW", 2, "something is missing"},
    {"merge DB n 0100000000000000 --value_hex --merge_operator=uint64add", 0, ""},
    {"merge DB n 0200000000000000 --value_hex --merge_operator=uint64add", 0, ""},
    {"get DB n --value_hex --merge_operator=uint64add", 0, "0300000000000000"},
    {"get DB n", 2, "--merge_operator=NAME"},
    {"merge DB n x", 2, "--merge_operator=NAME"},
    {"merge DB n x --merge_operator=wrong", 2, "no merge operator 'wrong'"},
    {"delete DB n", 0, ""},
    {"scan DB --limit=2", 0, "--dashes\t-x"},
    {"scan DB --prefix=key0000009 --keys_only", 0, "key00000099"},
    {"scan DB --from=key00000050 --to=key00000052 --json", 0, "key00000051"},
    {"scan DB --reverse --limit=1 --keys_only", 0, "key00000099"},
    {"scan DB --keys_only --json", 2, "leave it or --json out"},
    {"scan DB --limit=x", 2, "is not a decimal integer"},
    {"scan DB --prefix='\\x1'", 2, "begins no escape"},
    {"scan NEW2", 2, "does not exist"},
    {"count DB --prefix=key", 0, "100"},
    {"count DB --hash --prefix=key", 0, "hash"},
    {"count DB b", 2, "too many words"},
    {"stats DB", 0, "user-bytes-written"},
    {"stats --prometheus DB", 0, "# TYPE miodb_pool_bytes_used gauge"},
    {"stats", 2, "something is missing"},
    {"properties DB", 0, "miodb.persist-mode: "},
    {"properties DB miodb.persist-mode leveldb.num-files-at-level0", 0, ""},
    {"properties DB miodb.nothing", 1, "no property 'miodb.nothing'"},
    {"flush DB", 0, ""},
    {"flush NEW2", 2, "does not exist"},
    {"compact DB", 0, ""},
    {"compact DB --from=a --to=b", 0, ""},
    {"compact DB --limit=1", 2, "Invalid flag '--limit"},
    {"compact DB --option=no_such=1", 2, "there is no option of that name"},
    {"compact DB --option=pool_size=x", 2, "pool_size=x"},
    {"savepoint DB create s\\\\x20t", 0, ""},
    {"savepoint DB create s\\\\x20t", 2, "exists"},
    {"savepoint DB list", 0, "s t\t20"},
    {"put DB only_now b", 0, ""},
    {"get DB only_now --savepoint='s t'", 1, "no key 'only_now'"},
    {"get DB key00000007 --savepoint='s t'", 0, "0000007"},
    {"scan DB --savepoint='s t' --prefix=key0000009 --keys_only", 0, "key00000099"},
    {"count DB --savepoint='s t' --prefix=only", 0, "0"},
    {"count DB --savepoint='s t' --hash", 0, "hash"},
    {"export DB --savepoint='s t' --prefix=key0000000", 0, "{\"key\": \"key00000007\", \"value\": "},
    {"get DB key00000007 --reader", 0, "0000007"},
    {"scan DB --reader --prefix=key0000009 --keys_only", 0, "key00000099"},
    {"scan DB --savepoint=none", 2, "no savepoint 'none'"},
    {"get DB a --savepoint='\\q'", 2, "begins no escape"},
    {"check DB", 0, ": OK"},
    {"check DB", 0, "savepoints        1"},
    {"dump DB --tables", 0, "savepoint "},
    {"savepoint DB drop 's t'", 0, ""},
    {"savepoint DB drop 's t'", 1, "no savepoint 's t'"},
    {"savepoint DB create", 2, "the name is missing"},
    {"savepoint DB create ''", 2, "must have 1 to 255"},
    {"savepoint DB create '\\q'", 2, "begins no escape"},
    {"savepoint DB list s", 2, "list takes no name"},
    {"savepoint DB make s", 2, "no action 'make'"},
    {"savepoint DB", 2, "something is missing"},
    {"savepoint NEW2 list", 2, "does not exist"},
    {"delete DB only_now", 0, ""},
    {"checkpoint DB", 2, "something is missing"},
    {"checkpoint DB COPY", 0, ""},
    {"checkpoint DB COPY", 2, "exists"},
    {"check COPY", 0, ": OK"},
    {"count COPY --prefix=key", 0, "100"},
    {"put DB later b", 0, ""},
    {"follow DB COPY --once", 0, "1 batches, up to write "},
    {"get COPY later", 0, "b"},
    {"delete DB later", 0, ""},
    {"delete COPY later", 0, ""},
    {"delete COPY later", 0, ""},
    {"follow DB COPY --once", 2, "make it anew from a checkpoint"},
    {"follow DB COPY --interval_ms=0", 2, "interval_ms"},
    {"follow DB NEW2 --once", 2, "--create"},
    {"follow NEW2 COPY --once", 2, "holds no database"},
    {"follow DB", 2, "something is missing"},
    {"backup DB", 2, "something is missing"},
    {"backup DB KEPT", 0, "1\t20"},
    {"backup DB KEPT --rate=100000000", 0, "2\t20"},
    {"backup DB DB", 2, "is a database"},
    {"backup COPY KEPT", 2, "another database"},
    {"backups KEPT list", 0, "2\t20"},
    {"backups KEPT list 1", 2, "list takes no generation"},
    {"backups KEPT verify", 0, ""},
    {"backups KEPT verify 1", 0, ""},
    {"backups KEPT verify 7", 2, "has no generation 7"},
    {"backups KEPT delete", 2, "the generation is missing"},
    {"backups KEPT delete 0", 2, "'0' is no generation"},
    {"backups KEPT delete 1x", 2, "'1x' is no generation"},
    {"backups KEPT delete 1", 0, ""},
    {"backups KEPT drop 1", 2, "no action 'drop'"},
    {"backups DB list", 2, "is no folder of backups"},
    {"backups NEW2 list", 2, "does not exist"},
    {"restore KEPT BACK --generation=1", 2, "has no generation 1"},
    {"restore KEPT BACK --rate=100000000", 0, ""},
    {"restore KEPT BACK", 2, "exists"},
    {"check BACK", 0, ": OK"},
    {"count BACK --prefix=key", 0, "100"},
    {"check DB", 0, ": OK"},
    {"check --json DB", 0, "\"ok\": true"},
    {"check NEW2", 2, "NEW2"},
    {"check", 2, "something is missing"},
    {"dump DB --header", 0, "superblock at offset"},
    {"dump DB --file=1", 2, "--file and --ssd go together"},
    {"dump NEW2", 2, "NEW2"},
    {"move DB", 0, ""},
    {"move DB --pool=/nonexistent", 2, "/nonexistent"},
    {"move NEW2", 2, "STORE"},
    {"repair DB", 0, "LOST has a line for everything"},
    {"get DB key00000007", 0, "0000007"},
    {"repair NEW2", 2, "is no directory"},
    {"export DB --prefix=key0000000", 0, "{\"key\": \"key00000007\", \"value\": "},
    {"export DB --format=wrong", 2, "one of json, leveldb"},
    {"export DB --format=leveldb", 2, "wants --output"},
    {"export DB --output=OUT", 0, ""},
    {"export DB --output=OUT", 2, "exists; give another name"},
    {"import NEW3 OUT", 0, "hash"},
    {"import NEW3 OUT", 2, "is there already"},
    {"import --into NEW3 OUT", 0, "hash"},
    {"import NEW4 NOTHING", 2, "No such file"},
    {"bench DIR --num=100", 0, "next"},
    {"bench DIR --num=0", 2, "is not a decimal integer"},
    {"bench NOTHING --num=1", 2, "NOTHING"},
    {"shell NEW2", 2, "does not exist"},
    {"shell DB x", 2, "too many words"},
    {"", 2, "a verb is missing"},
    {"wrong", 2, "no verb 'wrong'"},
    {"--help", 0, "Usage: miodb VERB"},
    {"--version", 0, "miodb 1."},
    {"help scan", 0, "Usage: miodb scan"},
};

std::string Spelled(std::string words, const std::string& folder) {
  for (const char* const name :
       {"DB", "COPY", "KEPT", "BACK", "NEW4", "NEW3", "NEW2", "NEW", "OUT", "DIR", "NOTHING"}) {
    for (size_t at = 0; (at = words.find(name, at)) != std::string::npos;) {
      const bool whole = (at == 0 || words[at - 1] == ' ' || words[at - 1] == '=') && words[at + strlen(name)] != '_';
      const std::string path = std::string(name) == "DIR" ? folder : folder + "/" + (*name == 'D' ? "db" : name);
      if (whole) words.replace(at, strlen(name), path);
      at += whole ? path.size() : 1;
    }
  }
  return words;
}

// Twice, because a terminal is another place than a pipe: in the second round what is there is there.
TEST_F(MiodbVerbsTest, EveryVerbDoesOnATerminalWhatItSaysAndLeavesTheTerminalAsItWas) {
  Make(100);
  for (const Line& line : kLines) {
    Terminal terminal("exec " + miodb_ + Spelled(line.words, folder_) + " </dev/null");
    EXPECT_EQ(line.code, terminal.Wait()) << line.words << "\n" << terminal.text();
    EXPECT_TRUE(terminal.Says(line.says)) << line.words << "\n" << terminal.text();
    EXPECT_TRUE(terminal.IsAsBefore()) << line.words;
  }
  EXPECT_FALSE(std::filesystem::exists(Inside("NEW2"))) << "what only reads made a database";
  EXPECT_FALSE(std::filesystem::exists(Inside("NEW4")));
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_EQ(std::string::npos, entry.path().string().find("unfinished")) << entry.path();
    EXPECT_EQ(std::string::npos, entry.path().string().find("miodb_bench")) << entry.path();
  }
}

TEST_F(MiodbVerbsTest, ResultsGoToStandardOutputAndErrorsToStandardError) {
  Make(100);
  for (const Line& line : kLines) {
    const int code = Run(miodb_ + Spelled(line.words, folder_));
    EXPECT_EQ(line.code, code) << line.words << "\n" << err_;
    const std::string& stream = code == 0 ? out_ : err_;
    EXPECT_NE(std::string::npos, stream.find(line.says)) << line.words << "\n" << out_ << err_;
    EXPECT_EQ(code == 0, err_.empty()) << line.words << "\n" << err_;
    if (code == 2) {
      EXPECT_EQ("miodb", err_.substr(0, 5)) << "an error begins with the program's name";
    }
  }
}

TEST_F(MiodbVerbsTest, ADatabaseThatIsOpenElsewhereCanBeReadBesideItAsTheErrorSays) {
  Make(10);
  DB* opened = nullptr;
  ASSERT_TRUE(DB::Open(Options(), db(), &opened).ok());
  const std::unique_ptr<DB> holder(opened);
  EXPECT_EQ(2, Run(miodb_ + "count " + db()));
  EXPECT_NE(std::string::npos, err_.find("--reader")) << err_;
  EXPECT_EQ(0, Run(miodb_ + "count --reader " + db())) << err_;
  EXPECT_EQ("10\n", out_);
}

TEST_F(MiodbVerbsTest, AValueMayComeFromStandardInputAndGoOutAsItIs) {
  Make(1);
  std::string bytes;
  for (int i = 0; i < 70000; i++) bytes.push_back(static_cast<char>(i * 7));
  std::ofstream(Inside("value"), std::ios::binary) << bytes;
  EXPECT_EQ(0, RunProgram(miodb_ + "put " + db() + " k <" + Inside("value")).code);
  EXPECT_EQ(bytes, RunProgram(miodb_ + "get --raw " + db() + " k").text);
}

// A new database in the place of one that is missed would hide that it is elsewhere.
TEST_F(MiodbVerbsTest, ARepairOfAnEmptyDirectoryMakesNothing) {
  std::filesystem::create_directory(db());
  EXPECT_EQ(2, Run(miodb_ + "repair " + db()));
  EXPECT_NE(std::string::npos, err_.find("is empty")) << err_;
  EXPECT_TRUE(std::filesystem::is_empty(db()));
}

TEST_F(MiodbVerbsTest, WordsThatCannotBeUsedMakeNoDatabase) {
  for (const char* const words : {
           "put --create DB a </",
           "put --create DB a <&-",
           "put --create DB 'a\\q' b",
           "put --create DB a 'b\\q'",
           "put --create DB --value_hex a xy",
           "put --create DB a b --column_family='\\q'",
           "put --create DB a b --column_family=''",
           "put --create DB a b --column_family=$(printf %01025d 0)",
           "put --create DB a b c",
           "put --create DB a b --merge_operator=wrong",
           "put --create DB a b --option=no_such=1",
           "merge --create DB a b",
           "merge --create DB --merge_operator=max 'a\\q' b",
           "merge --create DB --merge_operator=max a b --column_family=''",
           "merge --create DB --merge_operator=max --value_hex a xy",
           "shell --create DB --option=no_such=1",
           "import DB NOTHING",
           "import DB DIR",
           "restore NOTHING DB",
           "restore DIR DB",
           "follow --create NOTHING DB",
       }) {
    EXPECT_EQ(2, Run("{ " + miodb_ + Spelled(words, folder_) + "; }")) << words << err_;
    EXPECT_NE("", err_) << words;
    EXPECT_FALSE(std::filesystem::exists(db())) << words;
  }
}

TEST_F(MiodbVerbsTest, AReaderThatGoesAwayEndsAVerbQuietlyWithCodeTwo) {
  Make(5000);
  for (const std::string words :
       {"scan", "export", "stats", "properties", "count", "get", "check", "dump", "shell", "repair"}) {
    std::string command = miodb_ + words + " " + db();
    if (words == "get") command += " key00000001";
    if (words == "shell") command = "printf 'scan\\nget key00000001\\n' | " + command;
    const int code = RunInto("", command);
    EXPECT_EQ(2, code) << words << "\n" << err_;
    EXPECT_EQ("", err_) << words;
  }
  EXPECT_EQ(2, RunInto("", miodb_ + "--help"));
  EXPECT_EQ("5000\n", RunProgram(miodb_ + "count " + db()).text);
}

TEST_F(MiodbVerbsTest, AFullDiskUnderTheOutputIsNamed) {
  Make(5000);
  for (const std::string words : {"scan", "export", "stats", "properties", "count", "get", "check", "dump"}) {
    const int code = RunInto("/dev/full", miodb_ + words + " " + db() + (words == "get" ? " key00000001" : ""));
    EXPECT_EQ(2, code) << words;
    EXPECT_NE(std::string::npos, err_.find("No space left on device")) << words << "\n" << err_;
  }
}

// As root, with a file system of a few MiB.
TEST_F(MiodbVerbsTest, AFullDiskUnderADatabaseLeavesNothingHalfMade) {
  Make(100000);
  const std::string small = Inside("small");
  std::filesystem::create_directory(small);
  if (mount("none", small.c_str(), "tmpfs", 0, "size=4m") != 0) GTEST_SKIP() << "cannot mount a small file system";
  EXPECT_EQ(2, Run(miodb_ + "import " + small + "/db " + Inside("lines")));
  EXPECT_NE(std::string::npos, err_.find("Make room")) << err_;
  EXPECT_TRUE(std::filesystem::is_empty(small));
  EXPECT_EQ(2, Run(miodb_ + "export --output=" + small + "/out " + db()));
  EXPECT_NE(std::string::npos, err_.find("No space left on device")) << err_;
  EXPECT_TRUE(std::filesystem::is_empty(small));
  EXPECT_EQ(2, Run(miodb_ + "export --format=leveldb --output=" + small + "/out " + db()));
  EXPECT_TRUE(std::filesystem::is_empty(small)) << err_;
  EXPECT_EQ(2, Run(miodb_ + "bench " + small + " --num=100000"));
  EXPECT_TRUE(std::filesystem::is_empty(small)) << err_;
  EXPECT_EQ(0, umount(small.c_str()));
}

TEST_F(MiodbVerbsTest, CtrlCEndsWithCode130AndLeavesNothingBehind) {
  Make(20000);
  ASSERT_EQ(0, RunTool("db_bench --db=" + db() + " --use_existing_db --benchmarks=overwrite --num=20000").code)
      << "so that the log holds something, which an import would flush";
  const std::string count = RunProgram(miodb_ + "count --reader " + db()).text;
  const std::string target = Inside("target");
  const struct {
    std::string words;
    const char* shows;  // before the key is struck
  } lines[] = {
      {"dump --log --values " + db(), "frame at"},
      {"scan " + db(), "00000000"},  // of db_bench, in front of the others
      {"export " + db(), "00000000"},
      {"put " + db() + " k", ""},
      {"import --progress " + target + " -", ""},
      {"bench --progress --num=1000000000 " + folder_, "records"},
  };
  for (const auto& line : lines) {
    Terminal terminal("echo begins; exec " + miodb_ + line.words);
    ASSERT_TRUE(terminal.WaitFor("begins"));
    if (*line.shows == '\0') usleep(200 * 1000);  // it waits for input, or will: either way the key ends it
    EXPECT_TRUE(terminal.WaitFor(line.shows)) << line.words << "\n" << terminal.text();
    terminal.Send(Terminal::kCtrlC);
    // A program that has not begun yet, on a busy machine, is ended by the signal itself.
    const int code = terminal.Wait();
    EXPECT_TRUE(code == 130 || (*line.shows == '\0' && code == 1000 + SIGINT)) << line.words << " " << code;
    EXPECT_TRUE(terminal.IsAsBefore());
  }
  EXPECT_FALSE(std::filesystem::exists(target));
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_EQ(std::string::npos, entry.path().string().find("unfinished")) << entry.path();
    EXPECT_EQ(std::string::npos, entry.path().string().find("miodb_bench")) << entry.path();
  }
  EXPECT_EQ(count, RunProgram(miodb_ + "count " + db()).text);
}

// Whenever it is struck: the verb is done, or was not begun, or has ended in good order.
TEST_F(MiodbVerbsTest, CtrlCAtAnyMomentOfAnyVerbLeavesTerminalAndDatabaseWhole) {
  Make(100);
  Random random(Seeds(1)[0]);
  for (const Line& line : kLines) {
    Terminal terminal("exec " + miodb_ + Spelled(line.words, folder_) + " </dev/null");
    usleep(static_cast<useconds_t>(random.Uniform(30000)));
    terminal.Send(Terminal::kCtrlC);
    const int code = terminal.Wait();
    EXPECT_TRUE((code >= 0 && code <= 2) || code == 130 || code == 1000 + SIGINT) << line.words << " " << code << "\n"
                                                                                  << terminal.text();
    EXPECT_TRUE(terminal.IsAsBefore()) << line.words;
  }
  EXPECT_EQ(0, Run(miodb_ + "repair " + db())) << "one that was cut off is finished by the next: " << err_;
  EXPECT_EQ(0, Run(miodb_ + "check " + db())) << out_;
  EXPECT_EQ("100\n", RunProgram(miodb_ + "count --prefix=key " + db()).text);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_EQ(std::string::npos, entry.path().string().find("unfinished")) << entry.path();
  }
}

TEST_F(MiodbVerbsTest, AnOutputThatTakesNothingIsAnErrorOfEveryVerbThatHasOne) {
  Make(100);
  for (const std::string sink : {"", "/dev/full"}) {
    int refused = 0;
    for (const Line& line : kLines) {
      const std::string words = Spelled(line.words, folder_);
      const int code = RunInto(sink, miodb_ + words);
      EXPECT_TRUE(code >= 0 && code <= 2) << words << " " << code << "\n" << err_;
      if (code != 2 || line.code == 2) continue;
      refused++;
      if (sink.empty()) {
        EXPECT_EQ("", err_) << words;
      } else {
        EXPECT_NE(std::string::npos, err_.find("No space left on device")) << words << "\n" << err_;
      }
    }
    EXPECT_GT(refused, 20) << sink;
    for (const char* const made : {"NEW", "NEW3", "OUT", "COPY", "KEPT", "BACK"})
      std::filesystem::remove_all(Inside(made));
  }
  EXPECT_EQ("100\n", RunProgram(miodb_ + "count --prefix=key " + db()).text);
}

// As root: verbs that write into a database which has no room left. What it has can be read, and deleting makes room.
TEST_F(MiodbVerbsTest, AFullDiskUnderAVerbThatWritesIsNamedAndTheDatabaseStaysWhole) {
  const std::string small = Inside("small"), full = small + "/db";
  std::filesystem::create_directory(small);
  if (mount("none", small.c_str(), "tmpfs", 0, "size=16m") != 0) GTEST_SKIP() << "cannot mount a small file system";
  std::ofstream(Inside("value")) << std::string(1 << 20, 'v');
  const std::string value = " <" + Inside("value");
  int puts = 0;
  ProgramResult put;
  do {
    put = RunProgram(miodb_ + "put --create " + full + " key" + std::to_string(puts) + value);
  } while (put.code == 0 && ++puts < 20);
  EXPECT_EQ(2, put.code);
  EXPECT_TRUE(put.Says("Make room")) << put.text;
  ASSERT_GT(puts, 0);
  for (const std::string words : {"flush", "compact", "repair"}) {
    const int code = Run(miodb_ + words + " " + full);
    EXPECT_TRUE(code == 0 || (code == 2 && err_.find("room") != std::string::npos)) << words << "\n" << err_;
  }
  EXPECT_EQ(0, Run(miodb_ + "check " + full)) << out_;
  EXPECT_EQ(std::to_string(puts) + "\n", RunProgram(miodb_ + "count " + full).text);
  EXPECT_EQ(0, Run(miodb_ + "delete " + full + " key0")) << err_;
  EXPECT_EQ(std::to_string(puts - 1) + "\n", RunProgram(miodb_ + "count " + full).text);
  EXPECT_EQ(0, umount(small.c_str()));
}

TEST_F(MiodbVerbsTest, OldNamesAreTheVerbsThatTheyAreNamedAfter) {
  Make(10);
  for (const std::string verb : {"check", "dump", "move"}) {
    const ProgramResult by_name = RunTool("miodb_" + verb + " " + db()),
                        by_verb = RunTool("miodb " + verb + " " + db());
    EXPECT_EQ(by_verb.code, by_name.code);
    EXPECT_EQ(by_verb.text, by_name.text);
    EXPECT_TRUE(RunTool("miodb_" + verb + " --help").Says("Usage: miodb_" + verb + " "));
  }
}

TEST_F(MiodbVerbsTest, TheDocumentsOfOptionsHaveTheTablesThatTheToolHas) {
  for (const std::string name : {"options", "options_map"}) {
    ASSERT_EQ(0, Run(miodb_ + "--" + name));
    EXPECT_NE(std::string::npos, FileContents(SourceDir() + "/docs/" + name + ".md").find(out_))
        << "replace the table in docs/" << name << ".md by what miodb --" << name << " prints";
  }
}

// All three are written from one table; the man page has no warning, the script no fault.
TEST_F(MiodbVerbsTest, HelpManPageAndCompletionKnowEveryVerbAndOption) {
  ASSERT_EQ(0, Run(miodb_ + "--man"));
  std::ofstream(Inside("miodb.1")) << out_;
  const std::string man = out_;
  ASSERT_EQ(0, Run(miodb_ + "--bash_completion"));
  std::ofstream(Inside("completion")) << out_;
  const std::string completion = out_;
  size_t options = 0;
  for (const std::string verb :
       {"get", "put", "delete", "merge", "scan", "count", "stats", "properties", "flush", "compact", "savepoint",
        "check", "dump", "move", "repair", "import", "export", "shell", "bench"}) {
    ASSERT_EQ(0, Run(miodb_ + verb + " --help"));
    for (size_t at = 0; (at = out_.find("\n  --", at)) != std::string::npos; at++) {
      const std::string name = out_.substr(at + 5, out_.find_first_of("= \n", at + 5) - at - 5);
      EXPECT_NE(std::string::npos, man.find("\\fB\\-\\-" + name + "\\fR")) << name;
      EXPECT_NE(std::string::npos, completion.find(" --" + name)) << name;
      options++;
    }
  }
  EXPECT_GT(options, 80u);
  EXPECT_EQ(0, Run("bash -n " + Inside("completion")));
  EXPECT_EQ(0, Run("bash -c '. " + Inside("completion") +
                   "; COMP_WORDS=(miodb sc); COMP_CWORD=1; _miodb; echo ${COMPREPLY[*]}; COMP_WORDS=(miodb scan DB "
                   "--pre); COMP_CWORD=3; compopt() { :; }; _miodb; echo ${COMPREPLY[*]}'"));
  EXPECT_EQ("scan\n--prefix=\n", out_) << err_;
  if (RunProgram("man --version").code != 0) GTEST_SKIP() << "man is not installed";
  EXPECT_EQ(0, Run("LC_ALL=C.UTF-8 MANROFFSEQ= MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 " + Inside("miodb.1")));
  EXPECT_EQ("", err_);
}

}  // namespace
}  // namespace miodb::test
