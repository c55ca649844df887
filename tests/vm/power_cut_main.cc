// Writes a database until somebody switches the machine off, and looks at it afterwards. For test_sh/vm_pmem_test.sh.
//
//   power_cut_main write DB [NAME=VALUE...]    puts without end; prints the number of acknowledged puts now and then
//   power_cut_main fill DB BYTES [NAME=VALUE...]     puts until the pool has so many bytes in use; checks them
//   power_cut_main verify DB PUTS [NAME=VALUE...]    checks that at least so many puts are there, and nothing but a
//                                                    prefix of all puts
//   power_cut_main destroy DB [NAME=VALUE...]
//
// NAME: an option of the library (docs/options.md; with ssd_path the log is in files, and the last put before a number
// is acknowledged is synced), and any number of region=PATH[:LIMIT[:NODE]]. Each command but the last prints the
// property miodb.placement. Exit status 0, or 1 with a message.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "miodb/db.h"
#include "miodb/option_table.h"

namespace {

// Put number i writes key i % kKeys, so that puts overwrite each other from the first round on.
constexpr uint64_t kKeys = 20000;
constexpr uint64_t kPutsOfALine = 1000;

std::string Key(uint64_t put) {
  char text[32];
  snprintf(text, sizeof(text), "key%08llu", static_cast<unsigned long long>(put % kKeys));
  return text;
}

// Says which put it is from, and has a length of its own.
std::string Value(uint64_t put) {
  return std::to_string(put) + ":" + std::string(50 + put * 7919 % 400, static_cast<char>('a' + put % 26));
}

[[noreturn]] void Die(const std::string& message) {
  printf("power_cut: %s\n", message.c_str());
  exit(1);
}

// PATH[:LIMIT[:NODE]]
miodb::NvmRegion ParseRegion(const std::string& text) {
  miodb::NvmRegion region;
  const size_t limit = text.find(':');
  region.path = text.substr(0, limit);
  if (limit == std::string::npos) return region;
  const size_t node = text.find(':', limit + 1);
  region.limit = strtoull(text.c_str() + limit + 1, nullptr, 10);
  if (node != std::string::npos) region.node = atoi(text.c_str() + node + 1);
  return region;
}

void Check(const miodb::Status& s) {
  if (!s.ok()) Die(s.ToString());
}

miodb::Options ParseOptions(int argc, char** argv, int first) {
  miodb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 4 << 20;
  options.pool_growth = 8 << 20;
  for (int i = first; i < argc; i++) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    if (equals == std::string::npos) Die("unknown argument " + word);
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    if (name == "region") {
      options.nvm_regions.push_back(ParseRegion(value));
    } else {
      Check(miodb::SetOption(&options, name, value));
    }
  }
  if (!options.ssd_path.empty()) options.log_mode = miodb::kLogFile;
  return options;
}

std::unique_ptr<miodb::DB> Open(const miodb::Options& options, const std::string& path) {
  miodb::DB* db = nullptr;
  Check(miodb::DB::Open(options, path, &db));
  return std::unique_ptr<miodb::DB>(db);
}

void PrintPlacement(miodb::DB* db) {
  std::string text;
  if (!db->GetProperty("miodb.placement", &text)) Die("no property miodb.placement");
  printf("%s", text.c_str());
}

// The keys of fill: no put overwrites another.
std::string OwnKey(uint64_t put) { return std::to_string(put) + Key(put); }

// Checks every key of earlier fills, and returns how many there are.
uint64_t VerifyFilled(miodb::DB* db) {
  uint64_t puts = 0;
  const std::unique_ptr<miodb::Iterator> it(db->NewIterator(miodb::ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next(), puts++) {
    const uint64_t put = strtoull(it->value().ToString().c_str(), nullptr, 10);
    if (it->key() != OwnKey(put) || it->value() != Value(put)) Die("wrong value of " + it->key().ToString());
  }
  Check(it->status());
  return puts;
}

// Checks every key, and returns how many puts are there.
uint64_t Verify(miodb::DB* db, uint64_t acknowledged) {
  std::map<std::string, uint64_t> found;
  uint64_t puts = 0;
  const std::unique_ptr<miodb::Iterator> it(db->NewIterator(miodb::ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const uint64_t put = strtoull(it->value().ToString().c_str(), nullptr, 10);
    if (it->key() != Key(put) || it->value() != Value(put)) Die("wrong value of " + it->key().ToString());
    found[it->key().ToString()] = put;
    puts = std::max(puts, put + 1);
  }
  Check(it->status());
  if (puts < acknowledged) {
    Die("acknowledged " + std::to_string(acknowledged) + " puts, " + std::to_string(puts) + " are there");
  }
  // A prefix: every key has its last put below "puts".
  for (uint64_t put = puts > kKeys ? puts - kKeys : 0; put < puts; put++) {
    const auto it_found = found.find(Key(put));
    if (it_found == found.end() || it_found->second != put) Die("put " + std::to_string(put) + " is missing");
    std::string value;
    Check(db->Get(miodb::ReadOptions(), Key(put), &value));
    if (value != Value(put)) Die("get and scan disagree on put " + std::to_string(put));
  }
  return puts;
}

uint64_t PoolBytes(miodb::DB* db) {
  std::string text;
  if (!db->GetProperty("miodb.pool-bytes-used", &text)) Die("no property miodb.pool-bytes-used");
  return strtoull(text.c_str(), nullptr, 10);
}

}  // namespace

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc < 3) Die("see the top of power_cut_main.cc");
  const std::string command = argv[1], path = argv[2];
  if (command == "destroy") {
    Check(miodb::DestroyDB(path, ParseOptions(argc, argv, 3)));
    return 0;
  }
  const bool has_number = command != "write";
  if (has_number && argc < 4) Die(command + " needs a number");
  const uint64_t number = has_number ? strtoull(argv[3], nullptr, 10) : UINT64_MAX;
  const miodb::Options options = ParseOptions(argc, argv, has_number ? 4 : 3);
  const std::unique_ptr<miodb::DB> db = Open(options, path);
  if (command == "verify") {
    const uint64_t puts = Verify(db.get(), number);
    PrintPlacement(db.get());
    printf("power_cut: verified %llu puts, %llu were acknowledged\n", static_cast<unsigned long long>(puts),
           static_cast<unsigned long long>(number));
    return 0;
  }
  if (command != "write" && command != "fill") Die("unknown command " + command);
  PrintPlacement(db.get());
  uint64_t put = command == "fill" ? VerifyFilled(db.get()) : Verify(db.get(), 0);
  while (command == "write" || PoolBytes(db.get()) < number) {
    for (uint64_t i = 0; i < kPutsOfALine; i++, put++) {
      miodb::WriteOptions write;
      write.sync = options.log_mode == miodb::kLogFile && i + 1 == kPutsOfALine;
      Check(db->Put(write, command == "fill" ? OwnKey(put) : Key(put), Value(put)));
    }
    if (command == "write") printf("power_cut: acknowledged %llu\n", static_cast<unsigned long long>(put));
  }
  PrintPlacement(db.get());
  for (uint64_t i = 0; i < put; i++) {
    std::string value;
    Check(db->Get(miodb::ReadOptions(), OwnKey(i), &value));
    if (value != Value(i)) Die("wrong value of put " + std::to_string(i));
  }
  printf("power_cut: filled and read %llu puts\n", static_cast<unsigned long long>(put));
  return 0;
}
