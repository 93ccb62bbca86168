// Operators that are replaced by others (graph/composed.hpp), against their host reference.
#include <gtest/gtest.h>

#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace composed_test {

using Ints = Attributes::Ints;

HostTensor longs(Shape shape, const Ints& values) { return HostTensor::i64(std::move(shape), values); }

OperatorCase composed_case(std::string type, int opset, std::vector<std::optional<HostTensor>> inputs,
                           std::initializer_list<std::pair<const char*, Attributes::Value>> attributes = {}) {
  OperatorCase test{.type = std::move(type), .inputs = std::move(inputs), .opset = opset};
  for (const auto& [name, value] : attributes) test.attributes.set(name, value);
  // The operators of a body have tests of their own in every layout and arithmetic.
  test.sweep.channels4_inputs = test.sweep.arithmetic_fp16 = false;
  return test;
}

TEST(Composed, Swish) {
  check_operator(composed_case("Swish", 24, {random_tensor({2, 5, 3, 4}, 1, -4.0f, 4.0f)}));
  check_operator(composed_case("Swish", 24, {random_tensor({2, 5, 3, 4}, 1)}, {{"alpha", 1.5f}}));
  check_operator(composed_case("SwiGLU", 28, {random_tensor({2, 5, 7}, 1), random_tensor({2, 5, 7}, 2)}));
}

TEST(Composed, RmsNormalization) {
  for (const Shape& shape : {Shape{3, 5, 8}, Shape{2, 7}, Shape{1, 3, 130}})
    check_operator({.type = "RMSNormalization",
                    .inputs = {random_tensor(shape, 1, 1.0f, 3.0f), random_tensor({shape.back()}, 2)},
                    .constants = {1},
                    .opset = 23});
  // With a scale that is computed.
  check_operator(composed_case("RMSNormalization", 23, {random_tensor({3, 5, 8}, 1), random_tensor({8}, 2)}));
}

TEST(Composed, RotaryEmbedding) {
  const HostTensor x = random_tensor({2, 3, 5, 8}, 1);
  const HostTensor cosine = random_tensor({2, 5, 4}, 2), sine = random_tensor({2, 5, 4}, 3);
  for (const int64_t interleaved : {0, 1})
    check_operator(composed_case("RotaryEmbedding", 23, {x, cosine, sine}, {{"interleaved", interleaved}}));
  check_operator(composed_case("RotaryEmbedding", 23,
                               {random_tensor({1, 3, 12}, 1), random_tensor({7, 2}, 2),
                                random_tensor({7, 2}, 3), longs({1, 3}, {6, 0, 2})},
                               {{"num_heads", int64_t{2}}, {"rotary_embedding_dim", int64_t{4}}}));
}

// A view of heads behind one another in a tensor of tokens, with tables of tokens, of heads, of both.
TEST(RotateChannels, ViewsAndTables) {
  for (const Shape& table : {Shape{2, 1, 5, 8}, Shape{2, 3, 1, 8}, Shape{2, 3, 5, 8}}) {
    OperatorCase test{.type = "RotateChannels",
                      .inputs = {random_tensor({2, 5, 72}, 1), random_tensor(table, 2)},
                      .constants = {1}};
    test.attributes.set("offset", int64_t{24});
    test.attributes.set("shape", Ints{2, 3, 5, 8});
    test.attributes.set("strides", Ints{360, 8, 72, 1});
    test.attributes.set("partner", Ints{1, 0, 3, 2, 6, 7, 4, 5});
    test.attributes.set("output", Ints{2, 3, 5, 8});
    check_operator(test);
  }
}

TEST(Composed, LinearAttention) {
  const HostTensor q = random_tensor({2, 5, 12}, 1), k = random_tensor({2, 5, 6}, 2),
                   v = random_tensor({2, 5, 8}, 3);
  const HostTensor state = random_tensor({2, 2, 3, 4}, 4), decay = random_tensor({2, 5, 6}, 5, -1.0f, 0.0f);
  const HostTensor rate = random_tensor({2, 5, 2}, 6, 0.0f, 1.0f);
  for (const char* rule : {"linear", "gated", "delta", "gated_delta"}) {
    OperatorCase test = composed_case(
        "LinearAttention", 27, {q, k, v, state, decay, rate},
        {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"update_rule", std::string(rule)}});
    test.output_count = 2;
    check_operator(test);
  }
}

TEST(Composed, CenterCropPad) {
  OperatorCase test = composed_case(
      "CenterCropPad", 18, {random_tensor({1, 5, 6, 7}, 1), longs({2}, {3, 10})}, {{"axes", Ints{2, 3}}});
  test.constants = {1};
  check_operator(test);
}

TEST(Composed, Col2Im) {
  OperatorCase test =
      composed_case("Col2Im", 18, {random_tensor({2, 12, 12}, 1), longs({2}, {5, 4}), longs({2}, {2, 2})},
                    {{"strides", Ints{1, 1}}});
  test.constants = {1, 2};
  check_operator(test);
  test.inputs[0] = random_tensor({2, 12, 6}, 1);
  test.attributes.set("strides", Ints{2, 2});
  test.attributes.set("pads", Ints{1, 0, 0, 1});
  check_operator(test);
}

