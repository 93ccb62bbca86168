// MoE of com.microsoft: experts whose weights are gathered, and all of them.
#include <gtest/gtest.h>

#include <string>

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

}  // namespace experts_test
}  // namespace vellum::test
