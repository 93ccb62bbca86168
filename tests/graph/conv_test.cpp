#include "graph/operators/conv/conv.hpp"

#include <gtest/gtest.h>

#include "graph/operators/conv/conv_transpose.hpp"
#include "run_operator.hpp"

namespace vellum::testing {
namespace {

const HostTensor ones_3x3 = floats({1, 1, 3, 3}, Floats(9, 1.0f));

TEST(Conv, SumsAWindow) {
  // 4x4 of 0..15, a 3x3 window of ones: the middle element times nine.
  expect_floats(run({"Conv"}, {counting({1, 1, 4, 4}), ones_3x3}), {1, 1, 2, 2}, {45, 54, 81, 90});
}

TEST(Conv, PadsAndStrides) {
  const Spec spec{"Conv", 11, {{"pads", Ints{1, 0, 0, 1}}, {"strides", Ints{2, 2}}}};
  // Rows start above the input, columns end after it.
  expect_floats(run(spec, {counting({1, 1, 4, 4}), ones_3x3}), {1, 1, 2, 2}, {18, 18, 81, 63});
}

TEST(Conv, Dilates) {
  const Spec spec{"Conv", 11, {{"dilations", Ints{1, 2}}}};
  const HostTensor w = floats({1, 1, 1, 2}, {1, 10});
  expect_floats(run(spec, {counting({1, 1, 1, 4}), w}), {1, 1, 1, 2}, {20, 31});
}

TEST(Conv, AddsBiasAndSumsChannels) {
  const HostTensor x = floats({1, 2, 1, 1}, {3, 4});
  const HostTensor w = floats({2, 2, 1, 1}, {1, 2, 10, 20});
  expect_floats(run({"Conv"}, {x, w, floats({2}, {100, 200})}), {1, 2, 1, 1}, {111, 310});
}

TEST(Conv, KeepsGroupsApart) {
  const HostTensor x = floats({1, 4, 1, 1}, {1, 2, 3, 4});
  const HostTensor w = floats({2, 2, 1, 1}, {1, 10, 100, 1000});
  expect_floats(run({"Conv", 11, {{"group", int64_t{2}}}}, {x, w}), {1, 2, 1, 1}, {21, 4300});
  // Depthwise with a multiplier of two.
  const HostTensor each = floats({4, 1, 1, 1}, {1, 10, 100, 1000});
  expect_floats(run({"Conv", 11, {{"group", int64_t{2}}}}, {floats({1, 2, 1, 1}, {2, 3}), each}),
                {1, 4, 1, 1}, {2, 20, 300, 3000});
}

TEST(Conv, WorksAlongOneAndThreeDimensions) {
  expect_floats(run({"Conv"}, {counting({1, 1, 4}), floats({1, 1, 2}, {1, -1})}), {1, 1, 3}, {-1, -1, -1});
  expect_floats(run({"Conv"}, {counting({1, 1, 2, 2, 2}), floats({1, 1, 2, 2, 2}, Floats(8, 1.0f))}),
                {1, 1, 1, 1, 1}, {28});
}

TEST(Conv, AutoPadKeepsTheSizeOverTheStride) {
  const HostTensor w = floats({1, 1, 1, 2}, {1, 10});
  const HostTensor x = floats({1, 1, 1, 3}, {1, 2, 3});
  const auto padded = [](const char* mode) { return Spec{"Conv", 11, {{"auto_pad", std::string(mode)}}}; };
  expect_floats(run(padded("SAME_UPPER"), {x, w}), {1, 1, 1, 3}, {21, 32, 3});
  expect_floats(run(padded("SAME_LOWER"), {x, w}), {1, 1, 1, 3}, {10, 21, 32});
  expect_floats(run(padded("VALID"), {x, w}), {1, 1, 1, 2}, {21, 32});
  EXPECT_EQ(run({"Conv", 11, {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2, 2}}}},
                {counting({1, 1, 5, 4}), ones_3x3})
                .shape(),
            (Shape{1, 1, 3, 2}));
}

TEST(Conv, AppliesAFusedActivationOnce) {
  const OptionalTensors inputs{floats({1, 1, 1, 1}, {-2}), floats({1, 1, 1, 1}, {3})};
  const auto fused = make({"Conv"}, inputs)->with_activation({ActivationKind::relu});
  ASSERT_NE(fused, nullptr);
  expect_floats(run_all(*fused, inputs)[0], {1, 1, 1, 1}, {0});
  EXPECT_EQ(fused->with_activation({ActivationKind::tanh}), nullptr);
}

