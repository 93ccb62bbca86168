// Executors on devices that are short of memory, or whose memory the host cannot reach, or that lack a
// kernel.
#include "exec/executor.hpp"

#include <gtest/gtest.h>

#include "exec/interposed_context.hpp"
#include "graph/graph.hpp"
#include "import/import.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "support/fetched_model.hpp"
#include "support/gpu_test.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

std::shared_ptr<const CompiledModel> compiled(const FetchedModel& model,
                                              const std::shared_ptr<gpu::Context>& context,
                                              StorageChoice storage = StorageChoice::image2d,
                                              MemoryMode mode = MemoryMode::shared_objects) {
  return compile_program(
      context, lower(optimise(import_model(model.model()), {}), context->caps(), {.storage = storage}),
      {.mode = mode});
}

std::vector<std::vector<float>> outputs_of(Executor& executor, const HostTensor& input) {
  executor.set_input(0, input);
  executor.run();
  std::vector<std::vector<float>> outputs;
  for (size_t i = 0; i < executor.program().outputs.size(); ++i)
    outputs.push_back(executor.output(i).to_floats());
  return outputs;
}

TEST(ExecutorMemory, AllThatVulkanGivesIsAccountedFor) {
  Interposer vulkan;
  const auto context = interposed_context(vulkan);
  for (const FetchedModel& model : small_fetched_models())
    for (const MemoryMode mode : {MemoryMode::shared_objects, MemoryMode::naive, MemoryMode::offsets})
      for (const StorageChoice storage :
           {StorageChoice::image2d, StorageChoice::image3d, StorageChoice::buffer}) {
        const Executor executor(context, compiled(model, context, storage, mode));
        const AllocatedBytes& told = executor.allocated();
        EXPECT_EQ(told.intermediates + told.weights + told.in_out, vulkan.allocated_bytes()) << model.name;
        const gpu::MemoryStatistics statistics = context->memory_statistics();
        EXPECT_EQ(executor.model().plan.planned_bytes, told.intermediates) << model.name;
        EXPECT_EQ(told.intermediates, statistics.of(gpu::MemoryCategory::intermediates).bytes) << model.name;
        EXPECT_EQ(told.weights, statistics.of(gpu::MemoryCategory::weights).bytes) << model.name;
        EXPECT_LE(vulkan.allocations(), 4u)
            << "intermediates, weights, inputs and outputs: one allocation each";
      }
  EXPECT_EQ(vulkan.allocated_bytes(), 0u);
}

TEST(ExecutorMemory, RunningOutAtAnyAllocationIsAnErrorAndLeaksNothing) {
  const FetchedModel& model = fetched_model("blazeface_front");
  for (uint32_t successes = 0; successes < 4; ++successes) {
    Interposer vulkan;
    const auto context = interposed_context(vulkan);
    vulkan.fail_allocations_after(successes);
    try {
      const Executor executor(context, compiled(model, context));
      ADD_FAILURE() << "no error with " << successes << " allocations";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    }
    EXPECT_EQ(vulkan.allocations(), 0u);
  }
}

TEST(ExecutorMemory, WorksWhereTheHostCannotReachDeviceMemory) {
  const FetchedModel& model = fetched_model("blazeface_front");
  Executor unified(test_context(), compiled(model, test_context(), StorageChoice::buffer));
  const auto want = outputs_of(unified, model.input());
  Interposer vulkan;
  vulkan.split_memory();
  const auto context = interposed_context(vulkan);
  Executor split(context, compiled(model, context, StorageChoice::buffer));
  EXPECT_EQ(outputs_of(split, model.input()), want);
}

// Relu, a transposed convolution in three dimensions, which has no kernel, and Sigmoid.
Graph with_host_operator() {
  Graph graph;
  const ValueId x = graph.add_value("x", {DType::f32, {1, 3, 2, 5, 7}}, true);
  const ValueId w = graph.add_value("w", {DType::f32, {3, 2, 1, 1, 1}}, true);
  graph.inputs = {x, w};
  ValueId previous = x;
  const Attributes none;
  const auto add = [&](const char* type, std::vector<ValueId> inputs, const char* output) {
    Node node;
    node.name = std::string("node_") + output;
    node.inputs = std::move(inputs);
    NodeSpec spec{type, node.name, 13, &none, std::vector<bool>(node.inputs.size(), true), 1};
    node.op = make_operator(spec);
    const TensorType out = node.op->infer(operator_inputs(graph, node)).front();
    previous = graph.add_value(output, out, true);
    node.outputs = {previous};
    graph.nodes.push_back(std::move(node));
  };
  add("Relu", {x}, "positive");
  add("ConvTranspose", {previous, w}, "convolved");
  add("Sigmoid", {previous}, "y");
  graph.outputs = {previous};
  return graph;
}

TEST(HostPartition, RunsBetweenDispatchesWithAWarning) {
  const Graph graph = with_host_operator();
  std::vector<HostTensor> inputs;
  for (ValueId id : graph.inputs) {
    HostTensor tensor(DType::f32, graph.values[id].type.shape);
    auto values = tensor.mutable_as<float>();
    for (size_t i = 0; i < values.size(); ++i) values[i] = 0.1f * static_cast<float>(i % 13) - 0.5f;
    inputs.push_back(tensor);
  }
  const std::vector<float> want = evaluate(graph, inputs).front().to_floats();
  for (const uint32_t tasks_per_submit : {0u, 1u}) {
    Program program = lower(graph, test_context()->caps(), {});
    ASSERT_EQ(program.warnings.size(), 1u);
    EXPECT_NE(program.warnings[0].find("runs on the host"), std::string::npos) << program.warnings[0];
    Executor executor(test_context(), compile_program(test_context(), std::move(program)),
                      {.submits = {.tasks = tasks_per_submit}});
    for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
    executor.run();
    const std::vector<float> got = executor.output(0).to_floats();
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6) << i;
  }
}

TEST(Timestamps, CoverEveryTask) {
  const FetchedModel& model = fetched_model("blazeface_front");
  if (!gpu::timestamps_supported(*test_context())) GTEST_SKIP() << "the driver has no timestamps";
  for (const uint32_t tasks_per_submit : {0u, 5u}) {
    Executor executor(test_context(), compiled(model, test_context()),
                      {.submits = {.tasks = tasks_per_submit}, .timestamps = true});
    outputs_of(executor, model.input());
    const std::vector<double> times = executor.task_milliseconds();
    ASSERT_EQ(times.size(), executor.program().tasks.size());
    for (double time : times) {
      EXPECT_GE(time, 0.0);
      EXPECT_LT(time, 60000.0);
    }
  }
}

}  // namespace
}  // namespace vellum::test
