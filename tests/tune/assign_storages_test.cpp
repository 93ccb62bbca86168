// Images or buffers for each tensor.
#include "tune/assign_storages.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace vellum::test {
namespace {

using Costs = std::array<std::array<double, 2>, 2>;

// Value i + 1 follows from value i.
StorageProblem chain(const std::vector<Costs>& costs) {
  StorageProblem problem;
  problem.values = costs.size() + 1;
  for (size_t i = 0; i < costs.size(); ++i) problem.operators.push_back({{i}, {i + 1}, costs[i]});
  return problem;
}

double least_of_all(const StorageProblem& problem) {
  double least = std::numeric_limits<double>::infinity();
  for (size_t bits = 0; bits < size_t{1} << problem.values; ++bits) {
    InImages in_images;
    for (size_t value = 0; value < problem.values; ++value) in_images.push_back((bits >> value & 1) != 0);
    least = std::min(least, cost(problem, in_images));
  }
  return least;
}

TEST(AssignStorages, ChangesOverWhereThatPays) {
  const Costs buffers{{{1, 9}, {9, 10}}}, images{{{10, 9}, {9, 1}}}, either{{{2, 2}, {2, 2}}};
  EXPECT_EQ(assign_storages(chain({buffers, buffers, either, images, images})),
            (InImages{false, false, false, true, true, true}));
}

TEST(AssignStorages, KeepsToOneWhereChangingOverCostsMore) {
  const Costs buffers{{{1, 50}, {50, 2}}}, images{{{2, 50}, {50, 1}}};
  EXPECT_EQ(assign_storages(chain({buffers, buffers, images, buffers, buffers})), InImages(6, false));
  EXPECT_EQ(assign_storages(chain({images, images, buffers, images})), InImages(5, true));
}

TEST(AssignStorages, WhatWasNotMeasuredIsNotTaken) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  const Costs buffers{{{1, kUnknown}, {kUnknown, 2}}}, images{{{2, kUnknown}, {kUnknown, 1.5}}};
  EXPECT_EQ(assign_storages(chain({buffers, images, buffers})), InImages(4, false));
}

TEST(AssignStorages, IsNearTheLeastOfAllInRandomNetworks) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> time(1, 10);
  double found = 0, least = 0;
  for (int trial = 0; trial < 50; ++trial) {
    StorageProblem problem;
    problem.values = 10;
    for (size_t value = 1; value < problem.values; ++value) {
      StorageProblem::Operator op{
          {value - 1}, {value}, {{{time(random), time(random)}, {time(random), time(random)}}}};
      if (random() % 3 == 0) op.inputs.push_back(random() % value);
      problem.operators.push_back(op);
    }
    found += cost(problem, assign_storages(problem));
    least += least_of_all(problem);
  }
  EXPECT_LE(found, 1.03 * least);
}

}  // namespace
}  // namespace vellum::test
