// Windows along a row, of which some columns are in the padding of no pixel.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caps/vendors.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace conv_columns_test {

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
      return {value(*task.dispatch, "INTERIOR_BEGIN").value_or(0),
              value(*task.dispatch, "INTERIOR_END").value_or(0)};
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

void check(const Row& row, int64_t channels, StorageChoice storage, Precision precision,
           const DeviceCaps& caps = caps_as_gpu(kAmd)) {
  const std::vector<std::string> names =
      check_candidates(conv(row, channels, 3),
                       {.precision = precision, .storage = storage, .only = "direct rows", .caps = caps});
  ASSERT_FALSE(names.empty());
}

TEST(ConvColumns, GiveTheSameResults) {
  for (const Row& row : {Row{9, 3, 1, 1, 1}, {8, 3, 2, 0, 1}, {2, 3, 1, 2, 2}, {7, 4, 2, 3, 0}})
    check(row, 3, StorageChoice::buffer, Precision::fp32);
  check({8, 3, 2, 1, 1}, 9, StorageChoice::image2d, Precision::fp32);
  check({7, 4, 1, 0, 3}, 9, StorageChoice::buffer, Precision::fp16);
}

// On Adreno's GPUs the last tile of a row begins earlier, so that the columns between are padding of no
// pixel. Runs of halves are scaled after the loop, those of wide tiles are added up without registers over
// the loop.
TEST(ConvColumns, TilesThatOverlap) {
  const DeviceCaps adreno = caps_as_gpu(kQualcomm);
  for (const Row& row : {Row{9, 3, 1, 1, 1}, {17, 3, 1, 2, 0}, {9, 4, 1, 1, 2}, {12, 3, 2, 1, 1}})
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
      check(row, 5, storage, Precision::fp32, adreno);
      check(row, 5, storage, Precision::fp16, adreno);
    }
}

DeviceCaps adreno_660() { return adreno_named("Adreno (TM) 660"); }

// Tiles of 8x2 texels take all registers of Adreno 660: in networks with much of the window.
TEST(ConvColumns, WideTilesOfAdreno660) {
  for (const int64_t width : {24, 21}) {
    OperatorCase test = conv({width, 3, 1, 1, 1}, 66, 22);
    test.inputs[1] = random_tensor({68, 66, 3, 3}, 2, -0.03f, 0.03f);
    test.inputs[2] = random_tensor({68}, 3);
    DeviceCaps caps = adreno_660();
    caps.fp16_arithmetic = true;  // which SwiftShader lacks
    const Program program =
        lower(single_node_graph(test), caps, {.precision = Precision::fp16, .arithmetic = Arithmetic::fp16});
    const auto wide = std::ranges::find_if(program.tasks, [](const Task& task) {
      return task.dispatch && value(*task.dispatch, "RUN_AT_ONCE") && value(*task.dispatch, "OVERLAP");
    });
    EXPECT_NE(wide, program.tasks.end()) << width;
    check_operator(test, adreno_660());
  }
}

// Where taps are loaded one after the other several slices are loaded together.
TEST(ConvColumns, SeveralSlicesTogether) {
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    for (const Row& row : {Row{9, 1, 2, 0, 0}, {9, 6, 1, 2, 3}})
      EXPECT_FALSE(check_candidates(conv(row, 37, 3), {.precision = precision,
                                                       .storage = StorageChoice::image2d,
                                                       .only = "direct",
                                                       .caps = caps_as_gpu(kQualcomm)})
                       .empty());
}

}  // namespace conv_columns_test
}  // namespace vellum::test
