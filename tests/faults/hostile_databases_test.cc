// Databases of every kind with bytes that mean harm: any of their files has bytes and sizes changed, is removed, or
// stands in the place of another. Opening, reading, checking, dumping and repairing end in time and without a fault,
// and what a repair calls OK opens with the same options, and reads.
//
// Each case runs in a process of its own. MIODB_TEST_SEED repeats one.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "miodb/dumpfile.h"
#include "miodb/env.h"
#include "miodb/write_batch.h"
#include "src/db/file_names.h"
#include "src/db/region_places.h"
#include "src/db/store_file.h"
#include "src/inspect/verify.h"
#include "src/nvm/pool_image.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random.h"
#include "tests/common/string_file.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kKiB = 1024;

// What a case may take: of a processor, and, where other programs have the processors, in all.
constexpr unsigned kMostCpuSeconds = 10;
constexpr unsigned kMostSeconds = 300;

// A file that is longer has a hole of the test's making.
constexpr uint64_t kMostRead = uint64_t{64} << 20;

// LOG says nothing to the engine.
constexpr const char* kLeftOut[] = {"LOG"};

// How much longer everything takes under a sanitizer.
unsigned Patience() { return RunsUnderSanitizer() ? 10 : 1; }

struct Kind {
  const char* name;
  void (*set)(Options* options, const std::string& root);
};

void WithSsd(Options* options, const std::string& root) {
  options->ssd_path = root + "/ssd";
  options->nvm_budget = 64 * kKiB;
  options->ssd_file_size = 16 * kKiB;
  options->block_size = 512;
}

void WithLogFiles(Options* options, const std::string& root) {
  options->log_mode = kLogFile;
  options->wal_dir = root + "/logs";
}

const Kind kKinds[] = {
    {"PoolLog", [](Options*, const std::string&) {}},
    {"FileLog", WithLogFiles},
    {"LogOff", [](Options* options, const std::string&) { options->log_mode = kLogOff; }},
    {"Ssd", WithSsd},
    {"SsdAndFileLog",
     [](Options* options, const std::string& root) {
       WithSsd(options, root);
       WithLogFiles(options, root);
     }},
    {"Volatile",
     [](Options* options, const std::string& root) {
       WithSsd(options, root);
       WithLogFiles(options, root);
       options->pool_path = "anonymous";
     }},
    {"Regions",
     [](Options* options, const std::string& root) {
       options->pool_size = 1024 * kKiB;  // has room for what a repair writes into one file
       NvmRegion region;
       region.path = root + "/region";
       region.limit = 4096 * kKiB;
       options->nvm_regions = {region};
     }},
};

class HostileDatabasesTest : public testing::TestWithParam<Kind> {
 protected:
  HostileDatabasesTest() {
    options_ = SmallOptions();
    options_.write_buffer_size = 16 * kKiB;
    options_.log_chunk_size = 8 * kKiB;
    options_.pool_growth = 64 * kKiB;
    options_.partition_size = 32 * kKiB;
    options_.num_levels = 3;
    GetParam().set(&options_, root_);
  }

  // Runs this in a process of its own. Why it failed, or empty.
  template <typename Work>
  static std::string InProcess(Work work) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      const rlimit cpu = {kMostCpuSeconds * Patience(), kMostCpuSeconds * Patience()};
      setrlimit(RLIMIT_CPU, &cpu);
      alarm(kMostSeconds * Patience());
      const std::string problem = work();
      if (!problem.empty()) std::fprintf(stderr, "%s\n", problem.c_str());
      std::fflush(nullptr);
      _exit(problem.empty() ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return "no process";
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::string();
    if (WIFEXITED(status)) return "exit status " + std::to_string(WEXITSTATUS(status));
    const int signal = WTERMSIG(status);
    if (signal == SIGXCPU || signal == SIGKILL || signal == SIGALRM) return "did not end in time";
    return "signal " + std::to_string(signal);
  }

  static void Move(const std::string& from, const std::string& to) {
    fs::remove_all(to);
    fs::copy(from, to, fs::copy_options::recursive);
  }

