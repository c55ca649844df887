// Databases of every kind with bytes that mean harm: any of their files, of a checkpoint's or of a backup's has bytes
// and sizes changed, is removed, or stands in the place of another; or one structure says something else, and its
// checksums are right (hostile_bytes.h). Opening, walking both ways in all column families and savepoints, beside
// merges as well, writing, checking, dumping, repairing and restoring end in time and without a fault; no walk is
// longer than there can be entries; and what a repair calls OK opens with the same options, and reads.
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

#include "miodb/backup.h"
#include "miodb/column_family.h"
#include "miodb/dumpfile.h"
#include "miodb/env.h"
#include "miodb/merge_operator.h"
#include "miodb/updates.h"
#include "miodb/write_batch.h"
#include "src/db/store/region_places.h"
#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "src/inspect/verify/verify.h"
#include "src/nvm/pool/pool_image.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/string_file.h"
#include "tests/common/test_dir.h"
#include "tests/faults/hostile_bytes.h"

#ifdef __SANITIZE_ADDRESS__
// A damaged leaf may refer to what is free, or comes free while a read stands on it. The read gets bytes without
// meaning, as in a release build, so free space is not poisoned.
extern "C" const char* __asan_default_options() { return "allow_user_poisoning=0"; }  // NOLINT
#endif

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kKiB = 1024;

// Limits of a case: seconds of a processor, and, where other programs have the processors, seconds in all.
constexpr unsigned kMostCpuSeconds = 10;
constexpr unsigned kMostSeconds = 300;

// A file that is longer has a hole of the test's making.
constexpr uint64_t kMostRead = uint64_t{64} << 20;

// More than a walk over any of the databases can have, whatever the bytes say: some hundred entries were written.
constexpr uint64_t kMostSteps = 100000;

// LOG says nothing to the engine, and of LOCK nothing but the name counts.
constexpr const char* kLeftOut[] = {"LOG", "LOCK"};

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
  options->compression = kNoCompression;
}

void WithLogFiles(Options* options, const std::string& root) {
  options->log_mode = kLogFile;
  options->wal_dir = root + "/logs";
}

