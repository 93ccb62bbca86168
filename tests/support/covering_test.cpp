// Every pair of parameter values is in a chosen run, found by counting the pairs again.
#include "support/covering.hpp"

#include <gtest/gtest.h>

namespace vellum::test {
namespace {

std::string pair(size_t a, size_t value_of_a, size_t b, size_t value_of_b) {
  return std::to_string(a) + "=" + std::to_string(value_of_a) + " " + std::to_string(b) + "=" +
         std::to_string(value_of_b);
}

// A run for each combination of the parameters, which have this many values. Each compiles a kernel.
std::vector<CandidateRun> all_combinations(const std::vector<size_t>& value_counts) {
  std::vector<std::vector<size_t>> all{{}};
  for (const size_t count : value_counts) {
    std::vector<std::vector<size_t>> longer;
    for (const std::vector<size_t>& start : all)
      for (size_t value = 0; value < count; ++value) {
        longer.push_back(start);
        longer.back().push_back(value);
      }
    all = std::move(longer);
  }
  std::vector<CandidateRun> runs;
  for (const std::vector<size_t>& values : all) {
    CandidateRun run;
    for (size_t b = 0; b < values.size(); ++b)
      for (size_t a = 0; a <= b; ++a) run.covers.insert(pair(a, values[a], b, values[b]));
    run.kernels = {std::to_string(runs.size())};
    runs.push_back(run);
  }
  return runs;
}

std::set<std::string> covered_by(const std::vector<CandidateRun>& runs, const std::vector<size_t>& chosen) {
  std::set<std::string> covered;
  for (const size_t i : chosen) covered.insert(runs[i].covers.begin(), runs[i].covers.end());
  return covered;
}

std::set<std::string> covered_by_all(const std::vector<CandidateRun>& runs) {
  std::set<std::string> covered;
  for (const CandidateRun& run : runs) covered.insert(run.covers.begin(), run.covers.end());
  return covered;
}

TEST(Covering, HasEveryPair) {
  for (const std::vector<size_t>& counts :
       {std::vector<size_t>{3, 2, 2}, {2, 2, 2, 2}, {3, 3, 3, 3}, {4, 3, 2, 1}, {5, 1}, {7}}) {
    const std::vector<CandidateRun> runs = all_combinations(counts);
    EXPECT_EQ(covered_by(runs, CoveringRuns().choose(runs)), covered_by_all(runs));
  }
}

TEST(Covering, NeedsFewRuns) {
  EXPECT_EQ(CoveringRuns().choose(all_combinations({3, 2, 2})).size(), 6u);
  EXPECT_LE(CoveringRuns().choose(all_combinations({3, 3, 3, 3})).size(), 15u);  // of 81; 9 is least
  EXPECT_TRUE(CoveringRuns().choose({}).empty());
}

TEST(Covering, FurtherCasesAddWhatIsMissing) {
  const std::vector<CandidateRun> runs = all_combinations({3, 2, 2});
  CoveringRuns covering;
  const std::vector<size_t> first = covering.choose(std::span(runs).first(4));
  const std::vector<size_t> all = covering.choose(runs);
  std::set<std::string> covered = covered_by(runs, first);
  covered.merge(covered_by(runs, all));
  EXPECT_EQ(covered, covered_by_all(runs));
  EXPECT_TRUE(covering.choose(runs).empty());
}

TEST(Covering, PrefersKernelsThatAreCompiled) {
  CoveringRuns covering;
  const std::vector<CandidateRun> first{{{"image"}, {"a", "b"}}, {{"buffer"}, {"c"}}};
  EXPECT_EQ(covering.choose(first), (std::vector<size_t>{0, 1}));
  const std::vector<CandidateRun> second{{{"image again"}, {"d"}}, {{"image again"}, {"a", "c"}}};
  EXPECT_EQ(covering.choose(second), std::vector<size_t>{1});
}

TEST(Covering, OneRunCoversAllItsCombinations) {
  const std::vector<CandidateRun> runs{{{"00"}, {"a"}}, {{"00", "01", "11"}, {"b"}}, {{"11"}, {"c"}}};
  EXPECT_EQ(CoveringRuns().choose(runs), std::vector<size_t>{1});
}

}  // namespace
}  // namespace vellum::test
