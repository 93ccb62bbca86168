// Reductions, softmax and normalisation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace reduce_test {

HostTensor ints(std::vector<int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  return HostTensor::i64({count}, values);
}

OperatorCase reduce_case(std::string type, Shape shape, std::vector<int64_t> axes, bool keep_dims,
                         float low = -1.0f, float high = 1.0f) {
  OperatorCase test{.type = std::move(type),
                    .inputs = {random_tensor(std::move(shape), 1, low, high), ints(std::move(axes))},
                    .constants = {1}};
  test.opset = 18;
  test.attributes.set("keepdims", int64_t{keep_dims});
  test.sweep.fp16_tolerance = 2e-2;
  return test;
}

TEST(Reduce, EveryFunction) {
  for (const char* type : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                           "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"}) {
    check_operator(reduce_case(type, {2, 5, 3, 4}, {2, 3}, true));
    check_operator(reduce_case(type, {2, 5, 3, 4}, {1}, true));
  }
  check_operator(reduce_case("ReduceLogSum", {2, 5, 3, 4}, {1, 2}, true, 0.1f, 2.0f));
}

TEST(Reduce, EveryAxisWithAndWithoutKeepingIt) {
  for (const bool keep : {true, false})
    for (const std::vector<int64_t>& axes :
         {std::vector<int64_t>{0}, {1}, {2}, {3}, {-1, -2}, {0, 2}, {1, 3}, {0, 1, 2, 3}})
      check_operator(reduce_case("ReduceMean", {2, 5, 3, 7}, axes, keep));
}

// Such as the length of a sequence, which is the sum of its mask.
TEST(Reduce, SumsOfIntegers) {
  for (const auto& [shape, axes] :
       {std::pair<Shape, Attributes::Ints>{{1, 67}, {1}}, {{1, 288}, {1}}, {{3, 5, 2}, {0, 2}}}) {
    std::vector<int64_t> values(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * i % 23) - 7;
    OperatorCase test{.type = "ReduceSum",
                      .inputs = {HostTensor::i64(shape, values),
                                 HostTensor::i64({static_cast<int64_t>(axes.size())}, axes)},
                      .constants = {1}};
    test.attributes.set("keepdims", int64_t{0});
    check_operator(test);
  }
}

TEST(Reduce, OtherRanks) {
  for (const bool keep : {true, false}) {
    check_operator(reduce_case("ReduceMax", {7}, {0}, keep));
    check_operator(reduce_case("ReduceMax", {3, 5}, {1}, keep));
    check_operator(reduce_case("ReduceMax", {2, 5, 3}, {2}, keep));
    check_operator(reduce_case("ReduceMax", {2, 3, 1, 2, 3, 2}, {0, 2, 4}, keep));
  }
}

TEST(Reduce, LoopsLongEnoughForAWorkgroup) {
  const auto check = [](OperatorCase test) {
    test.sweep.as_for_gpu = true;
    check_operator(test);
  };
  for (const char* type : {"ReduceMean", "ReduceMax", "ReduceLogSumExp"}) {
    check(reduce_case(type, {1, 3, 19, 17}, {2, 3}, true));
    check(reduce_case(type, {1, 301, 1, 2}, {1}, true));
    check(reduce_case(type, {5, 331}, {1}, false));
  }
}

TEST(Reduce, LogSumExpOfLargeNumbers) {
  check_operator(reduce_case("ReduceLogSumExp", {2, 5, 3, 2}, {1}, true, 90.0f, 200.0f));
}

TEST(Reduce, WithoutAxes) {
  OperatorCase all{.type = "ReduceSum", .inputs = {random_tensor({2, 3, 4}, 2)}};
  check_operator(all);
  all.attributes.set("noop_with_empty_axes", int64_t{1});
  check_operator(all);
}

// What they do to each element.
TEST(Reduce, OfNoAxes) {
  for (const char* type :
       {"ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean"}) {
    const bool positive = std::string_view(type) == "ReduceLogSum";
    OperatorCase test{
        .type = type, .inputs = {random_tensor({2, 3, 5, 4}, 2, positive ? 0.1f : -3.0f, 3.0f)}, .opset = 18};
    test.attributes.set("noop_with_empty_axes", int64_t{1});
    check_operator(test);
  }
}

