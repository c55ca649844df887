// The cost for a writer of processes and threads that copy its database meanwhile, or have it open for reading: puts of
// random keys as fast as they go, in phases that alternate between alone and in company.
//
//   companion_cost DIRECTORY COMPANY [ROUNDS [SECONDS [VALUE_BYTES]]]
//
// COMPANY is one of
//   nobody        the noise of the machine
//   savepoints    one is made at random moments, and dropped at the next
//   checkpoints   the same below DIRECTORY, removed once it is whole
//   readers       four other processes have it open, and read nothing
//
// Each of ROUNDS (9) has one phase of SECONDS (5) of each kind, the first of them by turns, on a database of its own
// below DIRECTORY that has all keys, with values of VALUE_BYTES (100). Printed for each phase: puts a second,
// their 99.9th percentile and the longest; at the end the medians of all rounds and their ratios. The time of a put is
// measured outside of it.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/common/draw/random.h"
#include "benchmarks/cost/cost.h"
#include "miodb/db.h"
#include "miodb/options.h"

using miodb::cost::Check;
using miodb::cost::Clock;
using miodb::cost::Key;
using miodb::cost::Since;

namespace {

constexpr uint64_t kKeys = 1000000;
constexpr uint64_t kMostPauseMillis = 20;  // of the company, between two copies

struct Shape {
  std::string directory;
  std::string company;
  int rounds = 9;
  double seconds = 5;
  uint64_t value_bytes = 100;
};

struct Figures {
  double puts_a_second = 0;
  double p999_micros = 0;
  double longest_micros = 0;
};

class Company {
 public:
  virtual ~Company() = default;
  virtual uint64_t copies() const { return 0; }
};

// Makes copies at random moments until it is told to stop.
class Copies final : public Company {
 public:
  Copies(const Shape& shape, miodb::DB* db, uint64_t seed)
      : shape_(shape), db_(db), random_(seed), thread_([this] { Run(); }) {}
  ~Copies() override {
    stop_ = true;
    thread_.join();
  }
  uint64_t copies() const override { return copies_; }

 private:
  void Run() {
    while (!stop_) {
      std::this_thread::sleep_for(std::chrono::microseconds(random_.Uniform(kMostPauseMillis * 1000)));
      if (shape_.company == "savepoints") {
        Check(db_->CreateSavepoint("companion"));
        std::this_thread::sleep_for(std::chrono::microseconds(random_.Uniform(kMostPauseMillis * 1000)));
        Check(db_->DropSavepoint("companion"));
      } else {
        const std::string directory = shape_.directory + "/checkpoint";
        Check(db_->CreateCheckpoint(directory));
        Check(miodb::DestroyDB(directory, miodb::Options()));
      }
      copies_++;
    }
  }

  const Shape& shape_;
  miodb::DB* const db_;
  miodb::bench::Random random_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> copies_{0};
  std::thread thread_;
};

// Processes of this program that have opened the database for reading when this is made, and end with it.
class Readers final : public Company {
 public:
  explicit Readers(const std::string& path) {
    for (int i = 0; i < kReaders; i++) Start(path);
  }
  ~Readers() override {
    for (const int input : inputs_) close(input);
    while (wait(nullptr) > 0) {
    }
  }

  // The work of such a process: it says that it has the database open, and waits for the end of its input.
  static int Run(const std::string& path) {
    miodb::DB* opened;
    Check(miodb::DB::OpenReader(miodb::Options(), path, &opened));
    const std::unique_ptr<miodb::DB> db(opened);
    char byte = 'r';
    if (write(STDOUT_FILENO, &byte, 1) != 1) return 1;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    return 0;
  }

 private:
  static constexpr int kReaders = 4;

  void Start(const std::string& path) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) Check(miodb::Status::IOError("pipe"));
    const pid_t child = fork();
    if (child == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      execl("/proc/self/exe", "companion_cost", path.c_str(), "reader", nullptr);
      _exit(1);
    }
    close(in[0]);
    close(out[1]);
    char byte;
    if (child < 0 || read(out[0], &byte, 1) != 1) Check(miodb::Status::IOError(path, "no reader could be started"));
    close(out[0]);
    inputs_.push_back(in[1]);
  }

  std::vector<int> inputs_;
};

class CompanionCost {
 public:
  explicit CompanionCost(const Shape& shape) : shape_(shape), value_(shape.value_bytes, 'v'), random_(1) {}