const Kind kKinds[] = {
    {"PoolLog", [](Options* options, const std::string&) { options->keep_log_bytes = 32 * kKiB; }},
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
    options_.merge_operator = UInt64AddOperator();
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

  // Records of every kind in a family.
  static Status Fill(DB* db, ColumnFamilyHandle* family, uint64_t round) {
    Status s;
    for (uint64_t i = 0; s.ok() && i < 50; i++) {
      const std::string key = FilledKey(i * 7 % 100);
      WriteOptions options;
      if (i % 11 == 0) options.lifetime_seconds = i % 2 == 0 ? 1 : 1000000;
      s = db->Put(options, family, key, FilledValue(i + round, i % 20 == 0 ? 3000 : 150, 0));
      if (s.ok() && i % 5 == 0) s = db->Delete(WriteOptions(), family, FilledKey(i * 3 % 100));
      if (s.ok() && i % 4 == 0) s = db->Merge(WriteOptions(), family, "sum" + std::to_string(i % 3), "12345678");
      if (s.ok() && i == 20) s = db->SingleDelete(WriteOptions(), family, "once");
      if (s.ok() && i == 30) s = db->Put(WriteOptions(), family, "once", "1");
      if (s.ok() && i == 25) s = db->DeleteRange(WriteOptions(), family, FilledKey(40), FilledKey(45));
    }
    return s;
  }

  // What a kind has no copies or savepoints of it says.
  static Status OrNotSupported(const Status& s) { return s.IsNotSupportedError() ? Status::OK() : s; }

  static Status MakeCopies(DB* db, const std::string& root) {
    Status s = OrNotSupported(db->CreateCheckpoint(root + "/checkpoint"));
    return s.ok() ? OrNotSupported(db->CreateBackup(BackupOptions(), root + "/backup", nullptr)) : s;
  }

  // Two databases with something in every structure: one that was closed, and one whose process was killed.
  void MakeTemplates() {
    for (const bool killed : {false, true}) {
      fs::remove_all(root_);
      fs::create_directory(root_);
      const std::string problem = InProcess([&]() -> std::string {
        DB* db = nullptr;
        ColumnFamilyHandle *one = nullptr, *two = nullptr;
        Status s = DB::Open(options_, path_, &db);
        if (s.ok()) s = db->CreateColumnFamily("one", &one);
        if (s.ok()) s = db->CreateColumnFamily("two", &two);
        for (uint64_t round = 0; s.ok() && round < 3; round++) {
          for (ColumnFamilyHandle* family : {db->DefaultColumnFamily(), one, two}) {
            if (s.ok()) s = Fill(db, family, round);
          }
          if (s.ok() && round == 0) s = OrNotSupported(db->CreateSavepoint("early"));
          if (s.ok() && round == 1) s = db->WaitForIdle();
          if (s.ok() && round == 1) s = MakeCopies(db, root_);
        }
        if (s.ok()) s = OrNotSupported(db->CreateSavepoint("late"));
        if (s.ok() && fs::exists(root_ + "/backup")) s = db->CreateBackup(BackupOptions(), root_ + "/backup", nullptr);
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

  // The part that a case changes and uses.
  enum class Part { kDatabase, kCheckpoint, kBackup };

  std::string Folder(Part part) const {
    if (part == Part::kDatabase) return root_;
    return root_ + (part == Part::kCheckpoint ? "/checkpoint" : "/backup");
  }

  std::vector<std::string> Files(Part part) const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(Folder(part))) {
      const std::string path = entry.path(), name = entry.path().filename();
      const bool left_out =
          std::find(std::begin(kLeftOut), std::end(kLeftOut), name) != std::end(kLeftOut) ||
          (part == Part::kDatabase && (path.starts_with(root_ + "/checkpoint") || path.starts_with(root_ + "/backup")));
      if (entry.is_regular_file() && !left_out) files.push_back(path);
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  // Changes one file. The change in words, for people.
  std::string Mutate(Part part, Random* random) const {
    const std::vector<std::string> files = Files(part);
    if (files.empty()) return "there are no files\n";
    size_t victim = random->Uniform(files.size());
    // Most that can be said wrongly is in the large files.
    for (int i = 0; i < 3 && fs::file_size(files[victim]) < 4 * kKiB; i++) victim = random->Uniform(files.size());
    const std::string& file = files[victim];
    const uint64_t how = random->Uniform(30);
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
    std::string bytes = Read(file), done;
    const bool knowingly = !random->OneIn(3);
    for (uint64_t n = 1 + random->Uniform(3); n > 0; n--) {
      const std::string change = knowingly ? ChangeKnowingly(file, &bytes, random) : "";
      if (change.empty()) ChangeBlindly(&bytes, random);
      done += change.empty() ? "bytes, " : change + ", ";
    }
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return done + "of " + file + "\n";
  }

  // A walk that does not end is what a case fails by; what it reads may be wrong.
  template <typename Step>
  void Walk(Iterator* it, Step step) {
    uint64_t steps = 0;
    for (; it->Valid() && steps < kMostSteps; steps++) {
      (void)it->key().ToString();
      (void)it->value().ToString();
      step();
    }
    if (steps == kMostSteps) endless_ = "a walk has more steps than there are entries";
  }

  // Forward and backward, and to and fro from anywhere.
  void WalkAll(Iterator* it, Random* random) {
    it->SeekToFirst();
    Walk(it, [&] { it->Next(); });
    it->SeekToLast();
    Walk(it, [&] { it->Prev(); });
    for (int i = 0; i < 4; i++) {
      it->Seek(FilledKey(random->Uniform(100)));
      for (int step = 0; it->Valid() && step < 20; step++) random->OneIn(2) ? it->Next() : it->Prev();
    }
  }

  // Reads everything of all families; the first error. Whatever is read may be wrong, but reading has to end.
  Status ReadAll(DB* db, Random* random) {
    std::vector<std::string> names;
    Status first = db->ListColumnFamilies(&names);
    for (const std::string& name : names) {
      ColumnFamilyHandle* family = nullptr;
      if (!db->GetColumnFamily(name, &family).ok()) continue;
      for (const bool verify : {true, false}) {
        ReadOptions options;
        options.verify_checksums = verify;
        const std::unique_ptr<Iterator> it(db->NewIterator(options, family));
        WalkAll(it.get(), random);
        if (first.ok()) first = it->status();
        std::string value;
        for (uint64_t i = 0; i < 100; i += 9) {
          const Status s = db->Get(options, family, i % 2 == 0 ? FilledKey(i) : "sum1", &value);
          if (first.ok() && !s.ok() && !s.IsNotFound()) first = s;
        }
      }
    }
    return first;
  }

  // With changes, flushes and merges that go on while it reads.
  void WriteAndRead(DB* db, Random* random) {
    std::vector<std::string> names;
    db->ListColumnFamilies(&names).IgnoreError();
    for (const std::string& name : names) {
      ColumnFamilyHandle* family = nullptr;
      if (!db->GetColumnFamily(name, &family).ok()) continue;
      for (uint64_t i = 0; i < 20; i++) (void)db->Put(WriteOptions(), family, FilledKey(i), std::string(500, 'n'));
      (void)db->DeleteRange(WriteOptions(), family, FilledKey(70), FilledKey(80));
      (void)db->Merge(WriteOptions(), family, "sum1", "12345678");
    }
    (void)db->Flush();
    ReadAll(db, random).IgnoreError();
    db->CompactRange(nullptr, nullptr);
    ReadAll(db, random).IgnoreError();
  }

  void ReadSavepointsAndUpdates(DB* db, Random* random) {
    std::vector<SavepointInfo> savepoints;
    db->ListSavepoints(&savepoints).IgnoreError();
    for (const SavepointInfo& savepoint : savepoints) {
      DB* view = nullptr;
      if (!db->OpenSavepoint(savepoint.name, &view).ok()) continue;
      const std::unique_ptr<DB> closing(view);
      ReadAll(view, random).IgnoreError();
    }
    std::unique_ptr<UpdateIterator> updates;
    if (!db->GetUpdatesSince(random->OneIn(2) ? 1 : 1 + random->Uniform(1000), &updates).ok()) return;
    for (uint64_t steps = 0; updates->Valid(); steps++) {
      if (steps == kMostSteps) endless_ = "a walk has more steps than there are updates";
      if (steps == kMostSteps) return;
      updates->Next();
    }
  }

  void OpenAndUse(const Options& given, const std::string& path, Random* random) {
    Options options = given;
    options.paranoid_checks = random->OneIn(2);
    DB* opened = nullptr;
    if (!DB::Open(options, path, &opened).ok()) return;
    const std::unique_ptr<DB> db(opened);
    if (!random->OneIn(3)) ReadAll(db.get(), random).IgnoreError();
    if (random->OneIn(2)) ReadSavepointsAndUpdates(db.get(), random);
    DB* reader = nullptr;
    if (random->OneIn(4) && DB::OpenReader(options, path, &reader).ok()) {
      const std::unique_ptr<DB> closing(reader);
      ReadAll(reader, random).IgnoreError();
    }
    WriteAndRead(db.get(), random);
    if (random->OneIn(4)) MakeCopies(db.get(), root_ + "/new").IgnoreError();
  }

  // Of a copy: its pool, and its SSD tier below it.
  Options CopyOptions(const std::string& path) const {
    Options options = options_;
    options.create_if_missing = false;
    options.pool_path.clear();
    options.nvm_regions.clear();
    options.wal_dir.clear();
    if (!options.ssd_path.empty()) options.ssd_path = path + "/ssd";
    return options;
  }

  void UseCheckpoint(Random* random) {
    const std::string path = root_ + "/checkpoint";
    OpenAndUse(CopyOptions(path), path, random);
  }

  void UseBackup(Random* random) {
    const std::string folder = root_ + "/backup", restored = root_ + "/restored";
    std::vector<BackupInfo> generations;
    ListBackups(folder, &generations).IgnoreError();
    VerifyBackup(BackupOptions(), folder, 0).IgnoreError();
    const uint64_t generation = random->OneIn(2) ? 0 : 1;
    if (RestoreBackup(CopyOptions(restored), BackupOptions(), folder, generation, restored).ok()) {
      OpenAndUse(CopyOptions(restored), restored, random);
    }
    DB* opened = nullptr;
    if (DB::Open(options_, path_, &opened).ok()) {
      const std::unique_ptr<DB> db(opened);
      db->CreateBackup(BackupOptions(), folder, nullptr).IgnoreError();
    }
    DeleteBackup(folder, 1).IgnoreError();
    VerifyBackup(BackupOptions(), folder, 0).IgnoreError();
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

  std::string RepairAndOpen(Random* random) {
    if (!RepairDB(path_, options_).ok()) return "";
    Options options = options_;
    options.create_if_missing = false;
    options.paranoid_checks = true;
    DB* opened = nullptr;
    Status s = DB::Open(options, path_, &opened);
    if (!s.ok()) return "what a repair called OK does not open: " + s.ToString();
    const std::unique_ptr<DB> db(opened);
    s = ReadAll(db.get(), random);
    // A forged operand is content, which the operator alone refuses.
    const bool refused = s.ToString().find("merge operator") != std::string::npos;
    return s.ok() || refused ? "" : "what a repair called OK is damaged: " + s.ToString();
  }

  // Most cases are of the database itself.
  Part AnyPart(Random* random) const {
    const uint64_t dice = random->Uniform(10);
    if (dice == 0 && fs::exists(Folder(Part::kCheckpoint))) return Part::kCheckpoint;
    return dice == 1 && fs::exists(Folder(Part::kBackup)) ? Part::kBackup : Part::kDatabase;
  }

  std::string Case(uint64_t seed) {
    Random random(seed);
    Move(Template(random.OneIn(2)), root_);
    const Part part = AnyPart(&random);
    std::string done, problem;
    for (uint64_t n = 1 + random.Uniform(3); n > 0; n--) done += Mutate(part, &random);
    if (Seeds(2).size() == 1) std::fputs(done.c_str(), stderr);  // one that is repeated
    if (part == Part::kDatabase) {
      if (!random.OneIn(3)) CheckAndDump();
      if (!random.OneIn(3)) OpenAndUse(options_, path_, &random);
      CheckAndDump();
      problem = RepairAndOpen(&random);
    } else {
      part == Part::kCheckpoint ? UseCheckpoint(&random) : UseBackup(&random);
    }
    if (problem.empty()) problem = endless_;
    return problem.empty() ? "" : done + problem;
  }

  TestDir dir_;
  const std::string root_ = dir_ / "root";
  const std::string path_ = root_ + "/db";
  Options options_;
  std::string endless_;  // of a walk that did not end
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
