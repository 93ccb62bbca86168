// Elementwise functions of integers, which have 32 bits on the device and wrap around in the type that they
// have.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "exec/executor.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace integer_test {

constexpr DType kTypes[] = {DType::i8,  DType::u8,  DType::i16, DType::u16,
                            DType::i32, DType::u32, DType::i64, DType::u64};

bool is_unsigned(DType type) {
  return type == DType::u8 || type == DType::u16 || type == DType::u32 || type == DType::u64;
}

// The ends of the range (of 31 bits at most), small numbers, and some between.
HostTensor edge_values(DType type, bool reversed) {
  int64_t high = 0, low = 0;
  switch (size_of(type)) {
    case 1:
      high = is_unsigned(type) ? 255 : 127;
      break;
    case 2:
      high = is_unsigned(type) ? 65535 : 32767;
      break;
    default:
      high = std::numeric_limits<int16_t>::max();  // products of two fit 32 bits
  }
  low = is_unsigned(type) ? 0 : -high - 1;
  std::vector<int64_t> values{low,     low / 2, high, high / 3, 0, 1, 2, 3, 7, is_unsigned(type) ? 9 : -1,
                              high - 1};
  if (reversed) values.assign(values.rbegin(), values.rend());
  return cast(HostTensor::i64({static_cast<int64_t>(values.size())}, values), type);
}

OperatorCase pair_case(std::string type, DType dtype) {
  const HostTensor a = edge_values(dtype, false), b = edge_values(dtype, true);
  return {.type = std::move(type), .inputs = {a.reshaped({11, 1}), b}, .opset = 18};
}

TEST(Integers, ArithmeticAndComparisons) {
  for (const DType dtype : kTypes)
    for (const char* type :
         {"Add", "Sub", "Mul", "Div", "Min", "Max", "Mod", "Equal", "Greater", "LessOrEqual"}) {
      if (dtype == DType::u64 && std::string(type) == "Sub") continue;  // runs on the host
      check_operator(pair_case(type, dtype));
    }
}

TEST(Integers, FmodOfEveryWidth) {
  for (const DType dtype : kTypes) {
    OperatorCase test = pair_case("Mod", dtype);
    test.attributes.set("fmod", int64_t{1});
    check_operator(test);
  }
}

TEST(Integers, SeveralOperands) {
  const HostTensor x = edge_values(DType::i16, false);
  for (const char* type : {"Min", "Max"})
    check_operator({.type = type, .inputs = {x, edge_values(DType::i16, true), x.reshaped({11, 1})}});
}

TEST(Integers, Shifts) {
  for (const DType dtype : kTypes)
    for (const char* direction : {"LEFT", "RIGHT"}) {
      if (size_of(dtype) == 8 && std::string(direction) == "LEFT") continue;  // runs on the host
      std::vector<int64_t> amounts{0, 1, 3, 7, 8, 15, 16, 2};
      if (!is_unsigned(dtype)) amounts[7] = -1;
      if (!is_unsigned(dtype)) amounts[6] = size_of(dtype) == 8 ? 20 : 120;  // 64 bits are 32 on the device
      OperatorCase test{
          .type = "BitShift",
          .inputs = {
              cast(HostTensor::i64({3, 1}, std::array<int64_t, 3>{1, is_unsigned(dtype) ? 200 : -100, 77}),
                   dtype),
              cast(HostTensor::i64({8}, amounts), dtype)}};
      test.attributes.set("direction", std::string(direction));
      check_operator(test);
    }
}

TEST(Integers, BitwiseLogic) {
  for (const DType dtype : kTypes) {
    for (const char* type : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) check_operator(pair_case(type, dtype));
    if (dtype != DType::u64)  // runs on the host
      check_operator({.type = "BitwiseNot", .inputs = {edge_values(dtype, false)}, .opset = 18});
  }
}

