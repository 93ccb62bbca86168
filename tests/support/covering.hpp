// Which of many runs of a test to make so that every pair of parameter values occurs: pairwise testing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace vellum::test {

// One combination of parameter values: the index of a value for each parameter.
using Combination = std::vector<size_t>;

// The combinations that one run tests at once, because they lead to the same computation. All have as many
// parameters.
using Combinations = std::vector<Combination>;

enum class Coverage {
  values,  // each value of each parameter
  pairs,   // each pair of values of two parameters
};

// Indices of runs, ascending, in which everything occurs that occurs in any of the runs: each value, or each
// pair of values. Takes the run that adds most until nothing is missing (greedy set cover), so that few runs
// remain: 6 of 12 for pairs of parameters of 3, 2 and 2 values. Among equals it takes the first from `first`
// on (modulo the number of runs): callers that pass 0, 1, 2, ... get different runs. Of the last `unpaired`
// parameters only the values occur, without pairs.
std::vector<size_t> covering_runs(std::span<const Combinations> runs, Coverage coverage, size_t first = 0,
                                  size_t unpaired = 0);

}  // namespace vellum::test
