// Attention with sinks and with soft caps of the scores on every storage and precision against the host
// reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "caps/vendors.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace attention_sinks_test {

OperatorCase attention(Shape q, Shape k, Shape v, std::optional<HostTensor> mask = {}) {
  OperatorCase test{.type = "Attention",
                    .inputs = {random_tensor(std::move(q), 1), random_tensor(std::move(k), 2),
                               random_tensor(std::move(v), 3), std::move(mask)}};
  test.op = std::make_shared<Attention>();
  test.sweep.channels4_inputs = test.sweep.arithmetic_fp16 = false;
  return test;
}

OperatorCase with_sinks(OperatorCase test, int64_t heads) {
  test.inputs.resize(5);
  HostTensor sinks = random_tensor({heads}, 8, -2.0f, 4.0f);
  sinks.mutable_as<float>()[0] = 60.0f;  // beside which the keys of the first head weigh nothing
  test.inputs.emplace_back(std::move(sinks));
  return test;
}

OperatorCase with_soft_cap(OperatorCase test, float softcap) {
  auto op = std::make_shared<Attention>(dynamic_cast<const Attention&>(*test.op));
  op->softcap = softcap;
  test.op = op;
  return test;
}

// Two heads of 8 channels in rows of three matrices.
OperatorCase in_matrices() {
  auto op = std::make_shared<Attention>();
  OperatorCase test{.type = "Attention", .inputs = {}};
  std::array<StridedView, 3> views;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t tokens = i == 0 ? 9 : 7;
    views[i] = {0, {1, 2, tokens, 8}, {tokens * 16, 8, 16, 1}};
    test.inputs.push_back(random_tensor({tokens, 16}, static_cast<uint32_t>(i)));
  }
  op->views = views;
  op->tokens_first = true;
  op->output = {9, 16};
  test.op = op;
  return with_sinks(test, 2);
}

// A large GPU, which few queries leave idle: their keys are split.
DeviceCaps large_gpu(uint32_t vendor) {
  DeviceCaps caps = test_context()->caps();
  caps.type = DeviceType::discrete_gpu;
  caps.vendor_id = vendor;
  caps.name = "NAVI31";
  return caps;
}

bool defines(const OperatorCase& test, const DeviceCaps& caps, const std::string& name) {
  const Program program = lower(single_node_graph(test), caps, {.storage = StorageChoice::buffer});
  return std::ranges::any_of(program.tasks, [&](const Task& task) {
    return std::ranges::any_of(task.dispatch->defines,
                               [&](const auto& define) { return define.first == name; });
  });
}

// A score of each head whose weight belongs to no value: packed, in matrices, and with keys that are divided
// among workgroups or among the invocations of a workgroup.
TEST(Attention, Sinks) {
  check_operator(with_sinks(attention({2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 8}), 3));
  check_operator(
      with_sinks(attention({1, 2, 9, 6}, {1, 2, 21, 6}, {1, 2, 21, 5}, random_tensor({9, 21}, 4)), 2));
  check_operator(in_matrices());
  const OperatorCase split = with_sinks(attention({1, 2, 3, 8}, {1, 2, 257, 8}, {1, 2, 257, 8}), 2);
  EXPECT_TRUE(defines(split, large_gpu(0), "SPLIT_KEYS"));
  check_operator(split, large_gpu(0));
  const OperatorCase shared = with_sinks(attention({2, 3, 5, 6}, {2, 3, 205, 6}, {2, 3, 205, 9}), 3);
  EXPECT_TRUE(defines(shared, large_gpu(kNvidia), "SHARE_KEYS"));
  check_operator(shared, large_gpu(kNvidia));
}

// Tokens that attend to no key have a result of 0, and a sink of minus infinity is none.
TEST(Attention, SinksWithoutKeysAndWithoutWeight) {
  const OperatorCase plain = attention({1, 2, 5, 8}, {1, 2, 7, 8}, {1, 2, 7, 8});
  OperatorCase test = with_sinks(plain, 2);
  test.inputs[3] = HostTensor(DType::boolean, {5, 7});
  check_operator(test);
  test.sweep.fp16 = false;  // halves have no infinities on some devices
  for (float& sink : test.inputs[5]->mutable_as<float>()) sink = -std::numeric_limits<float>::infinity();
  check_operator(test);
  test.inputs[3].reset();
  check_operator(test);
  const auto result = [](const OperatorCase& made) {
    std::vector<const HostTensor*> inputs;
    for (const auto& input : made.inputs) inputs.push_back(input ? &*input : nullptr);
    return made.op->evaluate(inputs)[0].to_floats();
  };
  EXPECT_EQ(result(test), result(plain));
}

// From scores close to zero to scores that the cap limits, and to scores past the largest half.
TEST(Attention, SoftCaps) {
  for (const float magnitude : {0.01f, 1.0f, 40.0f, 1e6f}) {
    OperatorCase test = attention({1, 2, 5, 8}, {1, 2, 37, 8}, {1, 2, 37, 8}, random_tensor({5, 37}, 4));
    for (float& value : test.inputs[0]->mutable_as<float>()) value *= magnitude;
    test.sweep.fp16 = magnitude < 1000.0f;
    check_operator(with_soft_cap(test, 5.0f));
    if (magnitude == 1.0f) check_operator(with_soft_cap(with_sinks(test, 2), 2.0f));
  }
}

// A cache, of which each image has another part, with a window.
TEST(Attention, SinksAndSoftCapsOfCaches) {
  for (const int64_t queries : {1, 3}) {
    OperatorCase test = with_sinks(attention({2, 4, queries, 8}, {2, 2, 30, 8}, {2, 2, 30, 8}), 4);
    auto op = std::make_shared<Attention>();
    op->causal = true;
    op->window = 9;
    op->softcap = 3.0f;
    test.op = op;
    test.inputs[4] = HostTensor::i64({2}, std::vector<int64_t>{30, 4});
    check_operator(test);
  }
}

}  // namespace attention_sinks_test
}  // namespace vellum::test
