// Elementwise functions that the kernel of an operand computes, against the host reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/compile.hpp"
#include "exec/executor.hpp"
#include "kernels/framework/fuse_epilogues.hpp"
#include "kernels/framework/lowering.hpp"
#include "kernels/gpu_named.hpp"
#include "passes/passes.hpp"
#include "selfcheck/epilogue_cases.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace epilogue_test {

// Returns the shaders of the dispatches with an epilogue.
std::vector<std::string> epilogues(const Program& program) {
  std::vector<std::string> shaders;
  for (const Task& task : program.tasks)
    if (task.dispatch && std::ranges::any_of(task.dispatch->defines,
                                             [](const auto& macro) { return macro.first == "EPILOGUE"; }))
      shaders.push_back(task.dispatch->shader);
  return shaders;
}

size_t count_of(const Program& program, std::string_view shader) {
  return static_cast<size_t>(std::ranges::count_if(
      program.tasks, [&](const Task& task) { return task.dispatch && task.dispatch->shader == shader; }));
}

// Every kernel that may have an epilogue, in every storage, in its layouts, and in both orders of operands.
// The kernels of a GPU, too: CPUs compute depthwise separable convolutions as two layers.
TEST(Epilogue, OfEachKernelEqualsTheReference) {
  std::vector<SmallOperator> cases;
  add_epilogues(cases);
  std::set<std::string> shaders;
  for (const SmallOperator& small : cases) {
    SCOPED_TRACE(small.name);
    const Graph graph = optimise(small.graph, {});
    const HostTensor want = evaluate(graph, small.inputs)[0];
    for (const DeviceCaps& caps : {test_context()->caps(), gpu_named("NAVI31")})
      for (const StorageChoice storage :
           {StorageChoice::image2d, StorageChoice::image3d, StorageChoice::buffer})
        for (const Precision precision : {Precision::fp32, Precision::fp16})
          for (const bool channels4 : {true, false}) {
            Program program = lower(
                graph, caps, {.precision = precision, .storage = storage, .inputs_to_channels4 = channels4});
            const std::vector<std::string> found = epilogues(program);
            if (found.empty()) continue;  // the kernels' own tests check them
            shaders.insert(found.begin(), found.end());
            Executor executor(test_context(), compile_program(test_context(), std::move(program)));
            for (size_t i = 0; i < small.inputs.size(); ++i) executor.set_input(i, small.inputs[i]);
            executor.run();
            EXPECT_LE(largest_difference(executor.output(0), want),
                      precision == Precision::fp16 ? 1e-2 : 1e-5);
          }
  }
  EXPECT_EQ(shaders, (std::set<std::string>{"binary", "conv", "conv_pointwise", "conv_separable", "matmul",
                                            "norm_rows", "pad_linear", "pool", "resize", "strided_copy",
                                            "strided_texels"}));
}

constexpr int64_t kChannels = 12;

// y = LayerNormalization(x) + other. The names are free, so that tests add readers and other operands.
OnnxModel normalised() {
  OnnxModel model(17);
  model.input("x", {7, kChannels}).input("other", {7, kChannels});
  model.initializer("scale", random_tensor({kChannels}, 1));
  model.node("LayerNormalization", {"x", "scale"}, {"n"});
  return model;
}

Program lowered(const OnnxModel& model, const LoweringOptions& options = {}, const DeviceCaps& caps = {}) {
  return lower(optimise(model.graph(), {}), caps, options);
}

TEST(Epilogue, NeedsNoDispatch) {
  OnnxModel model = normalised();
  model.node("Add", {"n", "other"}, {"y"}).output("y");
  EXPECT_EQ(epilogues(lowered(model)), std::vector<std::string>{"norm_rows"});
  EXPECT_EQ(count_of(lowered(model), "binary"), 0u);
}

// The kernel that computes its operand last has the epilogue, as the other operand exists then.
TEST(Epilogue, IsThatOfTheLaterOperand) {
  OnnxModel model = normalised();
  model.node("Max", {"x", "other"}, {"m"}).node("Sub", {"n", "m"}, {"y"}).output("y");
  EXPECT_EQ(epilogues(lowered(model)), std::vector<std::string>{"binary"});
}

