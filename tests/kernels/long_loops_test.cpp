// Loops that are too long for one invocation, or for one workgroup: lavapipe ends all loops of an invocation
// together after 65,535 iterations. Under a low bound small tensors take the kernels of large ones.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace long_loops_test {

HostTensor ints(std::vector<int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  return HostTensor::i64({count}, values);
}

// On a device that ends loops after so many iterations.
void check_with_bound(const OperatorCase& test, uint32_t iterations = 130) {
  DeviceCaps caps = test_context()->caps();
  caps.max_loop_iterations = iterations;
  check_operator(test, caps);
}

OperatorCase reduce_case(std::string type, Shape shape, std::vector<int64_t> axes, bool keep_dims = true) {
  OperatorCase test{.type = std::move(type),
                    .inputs = {random_tensor(std::move(shape), 1, 0.5f, 1.5f), ints(std::move(axes))},
                    .constants = {1}};
  test.opset = 18;
  test.attributes.set("keepdims", int64_t{keep_dims});
  test.sweep.fp16_tolerance = 2e-2;
  return test;
}

TEST(LongLoops, EveryReductionInSegments) {
  for (const char* type : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
                           "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    check_with_bound(reduce_case(type, {2, 5, 80, 70}, {2, 3}));
    check_with_bound(reduce_case(type, {3, 2301}, {1}));
  }
  OperatorCase products = reduce_case("ReduceProd", {2, 5, 80, 70}, {2, 3});
  products.inputs[0] = random_tensor({2, 5, 80, 70}, 2, 0.995f, 1.005f);
  check_with_bound(products);
}

TEST(LongLoops, ReductionsOverAnyAxes) {
  for (const bool keep : {true, false}) {
    check_with_bound(reduce_case("ReduceMean", {2, 16401, 1, 1}, {1}, keep));
    check_with_bound(reduce_case("ReduceMax", {2, 16401, 1, 1}, {1}, keep));
    check_with_bound(reduce_case("ReduceMean", {3, 5, 40, 41}, {0, 2, 3}, keep));
    check_with_bound(reduce_case("ReduceLogSumExp", {3, 5, 40, 41}, {0, 1, 2, 3}, keep));
    check_with_bound(reduce_case("ReduceMean", {3, 6, 1, 4300}, {3}, keep));
    check_with_bound(reduce_case("ReduceMean", {3, 6, 4300, 2}, {2}, keep));
    check_with_bound(reduce_case("ReduceMean", {4300, 5, 1, 2}, {0}, keep));
    check_with_bound(reduce_case("ReduceL2", {2, 3, 2, 40, 3, 30}, {1, 3, 5}, keep));
  }
}

TEST(LongLoops, LogSumExpOfInfinities) {
  OperatorCase test = reduce_case("ReduceLogSumExp", {2, 3000}, {1});
  HostTensor x = random_tensor({2, 3000}, 3);
  for (size_t i = 0; i < 2000; ++i) x.mutable_as<float>()[i] = -std::numeric_limits<float>::infinity();
  for (size_t i = 3000; i < 6000; ++i) x.mutable_as<float>()[i] = -std::numeric_limits<float>::infinity();
  test.inputs[0] = x;
  test.sweep.fp16 = false;
  check_with_bound(test);
}

TEST(LongLoops, GlobalPools) {
  for (const char* type : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}) {
    OperatorCase test{.type = type, .inputs = {random_tensor({2, 6, 67, 69}, 4)}};
    test.sweep.fp16_tolerance = 2e-2;
    test.sweep.as_for_gpu = true;
    check_with_bound(test);
  }
}

