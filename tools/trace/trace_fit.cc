// trace_fit: fits the model of db_bench's mixgraph to what trace_analyzer found, says how well other families of curves
// fit, and prints a command line that generates such a workload. See docs/tracing.md.

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "benchmarks/common/figures/format.h"
#include "benchmarks/common/flags.h"
#include "src/util/files/descriptors.h"
#include "tools/trace/fit_input.h"
#include "tools/trace/fit_math.h"
#include "tools/trace/fit_models.h"

namespace miodb::tools {

namespace {

using bench::FlagSet;
using bench::Format;

struct Options {
  std::string input_dir;
  std::string input_prefix = "trace";
  int64_t cf = 0;
  std::string access;
  int64_t num = 0;
  int64_t keyrange_num = 30;
  int64_t mix_max_value_size = 0;
  int64_t mix_max_scan_len = 0;
};

void RegisterFlags(FlagSet* f, Options* o) {
  f->Text("input_dir", &o->input_dir, "the folder of trace_analyzer's files");
  f->Text("input_prefix", &o->input_prefix, "what their names begin with");
  f->Int("cf", &o->cf, 0, bench::kNoBound, "column family");
  f->Text("access", &o->access, "kind of access whose keys are fitted, as in file names; empty: the most frequent one");
  f->Int("num", &o->num, 0, bench::kNoBound, "keys in the database; 0: as many as the files show");
  f->Int("keyrange_num", &o->keyrange_num, 1, bench::kNoBound, "key ranges of the model; 1: none");
  f->Int("mix_max_value_size", &o->mix_max_value_size, 0, bench::kNoBound,
         "where mixgraph folded sizes; 0: they were not folded");
  f->Int("mix_max_scan_len", &o->mix_max_scan_len, 0, bench::kNoBound,
         "where mixgraph folded lengths; 0: they were not folded");
}

// Describes bins: what, how many, average and standard deviation; then every family, best first.
std::string DistributionText(const std::string& what, const std::vector<Bin>& bins) {
  double count = 0, sum = 0, squares = 0;
  for (const Bin& bin : bins) {
    const double middle = (bin.above + 1 + bin.upto) / 2;
    count += bin.count;
    sum += bin.count * middle;
    squares += bin.count * middle * middle;
  }
  const double mean = sum / count;
  std::string text = Format("\n%s: %.0f, mean %.3f, standard deviation %.3f\n", what.c_str(), count, mean,
                            std::sqrt(std::max(squares / count - mean * mean, 0.0)));
  if (bins.size() < 3) return text + "  too few different values to fit a curve\n";
  for (const FamilyFit& fit : FitDistribution(bins)) {
    text += Format("  %-12s fit error %.6f ", fit.family.c_str(), fit.error);
    for (const auto& [name, value] : fit.parameters) text += Format(" %s=%.6g", name.c_str(), value);
    text += "\n";
  }
  return text;
}

class Fit {
 public:
  explicit Fit(const Options& options)
      : options_(options), files_(options.input_dir, options.input_prefix, options.cf) {}

  Status Run() {
    Status s = files_.ReadComposition(&queries_);
    if (s.ok() && queries_.empty()) s = Status::NotFound("column family " + std::to_string(options_.cf), "no accesses");
    if (s.ok() && !options_.access.empty() && queries_.count(options_.access) == 0) {
      s = Status::InvalidArgument("--access=" + options_.access, "the analysis has no accesses of this kind");
    }
    if (!s.ok()) return s;
    FitMix();
    for (Status (Fit::*step)() : {&Fit::FitValues, &Fit::FitScans, &Fit::FitKeySizes, &Fit::FitKeys, &Fit::FitQps,
                                  &Fit::PrintValueCorrelation}) {
      s = (this->*step)();
      // Figures that the analysis was not asked for are left out of the model.
      if (s.IsNotFound()) text_ += "\nleft out: " + s.ToString() + "\n";
      if (!s.ok() && !s.IsNotFound()) return s;
    }
    text_ += "\nA workload like this:\n\ndb_bench --benchmarks=mixgraph --use_existing_db=true" + flags_ + "\n";
    return Status::OK();
  }

