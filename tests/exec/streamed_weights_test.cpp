// Weights that stream through a budget of device memory: the same results as with all of them there.
#include "exec/streamed_weights.hpp"

#include <gtest/gtest.h>

#include "exec/executor.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "passes/split_large_layers.hpp"
#include "support/errors.hpp"
#include "support/gpu_test.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan/memory.hpp"

namespace vellum::test {
namespace {

constexpr int kLayers = 40;

// Convolutions one after another, of different sizes, for any size of image; some weights are read twice.
Graph network(uint32_t seed) {
  OnnxModel model;
  model.input("x0", {kUnknownDim, 8, kUnknownDim, kUnknownDim});
  for (int i = 0; i < kLayers; ++i) {
    const int64_t channels = i % 2 ? 8 : 8 * (1 + i % 4);
    const std::string at = std::to_string(i), weights = "w" + std::to_string(i % 8 == 5 ? i - 1 : i);
    if (i % 8 != 5)
      model.initializer(weights, random_tensor({channels, i % 2 ? 8 * (1 + (i - 1) % 4) : 8, 3, 3},
                                               seed + static_cast<uint32_t>(i), -0.12f, 0.12f));
    model.node("Conv", {"x" + at, weights}, {"x" + std::to_string(i + 1)},
               attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}), "conv" + at);
  }
  return model.output("x" + std::to_string(kLayers)).graph();
}

class StreamedWeightsTest : public testing::Test {
 protected:
  StreamedWeightsTest() { open(); }

  // Again where `vulkan` is to look different.
  void open() {
    context = nullptr;
    gpu::ContextOptions options = test_context_options();
    options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
    context = gpu::Context::create(options);
  }

  std::unique_ptr<Executor> executor(const Shape& shape, std::shared_ptr<WeightSource> weights,
                                     const LoweringOptions& how = {}, uint32_t tasks_per_submit = 0) {
    return executor(optimise(graph, {{"x0", shape}}), std::move(weights), how, tasks_per_submit);
  }
  std::unique_ptr<Executor> executor(const Graph& optimised, std::shared_ptr<WeightSource> weights,
                                     const LoweringOptions& how = {}, uint32_t tasks_per_submit = 0) {
    return std::make_unique<Executor>(
        context, compile_program(context, lower(optimised, context->caps(), how)),
        ExecutorOptions{.submits = {.tasks = tasks_per_submit}}, std::move(weights));
  }
  std::shared_ptr<StreamedWeights> streamed(uint64_t budget, const PackedWeightsOptions& packed = {}) {
    StreamOptions options;
    options.budget = budget;
    options.packed = packed;
    return std::make_shared<StreamedWeights>(context, options);
  }
  HostTensor run(Executor& executor, uint32_t seed) {
    executor.set_input(0, random_tensor(executor.program().inputs[0].type.shape, seed));
    executor.run();
    return executor.output(0);
  }
  gpu::MemoryUse weights_memory() const {
    return context->memory_statistics().of(gpu::MemoryCategory::weights);
  }
  // Layers of `whole` are beyond the budget, which an error with `complaint` says; split, they go, and
  // `compare` gets the result and that of resident weights.
  template <typename Compare>
  void in_parts(const Graph& whole, uint64_t budget, const std::string& complaint, Compare compare) {
    Graph parts = whole;
    split_large_layers(parts, {budget, budget / 2}, 4);
    for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d}) {
      const LoweringOptions how{.storage = storage};
      EXPECT_VELLUM_ERROR(executor(whole, streamed(budget), how), ErrorCode::out_of_memory, complaint);
      const auto resident = executor(whole, nullptr, how), stream = executor(parts, streamed(budget), how);
      EXPECT_LE(stream->allocated().weights, budget);
      compare(run(*stream, 5), run(*resident, 5));
    }
  }

  Interposer vulkan;
  std::shared_ptr<gpu::Context> context;
  const Graph graph = network(1);
};

TEST_F(StreamedWeightsTest, GiveTheSameBitsAsResidentOnes) {
  for (const LoweringOptions& how :
       {LoweringOptions{.storage = StorageChoice::buffer}, LoweringOptions{.storage = StorageChoice::image2d},
        LoweringOptions{.precision = Precision::fp16, .storage = StorageChoice::image2d}}) {
    const auto resident = executor({1, 8, 9, 7}, nullptr, how);
    const HostTensor expected[] = {run(*resident, 5), run(*resident, 6)};
    const uint64_t all = resident->allocated().weights;
    for (const uint64_t percent : {100, 50, 25, 10}) {
      SCOPED_TRACE(
          std::string(name(how.storage == StorageChoice::buffer ? Storage::buffer : Storage::image2d)) +
          ", " + std::to_string(percent) + "%");
      for (const uint32_t tasks_per_submit : {0u, 1u}) {
        const uint64_t before = weights_memory().bytes;
        context->reset_memory_peaks();
        const auto stream = executor({1, 8, 9, 7}, streamed(all * percent / 100), how, tasks_per_submit);
        EXPECT_EQ(stream->weight_bytes().streamed == 0, percent == 100);
        EXPECT_TRUE(same_bits(run(*stream, 5), expected[0]));
        EXPECT_TRUE(same_bits(run(*stream, 6), expected[1])) << "the weights come again";
        EXPECT_LE(stream->allocated().weights, all * percent / 100);
        EXPECT_EQ(weights_memory().peak_bytes, before + stream->allocated().weights);
      }
    }
  }
}

