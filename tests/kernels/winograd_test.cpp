// 3x3 convolutions by Winograd's way on every storage and precision against the host reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "caps/vendors.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace winograd_test {

OperatorCase conv(Shape x, int64_t filters, Attributes::Ints pads, Winograd winograd) {
  OperatorCase test;
  test.type = "Conv";
  test.inputs = {random_tensor(x, 1), random_tensor({filters, x[1], 3, 3}, 2), random_tensor({filters}, 3)};
  test.constants = {1, 2};
  test.attributes.set("pads", std::move(pads));
  test.sweep.linear_inputs = false;
  test.sweep.winograd = winograd;
  // Against sums in double the worst here is 1.5e-5 with tiles of 2, 3.3e-5 with tiles of 4 (lavapipe).
  test.sweep.fp32_tolerance = winograd == Winograd::f4 ? 1e-4 : 3e-5;
  return test;
}

// How wide the tiles of the program are; 0 where it has none.
int64_t side_of(const OperatorCase& test, const LoweringOptions& options) {
  const Program program = lower(single_node_graph(test), test_context()->caps(), options);
  for (const Task& task : program.tasks)
    if (task.dispatch && task.dispatch->shader == "winograd_input")
      for (const auto& [name, value] : task.dispatch->defines)
        if (name == "SIDE") return std::stoll(value);
  return 0;
}

// Tiles are cut at every edge, and several images share a tile of products.
TEST(Winograd, TilesCutAtEdges) {
  for (const Winograd winograd : {Winograd::f2, Winograd::f4}) {
    OperatorCase test = conv({2, 44, 14, 17}, 48, {2, 0, 1, 1}, winograd);
    test.activation = {ActivationKind::leaky_relu, 0.1f};
    ASSERT_GT(side_of(test, {.winograd = winograd}), 0);
    check_operator(test);
    check_operator(conv({1, 37, 11, 21}, 35, {1, 1, 1, 1}, winograd));
  }
}

// On Adreno's GPUs the products walk over the slices and load several together, in each column of folded
// images.
TEST(Winograd, SeveralSlicesTogether) {
  OperatorCase test = conv({1, 37, 14, 17}, 35, {1, 1, 1, 1}, Winograd::automatic);
  test.sweep.fp32_tolerance = 1e-4;  // with tiles of 4, too
  const DeviceCaps adreno = caps_as_gpu(kQualcomm);
  const auto check = [&](Precision precision, StorageChoice storage, uint32_t fold) {
    EXPECT_FALSE(check_candidates(test, {precision, storage, "winograd", adreno, fold}).empty());
  };
  check(Precision::fp32, StorageChoice::image2d, 3);
  check(Precision::fp16, StorageChoice::image2d, 0);
  check(Precision::fp16, StorageChoice::buffer, 0);
}

TEST(Winograd, OnlyRowsOfTilesAndNoPadding) {
  for (const Winograd winograd : {Winograd::f2, Winograd::f4}) {
    check_operator(conv({1, 40, 3, 66}, 64, {0, 0, 0, 0}, winograd));
    check_operator(conv({3, 40, 40, 4}, 64, {1, 0, 1, 0}, winograd));
  }
}

// Under the Android Baseline's limits the transformed tiles exceed images where x does not.
TEST(Winograd, MoreTilesThanAnImageIsWide) {
  check_operator(conv({1, 24, 6, 2750}, 24, {1, 1, 1, 1}, Winograd::f2));
}

TEST(Winograd, IsChosenWhereItShouldBeFaster) {
  const OperatorCase layer = conv({1, 64, 28, 28}, 64, {1, 1, 1, 1}, Winograd::off);
  EXPECT_EQ(side_of(layer, {}), 0);
  EXPECT_EQ(side_of(layer, {.winograd = Winograd::f2}), 2);
  EXPECT_EQ(side_of(layer, {.winograd = Winograd::f4}), 4);
  EXPECT_EQ(side_of(layer, {.precision = Precision::fp16, .winograd = Winograd::f4}), 2);
  // Four tiles of 4 would leave the products idle; few channels cost more to transform than they save.
  const OperatorCase small = conv({1, 64, 7, 7}, 64, {1, 1, 1, 1}, Winograd::off);
  EXPECT_EQ(side_of(small, {.winograd = Winograd::f4}), 2);
  const OperatorCase thin = conv({1, 3, 28, 28}, 64, {1, 1, 1, 1}, Winograd::off);
  EXPECT_EQ(side_of(thin, {.winograd = Winograd::f4}), 0);
  OperatorCase strided = layer;
  strided.attributes.set("strides", Attributes::Ints{2, 2});
  EXPECT_EQ(side_of(strided, {.winograd = Winograd::f4}), 0);
}

}  // namespace winograd_test
}  // namespace vellum::test