  // All that there is to say; nothing of it counts if Run failed.
  const std::string& text() const { return text_; }

 private:
  double Queries(std::initializer_list<const char*> kinds) {
    double sum = 0;
    for (const char* kind : kinds) sum += queries_[kind];
    return sum;
  }

  void Print(const char* format, ...) __attribute__((format(printf, 2, 3))) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    text_ += text;
  }

  void Add(const char* flag, double value) { flags_ += Format(" --%s=%.6g", flag, value); }
  void AddInteger(const char* flag, double value) { flags_ += Format(" --%s=%.0f", flag, value); }

  void FitMix() {
    const double gets = Queries({"get", "multiget"});
    const double puts = Queries({"put", "merge", "delete", "single_delete", "range_delete"});
    const double seeks = Queries({"iterator_Seek", "iterator_SeekForPrev"});
    const double all = gets + puts + seeks;
    Print("Mix: gets %.4f, writes %.4f, scans %.4f of %.0f queries\n", gets / all, puts / all, seeks / all, all);
    AddInteger("reads", all);
    Add("mix_get_ratio", gets / all);
    Add("mix_put_ratio", puts / all);
    Add("mix_seek_ratio", seeks / all);
    access_ = options_.access;
    if (!access_.empty()) return;
    access_ = std::max_element(queries_.begin(), queries_.end(), [](const auto& a, const auto& b) {
                return a.second < b.second;
              })->first;
  }

  // Pareto parameters and where to fold, as flags.
  Status AddPareto(const char* name, const std::vector<Bin>& bins, int64_t fold, const char* fold_flag) {
    if (fold > 0 && bins.back().above >= static_cast<double>(fold)) {
      return Status::InvalidArgument("--" + std::string(fold_flag) + "=" + std::to_string(fold),
                                     Format("the files show %.0f", bins.back().above + 1));
    }
    const ParetoFit fit = FitPareto(bins, static_cast<double>(fold));
    Print("  mixgraph: Pareto by likelihood  k=%.6g sigma=%.6g\n", fit.k, fit.sigma);
    Add((std::string(name) + "_k").c_str(), fit.k);
    Add((std::string(name) + "_sigma").c_str(), fit.sigma);
    AddInteger(fold_flag, fold > 0 ? static_cast<double>(fold) : std::max(bins.back().upto, 10.0));
    return Status::OK();
  }

  Status FitValues() {
    std::vector<Bin> bins;
    Status s = files_.ReadValueSizes("put", &bins);
    if (!s.ok() || bins.empty()) return s;
    text_ += DistributionText("Value sizes", bins);
    return AddPareto("value", bins, options_.mix_max_value_size, "mix_max_value_size");
  }

  Status FitScans() {
    std::vector<Bin> bins;
    Status s = files_.ReadScanLengths(&bins);
    if (!s.ok() || bins.empty()) return s;
    text_ += DistributionText("Scan lengths", bins);
    return AddPareto("iter", bins, options_.mix_max_scan_len, "mix_max_scan_len");
  }

  Status FitKeySizes() {
    std::vector<Bin> bins;
    Status s = files_.ReadKeySizes(access_, &bins);
    if (!s.ok() || bins.empty()) return s;
    text_ += DistributionText("Key sizes", bins);
    double count = 0, sum = 0;
    for (const Bin& bin : bins) {
      count += bin.count;
      sum += bin.count * bin.upto;
    }
    AddInteger("key_size", std::round(sum / count));
    return s;
  }

