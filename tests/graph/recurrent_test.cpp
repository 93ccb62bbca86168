// RNN, GRU and LSTM (graph/operators/matmul/recurrent.cpp), against numbers computed by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

float sigmoid(float value) { return 1.0f / (1.0f + std::exp(-value)); }

// One hidden unit, whose gates all have the weights w and r.
HostTensor two_steps() { return floats({2, 1, 1}, {1, 2}); }
HostTensor weights(int64_t gates, float value) {
  return floats({1, gates, 1}, std::vector<float>(static_cast<size_t>(gates), value));
}

TEST(Recurrent, RnnAddsTheProductOfItsState) {
  const float h1 = std::tanh(0.5f), h2 = std::tanh(1.0f + 0.25f * h1);
  expect_floats(
      run({"RNN", 14, {{"hidden_size", int64_t{1}}}}, {two_steps(), weights(1, 0.5f), weights(1, 0.25f)}),
      {2, 1, 1, 1}, {h1, h2});
}

TEST(Recurrent, ReversedWalksFromTheEnd) {
  const float h2 = std::tanh(1.0f), h1 = std::tanh(0.5f + 0.25f * h2);
  expect_floats(run({"RNN", 14, {{"direction", std::string("reverse")}}},
                    {two_steps(), weights(1, 0.5f), weights(1, 0.25f)}),
                {2, 1, 1, 1}, {h1, h2});
}

TEST(Recurrent, GruMixesItsStateAndTheCandidate) {
  const float z1 = sigmoid(0.5f), h1 = (1 - z1) * std::tanh(0.5f);
  const float z2 = sigmoid(1.0f + 0.25f * h1), r2 = z2;
  const float before = (1 - z2) * std::tanh(1.0f + 0.25f * (r2 * h1)) + z2 * h1;
  expect_floats(run({"GRU", 14, {}}, {two_steps(), weights(3, 0.5f), weights(3, 0.25f)}), {2, 1, 1, 1},
                {h1, before});
  // With a bias of the candidate's product, which r scales too.
  const HostTensor bias = floats({1, 6}, {0, 0, 0, 0, 0, 1});
  const float l1 = (1 - z1) * std::tanh(0.5f + z1);
  const float z = sigmoid(1.0f + 0.25f * l1);
  const float l2 = (1 - z) * std::tanh(1.0f + z * (0.25f * l1 + 1.0f)) + z * l1;
  expect_floats(run({"GRU", 14, {{"linear_before_reset", int64_t{1}}}},
                    {two_steps(), weights(3, 0.5f), weights(3, 0.25f), bias}),
                {2, 1, 1, 1}, {l1, l2});
}

TEST(Recurrent, LstmKeepsACell) {
  const float g1 = sigmoid(0.5f), c1 = g1 * std::tanh(0.5f), h1 = g1 * std::tanh(c1);
  const float a2 = 1.0f + 0.25f * h1, g2 = sigmoid(a2);
  const float c2 = g2 * c1 + g2 * std::tanh(a2), h2 = g2 * std::tanh(c2);
  expect_floats(run({"LSTM", 14, {}}, {two_steps(), weights(4, 0.5f), weights(4, 0.25f)}), {2, 1, 1, 1},
                {h1, h2});
}

TEST(Recurrent, WrongShapesAndNamesAreRefused) {
  const auto refused = [](const Spec& spec, const OptionalTensors& inputs) {
    EXPECT_THROW(run(spec, inputs), Error);
  };
  refused({"LSTM", 14, {}}, {two_steps(), weights(3, 0.5f), weights(3, 0.25f)});
  refused({"RNN", 14, {{"hidden_size", int64_t{2}}}}, {two_steps(), weights(1, 0.5f), weights(1, 0.25f)});
  refused({"RNN", 14, {{"direction", std::string("up")}}},
          {two_steps(), weights(1, 0.5f), weights(1, 0.25f)});
  refused({"RNN", 14, {{"activations", Attributes::Strings{"Tanh", "Tanh"}}}},
          {two_steps(), weights(1, 0.5f), weights(1, 0.25f)});
  refused({"RNN", 14, {{"activations", Attributes::Strings{"Swirl"}}}},
          {two_steps(), weights(1, 0.5f), weights(1, 0.25f)});
  const OptionalTensors too_long{two_steps(), weights(1, 0.5f), weights(1, 0.25f), std::nullopt,
                                 ints({1}, {3})};
  refused({"RNN", 14, {}}, too_long);
}

}  // namespace
}  // namespace vellum::testing