  // Two databases with something in every structure: one that was closed, and one whose process was killed.
  void MakeTemplates() {
    for (const bool killed : {false, true}) {
      fs::remove_all(root_);
      fs::create_directory(root_);
      const std::string problem = InProcess([&]() -> std::string {
        DB* db = nullptr;
        Status s = DB::Open(options_, path_, &db);
        for (int round = 0; s.ok() && round < 3; round++) {
          for (uint64_t i = 0; s.ok() && i < 150; i++) {
            s = db->Put(WriteOptions(), FilledKey(i * 7 % 100), FilledValue(i, i % 20 == 0 ? 3000 : 150, 0));
            if (s.ok() && i % 5 == 0) s = db->Delete(WriteOptions(), FilledKey(i * 3 % 100));
          }
          if (s.ok() && round == 1) s = db->WaitForIdle();
        }
        if (!killed) delete db;
        return s.ok() ? "" : s.ToString();
      });
      ASSERT_EQ("", problem);
      Move(root_, Template(killed));
    }
  }

  std::string Template(bool killed) const { return dir_ / (killed ? "killed" : "closed"); }

  static std::string Read(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      const std::string name = entry.path().filename();
      const bool left_out = std::find(std::begin(kLeftOut), std::end(kLeftOut), name) != std::end(kLeftOut);
      if (entry.is_regular_file() && !left_out) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  // A place that is likely to mean something: not in the midst of zeros.
  static size_t Place(const std::string& bytes, Random* random) {
    size_t at = random->Uniform(bytes.size());
    for (int i = 0; i < 50 && bytes[at] == '\0'; i++) at = random->Uniform(bytes.size());
    return random->OneIn(2) ? at : at / 8 * 8;
  }

  static std::string Number(Random* random, size_t size) {
    static constexpr uint64_t kNumbers[] = {0,
                                            1,
                                            2,
                                            7,
                                            127,
                                            128,
                                            255,
                                            4095,
                                            4096,
                                            65535,
                                            1 << 20,
                                            UINT32_MAX,
                                            uint64_t{1} << 40,
                                            uint64_t{1} << 63,
                                            UINT64_MAX - 4095,
                                            UINT64_MAX};
    const uint64_t number = random->OneIn(3) ? size : kNumbers[random->Uniform(std::size(kNumbers))];
    return std::string(reinterpret_cast<const char*>(&number), random->OneIn(2) ? 4 : 8);
  }

  static void Overwrite(std::string* bytes, size_t at, const std::string& with) {
    bytes->replace(at, std::min(with.size(), bytes->size() - at), with.substr(0, bytes->size() - at));
  }

  void MutateBytes(std::string* bytes, Random* random) const {
    if (bytes->empty()) return;
    const size_t at = Place(*bytes, random);
    switch (random->Uniform(8)) {
      case 0:
      case 1:
        (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << random->Uniform(8)));
        break;
      case 2:
        Overwrite(bytes, at, random->Bytes(1 + random->Uniform(64)));
        break;
      case 3:
        Overwrite(bytes, at, Number(random, bytes->size()));
        break;
      case 4:
        Overwrite(bytes, at / 4096 * 4096, std::string(4096, '\0'));
        break;
      case 5:
        Overwrite(bytes, at / 64 * 64, bytes->substr(Place(*bytes, random) / 64 * 64, 64 << random->Uniform(7)));
        break;
      case 6:
        bytes->resize(random->OneIn(2) ? at : at / 4096 * 4096);
        break;
      case 7:
        bytes->append(random->OneIn(2) ? random->Bytes(random->Uniform(10000)) : std::string(4096, '\0'));
        break;
    }
  }

  // Changes one file. What was done, for people.
  std::string Mutate(Random* random) const {
    const std::vector<std::string> files = Files();
    if (files.empty()) return "there are no files\n";
    const std::string& file = files[random->Uniform(files.size())];
    const uint64_t how = random->Uniform(20);
    if (how == 0) {
      fs::remove(file);
      return "removed " + file + "\n";
    }
    if (how == 1) {
      const std::string& other = files[random->Uniform(files.size())];
      if (fs::file_size(other) > kMostRead) return "";  // has a hole, which the copy would not have
      if (other != file) fs::copy_file(other, file, fs::copy_options::overwrite_existing);
      return "copied " + other + " to " + file + "\n";
    }
    if (how == 2) {
      // AddressSanitizer takes a byte of memory for each eight of a pool that was open.
      const uint64_t large = (RunsUnderSanitizer() ? 29 : 38) + random->Uniform(3);
      const uint64_t hole = uint64_t{1} << (random->OneIn(2) ? 20 + random->Uniform(4) : large);
      fs::resize_file(file, fs::file_size(file) + hole);
      return "a hole behind " + file + "\n";
    }
    if (fs::file_size(file) > kMostRead) return "";  // has a hole already
    std::string bytes = Read(file);
    for (uint64_t n = 1 + random->Uniform(3); n > 0; n--) MutateBytes(&bytes, random);
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return "bytes of " + file + "\n";
  }

