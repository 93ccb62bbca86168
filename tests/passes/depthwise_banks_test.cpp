// Depthwise convolutions of parts of a tensor's channels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

struct Branch {
  int64_t channels = 4;
  Shape kernel{3, 3};
  Ints pads{1, 1, 1, 1};
  int64_t stride = 1, dilation = 1, multiplier = 1;
  bool bias = true;
};

// Adds the depthwise convolution of value "p<i>", a part of the channels, with result "c<i>".
void convolve(OnnxModel& m, size_t i, const Branch& branch) {
  const std::string number = std::to_string(i);
  const int64_t outputs = branch.channels * branch.multiplier;
  Shape weights{outputs, 1};
  weights.insert(weights.end(), branch.kernel.begin(), branch.kernel.end());
  std::vector<std::string> inputs{"p" + number, "w" + number};
  const auto seed = static_cast<uint32_t>(2 * i + 10);
  m.initializer(inputs[1], random_tensor(std::move(weights), seed));
  if (branch.bias) m.initializer(inputs.emplace_back("b" + number), random_tensor({outputs}, seed + 1));
  const size_t axes = branch.kernel.size();
  m.node("Conv", inputs, {"c" + number},
         attributes({{"group", branch.channels},
                     {"pads", branch.pads},
                     {"strides", Ints(axes, branch.stride)},
                     {"dilations", Ints(axes, branch.dilation)}}));
}

// A Split of x, `branches`, and the Concat of their results in this order.
OnnxModel bank(const std::vector<Branch>& branches, Shape space, const std::vector<size_t>& order) {
  OnnxModel m;
  std::vector<std::string> parts, results;
  int64_t channels = 0;
  Ints sizes;
  for (size_t i = 0; i < branches.size(); ++i) {
    parts.push_back("p" + std::to_string(i));
    sizes.push_back(branches[i].channels);
    channels += branches[i].channels;
  }
  for (const size_t i : order) results.push_back("c" + std::to_string(i));
  Shape shape{2, channels};
  shape.insert(shape.end(), space.begin(), space.end());
  m.input("x", std::move(shape)).initializer("sizes", ints(sizes));
  m.node("Split", {"x", "sizes"}, parts, attributes({{"axis", int64_t{1}}}));
  for (size_t i = 0; i < branches.size(); ++i) convolve(m, i, branches[i]);
  m.node("Concat", results, {"y"}, attributes({{"axis", int64_t{1}}})).output("y");
  return m;
}

std::string merged(const std::vector<Branch>& branches, const Shape& space) {
  std::vector<size_t> order;
  for (size_t i = 0; i < branches.size(); ++i) order.push_back(i);
  return types(after(merge_depthwise_banks, bank(branches, space, order)));
}

// CoaT's 3x3, 5x5 and 7x7 windows, the strided ones of MixNet, one axis, three, dilated windows.
TEST(DepthwiseBanks, WindowsInsideTheLargest) {
  const Branch five{6, {5, 5}, {2, 2, 2, 2}}, seven{7, {7, 7}, {3, 3, 3, 3}};
  EXPECT_EQ(merged({{}, five, seven}, {9, 8}), "Conv");
  EXPECT_EQ(merged({seven, {}, five}, {9, 8}), "Conv");
  EXPECT_EQ(merged({{5, {3, 3}, {1, 1, 1, 1}, 2}, {6, {5, 5}, {2, 2, 2, 2}, 2}}, {9, 8}), "Conv");
  EXPECT_EQ(merged({{5, {3}, {1, 1}}, {6, {5}, {2, 2}}}, {11}), "Conv");
  EXPECT_EQ(merged({{5, {3, 3}, {2, 2, 2, 2}, 1, 2}, {6, {5, 5}, {4, 4, 4, 4}, 1, 2}}, {9, 11}), "Conv");
}

TEST(DepthwiseBanks, SeveralResultsOfEachChannelAndMissingBiases) {
  const Branch twice{3, {3, 3}, {1, 1, 1, 1}, 1, 1, 2};
  EXPECT_EQ(merged({twice, {5, {3, 3}, {1, 1, 1, 1}, 1, 1, 2, false}}, {6, 5}), "Conv");
  EXPECT_EQ(merged({twice, {5, {3, 3}, {1, 1, 1, 1}, 1, 1, 1}}, {6, 5}), "Split Conv Conv Concat");
  EXPECT_EQ(merged({twice, {5, {5, 5}, {2, 2, 2, 2}, 1, 1, 2}}, {6, 5}), "Split Conv Conv Concat")
      << "no kernel multiplies parts of a window then";
}

TEST(DepthwiseBanks, VolumesOfOneWindow) {
  const Branch cube{3, {3, 3, 3}, {1, 1, 1, 1, 1, 1}};
  EXPECT_EQ(merged({cube, cube}, {4, 5, 3}), "Conv");
  EXPECT_EQ(merged({{2, {1, 3, 3}, {0, 1, 1, 0, 1, 1}}, cube}, {4, 5, 3}), "Split Conv Conv Concat");
}

