// Depthwise convolutions as GPUs compute them: rows that are loaded once for several output rows.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "caps/vendors.hpp"
#include "graph/operators/conv/conv.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace depthwise_rows_test {

// A small GPU, which few tiles fill, so that they are as large as its compiler keeps in registers.
DeviceCaps small_gpu() {
  DeviceCaps caps = test_context()->caps();
  caps.type = DeviceType::discrete_gpu;
  caps.name = "Adreno (TM) 618";
  return caps;
}

struct Window {
  int64_t kernel = 3, stride = 1;
  std::vector<int64_t> pads = {1, 1, 1, 1};
  int64_t stride_y = 0;  // if it is another
};

OperatorCase depthwise(Shape x, const Window& window) {
  const int64_t channels = x[1];
  OperatorCase test{.type = "Conv", .inputs = {}};
  auto op = std::make_shared<Conv>();
  op->group = channels;
  op->window.strides = {window.stride_y ? window.stride_y : window.stride, window.stride};
  op->window.pads = window.pads;
  test.op = op;
  test.inputs = {random_tensor(std::move(x), 1),
                 random_tensor({channels, 1, window.kernel, window.kernel}, 2, -0.5f, 0.5f),
                 random_tensor({channels}, 3)};
  test.constants = {1, 2};
  test.sweep.linear_inputs = false;
  return test;
}

std::string kernel_of(const OperatorCase& test, DeviceCaps caps) {
  caps.subgroup_size = 64;  // whatever the device of the tests has, or does as if it had
  std::vector<Choice> choices;
  lower(single_node_graph(test), caps, {.choices = &choices});
  return choices.at(0).candidates.at(choices.at(0).taken).text();
}

TEST(DepthwiseRows, StridesAndUnevenPadding) {
  for (const Window& window :
       {Window{3, 1, {2, 0, 1, 2}}, Window{3, 2, {0, 0, 1, 1}}, Window{5, 1, {2, 2, 2, 2}},
        Window{5, 2, {1, 2, 2, 1}}, Window{3, 2, {1, 1, 1, 1}, 1}}) {
    const OperatorCase test = depthwise({2, 6, 7, 9}, window);
    EXPECT_TRUE(kernel_of(test, small_gpu()).starts_with("depthwise rows")) << kernel_of(test, small_gpu());
    check_operator(test, small_gpu());
  }
  EXPECT_EQ(kernel_of(depthwise({2, 6, 12, 16}, {}), small_gpu()), "depthwise rows 4x2");
}

// The last tile of a row or column of tiles begins inside the one before, and stores only its own pixels.
TEST(DepthwiseRows, TilesThatOverlapAddTheResidualOnce) {
  for (const Shape& x : {Shape{1, 7, 5, 4}, Shape{2, 5, 3, 7}}) {
    OperatorCase test = depthwise(x, {});
    test.inputs.push_back(random_tensor(x, 4));
    test.activation = {.kind = ActivationKind::silu};
    check_operator(test, small_gpu());
  }
}

TEST(DepthwiseRows, ImagesSmallerThanATileOrTheWindow) {
  for (const Shape& x : {Shape{2, 5, 1, 1}, Shape{1, 4, 1, 6}, Shape{1, 6, 6, 1}})
    check_operator(depthwise(x, {}), small_gpu());
  check_operator(depthwise({1, 9, 2, 3}, {5, 2, {2, 2, 2, 2}}), small_gpu());
}

// Every tile of few sums, as compilers of Arm's GPUs need them, and of one pixel, as large GPUs do.
TEST(DepthwiseRows, SmallTiles) {
  DeviceCaps arm = small_gpu();
  arm.vendor_id = 0x13B5;
  DeviceCaps large = small_gpu();
  large.name = "NAVI31";
  check_operator(depthwise({1, 6, 10, 11}, {}), arm);
  check_operator(depthwise({1, 6, 10, 11}, {3, 2}), large);
  EXPECT_EQ(kernel_of(depthwise({1, 6, 10, 11}, {}), arm), "depthwise rows 2x2");
  EXPECT_EQ(kernel_of(depthwise({1, 6, 10, 11}, {}), large), "depthwise rows 1x1");
}

TEST(DepthwiseRows, OnlyOfSquareWindowsOnGpus) {
  DeviceCaps cpu = small_gpu();
  cpu.type = DeviceType::cpu;
  cpu.vendor_id = kMesa;
  EXPECT_TRUE(kernel_of(depthwise({1, 6, 10, 11}, {}), cpu).starts_with("depthwise 8")) << "the other kernel";
  EXPECT_FALSE(kernel_of(depthwise({1, 6, 10, 11}, {3, 3}), small_gpu()).starts_with("depthwise rows"));
}

}  // namespace depthwise_rows_test
}  // namespace vellum::test
