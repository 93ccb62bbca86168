// Operators that read or write where other tensors say: GatherElements, GatherND, Scatter*, MaxUnpool, TopK,
// OneHot, Trilu, CumSum, ReverseSequence, Compress.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/operators/movement/max_unpool.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace index_test {

HostTensor ints(Shape shape, std::vector<int64_t> values) {
  return HostTensor::i64(std::move(shape), values);
}

// Whole numbers in [low, high), as many of them equal.
HostTensor whole_numbers(Shape shape, uint32_t seed, float low, float high) {
  HostTensor tensor = random_tensor(std::move(shape), seed, low, high);
  for (float& value : tensor.mutable_as<float>()) value = std::floor(value);
  return tensor;
}
HostTensor random_ints(Shape shape, uint32_t seed, int64_t low, int64_t high) {
  return cast(whole_numbers(std::move(shape), seed, static_cast<float>(low), static_cast<float>(high)),
              DType::i64);
}

OperatorCase with_axis(OperatorCase test, int64_t axis) {
  test.attributes.set("axis", axis);
  return test;
}

TEST(GatherElements, EveryAxisAndConstantIndices) {
  const HostTensor x = random_tensor({3, 5, 2, 7}, 1);
  const Shape chosen[] = {{4, 5, 1, 6}, {3, 9, 2, 7}, {2, 5, 3, 7}, {3, 4, 2, 1}};
  for (size_t axis = 0; axis < 4; ++axis) {
    const int64_t size = x.shape()[axis];
    OperatorCase test =
        with_axis({.type = "GatherElements", .inputs = {x, random_ints(chosen[axis], 2, -size, size)}},
                  static_cast<int64_t>(axis));
    check_operator(test);
    test.constants = {1};
    check_operator(test);
  }
  check_operator({.type = "GatherElements", .inputs = {random_ints({5}, 3, -9, 9), ints({3}, {4, -5, 0})}});
}

TEST(GatherND, SlicesElementsAndBatches) {
  const HostTensor x = random_tensor({3, 4, 2, 3}, 4);
  check_operator({.type = "GatherND", .inputs = {x, random_ints({5, 2}, 5, -3, 3)}});
  check_operator({.type = "GatherND", .inputs = {x, random_ints({2, 3, 4}, 6, -2, 2)}});
  OperatorCase batched{.type = "GatherND", .inputs = {x, random_ints({3, 4, 2, 1}, 7, -2, 2)}};
  batched.attributes.set("batch_dims", int64_t{2});
  check_operator(batched);
  check_operator(
      {.type = "GatherND", .inputs = {random_ints({4, 5}, 8, -9, 9), random_ints({7, 2}, 9, -4, 4)}});
}

OperatorCase scatter_case(std::string type, HostTensor data, HostTensor indices, HostTensor updates,
                          std::string reduction) {
  OperatorCase test{.type = std::move(type),
                    .inputs = {std::move(data), std::move(indices), std::move(updates)}};
  test.opset = 18;
  test.attributes.set("reduction", std::move(reduction));
  return test;
}

TEST(Scatter, ElementsWithoutDuplicates) {
  // Odd widths: in halves two elements share a word, and different invocations write them.
  const HostTensor data = random_tensor({3, 5, 7}, 10);
  // The name of ScatterElements before operator set 11.
  check_operator({.type = "Scatter",
                  .inputs = {data, ints({1, 2, 3}, {2, 1, 0, 0, 2, 1}), random_tensor({1, 2, 3}, 11)},
                  .opset = 10});
  check_operator(scatter_case("ScatterElements", data, ints({1, 2, 3}, {2, -2, 0, 0, 2, -2}),
                              random_tensor({1, 2, 3}, 11), "none"));
  check_operator(with_axis(scatter_case("ScatterElements", data, ints({1, 1, 7}, {6, 5, 4, 3, 2, 1, 0}),
                                        random_tensor({1, 1, 7}, 12), "none"),
                           -1));
}

TEST(Scatter, ElementsThatMeet) {
  const HostTensor data = random_tensor({5, 7}, 13);
  for (const char* reduction : {"add", "mul", "max", "min"}) {
    check_operator(scatter_case("ScatterElements", data, random_ints({9, 7}, 14, -5, 5),
                                random_tensor({9, 7}, 15, 0.5f, 1.5f), reduction));
    check_operator(scatter_case("ScatterElements", random_ints({5}, 16, -9, 9), random_ints({6}, 17, -5, 5),
                                random_ints({6}, 18, -4, 4), reduction));
  }
}

TEST(Scatter, NdSlicesAndElements) {
  const HostTensor data = random_tensor({4, 3, 5}, 19);
  check_operator(
      scatter_case("ScatterND", data, ints({2, 1}, {3, -3}), random_tensor({2, 3, 5}, 20), "none"));
  check_operator(scatter_case("ScatterND", data, ints({3, 3}, {0, 1, 2, -1, 2, -5, 1, 0, 4}),
                              random_tensor({3}, 21), "none"));
  for (const char* reduction : {"add", "mul"})
    check_operator(scatter_case("ScatterND", data, ints({3, 2}, {1, 1, 1, 1, -4, 2}),
                                random_tensor({3, 5}, 22), reduction));
}

