// Sessions that use what was measured on the device, through the public interface.
#include "vellum/tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "api/impl.hpp"
#include "compile/tuned_storages.hpp"
#include "public_interface.hpp"
#include "random_networks.hpp"
#include "support/errors.hpp"
#include "support/temp_folder.hpp"
#include "support/tensors.hpp"
#include "tune/one_node.hpp"
#include "tune/table_file.hpp"
#include "tune/time_network.hpp"
#include "tune/tune_operators.hpp"
#include "vellum/estimate.hpp"

namespace vellum::test {
namespace {

using Ints = std::vector<int64_t>;

// 3x3 with neighbours to share weights with, 1x1 and depthwise.
OnnxModel network() {
  OnnxModel model;
  model.input("x", {1, 8, 14, 14})
      .initializer("w1", random_tensor({16, 8, 3, 3}, 1))
      .initializer("w2", random_tensor({24, 16, 1, 1}, 2))
      .initializer("w3", random_tensor({24, 1, 3, 3}, 3))
      .node("Conv", {"x", "w1"}, {"a"}, attributes({{"pads", Ints{1, 1, 1, 1}}}), "wide")
      .node("Conv", {"a", "w2"}, {"b"}, {}, "pointwise")
      .node("Conv", {"b", "w3"}, {"y"}, attributes({{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{24}}}),
            "depthwise")
      .output("y");
  return model;
}

std::map<std::string, Tensor> run(const Device& device, const Model& model, const Tensor& x,
                                  const SessionOptions& options = {}) {
  return Session(device, model, options).run({{"x", x}});
}

class Tuned : public testing::Test {
 protected:
  Device open() const {
    DeviceOptions options = device_options();
    options.cache_folder = folder.path();
    return Device::open(options);
  }
  std::string program(const Device& device, const SessionOptions& options = {}) const {
    return describe(model, "program", options, &device);
  }
  uint64_t estimated_weights(const Device& device) const {
    return estimate_memory(model, {}, device).use.weights;
  }
  // A table in which the candidate is the quickest of each operator that has it.
  TuningTable favouring(const Device& device, const std::string& candidate) const {
    std::vector<Choice> choices;
    const DeviceCaps& caps = impl(device)->context->caps();
    lower(prepare_graph(impl(model)->graph, caps, {}), caps,
          {.winograd = Winograd::automatic, .choices = &choices});
    TuningTable table;
    for (const Choice& choice : choices) {
      table.operators[choice.signature] = {{choice.candidates.front().text(), 2.0}};
      table.operators[choice.signature][candidate] = 1.0;
    }
    return table;
  }

