// What is quantised at run time: its steps, and convolutions of them. Sums of integers are exact, so that
// results are equal to the host's.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "exec/executor.hpp"
#include "graph/operators/conv/scaled_conv.hpp"
#include "graph/operators/elementwise/dynamic_steps.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace dynamic_quantization_test {

using Ints = Attributes::Ints;

HostTensor integers(Shape shape, uint32_t seed, float low, float high) {
  HostTensor tensor = random_tensor(std::move(shape), seed, low, high);
  for (float& value : tensor.mutable_as<float>()) value = std::floor(value);
  return tensor;
}

// X of `shape`, and filters of `w`, whose integers are from `low` on.
OperatorCase scaled_conv(const Shape& shape, const Shape& w, float low = -128.0f) {
  const int64_t bits = std::bit_cast<int32_t>(0.0123f);
  OperatorCase test{.type = "ScaledConv",
                    .inputs = {integers(shape, 1, -100.0f, 156.0f), integers(w, 2, low, low + 256.0f),
                               random_tensor({w[0]}, 3, -50.0f, 50.0f),
                               HostTensor::from<int64_t>(DType::i32, {1}, std::array{bits}),
                               random_tensor({w[0]}, 4, 0.01f, 0.02f)},
                    .constants = {1, 2, 4}};
  test.sweep.fp32_tolerance = 0;
  test.sweep.fp16_tolerance = 1e-3;  // the store rounds
  test.sweep.halves_tolerance = 1e-3;
  return test;
}

TEST(DynamicSteps, OfTensorsInEveryStorage) {
  for (const auto& [low, high] : {std::pair{-2.0f, 3.0f}, {1.0f, 4.0f}, {-4.0f, -1.0f}})
    for (const Shape& shape : {Shape{1, 5, 9, 7}, Shape{2, 3, 4, 5}, Shape{30, 9}, Shape{2, 6, 5}}) {
      OperatorCase test{.type = "DynamicSteps", .inputs = {random_tensor(shape, 1, low, high)}};
      test.output_count = 2;
      test.sweep.fp16 = false;  // its scale is that of other numbers
      test.sweep.fp32_tolerance = 0;
      check_operator(test);
    }
}

// LiteRT's forms. Ranges are not symmetric: their zero point would be a tie.
TEST(DynamicSteps, OfLiteRt) {
  for (const StepsForm form : {StepsForm::symmetric, StepsForm::signed_bytes})
    for (const auto& [low, high] : {std::pair{-2.0f, 3.0f}, {1.0f, 4.0f}, {-4.0f, -1.0f}, {0.0f, 0.0f}}) {
      OperatorCase test{.type = "DynamicSteps", .inputs = {random_tensor({1, 5, 9, 7}, 1, low, high)}};
      auto op = std::make_shared<DynamicSteps>();
      op->form = form;
      test.op = op;
      test.output_count = 2;
      test.sweep.fp16 = false;
      test.sweep.fp32_tolerance = 0;
      check_operator(test);
    }
}

// What is never negative has integers that are stored in bytes, and convolutions read them.
TEST(DynamicSteps, OfWhatIsNeverNegativeAreBytes) {
  OnnxModel model;
  model.input("x", {1, 6, 9, 7});
  model.initializer("ws", HostTensor::f32({}, std::array{0.0123f}));
  model.initializer("wz", HostTensor::from<int64_t>(DType::i8, {}, std::array{int64_t{0}}));
  model.initializer("wq", cast(integers({5, 6, 3, 3}, 2, -100.0f, 100.0f), DType::i8));
  model.node("Relu", {"x"}, {"r"}).node("DynamicQuantizeLinear", {"r"}, {"q", "s", "z"});
  model.node("ConvInteger", {"q", "wq", "z", "wz"}, {"sums"});
  model.node("Cast", {"sums"}, {"floats"}, attributes({{"to", int64_t{1}}}));
  model.node("Mul", {"s", "ws"}, {"scale"}).node("Mul", {"floats", "scale"}, {"y"}).output("y");
  const Graph graph = optimise(model.graph(), {});
  const std::vector<HostTensor> inputs{random_tensor({1, 6, 9, 7}, 3)};
  const std::vector<float> want = evaluate(graph, inputs)[0].to_floats();
  for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
    Program program = lower(graph, test_context()->caps(), {.storage = storage});
    EXPECT_TRUE(std::ranges::any_of(program.tensors, [](const VirtualTensor& tensor) {
      return tensor.role == TensorRole::intermediate && tensor.desc.element == ElementType::q8;
    })) << to_text(program);
    Executor executor(test_context(), compile_program(test_context(), std::move(program)));
    executor.set_input(0, inputs[0]);
    executor.run();
    EXPECT_EQ(executor.output(0).to_floats(), want);
  }
}