  // Reads everything; the first error. Whatever is read may be wrong, but reading has to end.
  static Status ReadAll(DB* db) {
    ReadOptions verifying;
    verifying.verify_checksums = true;
    Status first;
    for (const ReadOptions& options : {verifying, ReadOptions()}) {
      const std::unique_ptr<Iterator> it(db->NewIterator(options));
      for (it->SeekToFirst(); it->Valid(); it->Next()) continue;
      if (first.ok()) first = it->status();
      for (it->SeekToLast(); it->Valid(); it->Prev()) continue;
      std::string value;
      for (uint64_t i = 0; i < 100; i += 9) {
        const Status s = db->Get(options, FilledKey(i), &value);
        if (first.ok() && !s.ok() && !s.IsNotFound()) first = s;
      }
    }
    return first;
  }

  void OpenAndUse(bool paranoid) const {
    Options options = options_;
    options.paranoid_checks = paranoid;
    DB* opened = nullptr;
    if (!DB::Open(options, path_, &opened).ok()) return;
    const std::unique_ptr<DB> db(opened);
    ReadAll(db.get()).IgnoreError();
    for (uint64_t i = 0; i < 20; i++) (void)db->Put(WriteOptions(), FilledKey(i), std::string(500, 'n'));
    db->CompactRange(nullptr, nullptr);
    ReadAll(db.get()).IgnoreError();
  }

  void CheckAndDump() const {
    VerifyOptions verify;
    verify.ssd_path = options_.ssd_path;
    verify.wal_folder = options_.log_mode == kLogFile ? options_.wal_dir : "";
    StoreDescriptor store;
    if (ReadStore(Env::Default(), path_, &store).ok() && store.pool == Uuid{} && !verify.wal_folder.empty()) {
      VerifyVolatile(store, BytewiseComparator(), verify);
    }
    std::unique_ptr<PoolImage> image;
    const std::string pool = path_ + "/pool";
    if (PoolImage::Open(pool, &image, PlacesOfRegions(options_, path_)).ok() && CheckReadable(*image).ok()) {
      VerifyPool(*image, BytewiseComparator(), verify);
    }
    image.reset();
    StringSink sink;
    DumpFile(Env::Default(), pool, &sink).IgnoreError();
  }

  std::string RepairAndOpen() const {
    if (!RepairDB(path_, options_).ok()) return "";
    Options options = options_;
    options.create_if_missing = false;
    options.paranoid_checks = true;
    DB* opened = nullptr;
    Status s = DB::Open(options, path_, &opened);
    if (!s.ok()) return "what a repair called OK does not open: " + s.ToString();
    const std::unique_ptr<DB> db(opened);
    s = ReadAll(db.get());
    return s.ok() ? "" : "what a repair called OK is damaged: " + s.ToString();
  }

  std::string Case(uint64_t seed) {
    Random random(seed);
    Move(Template(random.OneIn(2)), root_);
    std::string done;
    for (uint64_t n = 1 + random.Uniform(3); n > 0; n--) done += Mutate(&random);
    if (Seeds(2).size() == 1) std::fputs(done.c_str(), stderr);  // one that is repeated
    if (!random.OneIn(3)) CheckAndDump();
    if (!random.OneIn(3)) OpenAndUse(random.OneIn(2));
    CheckAndDump();
    const std::string problem = RepairAndOpen();
    return problem.empty() ? "" : done + problem;
  }

  TestDir dir_;
  const std::string root_ = dir_ / "root";
  const std::string path_ = root_ + "/db";
  Options options_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, HostileDatabasesTest, testing::ValuesIn(kKinds),
                         [](const auto& param) { return std::string(param.param.name); });

TEST_P(HostileDatabasesTest, NothingIsTakenOnTrust) {
  MakeTemplates();
  if (HasFailure()) return;
  const uint64_t cases = ByScale(RunsUnderSanitizer() ? 10 : 40, 400, 50000 / std::size(kKinds) + 1);
  int failures = 0;
  for (const uint64_t seed : Seeds(cases)) {
    const std::string problem = InProcess([&] { return Case(seed); });
    if (problem.empty()) continue;
    ADD_FAILURE() << problem << "\n" << Repeat(seed);
    if (++failures == 20) break;
  }
}

}  // namespace
}  // namespace miodb::test
