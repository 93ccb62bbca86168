// 8-bit integers: to and from real numbers, products and convolutions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "passes/passes.hpp"
#include "program/program.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace quantize_test {

using Ints = Attributes::Ints;

HostTensor bytes(DType dtype, Shape shape, uint32_t seed) {
  const bool is_signed = dtype == DType::i8;
  HostTensor tensor =
      random_tensor(std::move(shape), seed, is_signed ? -128.0f : 0.0f, is_signed ? 128.0f : 256.0f);
  for (float& value : tensor.mutable_as<float>()) value = std::floor(value);
  return cast(tensor, dtype);
}

HostTensor scalar(float value) { return HostTensor::f32({}, std::array{value}); }

TEST(Quantize, RoundsAndSaturates) {
  for (const DType dtype : {DType::u8, DType::i8}) {
    // Halves of the scale are between two integers, and round to the even one.
    const HostTensor x =
        HostTensor::f32({3, 3}, std::vector<float>{0.25f, 0.75f, -0.25f, 1.25f, 1e30f, -1e30f, NAN, 3, -5});
    check_operator({.type = "QuantizeLinear",
                    .inputs = {x, scalar(0.5f), bytes(dtype, {}, 1)},
                    .constants = {1, 2},
                    .sweep = {.fp16 = false}});
    OperatorCase per_channel{.type = "QuantizeLinear",
                             .inputs = {random_tensor({2, 5, 3}, 2, -9.0f, 9.0f),
                                        random_tensor({5}, 3, 0.01f, 0.1f), bytes(dtype, {5}, 4)}};
    per_channel.sweep.fp16_absolute = 1;
    check_operator(per_channel);
  }
  check_operator({.type = "QuantizeLinear", .inputs = {random_tensor({7}, 5), scalar(0.125f)}});
}

// 0.5 / (5 / 255) is 25.499998, though 25.5 times that scale rounds to 0.5: it becomes 25, as 0.5 / 0.02 = 25
// does.
TEST(Quantize, QuotientsBesideATieAreNoTies) {
  for (const float scale : {5.0f / 255.0f, 0.1f, 0.7f, 3.0f / 255.0f}) {
    std::vector<float> x;
    for (int i = 0; i < 128; ++i)
      for (const float beside : {1.0f - 0x1p-24f, 1.0f, 1.0f + 0x1p-23f})
        x.push_back((static_cast<float>(i) + 0.5f) * scale * beside);
    check_operator({.type = "QuantizeLinear",
                    .inputs = {HostTensor::f32({static_cast<int64_t>(x.size())}, x), scalar(scale)},
                    .constants = {1},
                    .sweep = {.fp16 = false}});
  }
}

TEST(Quantize, AndBack) {
  for (const DType dtype : {DType::u8, DType::i8}) {
    check_operator({.type = "DequantizeLinear",
                    .inputs = {bytes(dtype, {3, 5}, 1), scalar(0.25f), bytes(dtype, {}, 2)}});
    OperatorCase rows{
        .type = "DequantizeLinear",
        .inputs = {bytes(dtype, {3, 5}, 1), random_tensor({3}, 2, 0.01f, 0.1f), bytes(dtype, {3}, 3)},
        .constants = {1, 2}};
    rows.attributes.set("axis", int64_t{0});
    check_operator(rows);
  }
  check_operator(
      {.type = "DequantizeLinear", .inputs = {cast(bytes(DType::i8, {9}, 4), DType::i32), scalar(0.5f)}});
}

// Each invocation reads a scale that all elements share once.
TEST(Quantize, ReadsOneScaleOnce) {
  const auto reads_one = [](const OperatorCase& test) {
    const Program program = lower(single_node_graph(test), test_context()->caps(), {});
    return std::ranges::any_of(program.tasks, [](const Task& task) {
      return std::ranges::any_of(task.dispatch->defines,
                                 [](const auto& d) { return d.first == "ONE_SCALE"; });
    });
  };
  const HostTensor x = bytes(DType::i8, {3, 5}, 1);
  EXPECT_TRUE(reads_one({.type = "DequantizeLinear", .inputs = {x, scalar(0.25f)}}));
  EXPECT_FALSE(reads_one({.type = "DequantizeLinear", .inputs = {x, random_tensor({5}, 2, 0.01f, 0.1f)}}));
}