// Of the bounds of a Clip that cross the upper one wins, which may be negative.
TEST(DynamicSteps, OfBoundsThatCross) {
  OnnxModel model;
  model.input("x", {1, 4, 3, 5});
  model.initializer("low", HostTensor::f32({}, std::array{0.0f}));
  model.initializer("high", HostTensor::f32({}, std::array{-1.0f}));
  model.initializer("wq", cast(integers({4, 4, 1, 1}, 2, -100.0f, 100.0f), DType::i8));
  model.initializer("wz", HostTensor::from<int64_t>(DType::i8, {}, std::array{int64_t{0}}));
  model.node("Add", {"x", "x"}, {"g"}).node("Clip", {"g", "low", "high"}, {"r"});
  model.node("DynamicQuantizeLinear", {"r"}, {"q", "s", "z"});
  model.node("ConvInteger", {"q", "wq", "z", "wz"}, {"sums"});
  model.node("Cast", {"sums"}, {"floats"}, attributes({{"to", int64_t{1}}}));
  model.node("Mul", {"floats", "s"}, {"y"}).output("y");
  const Graph graph = optimise(model.graph(), {});
  const std::vector<HostTensor> inputs{random_tensor({1, 4, 3, 5}, 3)};
  Executor executor(test_context(),
                    compile_program(test_context(), lower(graph, test_context()->caps(), {})));
  executor.set_input(0, inputs[0]);
  executor.run();
  EXPECT_EQ(executor.output(0).to_floats(), evaluate(graph, inputs)[0].to_floats());
}

// 255 steps of a quarter: halves of a step are between two integers, and round to the even one.
TEST(DynamicSteps, TiesNumbersWithoutARangeAndMany) {
  std::vector<float> values{-10.0f, 53.75f, 0.125f, 0.375f, -0.125f, -0.375f, 1.125f, 20.375f, NAN};
  OperatorCase test{.type = "DynamicSteps", .inputs = {HostTensor::f32({1, 9}, values)}};
  test.output_count = 2;
  test.sweep.fp16 = false;
  test.sweep.fp32_tolerance = 0;
  check_operator(test);
  test.inputs = {HostTensor::f32({1, 6}, std::vector<float>(6, 0.0f))};
  check_operator(test);
  test.inputs = {random_tensor({1, 70, 64, 65}, 1)};
  check_operator(test);
}

// Floats at the middle of two steps and beside it: a product with the inverse of the step would round some to
// the other integer.
TEST(DynamicSteps, BesideTies) {
  for (const float high : {1.0f, 3.1415927f, 0.7071068f, 6.0f, 1234.567f, 3.3e-5f}) {
    const float step = high / 255.0f;
    std::vector<float> values{high};
    for (int k = 0; k < 255; ++k) {
      const float middle = (static_cast<float>(k) + 0.5f) * step;
      values.insert(values.end(), {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, high)});
    }
    values.resize(768, 0.0f);
    OperatorCase test{.type = "DynamicSteps", .inputs = {HostTensor::f32({1, 8, 12, 8}, values)}};
    test.output_count = 2;
    test.sweep.fp16 = false;
    test.sweep.fp32_tolerance = 0;
    check_operator(test);
  }
}