// A sum of three tensors: the kernel of the first sum has the second as its epilogue, but no third.
TEST(Epilogue, IsOne) {
  OnnxModel model = normalised();
  model.node("Mul", {"n", "other"}, {"a"}).node("Add", {"a", "x"}, {"b"});
  model.node("Mul", {"b", "other"}, {"y"}).output("y");
  const Program program = lowered(model);
  EXPECT_EQ(epilogues(program), (std::vector<std::string>{"norm_rows", "binary"}));
}

TEST(Epilogue, IsNoneOfATensorThatIsReadElsewhere) {
  OnnxModel model = normalised();
  model.node("Add", {"n", "other"}, {"y"}).node("Mul", {"n", "other"}, {"z"}).output("y").output("z");
  EXPECT_TRUE(epilogues(lowered(model)).empty());
  OnnxModel output = normalised();
  output.node("Add", {"n", "other"}, {"y"}).output("y").output("n");
  EXPECT_TRUE(epilogues(lowered(output)).empty());
  OnnxModel twice = normalised();
  twice.node("Add", {"n", "n"}, {"y"}).output("y");
  EXPECT_TRUE(epilogues(lowered(twice)).empty());
}

TEST(Epilogue, IsNoneOfABroadcastOperand) {
  OnnxModel model = normalised();
  model.initializer("bias", random_tensor({7, 1}, 3)).node("Add", {"n", "bias"}, {"y"}).output("y");
  EXPECT_TRUE(epilogues(lowered(model)).empty());
}

// y = PRelu(3x3 Conv(x)) with slopes of that shape. `result_first`: the Conv is the input, not the slopes.
Program with_slopes(const Shape& slopes, bool result_first = true) {
  OnnxModel model;
  model.input("x", {1, 8, 6, 6}).initializer("w", random_tensor({kChannels, 8, 3, 3}, 1));
  model.node("Conv", {"x", "w"}, {"c"});
  if (result_first)
    model.initializer("s", random_tensor(slopes, 2)).node("PRelu", {"c", "s"}, {"y"});
  else
    model.input("s", {1, kChannels, 4, 4}).node("PRelu", {"s", "c"}, {"y"});
  return lowered(model.output("y"));
}

TEST(Epilogue, IsAPReluWithSlopesOfChannels) {
  EXPECT_EQ(epilogues(with_slopes({kChannels, 1, 1})), std::vector<std::string>{"conv"});
  EXPECT_EQ(epilogues(with_slopes({1, kChannels, 1, 1})).size(), 1u);
  EXPECT_TRUE(epilogues(with_slopes({1})).empty());
  EXPECT_TRUE(epilogues(with_slopes({kChannels, 1, 4})).empty());
  EXPECT_TRUE(epilogues(with_slopes({kChannels, 4, 4})).empty());
  EXPECT_TRUE(epilogues(with_slopes({}, false)).empty()) << "the results are slopes";
}

TEST(Epilogue, IsNoneWithAnActivation) {
  OnnxModel model = normalised();
  model.node("Add", {"n", "other"}, {"a"}).node("Relu", {"a"}, {"y"}).output("y");
  EXPECT_TRUE(epilogues(lowered(model)).empty());
}

TEST(Epilogue, IsNoneBeyondTheBindingsOfADevice) {
  OnnxModel model = normalised();
  model.node("Add", {"n", "other"}, {"y"}).output("y");
  DeviceCaps caps;
  caps.max_storage_buffers_per_stage = 3;
  EXPECT_TRUE(epilogues(lowered(model, {.storage = StorageChoice::buffer}, caps)).empty());
  caps.max_storage_buffers_per_stage = 4;
  EXPECT_EQ(epilogues(lowered(model, {.storage = StorageChoice::buffer}, caps)).size(), 1u);
}

