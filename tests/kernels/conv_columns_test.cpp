// Windows along a row, of which some columns are in the padding of no pixel.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caps/vendors.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

struct Row {
  int64_t width, kernel, stride, left, right;
};

OperatorCase conv(const Row& row, int64_t channels, int64_t height) {
  OperatorCase test;
  test.type = "Conv";
  test.inputs = {random_tensor({1, channels, height, row.width}, 1),
                 random_tensor({6, channels, 3, row.kernel}, 2), random_tensor({6}, 3)};
  test.constants = {1, 2};
  test.attributes.set("strides", Ints{1, row.stride});
  test.attributes.set("pads", Ints{1, row.left, 1, row.right});
  test.sweep.linear_inputs = false;
  return test;
}

std::optional<int64_t> value(const Dispatch& dispatch, const std::string& define) {
  for (const auto& [name, text] : dispatch.defines)
    if (name == define) return std::stoll(text);
  return std::nullopt;
}

// The columns that the dispatch takes for sure.
std::pair<int64_t, int64_t> sure(const Row& row, int64_t channels) {
  const Program program = lower(single_node_graph(conv(row, channels, 256)), caps_as_gpu(kAmd),
                                {.storage = StorageChoice::buffer});
  for (const Task& task : program.tasks)
    if (task.dispatch && task.dispatch->shader == "conv") {
      EXPECT_EQ(value(*task.dispatch, "TILE_P"), 1) << row.width;
      return {value(*task.dispatch, "SURE_BEGIN").value_or(0), value(*task.dispatch, "SURE_END").value_or(0)};
    }
  ADD_FAILURE() << "no direct convolution";
  return {};
}

TEST(ConvColumns, ThoseThatNoPixelHasInThePadding) {
  using Range = std::pair<int64_t, int64_t>;
  EXPECT_EQ(sure({9, 4, 1, 1, 2}, 3), (Range{1, 2}));
  EXPECT_EQ(sure({8, 3, 2, 1, 1}, 3), (Range{1, 3})) << "the last pixel does not reach the padding behind";
  EXPECT_EQ(sure({8, 3, 2, 0, 1}, 3), (Range{0, 2}));
  EXPECT_EQ(sure({9, 3, 2, 1, 1}, 3), (Range{1, 2}));
  EXPECT_EQ(sure({2, 3, 1, 2, 2}, 3), (Range{0, 0})) << "each column is padding of some pixel";
}

void check(const Row& row, int64_t channels, StorageChoice storage, Precision precision) {
  const std::vector<std::string> names = check_candidates(
      conv(row, channels, 3),
      {.precision = precision, .storage = storage, .only = "direct rows", .caps = caps_as_gpu(kAmd)});
  ASSERT_FALSE(names.empty());
}

TEST(ConvColumns, GiveTheSameResults) {
  for (const Row& row : {Row{9, 3, 1, 1, 1}, {8, 3, 2, 0, 1}, {2, 3, 1, 2, 2}, {7, 4, 2, 3, 0}})
    check(row, 3, StorageChoice::buffer, Precision::fp32);
  check({8, 3, 2, 1, 1}, 9, StorageChoice::image2d, Precision::fp32);
  check({7, 4, 1, 0, 3}, 9, StorageChoice::buffer, Precision::fp16);
}

}  // namespace
}  // namespace vellum::test
