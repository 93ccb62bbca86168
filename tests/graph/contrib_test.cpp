// Operators of the domain com.microsoft, against numbers computed by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

float gelu(float x) { return 0.5f * x * (1.0f + std::erf(x / std::sqrt(2.0f))); }

TEST(Contrib, FusedConvAddsAndActivates) {
  const HostTensor x = floats({1, 1, 1, 3}, {1, 2, -3}), w = floats({1, 1, 1, 1}, {2}), b = floats({1}, {1}),
                   z = floats({1, 1, 1, 3}, {0, 0, 10});
  expect_floats(run({"com.microsoft.FusedConv", 1, {{"activation", std::string("Relu")}}}, {x, w, b}),
                {1, 1, 1, 3}, {3, 5, 0});
  expect_floats(run({"com.microsoft.FusedConv",
                     1,
                     {{"activation", std::string("Clip")}, {"activation_params", Floats{0, 4.5f}}}},
                    {x, w, b, z}),
                {1, 1, 1, 3}, {3, 4.5f, 4.5f});
}

TEST(Contrib, FusedProducts) {
  const HostTensor a = floats({2, 1}, {1, 2}), b = floats({2, 1}, {3, -4});
  expect_floats(run({"com.microsoft.FusedMatMul", 1, {{"transA", int64_t{1}}, {"alpha", 0.5f}}}, {a, b}),
                {1, 1}, {-2.5f});
  expect_floats(
      run({"com.microsoft.FusedGemm",
           1,
           {{"transB", int64_t{1}}, {"activation", std::string("LeakyRelu")}, {"activation_alpha", 0.1f}}},
          {a, b, floats({1}, {1})}),
      {2, 2}, {4, -0.3f, 7, -0.7f});
}

// (1, 2 batches, 2) as two matrices of one row, times one whose batches are transposed, too, and its matrices
// or not.
TEST(Contrib, ProductsOfTransposedBatches) {
  const HostTensor a = floats({1, 2, 2}, {1, 2, 3, 4}), b = floats({2, 2, 1}, {1, 10, 100, 1000});
  const auto product = [&](int64_t transposes_a, int64_t transposes_b, const HostTensor& right) {
    return run({"com.microsoft.FusedMatMul",
                1,
                {{"transBatchA", transposes_a}, {"transBatchB", transposes_b}, {"transB", int64_t{0}}}},
               {a, right});
  };
  expect_floats(product(1, 1, b), {2, 1, 1}, {1 * 1 + 2 * 100, 3 * 10 + 4 * 1000});
  expect_floats(product(1, 0, b), {2, 1, 1}, {1 * 1 + 2 * 10, 3 * 100 + 4 * 1000});
  expect_floats(product(0, 0, floats({2, 1}, {1, 10})), {1, 2, 1}, {21, 43});
}

TEST(Contrib, Gelus) {
  const HostTensor x = floats({2}, {1, -2}), bias = floats({2}, {1, 1});
  expect_floats(run({"com.microsoft.Gelu", 1, {}}, {x}), {2}, {gelu(1), gelu(-2)});
  expect_floats(run({"com.microsoft.BiasGelu", 1, {}}, {x, bias}), {2}, {gelu(2), gelu(-1)});
  expect_floats(run({"com.microsoft.QuickGelu", 1, {}}, {x}), {2},
                {1 / (1 + std::exp(-1.702f)), -2 / (1 + std::exp(2 * 1.702f))});
  expect_floats(run({"com.microsoft.BiasSplitGelu", 1, {}}, {x, bias}), {1}, {2 * gelu(-1)});
  const float cubic = 2 + 0.044715f * 8;
  expect_floats(run({"com.microsoft.FastGelu", 1, {}}, {floats({1}, {2})}), {1},
                {1 + std::tanh(std::sqrt(2 / 3.14159265f) * cubic)});
}

