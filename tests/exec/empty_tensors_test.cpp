// Every operator with dimensions of 0 and 1: each dimension of each operator's inputs may be either, and of
// the outputs any may be unread. The operators are in empty_tensors/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "empty_tensors/operator_cases.hpp"
#include "empty_tensors/operator_model.hpp"
#include "exec/executor.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/tensors.hpp"
#include "vellum/error.hpp"

namespace vellum::test::empty_tensors {
namespace {

// Integers are small and in range as indices, and `least` keeps floats in the domains of most functions.
std::vector<HostTensor> inputs_of(const Graph& graph, float least) {
  std::vector<HostTensor> inputs;
  for (const ValueId id : graph.inputs) {
    const TensorType& type = graph.values[id].type;
    const bool real = type.dtype == DType::f32;
    inputs.push_back(
        cast(random_tensor(type.shape, id, real ? least : 0.0f, least > 0 ? 0.9f : 1.9f), type.dtype));
  }
  return inputs;
}

template <typename Work>
std::optional<Error> error_of(Work&& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

std::vector<HostTensor> run_on_device(const Graph& graph, const std::vector<HostTensor>& inputs) {
  Executor executor(test_context(),
                    compile_program(test_context(), lower(optimise(graph, {}), test_context()->caps(), {})));
  for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
  executor.run();
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < executor.program().outputs.size(); ++i) outputs.push_back(executor.output(i));
  return outputs;
}

// Without elements a mean is NaN on the host; where a function is not defined, devices may differ.
void expect_close(const HostTensor& got, const HostTensor& want, bool has_elements) {
  ASSERT_EQ(got.type(), want.type());
  const double tolerance = has_elements ? 1e-3 : 1e-5;
  const std::vector<float> a = got.to_floats(), b = want.to_floats();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) ? has_elements || std::isnan(a[i]) : a[i] == b[i]) continue;
    ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0f, std::abs(b[i]))) << "element " << i;
  }
}

// The device computes what the host computes, and refuses what the host refuses.
void expect_device_equals_host(const Case& test, const Resized& resized, OutputMask outputs = kAllOutputs) {
  SCOPED_TRACE(
      test.type + " with " +
      (resized.name.empty() ? "the usual sizes" : resized.name + " = " + std::to_string(resized.size)) +
      (outputs == kAllOutputs ? "" : ", outputs " + std::to_string(outputs)));
  const Graph graph = model_of(test, resized, outputs).graph();
  const std::vector<HostTensor> inputs = inputs_of(graph, resized.has_elements() ? 0.1f : -1.0f);
  std::vector<HostTensor> want, got;
  const auto refused = error_of([&] { want = evaluate(graph, inputs); });
  const auto failed = error_of([&] { got = run_on_device(graph, inputs); });
  ASSERT_EQ(failed.has_value(), refused.has_value()) << (failed ? failed : refused)->what();
  if (failed) {
    EXPECT_NE(std::string(failed->what()).find(test.type), std::string::npos) << failed->what();
    EXPECT_NE(failed->code(), ErrorCode::internal) << failed->what();
  }
  for (size_t i = 0; i < want.size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    expect_close(got[i], want[i], resized.has_elements());
  }
}

// Each named dimension is 0 and 1 in turn, with each subset of the outputs.
void expect_device_equals_host(const std::vector<Case>& cases) {
  for (const Case& test : cases) {
    const std::set<std::string> names = dimension_names(test);
    if (names.empty()) expect_device_equals_host(test, {});
    for (const std::string& name : names)
      for (const int64_t size : {0, 1})
        for (OutputMask outputs = 1; outputs < (OutputMask{1} << test.outputs); ++outputs)
          expect_device_equals_host(test, {name, size}, outputs);
  }
}

TEST(EmptyTensors, Elementwise) { expect_device_equals_host(elementwise_cases()); }
TEST(EmptyTensors, Movement) { expect_device_equals_host(movement_cases()); }
TEST(EmptyTensors, Generators) { expect_device_equals_host(generator_cases()); }
TEST(EmptyTensors, Reductions) { expect_device_equals_host(reduction_cases()); }
TEST(EmptyTensors, Products) { expect_device_equals_host(product_cases()); }
TEST(EmptyTensors, Quantised) { expect_device_equals_host(quantised_cases()); }

std::set<std::string> listed_types() {
  std::set<std::string> types;
  for (const auto& cases : {elementwise_cases(), movement_cases(), generator_cases(), reduction_cases(),
                            product_cases(), quantised_cases()})
    for (const Case& test : cases) types.insert(test.type);
  return types;
}

// Contrib operators are decomposed into listed ones, and sequences are resolved before kernels.
bool never_reaches_kernels(std::string_view type) {
  return type.starts_with("com.microsoft.") || type == "Constant" ||
         (type.find("Sequence") != type.npos && type != "ReverseSequence");
}

// Operators that passes make of listed ones.
const std::set<std::string_view> kMadeByPasses = {"AdaptiveAveragePool",
                                                  "AsStrided",
                                                  "BlockGather",
                                                  "BlockProduct",
                                                  "ByteTable",
                                                  "CacheUpdate",
                                                  "ChannelNormalization",
                                                  "DynamicSteps",
                                                  "FakeQuantize",
                                                  "FixedMatMul",
                                                  "FixedRows",
                                                  "Frame",
                                                  "IntegerLstm",
                                                  "PickChannels",
                                                  "Picture",
                                                  "Recurrence",
                                                  "RotateChannels",
                                                  "ScaledConv",
                                                  "Scatter",
                                                  "Silu",
                                                  "SquaredDifference",
                                                  "SqueezeExcite",
                                                  "StackFrames"};

TEST(EmptyTensors, ListsHaveEveryOperatorOfTheTable) {
  const std::set<std::string> listed = listed_types();
  for (const std::string_view type : operator_types())
    if (!never_reaches_kernels(type) && !kMadeByPasses.contains(type)) {
      EXPECT_TRUE(listed.contains(std::string(type))) << type;
    }
}

// The folded result of a reduction over an empty axis.
int64_t reduced_nothing(const std::string& type, const std::string& dtype) {
  const std::string input = dtype + ": n c";
  const Graph graph = optimise(model_of({type, {input.c_str(), ints({1})}}, {"c", 0}).graph(), {});
  return graph.constant(graph.outputs[0])->to_ints()[0];
}

TEST(EmptyTensors, ReductionsOverNothingGiveTheirIdentity) {
  EXPECT_EQ(reduced_nothing("ReduceMax", "i32"), INT32_MIN);
  EXPECT_EQ(reduced_nothing("ReduceMin", "i32"), INT32_MAX);
  EXPECT_EQ(reduced_nothing("ReduceMax", "u8"), 0);
  EXPECT_EQ(reduced_nothing("ReduceMin", "u8"), 255);
  EXPECT_EQ(reduced_nothing("ReduceMax", "bool"), 0);
  EXPECT_EQ(reduced_nothing("ReduceMin", "bool"), 1);
  EXPECT_EQ(reduced_nothing("ReduceSum", "i64"), 0);
  EXPECT_EQ(reduced_nothing("ReduceProd", "i64"), 1);
}

}  // namespace
}  // namespace vellum::test::empty_tensors
