// Operators that others compute (graph/composed.hpp), against numbers computed by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

TEST(Composed, SwishAndSwiGlu) {
  const auto swish = [](float x, float alpha) { return x / (1.0f + std::exp(-alpha * x)); };
  const HostTensor x = floats({3}, {-1, 0, 2}), b = floats({3}, {3, 4, 5});
  expect_floats(run({"Swish", 24, {}}, {x}), {3}, {swish(-1, 1), 0, swish(2, 1)});
  expect_floats(run({"Swish", 24, {{"alpha", 2.0f}}}, {x}), {3}, {swish(-1, 2), 0, swish(2, 2)});
  expect_floats(run({"SwiGLU", 28, {{"alpha", 2.0f}}}, {x, b}), {3}, {3 * swish(-1, 2), 0, 5 * swish(2, 2)});
}

TEST(RotateChannels, AddsPartners) {
  const auto rotate = [](Ints partner, Ints shape) {
    return Spec{"RotateChannels",
                1,
                {{"offset", int64_t{1}},
                 {"shape", std::move(shape)},
                 {"strides", Ints{0, 0, 4, 1}},
                 {"partner", std::move(partner)},
                 {"output", Ints{2, 2}}}};
  };
  const HostTensor x = floats({8}, {0, 1, 2, 3, 4, 5, 6, 7});
  const HostTensor table = floats({2, 1, 1, 2}, {1, 10, -1, 2});
  expect_floats(run(rotate({1, 0}, {1, 1, 2, 2}), {x, table}), {2, 2}, {-1, 22, -1, 70});
  expect_refused(rotate({1, 2}, {1, 1, 2, 2}), {x, table}, "no channel 2");
  expect_refused(rotate({1}, {1, 1, 2, 2}), {x, table}, "1 partners");
  expect_refused(rotate({1, 0}, {1, 1, 3, 2}), {x, table}, "leaves its tensor");
  expect_refused(rotate({1, 0}, {1, 1, 1, 2}), {x, table}, "the output has not");
  expect_refused(rotate({1, 0}, {1, 1, 2, 2}), {x, floats({1, 1, 1, 2}, {1, 1})}, "a table of shape");
}

TEST(Composed, DftOfARealSignal) {
  const HostTensor x = floats({1, 4, 1}, {1, 2, 3, 4});
  expect_floats(run({"DFT", 17, {}}, {x}), {1, 4, 2}, {10, 0, -2, 2, -2, 0, -2, -2});
  const HostTensor half = floats({1, 3, 2}, {10, 0, -2, 2, -2, 0});
  expect_floats(run({"DFT", 17, {{"onesided", int64_t{1}}}}, {x}), {1, 3, 2}, {10, 0, -2, 2, -2, 0});
  expect_floats(run({"DFT", 17, {{"onesided", int64_t{1}}, {"inverse", int64_t{1}}}}, {half}), {1, 4, 1},
                {1, 2, 3, 4});
}

TEST(Composed, StftWindowsItsFrames) {
  const HostTensor signal = floats({1, 6, 1}, {1, 1, 1, 2, 2, 2}), window = floats({2}, {1, 3});
  const HostTensor step = ints({}, {4});
  expect_floats(run({"STFT", 17, {}}, {signal, step, window}), {1, 2, 2, 2}, {4, 0, -2, 0, 8, 0, -4, 0});
  expect_floats(run({"STFT", 17, {}}, {signal.reshaped({1, 6}), step, window}), {1, 2, 2, 2},
                {4, 0, -2, 0, 8, 0, -4, 0});
}

TEST(Composed, CumProdInEachDirection) {
  const HostTensor x = floats({3}, {2, 3, 5});
  const HostTensor axis = ints({}, {0});
  expect_floats(run({"CumProd", 26, {}}, {x, axis}), {3}, {2, 6, 30});
  expect_floats(run({"CumProd", 26, {{"reverse", int64_t{1}}}}, {x, axis}), {3}, {30, 15, 5});
  expect_floats(run({"CumProd", 26, {{"exclusive", int64_t{1}}}}, {x, axis}), {3}, {1, 2, 6});
  expect_floats(run({"CumProd", 26, {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}}}, {x, axis}), {3},
                {15, 5, 1});
}

