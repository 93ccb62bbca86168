// Estimates against what stands between Vellum and the Vulkan loader counts, which shares no code with
// either.
#include <gtest/gtest.h>

#include "api/impl.hpp"
#include "estimate/estimate.hpp"
#include "exec/executor.hpp"
#include "support/fetched_model.hpp"
#include "support/gpu_test.hpp"
#include "vulkan/interposer.hpp"

namespace vellum::test {
namespace {

struct Counted {
  uint64_t lasting = 0, peak = 0;
};

class MemoryEstimates : public testing::Test {
 protected:
  void open() {
    gpu::ContextOptions options = test_context_options();
    options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
    context = device.context = gpu::Context::create(options);
  }

  MemoryEstimate estimate(const FetchedModel& fetched, const SessionOptions& options,
                          MemoryRules rules) const {
    const Model model = Model::load(fetched.model());
    CompileOptions compile_options = vellum::compile_options(options);
    compile_options.memory_rules = rules;
    const CompiledModel compiled = compile(impl(model)->graph, context->caps(), compile_options);
    return estimate_model({compiled, impl(model)->graph, context->caps(), std::move(rules),
                           options.weights_budget});
  }

  // Counts what an executor asks Vulkan for; it is made as sessions make it, runs `runs` times, and is
  // destroyed.
  Counted count(const FetchedModel& fetched, const SessionOptions& options, int runs) {
    vulkan.reset_peak();
    const Model model = Model::load(fetched.model());
    Executor executor(
        context,
        std::make_shared<const CompiledModel>(device.compile(model, device.compile_options(options))), {},
        device.weights_for(model, options));
    Counted counted{.lasting = vulkan.allocated_bytes()};
    for (size_t i = 0; i < executor.program().inputs.size(); ++i)
      executor.set_input(
          i, HostTensor(executor.program().inputs[i].type.dtype, executor.program().inputs[i].type.shape));
    for (int i = 0; i < runs; ++i) executor.run();
    counted.peak = vulkan.peak_bytes();
    return counted;
  }

  void expect_exact(const FetchedModel& model, const SessionOptions& options, int runs = 0) {
    const VulkanMemory told = estimate(model, options, device_rules(context)).vulkan;
    const Counted counted = count(model, options, runs);
    EXPECT_EQ(told.weights + told.in_out + told.intermediates, counted.lasting);
    EXPECT_EQ(told.peak, counted.peak);
    const VulkanMemory modelled = estimate(model, options, modelled_rules(context->caps())).vulkan;
    EXPECT_NEAR(static_cast<double>(modelled.peak), static_cast<double>(counted.peak),
                0.02 * static_cast<double>(counted.peak))
        << "from caps alone";
  }

  static SessionOptions with_batch(const FetchedModel& model, int64_t batch, SessionOptions options = {}) {
    Shape shape = model.input().shape();
    shape[0] = batch;
    options.input_shapes[Model::load(model.model()).inputs().front().name] = shape;
    return options;
  }

  Interposer vulkan;
  Device::Impl device;
  std::shared_ptr<gpu::Context> context;
};

TEST_F(MemoryEstimates, SayWhatTheLoaderIsAskedFor) {
  open();
  expect_exact(fetched_model("blazeface_front"), {}, 2);
  for (const char* name : {"ocr_direction", "face_detection_short", "selfie_segmentation"})
    for (const int64_t batch : {1, 2}) {
      SCOPED_TRACE(std::string(name) + ", batch " + std::to_string(batch));
      expect_exact(fetched_model(name), with_batch(fetched_model(name), batch), 2);
    }
}

TEST_F(MemoryEstimates, HoldForWeightsThatStream) {
  open();
  const FetchedModel& model = fetched_model("blazeface_front");
  for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer})
    for (const uint64_t budget : {uint64_t{256} << 10, uint64_t{100} << 10}) {
      SCOPED_TRACE("storage " + std::to_string(static_cast<int>(storage)) + ", budget " +
                   std::to_string(budget));
      const SessionOptions options{.storage = storage, .weights_budget = budget};
      EXPECT_LE(estimate(model, options, device_rules(context)).vulkan.weights, budget);
      expect_exact(model, options, 2);
    }
}

TEST_F(MemoryEstimates, HoldForEveryModePrecisionAndStorage) {
  open();
  const FetchedModel& model = fetched_model("blazeface_front");
  for (const MemoryMode memory : {MemoryMode::shared_objects, MemoryMode::offsets, MemoryMode::naive})
    for (const Precision precision : {Precision::fp32, Precision::fp16})
      for (const StorageChoice storage :
           {StorageChoice::image2d, StorageChoice::image3d, StorageChoice::buffer}) {
        SCOPED_TRACE(std::string(name(memory)) + ", fp" + (precision == Precision::fp16 ? "16" : "32") +
                     ", storage " + std::to_string(static_cast<int>(storage)));
        expect_exact(model, {.precision = precision, .storage = storage, .memory = memory});
      }
}

TEST_F(MemoryEstimates, HoldWithoutTheWaysToNeedLess) {
  open();
  const FetchedModel& model = fetched_model("blazeface_front");
  for (const MemoryMode memory : {MemoryMode::shared_objects, MemoryMode::offsets})
    for (int left_out = 0; left_out < 3; ++left_out) {
      SCOPED_TRACE(std::string(name(memory)) + ", without way " + std::to_string(left_out));
      expect_exact(
          model,
          {.memory = memory,
           .planning = {.in_place = left_out != 0, .views = left_out != 1, .reorder = left_out != 2}});
    }
}

// As on a graphics card: weights go through staging memory, which is gone before anything else is there.
TEST_F(MemoryEstimates, HoldWhereTheHostCannotReachDeviceMemory) {
  vulkan.split_memory();
  open();
  const FetchedModel& model = fetched_model("blazeface_front");
  const SessionOptions options{.storage = StorageChoice::buffer};
  const MemoryEstimate told = estimate(model, options, device_rules(context));
  EXPECT_GT(told.vulkan.staging, 0u);
  EXPECT_EQ(told.resident.host, 0u) << "the model is not in the device's memory";
  expect_exact(model, options);
}

}  // namespace
}  // namespace vellum::test