TEST_F(StreamedWeightsTest, RunInTheBudgetThatARefusalNames) {
  const LoweringOptions how{.storage = StorageChoice::buffer};
  const auto resident = executor({1, 8, 6, 6}, nullptr, how);
  uint64_t largest = 0, enough = 0;
  for (const TensorId id : weight_ids(resident->program()))
    largest = std::max(largest, resident->program().tensors[id].desc.byte_size());
  try {
    executor({1, 8, 6, 6}, streamed(largest - 1), how);
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("layer 'conv"), std::string::npos) << message;
    ASSERT_NE(message.find("bytes would do"), std::string::npos) << message;
    enough = std::stoull(message.substr(message.rfind(';') + 1));
  }
  ASSERT_GE(enough, largest);
  const auto stream = executor({1, 8, 6, 6}, streamed(enough), how);
  EXPECT_TRUE(same_bits(run(*stream, 5), run(*resident, 5)));
}

TEST_F(StreamedWeightsTest, AreSharedByTheShapesOfASession) {
  const auto resident = executor({1, 8, 9, 7}, nullptr);
  const uint64_t budget = resident->allocated().weights / 2;
  const auto weights = streamed(budget);
  const auto small = executor({1, 8, 9, 7}, weights), large = executor({2, 8, 12, 16}, weights);
  const auto other = executor({2, 8, 12, 16}, nullptr);
  EXPECT_EQ(small->weight_arenas(), large->weight_arenas());
  for (const uint32_t seed : {1u, 2u}) {
    EXPECT_TRUE(same_bits(run(*small, seed), run(*resident, seed)));
    EXPECT_TRUE(same_bits(run(*large, seed), run(*other, seed)));
  }
}

TEST_F(StreamedWeightsTest, OfTwoSessionsDoNotMeet) {
  const auto resident = executor({1, 8, 9, 7}, nullptr);
  const uint64_t budget = resident->allocated().weights / 3;
  const auto first = executor({1, 8, 9, 7}, streamed(budget)),
             second = executor({1, 8, 9, 7}, streamed(budget));
  const HostTensor expected = run(*resident, 3);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(same_bits(run(*first, 3), expected));
    EXPECT_TRUE(same_bits(run(*second, 3), expected));
  }
}

TEST_F(StreamedWeightsTest, NeverTakeMoreDeviceMemoryThanTheBudget) {
  for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d}) {
    const LoweringOptions how{.storage = storage};
    const uint64_t budget = executor({1, 8, 9, 7}, nullptr, how)->allocated().weights / 4;
    const uint64_t before = vulkan.allocated_bytes();
    vulkan.reset_peak();
    context->reset_memory_peaks();
    const auto stream = executor({1, 8, 9, 7}, streamed(budget), how);
    run(*stream, 1);
    run(*stream, 2);
    const AllocatedBytes& others = stream->allocated();
    const uint64_t staging = context->memory_statistics().of(gpu::MemoryCategory::staging).peak_bytes;
    EXPECT_LE(vulkan.peak_bytes() - before, others.intermediates + others.in_out + staging + budget);
    EXPECT_GT(stream->weight_bytes().in_all, 2 * budget);  // images are padded, by some drivers much
    EXPECT_GE(stream->weight_bytes().streamed, stream->weight_bytes().in_all - budget);
  }
}

// Memory that the host cannot reach is filled through staging memory.
TEST_F(StreamedWeightsTest, ComeThroughStagingAndOverAQueueOfTheirOwn) {
  vulkan.split_memory();
  for (const bool transfer_queue : {false, true}) {
    if (transfer_queue) vulkan.add_transfer_queue();
    open();
    if (!transfer_queue && context->has_transfer_queue()) continue;  // a GPU has one without help
    ASSERT_EQ(context->has_transfer_queue(), transfer_queue);
    for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d}) {
      SCOPED_TRACE(std::string(transfer_queue ? "two queues" : "one queue") +
                   (storage == StorageChoice::buffer ? ", buffers" : ", images"));
      const LoweringOptions how{.storage = storage};
      const auto resident = executor({1, 8, 9, 7}, nullptr, how);
      StreamOptions options;
      options.budget = resident->allocated().weights / 3;
      options.staging_bytes = 8 << 10;  // a segment takes several pieces
      const auto stream = executor({1, 8, 9, 7}, std::make_shared<StreamedWeights>(context, options), how);
      const uint32_t waiting = vulkan.waiting_submits();
      for (const uint32_t seed : {4u, 5u}) EXPECT_TRUE(same_bits(run(*stream, seed), run(*resident, seed)));
      EXPECT_GT(context->memory_statistics().of(gpu::MemoryCategory::staging).bytes, 0u);
      EXPECT_EQ(vulkan.waiting_submits() > waiting, transfer_queue);
    }
  }
}