// One invocation and a workgroup run 65,535 iterations at most. By results, one or the other computes.
TEST(LongLoops, ReductionsAroundTheBound) {
  for (const int64_t length : {65534, 65535, 65536, 65600})
    for (const int64_t results : {1, 17}) {
      OperatorCase test = reduce_case("ReduceSum", {1, 4 * results, 1, length}, {3});
      test.sweep.linear_inputs = test.sweep.fp16 = false;
      check_operator(test);
    }
  for (const int64_t length : {21820, 21824, 21845, 21846}) {
    OperatorCase test = reduce_case("ReduceSum", {68, length}, {1});
    test.sweep.channels4_inputs = test.sweep.fp16 = false;
    check_operator(test);
  }
}

OperatorCase norm_case(std::string type, Shape shape, Shape factors, int opset) {
  OperatorCase test{.type = std::move(type),
                    .inputs = {random_tensor(std::move(shape), 5, -1.0f, 3.0f),
                               random_tensor(factors, 6, 0.5f, 2.0f), random_tensor(factors, 7)},
                    .constants = {1, 2},
                    .opset = opset};
  test.attributes.set("epsilon", 1e-5f);
  test.sweep.fp32_tolerance = 1e-4;
  test.sweep.fp16_tolerance = 3e-2;
  return test;
}

TEST(LongLoops, InstanceNormalisation) {
  for (const Shape& shape : {Shape{2, 5, 40, 41}, {1, 3, 61, 40}, {1, 8, 2411, 1}, {2, 1, 1, 1401}}) {
    OperatorCase test = norm_case("InstanceNormalization", shape, {shape[1]}, 13);
    test.sweep.as_for_gpu = true;
    check_with_bound(test);
  }
  check_with_bound(norm_case("InstanceNormalization", {2, 3, 3001}, {3}, 13));
  check_with_bound(norm_case("InstanceNormalization", {1, 2, 13, 14, 15}, {2}, 13));
}

TEST(LongLoops, GroupNormalisation) {
  OperatorCase test = norm_case("GroupNormalization", {2, 6, 30, 31}, {6}, 21);
  test.attributes.set("num_groups", int64_t{2});
  check_with_bound(test);
}

TEST(LongLoops, LayerNormalisation) {
  for (const Shape& shape : {Shape{2, 6144}, {3, 6147}, {2, 9000, 1, 1}}) {
    OperatorCase test = norm_case("LayerNormalization", shape, Shape(shape.begin() + 1, shape.end()), 17);
    test.attributes.set("axis", int64_t{1});
    check_with_bound(test);
    test.output_count = 3;
    test.attributes.set("stash_type", int64_t{1});
    check_with_bound(test);
  }
  OperatorCase rms = norm_case("RMSNormalization", {3, 6100}, {6100}, 23);
  rms.inputs.pop_back();
  rms.constants = {1};
  rms.attributes.set("axis", int64_t{1});
  check_with_bound(rms);
}

TEST(LongLoops, NormalisationsOfOtherOperators) {
  OperatorCase lp{.type = "LpNormalization", .inputs = {random_tensor({2, 3001}, 8)}};
  lp.attributes.set("axis", int64_t{1});
  check_with_bound(lp);
  OperatorCase mean{.type = "MeanVarianceNormalization", .inputs = {random_tensor({2, 3, 70, 71}, 9)}};
  mean.sweep.fp32_tolerance = 1e-4;
  mean.sweep.fp16_tolerance = 3e-2;
  check_with_bound(mean);
}

OperatorCase softmax_case(std::string type, Shape shape, int64_t axis) {
  OperatorCase test{.type = std::move(type), .inputs = {random_tensor(std::move(shape), 10, -5.0f, 5.0f)}};
  test.attributes.set("axis", axis);
  return test;
}

TEST(LongLoops, Softmax) {
  for (const char* type : {"Softmax", "LogSoftmax"}) {
    check_with_bound(softmax_case(type, {2, 6001}, 1));
    check_with_bound(softmax_case(type, {2, 6000}, 1));
    check_with_bound(softmax_case(type, {1501, 8}, 0));
    check_with_bound(softmax_case(type, {3, 2001, 7}, 1));
    check_with_bound(softmax_case(type, {2, 3, 1501, 2}, 2));
    check_with_bound(softmax_case(type, {2, 6003, 1, 2}, 1));
  }
}

