#include "support/covering.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace vellum::test {
namespace {

// Two parameters and their values: parameter, value, parameter, value. For a single value both are the same.
using Target = std::array<size_t, 4>;

std::set<Target> targets_of(const Combinations& run, Coverage coverage, size_t unpaired) {
  std::set<Target> targets;
  for (const Combination& values : run) {
    const size_t paired = coverage == Coverage::pairs ? values.size() - std::min(unpaired, values.size()) : 0;
    for (size_t a = 0; a < values.size(); ++a) {
      targets.insert({a, values[a], a, values[a]});
      for (size_t b = a + 1; b < paired; ++b) targets.insert({a, values[a], b, values[b]});
    }
  }
  return targets;
}

}  // namespace

std::vector<size_t> covering_runs(std::span<const Combinations> runs, Coverage coverage, size_t first,
                                  size_t unpaired) {
  std::vector<std::set<Target>> targets;
  for (const Combinations& run : runs) targets.push_back(targets_of(run, coverage, unpaired));
  std::set<Target> missing;
  for (const auto& of_run : targets) missing.insert(of_run.begin(), of_run.end());

  std::vector<size_t> chosen;
  while (!missing.empty()) {
    size_t best = 0, most = 0;
    for (size_t i = 0; i < runs.size(); ++i) {
      const size_t run = (first + i) % runs.size();
      const auto adds = static_cast<size_t>(std::ranges::count_if(
          targets[run], [&](const Target& target) { return missing.contains(target); }));
      if (adds > most) {
        best = run;
        most = adds;
      }
    }
    chosen.push_back(best);
    for (const Target& target : targets[best]) missing.erase(target);
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace vellum::test