TEST(Quantize, ToARangeThatIsFoundAtRunTime) {
  for (const auto& [low, high] : {std::pair{-2.0f, 3.0f}, {1.0f, 4.0f}, {-4.0f, -1.0f}}) {
    OperatorCase test{.type = "DynamicQuantizeLinear", .inputs = {random_tensor({4, 7}, 1, low, high)}};
    test.output_count = 3;
    test.sweep.fp16_absolute = 1;
    check_operator(test);
  }
}

TEST(IntegerProducts, MatMul) {
  check_operator(
      {.type = "MatMulInteger", .inputs = {bytes(DType::u8, {5, 7}, 1), bytes(DType::i8, {7, 6}, 2)}});
  check_operator({.type = "MatMulInteger",
                  .inputs = {bytes(DType::u8, {2, 5, 300}, 1), bytes(DType::u8, {2, 300, 3}, 2),
                             bytes(DType::u8, {}, 3), bytes(DType::u8, {}, 4)}});
  check_operator({.type = "MatMulInteger",
                  .inputs = {bytes(DType::i8, {5, 7}, 1), bytes(DType::i8, {7, 6}, 2),
                             bytes(DType::i8, {5}, 3), bytes(DType::i8, {6}, 4)},
                  .constants = {1, 3}});
  check_operator({.type = "MatMul",
                  .inputs = {cast(bytes(DType::i8, {2, 1, 3, 4}, 1), DType::i32),
                             cast(bytes(DType::i8, {3, 4, 5}, 2), DType::i32)}});
}

// Tiles of four rows and columns, cut at the ends, repeated along a batch, and vectors without rows or
// columns.
TEST(IntegerProducts, MatricesOfEverySize) {
  uint32_t seed = 1;
  for (const int64_t m : {1, 3, 4, 9})
    for (const int64_t n : {1, 2, 4, 13})
      for (const int64_t k : {1, 6, 33})
        check_operator({.type = "MatMulInteger",
                        .inputs = {bytes(DType::u8, {m, k}, ++seed), bytes(DType::i8, {k, n}, ++seed),
                                   bytes(DType::u8, {}, ++seed)}});
  for (const auto& [a, b] : {std::pair{Shape{3, 1, 5, 6}, Shape{2, 6, 7}},
                             {Shape{5, 6}, Shape{4, 6, 3}},
                             {Shape{6}, Shape{6, 9}},
                             {Shape{9, 6}, Shape{6}},
                             {Shape{6}, Shape{6}}})
    check_operator(
        {.type = "MatMulInteger", .inputs = {bytes(DType::u8, a, ++seed), bytes(DType::u8, b, ++seed)}});
}

// More products than an invocation may sum up on lavapipe, in two loops and in one, of matrices and of
// vectors.
TEST(IntegerProducts, SumsOfMoreThanAnInvocationsTerms) {
  constexpr int64_t k = 70'000;
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{2, 5}, {1, 3}, {3, 1}, {1, 1}})
    check_operator(
        {.type = "MatMulInteger", .inputs = {bytes(DType::u8, {m, k}, 1), bytes(DType::i8, {k, n}, 2)}});
  OperatorCase conv{.type = "ConvInteger",
                    .inputs = {bytes(DType::u8, {1, 900, 10, 9}, 1), bytes(DType::i8, {2, 900, 10, 8}, 2)}};
  check_operator(conv);
}

