#include "support/covering.hpp"

#include <algorithm>

namespace vellum::test {
namespace {

// The time of a run whose kernels are compiled, in that of compiling a kernel on lavapipe.
constexpr double kRun = 0.3;

size_t count_beyond(const std::set<std::string>& names, const std::set<std::string>& known) {
  return static_cast<size_t>(
      std::ranges::count_if(names, [&](const std::string& name) { return !known.contains(name); }));
}

}  // namespace

std::vector<size_t> CoveringRuns::choose(std::span<const CandidateRun> runs) {
  std::vector<size_t> chosen;
  for (;;) {
    size_t best = 0;
    double most = 0;
    for (size_t i = 0; i < runs.size(); ++i) {
      const double cost = kRun + static_cast<double>(count_beyond(runs[i].kernels, compiled_));
      const double gain = static_cast<double>(count_beyond(runs[i].covers, covered_)) / cost;
      if (gain > most) {
        best = i;
        most = gain;
      }
    }
    if (most == 0) break;
    chosen.push_back(best);
    covered_.insert(runs[best].covers.begin(), runs[best].covers.end());
    compiled_.insert(runs[best].kernels.begin(), runs[best].kernels.end());
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace vellum::test