// Two layers that are quantised at run time, the first with filters of `w`. `relu`: its results are not
// negative.
Graph two_layers(const Shape& x, const Shape& w, int64_t group, float offset, bool relu = false) {
  OnnxModel model;
  model.input("x", x);
  model.initializer("wz", HostTensor::from<int64_t>(DType::i8, {}, std::array{int64_t{0}}));
  model.initializer("w1", cast(integers(w, 2, -100.0f, 100.0f), DType::i8));
  model.initializer("w2", cast(integers({3, w[0], 1, 1}, 3, -100.0f, 100.0f), DType::i8));
  model.initializer("offset",
                    HostTensor::f32({1, w[0], 1, 1}, std::vector<float>(static_cast<size_t>(w[0]), offset)));
  const auto layer = [&](const std::string& from, const std::string& weights, const Ints& kernel,
                         int64_t groups) {
    const std::string name = weights + "_";
    model.node("DynamicQuantizeLinear", {from}, {name + "q", name + "s", name + "z"});
    model.node("ConvInteger", {name + "q", weights, name + "z", "wz"}, {name + "sums"},
               attributes({{"group", groups}, {"kernel_shape", kernel}}));
    model.node("Cast", {name + "sums"}, {name + "floats"}, attributes({{"to", int64_t{1}}}));
    model.node("Mul", {name + "floats", name + "s"}, {name + "y"});
  };
  layer("x", "w1", {w[2], w[3]}, group);
  model.node("Add", {"w1_y", "offset"}, {"h"});
  if (relu) model.node("Relu", {"h"}, {"h_relu"});
  layer(relu ? "h_relu" : "h", "w2", {1, 1}, 1);
  model.output("w2_y");
  return optimise(model.graph(), {});
}

void expect_range_in_convolution(const Graph& graph, const Shape& x, StorageChoice storage,
                                 const DeviceCaps& caps) {
  const std::vector<HostTensor> inputs{random_tensor(x, 1)};
  const Program program = lower(graph, caps, {.storage = storage});
  EXPECT_EQ(std::ranges::count_if(
                program.tasks,
                [](const Task& task) { return task.dispatch && task.dispatch->shader == "dynamic_range"; }),
            1);
  Executor executor(test_context(), compile_program(test_context(), program));
  for (int run = 0; run < 2; ++run) {
    executor.set_input(0, inputs[0]);
    executor.run();
    EXPECT_EQ(executor.output(0).to_floats(), evaluate(graph, inputs)[0].to_floats());
  }
}

// A convolution finds the range of its results for the layer after it: of values that are all negative, all
// positive or both, with channels that are no whole texels, in every storage, and on GPUs in shared memory.
TEST(ScaledConv, FindsTheRangeForTheNextLayer) {
  DeviceCaps gpu = test_context()->caps();
  gpu.type = DeviceType::discrete_gpu;
  gpu.vendor_id = 0;
  const Shape x{2, 5, 9, 7};
  for (const auto& [w, group] :
       {std::pair{Shape{6, 5, 1, 1}, int64_t{1}}, {{6, 5, 3, 3}, 1}, {{5, 1, 3, 3}, 5}})
    for (const float offset : {0.0f, 5000.0f, -5000.0f}) {
      const Graph graph = two_layers(x, w, group, offset);
      for (const StorageChoice storage :
           {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d})
        expect_range_in_convolution(graph, x, storage, test_context()->caps());
      expect_range_in_convolution(graph, x, StorageChoice::buffer, gpu);
    }
}

// The kernel searches only the largest result if no result is negative.
TEST(ScaledConv, FindsTheLargestOfWhatIsNeverNegative) {
  const Shape x{1, 5, 9, 7}, w{6, 5, 1, 1};
  for (const bool relu : {false, true})
    for (const float offset : {0.0f, -5000.0f}) {
      const Graph graph = two_layers(x, w, 1, offset, relu);
      const Program program = lower(graph, test_context()->caps(), {});
      EXPECT_EQ(
          std::ranges::count_if(program.tasks,
                                [](const Task& task) {
                                  const auto& defines = task.dispatch->defines;
                                  const std::pair<std::string, std::string> macro{"NEVER_NEGATIVE", "1"};
                                  return std::ranges::find(defines, macro) != defines.end();
                                }),
          relu ? 1 : 0);
      expect_range_in_convolution(graph, x, StorageChoice::automatic, test_context()->caps());
    }
}