TEST(Contrib, NormalisationsOfSums) {
  const HostTensor x = floats({1, 2}, {1, 2}), skip = floats({1, 2}, {0, 4}), ones = floats({2}, {1, 1}),
                   bias = floats({2}, {0, 1});
  // The sum is (1, 7), its mean 4, its deviation 3, the root of its mean square 5.
  expect_floats(
      run({"com.microsoft.SkipLayerNormalization", 1, {{"epsilon", 0.0f}}}, {x, skip, ones, ones, bias}),
      {1, 2}, {0, 2});
  expect_floats(
      run({"com.microsoft.SkipSimplifiedLayerNormalization", 1, {{"epsilon", 0.0f}}}, {x, skip, ones, bias}),
      {1, 2}, {0.2f, 1.4f});
  // All outputs: the result, the mean, 1 / deviation, the sum.
  const Spec four{"com.microsoft.SkipLayerNormalization", 1, {{"epsilon", 0.0f}}, 4};
  const OptionalTensors inputs{x, skip, ones, ones, bias};
  const auto all = run_all(*make(four, inputs), inputs);
  expect_floats(all.at(1), {1, 1}, {4});
  expect_floats(all.at(2), {1, 1}, {1.0f / 3});
  expect_floats(all.at(3), {1, 2}, {1, 7});
  const Spec simplified{"com.microsoft.SkipSimplifiedLayerNormalization", 1, {{"epsilon", 0.0f}}, 4};
  const auto without_mean = run_all(*make(simplified, {x, skip, ones, bias}), {x, skip, ones, bias});
  expect_floats(without_mean.at(1), {1, 1}, {0});
  expect_floats(without_mean.at(2), {1, 1}, {1.0f / 5});
  expect_floats(without_mean.at(3), {1, 2}, {1, 7});
  expect_floats(run({"com.microsoft.SimplifiedLayerNormalization", 1, {{"epsilon", 0.0f}}},
                    {floats({1, 2}, {1, 7}), ones}),
                {1, 2}, {0.2f, 1.4f});
  expect_floats(run({"com.microsoft.BiasAdd", 1, {}}, {x, bias, skip}), {1, 2}, {1, 7});
  // Two groups of one channel each, last in memory.
  expect_floats(run({"com.microsoft.GroupNorm", 1, {{"groups", int64_t{2}}, {"epsilon", 0.0f}}},
                    {floats({1, 1, 2, 2}, {1, 10, 3, 30}), ones, bias}),
                {1, 1, 2, 2}, {-1, 0, 1, 2});
}

TEST(Contrib, Attentions) {
  // Keys are equal: the result is the mean of the values.
  const HostTensor q = floats({1, 1, 2}, {1, 1}), k = floats({1, 2, 2}, {0, 0, 0, 0}),
                   v = floats({1, 2, 2}, {1, 2, 3, 6}), bias = floats({6}, {0, 0, 0, 0, 10, 20});
  expect_floats(run({"com.microsoft.MultiHeadAttention", 1, {{"num_heads", int64_t{2}}}}, {q, k, v, bias}),
                {1, 1, 2}, {12, 24});
  const HostTensor x = floats({1, 2, 1}, {1, 3}), weights = floats({1, 3}, {0, 0, 1});
  expect_floats(
      run({"com.microsoft.Attention", 1, {{"num_heads", int64_t{1}}}}, {x, weights, floats({3}, {0, 0, 1})}),
      {1, 2, 1}, {3, 3});
}

