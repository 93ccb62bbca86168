// Sessions, the tuner, estimates, plans, bundles and descriptions get the same compiled model for the same
// options.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "api/impl.hpp"
#include "exec/pipeline_keys.hpp"
#include "network.hpp"
#include "public_interface.hpp"
#include "support/temp_folder.hpp"
#include "vellum/estimate.hpp"
#include "vellum/pack.hpp"
#include "vellum/plan.hpp"
#include "vellum/tune.hpp"

namespace vellum::test {
namespace {

constexpr Stage kStages[] = {Stage::graph, Stage::program, Stage::plan, Stage::barriers};

using Texts = std::array<std::string, std::size(kStages)>;

Texts texts(const CompiledModel& model) {
  Texts result;
  for (const Stage stage : kStages) result[static_cast<size_t>(stage)] = to_text(model, stage);
  return result;
}

size_t barriers(const CompiledModel& model) {
  return static_cast<size_t>(std::ranges::count_if(model.barriers, &TaskSync::needs_command));
}

struct OptionsCase {
  const char* name;
  SessionOptions options;
};

const std::vector<OptionsCase>& cases() {
  static const std::vector<OptionsCase> all{
      {"default", {}},
      {"offsets",
       {.precision = Precision::fp16,
        .storage = StorageChoice::image2d,
        .memory = MemoryMode::offsets,
        .planning = {.strategy = "greedy_by_size", .search_ms = 0}}},
      {"naive",
       {.storage = StorageChoice::buffer,
        .memory = MemoryMode::naive,
        .winograd = Winograd::f2,
        .debug = {.disabled_passes = {"fuse_activations"}}}},
      {"in_flight", {.in_flight = 3, .planning = {.in_place = false, .views = false, .reorder = false}}},
      {"weights_budget", {.weights_budget = kSplittingBudget}},
  };
  return all;
}

class SameCompiledModel : public testing::TestWithParam<OptionsCase> {
 protected:
  SameCompiledModel() {
    impl(device)->on_compiled = [this](const CompiledModel& compiled) { seen.push_back(compiled); };
  }

  // The models that were compiled for the device since the last call.
  std::vector<CompiledModel> take_seen() { return std::exchange(seen, {}); }
  CompiledModel take_only() {
    const std::vector<CompiledModel> all = take_seen();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? CompiledModel() : all.front();
  }

  const SessionOptions& options = GetParam().options;
  Device device = Device::open(device_options());
  Model model = load(network());
  std::vector<CompiledModel> seen;
};

TEST_P(SameCompiledModel, OfADeviceForAll) {
  const Session session(device, model, options);
  const CompiledModel expected = take_only();
  EXPECT_EQ(session.dispatch_count(), expected.program.tasks.size());
  EXPECT_EQ(session.barrier_count(), barriers(expected));
  EXPECT_EQ(session.memory().planned_bytes, expected.plan.planned_bytes);

  for (const Stage stage : kStages)
    EXPECT_EQ(describe(model, name(stage), options, &device), to_text(expected, stage));
  take_seen();

  const MemoryEstimate estimate = estimate_memory(model, options, device);
  EXPECT_EQ(texts(take_only()), texts(expected));
  EXPECT_EQ(estimate.dispatches, session.dispatch_count());
  EXPECT_EQ(estimate.vulkan.intermediates, options.in_flight * expected.plan.planned_bytes);

  EXPECT_EQ(planned_memory(model, options, &device).planned_bytes, expected.plan.planned_bytes);
  EXPECT_EQ(to_text(take_only(), Stage::plan), to_text(expected, Stage::plan));
  EXPECT_EQ(tensor_usage(model, options, &device).tensors.size(),
            usage_records(expected.program).tensors.size());
  EXPECT_EQ(to_text(take_only(), Stage::program), to_text(expected, Stage::program));
}

TEST_P(SameCompiledModel, OfTheTunerAndOfSessionsBeforeAndAfter) {
  if (options.weights_budget) GTEST_SKIP() << "tune() refuses a budget of weights";
  std::vector<Texts> sessions;
  const auto open_session = [&] {
    const Session session(device, model, options);
    sessions.push_back(texts(take_only()));
  };
  open_session();
  tune(device, model, options, {.seconds = 0.2, .storages = false});
  const std::vector<CompiledModel> timed = take_seen();
  open_session();
  ASSERT_GE(timed.size(), 2u) << "a network without measurements and one with them";
  EXPECT_EQ(texts(timed.front()), sessions.front());
  EXPECT_TRUE(std::ranges::any_of(timed, [&](const auto& each) { return texts(each) == sessions.back(); }));
}

TEST_P(SameCompiledModel, OfCapabilitiesForAll) {
  const Caps caps = Caps::android_baseline_2022();
  const CompiledModel expected = compile(impl(model)->graph, impl(caps)->caps, compile_options(options));
  for (const Stage stage : kStages)
    EXPECT_EQ(describe(model, name(stage), options, caps), to_text(expected, stage));
  EXPECT_EQ(planned_memory(model, options, caps).planned_bytes, expected.plan.planned_bytes);
  EXPECT_EQ(tensor_usage(model, options, caps).tensors.size(),
            usage_records(expected.program).tensors.size());
  const MemoryEstimate estimate = estimate_memory(model, options, caps);
  EXPECT_EQ(estimate.vulkan.intermediates, options.in_flight * expected.plan.planned_bytes);
  const std::vector<gpu::PipelineKey> keys = pipeline_keys(expected.program);
  const std::set<gpu::PipelineKey> pipelines(keys.begin(), keys.end());
  EXPECT_EQ(estimate.dispatches, keys.size());
  EXPECT_EQ(estimate.pipelines, pipelines.size());

  // Bundles of halves have the shaders for devices that round them wrongly, too.
  std::set<gpu::PipelineKey> shaders = pipelines;
  DeviceCaps wrong = impl(caps)->caps;
  wrong.packs_halves = false;
  if (options.precision == Precision::fp16)
    shaders.merge([&] {
      const auto of_integers =
          pipeline_keys(compile(impl(model)->graph, wrong, compile_options(options)).program);
      return std::set<gpu::PipelineKey>(of_integers.begin(), of_integers.end());
    }());
  const TempFolder folder;
  network().save(folder / "model.onnx");
  EXPECT_EQ(pack(folder / "model.onnx", folder / "model.vellum", caps, options).shaders, shaders.size());
}

INSTANTIATE_TEST_SUITE_P(Options, SameCompiledModel, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<OptionsCase>& each) { return each.param.name; });

}  // namespace
}  // namespace vellum::test