// Halves are rounded as they are stored: their range is found in what is stored.
TEST(ScaledConv, LeavesTheRangeOfHalvesToAKernelOfItsOwn) {
  const Graph graph = two_layers({1, 5, 9, 7}, {6, 5, 1, 1}, 1, 0.0f);
  const Program program = lower(graph, test_context()->caps(), {.precision = Precision::fp16});
  EXPECT_EQ(std::ranges::count_if(
                program.tasks,
                [](const Task& task) { return task.dispatch && task.dispatch->shader == "dynamic_range"; }),
            2);
}

// Biases that are divided by the scales and rounded down; every other one is a multiple of them.
void round_bias(OperatorCase& test, const ScaledConv& op) {
  auto rounded = std::make_shared<ScaledConv>(op);
  rounded->bias_in_steps = true;
  test.op = rounded;
  const auto biases = test.inputs[2]->mutable_as<float>();
  const std::vector<float> factors = test.inputs[4]->to_floats();
  for (size_t m = 0; m < biases.size(); m += 2)
    biases[m] = (static_cast<float>(m) - 7) * (0.0123f * factors[m]);
}

TEST(ScaledConv, OfEveryForm) {
  struct Form {
    int64_t kernel, stride, groups;
  };
  for (const auto& [kernel, stride, groups] :
       {Form{1, 1, 1}, {3, 2, 1}, {5, 1, 1}, {3, 1, 2}, {3, 1, 12}, {5, 2, 12}}) {
    OperatorCase test = scaled_conv({2, 12, 11, 9}, {groups == 1 ? 10 : 12, 12 / groups, kernel, kernel});
    auto op = std::make_shared<ScaledConv>();
    op->conv.group = groups;
    op->conv.window.strides = {stride, stride};
    op->conv.window.pads = Ints(4, kernel / 2);
    test.op = op;
    check_operator(test);
    round_bias(test, *op);
    check_operator(test);
  }
  check_operator(scaled_conv({1, 3, 9, 8}, {7, 3, 3, 3}, 0.0f));  // few channels, all weights positive
  check_operator(scaled_conv({5, 21}, {9, 21, 1, 1}, -250.0f));   // a matrix
  OperatorCase bounded = scaled_conv({1, 8, 6, 5}, {8, 8, 3, 3});
  bounded.activation = {.kind = ActivationKind::relu};
  bounded.inputs[2] = std::nullopt;
  bounded.constants = {1, 4};
  check_operator(bounded);
}

// Sums that floats cannot hold are added up as integers.
TEST(ScaledConv, OfSumsBeyondFloats) {
  for (const int64_t kernel : {1, 3}) {
    const int64_t inputs = kernel == 1 ? 700 : 100;
    OperatorCase test = scaled_conv({1, inputs, 5, 4}, {6, inputs, kernel, kernel}, 0.0f);
    for (float& value : test.inputs[0]->mutable_as<float>()) value = 255.0f - std::abs(value) / 8;
    for (float& value : test.inputs[0]->mutable_as<float>()) value = std::floor(value);
    check_candidates(test);
    ScaledConv op;
    op.conv.window.pads = Ints(4, 0);
    round_bias(test, op);
    check_candidates(test);
  }
}

TEST(ScaledConv, OfEveryCandidate) {
  check_candidates(scaled_conv({1, 24, 9, 7}, {20, 24, 1, 1}));
  check_candidates(scaled_conv({1, 12, 9, 7}, {20, 12, 3, 3}));
}

}  // namespace dynamic_quantization_test
}  // namespace vellum::test