// Rounding aside, the host computes a NaN or an infinity for the pixels that it did, and no others.
TEST(DepthwiseBanks, InfinitiesAndNanReachNoMorePixels) {
  OnnxModel m = bank({{}, {8, {5, 5}, {2, 2, 2, 2}}, {2, {1, 3}, {0, 1, 0, 1}}}, {9, 8}, {0, 1, 2});
  Graph before = m.graph();
  infer_shapes_and_fold(before, {});
  Graph merged = before;
  merge_depthwise_banks(merged);
  remove_dead_code(merged);
  ASSERT_EQ(types(merged), "Conv");
  auto inputs = random_inputs(before, 1, -3.0f, 3.0f);
  const std::span<float> x = inputs.front().mutable_as<float>();
  for (size_t i = 0; i < x.size(); i += 61)
    x[i] = i % 2 == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  const auto expected = evaluate(before, inputs), found = evaluate(merged, inputs);
  const std::vector<float> want = expected.front().to_floats(), got = found.front().to_floats();
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(std::isnan(got[i]), std::isnan(want[i])) << i;
    EXPECT_TRUE(!std::isinf(want[i]) || got[i] == want[i]) << i;
  }
  EXPECT_GT(std::ranges::count_if(want, [](float v) { return std::isfinite(v); }), 100);
}

TEST(DepthwiseBanks, RandomBanks) {
  int merges = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto upto = [&](int64_t most) {
      return 1 + static_cast<int64_t>(random() % static_cast<uint32_t>(most));
    };
    const int64_t stride = upto(2), dilation = upto(2), multiplier = seed % 4 == 0 ? 2 : 1;
    std::vector<Branch> branches;
    for (int64_t i = 0, count = 1 + upto(3); i < count; ++i) {
      const int64_t height = 2 * upto(3) - 1, width = 2 * upto(3) - 1;
      const int64_t y = (height / 2) * dilation, x = (width / 2) * dilation;
      branches.push_back(
          {upto(9), {height, width}, {y, x, y, x}, stride, dilation, multiplier, upto(2) == 1});
    }
    merges += merged(branches, {12, 13}) == "Conv";
  }
  EXPECT_GT(merges, 10);
}

// dynamo exports torch.split as Slices.
TEST(DepthwiseBanks, SlicesOfChannels) {
  const auto left = [](int64_t second) {
    OnnxModel m;
    m.input("x", {1, 9, 6, 7}).initializer("axis", ints({1})).initializer("zero", ints({0}));
    m.initializer("four", ints({4})).initializer("nine", ints({9})).initializer("second", ints({second}));
    m.node("Slice", {"x", "zero", "four", "axis"}, {"p0"});
    m.node("Slice", {"x", "second", "nine", "axis"}, {"p1"});
    convolve(m, 0, {});
    convolve(m, 1, {9 - second, {5, 5}, {2, 2, 2, 2}});
    m.node("Concat", {"c0", "c1"}, {"y"}, attributes({{"axis", int64_t{1}}})).output("y");
    return types(after(merge_depthwise_banks, m));
  };
  EXPECT_EQ(left(4), "Conv");
  EXPECT_EQ(left(3), "Slice Slice Conv Conv Concat") << "channel 3 is in both parts";
}

TEST(DepthwiseBanks, WhatDoesNotFitStays) {
  const std::string stays = "Split Conv Conv Concat";
  EXPECT_EQ(merged({{}, {4, {5, 5}, {3, 3, 1, 1}}}, {9, 8}), "Conv") << "taps of the first within the second";
  EXPECT_EQ(merged({{}, {4, {5, 5}, {4, 4, 0, 0}}}, {9, 8}), stays) << "taps beyond those of the largest";
  EXPECT_EQ(merged({{4, {3, 3}, {2, 2, 2, 2}, 1, 2}, {4, {5, 5}, {2, 2, 2, 2}}}, {9, 8}), stays)
      << "other dilations";
  EXPECT_EQ(merged({{12, {1, 1}, {0, 0, 0, 0}}, {4, {7, 7}, {3, 3, 3, 3}}}, {9, 8}), stays)
      << "four times the products";
  const std::vector<Branch> two{{}, {4, {5, 5}, {2, 2, 2, 2}}};
  EXPECT_EQ(types(after(merge_depthwise_banks, bank(two, {9, 8}, {1, 0}))), stays) << "another order";
}

TEST(DepthwiseBanks, ResultsThatOthersReadStay) {
  OnnxModel m = bank({{}, {4, {5, 5}, {2, 2, 2, 2}}}, {9, 8}, {0, 1});
  m.output("c0");
  EXPECT_EQ(types(after(merge_depthwise_banks, m)), "Split Conv Conv Concat");
  OnnxModel part = bank({{}, {4, {5, 5}, {2, 2, 2, 2}}}, {9, 8}, {0, 1});
  part.node("Relu", {"p0"}, {"z"}).output("z");
  EXPECT_EQ(types(after(merge_depthwise_banks, part)), "Split Conv Relu") << "parts may have other readers";
}

}  // namespace
}  // namespace vellum::test