  void Run() {
    std::vector<Figures> alone, together;
    uint64_t copies = 0;
    for (int round = 0; round < shape_.rounds; round++) {
      for (int i = 0; i < 2; i++) {
        const bool in_company = (round + i) % 2 == 1;
        (in_company ? together : alone).push_back(Phase(in_company, &copies));
      }
    }
    const Figures first = Print("median alone", Medians(alone)), second = Print("median in company", Medians(together));
    std::printf("in company against alone: puts a second %.3f, p99.9 %.3f, longest %.3f; %llu copies\n",
                second.puts_a_second / first.puts_a_second, second.p999_micros / first.p999_micros,
                second.longest_micros / first.longest_micros, static_cast<unsigned long long>(copies));
  }

 private:
  static Figures Print(const char* what, const Figures& f) {
    std::printf("%-18s %9.0f puts a second, p99.9 %8.2f us, longest %9.1f us\n", what, f.puts_a_second, f.p999_micros,
                f.longest_micros);
    std::fflush(stdout);
    return f;
  }

  static double Median(const std::vector<Figures>& all, double Figures::*figure) {
    std::vector<double> values;
    values.reserve(all.size());
    for (const Figures& f : all) values.push_back(f.*figure);
    std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  }
  static Figures Medians(const std::vector<Figures>& all) {
    return {Median(all, &Figures::puts_a_second), Median(all, &Figures::p999_micros),
            Median(all, &Figures::longest_micros)};
  }

  Figures Phase(bool in_company, uint64_t* copies) {
    const std::string path = shape_.directory + "/db";
    miodb::Options options;
    options.create_if_missing = options.error_if_exists = true;
    miodb::DB* opened;
    Check(miodb::DB::Open(options, path, &opened));
    std::unique_ptr<miodb::DB> db(opened);
    for (uint64_t i = 0; i < kKeys; i++) Check(db->Put(miodb::WriteOptions(), Key(i), value_));
    Check(db->WaitForIdle());
    Figures figures;
    {
      std::unique_ptr<Company> company;
      if (in_company) company = MakeCompany(path, db.get());
      figures = Put(db.get());
      if (company != nullptr) *copies += company->copies();
    }
    db.reset();
    Check(miodb::DestroyDB(path, options));
    return Print(in_company ? "in company" : "alone", figures);
  }

  std::unique_ptr<Company> MakeCompany(const std::string& path, miodb::DB* db) {
    if (shape_.company == "nobody") return std::make_unique<Company>();
    if (shape_.company == "readers") return std::make_unique<Readers>(path);
    return std::make_unique<Copies>(shape_, db, random_.Next());
  }

  Figures Put(miodb::DB* db) {
    std::vector<float> micros;
    micros.reserve(static_cast<size_t>(shape_.seconds * 4e6));
    const Clock::time_point start = Clock::now();
    Clock::time_point before = start;
    while (std::chrono::duration<double>(before - start).count() < shape_.seconds) {
      const std::string key = Key(random_.Uniform(kKeys));
      before = Clock::now();
      Check(db->Put(miodb::WriteOptions(), key, value_));
      micros.push_back(static_cast<float>(Since<std::micro>(before)));
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    std::sort(micros.begin(), micros.end());
    return {static_cast<double>(micros.size()) / seconds, micros[micros.size() - 1 - micros.size() / 1000],
            micros.back()};
  }

  const Shape shape_;
  const std::string value_;
  miodb::bench::Random random_;
};

int Usage() {
  std::fprintf(
      stderr,
      "usage: companion_cost DIRECTORY nobody|savepoints|checkpoints|readers [ROUNDS [SECONDS [VALUE_BYTES]]]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 6 || argv[1][0] == '-') return Usage();
  Shape shape;
  shape.directory = argv[1];
  shape.company = argv[2];
  if (shape.company == "reader") return Readers::Run(shape.directory);
  const char* const companies[] = {"nobody", "savepoints", "checkpoints", "readers"};
  if (std::find(std::begin(companies), std::end(companies), shape.company) == std::end(companies)) return Usage();
  if (argc > 3) shape.rounds = std::atoi(argv[3]);
  if (argc > 4) shape.seconds = std::atof(argv[4]);
  if (argc > 5) shape.value_bytes = std::strtoull(argv[5], nullptr, 10);
  if (shape.rounds < 1 || shape.seconds <= 0) return Usage();
  std::error_code error;
  std::filesystem::create_directories(shape.directory, error);
  if (error) return Check(miodb::Status::IOError(shape.directory, error.message())), 1;
  CompanionCost(shape).Run();
  return 0;
}
