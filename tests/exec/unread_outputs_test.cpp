// Operators with several outputs, of which any may have no reader.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "exec/executor.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

struct OperatorOfSeveralOutputs {
  std::string name;  // of the case
  std::string type;
  size_t outputs;
  HostTensor input;
  Attributes attributes = {};
  std::vector<HostTensor> constants = {};  // the inputs after the first
};

HostTensor vector_of(const std::vector<int64_t>& values) {
  return HostTensor::i64({static_cast<int64_t>(values.size())}, values);
}

// Values that occur several times each.
HostTensor repeated_values() {
  return HostTensor::f32({8}, std::vector<float>{2, 1, 1, 3, 4, 3, 2, 2});
}

std::vector<OperatorOfSeveralOutputs> operators() {
  const auto window = [](size_t axes) {
    return attributes({{"kernel_shape", Ints(axes, 2)}, {"strides", Ints(axes, 2)}});
  };
  const HostTensor bytes = cast(random_tensor({1, 3, 6, 4}, 2, 0.0f, 100.0f), DType::u8);
  const std::vector<HostTensor> scale_and_bias = {random_tensor({8}, 3), random_tensor({8}, 4)};
  const std::vector<HostTensor> odd_scale = {random_tensor({5}, 3)};
  const Attributes axis1 = attributes({{"axis", int64_t{1}}});
  return {
      {"MaxPool1D", "MaxPool", 2, random_tensor({1, 3, 8}, 1), window(1)},
      {"MaxPool2D", "MaxPool", 2, random_tensor({1, 3, 6, 4}, 1), window(2)},
      {"MaxPool3D", "MaxPool", 2, random_tensor({1, 3, 4, 6, 4}, 1), window(3)},
      {"MaxPoolOfBytes", "MaxPool", 2, bytes, window(2)},
      {"TopK", "TopK", 2, random_tensor({3, 10}, 1), {}, {vector_of({4})}},
      {"TopKOfUnsigned", "TopK", 2, cast(bytes, DType::u32), {}, {vector_of({2})}},
      {"LayerNormalization", "LayerNormalization", 3, random_tensor({6, 8}, 1), {}, scale_and_bias},
      {"LayerNormalizationOfOddRows", "LayerNormalization", 3, random_tensor({6, 5}, 1), {}, odd_scale},
      {"Split", "Split", 4, random_tensor({2, 10, 3}, 1), axis1, {vector_of({1, 4, 2, 3})}},
      {"SplitOfImages", "Split", 3, random_tensor({1, 12, 5, 4}, 1), axis1, {vector_of({4, 6, 2})}},
      {"Dropout", "Dropout", 2, random_tensor({2, 6}, 1)},
      {"DynamicQuantizeLinear", "DynamicQuantizeLinear", 3, random_tensor({2, 6}, 1)},
      {"Unique", "Unique", 4, repeated_values()},
  };
}

// One node, of whose outputs the graph outputs those in `read` (bit i for output i). Nobody reads the others,
// or the node leaves them out.
OnnxModel model_of(const OperatorOfSeveralOutputs& test, unsigned read, bool leave_out) {
  OnnxModel model(17);
  model.input("x", test.input.shape(), test.input.dtype());
  std::vector<std::string> inputs = {"x"}, outputs;
  for (const HostTensor& constant : test.constants) {
    inputs.push_back("c" + std::to_string(inputs.size()));
    model.initializer(inputs.back(), constant);
  }
  for (size_t i = 0; i < test.outputs; ++i) {
    const bool is_read = read >> i & 1;
    outputs.push_back(is_read || !leave_out ? "y" + std::to_string(i) : "");
  }
  model.node(test.type, inputs, outputs, test.attributes, "node");
  for (size_t i = 0; i < test.outputs; ++i)
    if (read >> i & 1) model.output(outputs[i]);
  return model;
}

// On the device, with every pass and without the removal of what nobody reads, as the host computes it.
void check_on_device(const Graph& graph, const HostTensor& input) {
  const std::vector<HostTensor> want = evaluate(graph, std::vector{input});
  for (const std::vector<std::string>& disabled : {std::vector<std::string>{}, {"remove_dead_code"}})
    for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d}) {
      SCOPED_TRACE(std::string(disabled.empty() ? "every pass" : "dead code stays") +
                   (storage == StorageChoice::buffer ? ", buffers" : ", images"));
      Program program = lower(optimise(graph, {}, disabled), test_context()->caps(), {.storage = storage});
      Executor executor(test_context(), compile_program(test_context(), std::move(program)));
      executor.set_input(0, input);
      executor.run();
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_TRUE(close(executor.output(i), want[i], 1e-5)) << "graph output " << i;
    }
}

class UnreadOutputs : public testing::TestWithParam<OperatorOfSeveralOutputs> {};

TEST_P(UnreadOutputs, OthersAreComputed) {
  const OperatorOfSeveralOutputs& test = GetParam();
  for (unsigned read = 1; read < 1u << test.outputs; ++read)
    for (const bool leave_out : {false, true}) {
      SCOPED_TRACE("read " + std::to_string(read) + (leave_out ? ", others left out" : ""));
      check_on_device(model_of(test, read, leave_out).graph(), test.input);
    }
}

INSTANTIATE_TEST_SUITE_P(All, UnreadOutputs, testing::ValuesIn(operators()),
                         [](const auto& entry) { return entry.param.name; });

// MediaPipe's form of MaxPool, which no ONNX model has.
TEST(UnreadOutput, OfMaxPoolWithPositionsInItsWindows) {
  OperatorOfSeveralOutputs test = operators()[1];
  for (unsigned read = 1; read < 4; ++read) {
    Graph graph = model_of(test, read, false).graph();
    auto pool = std::make_shared<Pool>(dynamic_cast<const Pool&>(*graph.nodes[0].op));
    pool->window_indices = true;
    graph.nodes[0].op = std::move(pool);
    check_on_device(graph, test.input);
  }
}

// torch.argsort, and torch.topk of which only the indices are used further.
TEST(UnreadOutput, OfTopKWhoseIndicesAreComputedWith) {
  OnnxModel model(17);
  model.input("x", {4, 9}).initializer("k", vector_of({9}));
  model.node("TopK", {"x", "k"}, {"values", "indices"}, attributes({{"largest", int64_t{0}}}), "argsort")
      .node("GatherElements", {"x", "indices"}, {"sorted"}, attributes({{"axis", int64_t{1}}}))
      .node("Relu", {"sorted"}, {"y"})
      .output("y");
  check_on_device(model.graph(), random_tensor({4, 9}, 1));
}

// A kernel that computes what is read alone saves the dispatch.
TEST(UnreadOutput, IsNotComputedWhereItTakesADispatchOfItsOwn) {
  const auto tasks = [](const OperatorOfSeveralOutputs& test, unsigned read) {
    const Graph graph = optimise(model_of(test, read, false).graph(), {});
    return lower(graph, test_context()->caps(), {.storage = StorageChoice::buffer}).tasks.size();
  };
  const std::vector<OperatorOfSeveralOutputs> all = operators();
  for (const char* name : {"MaxPool2D", "TopK", "LayerNormalization", "Split"})
    for (const OperatorOfSeveralOutputs& test : all) {
      if (test.name != name) continue;
      EXPECT_LT(tasks(test, 2), tasks(test, (1u << test.outputs) - 1)) << name;
    }
}

}  // namespace
}  // namespace vellum::test
