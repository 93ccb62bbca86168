// MoE of com.microsoft. tests/oracles/onnx_contrib.py prints these values, which ONNX Runtime computes: the
// products of each row with eighths({8}, 9).
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

using AttributeValues = std::vector<std::pair<std::string, Attributes::Value>>;

// Four experts of six hidden units, two for each token. Five tokens have the results of each of them alone:
// the weights of one or two tokens' experts are gathered, those of more are all read.
struct Mixture {
  AttributeValues attributes;
  bool bias = true, is_fused = false;

  Spec spec() const {
    Spec result{"com.microsoft.MoE", 1, attributes};
    result.attributes.emplace_back("k", int64_t{2});
    return result;
  }

  OptionalTensors inputs(int64_t tokens) const {
    const int64_t rows = is_fused ? 12 : 6;
    OptionalTensors result{eighths({tokens, 8}, 1),  eighths({tokens, 4}, 2),
                           eighths({4, rows, 8}, 3), std::nullopt,
                           eighths({4, 8, 6}, 4),    std::nullopt};
    if (bias) result[3] = eighths({4, rows}, 5), result[5] = eighths({4, 8}, 6);
    return result;
  }
};

void expect_tokens(const Mixture& mixture, const Floats& expected) {
  for (const int64_t tokens : {1, 2, 5}) {
    const OptionalTensors inputs = mixture.inputs(tokens);
    const Floats y = run(mixture.spec(), inputs).to_floats(), factors = eighths({8}, 9).to_floats();
    ASSERT_EQ(std::ssize(y), tokens * 8);
    for (size_t i = 0; i < y.size() / 8; ++i)
      EXPECT_NEAR(std::inner_product(factors.begin(), factors.end(), &y[8 * i], 0.0f), expected[i], 1e-5f)
          << "token " << i << " of " << tokens;
  }
}

TEST(Experts, AreChosenByTheirProbabilities) {
  expect_tokens({.attributes = {{"activation_type", std::string("silu")}}, .bias = false},
                {0.39530558f, 1.7963762f, 1.2917552f, -1.4149463f, -1.102716f});
  expect_tokens({.attributes = {{"activation_type", std::string("gelu")}}},
                {2.7914092f, 2.3810458f, 1.2076523f, -0.43354753f, -0.81563406f});
}

TEST(Experts, NormaliseTheWeightsOfTheChosen) {
  expect_tokens(
      {.attributes = {{"activation_type", std::string("relu")}, {"normalize_routing_weights", int64_t{1}}}},
      {3.9090854f, 3.4478647f, 1.6356442f, -0.53565795f, -1.0595026f});
}

TEST(Experts, HaveGatesAndLinearPartsInTurns) {
  expect_tokens({.attributes = {{"activation_type", std::string("swiglu")},
                                {"swiglu_fusion", int64_t{1}},
                                {"activation_alpha", 1.5f},
                                {"activation_beta", 1.0f},
                                {"swiglu_limit", 0.75f}},
                 .is_fused = true},
                {1.7047952f, 0.079367496f, 0.46844118f, 0.29617661f, 0.30011945f});
}

// ONNX Runtime's kernel for CPUs has only gates and linear parts in turns. The other forms are the same
// numbers in another order.
TEST(Experts, HaveTheirLinearPartsElsewhere) {
  Mixture mixture{.attributes = {{"activation_type", std::string("swiglu")}, {"swiglu_fusion", int64_t{1}}},
                  .is_fused = true};
  for (const int64_t tokens : {1, 5}) {
    OptionalTensors turns = mixture.inputs(tokens), halves = turns, apart = turns;
    for (const size_t input : {2, 3}) {
      const int64_t width = input == 2 ? 8 : 1;
      const Floats rows = turns[input]->to_floats();
      Floats sorted(rows.size());
      std::array<Floats, 2> parts;
      for (int64_t i = 0; i < std::ssize(rows); ++i) {
        const int64_t expert = i / (12 * width), row = i / width % 12, part = row % 2;
        sorted[static_cast<size_t>((expert * 12 + part * 6 + row / 2) * width + i % width)] =
            rows[static_cast<size_t>(i)];
        parts[static_cast<size_t>(part)].push_back(rows[static_cast<size_t>(i)]);
      }
      halves[input] = floats(turns[input]->shape(), sorted);
      Shape half = turns[input]->shape();
      half[1] = 6;
      apart[input] = floats(half, parts[0]);
      apart.push_back(floats(half, parts[1]));
    }
    const Floats expected = run(mixture.spec(), turns).to_floats();
    Spec spec = mixture.spec();
    spec.attributes[1].second = int64_t{2};
    EXPECT_EQ(run(spec, halves).to_floats(), expected);
    spec.attributes[1].second = int64_t{0};
    EXPECT_EQ(run(spec, apart).to_floats(), expected);
  }
}

TEST(Experts, InfinitiesOfOthersDoNotReachAToken) {
  const Mixture mixture{.attributes = {{"activation_type", std::string("relu")}}};
  OptionalTensors inputs = mixture.inputs(5);
  Floats router(20, 0.0f);
  for (size_t token = 0; token < 5; ++token) router[4 * token] = router[4 * token + 1] = 100.0f;
  inputs[1] = floats({5, 4}, router);
  inputs[5]->mutable_as<float>()[3 * 8] = std::numeric_limits<float>::infinity();
  for (const float value : run(mixture.spec(), inputs).to_floats()) EXPECT_TRUE(std::isfinite(value));
}

TEST(Experts, RefuseWhatDoesNotFit) {
  const Mixture mixture{.attributes = {{"activation_type", std::string("relu")}}};
  OptionalTensors inputs = mixture.inputs(1);
  inputs[1] = eighths({1, 3}, 2);
  expect_refused(mixture.spec(), inputs, "for 3 experts of 8 channels");
  inputs[1] = eighths({1, 1}, 2);
  expect_refused(mixture.spec(), inputs, "of which each has 2 experts");
  Spec spec = mixture.spec();
  spec.attributes[0].second = std::string("geglu");
  expect_refused(spec, mixture.inputs(1), "activation geglu", ErrorCode::unsupported);
  spec.attributes[0].second = std::string("swiglu");
  expect_refused(spec, mixture.inputs(1), "swiglu_fusion is 0 without fc3");
}

}  // namespace
}  // namespace vellum::testing