TEST(Integers, Powers) {
  const HostTensor base = HostTensor::i64({2, 3}, std::array<int64_t, 6>{2, -3, 7, 0, 1, -1});
  const HostTensor exponent = HostTensor::i64({3}, std::array<int64_t, 3>{3, 4, 0});
  const HostTensor positive = HostTensor::i64({2, 3}, std::array<int64_t, 6>{4, 9, 27, 16, 2, 1000});
  for (const DType dtype : {DType::i32, DType::i64}) {
    check_operator({.type = "Pow", .inputs = {cast(base, dtype), cast(exponent, dtype)}});
    check_operator({.type = "Pow", .inputs = {cast(base, dtype), cast(exponent, DType::f32)}});
    check_operator(
        {.type = "Pow",
         .inputs = {cast(positive, dtype), HostTensor::f32({3}, std::array{0.5f, 1.5f, 1.0f / 3.0f})}});
    check_operator({.type = "Pow",
                    .inputs = {random_tensor({2, 3}, 1, 0.5f, 2.0f), cast(exponent, dtype)},
                    .sweep = {.fp16_tolerance = 3e-2}});
  }
}

TEST(Integers, FunctionsOfOne) {
  for (const DType dtype : kTypes)
    for (const char* type : {"Abs", "Neg", "Sign", "Relu"})
      if (!(dtype == DType::u64 && std::string(type) == "Neg"))
        check_operator({.type = type, .inputs = {edge_values(dtype, false)}, .opset = 14});
}

TEST(Integers, ClipWithKnownAndComputedBounds) {
  for (const DType dtype : {DType::i8, DType::u8, DType::i32, DType::i64}) {
    const HostTensor low = cast(HostTensor::i64({}, std::array<int64_t, 1>{2}), dtype);
    const HostTensor high = cast(HostTensor::i64({}, std::array<int64_t, 1>{90}), dtype);
    const HostTensor x = edge_values(dtype, false);
    check_operator({.type = "Clip", .inputs = {x, low, high}});
    check_operator({.type = "Clip", .inputs = {x, low, high}, .constants = {1, 2}});
    check_operator({.type = "Clip", .inputs = {x, std::nullopt, high}});
    check_operator({.type = "Clip", .inputs = {x, low}});
    check_operator({.type = "Clip", .inputs = {x}});
  }
}

TEST(Integers, CastsWrapAroundAndSaturate) {
  const HostTensor wide = HostTensor::i64({6}, std::array<int64_t, 6>{-129, 300, 65536, -40000, 127, 0});
  // ONNX numbers: uint8 2, int8 3, uint16 4, int16 5, int32 6, int64 7, bool 9.
  for (const int64_t to : {2, 3, 4, 5, 6, 7, 9}) {
    OperatorCase test{.type = "Cast", .inputs = {wide}};
    test.attributes.set("to", to);
    check_operator(test);
    test.inputs = {HostTensor::f32({5}, std::array{-300.7f, 300.7f, 2.5f, -2.5f, 0.0f})};
    check_operator(test);
  }
}

// Signed integers of GLSL would overflow where the model's wrap around: the worst device reports it.
TEST(Integers, SumsAndProductsOfManyElementsWrapAround) {
  const auto numbers = [](Shape shape, std::vector<int64_t> values) {
    return cast(HostTensor::i64(std::move(shape), values), DType::i32);
  };
  const auto indices = [](Shape shape, std::vector<int64_t> values) {
    return HostTensor::i64(std::move(shape), values);
  };
  const HostTensor large = numbers({2, 3}, {2000000000, 1999999999, -7, -2000000000, -2000000001, 5});
  check_operator({.type = "CumSum", .inputs = {large, indices({}, {1})}, .constants = {1}, .opset = 14});
  check_operator({.type = "ReduceSum", .inputs = {large, indices({1}, {1})}, .constants = {1}});
  OperatorCase product{.type = "Einsum", .inputs = {large, numbers({3, 2}, {3, 1, 70000, 2, 1, -3})}};
  for (const char* equation : {"ij,jk->ik", "ij,jk->i", "ij,jk->"}) {
    product.attributes.set("equation", std::string(equation));
    check_operator(product);
  }
  for (const char* reduction : {"add", "mul"}) {
    OperatorCase scatter{
        .type = "ScatterElements",
        .inputs = {large, indices({1, 3}, {1, 0, 1}), numbers({1, 3}, {2000000000, 1999999999, 123456789})},
        .opset = 16};
    scatter.attributes.set("reduction", std::string(reduction));
    check_operator(scatter);
  }
}

