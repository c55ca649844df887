// Questions that a store of another project is asked before it is measured: whether deletes, overwrites, snapshots,
// batches that are written twice, closing, and the end of the process by kill -9 leave what they promise. A figure of a
// store that answers wrong compares different work.
//
// Each question has child processes of its own and a fresh store in a working folder beside EngineConfig::db, which is
// removed at the end; its parent folder has to be there. A child that crashes or hangs has answered wrong; what the
// store prints there is dropped.
//
// Threads: one thread asks, and no other thread may hold a lock that a child process needs. Units: seconds.

#ifndef MIODB_BENCHMARKS_COMMON_QUESTIONS_H_
#define MIODB_BENCHMARKS_COMMON_QUESTIONS_H_

#include <string>
#include <vector>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/engine_config.h"

namespace miodb::bench {

struct Answer {
  std::string question;  // "deletes"
  std::string problem;   // empty: the answer is right
};

constexpr int kAnswerSeconds = 60;

// Asks the engine that the configuration names. A question that the engine has no call for is answered so, and so is
// each in a process that has threads already: a child would lack them.
std::vector<Answer> AskEngine(const EngineConfig& config, const Engine& engine, int seconds = kAnswerSeconds);

// Lines for a report: which answers are right, and a warning for each that is not.
std::string AnswersText(const std::string& name, const std::vector<Answer>& answers);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_QUESTIONS_H_
