// Attention with a bias of the keys of each head beside a mask, on every storage and precision against the
// host reference.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "graph/operators/matmul/attention.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace attention_key_bias_test {

OperatorCase with_bias(OperatorCase test, const Shape& mask, const Shape& bias) {
  test.inputs.resize(7);
  test.inputs[3] = random_tensor(mask, 4);
  test.inputs[6] = random_tensor(bias, 5, -3.0f, 3.0f);
  test.sweep.channels4_inputs = test.sweep.arithmetic_fp16 = false;
  return test;
}

OperatorCase attention(const Shape& q, const Shape& k, const Shape& v, const Shape& mask, int64_t biases) {
  OperatorCase test{.type = "Attention",
                    .inputs = {random_tensor(q, 1), random_tensor(k, 2), random_tensor(v, 3)}};
  test.op = std::make_shared<Attention>();
  return with_bias(test, mask, {biases, q[1], 1, k[2]});
}

TEST(Attention, KeyBias) {
  check_operator(attention({1, 3, 5, 8}, {1, 3, 7, 8}, {1, 3, 7, 8}, {5, 7}, 1));
  check_operator(attention({2, 4, 9, 6}, {2, 2, 21, 6}, {2, 2, 21, 5}, {2, 1, 9, 21}, 2));
  OperatorCase shared = attention({2, 3, 5, 6}, {2, 3, 205, 6}, {2, 3, 205, 9}, {5, 205}, 1);
  shared.sweep.as_for_gpu = true;
  check_operator(shared);
}

TEST(Attention, KeyBiasOfTokensInMatrices) {
  auto op = std::make_shared<Attention>();
  OperatorCase test{.type = "Attention", .inputs = {}};
  std::array<StridedView, 3> views;
  for (size_t i = 0; i < 3; ++i) {
    views[i] = {0, {1, 2, 9, 8}, {9 * 16, 8, 16, 1}};
    test.inputs.push_back(random_tensor({9, 16}, static_cast<uint32_t>(i)));
  }
  op->views = views;
  op->tokens_first = true;
  op->output = {9, 16};
  test.op = op;
  test = with_bias(test, {9, 9}, {1, 2, 1, 9});
  test.sweep.channels4_inputs = true;
  check_operator(test);
}

TEST(Attention, KeyBiasOfCaches) {
  for (const int64_t queries : {1, 3}) {
    OperatorCase test = attention({2, 4, queries, 8}, {2, 2, 30, 8}, {2, 2, 30, 8}, {queries, 30}, 2);
    auto op = std::make_shared<Attention>();
    op->causal = true;
    test.op = op;
    test.inputs[4] = HostTensor::i64({2}, std::vector<int64_t>{30, 4});
    check_operator(test);
  }
}

}  // namespace attention_key_bias_test
}  // namespace vellum::test