TEST(Contrib, QuantisedAndNhwc) {
  const auto bytes = [](Shape shape, const Ints& values) {
    return cast(ints(std::move(shape), values), DType::u8);
  };
  const HostTensor one = floats({}, {1}), zero = bytes({}, {0});
  expect_ints(run({"com.microsoft.QLinearAdd", 1, {}},
                  {bytes({2}, {1, 200}), one, zero, bytes({2}, {2, 100}), one, zero, one, zero}),
              {2}, {3, 255});
  expect_ints(run({"com.microsoft.QLinearMul", 1, {}},
                  {bytes({2}, {3, 5}), one, zero, bytes({2}, {2, 4}), one, zero, floats({}, {2}), zero}),
              {2}, {3, 10});
  const HostTensor half = floats({}, {0.5f});
  expect_ints(
      run({"com.microsoft.QLinearSigmoid", 1, {}}, {bytes({2}, {0, 255}), one, zero, half, bytes({}, {9})}),
      {2}, {10, 11});
  expect_ints(run({"com.microsoft.QLinearLeakyRelu", 1, {{"alpha", 0.5f}}},
                  {bytes({2}, {2, 16}), one, bytes({}, {10}), half, bytes({}, {9})}),
              {2}, {1, 21});
  expect_ints(run({"com.microsoft.QLinearGlobalAveragePool", 1, {}},
                  {bytes({1, 1, 1, 2}, {3, 9}), one, bytes({}, {2}), half, zero}),
              {1, 1, 1, 1}, {8});
  expect_ints(run({"com.microsoft.QLinearAveragePool", 1, {{"kernel_shape", Ints{1, 2}}}},
                  {bytes({1, 1, 1, 3}, {3, 9, 5}), one, bytes({}, {2}), half, zero}),
              {1, 1, 1, 2}, {8, 10});
  expect_ints(
      run({"com.microsoft.QLinearConcat", 1, {{"axis", int64_t{0}}}},
          {one, bytes({}, {1}), bytes({1}, {4}), half, zero, bytes({2}, {7, 8}), one, bytes({}, {5})}),
      {3}, {3, 3, 4});
  // (2 * [1 - 1, 5 - 1]) x (B / 2) + C, with B's columns of two scales.
  const HostTensor a = bytes({1, 2}, {1, 5}), b = bytes({2, 2}, {9, 9, 3, 1}),
                   c = cast(ints({2}, {1, -2}), DType::i32);
  const HostTensor two = floats({}, {2}), scales = floats({2}, {0.5f, 1});
  expect_floats(
      run({"com.microsoft.QGemm", 1, {}}, {a, two, bytes({}, {1}), b, scales, bytes({2}, {0, 0}), c}), {1, 2},
      {13, 4});
  expect_ints(run({"com.microsoft.QGemm", 1, {{"transB", int64_t{1}}, {"alpha", 0.5f}}},
                  {a, two, bytes({}, {1}), b, half, zero, c, one, bytes({}, {3})}),
              {1, 2}, {21, 4});
  expect_floats(run({"com.microsoft.NhwcMaxPool", 1, {{"kernel_shape", Ints{1, 2}}}},
                    {floats({1, 1, 2, 2}, {1, 5, 3, 2})}),
                {1, 1, 1, 2}, {3, 5});
  expect_ints(run({"com.microsoft.QuantizeLinear", 1, {}}, {floats({2}, {3, 300}), one, zero}), {2},
              {3, 255});
  expect_floats(run({"com.microsoft.DequantizeLinear", 1, {}}, {bytes({2}, {3, 255}), floats({}, {2}), zero}),
                {2}, {6, 510});
}

// Two channels, each a group: what is added to both pixels does not change their difference.
TEST(Contrib, GroupNormsOfASum) {
  const HostTensor x = floats({1, 1, 2, 2}, {1, 10, 3, 50}), gamma = floats({2}, {1, 2}),
                   beta = floats({2}, {0, 5});
  const Spec spec{"com.microsoft.SkipGroupNorm", 1, {{"groups", int64_t{2}}, {"epsilon", 0.0f}}, 2};
  for (const Shape& of_skip : {Shape{1, 2}, Shape{1, 1, 1, 2}}) {
    const OptionalTensors inputs{x, gamma, beta, floats(of_skip, {100, 200}), floats({2}, {1000, 2000})};
    const auto results = run_all(*make(spec, inputs), inputs);
    expect_floats(results[0], {1, 1, 2, 2}, {-1, 3, 1, 7});
    expect_floats(results[1], {1, 1, 2, 2}, {1101, 2210, 1103, 2250});
  }
  const OptionalTensors of_pixels{x, gamma, beta, floats({1, 1, 2, 2}, {0, 40, 2, 0})};
  const auto results = run_all(*make(spec, of_pixels), of_pixels);
  expect_floats(results[1], {1, 1, 2, 2}, {1, 50, 5, 50});
}

// One filter of 1x2 pixels and two channels.
TEST(Contrib, ConvolutionsWithChannelsLast) {
  const HostTensor x = floats({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6}), w = floats({1, 1, 2, 2}, {1, 10, 100, 1000});
  expect_floats(run({"com.microsoft.NhwcConv", 1, {}}, {x, w, floats({1}, {7})}), {1, 1, 2, 1},
                {1 + 20 + 300 + 4000 + 7, 3 + 40 + 500 + 6000 + 7});
}

}  // namespace
}  // namespace vellum::testing