TEST(Composed, WindowsAreSumsOfCosines) {
  const HostTensor four = ints({}, {4});
  expect_floats(run({"HannWindow", 17, {}}, {four}), {4}, {0, 0.5f, 1, 0.5f});
  expect_floats(run({"HannWindow", 17, {{"periodic", int64_t{0}}}}, {four}), {4}, {0, 0.75f, 0.75f, 0});
  expect_floats(run({"HammingWindow", 17, {}}, {four}), {4}, {4.0f / 46, 25.0f / 46, 1, 25.0f / 46});
  expect_floats(run({"BlackmanWindow", 17, {}}, {four}), {4}, {0, 0.34f, 1, 0.34f});
}

TEST(Composed, RmsNormalizationDoesNotCentre) {
  // The root of the mean of squares of (1, 7) is 5.
  expect_floats(
      run({"RMSNormalization", 23, {{"epsilon", 0.0f}}}, {floats({1, 2}, {1, 7}), floats({2}, {5, 10})}),
      {1, 2}, {1, 14});
}

TEST(Composed, RotaryEmbeddingTurnsHalvesOrNeighbours) {
  // One head of four channels, turned by a right angle: (a, b) becomes (-b, a).
  const HostTensor x = floats({1, 1, 1, 4}, {1, 2, 3, 4}), cosine = floats({1, 1, 2}, {0, 0}),
                   sine = floats({1, 1, 2}, {1, 1});
  expect_floats(run({"RotaryEmbedding", 23, {}}, {x, cosine, sine}), {1, 1, 1, 4}, {-3, -4, 1, 2});
  expect_floats(run({"RotaryEmbedding", 23, {{"interleaved", int64_t{1}}}}, {x, cosine, sine}), {1, 1, 1, 4},
                {-2, 1, -4, 3});
  // Rotates two channels only, by an angle that the position selects.
  const HostTensor tables[] = {floats({2, 1}, {1, 0}), floats({2, 1}, {0, 1})};
  expect_floats(
      run({"RotaryEmbedding", 23, {{"rotary_embedding_dim", int64_t{2}}, {"num_heads", int64_t{1}}}},
          {floats({1, 2, 3}, {1, 2, 3, 4, 5, 6}), tables[0], tables[1], ints({1, 2}, {0, 1})}),
      {1, 2, 3}, {1, 2, 3, -5, 4, 6});
}

TEST(Composed, CenterCropPadCropsAndPadsEachAxis) {
  const HostTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_floats(run({"CenterCropPad", 18, {}}, {x, ints({2}, {1, 6})}), {1, 6}, {0, 1, 2, 3, 0, 0});
  expect_floats(run({"CenterCropPad", 18, {{"axes", Ints{-1}}}}, {x, ints({1}, {1})}), {2, 1}, {2, 5});
}

TEST(Composed, ExperimentalOperatorsOfOldFiles) {
  const HostTensor x = floats({2}, {1, -2});
  expect_floats(run({"Affine", 8, {{"alpha", 2.0f}, {"beta", 3.0f}}}, {x}), {2}, {5, -1});
  expect_floats(run({"ScaledTanh", 8, {{"alpha", 2.0f}, {"beta", 0.5f}}}, {x}), {2},
                {2 * std::tanh(0.5f), 2 * std::tanh(-1.0f)});
  expect_floats(run({"ParametricSoftplus", 8, {{"alpha", 2.0f}, {"beta", 0.5f}}}, {x}), {2},
                {2 * std::log1p(std::exp(0.5f)), 2 * std::log1p(std::exp(-1.0f))});
  const HostTensor picture = counting({1, 2, 3, 4});
  expect_floats(run({"ImageScaler", 8, {{"scale", 0.5f}, {"bias", Attributes::Floats{1, -1}}}},
                    {counting({1, 2, 1, 2})}),
                {1, 2, 1, 2}, {1, 1.5f, 0, 0.5f});
  expect_floats(run({"Crop", 8, {{"border", Ints{1, 0, 2, 1}}}}, {picture}), {1, 2, 2, 1}, {1, 5, 13, 17});
  expect_floats(run({"Crop", 8, {{"border", Ints{1, 1, 0, 0}}, {"scale", Ints{1, 2}}}}, {picture}),
                {1, 2, 1, 2}, {5, 6, 17, 18});
}

