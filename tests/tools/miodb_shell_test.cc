// The shell of the tool miodb, typed into on a terminal and fed from a pipe.

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/common/program.h"
#include "tests/common/terminal.h"

namespace miodb::test {
namespace {

class MiodbShellTest : public ProgramTestBase {
 protected:
  MiodbShellTest()
      : ProgramTestBase("miodb_shell_test"),
        command_("exec " + BinaryDir() + "/miodb shell --create " + folder_ + "/db") {}

  const std::string command_;
};

TEST_F(MiodbShellTest, LinesAreEditedCompletedAndRemembered) {
  Terminal terminal(command_);
  ASSERT_TRUE(terminal.WaitFor("miodb> ")) << terminal.text();
  terminal.Send("pu\tapple 'dark green'\n");  // completed
  ASSERT_TRUE(terminal.WaitFor("miodb> ")) << terminal.text();
  terminal.Send(
      "get appla\x7f"
      "e\n");  // corrected
  ASSERT_TRUE(terminal.WaitFor("\ndark green")) << terminal.text();
  ASSERT_TRUE(terminal.WaitFor("miodb> "));
  terminal.Send("count\n");
  ASSERT_TRUE(terminal.WaitFor("\n1")) << terminal.text();
  ASSERT_TRUE(terminal.WaitFor("miodb> "));
  terminal.Send("\x1b[A\x1b[A\n");  // two lines up in the history: the get
  ASSERT_TRUE(terminal.WaitFor("\ndark green")) << terminal.text();
  ASSERT_TRUE(terminal.WaitFor("miodb> "));
  terminal.Send("scan --pre\tapp\n");
  ASSERT_TRUE(terminal.WaitFor("\napple\tdark green")) << terminal.text();
  ASSERT_TRUE(terminal.WaitFor("miodb> "));
  terminal.Send(Terminal::kCtrlD);
  EXPECT_EQ(0, terminal.Wait());
  EXPECT_TRUE(terminal.IsAsBefore());
}

TEST_F(MiodbShellTest, CtrlCEndsTheLineAndNotTheShell) {
  Terminal terminal(command_);
  ASSERT_TRUE(terminal.WaitFor("miodb> ")) << terminal.text();
  terminal.Send("put half of a li");
  ASSERT_TRUE(terminal.WaitFor("a li"));
  terminal.Send(Terminal::kCtrlC);
  ASSERT_TRUE(terminal.WaitFor("miodb> ")) << terminal.text();
  terminal.Send("count\n");
  ASSERT_TRUE(terminal.WaitFor("\n0")) << terminal.text();
  ASSERT_TRUE(terminal.WaitFor("miodb> "));
  terminal.Send("get nothing\n");
  ASSERT_TRUE(terminal.WaitFor("no key 'nothing'")) << terminal.text();
  ASSERT_TRUE(terminal.WaitFor("miodb> "));
  terminal.Send("quit\n");
  EXPECT_EQ(0, terminal.Wait());
  EXPECT_TRUE(terminal.IsAsBefore());
}

TEST_F(MiodbShellTest, AKillAtThePromptLeavesTheTerminalAsItWas) {
  for (const int signal : {SIGTERM, SIGTERM}) {
    Terminal terminal(command_);
    ASSERT_TRUE(terminal.WaitFor("miodb> ")) << terminal.text();
    terminal.Send("some");
    ASSERT_TRUE(terminal.WaitFor("some"));
    terminal.Kill(signal);
    EXPECT_EQ(130, terminal.Wait()) << terminal.text();
    EXPECT_TRUE(terminal.IsAsBefore());
  }
}

TEST_F(MiodbShellTest, LinesFromAPipeEndWithTheFirstThatFails) {
  std::ofstream(Inside("good"))
      << "# a comment\n\nput a 'b c'\nput \"d e\" f\nget \"d e\"\nscan\nget nothing\nhelp scan\n";
  ProgramResult result = RunProgram(command_.substr(5) + " <" + Inside("good"));
  EXPECT_EQ(0, result.code) << result.text;
  EXPECT_TRUE(result.Says("f\na\tb c\nd e\tf\n")) << result.text;
  EXPECT_TRUE(result.Says("Usage: scan [OPTION]...\n")) << result.text;
  EXPECT_FALSE(result.Says("miodb> "));
  for (const std::string line :
       {"put a", "wrong", "put 'a b", "scan --limit=x", "check", "repair", "get a b --wrong", "scan --reader"}) {
    std::ofstream(Inside("bad")) << line << "\nput not reached\n";
    result = RunProgram(command_.substr(5) + " <" + Inside("bad"));
    EXPECT_EQ(2, result.code) << line << "\n" << result.text;
  }
  EXPECT_FALSE(RunProgram(BinaryDir() + "/miodb scan " + Inside("db")).Says("reached"));
}

TEST_F(MiodbShellTest, AnInputThatCannotBeReadIsNoEnd) {
  const ProgramResult result = RunProgram(command_.substr(5) + " <" + folder_);
  EXPECT_EQ(2, result.code) << result.text;
  EXPECT_TRUE(result.Says("standard input: Is a directory")) << result.text;
}

}  // namespace
}  // namespace miodb::test
