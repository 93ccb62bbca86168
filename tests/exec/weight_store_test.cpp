// Weights that executors share: once on the device, whatever the input shapes, and gone with the last that
// uses them.
#include "exec/weight_store.hpp"

#include <gtest/gtest.h>

#include "exec/executor.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan/memory.hpp"

namespace vellum::test {
namespace {

// Conv, BatchNormalization (folded into new constants each time), Conv, for any size of image.
Graph network(uint32_t seed) {
  OnnxModel model;
  model.input("x", {kUnknownDim, 8, kUnknownDim, kUnknownDim})
      .initializer("w1", random_tensor({24, 8, 3, 3}, seed))
      .initializer("w2", random_tensor({16, 24, 1, 1}, seed + 1))
      .initializer("scale", random_tensor({24}, seed + 2))
      .initializer("shift", random_tensor({24}, seed + 3))
      .initializer("mean", random_tensor({24}, seed + 4))
      .initializer("variance", random_tensor({24}, seed + 5, 0.5f, 1.0f))
      .node("Conv", {"x", "w1"}, {"a"}, attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}))
      .node("BatchNormalization", {"a", "scale", "shift", "mean", "variance"}, {"b"})
      .node("Conv", {"b", "w2"}, {"y"})
      .output("y");
  return model.graph();
}

class SharedWeights : public testing::Test {
 protected:
  SharedWeights() {
    gpu::ContextOptions options = test_context_options();
    options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
    context = gpu::Context::create(options);
  }

  std::unique_ptr<Executor> executor(const Graph& graph, const Shape& shape,
                                     std::shared_ptr<WeightStore> store,
                                     const LoweringOptions& how = {.storage = StorageChoice::buffer}) {
    Program program = lower(optimise(graph, {{"x", shape}}), context->caps(), how);
    return std::make_unique<Executor>(context, compile_program(context, std::move(program)),
                                      ExecutorOptions{}, std::move(store));
  }
  uint64_t weight_bytes() const {
    return context->memory_statistics().of(gpu::MemoryCategory::weights).bytes;
  }

  Interposer vulkan;
  std::shared_ptr<gpu::Context> context;
};

TEST_F(SharedWeights, AreOnTheDeviceOnceForAllShapes) {
  const Graph graph = network(1);
  const auto store = std::make_shared<WeightStore>(context);
  auto small = executor(graph, {1, 8, 8, 8}, store);
  const uint64_t bytes = weight_bytes();
  EXPECT_GT(bytes, 0u);
  const auto large = executor(graph, {2, 8, 20, 12}, store);
  EXPECT_EQ(weight_bytes(), bytes);
  small.reset();
  EXPECT_EQ(weight_bytes(), bytes) << "the other executor still reads them";
  const uint64_t told =
      large->allocated().intermediates + large->allocated().weights + large->allocated().in_out;
  EXPECT_EQ(told, vulkan.allocated_bytes());

  const std::vector<HostTensor> inputs{random_tensor({2, 8, 20, 12}, 9)};
  large->set_input(0, inputs.front());
  large->run();
  EXPECT_TRUE(close(large->output(0), evaluate(optimise(graph, {{"x", {2, 8, 20, 12}}}), inputs).front()));
}

TEST_F(SharedWeights, AreFreedWithTheLastExecutor) {
  const Graph graph = network(1);
  const auto store = std::make_shared<WeightStore>(context);
  auto first = executor(graph, {1, 8, 8, 8}, store);
  auto second = executor(graph, {1, 8, 9, 9}, store);
  first.reset();
  second.reset();
  EXPECT_EQ(weight_bytes(), 0u);
  EXPECT_EQ(vulkan.allocated_bytes(), 0u);
  EXPECT_GT(executor(graph, {1, 8, 8, 8}, store)->allocated().weights, 0u) << "made again";
}

TEST_F(SharedWeights, DifferByPrecisionStorageAndContent) {
  const auto store = std::make_shared<WeightStore>(context);
  const Graph graph = network(1);
  const auto reference = executor(graph, {1, 8, 8, 8}, store);
  const uint64_t bytes = weight_bytes();
  const auto half =
      executor(graph, {1, 8, 8, 8}, store, {.precision = Precision::fp16, .storage = StorageChoice::buffer});
  EXPECT_EQ(weight_bytes(), bytes + half->allocated().weights);
  const auto images = executor(graph, {1, 8, 8, 8}, store, {.storage = StorageChoice::image2d});
  EXPECT_EQ(weight_bytes(), bytes + half->allocated().weights + images->allocated().weights);
  const auto other = executor(network(100), {1, 8, 8, 8}, store);
  EXPECT_EQ(weight_bytes(), 2 * bytes + half->allocated().weights + images->allocated().weights);
}

TEST_F(SharedWeights, RunningOutWhileTheyAreMadeLeavesTheOthersUsable) {
  const Graph graph = network(1);
  const auto store = std::make_shared<WeightStore>(context);
  const auto kept = executor(graph, {1, 8, 8, 8}, store);
  const uint64_t bytes = weight_bytes();
  vulkan.fail_allocations_after(0);
  EXPECT_ANY_THROW(executor(network(100), {1, 8, 8, 8}, store));
  vulkan.fail_allocations_after(UINT32_MAX);
  EXPECT_EQ(weight_bytes(), bytes);
  const auto again = executor(network(100), {1, 8, 8, 8}, store);
  EXPECT_EQ(weight_bytes(), 2 * bytes);
}

}  // namespace
}  // namespace vellum::test
