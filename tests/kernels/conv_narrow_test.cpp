// Convolutions whose first outputs multiply the middle of the window alone (Conv::narrow_outputs), against
// the host reference, which multiplies with zeros.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace {

OperatorCase narrow_conv(const Shape& x, int64_t narrow, int64_t wide) {
  auto op = std::make_shared<Conv>();
  op->window.pads = {1, 1, 1, 1};
  op->activation.kind = ActivationKind::relu;
  op->narrow_outputs = narrow;
  const HostTensor dense = random_tensor({narrow + wide, x[1], 3, 3}, 2, -0.3f, 0.3f);
  std::vector<float> weights = dense.to_floats();
  for (size_t i = 0; i < static_cast<size_t>(narrow * x[1] * 9); ++i)
    if (i % 9 != 4) weights[i] = 0;
  OperatorCase test{.type = "Conv", .inputs = {}};
  test.inputs = {random_tensor(x, 1), HostTensor::from<float>(DType::f32, dense.shape(), weights),
                 random_tensor({narrow + wide}, 3)};
  test.op = op;
  test.constants = {1, 2};
  return test;
}

TEST(ConvNarrow, ShapesAndChannels) {
  for (const char* gpu : {"NAVI31", "RTX 3090"}) {
    check_operator(narrow_conv({1, 6, 7, 9}, 16, 5), gpu_named(gpu));
    check_operator(narrow_conv({2, 16, 13, 13}, 32, 20), gpu_named(gpu));
    check_operator(narrow_conv({1, 5, 1, 1}, 16, 16), gpu_named(gpu));
  }
}

TEST(ConvNarrow, EveryCandidate) {
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    check_candidates(narrow_conv({1, 64, 14, 14}, 48, 32),
                     {.precision = precision, .caps = gpu_named("NAVI31")});
}

TEST(ConvNarrow, OnAdreno) {
  for (const char* name : kAdrenos) check_operator(narrow_conv({1, 6, 7, 9}, 16, 5), adreno_named(name));
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer})
      check_candidates(
          narrow_conv({1, 18, 9, 22}, 48, 20),
          {.precision = precision, .storage = storage, .only = "direct", .caps = adreno_named(kAdrenos[0])});
}

// Other kernels would multiply neighbours with zeros, which is NaN where these are infinite.
TEST(ConvNarrow, HasNoOtherKernels) {
  OperatorCase test = narrow_conv({1, 8, 5, 5}, 16, 16);
  std::vector<Choice> choices;
  lower(single_node_graph(test), gpu_named("NAVI31"), {.choices = &choices});
  for (const std::string& name : candidate_names(choices.at(0)))
    EXPECT_TRUE(name.starts_with("direct")) << name;
}

}  // namespace
}  // namespace vellum::test
