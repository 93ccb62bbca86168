// Pairwise testing: chooses few of many runs of a test, so that every pair of parameter values still occurs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace vellum::test {

// One combination of parameter values: the index of a value for each parameter.
using Combination = std::vector<size_t>;

// The combinations that one run tests at once, because they lead to the same computation. All have the same
// number of parameters.
using Combinations = std::vector<Combination>;

enum class Coverage {
  values,  // each value of each parameter
  pairs,   // each pair of values of two parameters
};

// Returns ascending indices of runs that contain every value, or every pair of values, that occurs in any
// run. Repeatedly takes the run that adds most (greedy set cover), so that few runs remain: 6 of 12 for the
// pairs of parameters of 3, 2 and 2 values. Among runs that add equally many it takes the first from index
// `first` on (modulo the number of runs), so that callers that pass 0, 1, 2, ... get different runs. The last
// `unpaired` parameters are covered by value only, not by pairs.
std::vector<size_t> covering_runs(std::span<const Combinations> runs, Coverage coverage, size_t first = 0,
                                  size_t unpaired = 0);

}  // namespace vellum::test