TEST(Composed, AffineGrid) {
  OperatorCase test =
      composed_case("AffineGrid", 20, {random_tensor({2, 2, 3}, 1), longs({4}, {2, 3, 5, 6})});
  test.constants = {1};
  check_operator(test);
}

TEST(Composed, DFT) {
  const HostTensor real = random_tensor({2, 5, 6, 1}, 1), complex = random_tensor({2, 5, 6, 2}, 2);
  const auto transform = [&](const HostTensor& x, int64_t axis, bool inverse, bool onesided) {
    OperatorCase test = composed_case("DFT", 20, {x, std::nullopt, longs({}, {axis})},
                                      {{"inverse", int64_t{inverse}}, {"onesided", int64_t{onesided}}});
    test.constants = {2};
    check_operator(test);
  };
  for (const int64_t axis : {1, 2, -2}) {
    transform(real, axis, false, false);
    transform(real, axis, false, true);
    transform(complex, axis, false, false);
    transform(complex, axis, true, false);
    transform(complex, axis, true, true);
  }
}

TEST(Composed, STFT) {
  OperatorCase test =
      composed_case("STFT", 17, {random_tensor({2, 20, 1}, 1), longs({}, {3}), random_tensor({8}, 2)},
                    {{"onesided", int64_t{1}}});
  test.constants = {1};
  check_operator(test);
}

TEST(Composed, CumProd) {
  for (const int64_t exclusive : {0, 1})
    for (const int64_t reverse : {0, 1}) {
      OperatorCase test =
          composed_case("CumProd", 26, {random_tensor({2, 5, 3}, 1, 0.5f, 1.5f), longs({}, {1})},
                        {{"exclusive", exclusive}, {"reverse", reverse}});
      test.constants = {1};
      check_operator(test);
    }
}

TEST(Composed, DeformConv) {
  OperatorCase test = composed_case(
      "DeformConv", 19,
      {random_tensor({2, 4, 5, 6}, 1), random_tensor({6, 2, 3, 3}, 2),
       random_tensor({2, 36, 3, 3}, 3, -2.0f, 2.0f), random_tensor({6}, 4), random_tensor({2, 18, 3, 3}, 5)},
      {{"group", int64_t{2}},
       {"offset_group", int64_t{2}},
       {"pads", Ints{1, 1, 1, 1}},
       {"strides", Ints{2, 2}}});
  test.constants = {1, 3};
  test.sweep.fp16 = false;  // positions in halves are off by hundredths of an element
  check_operator(test);
}

TEST(Composed, TensorScatter) {
  check_operator(
      composed_case("TensorScatter", 24,
                    {random_tensor({2, 3, 7, 4}, 1), random_tensor({2, 3, 2, 4}, 2), longs({2}, {6, 1})},
                    {{"mode", std::string("circular")}}));
  check_operator(
      {.type = "TensorScatter",
       .inputs = {random_tensor({2, 3, 7, 4}, 1), random_tensor({2, 3, 2, 4}, 2), longs({2}, {5, 0})},
       .opset = 24});
  check_operator({.type = "TensorScatter",
                  .inputs = {random_tensor({3, 9, 5}, 1), random_tensor({3, 4, 5}, 2), longs({3}, {2, 5, 0})},
                  .opset = 24});
}

TEST(Composed, CausalConvWithState) {
  check_operator(composed_case("CausalConvWithState", 27,
                               {random_tensor({2, 6, 9}, 1), random_tensor({6, 1, 4}, 2),
                                random_tensor({6}, 3), random_tensor({2, 6, 3}, 4)},
                               {{"activation", std::string("silu")}}));
}

TEST(Composed, BatchNormalizationInTraining) {
  OperatorCase test = composed_case("BatchNormalization", 15,
                                    {random_tensor({3, 5, 4, 4}, 1, 0.0f, 4.0f), random_tensor({5}, 2),
                                     random_tensor({5}, 3), random_tensor({5}, 4), random_tensor({5}, 5)},
                                    {{"training_mode", int64_t{1}}});
  test.sweep.fp16_tolerance = 2e-2;
  check_operator(test);
}

TEST(Composed, AttentionWithPastAndWindowAndSoftcap) {
  const HostTensor q = random_tensor({2, 4, 3, 8}, 1), k = random_tensor({2, 2, 3, 8}, 2),
                   v = random_tensor({2, 2, 3, 8}, 3), past_k = random_tensor({2, 2, 5, 8}, 4),
                   past_v = random_tensor({2, 2, 5, 8}, 5), mask = random_tensor({3, 6}, 6);
  for (const float softcap : {0.0f, 2.0f}) {
    OperatorCase test =
        composed_case("Attention", 25, {q, k, v, mask, past_k, past_v},
                      {{"is_causal", int64_t{1}}, {"left_window_size", int64_t{3}}, {"softcap", softcap}});
    test.sweep.fp16 = false;  // a mask of infinities
    check_operator(test);
  }
  check_operator(composed_case("Attention", 25,
                               {q, k, v, std::nullopt, std::nullopt, std::nullopt, longs({2}, {2, 0})},
                               {{"is_causal", int64_t{1}}}));
}

}  // namespace composed_test
}  // namespace vellum::test
