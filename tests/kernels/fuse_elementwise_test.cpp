// Elementwise functions that one kernel computes, against the kernels of single functions and the host
// reference.
#include "kernels/framework/fuse_elementwise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compile/compile.hpp"
#include "exec/executor.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "selfcheck/function_cases.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace fuse_elementwise_test {

size_t count_of(const Program& program, std::string_view shader) {
  return static_cast<size_t>(std::ranges::count_if(
      program.tasks, [&](const Task& task) { return task.dispatch && task.dispatch->shader == shader; }));
}

// Returns the number of tensors that the program's first fused dispatch stores.
size_t stored_by(const Program& program) {
  for (const Task& task : program.tasks)
    if (task.dispatch && task.dispatch->shader == "elementwise")
      return static_cast<size_t>(
          std::ranges::count(task.dispatch->bindings, Access::write, &Binding::access));
  return 0;
}

std::vector<HostTensor> run(Program program, const std::vector<HostTensor>& inputs) {
  const size_t outputs = program.outputs.size();
  Executor executor(test_context(), compile_program(test_context(), std::move(program)));
  for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
  executor.run();
  std::vector<HostTensor> results;
  for (size_t i = 0; i < outputs; ++i) results.push_back(executor.output(i));
  return results;
}

Program lowered(const OnnxModel& model, const LoweringOptions& options = {.storage = StorageChoice::buffer},
                const DeviceCaps& caps = {}) {
  return lower(optimise(model.graph(), {}), caps, options);
}

void expect_same_bits(const HostTensor& got, const HostTensor& want) {
  ASSERT_EQ(got.type().shape, want.type().shape);
  const auto a = got.as<float>(), b = want.as<float>();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    EXPECT_TRUE(std::memcmp(&a[i], &b[i], sizeof a[i]) == 0) << a[i] << " and " << b[i] << " at " << i;
  }
}

// A graph of random functions: each reads results of earlier ones, inputs, rows of inputs, and broadcast
// operands.
class RandomFunctions {
 public:
  RandomFunctions(uint32_t seed, const Shape& shape, size_t count)
      : random_(seed), shape_(shape), model_(18) {
    for (const std::string name : {"a", "b"}) add_input(name, shape);
    Shape row(shape.size(), 1), column = shape;
    row.back() = shape.back();
    column.back() = 1;
    add_operand("row", row);
    add_operand("column", column);
    add_operand("one", {1});
    model_.initializer("slope", HostTensor::f32({}, std::vector<float>{0.75f}));
    operands_.push_back("slope");
    add_rows();
    for (size_t i = 0; i < count; ++i) add_function(i);
    model_.output(names_.back());
    model_.output(names_[names_.size() - 2]);
  }

  const OnnxModel& model() const { return model_; }
  const std::vector<HostTensor>& inputs() const { return inputs_; }

 private:
  size_t below(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }

  void add_input(const std::string& name, const Shape& shape) {
    model_.input(name, shape);
    inputs_.push_back(random_tensor(shape, static_cast<uint32_t>(random_()), -2.0f, 2.0f));
    names_.push_back(name);
  }
  void add_operand(const std::string& name, const Shape& shape) {
    add_input(name, shape);
    operands_.push_back(name);
    names_.pop_back();
  }
  // A part of a larger tensor, which begins within a texel where the shape does not have whole texels.
  void add_rows() {
    Shape larger = shape_;
    larger.insert(larger.begin(), 3);
    add_operand("sequence", larger);
    operands_.pop_back();
    model_.initializer("second", HostTensor::i64({}, std::vector<int64_t>{1}));
    model_.node("Gather", {"sequence", "second"}, {"part"}, attributes({{"axis", int64_t{0}}}));
    names_.push_back("part");
  }

  void add_function(size_t number) {
    static const std::vector<std::string> kUnary{"Exp",  "Sigmoid", "Tanh", "Abs",  "Neg",       "Relu",
                                                 "Sqrt", "Sin",     "Elu",  "Gelu", "LeakyRelu", "Round"};
    static const std::vector<std::string> kBinary{"Add", "Sub", "Mul",   "Div", "Max",
                                                  "Min", "Pow", "PRelu", "Add", "Mul"};
    const std::string y = "y" + std::to_string(number);
    // Recent results, so that there are chains.
    const std::string x = names_[names_.size() - 1 - below(std::min<size_t>(names_.size(), 4))];
    if (below(3) == 0) {
      model_.node(kUnary[below(kUnary.size())], {x}, {y});
    } else {
      const std::string other =
          below(3) == 0 ? operands_[below(operands_.size())] : names_[below(names_.size())];
      model_.node(kBinary[below(kBinary.size())], {x, other}, {y});
    }
    names_.push_back(y);
  }