TEST(Conv, CountsMultiplications) {
  const OptionalTensors inputs{counting({1, 4, 5, 5}), counting({6, 2, 3, 3})};
  const auto op = make({"Conv", 11, {{"group", int64_t{2}}}}, inputs);
  EXPECT_EQ(op->macs(known_inputs(pointers(inputs))), 6u * 3 * 3 * 2 * 9);
}

TEST(Conv, RefusesWhatDoesNotFit) {
  const HostTensor x = counting({1, 2, 4, 4}), w = counting({2, 2, 3, 3});
  expect_refused({"Conv", 11, {{"group", int64_t{0}}}}, {x, w}, "group is 0");
  expect_refused({"Conv", 11, {{"group", int64_t{3}}}}, {x, w}, "3 groups");
  expect_refused({"Conv", 11, {{"strides", Ints{0, 1}}}}, {x, w}, "'strides' holds 0");
  expect_refused({"Conv", 11, {{"strides", Ints{1}}}}, {x, w}, "'strides' has 1 values");
  expect_refused({"Conv", 11, {{"pads", Ints{-1, 0, 0, 0}}}}, {x, w}, "'pads' holds -1");
  expect_refused({"Conv", 11, {{"pads", Ints{1, 1}}}}, {x, w}, "'pads' has 2 values");
  expect_refused({"Conv", 11, {{"kernel_shape", Ints{5, 5}}}}, {x, w}, "kernel_shape 5x5");
  expect_refused({"Conv", 11, {{"auto_pad", std::string("HALF")}}}, {x, w}, "HALF");
  expect_refused({"Conv", 11, {{"dilations", Ints{9, 9}}}}, {x, w}, "window of 19 does not fit");
  expect_refused({"Conv", 11, {{"dilations", Ints{INT64_MAX, 1}}}}, {x, w}, "'dilations' holds");
  expect_refused({"Conv"}, {x, w, counting({3})}, "B has shape 3");
  expect_refused({"Conv"}, {x, std::nullopt}, "'W' is missing");
  expect_refused({"Conv"}, {counting({2, 4}), counting({2, 4})}, "X of shape 2x4");
  expect_refused({"Conv"}, {ints({1, 1, 1}, {1}), ints({1, 1, 1}, {1})}, "int64", ErrorCode::unsupported);
}

TEST(ConvTranspose, SpreadsEachElement) {
  const HostTensor x = floats({1, 1, 1, 2}, {1, 2}), w = floats({1, 1, 1, 3}, {1, 10, 100});
  expect_floats(run({"ConvTranspose"}, {x, w}), {1, 1, 1, 4}, {1, 12, 120, 200});
  const Spec strided{"ConvTranspose", 11, {{"strides", Ints{1, 2}}, {"pads", Ints{0, 1, 0, 0}}}};
  expect_floats(run(strided, {x, w}), {1, 1, 1, 4}, {10, 102, 20, 200});
}

TEST(ConvTranspose, GrowsByOutputPadding) {
  const Spec spec{"ConvTranspose", 11, {{"strides", Ints{2}}, {"output_padding", Ints{1}}}};
  expect_floats(run(spec, {floats({1, 1, 2}, {1, 2}), floats({1, 1, 2}, {1, 10})}), {1, 1, 5},
                {1, 10, 2, 20, 0});
}

TEST(ConvTranspose, MeetsAGivenOutputShape) {
  const Spec spec{"ConvTranspose", 11, {{"output_shape", Ints{3}}}};
  // 4 natural elements: one is cut, at the front.
  expect_floats(run(spec, {floats({1, 1, 2}, {1, 2}), floats({1, 1, 3}, {1, 10, 100})}), {1, 1, 3},
                {12, 120, 200});
}

TEST(ConvTranspose, KeepsGroupsApart) {
  const HostTensor x = floats({1, 2, 1}, {2, 3}), w = floats({2, 2, 1}, {1, 10, 100, 1000});
  expect_floats(run({"ConvTranspose", 11, {{"group", int64_t{2}}}}, {x, w, floats({4}, {0, 0, 0, 1})}),
                {1, 4, 1}, {2, 20, 300, 3001});
}

TEST(ConvTranspose, RefusesWhatDoesNotFit) {
  const HostTensor x = counting({1, 2, 3}), w = counting({2, 1, 2});
  expect_refused({"ConvTranspose", 11, {{"group", int64_t{3}}}}, {x, w}, "3 groups");
  expect_refused({"ConvTranspose"}, {x, counting({1, 1, 2})}, "does not fit 2 channels");
  expect_refused({"ConvTranspose", 11, {{"pads", Ints{3, 3}}}}, {x, w}, "leave nothing");
  expect_refused({"ConvTranspose", 11, {{"output_shape", Ints{-4}}}}, {x, w}, "output_shape");
}

}  // namespace
}  // namespace vellum::testing
