// Sessions with a budget for everything that they allocate: kept by what is between Vellum and the Vulkan
// loader counts, with the bits of a session without one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "api/fit_budget.hpp"
#include "glslang_tables.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "support/fetched_model.hpp"
#include "support/tensors.hpp"
#include "vellum/estimate.hpp"
#include "vellum/memory_frontier.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

using Tensors = std::map<std::string, Tensor>;

// Weights are most of what it needs.
OnnxModel heavy_model(const Shape& input = {1, 32, 6, 5}) {
  OnnxModel model;
  model.input("x", input);
  for (int i = 0; i < 6; ++i) {
    const std::string at = std::to_string(i), next = i < 5 ? "x" + std::to_string(i + 1) : "y";
    model.initializer("w" + at, random_tensor({32, 32, 3, 3}, static_cast<uint32_t>(i), -0.06f, 0.06f))
        .node("Conv", {i > 0 ? "x" + at : "x", "w" + at}, {next},
              attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}), "conv" + at);
  }
  return std::move(model.output("y"));
}

class MemoryBudgetTest : public testing::Test {
 protected:
  void open() {
    app = std::make_unique<VulkanApp>(vulkan.get_instance_proc_addr());
    device.emplace(Device::adopt(app->device(), adopt_options()));
  }

  static Tensors random_inputs(const Session& session) {
    Tensors inputs;
    uint32_t seed = 1;
    for (const TensorInfo& input : session.inputs()) inputs[input.name] = random_tensor(input.shape, seed++);
    return inputs;
  }
  static bool equal(const Tensors& a, const Tensors& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
      return x.first == y.first && same_bits(x.second, y.second);
    });
  }

  // Runs twice: what is there after the first run is another thing than before it.
  Tensors run_within(const Model& model, const SessionOptions& options, const Tensors& inputs,
                     uint64_t& peak) {
    const uint64_t before = vulkan.allocated_bytes();
    vulkan.reset_peak();
    Session session(*device, model, options);
    session.run(inputs);
    Tensors outputs = session.run(inputs);
    peak = vulkan.peak_bytes() - before;
    EXPECT_LE(peak, options.memory_budget);
    const MemoryReport memory = session.memory();
    EXPECT_EQ(memory.memory_budget, options.memory_budget);
    EXPECT_EQ(memory.budget_peak_bytes, peak);
    EXPECT_EQ(memory.budget_used_bytes, vulkan.allocated_bytes() - before);
    return outputs;
  }

  // Every row of the frontier: its budget is kept, its bytes are exact, its bits are those without a budget.
  MemoryFrontier check_frontier(const Model& model, const SessionOptions& options = {}) {
    const Tensors inputs = random_inputs(Session(*device, model, options));
    const Tensors wanted = Session(*device, model, options).run(inputs);
    const MemoryFrontier frontier = memory_frontier(model, options, *device);
    for (const FrontierPoint& point : frontier.points) {
      SCOPED_TRACE("budget " + std::to_string(point.budget));
      SessionOptions budgeted = options;
      budgeted.memory_budget = point.budget;
      uint64_t peak = 0;
      EXPECT_TRUE(equal(run_within(model, budgeted, inputs, peak), wanted));
      EXPECT_EQ(point.bytes, peak);
    }
    return frontier;
  }

  Interposer vulkan;
  std::unique_ptr<VulkanApp> app;
  std::optional<Device> device;
};

TEST_F(MemoryBudgetTest, EveryRowOfAFrontierKeepsItsBudgetAndTheBits) {
  open();
  for (const char* name : {"blazeface_front", "ocr_direction", "selfie_segmentation"}) {
    SCOPED_TRACE(name);
    const FetchedModel& fetched = fetched_model(name);
    const Model model = Model::load(fetched.model());
    const MemoryFrontier frontier =
        check_frontier(model, {.input_shapes = {{model.inputs()[0].name, fetched.input().shape()}}});
    ASSERT_GE(frontier.points.size(), 6u);
    EXPECT_LT(frontier.points.front().bytes, frontier.points.back().bytes);
    EXPECT_GT(frontier.points.front().streamed_bytes, 0u);
    EXPECT_EQ(frontier.points.back().streamed_bytes, 0u);
    EXPECT_LE(frontier.points.back().predicted_ms, frontier.points.front().predicted_ms);
  }
}

// Images go through staging memory while they stream.
TEST_F(MemoryBudgetTest, CountsStagingMemory) {
  open();
  check_frontier(load(heavy_model()), {.storage = StorageChoice::image2d});
}

// As on a graphics card.
TEST_F(MemoryBudgetTest, CountsStagingMemoryWhereTheHostCannotReachTheDevices) {
  vulkan.split_memory();
  open();
  check_frontier(load(heavy_model()), {.storage = StorageChoice::buffer});
}

