#include "tests/simulation/choices.h"

#include <algorithm>
#include <bit>

namespace miodb::sim {

namespace {

using Choices = std::vector<Choice>;

// Words of a torn store: front half, back half, even, odd, and all but the last.
constexpr Choice kTears[] = {kTorn | 0x0f, kTorn | 0xf0, kTorn | 0x55, kTorn | 0xaa, kTorn | 0x7f};

class Family {
 public:
  Family(const std::vector<SimMedium::OpenLine>& lines, const ChoiceLimits& limits, Random* random,
         const std::function<bool(const Choices&)>& visit)
      : lines_(lines), limits_(limits), random_(random), visit_(visit), choices_(lines.size(), 0) {}

  bool Run() {
    return (FewEnough(lines_, limits_) ? All() : Separating()) && Tears() &&
           (lines_.size() > limits_.single || Single()) && AtRandom();
  }

 private:
  Choice Whole(size_t i) const { return lines_[i].stores; }

  bool Fill(const std::function<Choice(size_t)>& choice_of) {
    for (size_t i = 0; i < choices_.size(); i++) choices_[i] = choice_of(i);
    return visit_(choices_);
  }

  bool All() {
    std::fill(choices_.begin(), choices_.end(), Choice{0});
    for (;;) {
      if (!visit_(choices_)) return false;
      size_t i = 0;
      while (i < choices_.size() && choices_[i] == lines_[i].stores) choices_[i++] = 0;
      if (i == choices_.size()) return true;
      choices_[i]++;
    }
  }

  bool Separating() {
    if (!Fill([](size_t) { return Choice{0}; }) || !Fill([this](size_t i) { return Whole(i); })) return false;
    for (size_t bit = 1; bit < lines_.size(); bit *= 2) {
      for (const size_t wanted : {bit, size_t{0}}) {
        if (!Fill([&](size_t i) { return (i & bit) == wanted ? Whole(i) : Choice{0}; })) return false;
      }
    }
    return true;
  }

  bool Tears() {
    if (lines_.empty()) return true;
    for (const Choice tear : kTears) {
      if (!Fill([tear](size_t) { return tear; })) return false;
    }
    return true;
  }

  bool Single() {
    if (lines_.size() < 2) return true;
    for (size_t one = 0; one < lines_.size(); one++) {
      for (const bool others : {false, true}) {
        const auto rest = [&](size_t i) { return others ? Whole(i) : Choice{0}; };
        for (Choice left = 0; left <= lines_[one].stores; left++) {
          if (!Fill([&](size_t i) { return i == one ? left : rest(i); })) return false;
        }
        for (const Choice tear : kTears) {
          if (!Fill([&](size_t i) { return i == one ? tear : rest(i); })) return false;
        }
      }
    }
    return true;
  }

  bool AtRandom() {
    if (lines_.empty()) return true;
    for (uint64_t n = 0; n < limits_.random; n++) {
      const auto drawn = [this](size_t i) {
        if (random_->OneIn(3)) return static_cast<Choice>(kTorn | random_->Uniform(256));
        return static_cast<Choice>(random_->Uniform(lines_[i].stores + 1u));
      };
      if (!Fill(drawn)) return false;
    }
    return true;
  }

  const std::vector<SimMedium::OpenLine>& lines_;
  const ChoiceLimits& limits_;
  Random* const random_;
  const std::function<bool(const Choices&)>& visit_;
  Choices choices_;
};

}  // namespace

bool FewEnough(const std::vector<SimMedium::OpenLine>& lines, const ChoiceLimits& limits) {
  uint64_t product = 1;
  for (const auto& line : lines) {
    product *= line.stores + 1u;
    if (product > limits.all) return false;
  }
  return true;
}

bool ForEachChoice(const std::vector<SimMedium::OpenLine>& lines, const ChoiceLimits& limits, Random* random,
                   const std::function<bool(const std::vector<Choice>&)>& visit) {
  return Family(lines, limits, random, visit).Run();
}

void PairCover::Add(const std::vector<Choice>& choices) {
  left_.assign(words_, 0);
  for (size_t i = 0; i < lines_; i++) left_[i / 64] |= uint64_t{choices[i] != 0} << i % 64;
  for (size_t u = 0; u < lines_; u++) {
    if (choices[u] == 0) continue;
    for (size_t word = 0; word < words_; word++) missed_[u * words_ + word] |= ~left_[word];
  }
}

uint64_t PairCover::Missing() const {
  uint64_t missing = 0;
  for (size_t u = 0; u < lines_; u++) {
    uint64_t seen = 0;
    for (size_t v = 0; v < lines_; v++) seen += v != u && (missed_[u * words_ + v / 64] >> v % 64 & 1) != 0;
    missing += lines_ - 1 - seen;
  }
  return missing;
}

}  // namespace miodb::sim
