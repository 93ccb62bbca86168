// MoE and QMoE of com.microsoft. tests/oracles/onnx_contrib.py prints these values, which ONNX Runtime
// computes: the products of each row with eighths({8}, 9).
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

// Packed weights of four experts of 32 hidden units, with gates and linear parts in turns. ONNX Runtime's
// kernel for blocks of 8 bits rounds activations to 8 bits.
struct PackedMixture {
  int64_t bits = 4, block = 0;
  bool zeros = false;

  Spec spec() const {
    Spec result{"com.microsoft.QMoE",
                1,
                {{"activation_type", std::string("swiglu")},
                 {"swiglu_fusion", int64_t{1}},
                 {"k", int64_t{2}},
                 {"expert_weight_bits", bits},
                 {"normalize_routing_weights", int64_t{1}}}};
    if (block > 0) result.attributes.emplace_back("block_size", block);
    return result;
  }

  HostTensor scales(int64_t rows, int64_t seed) const {
    HostTensor result = eighths(block > 0 ? Shape{4, rows, 32 / block} : Shape{4, rows}, seed);
    const auto factor = static_cast<float>(1 << (bits + 2));
    for (float& scale : result.mutable_as<float>()) scale = (1.0f + std::fabs(scale)) / factor;
    return result;
  }

  OptionalTensors inputs(int64_t tokens) const {
    OptionalTensors result{eighths({tokens, 32}, 1),
                           eighths({tokens, 4}, 2),
                           octets({4, 64, 32 * bits / 8}, 3),
                           scales(64, 5),
                           eighths({4, 64}, 7),
                           octets({4, 32, 32 * bits / 8}, 4),
                           scales(32, 6),
                           eighths({4, 32}, 8)};
    result.resize(11);
    const int64_t bytes = block > 0 ? (32 / block * bits + 7) / 8 : 0;
    if (zeros)
      result.emplace_back(octets({4, 64, bytes}, 9)), result.emplace_back(octets({4, 32, bytes}, 10));
    return result;
  }
};

void expect_packed(const PackedMixture& mixture, const Floats& expected, float tolerance = 2e-5f) {
  SCOPED_TRACE(std::to_string(mixture.bits) + " bits, block " + std::to_string(mixture.block));
  for (const int64_t tokens : {1, 5}) {
    const Floats y = run(mixture.spec(), mixture.inputs(tokens)).to_floats(),
                 factors = eighths({32}, 9).to_floats();
    ASSERT_EQ(std::ssize(y), tokens * 32);
    for (size_t i = 0; i < y.size() / 32; ++i)
      EXPECT_NEAR(std::inner_product(factors.begin(), factors.end(), &y[32 * i], 0.0f), expected[i],
                  tolerance)
          << "token " << i << " of " << tokens;
  }
}

TEST(PackedExperts, HaveWeightsOfEightAndFourBits) {
  expect_packed({4}, {-1.3948234f, 2.0040391f, 1.6049542f, 2.2709094f, 2.309916f});
  expect_packed({8}, {-1.1983562f, 2.3072283f, 1.4294614f, 2.1507607f, 2.2751059f});
}

TEST(PackedExperts, HaveBlocksAndZeroPoints) {
  expect_packed({4, 16}, {-1.270813f, 2.409167f, 1.5146829f, 2.3023827f, 2.0506166f});
  expect_packed({4, 16, true}, {-1.1351439f, 2.5755112f, 1.6955729f, 2.5508639f, 2.1425251f});
  expect_packed({8, 16}, {-1.2217006f, 2.3411131f, 1.3531259f, 2.222655f, 2.3099182f}, 0.02f);
  expect_packed({8, 16, true}, {-1.4899713f, 1.5260269f, 2.333004f, 1.2787418f, 0.74196545f}, 0.03f);
}

// With a tensor of their own, the weights of experts do not follow from the scores that choose them.
TEST(PackedExperts, TakeTheWeightsOfChosenExpertsElsewhere) {
  const PackedMixture mixture{.bits = 4, .block = 16};
  for (const int64_t tokens : {1, 5}) {
    OptionalTensors inputs = mixture.inputs(tokens);
    const Floats expected = run(mixture.spec(), inputs).to_floats();
    inputs.resize(15);
    Floats weights;  // of the softmax, but for a factor
    for (const float score : inputs[1]->to_floats()) weights.push_back(3.0f * std::exp(score));
    inputs[14] = floats({tokens, 4}, weights);
    const Floats y = run(mixture.spec(), inputs).to_floats();
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-5f) << i;
  }
}

TEST(PackedExperts, RefuseWhatDoesNotFit) {
  const PackedMixture mixture{.bits = 4, .block = 16};
  const OptionalTensors inputs = mixture.inputs(1);
  Spec spec = mixture.spec();
  spec.attributes.emplace_back("weights_prepacked", int64_t{1});
  expect_refused(spec, inputs, "in the order of another runtime", ErrorCode::unsupported);
  spec = mixture.spec();
  spec.attributes.emplace_back("quant_type", std::string("nvfp4"));
  expect_refused(spec, inputs, "of the type nvfp4", ErrorCode::unsupported);
  spec = mixture.spec();
  spec.attributes[3].second = int64_t{2};
  expect_refused(spec, inputs, "QMoE of 2 bits", ErrorCode::unsupported);
  OptionalTensors missing = inputs;
  missing[3].reset();
  expect_refused(mixture.spec(), missing, "without scales");
  spec = PackedMixture{.bits = 4}.spec();
  expect_refused(spec, PackedMixture{.bits = 4, .block = 16, .zeros = true}.inputs(1),
                 "zero points of whole rows", ErrorCode::unsupported);
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