TEST(Composed, Col2ImAddsWindowsThatOverlap) {
  // Windows of 1x2 in a row of 3: the middle is in both.
  expect_floats(
      run({"Col2Im", 18, {}}, {floats({1, 2, 2}, {1, 2, 10, 20}), ints({2}, {1, 3}), ints({2}, {1, 2})}),
      {1, 1, 1, 3}, {1, 12, 20});
}

TEST(Composed, AffineGridMovesPositions) {
  const HostTensor theta = floats({1, 2, 3}, {2, 0, 0.5f, 0, 1, 0});
  expect_floats(run({"AffineGrid", 20, {}}, {theta, ints({4}, {1, 1, 1, 2})}), {1, 1, 2, 2},
                {-0.5f, 0, 1.5f, 0});
  expect_floats(run({"AffineGrid", 20, {{"align_corners", int64_t{1}}}}, {theta, ints({4}, {1, 1, 2, 2})}),
                {1, 2, 2, 2}, {-1.5f, -1, 2.5f, -1, -1.5f, 1, 2.5f, 1});
}

TEST(Composed, DeformConvReadsAtOffsets) {
  const HostTensor x = floats({1, 1, 2, 3}, {0, 1, 2, 10, 11, 12}), w = floats({1, 1, 1, 1}, {2});
  // Each place reads half an element to the right: of the last one half is outside.
  const HostTensor offset = floats({1, 2, 2, 3}, {0, 0, 0, 0, 0, 0, .5f, .5f, .5f, .5f, .5f, .5f});
  expect_floats(run({"DeformConv", 19, {}}, {x, w, offset}), {1, 1, 2, 3}, {1, 3, 2, 21, 23, 12});
  const HostTensor mask = floats({1, 1, 2, 3}, {0, 1, 1, 1, 1, .5f}), bias = floats({1}, {100});
  expect_floats(run({"DeformConv", 19, {}}, {x, w, offset, bias, mask}), {1, 1, 2, 3},
                {100, 103, 102, 121, 123, 106});
}

TEST(Composed, WindowsOfAbsurdSizesAreRefused) {
  const int64_t most = std::numeric_limits<int64_t>::max(), half = int64_t{1} << 32;
  EXPECT_THROW(run({"Col2Im", 18, {}},
                   {floats({1, 2, 2}, {1, 2, 10, 20}), ints({2}, {half, half}), ints({2}, {half, half})}),
               Error);
  const HostTensor x = floats({1, 1, 1, 1}, {1}), offset = floats({1, 2, 1, 1}, {0, 0});
  const Ints pads{-most - 1, 0, most, 0};
  EXPECT_THROW(run({"DeformConv", 19, {{"pads", pads}}}, {x, x, offset}), Error);
}

TEST(Composed, TensorScatterWritesFromEachImagesPlace) {
  const HostTensor cache = floats({2, 3, 1}, {1, 2, 3, 4, 5, 6}),
                   update = floats({2, 2, 1}, {10, 20, 30, 40});
  expect_floats(run({"TensorScatter", 24, {}}, {cache, update, ints({2}, {0, 1})}), {2, 3, 1},
                {10, 20, 3, 4, 30, 40});
  expect_floats(
      run({"TensorScatter", 24, {{"mode", std::string("circular")}}}, {cache, update, ints({2}, {0, 2})}),
      {2, 3, 1}, {10, 20, 3, 40, 5, 30});
}

TEST(Composed, CausalConvWithStateContinuesTheSequence) {
  const HostTensor x = floats({1, 1, 3}, {1, 2, 3}), w = floats({1, 1, 2}, {10, 1}),
                   past = floats({1, 1, 1}, {5});
  expect_floats(run({"CausalConvWithState", 27, {}}, {x, w}), {1, 1, 3}, {1, 12, 23});
  expect_floats(run({"CausalConvWithState", 27, {}}, {x, w, std::nullopt, past}), {1, 1, 3}, {51, 12, 23});
}