TEST(IntegerProducts, ConvsOfEveryForm) {
  uint32_t seed = 1;
  for (const int64_t group : {1, 2, 6})
    for (const int64_t stride : {1, 2})
      for (const int64_t outputs : {6, 12}) {
        OperatorCase test{
            .type = "ConvInteger",
            .inputs = {bytes(DType::u8, {2, 6, 9, 7}, ++seed),
                       bytes(DType::i8, {outputs, 6 / group, 3, 3}, ++seed), bytes(DType::u8, {}, ++seed)}};
        test.attributes.set("group", group);
        test.attributes.set("pads", Ints{1, 1, 1, 1});
        test.attributes.set("strides", Ints{stride, stride});
        check_operator(test);
      }
  check_operator({.type = "ConvInteger",
                  .inputs = {bytes(DType::u8, {1, 4, 5, 6, 3}, 1), bytes(DType::i8, {3, 4, 2, 2, 2}, 2)}});
}

TEST(IntegerProducts, Conv) {
  OperatorCase test{.type = "ConvInteger",
                    .inputs = {bytes(DType::u8, {2, 6, 5, 7}, 1), bytes(DType::u8, {4, 3, 3, 2}, 2),
                               bytes(DType::u8, {}, 3), bytes(DType::u8, {4}, 4)}};
  test.attributes.set("group", int64_t{2});
  test.attributes.set("pads", Ints{1, 0, 2, 1});
  test.attributes.set("strides", Ints{2, 1});
  test.attributes.set("dilations", Ints{1, 2});
  check_operator(test);
  check_operator(
      {.type = "ConvInteger", .inputs = {bytes(DType::i8, {1, 3, 9}, 1), bytes(DType::i8, {2, 3, 4}, 2)}});
}

TEST(IntegerProducts, QuantisedConvAndMatMul) {
  OperatorCase conv{
      .type = "QLinearConv",
      .inputs = {bytes(DType::u8, {1, 3, 6, 5}, 1), scalar(0.02f), bytes(DType::u8, {}, 2),
                 bytes(DType::i8, {4, 3, 3, 3}, 3), random_tensor({4}, 4, 0.01f, 0.02f),
                 cast(HostTensor::i64({4}, std::vector<int64_t>{0, 3, -2, 0}), DType::i8), scalar(0.3f),
                 bytes(DType::u8, {}, 5),
                 cast(HostTensor::i64({4}, std::vector<int64_t>{100, -5000, 0, 7}), DType::i32)},
      .constants = {1, 2, 3, 4, 5, 6, 7, 8}};
  conv.attributes.set("pads", Ints{1, 1, 1, 1});
  conv.sweep.fp16_absolute = 1;
  check_operator(conv);
  conv.constants = {};
  check_operator(conv);
  OperatorCase product{.type = "QLinearMatMul",
                       .inputs = {bytes(DType::u8, {2, 4, 6}, 1), scalar(0.02f), bytes(DType::u8, {}, 2),
                                  bytes(DType::u8, {2, 6, 3}, 3), scalar(0.03f), bytes(DType::u8, {}, 4),
                                  scalar(0.4f), bytes(DType::u8, {}, 5)}};
  product.sweep.fp16_absolute = 1;
  check_operator(product);
  product.inputs[1] = random_tensor({4}, 6, 0.01f, 0.02f);  // rows and columns of other scales
  product.inputs[2] = bytes(DType::u8, {4}, 7);
  product.inputs[4] = random_tensor({3}, 8, 0.02f, 0.04f);
  check_operator(product);
  product.constants = {1, 2, 3, 4, 5, 6, 7};
  check_operator(product);
}

