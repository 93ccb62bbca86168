// 1x1 convolutions with tiles of several pixels, as GPUs have them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "caps/vendors.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace pointwise_test {

OperatorCase one_by_one(Shape x, int64_t filters) {
  OperatorCase test;
  test.type = "Conv";
  const Shape w{filters, x[1], 1, 1};
  test.inputs = {random_tensor(std::move(x), 1), random_tensor(w, 2), random_tensor({filters}, 3)};
  test.constants = {1, 2};
  test.activation = {.kind = ActivationKind::relu};
  test.sweep.linear_inputs = false;
  return test;
}

bool has(const Dispatch& dispatch, const std::string& define) {
  return std::ranges::any_of(dispatch.defines, [&](const auto& row) { return row.first == define; });
}

// The dispatch of the convolution with this storage.
Dispatch dispatch_with(StorageChoice storage, const OperatorCase& test) {
  const Program program = lower(single_node_graph(test), caps_as_gpu(kQualcomm), {.storage = storage});
  for (const Task& task : program.tasks)
    if (task.dispatch && task.dispatch->shader == "conv_pointwise") return *task.dispatch;
  ADD_FAILURE() << "no pointwise convolution";
  return {};
}

// The last tile begins before the end of the one before it where tiles do not divide the pixels.
TEST(Pointwise, TilesOfNeighbours) {
  const OperatorCase test = one_by_one({1, 21, 5, 7}, 13), row = one_by_one({1, 9, 1, 9}, 6);
  for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d})
    EXPECT_GE(
        check_candidates(test, {.storage = storage, .only = "pointwise", .caps = caps_as_gpu(kAmd)}).size(),
        6u);
  check_candidates(row, {.only = "pointwise", .caps = caps_as_gpu(kArm)});
}

TEST(Pointwise, TilesOfNeighboursInHalves) {
  check_candidates(one_by_one({1, 21, 5, 7}, 13),
                   {.precision = Precision::fp16, .only = "pointwise", .caps = caps_as_gpu(kAmd)});
}

// On Adreno's GPUs pixels are located again after the loop, and four slices are loaded together.
TEST(Pointwise, PixelsThatAreLocatedAgain) {
  const OperatorCase test = one_by_one({2, 38, 3, 7}, 13);
  const DeviceCaps adreno = caps_as_gpu(kQualcomm);
  check_candidates(test, {.storage = StorageChoice::image2d, .only = "pointwise", .caps = adreno});
  check_candidates(test, {.precision = Precision::fp16, .only = "pointwise", .caps = adreno});
}

TEST(Pointwise, NeighboursAreInABufferOfOneImage) {
  const OperatorCase one = one_by_one({1, 16, 61, 63}, 512), two = one_by_one({2, 16, 61, 63}, 512);
  const Dispatch dispatch = dispatch_with(StorageChoice::buffer, one);
  ASSERT_GT(std::ranges::count_if(dispatch.defines,
                                  [](const auto& row) { return row.first == "TILE_P" && row.second != "1"; }),
            0);
  EXPECT_TRUE(has(dispatch, "CONTIGUOUS"));
  EXPECT_FALSE(has(dispatch_with(StorageChoice::buffer, two), "CONTIGUOUS"));
  EXPECT_FALSE(has(dispatch_with(StorageChoice::image2d, one), "CONTIGUOUS"));
  check_operator(two, caps_as_gpu(kQualcomm));
}

int64_t number(const Dispatch& dispatch, const std::string& define) {
  for (const auto& [name, text] : dispatch.defines)
    if (name == define) return std::stoll(text);
  return 0;
}

// Images whose rows are whole tiles, and those of one row, of several images too.
TEST(Pointwise, NeighboursAreInRowsOfImagesOnAdreno) {
  const DeviceCaps adreno = adreno_named("Adreno (TM) 660");
  const auto dispatch_of = [&](const OperatorCase& test, StorageChoice storage) {
    for (const Task& task : lower(single_node_graph(test), adreno, {.storage = storage}).tasks)
      if (task.dispatch && task.dispatch->shader == "conv_pointwise") return *task.dispatch;
    ADD_FAILURE() << "no pointwise convolution";
    return Dispatch{};
  };
  for (const Shape& x :
       {Shape{1, 36, 24, 24}, Shape{2, 36, 9, 32}, Shape{1, 36, 1, 197}, Shape{3, 36, 1, 67}}) {
    const OperatorCase test = one_by_one(x, 260);
    const Dispatch dispatch = dispatch_of(test, StorageChoice::image2d);
    EXPECT_TRUE(has(dispatch, "CONTIGUOUS")) << x[3];
    EXPECT_EQ(number(dispatch, "TILE_P"), 8);
    EXPECT_EQ(number(dispatch, "AHEAD"), 2);
    check_operator(test, adreno);
  }
  EXPECT_FALSE(has(dispatch_of(one_by_one({1, 36, 25, 25}, 260), StorageChoice::image2d), "CONTIGUOUS"));
  EXPECT_TRUE(has(dispatch_of(one_by_one({1, 36, 25, 25}, 260), StorageChoice::buffer), "CONTIGUOUS"));
}

TEST(Pointwise, EveryCandidateOnAdreno) {
  for (const Shape& x : {Shape{1, 70, 5, 16}, Shape{2, 38, 3, 7}, Shape{2, 21, 1, 11}})
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer})
      for (const Precision precision : {Precision::fp32, Precision::fp16})
        check_candidates(one_by_one(x, 70), {.precision = precision,
                                             .storage = storage,
                                             .only = "pointwise",
                                             .caps = adreno_named(kAdrenos[0]),
                                             .fold = storage == StorageChoice::image2d ? 2u : 0u});
}

// Scales of each channel are in registers besides.
TEST(Pointwise, ScaledNeighboursOnAdreno) {
  for (const Shape& x : {Shape{1, 70, 6, 16}, Shape{1, 70, 7, 7}}) {
    OperatorCase test = one_by_one(x, 70);
    test.inputs.emplace_back(std::nullopt);
    test.inputs.push_back(random_tensor({1, 70, 1, 1}, 5));
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer})
      for (const Precision precision : {Precision::fp32, Precision::fp16})
        check_candidates(test, {.precision = precision,
                                .storage = storage,
                                .only = "pointwise",
                                .caps = adreno_named("Adreno (TM) 660")});
  }
}

}  // namespace pointwise_test
}  // namespace vellum::test
