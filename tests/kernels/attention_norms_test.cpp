// Attention whose queries and keys are normalised, on every storage and precision against the host reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "graph/operators/matmul/attention.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace attention_norms_test {

std::vector<float> factors(int64_t count, uint32_t seed) {
  return random_tensor({count}, seed, 0.25f, 1.5f).to_floats();
}

std::vector<std::string> shaders_of(const Program& program) {
  std::vector<std::string> shaders;
  for (const Task& task : program.tasks) shaders.push_back(task.dispatch->shader);
  return shaders;
}

// Which of both operands are normalised.
struct Norms {
  bool q = true, k = true;
  float epsilon = 1e-5f;
};

OperatorCase normalized(OperatorCase test, const Norms& norms) {
  auto op = test.op ? std::make_shared<Attention>(dynamic_cast<const Attention&>(*test.op))
                    : std::make_shared<Attention>();
  const Shape q = op->views ? (*op->views)[0].shape : test.inputs[0]->shape(),
              k = op->views ? (*op->views)[1].shape : test.inputs[1]->shape();
  if (norms.q) op->q_norm = {norms.epsilon, factors(q[1] * q[3], 7)};
  if (norms.k) op->k_norm = {norms.epsilon, factors(k[1] * k[3], 8)};
  test.op = op;
  return test;
}

OperatorCase heads(const Shape& q, const Shape& k, const Shape& v, const Norms& norms = {}) {
  OperatorCase test{.type = "Attention",
                    .inputs = {random_tensor(q, 1), random_tensor(k, 2), random_tensor(v, 3)}};
  test.sweep.arithmetic_fp16 = false;
  return normalized(std::move(test), norms);
}

// Q, K and V of two images and three heads, all in the columns of one matrix of tokens.
OperatorCase one_product(int64_t channels, const Norms& norms, bool has_mask = false) {
  const int64_t images = 2, heads = 3, tokens = 9, width = 3 * heads * channels;
  OperatorCase test{.type = "Attention", .inputs = {random_tensor({images * tokens, width}, 1), {}, {}}};
  test.same_as = {{1, 0}, {2, 0}};
  std::array<StridedView, 3> views;
  for (size_t i = 0; i < 3; ++i)
    views[i] = {static_cast<int64_t>(i) * heads * channels,
                {images, heads, tokens, channels},
                {tokens * width, channels, width, 1}};
  auto op = std::make_shared<Attention>();
  op->views = views;
  op->tokens_first = true;
  op->output = {images * tokens, heads * channels};
  test.op = op;
  test.sweep.channels4_inputs = !has_mask;
  test.sweep.arithmetic_fp16 = false;
  if (has_mask) test.inputs.push_back(random_tensor({3, 9, 9}, 4));
  return normalized(std::move(test), norms);
}

TEST(AttentionNorms, OfOneProduct) {
  for (const int64_t channels : {4, 6, 32}) check_operator(one_product(channels, {}));
  check_operator(one_product(8, {.k = false}));
  check_operator(one_product(8, {.q = false}));
  check_operator(one_product(8, {}, true));
  const auto program = lower(single_node_graph(one_product(8, {})), test_context()->caps(), {});
  EXPECT_EQ(std::ranges::count(shaders_of(program), "attention_pack"), 1);
}

// Three tensors, of one shape, of several, and with more heads of Q.
TEST(AttentionNorms, OfSeveralTensors) {
  check_operator(heads({1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}));
  check_operator(heads({2, 3, 7, 5}, {2, 3, 7, 5}, {2, 3, 7, 5}));
  check_operator(heads({2, 3, 7, 5}, {2, 3, 17, 5}, {2, 3, 17, 4}));
  check_operator(heads({1, 4, 9, 8}, {1, 2, 9, 8}, {1, 2, 9, 8}));
  check_operator(heads({1, 2, 5, 72}, {1, 2, 6, 72}, {1, 2, 6, 72}, {.k = false}));
}

// The squares of large values are beyond halves, those of small ones below.
TEST(AttentionNorms, LargeAndSmallRows) {
  for (const float size : {3000.0f, 1e-3f}) {
    OperatorCase test = heads({1, 2, 9, 8}, {1, 2, 9, 8}, {1, 2, 9, 8}, {.epsilon = 1e-12f});
    test.inputs[0] = random_tensor({1, 2, 9, 8}, 1, -size, size);
    test.inputs[1] = random_tensor({1, 2, 9, 8}, 2, -size, size);
    check_operator(test);
  }
}

// A row of zeros stays zeros.
TEST(AttentionNorms, RowsOfZeros) {
  OperatorCase test = heads({1, 2, 9, 8}, {1, 2, 9, 8}, {1, 2, 9, 8}, {.epsilon = 1e-25f});
  for (size_t i = 0; i < 2; ++i)
    for (float& value : test.inputs[i]->mutable_as<float>().subspan(16, 24)) value = 0.0f;
  check_operator(test);
}

}  // namespace attention_norms_test
}  // namespace vellum::test