  Status FitKeys() {
    std::vector<Bin> bins;
    Status s = files_.ReadAccessCounts(access_, &bins);
    if (s.ok() && !bins.empty()) text_ += DistributionText("Accesses of each key (" + access_ + ")", bins);
    if (!s.ok() && !s.IsNotFound()) return s;
    std::vector<AnalysisFiles::Key> keys;
    bool is_whole = false;
    s = files_.ReadKeys(access_, &is_whole, &keys);
    if (!s.ok() || keys.empty()) return s;
    const uint64_t seen = keys.back().place + 1;
    const uint64_t num = options_.num > 0 ? static_cast<uint64_t>(options_.num) : seen;
    if (num < seen) {
      return Status::InvalidArgument("--num=" + std::to_string(num),
                                     "the files show " + std::to_string(seen) + " keys");
    }
    AddInteger("num", static_cast<double>(num));
    if (!is_whole) {
      Print(
          "\nwarning: without key_space_dir the places of keys are known only among accessed ones; ranges are not "
          "fitted\n");
    }
    FitRanges(keys, num, is_whole);
    return s;
  }

  void FitRanges(const std::vector<AnalysisFiles::Key>& keys, uint64_t num, bool is_whole) {
    const uint64_t ranges = is_whole ? std::min(static_cast<uint64_t>(options_.keyrange_num), num) : 1;
    const uint64_t range_keys = num / ranges;
    std::vector<double> accesses(ranges, 0);
    double all = 0;
    for (const AnalysisFiles::Key& key : keys) {
      accesses[std::min(key.place / range_keys, ranges - 1)] += static_cast<double>(key.accesses);
      all += static_cast<double>(key.accesses);
    }
    std::vector<double> shares(accesses);
    for (double& share : shares) share /= all;
    const size_t hottest = static_cast<size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
    // Chance alone spreads the ranges a little; twice the average is no chance.
    const bool has_ranges = ranges > 1 && shares[hottest] > 2.0 / static_cast<double>(ranges);
    if (has_ranges) {
      const RangeFit fit = FitRangeHotness(shares, all);
      Print("\nRange hotness: %" PRIu64 " ranges of %" PRIu64
            " keys, the hottest has %.4f of the accesses\n"
            "  mixgraph: two exponentials  a=%.6g b=%.6g c=%.6g d=%.6g fit error %.6f\n",
            ranges, range_keys, shares[hottest], fit.a, fit.b, fit.c, fit.d, fit.error);
      AddInteger("keyrange_num", static_cast<double>(ranges));
      Add("keyrange_dist_a", fit.a);
      Add("keyrange_dist_b", fit.b);
      Add("keyrange_dist_c", fit.c);
      Add("keyrange_dist_d", fit.d);
    } else {
      AddInteger("keyrange_num", 1);
      if (ranges > 1) Print("\nRange hotness: no range has twice its share; one range is assumed\n");
    }
    // Within the hottest range counts are highest, so they say most about the hotness of keys.
    std::vector<uint64_t> counts;
    for (const AnalysisFiles::Key& key : keys) {
      if (!has_ranges || key.place / range_keys == hottest) counts.push_back(key.accesses);
    }
    const PowerFit power = FitKeyHotness(counts, has_ranges ? range_keys : num);
    Print("\nKey hotness: from %" PRIu64 " keys with enough accesses\n", power.keys_used);
    if (power.keys_used < 10) {
      Print("  too few to fit: keys of a range count as alike\n");
      return;
    }
    Print("  mixgraph: power law  a=%.6g b=%.6g fit error %.6f\n", power.a, power.b, power.error);
    Add("key_dist_a", power.a);
    Add("key_dist_b", power.b);
  }

  Status FitQps() {
    std::vector<std::vector<double>> columns;
    Status s = files_.ReadRates(&columns);
    if (!s.ok() || columns.empty()) return s;
    // The last second is not a whole one.
    for (std::vector<double>& column : columns) column.pop_back();
    const std::vector<double>& all = columns.back();
    if (all.empty()) {
      Print("\nRate: the trace is shorter than a second, so nothing is known of it\n");
      return s;
    }
    const SineFit fit = FitRate(all);
    Print("\nRate: %zu seconds\n  %-12s fit error %.3f  d=%.6g\n", all.size(), "constant", fit.constant_error,
          fit.mean);
    PrintCurves(all.size(), fit);
    Add("sine_a", fit.explains ? fit.a : 0);
    Add("sine_b", fit.explains ? fit.b : 0);
    Add("sine_c", fit.explains ? fit.c : 0);
    Add("sine_d", fit.explains ? fit.d : fit.mean);
    Add("sine_mix_rate_interval_milliseconds", 1000);
    PrintRateCorrelations(columns);
    return s;
  }

