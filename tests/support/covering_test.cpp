// Every pair of parameter values is in a chosen run, found by counting the pairs again.
#include "support/covering.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace vellum::test {
namespace {

// A run for each combination of the parameters, which have this many values.
std::vector<Combinations> all_combinations(const std::vector<size_t>& value_counts) {
  std::vector<Combination> all{{}};
  for (const size_t count : value_counts) {
    std::vector<Combination> longer;
    for (const Combination& start : all)
      for (size_t value = 0; value < count; ++value) {
        longer.push_back(start);
        longer.back().push_back(value);
      }
    all = std::move(longer);
  }
  std::vector<Combinations> runs;
  for (const Combination& combination : all) runs.push_back({combination});
  return runs;
}

using Pair = std::tuple<size_t, size_t, size_t, size_t>;

std::set<Pair> pairs_in(std::span<const Combinations> runs, std::span<const size_t> chosen) {
  std::set<Pair> pairs;
  for (const size_t run : chosen)
    for (const Combination& values : runs[run])
      for (size_t b = 0; b < values.size(); ++b)
        for (size_t a = 0; a < b; ++a) pairs.emplace(a, values[a], b, values[b]);
  return pairs;
}

std::set<std::pair<size_t, size_t>> values_in(std::span<const Combinations> runs,
                                              std::span<const size_t> chosen) {
  std::set<std::pair<size_t, size_t>> found;
  for (const size_t run : chosen)
    for (const Combination& values : runs[run])
      for (size_t a = 0; a < values.size(); ++a) found.emplace(a, values[a]);
  return found;
}

std::vector<size_t> indices(size_t count) {
  std::vector<size_t> all;
  for (size_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

TEST(Covering, HasEveryPair) {
  for (const std::vector<size_t>& counts :
       {std::vector<size_t>{3, 2, 2}, {2, 2, 2, 2}, {3, 3, 3, 3}, {4, 3, 2, 1}, {5, 1}, {7}})
    for (const size_t first : {0, 1, 5, 1000}) {
      const std::vector<Combinations> runs = all_combinations(counts);
      const std::vector<size_t> chosen = covering_runs(runs, Coverage::pairs, first);
      EXPECT_EQ(pairs_in(runs, chosen), pairs_in(runs, indices(runs.size())));
    }
}

TEST(Covering, LeavesOutThePairsOfUnpairedParameters) {
  const std::vector<Combinations> runs = all_combinations({3, 2, 2, 5});
  const std::vector<size_t> chosen = covering_runs(runs, Coverage::pairs, 3, 1);
  EXPECT_EQ(values_in(runs, chosen), values_in(runs, indices(runs.size())));
  const std::set<Pair> pairs = pairs_in(runs, chosen);
  for (const Pair& pair : pairs_in(runs, indices(runs.size())))
    if (std::get<2>(pair) != 3) {
      EXPECT_TRUE(pairs.contains(pair));
    }
  EXPECT_LT(chosen.size(), covering_runs(runs, Coverage::pairs, 3).size());
}

TEST(Covering, HasEveryValue) {
  const std::vector<Combinations> runs = all_combinations({3, 2, 4});
  const std::vector<size_t> chosen = covering_runs(runs, Coverage::values);
  EXPECT_EQ(values_in(runs, chosen), values_in(runs, indices(runs.size())));
  EXPECT_EQ(chosen.size(), 4u);
}

TEST(Covering, NeedsFewRuns) {
  EXPECT_EQ(covering_runs(all_combinations({3, 2, 2}), Coverage::pairs).size(), 6u);
  EXPECT_LE(covering_runs(all_combinations({3, 3, 3, 3}), Coverage::pairs).size(), 15u);  // of 81; 9 is least
  EXPECT_TRUE(covering_runs({}, Coverage::pairs).empty());
}

TEST(Covering, WantsOnlyPairsThatExist) {
  std::vector<Combinations> runs = all_combinations({3, 2, 2});
  std::erase_if(runs, [](const Combinations& run) { return run[0][0] > 0 && run[0][1] > 0; });
  const std::vector<size_t> chosen = covering_runs(runs, Coverage::pairs);
  EXPECT_EQ(pairs_in(runs, chosen), pairs_in(runs, indices(runs.size())));
  EXPECT_FALSE(pairs_in(runs, chosen).contains({0, 2, 1, 1}));
}

TEST(Covering, OneRunCoversAllItsCombinations) {
  const std::vector<Combinations> runs{{{0, 0}}, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, {{1, 1}}};
  EXPECT_EQ(covering_runs(runs, Coverage::pairs), std::vector<size_t>{1});
}

TEST(Covering, OtherFirstsChooseOtherRuns) {
  const std::vector<Combinations> runs = all_combinations({3, 2, 2});
  std::set<size_t> chosen;
  for (size_t first = 0; first < runs.size(); ++first)
    for (const size_t run : covering_runs(runs, Coverage::values, first)) chosen.insert(run);
  EXPECT_EQ(chosen.size(), runs.size());
}

}  // namespace
}  // namespace vellum::test