TEST(Composed, BatchNormalizationInTrainingUsesTheBatch) {
  const HostTensor x = floats({2, 1, 1}, {1, 3}), one = floats({1}, {1}), two = floats({1}, {2});
  expect_floats(run({"BatchNormalization", 15, {{"training_mode", int64_t{1}}, {"epsilon", 0.0f}}},
                    {x, two, one, one, one}),
                {2, 1, 1}, {-1, 3});
}

TEST(Composed, AttentionWithACacheOfKeys) {
  // All keys are equal, so that the result is the mean of the values that may be attended to.
  const HostTensor q = floats({1, 1, 2, 1}, {1, 1}), k = floats({1, 1, 2, 1}, {0, 0}),
                   v = floats({1, 1, 2, 1}, {3, 6}), past_k = floats({1, 1, 1, 1}, {0}),
                   past_v = floats({1, 1, 1, 1}, {9});
  const auto attention = [&](std::vector<std::pair<std::string, Attributes::Value>> attributes) {
    return run({"Attention", 24, std::move(attributes)}, {q, k, v, std::nullopt, past_k, past_v});
  };
  expect_floats(attention({}), {1, 1, 2, 1}, {6, 6});
  expect_floats(attention({{"is_causal", int64_t{1}}}), {1, 1, 2, 1}, {6, 6});
  expect_floats(attention({{"left_window_size", int64_t{0}}, {"softcap", 2.0f}}), {1, 1, 2, 1}, {4.5f, 6});
}

TEST(Composed, AttentionAddsMasksOfEveryType) {
  // Scores of log 3 and 0 weigh the values 3 to 1.
  const HostTensor q = floats({1, 1, 1, 1}, {0}), k = floats({1, 1, 2, 1}, {0, 0}),
                   v = floats({1, 1, 2, 1}, {4, 8});
  const float third = std::log(3.0f);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const HostTensor mask = HostTensor::from<float>(dtype, {1, 2}, std::vector<float>{third, 0});
    expect_floats(run({"Attention", 24, {}}, {q, k, v, mask}), {1, 1, 1, 1}, {5});
  }
  for (const DType dtype : {DType::i64, DType::i32, DType::u8}) {
    const HostTensor mask = HostTensor::from<int64_t>(dtype, {1, 2}, Ints{0, 100});
    expect_floats(run({"Attention", 24, {}}, {q, k, v, mask}), {1, 1, 1, 1}, {8});
  }
  // Keys after the end of the mask are excluded.
  const HostTensor keys = floats({1, 1, 3, 1}, {0, 0, 0}), values = floats({1, 1, 3, 1}, {4, 8, 100});
  expect_floats(run({"Attention", 24, {}}, {q, keys, values, floats({1, 2}, {third, 0})}), {1, 1, 1, 1}, {5});
}

// Two tokens of one head with keys and values of two channels.
TEST(Composed, LinearAttentionUpdatesItsState) {
  const HostTensor q = floats({1, 2, 2}, {1, 0, 0, 1}), k = floats({1, 2, 2}, {1, 0, 1, 1});
  const HostTensor v = floats({1, 2, 2}, {2, 3, 5, 7});
  const auto attend = [&](const char* rule, const OptionalTensors& more) {
    OptionalTensors inputs{q, k, v};
    inputs.insert(inputs.end(), more.begin(), more.end());
    const Spec spec{"LinearAttention",
                    27,
                    {{"q_num_heads", int64_t{1}},
                     {"kv_num_heads", int64_t{1}},
                     {"scale", 1.0f},
                     {"update_rule", std::string(rule)}},
                    2};
    return run_all(*make(spec, inputs), inputs);
  };
  const auto linear = attend("linear", {});
  expect_floats(linear[0], {1, 2, 2}, {2, 3, 5, 7});
  expect_floats(linear[1], {1, 1, 2, 2}, {7, 10, 5, 7});
  const HostTensor halve = floats({1, 2, 1}, {0, std::log(0.5f)}), rate = floats({1, 2, 1}, {1, 2});
  expect_floats(attend("gated", {std::nullopt, halve})[1], {1, 1, 2, 2}, {6, 8.5f, 5, 7});
  // The second key reads (2, 3) of the state, so that 2 * (3, 4) are added.
  expect_floats(attend("delta", {std::nullopt, std::nullopt, rate})[1], {1, 1, 2, 2}, {8, 11, 6, 8});
  expect_floats(attend("gated_delta", {std::nullopt, halve, rate})[1], {1, 1, 2, 2}, {9, 12.5f, 8, 11});
  expect_floats(attend("linear", {floats({1, 1, 2, 2}, {1, 1, 1, 1})})[1], {1, 1, 2, 2}, {8, 11, 6, 8});
  expect_error(ErrorCode::corrupt_model, "no 1 heads", [&] {
    run({"LinearAttention", 27, {{"q_num_heads", int64_t{1}}, {"kv_num_heads", int64_t{1}}}},
        {floats({2}, {1, 2}), k, v});
  });
}

