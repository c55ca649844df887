#include "benchmarks/common/library_build.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

namespace miodb::bench {

namespace {

// Libraries that are linked into a release build bring some calls: RocksDB's own binary has 159 in 9 MB.
constexpr double kAssertCallsPerMegabyte = 50;
constexpr uint64_t kLeastAssertCalls = 16;

// More than functions have on average.
constexpr uint64_t kBytesOfAFunction = 2000;

class Image {
 public:
  explicit Image(std::string bytes) : bytes_(std::move(bytes)) {
    if (!Read(0, &header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) return;
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_machine != EM_X86_64) return;
    for (size_t i = 0; i < header_.e_shnum; i++) {
      Elf64_Shdr section;
      if (!Read(header_.e_shoff + i * sizeof(section), &section)) return;
      sections_.push_back(section);
    }
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  std::string_view Contents(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size()) return {};
    return std::string_view(bytes_).substr(section.sh_offset, section.sh_size);
  }

  // The places where the addresses of a function stand that is called in another library.
  std::set<uint64_t> SlotsOf(std::string_view name) const {
    std::set<uint64_t> slots;
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_RELA || section.sh_link >= sections_.size()) continue;
      const Elf64_Shdr& symbols = sections_[section.sh_link];
      if (symbols.sh_type != SHT_DYNSYM || symbols.sh_link >= sections_.size()) continue;
      const std::string_view names = Contents(sections_[symbols.sh_link]);
      for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= section.sh_size; at += sizeof(Elf64_Rela)) {
        Elf64_Rela place;
        Elf64_Sym symbol;
        if (!Read(section.sh_offset + at, &place)) break;
        if (!Read(symbols.sh_offset + ELF64_R_SYM(place.r_info) * sizeof(symbol), &symbol)) continue;
        if (symbol.st_name < names.size() && names.data() + symbol.st_name == name) slots.insert(place.r_offset);
      }
    }
    return slots;
  }

 private:
  template <typename T>
  bool Read(uint64_t at, T* value) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) return false;
    std::memcpy(value, bytes_.data() + at, sizeof(T));
    return true;
  }

  const std::string bytes_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Shdr> sections_;
};

// The shortest instruction that is looked for is a call. A call that does not return may be the last of a section.
constexpr size_t kCallBytes = 5;

// Where an instruction leads that ends with a distance of 32 bits from its own end; 0: the code ends before.
uint64_t Target(std::string_view code, size_t end, uint64_t address) {
  int32_t distance;
  if (end > code.size()) return 0;
  std::memcpy(&distance, code.data() + end - sizeof(distance), sizeof(distance));
  return address + end + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

bool Has(std::string_view code, size_t at, std::string_view bytes) { return code.substr(at, bytes.size()) == bytes; }

// Whether crc32 or pclmulqdq stands here.
bool IsCrc(std::string_view code, size_t at) {
  if (Has(code, at, "\x66\x0f\x3a\x44")) return true;
  if (code[at] != '\xf2') return false;
  if (at + 1 < code.size() && (code[at + 1] & 0xf0) == 0x40) at++;  // a prefix of wide registers
  return Has(code, at + 1, "\x0f\x38\xf0") || Has(code, at + 1, "\x0f\x38\xf1");
}

}  // namespace

LibraryBuild LibraryBuild::Of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const Image image(std::string(std::istreambuf_iterator<char>(file), {}));
  LibraryBuild build;
  const std::set<uint64_t> slots = image.SlotsOf("__assert_fail");
  // Calls go to a jump through the slot, which begins a few bytes before, or through the slot itself.
  std::set<uint64_t> jumps;
  const auto each = [&](auto&& visit) {
    for (const Elf64_Shdr& section : image.sections()) {
      if ((section.sh_flags & SHF_EXECINSTR) == 0) continue;
      const std::string_view code = image.Contents(section);
      for (size_t at = 0; at + kCallBytes <= code.size(); at++) visit(code, at, section.sh_addr);
      build.code_bytes += code.size();
    }
  };
  if (!slots.empty()) {
    each([&](std::string_view code, size_t at, uint64_t address) {
      if (!Has(code, at, "\xff\x25") || slots.count(Target(code, at + 6, address)) == 0) return;
      for (const uint64_t before : {0, 1, 4, 5}) jumps.insert(address + at - before);
    });
  }
  build.code_bytes = 0;
  each([&](std::string_view code, size_t at, uint64_t address) {
    const char first = code[at];
    if (first == '\xe8') build.assert_calls += jumps.count(Target(code, at + 5, address));
    if (Has(code, at, "\xff\x15")) build.assert_calls += slots.count(Target(code, at + 6, address));
    build.framed_functions += Has(code, at, "\x55\x48\x89\xe5");
    build.stored_arguments += Has(code, at, "\x48\x89\x7d");
    build.crc_instructions += IsCrc(code, at);
  });
  build.is_known = build.code_bytes > 0;
  return build;
}

std::string LibraryBuild::Problem() const {
  if (!is_known) return "";
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  const double megabytes = static_cast<double>(code_bytes) / (1 << 20);
  if (assert_calls >= kLeastAssertCalls && static_cast<double>(assert_calls) > kAssertCallsPerMegabyte * megabytes) {
    add("assertions (" + std::to_string(assert_calls) + " calls of __assert_fail)");
  }
  const bool most_have_frames = framed_functions * kBytesOfAFunction > code_bytes;
  if (most_have_frames && stored_arguments > framed_functions / 2) add("no optimisation");
  return text;
}

std::string BuildText(const std::string& path, bool has_checksums) {
  const LibraryBuild build = LibraryBuild::Of(path);
  const std::string problem = build.Problem();
  std::string text = "Library:    " + path + "\n";
  if (!problem.empty()) return text + "WARNING: " + path + " is no release build: " + problem + "\n";
  const bool is_software = has_checksums && build.HasSoftwareChecksums();
  return is_software ? text + "WARNING: " + path + " computes checksums in software\n" : text;
}

}  // namespace miodb::bench