// A product with a residual reads its images as storage images where the device may bind four. With an
// epilogue they are sampled instead.
TEST(Epilogue, SamplesImagesBeyondTheStorageImagesOfADevice) {
  const Shape shape{1, kChannels, 5, 7};
  OnnxModel model;
  model.input("x", shape).input("other", shape).input("factor", shape);
  model.initializer("w", random_tensor({kChannels, kChannels, 1, 1}, 1));
  model.node("Conv", {"x", "w"}, {"c"})
      .node("Add", {"c", "other"}, {"s"})
      .node("Mul", {"s", "factor"}, {"m"});
  model.node("GlobalAveragePool", {"m"}, {"y"}).output("y");
  const Graph graph = optimise(model.graph(), {});
  DeviceCaps caps = test_context()->caps();
  caps.reads_images_as_storage = true;
  caps.max_storage_images_per_stage = 4;
  const LoweringOptions options{.storage = StorageChoice::image2d, .inputs_to_channels4 = true};
  Program program = lower(graph, caps, options);
  ASSERT_EQ(epilogues(program), std::vector<std::string>{"conv_pointwise"});
  std::vector<HostTensor> inputs;
  for (uint32_t i = 0; i < 3; ++i) inputs.push_back(random_tensor(shape, 5 + i));
  Executor executor(test_context(), compile_program(test_context(), std::move(program)));
  for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
  executor.run();
  EXPECT_LE(largest_difference(executor.output(0), evaluate(graph, inputs)[0]), 1e-5);
  caps.max_sampled_images_per_stage = 1;
  EXPECT_TRUE(epilogues(lower(graph, caps, options)).empty());
}

TEST(Epilogue, IsNoneWhereItsKernelIsWrong) {
  OnnxModel model = normalised();
  model.node("Add", {"n", "other"}, {"y"}).output("y");
  const Program program = lowered(model);
  WrongKernels wrong;
  for (const Task& task : program.tasks)
    if (task.dispatch->shader == "norm_rows") wrong.emplace(kernel_id(*task.dispatch).text(), WrongKernel{});
  ASSERT_EQ(wrong.size(), 1u);
  const Program avoided = lowered(model, {.wrong = &wrong});
  EXPECT_TRUE(epilogues(avoided).empty());
  EXPECT_EQ(count_of(avoided, "norm_rows"), 1u) << "the kernel without an epilogue is right";
}

// Strips, and the parts of large pictures, must give the bits of the whole layer.
TEST(Epilogue, IsNoneWhereLayersStayApart) {
  OnnxModel model = normalised();
  model.node("Add", {"n", "other"}, {"y"}).output("y");
  EXPECT_EQ(epilogues(compile(model.graph(), DeviceCaps{}, {}).program).size(), 1u);
  EXPECT_TRUE(epilogues(compile(model.graph(), DeviceCaps{}, {.fuse_layers = false}).program).empty());
}

// The lowest float represents minus infinity in masks. In halves the sum stays finite, as without an
// epilogue.
TEST(Epilogue, KeepsTheLowestHalf) {
  OnnxModel model;
  model.input("a", {4, 8}).input("b", {4, 8}).input("mask", {4, 8});
  model.node("Mul", {"a", "b"}, {"m"}).node("Add", {"m", "mask"}, {"s"});
  model.node("Softmax", {"s"}, {"y"}, attributes({{"axis", int64_t{1}}})).output("y");
  const Graph graph = optimise(model.graph(), {});
  Program program = lower(graph, test_context()->caps(), {.precision = Precision::fp16});
  ASSERT_EQ(epilogues(program).size(), 1u);
  Executor executor(test_context(), compile_program(test_context(), std::move(program)));
  const std::vector<float> masked(32, std::numeric_limits<float>::lowest());
  const std::vector<HostTensor> inputs{random_tensor({4, 8}, 1, -40.0f, 40.0f), random_tensor({4, 8}, 2),
                                       HostTensor::f32({4, 8}, masked)};
  for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
  executor.run();
  for (const float y : executor.output(0).as<float>()) EXPECT_FALSE(std::isnan(y));
}

}  // namespace epilogue_test
}  // namespace vellum::test