TEST(Integers, UnsignedOnesOfAllBits) {
  const std::array<int64_t, 8> values{0, 1, 3, 2147483647, 2147483648, 3000000000, 4294967294, 4294967295};
  const HostTensor a = cast(HostTensor::i64({8, 1}, values), DType::u32), b = a.reshaped({8});
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Mod", "Equal", "Less", "GreaterOrEqual",
                           "BitwiseAnd", "BitwiseXor"})
    check_operator({.type = type, .inputs = {a, b}, .opset = 18});
  check_operator({.type = "BitwiseNot", .inputs = {a}, .opset = 18});
  OperatorCase to_floats{.type = "Cast", .inputs = {b}};
  to_floats.attributes.set("to", int64_t{1});
  check_operator(to_floats);
  OperatorCase from_floats{.type = "Cast",
                           .inputs = {HostTensor::f32({4}, std::array{3e9f, 4294967040.0f, 2.5f, 0.0f})}};
  from_floats.attributes.set("to", int64_t{12});
  from_floats.sweep.fp16 = false;  // halves end at 65504
  check_operator(from_floats);
}

TEST(Integers, UnsignedSumsPastTheSignBitBecomePositiveFloats) {
  const HostTensor x =
      cast(HostTensor::i64({3}, std::array<int64_t, 3>{2000000000, 1200000000, 7}), DType::u32);
  Graph graph = single_node_graph({.type = "Add", .inputs = {x, x}, .opset = 18});
  Attributes attributes;
  attributes.set("to", int64_t{1});
  NodeSpec spec;
  spec.type = "Cast";
  spec.name = "to_float";
  spec.opset = 18;
  spec.attributes = &attributes;
  spec.input_present = {true};
  spec.output_count = 1;
  Node node;
  node.name = spec.name;
  node.op = make_operator(spec);
  node.inputs = {graph.outputs.front()};
  node.outputs = {graph.add_value("sum", {DType::f32, {3}}, true)};
  graph.outputs = node.outputs;
  graph.nodes.push_back(std::move(node));
  for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
    Executor executor(test_context(), compile_program(test_context(), lower(graph, test_context()->caps(),
                                                                            {.storage = storage})));
    executor.set_input(0, x);
    executor.set_input(1, x);
    executor.run();
    EXPECT_EQ(executor.output(0).to_floats(), (std::vector<float>{4.0e9F, 2.4e9F, 14.0F}));
  }
}

TEST(Clip, FloatBoundsKnownOnlyAtRunTime) {
  const HostTensor x = random_tensor({1, 6, 5, 3}, 2, -2.0f, 2.0f);
  const HostTensor low = HostTensor::f32({}, std::array{-0.5f}),
                   high = HostTensor::f32({}, std::array{0.75f});
  check_operator({.type = "Clip", .inputs = {x, low, high}});
  check_operator({.type = "Clip", .inputs = {x, std::nullopt, high}});
  check_operator({.type = "Clip", .inputs = {x, low}});
}

TEST(Shrink, HardAndSoft) {
  for (const float bias : {0.0f, 1.5f}) {
    OperatorCase test{.type = "Shrink", .inputs = {random_tensor({2, 5, 3, 7}, 3, -4.0f, 4.0f)}};
    test.attributes.set("lambd", 1.5f);
    test.attributes.set("bias", bias);
    // Rounding to fp16 may move a value across the threshold.
    test.sweep.fp16 = false;
    check_operator(test);
  }
}

}  // namespace integer_test
}  // namespace vellum::test