TEST(LongLoops, SoftmaxOfSegmentsOfInfinities) {
  HostTensor x = random_tensor({2, 6001}, 11);
  for (size_t i = 0; i < 2000; ++i) x.mutable_as<float>()[i] = -std::numeric_limits<float>::infinity();
  OperatorCase test = softmax_case("Softmax", {2, 6001}, 1);
  test.inputs[0] = x;
  test.sweep.fp16 = false;
  check_with_bound(test);
}

TEST(LongLoops, SoftmaxAroundTheBound) {
  for (const int64_t length : {21820, 21823, 21845, 21846}) {
    OperatorCase test = softmax_case("Softmax", {1, 68, 1, length}, 3);
    test.sweep.linear_inputs = test.sweep.fp16 = false;
    check_operator(test);
  }
}

OperatorCase arg_case(const char* type, Shape shape, int64_t axis, int64_t last) {
  // Rounded to a few values, so that many are equal.
  HostTensor x = random_tensor(std::move(shape), 12, -3.0f, 3.0f);
  for (float& value : x.mutable_as<float>()) value = std::floor(2.0f * value);
  OperatorCase test{.type = type, .inputs = {x}};
  test.attributes.set("axis", axis);
  test.attributes.set("select_last_index", last);
  return test;
}

TEST(LongLoops, ArgExtremum) {
  for (const char* type : {"ArgMax", "ArgMin"})
    for (const int64_t last : {0, 1}) {
      check_with_bound(arg_case(type, {3, 1501}, 1, last));
      check_with_bound(arg_case(type, {2, 301, 3, 5}, 1, last));
      OperatorCase distinct = arg_case(type, {3, 1501}, 1, last);
      distinct.inputs[0] = random_tensor({3, 1501}, 13);
      distinct.sweep.fp16 = false;
      check_with_bound(distinct);
      OperatorCase large = arg_case(type, {2, 49152}, 1, last);
      large.sweep.channels4_inputs = large.sweep.fp16 = false;
      check_operator(large);
    }
}

TEST(LongLoops, ArgExtremumOfNans) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* type : {"ArgMax", "ArgMin"})
    for (const int64_t last : {0, 1})
      for (const size_t nans : {1u, 150u, 700u}) {  // from the first or second element on
        OperatorCase test = arg_case(type, {2, 900}, 1, last);
        HostTensor x = *test.inputs[0];
        for (size_t i = 0; i < nans; ++i) x.mutable_as<float>()[i] = x.mutable_as<float>()[901 + i] = nan;
        test.inputs[0] = x;
        test.sweep.fp16 = false;
        check_with_bound(test);
        check_operator(test);
      }
}

OperatorCase pool_case(std::string type, Shape shape, std::vector<int64_t> kernel) {
  OperatorCase test{.type = std::move(type), .inputs = {random_tensor(std::move(shape), 14)}, .opset = 19};
  test.attributes.set("kernel_shape", std::move(kernel));
  return test;
}

TEST(LongLoops, PoolsOfLargeWindows) {
  for (const char* type : {"MaxPool", "AveragePool", "LpPool"}) {
    check_with_bound(pool_case(type, {2, 5, 20, 21}, {20, 21}));
    OperatorCase strided = pool_case(type, {1, 6, 23, 25}, {11, 12});
    strided.attributes.set("strides", std::vector<int64_t>{2, 3});
    strided.attributes.set("pads", std::vector<int64_t>{3, 1, 4, 5});
    strided.attributes.set("ceil_mode", int64_t{1});
    check_with_bound(strided);
    if (std::string(type) == "AveragePool") {
      strided.attributes.set("count_include_pad", int64_t{1});
      check_with_bound(strided);
    }
    OperatorCase dilated = pool_case(type, {1, 3, 40, 42}, {12, 11});
    dilated.attributes.set("dilations", std::vector<int64_t>{2, 3});
    check_with_bound(dilated);
    OperatorCase volume = pool_case(type, {1, 3, 7, 8, 9}, {5, 4, 6});
    volume.attributes.set("strides", std::vector<int64_t>{1, 2, 1});
    volume.attributes.set("pads", std::vector<int64_t>{1, 0, 2, 1, 1, 0});
    check_with_bound(volume);
  }
  OperatorCase norm = pool_case("LpPool", {1, 3, 20, 21}, {12, 13});
  norm.attributes.set("p", int64_t{3});
  check_with_bound(norm);
}