TEST_F(MemoryBudgetTest, ErrorsNameTheSmallestBudgetWhichSuffices) {
  open();
  const Model model = load(heavy_model());
  const uint64_t least = memory_frontier(model, {}, *device).points.front().bytes;
  const std::string suffices = std::to_string(least) + " bytes, in which a run is predicted to take";
  for (const uint64_t budget : {uint64_t{1}, least - 1})
    EXPECT_VELLUM_ERROR(Session(*device, model, {.memory_budget = budget}), ErrorCode::out_of_memory,
                        std::to_string(budget), suffices, "times as long as without a budget");
  const Tensors inputs = random_inputs(Session(*device, model));
  uint64_t peak = 0;
  run_within(model, {.memory_budget = least}, inputs, peak);
  EXPECT_EQ(peak, least);
}

// Half of the images at a time, or fewer, before any weight streams.
TEST_F(MemoryBudgetTest, DividesABatch) {
  open();
  const MemoryFrontier frontier = check_frontier(load(heavy_model({6, 32, 24, 20})));
  const auto divided = std::ranges::find_if(frontier.points, [](const FrontierPoint& point) {
    return point.tiled_layers > 0 && point.streamed_bytes == 0;
  });
  ASSERT_NE(divided, frontier.points.end());
  EXPECT_LT(divided->bytes, frontier.points.back().bytes * 9 / 10);
}

TEST_F(MemoryBudgetTest, TakesTheOptionsAsTheyAreWhereTheyFit) {
  open();
  const Model model = load(heavy_model({1, 32, 40, 40}));
  const SessionOptions asked{.memory = MemoryMode::naive};
  const uint64_t all = memory_frontier(model, asked, *device).points.back().bytes;
  SessionOptions budgeted = asked;
  budgeted.memory_budget = all;
  EXPECT_EQ(Session(*device, model, budgeted).memory().mode, "naive");
  budgeted.memory_budget = all - 1;
  const MemoryReport less = Session(*device, model, budgeted).memory();
  EXPECT_NE(less.mode, "naive");
  EXPECT_EQ(less.streamed_weights_bytes, 0u) << "sharing suffices, and costs no time";
}

TEST_F(MemoryBudgetTest, HoldsForAllRunsInFlightAndAfterATrim) {
  open();
  const Model model = load(heavy_model({1, 32, 20, 20}));
  SessionOptions options{.in_flight = 3};
  const MemoryFrontier frontier = memory_frontier(model, options, *device);
  for (const uint64_t budget : {frontier.points.front().budget, frontier.points.back().budget}) {
    options.memory_budget = budget;
    const uint64_t before = vulkan.allocated_bytes();
    vulkan.reset_peak();
    Session session(*device, model, options);
    const Tensors inputs = random_inputs(session);
    const Tensors wanted = session.run(inputs);
    for (const TrimLevel level : {TrimLevel::intermediates, TrimLevel::weights}) {
      const uint64_t used = session.memory().budget_used_bytes;
      session.trim(level);
      EXPECT_LT(session.memory().budget_used_bytes, used);
      std::vector<vellum::Run> runs;
      for (int i = 0; i < 3; ++i) runs.push_back(session.submit(inputs));
      for (const vellum::Run& run : runs) EXPECT_TRUE(equal(run.outputs(), wanted));
    }
    EXPECT_LE(vulkan.peak_bytes() - before, budget);
  }
}

TEST_F(MemoryBudgetTest, OtherInputShapesGetTheWholeBudget) {
  open();
  const Model model = load(heavy_model({1, 32, kUnknownDim, kUnknownDim}));
  const auto shaped = [](int64_t side) {
    return SessionOptions{.input_shapes = {{"x", {1, 32, side, side}}}};
  };
  const uint64_t large = memory_frontier(model, shaped(36), *device).points.back().bytes;
  Session session(*device, model, {.memory_budget = large});
  EXPECT_EQ(session.memory().budget_used_bytes, 0u);
  for (const int64_t side : {8, 24, 40, 8}) {
    SCOPED_TRACE(side);
    const Tensors inputs{{"x", random_tensor({1, 32, side, side}, 7)}};
    EXPECT_TRUE(equal(session.run(inputs), Session(*device, model, shaped(side)).run(inputs)));
    EXPECT_EQ(session.memory().streamed_weights_bytes > 0, side == 40);
  }
  EXPECT_LE(session.memory().budget_peak_bytes, large);
  // A shape that fits in no way leaves the session as it was.
  EXPECT_VELLUM_ERROR(session.prepare({{"x", {1, 32, 400, 400}}}), ErrorCode::out_of_memory,
                      "smallest that suffices");
  const Tensors inputs{{"x", random_tensor({1, 32, 8, 8}, 8)}};
  EXPECT_TRUE(equal(session.run(inputs), Session(*device, model, shaped(8)).run(inputs)));
}

