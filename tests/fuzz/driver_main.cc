// Runs a fuzz target without libFuzzer: over the files of the folders given, and over seeded mutations of them. Keeps
// the targets alive where only gcc is at hand.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/fuzz/fuzz.h"

namespace {

void Run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

// Changes, inserts, removes and cuts a few bytes.
std::string Mutate(std::string input, miodb::Random* random) {
  for (uint64_t n = 1 + random->Uniform(4); n > 0; n--) {
    const size_t at = random->Uniform(input.size() + 1);
    switch (random->Uniform(5)) {
      case 0:
      case 1:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << random->Uniform(8)));
        break;
      case 2:
        input.insert(at, 1 + random->Uniform(4), static_cast<char>(random->Next64()));
        break;
      case 3:
        input.erase(at, 1 + random->Uniform(8));
        break;
      default:
        if (random->OneIn(4)) input.resize(at);
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> inputs;
  for (int i = 1; i < argc; i++) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  if (inputs.empty()) {
    fprintf(stderr, "no inputs\n");
    return 1;
  }
  std::sort(inputs.begin(), inputs.end());
  for (const std::string& input : inputs) Run(input);
  Run(std::string());
  const uint64_t mutations = miodb::test::ByScale(20000, 100000, 1000000);
  miodb::Random random(1);
  for (uint64_t i = 0; i < mutations; i++) Run(Mutate(inputs[random.Uniform(inputs.size())], &random));
  printf("%zu files and %llu mutations, no finding\n", inputs.size(), static_cast<unsigned long long>(mutations));
  return 0;
}