// The sections of a split layer get the layer's kernel, so that they sum in its order.
TEST_F(StreamedWeightsTest, OfLayersBeyondTheBudgetComeInParts) {
  OnnxModel model;
  model.input("x", {1, 24, 32, 32})
      .initializer("w1", random_tensor({96, 24, 3, 3}, 1, -0.1f, 0.1f))
      .initializer("b1", random_tensor({96}, 2))
      .node("Conv", {"x", "w1", "b1"}, {"c"}, attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}),
            "conv")
      .node("Relu", {"c"}, {"r"})
      .node("GlobalAveragePool", {"r"}, {"g"})
      .node("Flatten", {"g"}, {"f"})
      .initializer("w2", random_tensor({90, 96}, 3, -0.1f, 0.1f))
      .node("Gemm", {"f", "w2"}, {"m"}, attributes({{"transB", int64_t{1}}}), "gemm")
      .output("m");
  in_parts(optimise(model.graph(), {}), 24 << 10, "'conv",
           [](const HostTensor& got, const HostTensor& want) { EXPECT_TRUE(same_bits(got, want)); });
}

// Operators that were fused into a layer are fused into its parts, too. Squeeze-and-excitation adds up in
// another order where one workgroup does all of it.
TEST_F(StreamedWeightsTest, OfScaledLayersAndSqueezeExcitationComeInParts) {
  OnnxModel model;
  model.input("x", {1, 64, 6, 5})
      .initializer("w1", random_tensor({40, 64, 1, 1}, 1, -0.1f, 0.1f))
      .initializer("b1", random_tensor({40}, 2))
      .initializer("w2", random_tensor({64, 40, 1, 1}, 3, -0.1f, 0.1f))
      .initializer("w3", random_tensor({64, 64, 1, 1}, 4, -0.1f, 0.1f))
      .node("GlobalAveragePool", {"x"}, {"g"})
      .node("Conv", {"g", "w1", "b1"}, {"h"})
      .node("Relu", {"h"}, {"r"})
      .node("Conv", {"r", "w2"}, {"e"})
      .node("Sigmoid", {"e"}, {"s"})
      .node("Mul", {"x", "s"}, {"m"})
      .node("Conv", {"m", "w3"}, {"c"})
      .node("Add", {"c", "x"}, {"y"})
      .output("y");
  const Graph whole = optimise(model.graph(), {});
  ASSERT_EQ(whole.nodes.size(), 2u) << "a squeeze-and-excitation, and a convolution with scale and residual";
  in_parts(whole, 8 << 10, "8192 bytes",
           [](const HostTensor& got, const HostTensor& want) { EXPECT_LE(distance(got, want), 1e-5); });
}

// Whatever had been submitted by then, and whichever shape of the session comes next.
TEST_F(StreamedWeightsTest, ArriveAfterRunsThatFailed) {
  vulkan.split_memory();
  for (const bool transfer_queue : {false, true}) {
    if (transfer_queue) vulkan.add_transfer_queue();
    open();
    const LoweringOptions how{.storage = StorageChoice::buffer};
    const auto resident = executor({1, 8, 9, 7}, nullptr, how);
    const auto weights = streamed(resident->allocated().weights / 3);
    const auto stream = executor({1, 8, 9, 7}, weights, how), other = executor({1, 8, 5, 6}, weights, how);
    const HostTensor expected = run(*resident, 4);
    vulkan.fail_allocations_after(0);
    EXPECT_VELLUM_ERROR(run(*stream, 4), ErrorCode::out_of_memory, "staging");
    vulkan.fail_allocations_after(UINT32_MAX);
    const HostTensor others = run(*other, 4);
    for (const uint32_t successes : {0u, 1u, 2u, 5u, 6u, 7u}) {
      SCOPED_TRACE(successes);
      vulkan.fail_submits_after(successes);
      EXPECT_VELLUM_ERROR(run(*stream, 4), ErrorCode::out_of_memory, "submitting");
      vulkan.fail_submits_after(UINT32_MAX);
      if (successes % 2) {
        EXPECT_TRUE(same_bits(run(*other, 4), others));
      }
      EXPECT_TRUE(same_bits(run(*stream, 4), expected));
    }
    vulkan.fail_submits_after(3);
    EXPECT_VELLUM_ERROR(run(*stream, 4), ErrorCode::out_of_memory, "submitting");
    vulkan.fail_submits_after(UINT32_MAX);
  }
}

}  // namespace
}  // namespace vellum::test