TEST_F(MemoryBudgetTest, StoresHalvesOnlyWhereThatIsAllowed) {
  open();
  const Model model = load(heavy_model({1, 32, 40, 40}));
  SessionOptions options;
  const uint64_t singles = memory_frontier(model, options, *device).points.front().bytes;
  options.budget_allows_fp16 = true;
  const MemoryFrontier frontier = memory_frontier(model, options, *device);
  const uint64_t halves = frontier.points.front().bytes;
  EXPECT_EQ(frontier.points.front().options.precision, Precision::fp16);
  EXPECT_EQ(frontier.points.back().options.precision, Precision::fp32);
  ASSERT_LT(halves, singles);
  EXPECT_VELLUM_ERROR(Session(*device, model, {.memory_budget = halves}), ErrorCode::out_of_memory,
                      std::to_string(singles));
  options.memory_budget = halves;
  EXPECT_LE(Session(*device, model, options).memory().budget_peak_bytes, halves);
}

TEST_F(MemoryBudgetTest, EstimatesAreOfTheSameWay) {
  open();
  const Model model = load(heavy_model());
  const uint64_t least = memory_frontier(model, {}, *device).points.front().bytes;
  EXPECT_EQ(estimate_memory(model, {.memory_budget = least}, *device).vulkan.peak, least);
  EXPECT_VELLUM_ERROR(estimate_memory(model, {.memory_budget = least / 2}, *device), ErrorCode::out_of_memory,
                      std::to_string(least));
}

TEST_F(MemoryBudgetTest, ExcludesWhatItDecidesItself) {
  open();
  const Model model = load(small_model());
  EXPECT_VELLUM_ERROR(Session(*device, model, {.weights_budget = 1 << 20, .memory_budget = 1 << 20}),
                      ErrorCode::invalid_argument, "weights_budget");
  EXPECT_VELLUM_ERROR(Session(*device, model, {.memory_pool = MemoryPool(*device), .memory_budget = 1 << 20}),
                      ErrorCode::invalid_argument, "memory_pool");
}

TEST_F(MemoryBudgetTest, TheSearchCanBeCancelled) {
  open();
  Progress progress;
  progress.cancel();
  EXPECT_VELLUM_ERROR(
      fit_budget(Target(&*device), load(heavy_model()), {.memory_budget = 1 << 20}, &progress),
      ErrorCode::cancelled, "cancelled");
}

Caps shipped_caps(const char* name) {
  const std::filesystem::path tests = std::getenv("VELLUM_TEST_SOURCE");
  std::ifstream file(tests.parent_path() / "caps" / name);
  return Caps::parse(std::string(std::istreambuf_iterator<char>(file), {}), name);
}

// A way that fits a budget fits a larger one. Without a device, for a device with images and for one without.
TEST(MemoryFrontiers, TimeNeverRisesWithTheBudget) {
  const FetchedModel& fetched = fetched_model("blazeface_front");
  const Model model = Model::load(fetched.model());
  for (const bool halves : {false, true}) {
    SCOPED_TRACE(halves ? "halves" : "singles");
    const Caps caps = halves ? shipped_caps("lavapipe.json") : Caps::android_baseline_2022();
    const SessionOptions options{.input_shapes = {{model.inputs()[0].name, fetched.input().shape()}},
                                 .budget_allows_fp16 = halves};
    // From less than the smallest, which is left out, to as much as there is without a budget.
    FrontierOptions every;
    for (uint64_t budget = 500'000; budget < 2'000'000; budget += 110'000) every.budgets.push_back(budget);
    const std::vector<FrontierPoint> points = memory_frontier(model, options, caps, every).points;
    ASSERT_GE(points.size(), 8u);
    for (size_t i = 1; i < points.size(); ++i)
      EXPECT_LE(points[i].predicted_ms, points[i - 1].predicted_ms) << points[i].budget;
    EXPECT_LT(points.back().predicted_ms, points.front().predicted_ms);
    // A session finds the same for one budget alone.
    const FrontierPoint& middle = points[points.size() / 2];
    SessionOptions budgeted = options;
    budgeted.memory_budget = middle.budget;
    EXPECT_EQ(fit_budget(Target(caps), model, budgeted).way.milliseconds, middle.predicted_ms);
  }
}

TEST(MemoryFrontiers, TheKneeHasTheLeastSumOfMemoryAndTime) {
  std::vector<FrontierPoint> points(4);
  for (size_t i = 0; i < points.size(); ++i) points[i].budget = 10 * (i + 1);
  EXPECT_EQ(frontier_knee(points, {9, 2, 1.5, 1}), 1u);
  EXPECT_EQ(frontier_knee(points, {1, 1, 1, 1}), 0u);
  EXPECT_EQ(frontier_knee({}, {}), 0u);
  EXPECT_VELLUM_ERROR(frontier_knee(points, {1}), ErrorCode::invalid_argument, "one time for each point");
}

}  // namespace
}  // namespace vellum::test