TEST(ArgReduce, IndexOfTheExtremum) {
  for (const char* type : {"ArgMax", "ArgMin"})
    for (const int64_t axis : {0, 1, 3})
      for (const int64_t last : {0, 1}) {
        // Rounded to a few values, so that some are equal.
        HostTensor x = random_tensor({2, 6, 3, 5}, 3, -3.0f, 3.0f);
        for (float& value : x.mutable_as<float>()) value = std::floor(value);
        OperatorCase test{.type = type, .inputs = {x}};
        test.attributes.set("axis", axis);
        test.attributes.set("select_last_index", last);
        check_operator(test);
      }
}

OperatorCase softmax_case(std::string type, Shape shape, int64_t axis, int opset = 13) {
  OperatorCase test{.type = std::move(type), .inputs = {random_tensor(std::move(shape), 4, -5.0f, 5.0f)}};
  test.attributes.set("axis", axis);
  test.opset = opset;
  return test;
}

TEST(Softmax, EveryAxis) {
  for (const char* type : {"Softmax", "LogSoftmax"}) {
    for (const int64_t axis : {0, 1, 2, -1}) check_operator(softmax_case(type, {2, 5, 3, 7}, axis));
    check_operator(softmax_case(type, {3, 5}, 1));
    check_operator(softmax_case(type, {2, 5, 3}, 2));
    check_operator(softmax_case(type, {7}, 0));
    check_operator(softmax_case(type, {2, 1, 3, 2, 5}, 2));
  }
}

TEST(Softmax, RowsLongEnoughForAWorkgroup) {
  const auto check = [](OperatorCase test) {
    test.sweep.as_for_gpu = true;
    check_operator(test);
  };
  for (const char* type : {"Softmax", "LogSoftmax"}) {
    check(softmax_case(type, {2, 1001}, 1));
    check(softmax_case(type, {1, 3, 2, 97}, 3));
    check(softmax_case(type, {19, 2, 68}, 2));
    check(softmax_case(type, {2, 65, 3, 4}, 1));
    check(softmax_case(type, {2, 65, 3, 3}, 1));
  }
}

TEST(Softmax, FlattensBeforeOpset13) {
  for (const int64_t axis : {1, 2, 3}) check_operator(softmax_case("Softmax", {2, 5, 3, 2}, axis, 11));
  check_operator(softmax_case("Softmax", {2, 5, 1, 1}, 1, 11));
}

// Rows of one whole texel each, and rows that begin and end in the middle of one.
TEST(Softmax, ShortRows) {
  for (const char* type : {"Softmax", "LogSoftmax"})
    for (const int64_t length : {1, 2, 3, 4, 6, 9}) check_operator(softmax_case(type, {5, 3, 1, length}, 3));
}

TEST(Softmax, RowsOfInfinities) {
  OperatorCase test = softmax_case("Softmax", {3, 7}, 1);
  const auto x = test.inputs[0]->mutable_as<float>();
  std::fill(x.begin(), x.begin() + 5, -INFINITY);
  test.sweep.fp16 = false;
  check_operator(test);
}

TEST(Softmax, LargeInputsDoNotOverflow) {
  OperatorCase test = softmax_case("Softmax", {2, 5, 3, 2}, 1);
  test.inputs = {random_tensor({2, 5, 3, 2}, 5, 500.0f, 504.0f)};
  check_operator(test);
}

OperatorCase norm_case(std::string type, Shape shape, const std::vector<int64_t>& factors) {
  OperatorCase test{.type = std::move(type),
                    .inputs = {random_tensor(std::move(shape), 6, -2.0f, 3.0f)},
                    .constants = {1, 2}};
  test.inputs.push_back(random_tensor(factors, 7, 0.5f, 1.5f));
  test.inputs.push_back(random_tensor(factors, 8));
  test.sweep.fp32_tolerance = 3e-5;
  test.sweep.fp16_tolerance = 2e-2;
  test.opset = 21;
  return test;
}

TEST(Normalization, Batch) {
  for (const Shape& shape : {Shape{2, 5, 3, 7}, Shape{2, 6, 5}, Shape{3, 7}}) {
    OperatorCase test = norm_case("BatchNormalization", shape, {shape[1]});
    test.inputs.push_back(random_tensor({shape[1]}, 9));
    test.inputs.push_back(random_tensor({shape[1]}, 10, 0.2f, 2.0f));
    test.constants = {1, 2, 3, 4};
    check_operator(test);
    test.activation = {ActivationKind::relu};
    check_operator(test);
  }
}

TEST(Normalization, Instance) {
  for (const Shape& shape : {Shape{2, 5, 3, 7}, Shape{1, 3, 17, 13}, Shape{2, 6, 5}}) {
    OperatorCase test = norm_case("InstanceNormalization", shape, {shape[1]});
    test.sweep.as_for_gpu = true;
    check_operator(test);
    test.activation = {ActivationKind::sigmoid};  // which is not 0 in unused channels
    check_operator(test);
  }
}