TEST(Composed, FlexAttentionScoresAndValuesShareHeads) {
  const HostTensor q = floats({1, 2, 1, 1}, {1, 2}), k = floats({1, 1, 2, 1}, {3, 5});
  expect_floats(run({"FlexAttentionScores", 17, {{"scale", 0.5f}}}, {q, k}), {1, 2, 1, 2},
                {1.5f, 2.5f, 3, 5});
  const HostTensor p = floats({1, 2, 1, 2}, {0, 1, 0.5f, 0.5f});
  expect_floats(run({"FlexAttentionValues", 17, {}}, {p, k}), {1, 2, 1, 1}, {5, 4});
}

TEST(Composed, MelWeightsAreTriangles) {
  const HostTensor weights =
      run({"MelWeightMatrix", 17, {}},
          {ints({}, {2}), ints({}, {16}), ints({}, {8192}), floats({}, {0}), floats({}, {4096})});
  EXPECT_EQ(weights.shape(), (Shape{9, 2}));
  const auto values = weights.to_floats();
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 1.0f);
  expect_refused({"MelWeightMatrix", 17, {}},
                 {ints({}, {2}), ints({}, {16}), ints({}, {8192}), floats({}, {0}), floats({}, {80000})},
                 "beyond half");
}

TEST(Determinant, IsThatOfEachMatrix) {
  expect_floats(run({"Det", 11, {}}, {floats({2, 2}, {0, 1, 2, 3})}), {}, {-2});
  expect_floats(run({"Det", 11, {}}, {floats({2, 2, 2}, {1, 2, 2, 4, 2, 0, 0, 3})}), {2}, {0, 6});
  expect_refused({"Det", 11, {}}, {floats({2, 1}, {0, 1})}, "square");
}

// Mean and variance of a tensor.
std::pair<double, double> moments(const HostTensor& tensor) {
  double sum = 0, squares = 0;
  for (const float value : tensor.to_floats()) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto count = static_cast<double>(tensor.elements());
  return {sum / count, squares / count - sum / count * sum / count};
}