  TempFolder folder;
  Model model = load(network());
  Tensor x = random_tensor({1, 8, 14, 14}, 4);
};

TEST_F(Tuned, MeasuresKeepsAndComputesTheSame) {
  const Device device = open();
  const Tensor expected = run(device, model, x).at("y");
  std::vector<std::string> steps;
  TuneOptions how;
  how.progress = [&](const TuneProgress& progress) { steps.push_back(progress.step); };
  const TuneReport report = tune(device, model, {}, how);
  EXPECT_TRUE(report.warnings.empty()) << report.warnings.front();
  EXPECT_TRUE(report.complete);
  ASSERT_GE(report.operators.size(), 2u);  // 3, of which GPUs fuse two
  ASSERT_LE(report.operators.size(), 3u);
  for (const TunedOperator& op : report.operators) {
    EXPECT_GT(op.candidates, 1u);
    EXPECT_GT(op.untuned_us, 0);
    EXPECT_LE(op.tuned_us, op.untuned_us);
  }
  EXPECT_GT(report.untuned_ms, 0);
  EXPECT_NE(std::find(steps.begin(), steps.end(), "operators"), steps.end());
  EXPECT_TRUE(close(run(device, model, x).at("y"), expected));
  if (report.kept) {  // noise may have it otherwise for so small a network
    for (const TunedOperator& op : tune(device, model, {}, {.storages = false}).operators)
      EXPECT_FALSE(op.measured) << op.name << " is known";
  }
  // Another process would find it, where it was kept.
  const Device again = open();
  EXPECT_EQ(impl(again)->tuning()->operators, impl(device)->tuning()->operators);
  EXPECT_EQ(impl(again)->tuning()->operators.empty(), !report.kept);
  EXPECT_EQ(program(again), program(device));
  EXPECT_TRUE(close(run(again, model, x).at("y"), expected));
  forget_tuning(again);
  EXPECT_TRUE(impl(open())->tuning()->empty());
  EXPECT_EQ(device.validation_messages() + again.validation_messages(), 0u);
}

TEST_F(Tuned, ATableThatNamesAnotherWayIsObeyedEverywhere) {
  const Device plain = open();
  const Tensor expected = run(plain, model, x).at("y");
  const uint64_t weights = estimated_weights(plain);
  write_table(folder.path(), impl(plain)->context->caps(), favouring(plain, "winograd4 4x2"));
  const Device device = open();
  EXPECT_NE(program(device).find("winograd_product"), std::string::npos);
  EXPECT_TRUE(close(run(device, model, x).at("y"), expected));
  EXPECT_GT(estimated_weights(device), weights) << "estimates are what a session would take";
  // Not where options forbid it, and not with a budget.
  EXPECT_EQ(program(device, {.tuned = false}), program(plain));
  EXPECT_EQ(program(device, {.winograd = Winograd::off}), program(plain, {.winograd = Winograd::off}));
  EXPECT_EQ(program(device, {.weights_budget = 1 << 20}), program(plain, {.weights_budget = 1 << 20}));
}

// Weights transformed for tiles of 4x4 take 144 KiB, for tiles of 2x2 64 KiB.
TEST_F(Tuned, ASessionThatRunsOutOfMemoryFallsBackToDefaults) {
  OnnxModel wide;
  wide.input("x", {1, 32, 14, 14})
      .initializer("w", random_tensor({32, 32, 3, 3}, 1))
      .node("Conv", {"x", "w"}, {"y"}, attributes({{"pads", Ints{1, 1, 1, 1}}}), "wide")
      .output("y");
  model = load(wide);
  x = random_tensor({1, 32, 14, 14}, 2);
  const Device plain = open();
  const Tensor expected = run(plain, model, x).at("y");

  // A device like it with less memory.
  gpu::ContextOptions options = impl(plain)->context->options();
  options.adjust_caps = [before = options.adjust_caps](const DeviceCaps& caps) {
    DeviceCaps less = before ? before(caps) : caps;
    less.max_allocation_bytes = uint64_t{100} << 10;
    return less;
  };
  const auto messages = std::make_shared<std::string>();
  options.log = [messages](LogLevel, std::string_view message) { *messages += message; };
  const Device small = open();
  impl(small)->context = gpu::Context::create(options);
  impl(small)->keep_tuning(favouring(small, "winograd4 4x2"));
  ASSERT_NE(program(small).find("winograd_product"), std::string::npos);
  const Session session(small, model);
  ASSERT_EQ(session.warnings().size(), 1u);
  EXPECT_NE(session.warnings()[0].find("does not use the tuned kernels"), std::string::npos)
      << session.warnings()[0];
  EXPECT_TRUE(messages->ends_with(session.warnings()[0])) << *messages;  // the loader may log too
  EXPECT_TRUE(close(run(small, model, x).at("y"), expected));
}

TEST_F(Tuned, WordsThatNoKernelKnowsChangeNothing) {
  const Device plain = open();
  const std::string before = program(plain);
  write_table(folder.path(), impl(plain)->context->caps(), favouring(plain, "warp 9"));
  EXPECT_EQ(program(open()), before);
  folder.write(table_path("", impl(plain)->context->caps()).string(), "{\"vellum_tuning\": 1");
  EXPECT_EQ(program(open()), before);
}

TEST_F(Tuned, WithoutTimeNothingIsMeasured) {
  const Device device = open();
  const TuneReport report = tune(device, model, {}, {.seconds = 1e-6, .storages = false});
  EXPECT_FALSE(report.complete);
  for (const TunedOperator& op : report.operators) EXPECT_FALSE(op.measured) << op.name;
  EXPECT_TRUE(impl(device)->tuning()->operators.empty());
}

TEST(TunedResults, RoundingPassesAndWrongResultsDoNot) {
  const auto results = [](std::vector<float> values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    return std::vector<HostTensor>{HostTensor::f32(shape, values)};
  };
  const auto expected = results({100, -2, 0});
  EXPECT_TRUE(same_results(expected, results({100.01f, -2.01f, 0.01f}), Precision::fp32));
  EXPECT_FALSE(same_results(expected, results({100, -2, 1}), Precision::fp32));
  EXPECT_TRUE(same_results(expected, results({100, -2, 1}), Precision::fp16));
  EXPECT_FALSE(same_results(expected, results({100, -2, 3}), Precision::fp16));
  const float infinite = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_FALSE(same_results(expected, results({infinite, -2, 0}), Precision::fp16));
  EXPECT_FALSE(same_results(expected, results({100, nan, 0}), Precision::fp16));
  EXPECT_TRUE(same_results(results({infinite, nan}), results({infinite, nan}), Precision::fp32));
}

TEST_F(Tuned, ABudgetOfWeightsIsRefused) {
  const Device device = open();
  EXPECT_VELLUM_ERROR(tune(device, model, {.weights_budget = 1 << 20}), ErrorCode::invalid_argument,
                      "weights_budget");
}

TEST(TunedStorages, VolumesAreTheImagesWhereTheyAreQuicker) {
  using enum StorageChoice;
  const Graph graph = prepare_graph(impl(load(network()))->graph, DeviceCaps{}, {});
  // Each node takes 1 ms in networks of one storage, 2 ms in others.
  const auto measure = [&](StorageChoice quick) {
    std::vector<StorageChoice> asked;
    const MeasuredStorages measured =
        measure_storages(graph, [&](const std::vector<std::vector<StorageChoice>>& networks) {
          std::vector<std::vector<double>> times;
          asked.clear();
          for (const std::vector<StorageChoice>& storages : networks) {
            asked.push_back(storages.back());
            times.emplace_back(graph.nodes.size(), storages.back() == quick ? 1 : 2);
          }
          return times;
        });
    return std::pair(measured.image, asked);
  };
  EXPECT_EQ(measure(image3d), std::pair(image3d, (std::vector{buffer, image2d, image3d})));
  EXPECT_EQ(measure(image2d), std::pair(image2d, (std::vector{buffer, image2d, image3d})));
  EXPECT_EQ(measure(buffer), std::pair(image2d, (std::vector{buffer, image2d}))) << "images are slow";
}

// Each value in an image of either kind or in a buffer, at random: kernels read the one and write the other.
TEST(TunedStorages, AnyMixtureComputesTheSame) {
  const Device device = Device::open(device_options());
  std::mt19937 random(3);
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    const Model model = load(random_network(seed));
    const Tensor x = random_tensor(random_network_input(seed), seed);
    const Graph graph = prepare_graph(impl(model)->graph, impl(device)->context->caps(), {});
    TuningTable table;
    std::vector<StorageChoice>& storages = table.storages[network_fingerprint(graph, Precision::fp32)];
    constexpr StorageChoice kAll[] = {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d};
    while (storages.size() < graph.values.size()) storages.push_back(kAll[random() % 3]);
    const std::map<std::string, Tensor> expected = run(device, model, x, {.tuned = false});
    impl(device)->keep_tuning(table);
    EXPECT_EQ(tuned_storages(table, graph, Precision::fp32), storages);
    EXPECT_TRUE(tuned_storages(table, graph, Precision::fp16).empty());
    for (const auto& [name, tensor] : run(device, model, x))
      EXPECT_TRUE(close(tensor, expected.at(name))) << "seed " << seed;
    // Who names a storage gets it.
    EXPECT_EQ(describe(model, "program", {.storage = StorageChoice::buffer}, &device),
              describe(model, "program", {.storage = StorageChoice::buffer, .tuned = false}, &device));
  }
  EXPECT_EQ(device.validation_messages(), 0u);
}

}  // namespace
}  // namespace vellum::test