  std::mt19937 random_;
  Shape shape_;
  OnnxModel model_;
  std::vector<HostTensor> inputs_;
  std::vector<std::string> names_, operands_;  // results and inputs of the shape; broadcast operands
};

TEST(FuseElementwise, GivesTheBitsOfSingleFunctions) {
  size_t removed = 0;
  uint32_t seed = 0;
  for (const Shape& shape :
       {Shape{3, 8}, Shape{2, 3, 5}, Shape{1, 6, 4, 7}, Shape{2, 2, 2, 3, 8}, Shape{1, 16}, Shape{37}})
    for (const Precision precision : {Precision::fp32, Precision::fp16})
      for (const bool channels4 : {true, false}) {
        SCOPED_TRACE(to_string(shape) + ", seed " + std::to_string(++seed));
        const RandomFunctions functions(seed, shape, 24);
        const Graph graph = optimise(functions.model().graph(), {});
        const LoweringOptions options{.precision = precision,
                                      .storage = StorageChoice::buffer,
                                      .inputs_to_channels4 = channels4,
                                      .fuse_epilogues = false};
        Program program = lower(graph, test_context()->caps(), options);
        const std::vector<HostTensor> want = run(program, functions.inputs());
        removed += fuse_elementwise(program, test_context()->caps(), nullptr);
        const std::vector<HostTensor> got = run(std::move(program), functions.inputs());
        for (size_t i = 0; i < want.size(); ++i) expect_same_bits(got[i], want[i]);
      }
  EXPECT_GT(removed, 100u);
}

// Every function that the kernel may compute: f(a) or f(a, c), and what another function makes of it. A
// compiler may order the operations of one such as Softplus differently where its kernel binds other tensors.
TEST(FuseElementwise, EachFunctionKeepsItsResults) {
  const std::vector<std::string> unary{
      "Abs",  "Acos",     "Acosh",      "Asin", "Asinh", "Atan",        "Atanh",          "Ceil",      "Celu",
      "Cos",  "Cosh",     "Elu",        "Exp",  "Floor", "HardSigmoid", "HardSwish",      "LeakyRelu", "Log",
      "Mish", "Neg",      "Reciprocal", "Relu", "Round", "Selu",        "Sigmoid",        "Sign",      "Sin",
      "Sinh", "Softplus", "Softsign",   "Sqrt", "Tan",   "Tanh",        "ThresholdedRelu"};
  const std::vector<std::string> binary{"Add", "Div", "Max", "Min", "Mul", "PRelu", "Pow", "Sub"};
  OnnxModel model(18);
  model.input("a", {9, 12}).input("b", {9, 12}).input("c", {12});
  std::vector<std::string> names = unary;
  for (const std::string& function : unary) model.node(function, {"a"}, {"p_" + function});
  for (const std::string& function : binary) {
    model.node(function, {"a", "c"}, {"p_" + function});
    names.push_back(function);
  }
  for (const std::string& name : names) model.node("Sub", {"b", "p_" + name}, {name}).output(name);
  Program program = lower(optimise(model.graph(), {}), test_context()->caps(),
                          {.storage = StorageChoice::buffer, .fuse_epilogues = false});
  const std::vector<HostTensor> inputs{random_tensor({9, 12}, 1, -2.0f, 2.0f),
                                       random_tensor({9, 12}, 2, -2.0f, 2.0f),
                                       random_tensor({12}, 3, -2.0f, 2.0f)};
  const std::vector<HostTensor> want = run(program, inputs);
  EXPECT_GE(fuse_elementwise(program, test_context()->caps(), nullptr), names.size());
  const std::vector<HostTensor> got = run(std::move(program), inputs);
  for (size_t i = 0; i < names.size(); ++i) {
    SCOPED_TRACE(names[i]);
    const auto a = got[i].as<float>(), b = want[i].as<float>();
    for (size_t j = 0; j < a.size(); ++j) {
      if (a[j] == b[j] || (std::isnan(a[j]) && std::isnan(b[j]))) continue;
      EXPECT_LE(std::abs(a[j] - b[j]), 1e-6f * std::clamp(std::abs(b[j]), 1.0f, 1e30f)) << j;
    }
  }
}

