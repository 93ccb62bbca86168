// MoE of com.microsoft: experts whose weights are gathered, and all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace experts_test {

OperatorCase mixture(int64_t tokens, const std::string& activation, int64_t fusion) {
  const int64_t rows = fusion == 0 ? 12 : 24;
  // Distances of router values decide which experts a token has; in fp16 they stay apart.
  HostTensor router = random_tensor({tokens, 6}, 2, 0.0f, 0.1f);
  size_t i = 0;
  for (float& value : router.mutable_as<float>()) value += static_cast<float>(i * 5 % 7), ++i;
  OperatorCase test{.type = "com.microsoft.MoE",
                    .inputs = {random_tensor({tokens, 20}, 1), router,
                               random_tensor({6, rows, 20}, 3, -0.5f, 0.5f), random_tensor({6, rows}, 4),
                               random_tensor({6, 20, 12}, 5, -0.5f, 0.5f), random_tensor({6, 20}, 6)},
                    .constants = {2, 3, 4, 5},
                    .opset = 1};
  test.attributes.set("activation_type", activation);
  test.attributes.set("k", int64_t{2});
  test.attributes.set("swiglu_fusion", fusion);
  test.attributes.set("normalize_routing_weights", int64_t{1});
  test.sweep.arithmetic_fp16 = false;
  return test;
}

TEST(Experts, OfFewAndManyTokens) {
  for (const int64_t tokens : {1, 3, 10}) {
    check_operator(mixture(tokens, "swiglu", 1));
    check_operator(mixture(tokens, "silu", 0));
  }
}

// Weights of 4 and 8 bits: those of few tokens are expanded together, those of more one expert at a time.
OperatorCase packed_mixture(int64_t tokens, int64_t bits) {
  OperatorCase test = mixture(tokens, "swiglu", 1);
  const auto bytes = [&](Shape shape, uint32_t seed) {
    const HostTensor values = random_tensor(std::move(shape), seed, 0.0f, 255.0f);
    std::vector<int64_t> codes;
    for (const float value : values.as<float>()) codes.push_back(static_cast<int64_t>(value));
    return HostTensor::from<int64_t>(DType::u8, values.shape(), codes);
  };
  const float scale = 1.0f / static_cast<float>(1 << bits);
  const auto scales = [&](int64_t rows, uint32_t seed) {
    return random_tensor({6, rows, 2}, seed, 0.2f * scale, scale);
  };
  test.type = "com.microsoft.QMoE";
  test.inputs = {random_tensor({tokens, 32}, 1),
                 test.inputs[1],
                 bytes({6, 64, 4 * bits}, 3),
                 scales(64, 4),
                 random_tensor({6, 64}, 5),
                 bytes({6, 32, 4 * bits}, 6),
                 scales(32, 7),
                 random_tensor({6, 32}, 8)};
  test.constants = {2, 3, 4, 5, 6, 7};
  test.attributes.set("expert_weight_bits", bits);
  test.attributes.set("block_size", int64_t{16});
  return test;
}

TEST(PackedExperts, OfFewAndManyTokens) {
  for (const int64_t bits : {4, 8})
    for (const int64_t tokens : {1, 10}) check_operator(packed_mixture(tokens, bits));
}

// The largest tensor has the 6,144 bytes of fc1; in floats it would have 49,152.
TEST(PackedExperts, WeightsStayPacked) {
  for (const int64_t tokens : {1, 10}) {
    const Graph graph = optimise(single_node_graph(packed_mixture(tokens, 4)), {});
    const Program program = lower(graph, DeviceCaps{.max_storage_buffers_per_stage = 8}, {});
    uint64_t most = 0;
    for (const VirtualTensor& tensor : program.tensors)
      if (tensor.role == TensorRole::weight) most = std::max<uint64_t>(most, tensor.desc.byte_size());
    EXPECT_EQ(most, 6144u) << tokens << " tokens";
  }
}

}  // namespace experts_test
}  // namespace vellum::test