TEST(Normalization, Layer) {
  for (const Shape& shape : {Shape{2, 5, 7}, Shape{3, 130}, Shape{2, 19, 132}, Shape{17, 64}}) {
    OperatorCase test = norm_case("LayerNormalization", shape, {shape.back()});
    test.sweep.as_for_gpu = true;
    check_operator(test);
  }
  OperatorCase pixels = norm_case("LayerNormalization", {3, 70, 1, 1}, {70, 1, 1});
  pixels.attributes.set("axis", int64_t{1});
  check_operator(pixels);
  OperatorCase two = norm_case("LayerNormalization", {2, 3, 5, 3}, {5, 3});
  two.attributes.set("axis", int64_t{2});
  check_operator(two);
}

TEST(Normalization, Channels) {
  for (const Shape& shape : {Shape{2, 5, 3, 7}, Shape{1, 96, 9, 5}, Shape{3, 130, 1, 2}}) {
    OperatorCase test = norm_case("ChannelNormalization", shape, {shape[1]});
    test.sweep.as_for_gpu = true;
    check_operator(test);
    test.activation = {ActivationKind::gelu};
    check_operator(test);
  }
  OperatorCase unbiased = norm_case("ChannelNormalization", {1, 6, 2, 3}, {6});
  unbiased.inputs.resize(2);
  unbiased.constants = {1};
  check_operator(unbiased);
  for (const int64_t channels : {6, 96}) {
    OperatorCase squares = norm_case("ChannelNormalization", {2, channels, 3, 7}, {channels});
    squares.inputs.resize(2);
    squares.constants = {1};
    squares.attributes.set("centred", int64_t{0});
    squares.sweep.as_for_gpu = true;
    check_operator(squares);
  }
}

TEST(Normalization, Group) {
  struct Case {
    Shape shape;
    int64_t groups;
  };
  // Groups of whole slices, of parts of slices, of one channel, and of volumes.
  for (const auto& [shape, groups] :
       {Case{{2, 6, 3, 5}, 3}, Case{{2, 16, 7, 5}, 2}, Case{{1, 30, 5, 9}, 3}, Case{{2, 12, 11}, 3},
        Case{{1, 5, 4, 4}, 5}, Case{{1, 8, 3, 2, 4}, 2}}) {
    OperatorCase test = norm_case("GroupNormalization", shape, {shape[1]});
    test.attributes.set("num_groups", groups);
    test.sweep.as_for_gpu = true;
    check_operator(test);
    test.activation = {ActivationKind::sigmoid};
    check_operator(test);
  }
}

TEST(Normalization, LocalResponse) {
  for (const int64_t size : {1, 2, 3, 5, 100}) {
    OperatorCase test{.type = "LRN", .inputs = {random_tensor({2, 11, 3, 4}, 1, -3.0f, 3.0f)}};
    test.attributes.set("size", size);
    test.attributes.set("alpha", 0.5f);
    test.attributes.set("bias", 2.0f);
    check_operator(test);
  }
}

TEST(Normalization, OverAnyAxes) {
  for (const Attributes::Ints& axes : {Attributes::Ints{0, 2, 3}, {1}, {-1}}) {
    OperatorCase test{.type = "MeanVarianceNormalization", .inputs = {random_tensor({2, 5, 3, 7}, 1)}};
    test.attributes.set("axes", axes);
    check_operator(test);
  }
}

TEST(Normalization, ByANorm) {
  for (const int64_t p : {1, 2}) {
    for (const int64_t axis : {0, 1, -1}) {
      OperatorCase test{.type = "LpNormalization", .inputs = {random_tensor({2, 5, 7}, 1)}};
      test.attributes.set("p", p);
      test.attributes.set("axis", axis);
      check_operator(test);
    }
  }
}

TEST(Hardmax, MarksTheFirstMaximum) {
  for (const int64_t axis : {0, 1, -1}) check_operator(softmax_case("Hardmax", {2, 5, 3}, axis));
  check_operator(softmax_case("Hardmax", {2, 5, 3}, 1, 11));
  OperatorCase equals = softmax_case("Hardmax", {2, 3}, 1);
  equals.inputs = {HostTensor::f32({2, 3}, std::vector<float>{1, 4, 4, 2, 2, 2})};
  check_operator(equals);
}

}  // namespace reduce_test
}  // namespace vellum::test