TEST(FuseElementwise, CasesOfTheSelfcheckEqualTheReference) {
  std::vector<SmallOperator> cases;
  add_functions(cases);
  for (const SmallOperator& small : cases)
    for (const Precision precision : {Precision::fp32, Precision::fp16}) {
      SCOPED_TRACE(small.name);
      const Graph graph = optimise(small.graph, {});
      Program program =
          lower(graph, test_context()->caps(), {.precision = precision, .storage = StorageChoice::buffer});
      EXPECT_EQ(count_of(program, "elementwise"), 1u);
      const HostTensor want = evaluate(graph, small.inputs)[0];
      const std::vector<HostTensor> got = run(std::move(program), small.inputs);
      EXPECT_LE(largest_difference(got[0], want), precision == Precision::fp16 ? 1e-2 : 1e-5);
    }
}

// e = exp(x) * scale. The names are free, so that tests add readers.
OnnxModel scaled() {
  OnnxModel model(17);
  model.input("x", {6, 12}).input("scale", {12});
  model.node("Exp", {"x"}, {"e"}).node("Mul", {"e", "scale"}, {"m"});
  return model;
}

TEST(FuseElementwise, StoresOnlyWhatOthersRead) {
  OnnxModel model = scaled();
  model.node("Sub", {"m", "e"}, {"y"}).output("y");
  const Program program = lowered(model);
  EXPECT_EQ(program.tasks.size(), 1u);
  EXPECT_EQ(stored_by(program), 1u);
  OnnxModel two = scaled();
  two.node("Sub", {"m", "e"}, {"y"}).output("y").output("e");
  EXPECT_EQ(lowered(two).tasks.size(), 1u);
  EXPECT_EQ(stored_by(lowered(two)), 2u);
}

// Functions that have no result in common, but an operand.
TEST(FuseElementwise, JoinsReadersOfOneTensor) {
  OnnxModel model(17);
  model.input("x", {6, 12}).input("a", {12}).input("b", {12});
  model.node("Mul", {"x", "a"}, {"y"}).node("Mul", {"x", "b"}, {"z"}).output("y").output("z");
  DeviceCaps caps;
  caps.max_storage_buffers_per_stage = 5;
  EXPECT_EQ(lowered(model, {.storage = StorageChoice::buffer}, caps).tasks.size(), 1u);
}

TEST(FuseElementwise, EndsWhereAnotherKernelReadsAResult) {
  OnnxModel model = scaled();
  model.node("Softmax", {"m"}, {"s"}).node("Abs", {"s"}, {"t"}).node("Sub", {"t", "e"}, {"y"}).output("y");
  const Program program = lowered(model);
  ASSERT_EQ(count_of(program, "elementwise"), 2u);
  EXPECT_EQ(program.tasks.size(), 3u);
  EXPECT_EQ(stored_by(program), 2u);
}

// Rows of a sequence, as unrolled recurrences read them: the kernel reads the sequence itself.
TEST(FuseElementwise, ReadsRowsInPlaceOfTheirCopies) {
  OnnxModel model(17);
  model.input("x", {3, 8}).input("s", {8});
  std::string state = "s";
  for (int64_t t = 0; t < 3; ++t) {
    const std::string step = std::to_string(t);
    model.initializer("i" + step, HostTensor::i64({}, std::vector<int64_t>{t}));
    model.node("Gather", {"x", "i" + step}, {"x" + step}, attributes({{"axis", int64_t{0}}}));
    model.node("Mul", {state, "x" + step}, {"p" + step}).node("Tanh", {"p" + step}, {"s" + step});
    state = "s" + step;
  }
  model.output(state);
  const Program program = lowered(model);
  EXPECT_EQ(program.tasks.size(), 1u);
  EXPECT_EQ(program.tasks[0].dispatch->bindings.size(), 3u);
}

// A copy to a state, which the next run reads, stays; one to a tensor that nothing reads does not.
TEST(FuseElementwise, KeepsCopiesToStates) {
  for (const TensorRole role : {TensorRole::state, TensorRole::weight, TensorRole::intermediate}) {
    OnnxModel model = scaled();
    model.node("Sub", {"m", "e"}, {"y"}).output("y");
    Program program = lowered(model, {.storage = StorageChoice::buffer, .fuse_epilogues = false});
    const TensorId x = program.inputs[0].tensor, to = static_cast<TensorId>(program.tensors.size());
    const TensorDesc desc = program.tensors[x].desc;
    program.tensors.push_back({"next", desc, role, kNoTensor, {}});
    Dispatch copy = *program.tasks[0].dispatch;
    copy.shader = "strided_copy";
    copy.bindings = {{.tensor = x, .name = "x"}, {.tensor = to, .access = Access::write, .name = "y"}};
    copy.copy = PlainCopy{x, to, 0, 0, desc.byte_size()};
    program.tasks.insert(program.tasks.begin(), {std::move(copy), std::nullopt});
    fuse_elementwise(program, DeviceCaps{}, nullptr);
    EXPECT_EQ(count_of(program, "elementwise"), 1u);
    EXPECT_EQ(count_of(program, "strided_copy"), role == TensorRole::intermediate ? 0u : 1u);
  }
}