TEST(LongLoops, PoolsOfNans) {
  OperatorCase test = pool_case("MaxPool", {1, 2, 30, 30}, {11, 12});
  HostTensor x = *test.inputs[0];
  for (const size_t i : {5u, 400u, 1313u}) x.mutable_as<float>()[i] = std::numeric_limits<float>::quiet_NaN();
  test.inputs[0] = x;
  test.sweep.fp16 = false;
  check_with_bound(test);
}

OperatorCase top_k_case(HostTensor x, int64_t axis, int64_t k, bool largest = true) {
  OperatorCase test{.type = "TopK", .inputs = {std::move(x), ints({k})}, .constants = {1}, .output_count = 2};
  test.attributes.set("axis", axis);
  test.attributes.set("largest", int64_t{largest});
  return test;
}

// Whole numbers, many of them equal.
HostTensor with_ties(Shape shape, uint32_t seed) {
  HostTensor x = random_tensor(std::move(shape), seed, -30.0f, 30.0f);
  for (float& value : x.mutable_as<float>()) value = std::floor(value);
  return x;
}

TEST(LongLoops, TopKMergesRuns) {
  for (const bool largest : {true, false}) {
    for (const int64_t k : {5, 63, 64, 65, 256, 300, 999})
      check_operator(top_k_case(with_ties({2, 1000}, 15), 1, k, largest));
    for (const int64_t length : {65, 127, 128, 129, 256, 257, 4097})
      check_operator(top_k_case(with_ties({3, length}, 16), 1, length == 4097 ? 4097 : 33, largest));
    check_operator(top_k_case(with_ties({2, 700, 3}, 17), 1, 650, largest));
    check_operator(top_k_case(with_ties({700, 2, 3}, 18), 0, 40, largest));
    check_operator(top_k_case(cast(with_ties({2, 900}, 19), DType::i64), 1, 500, largest));
  }
  // All loops are far below the bound whatever the length.
  check_with_bound(top_k_case(with_ties({2, 5000}, 20), 1, 900), 150);
}

TEST(LongLoops, TopKOfNans) {
  HostTensor x = with_ties({2, 900}, 21);
  for (size_t i = 0; i < 1800; i += 3) x.mutable_as<float>()[i] = std::numeric_limits<float>::quiet_NaN();
  for (const bool largest : {true, false})
    for (const int64_t k : {2, 30, 620, 900}) {
      OperatorCase test = top_k_case(x, 1, k, largest);
      test.sweep.fp16 = false;
      check_operator(test);
    }
}

TEST(LongLoops, CumulativeSums) {
  for (const int64_t exclusive : {0, 1})
    for (const int64_t reverse : {0, 1}) {
      OperatorCase test{
          .type = "CumSum",
          .inputs = {random_tensor({2, 3001, 3}, 22), HostTensor::i64({}, std::array{int64_t{1}})},
          .constants = {1}};
      test.attributes.set("exclusive", exclusive);
      test.attributes.set("reverse", reverse);
      test.sweep.fp32_tolerance = 1e-4;
      test.sweep.fp16_tolerance = 5e-2;
      check_with_bound(test, 150);
    }
}

}  // namespace long_loops_test
}  // namespace vellum::test