// MediaPipe's operator; where windows overlap, the elements meant here do not.
TEST(MaxUnpool, NumbersWithinWindows) {
  for (const int64_t stride : {2, 3}) {
    auto unpool = std::make_shared<MaxUnpooling2d>();
    unpool->kernel[0] = unpool->kernel[1] = 3;
    unpool->strides[0] = unpool->strides[1] = stride;
    HostTensor numbers = random_tensor({2, 5, 3, 4}, 2, 0.0f, 2.0f);
    for (float& number : numbers.mutable_as<float>()) number = number < 1 ? 0.1f : 4.1f;
    check_operator(
        {.type = "MaxUnpooling2D", .inputs = {random_tensor({2, 5, 3, 4}, 1), numbers}, .op = unpool});
  }
}

TEST(MaxUnpool, NaturalAndLargerShape) {
  OperatorCase test{.type = "MaxUnpool",
                    .inputs = {random_tensor({1, 1, 2, 3}, 23), ints({1, 1, 2, 3}, {0, 3, 5, 12, 21, 16})}};
  test.attributes.set("kernel_shape", std::vector<int64_t>{2, 2});
  test.attributes.set("strides", std::vector<int64_t>{2, 2});
  check_operator(test);
  test.inputs.push_back(ints({4}, {1, 1, 5, 9}));
  test.constants = {2};
  check_operator(test);
}

TEST(TopK, LargestSmallestTiesAndAxes) {
  for (const int64_t axis : {0, 1, 2})
    for (const int64_t largest : {0, 1})
      for (const int64_t k : {1, 3}) {
        OperatorCase test{.type = "TopK",
                          .inputs = {whole_numbers({3, 70, 5}, 24, -6.0f, 6.0f), ints({1}, {k})},
                          .constants = {1},
                          .output_count = 2};
        test.attributes.set("axis", axis);
        test.attributes.set("largest", largest);
        check_operator(test);
      }
  check_operator({.type = "TopK",
                  .inputs = {random_ints({200}, 25, -40, 40), ints({1}, {150})},
                  .constants = {1},
                  .output_count = 2});
}

TEST(OneHot, AxesNegativeAndOutside) {
  for (const int64_t axis : {0, 1, -1})
    check_operator(with_axis({.type = "OneHot",
                              .inputs = {random_ints({3, 5}, 26, -9, 9), ints({}, {7}),
                                         HostTensor::f32({2}, std::array{-1.0f, 2.5f})},
                              .constants = {1}},
                             axis));
  check_operator({.type = "OneHot",
                  .inputs = {ints({3}, {0, 2, -1}), ints({}, {3}), ints({2}, {4, 9})},
                  .constants = {1}});
}

TEST(Trilu, DiagonalsKnownAndComputed) {
  const HostTensor x = random_tensor({2, 5, 7}, 27);
  for (const int64_t upper : {0, 1})
    for (const int64_t k : {-9, -2, 0, 3, 9})
      for (const bool constant : {true, false}) {
        OperatorCase test{.type = "Trilu", .inputs = {x, ints({}, {k})}, .opset = 14};
        if (constant) test.constants = {1};
        test.attributes.set("upper", upper);
        check_operator(test);
      }
  check_operator({.type = "Trilu", .inputs = {random_ints({4, 3}, 28, -9, 9)}, .opset = 14});
}

TEST(CumSum, DirectionsAxesAndLongRows) {
  for (const int64_t axis : {0, 1, -1})
    for (const int64_t exclusive : {0, 1})
      for (const int64_t reverse : {0, 1}) {
        OperatorCase test{
            .type = "CumSum", .inputs = {random_tensor({3, 5, 7}, 29), ints({}, {axis})}, .constants = {1}};
        test.attributes.set("exclusive", exclusive);
        test.attributes.set("reverse", reverse);
        check_operator(test);
      }
  check_operator({.type = "CumSum",
                  .inputs = {random_tensor({2, 333}, 30), ints({}, {1})},
                  .constants = {1},
                  .sweep = {.fp16_tolerance = 3e-2}});
  check_operator(
      {.type = "CumSum", .inputs = {random_ints({131}, 31, -9, 9), ints({}, {0})}, .constants = {1}});
}

TEST(ReverseSequence, TimeFirstAndBatchFirst) {
  for (const int64_t batch : {0, 1}) {
    OperatorCase test{.type = "ReverseSequence",
                      .inputs = {random_tensor({4, 4, 3}, 32), ints({4}, {0, 4, 1, 3})}};
    test.attributes.set("batch_axis", batch);
    test.attributes.set("time_axis", 1 - batch);
    check_operator(test);
  }
}

TEST(Compress, AxesAndFlattened) {
  const HostTensor x = random_tensor({3, 5, 2}, 33);
  HostTensor condition(DType::boolean, {3});
  condition.mutable_as<uint8_t>()[0] = condition.mutable_as<uint8_t>()[2] = 1;
  for (const int64_t axis : {0, 1})
    check_operator(with_axis({.type = "Compress", .inputs = {x, condition}, .constants = {1}}, axis));
  check_operator({.type = "Compress", .inputs = {x, condition}, .constants = {1}});
}

}  // namespace index_test
}  // namespace vellum::test