  // A curve that explains no more than the average is noise, and is only named.
  void PrintCurves(size_t seconds, const SineFit& fit) {
    if (seconds < kLeastRateSeconds) {
      Print("  too short for a sine or a polynomial: %zu seconds at least\n", kLeastRateSeconds);
      return;
    }
    if (fit.polynomial_explains) {
      Print("  %-12s fit error %.3f\n", "polynomial", fit.polynomial_error);
    } else {
      Print("  %-12s explains no more than the constant\n", "polynomial");
    }
    if (fit.explains) {
      Print("  %-12s fit error %.3f  a=%.6g b=%.6g c=%.6g d=%.6g\n", "sine", fit.error, fit.a, fit.b, fit.c, fit.d);
    } else {
      Print("  %-12s explains no more than the constant\n", "sine");
    }
  }

  void PrintRateCorrelations(const std::vector<std::vector<double>>& columns) {
    const std::map<std::string, size_t> kinds = {{"get", 0}, {"put", 1}, {"iterator_Seek", 6}};
    Print("\nPearson correlations of rates by second:\n");
    for (auto first = kinds.begin(); first != kinds.end(); ++first) {
      for (auto second = std::next(first); second != kinds.end(); ++second) {
        if (second->second >= columns.size()) continue;
        Print("  %s and %s: %.4f\n", first->first.c_str(), second->first.c_str(),
              Pearson(columns[first->second], columns[second->second]));
      }
    }
  }

  Status PrintValueCorrelation() {
    std::vector<AnalysisFiles::Key> keys;
    Status s = files_.ReadAccessedKeys("put", &keys);
    if (!s.ok()) return s;
    std::vector<double> sizes, accesses, places;
    for (const AnalysisFiles::Key& key : keys) {
      sizes.push_back(static_cast<double>(key.value_size));
      accesses.push_back(static_cast<double>(key.accesses));
      places.push_back(static_cast<double>(key.place));
    }
    Print(
        "\nPearson correlations over the keys of puts:\n  value size and accesses: %.4f\n"
        "  value size and place: %.4f\n  accesses and place: %.4f\n",
        Pearson(sizes, accesses), Pearson(sizes, places), Pearson(accesses, places));
    return s;
  }

  const Options& options_;
  const AnalysisFiles files_;
  std::map<std::string, double> queries_;
  std::string access_;
  std::string flags_;
  std::string text_;
};

}  // namespace

int Main(int argc, char** argv) {
  Options options;
  FlagSet flags;
  RegisterFlags(&flags, &options);
  const FlagSet::Result parsed = flags.Parse(argc, argv);
  if (parsed.outcome == FlagSet::Outcome::kHelp) {
    std::printf("trace_fit: fits mixgraph's model to what trace_analyzer found. docs/tracing.md explains it.\n%s",
                flags.Help().c_str());
    return 0;
  }
  for (const std::string& warning : parsed.warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  std::string error = parsed.error;
  if (error.empty() && options.input_dir.empty())
    error = "--input_dir is missing: it names trace_analyzer's output_dir";
  if (error.empty()) {
    try {
      Fit fit(options);
      Status s = fit.Run();
      if (s.ok()) std::fputs(fit.text().c_str(), stdout);
      if (s.ok() && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
        s = Status::IOError("standard output", std::strerror(errno));
      }
      if (!s.ok()) error = s.ToString();
    } catch (const std::bad_alloc&) {
      error = "out of memory";
    }
  }
  if (error.empty()) return 0;
  std::fprintf(stderr, "trace_fit: %s\n", error.c_str());
  return 1;
}

}  // namespace miodb::tools

int main(int argc, char** argv) { return miodb::FillStandardDescriptors() ? miodb::tools::Main(argc, argv) : 1; }