// Identifiers are stored in files, one for each kernel.
TEST(FuseElementwise, HasAShortIdentifier) {
  OnnxModel model = scaled();
  std::string last = "m";
  for (int i = 0; i < 30; ++i) {
    const std::string next = last + "i";
    model.node(i % 2 ? "Exp" : "Neg", {last}, {next});
    last = next;
  }
  model.output(last);
  const Program program = lowered(model);
  ASSERT_EQ(program.tasks.size(), 1u);
  EXPECT_LT(kernel_id(*program.tasks[0].dispatch).text().size(), 400u);
}

TEST(FuseElementwise, LeavesLargeTensorsAndImages) {
  OnnxModel model(17);
  model.input("x", {300, 300});
  model.node("Exp", {"x"}, {"e"}).node("Sub", {"e", "x"}, {"y"}).output("y");
  EXPECT_EQ(count_of(lowered(model), "elementwise"), 0u);
  OnnxModel picture(17);
  picture.input("x", {1, 6, 5, 5}).input("row", {1, 1, 1, 5});
  picture.node("Exp", {"x"}, {"e"})
      .node("Mul", {"e", "row"}, {"m"})
      .node("Sub", {"m", "x"}, {"y"})
      .output("y");
  EXPECT_EQ(count_of(lowered(picture, {.storage = StorageChoice::image2d, .inputs_to_channels4 = true}),
                     "elementwise"),
            0u);
}

TEST(FuseElementwise, HasAtMostTheBindingsOfADevice) {
  OnnxModel model = scaled();
  model.input("other", {6, 12}).node("Add", {"m", "other"}, {"a"}).node("Div", {"a", "e"}, {"y"}).output("y");
  DeviceCaps caps;
  caps.max_storage_buffers_per_stage = 4;
  EXPECT_EQ(lowered(model, {.storage = StorageChoice::buffer}, caps).tasks.size(), 1u);
  caps.max_storage_buffers_per_stage = 3;
  for (const Task& task : lowered(model, {.storage = StorageChoice::buffer}, caps).tasks)
    EXPECT_LE(task.dispatch->bindings.size(), 3u);
}

TEST(FuseElementwise, IsNotDoneByAWrongKernel) {
  OnnxModel model = scaled();
  model.node("Sub", {"m", "e"}, {"y"}).output("y");
  const Program program = lowered(model);
  ASSERT_EQ(count_of(program, "elementwise"), 1u);
  WrongKernels wrong;
  wrong.emplace(kernel_id(*program.tasks[0].dispatch).text(), WrongKernel{});
  EXPECT_EQ(count_of(lowered(model, {.storage = StorageChoice::buffer, .wrong = &wrong}), "elementwise"), 0u);
}

// Strips, and the parts of large pictures, keep their kernels.
TEST(FuseElementwise, IsNotDoneWhereLayersStayApart) {
  OnnxModel model = scaled();
  model.node("Sub", {"m", "e"}, {"y"}).output("y");
  const Program program =
      compile(model.graph(), DeviceCaps{}, {.storage = StorageChoice::buffer, .fuse_layers = false}).program;
  EXPECT_EQ(count_of(program, "elementwise"), 0u);
}

// The lowest float represents minus infinity in masks. In halves a sum with it stays finite.
TEST(FuseElementwise, KeepsTheLowestHalf) {
  OnnxModel model;
  model.input("a", {4, 8}).input("mask", {4, 8});
  model.node("Abs", {"a"}, {"b"}).node("Add", {"b", "mask"}, {"s"}).node("Sub", {"s", "a"}, {"t"});
  model.node("Softmax", {"t"}, {"y"}, attributes({{"axis", int64_t{1}}})).output("y");
  Program program = lower(optimise(model.graph(), {}), test_context()->caps(),
                          {.precision = Precision::fp16, .storage = StorageChoice::buffer});
  ASSERT_EQ(count_of(program, "elementwise"), 1u);
  const std::vector<float> masked(32, std::numeric_limits<float>::lowest());
  const std::vector<HostTensor> got =
      run(std::move(program), {random_tensor({4, 8}, 1, -40.0f, 40.0f), HostTensor::f32({4, 8}, masked)});
  for (const float y : got[0].as<float>()) EXPECT_FALSE(std::isnan(y));
}

}  // namespace fuse_elementwise_test
}  // namespace vellum::test