// A rounded output of one pixel is stored as the floats that the application reads; a larger one in bytes,
// which a dispatch converts.
TEST(Quantize, OutputsOfOnePixelAreFloats) {
  const auto last_operator = [](const Shape& shape, Precision precision) {
    OnnxModel model;
    model.input("x", shape)
        .initializer("w", random_tensor({8, shape[1], 1, 1}, 1))
        .initializer("scale", scalar(0.125f))
        .initializer("zero", HostTensor::from<int64_t>(DType::i8, {}, std::array{int64_t{0}}));
    model.node("Conv", {"x", "w"}, {"c"}).node("QuantizeLinear", {"c", "scale", "zero"}, {"q"});
    model.node("DequantizeLinear", {"q", "scale", "zero"}, {"y"}).output("y");
    const Program program = lower(optimise(model.graph(), {}), test_context()->caps(),
                                  {.precision = precision, .storage = StorageChoice::buffer});
    return operator_type(program.tasks.back());
  };
  EXPECT_EQ(last_operator({1, 8, 1, 1}, Precision::fp32), "Conv");
  EXPECT_EQ(last_operator({1, 8, 2, 3}, Precision::fp32), "Convert");
  EXPECT_EQ(last_operator({1, 8, 1, 1}, Precision::fp16), "Convert");
}

TEST(NarrowTypes, CastRoundsFloatsAndKeepsTheLowestBitsOfIntegers) {
  const HostTensor x = random_tensor({3, 50}, 7, -20.0f, 20.0f);
  for (const int64_t to : {16, 17, 18, 19, 20, 21, 22, 23, 25, 26})
    for (const int64_t saturate : {0, 1}) {
      OperatorCase test{.type = "Cast", .inputs = {x}, .opset = 25, .sweep = {.fp16 = false}};
      test.attributes.set("to", to);
      test.attributes.set("saturate", saturate);
      check_operator(test);
    }
}

TEST(NarrowTypes, OverflowAndNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  const HostTensor x =
      HostTensor::f32({6}, std::array{1e6f, -1e6f, infinity, -infinity, std::nanf(""), 1e-7f});
  for (const int64_t to : {16, 17, 18, 19, 20, 23})
    for (const int64_t saturate : {0, 1}) {
      OperatorCase test{.type = "Cast", .inputs = {x}, .opset = 25, .sweep = {.fp16 = false}};
      test.attributes.set("to", to);
      test.attributes.set("saturate", saturate);
      check_operator(test);
    }
}

TEST(NarrowTypes, QuantisationWithBlocks) {
  for (const int64_t output : {2, 3, 4, 5, 17, 21, 22}) {
    OperatorCase test{.type = "QuantizeLinear",
                      .inputs = {random_tensor({3, 7}, 8, -9.0f, 9.0f), random_tensor({3, 4}, 9, 0.5f, 1.0f)},
                      .opset = 25,
                      .sweep = {.fp16 = false}};
    test.attributes.set("output_dtype", output);
    test.attributes.set("block_size", int64_t{2});
    check_operator(test);
  }
  OperatorCase back{.type = "DequantizeLinear",
                    .inputs = {cast(random_tensor({3, 7}, 8, -100.0f, 100.0f), DType::i8),
                               random_tensor({2, 7}, 9, 0.5f, 1.0f)},
                    .opset = 25};
  back.attributes.set("axis", int64_t{0});
  back.attributes.set("block_size", int64_t{2});
  back.sweep.fp16_tolerance = 5e-2;
  check_operator(back);
}

TEST(NarrowTypes, SixteenBitsAndFloatsOfEight) {
  for (const DType dtype : {DType::i16, DType::u16})
    check_operator(
        {.type = "QuantizeLinear",
         .inputs = {random_tensor({2, 9}, 8, -60000.0f, 90000.0f), HostTensor::f32({}, std::array{2.0f}),
                    HostTensor::from<int64_t>(dtype, {}, std::array<int64_t, 1>{100})},
         .opset = 21,
         .sweep = {.fp16 = false}});
  OperatorCase back{.type = "DequantizeLinear",
                    .inputs = {random_tensor({2, 9}, 8), random_tensor({9}, 9, 0.5f, 1.0f)},
                    .opset = 21};
  check_operator(back);
}

}  // namespace quantize_test
}  // namespace vellum::test