TEST(Random, FollowsItsDistributionAndItsSeed) {
  const auto draw = [](const char* type, const Attributes::Floats& both, float seed) {
    const bool normal = std::string(type) == "RandomNormal";
    return run({type,
                17,
                {{"shape", Ints{100, 200}},
                 {normal ? "mean" : "low", both[0]},
                 {normal ? "scale" : "high", both[1]},
                 {"seed", seed}}},
               {});
  };
  const auto [mean, variance] = moments(draw("RandomNormal", {3, 2}, 1));
  EXPECT_NEAR(mean, 3, 0.06);
  EXPECT_NEAR(variance, 4, 0.2);
  const HostTensor uniform = draw("RandomUniform", {-1, 5}, 1);
  EXPECT_NEAR(moments(uniform).first, 2, 0.05);
  EXPECT_NEAR(moments(uniform).second, 3, 0.1);
  for (const float value : uniform.to_floats()) EXPECT_TRUE(value >= -1 && value <= 5);
  EXPECT_EQ(uniform.to_floats(), draw("RandomUniform", {-1, 5}, 1).to_floats());
  EXPECT_NE(uniform.to_floats(), draw("RandomUniform", {-1, 5}, 2).to_floats());
  const HostTensor like = floats({2, 3}, {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(run({"RandomNormalLike", 17, {}}, {like}).shape(), (Shape{2, 3}));
  EXPECT_EQ(run({"RandomUniformLike", 17, {{"dtype", int64_t{11}}}}, {like}).dtype(), DType::f64);
}

// The sum of (drawn - expected)^2 / expected. Of 7 degrees of freedom, a larger one than 24.3 has a
// probability of 0.001.
double chi_square(const std::vector<int64_t>& drawn, const Floats& logits) {
  double sum = 0, result = 0;
  for (const float x : logits) sum += std::exp(double{x});
  for (size_t i = 0; i < logits.size(); ++i) {
    const double expected = std::exp(double{logits[i]}) / sum * static_cast<double>(drawn.size());
    const double count = static_cast<double>(std::ranges::count(drawn, static_cast<int64_t>(i)));
    result += (count - expected) * (count - expected) / expected;
  }
  return result;
}

TEST(Random, MultinomialDrawsClassesByTheirProbabilities) {
  const Floats logits{0.0f, -1.0f, 1.5f, 0.25f, -2.5f, 0.75f, -0.5f, 1.0f};
  const auto draws = [&](float seed, const HostTensor& x, int64_t samples) {
    return run({"Multinomial", 7, {{"sample_size", samples}, {"seed", seed}}}, {x}).to_ints();
  };
  const HostTensor row = floats({1, 8}, logits);
  for (const float seed : {1.0f, 2.0f, 77.5f}) EXPECT_LT(chi_square(draws(seed, row, 20000), logits), 24.3);
  // Rows of one input, and inputs of several runs whose logits differ by a constant, are independent, too.
  Floats rows;
  std::vector<int64_t> of_runs;
  for (int i = 0; i < 20000; ++i) {
    Floats shifted = logits;
    for (float& x : shifted) x += static_cast<float>(i) / 1024;
    const std::vector<int64_t> one = draws(5.0f, floats({1, 8}, shifted), 1);
    of_runs.push_back(one[0]);
    rows.insert(rows.end(), logits.begin(), logits.end());
  }
  EXPECT_LT(chi_square(of_runs, logits), 24.3);
  EXPECT_LT(chi_square(draws(5.0f, floats({20000, 8}, rows), 1), logits), 24.3);
  // Pairs of samples one after the other.
  const std::vector<int64_t> many = draws(9.0f, row, 40000);
  std::vector<int64_t> after_most;
  for (size_t i = 0; i + 1 < many.size(); ++i)
    if (many[i] == 2) after_most.push_back(many[i + 1]);
  EXPECT_LT(chi_square(after_most, logits), 24.3);
  EXPECT_EQ(draws(1.0f, row, 50), draws(1.0f, row, 50));
  EXPECT_NE(draws(1.0f, row, 50), draws(2.0f, row, 50));
}

TEST(Random, MultinomialNeverDrawsAnImpossibleClass) {
  const HostTensor x = floats({1, 3}, {-INFINITY, 0.0f, -INFINITY});
  for (const int64_t drawn : run({"Multinomial", 7, {{"sample_size", int64_t{1000}}}}, {x}).to_ints())
    ASSERT_EQ(drawn, 1);
  EXPECT_EQ(run({"Multinomial", 7, {{"dtype", int64_t{7}}}}, {x}).type(), (TensorType{DType::i64, {1, 1}}));
  expect_refused({"Multinomial", 7, {{"dtype", int64_t{1}}}}, {x}, "samples of type float32");
  expect_refused({"Multinomial", 7, {{"sample_size", int64_t{0}}}}, {x}, "sample_size is 0");
}

TEST(Random, BernoulliDrawsOnesWithTheProbabilityOfEachElement) {
  const HostTensor p(HostTensor::f32({3, 10000}, [] {
    Floats values(30000, 0.25f);
    std::fill(values.begin(), values.begin() + 10000, 0.0f);
    std::fill(values.begin() + 10000, values.begin() + 20000, 1.0f);
    return values;
  }()));
  const auto drawn = run({"Bernoulli", 15, {{"seed", 3.0f}}}, {p}).to_floats();
  const auto ones = [&](ptrdiff_t row) {
    return std::count(drawn.begin() + row * 10000, drawn.begin() + (row + 1) * 10000, 1.0f);
  };
  EXPECT_EQ(ones(0), 0);
  EXPECT_EQ(ones(1), 10000);
  EXPECT_NEAR(static_cast<double>(ones(2)), 2500, 200);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 0.0f) + ones(1) + ones(2), 30000);
}

}  // namespace
}  // namespace vellum::testing
