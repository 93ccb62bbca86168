// The C++ interface: what it refuses and how it says so, and sessions on several threads.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "detection_model.hpp"
#include "glslang_tables.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "support/temp_folder.hpp"
#include "vellum/caps.hpp"
#include "vellum/estimate.hpp"
#include "vellum/plan.hpp"
#include "vellum/planner/plan.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

class Api : public testing::Test {
 protected:
  Device device = Device::open(device_options());
  Model model = load(small_model());
};

TEST_F(Api, ComputesWhatTheHostReferenceDoes) {
  const Graph graph = small_model().graph();
  const std::vector<HostTensor> inputs = random_inputs(graph, 7);
  Session session(device, model);
  const auto outputs = session.run({{"x", inputs.front()}});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(close(outputs.at("y"), evaluate(graph, inputs).front()));
}

TEST_F(Api, RefusesModelsThatNeedTheHostIfAsked) {
  const Graph graph = small_model().graph();
  Session on_device(device, model, {.host_fallback = false});
  EXPECT_EQ(on_device.run({{"x", random_inputs(graph, 7).front()}}).size(), 1u);
  const Model detection = load(detection_model());
  EXPECT_VELLUM_ERROR(Session(device, detection, {.host_fallback = false}), ErrorCode::unsupported,
                      "NonMaxSuppression", "runs on the host", "host_fallback");
  EXPECT_VELLUM_ERROR(estimate_memory(detection, {.host_fallback = false}, Caps::android_baseline_2022()),
                      ErrorCode::unsupported, "host_fallback");
}

TEST_F(Api, TellsInputsAndOutputs) {
  Session session(device, model);
  ASSERT_EQ(session.inputs().size(), 1u);
  EXPECT_EQ(session.inputs().front().name, "x");
  EXPECT_EQ(session.inputs().front().shape, (Shape{1, 3, 9, 11}));
  ASSERT_EQ(session.outputs().size(), 1u);
  EXPECT_EQ(session.outputs().front().shape, (Shape{1, 2, 4, 5}));
  EXPECT_EQ(model.outputs().front().shape, (Shape{1, 2, 4, 5}));
}

TEST_F(Api, RefusesWhatIsNotAnInputOrOutput) {
  Session session(device, model);
  EXPECT_VELLUM_ERROR(session.set_input("z", Tensor(DType::f32, {1})), ErrorCode::not_found, "'z'", "'x'");
  EXPECT_VELLUM_ERROR(session.output("z"), ErrorCode::not_found, "'z'", "'y'");
  EXPECT_VELLUM_ERROR(session.set_input("x", Tensor(DType::f32, {1, 3, 9, 10})), ErrorCode::invalid_argument,
                      "'x'", "1x3x9x11", "1x3x9x10");
  EXPECT_VELLUM_ERROR(session.set_input("x", Tensor(DType::i64, {1, 3, 9, 11})), ErrorCode::invalid_argument,
                      "'x'", "float32", "int64");
  EXPECT_VELLUM_ERROR(session.run(), ErrorCode::invalid_argument, "'x'", "not set");
}

TEST_F(Api, RefusesOptionsThatMakeNoSense) {
  EXPECT_VELLUM_ERROR(Session(device, model, {.planning = {.strategy = "hopeful"}}),
                      ErrorCode::invalid_argument, "hopeful", "greedy_by_size");
  EXPECT_VELLUM_ERROR(Session(device, model, {.input_shapes = {{"z", {1}}}}), ErrorCode::invalid_argument,
                      "z");
  EXPECT_VELLUM_ERROR(describe(model, "middle"), ErrorCode::invalid_argument, "middle");
  DeviceOptions nobody = device_options();
  nobody.device = "no such device";
  EXPECT_VELLUM_ERROR(Device::open(nobody), ErrorCode::no_device, "no such device");
}

TEST_F(Api, RefusesMoreRunsInFlightThanAnyDeviceHasUseFor) {
  EXPECT_VELLUM_ERROR(Session(device, model, {.in_flight = 65}), ErrorCode::invalid_argument, "at most 64",
                      "65");
  EXPECT_VELLUM_ERROR(Session(device, model, {.in_flight = UINT32_MAX}), ErrorCode::invalid_argument, "64");
}

TEST_F(Api, ChecksForNaNAndInfinitiesOnRequest) {
  const Shape shape{1, 3, 9, 11};
  Tensor image(DType::f32, shape);
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    image.mutable_as<float>()[5] = bad;
    Session unchecked(device, model);
    unchecked.run({{"x", image}});
    Session checked(device, model, {.check_finite = true});
    const char* const what = std::isnan(bad) ? "NaN at element 5" : "an infinity at element 5";
    EXPECT_VELLUM_ERROR(checked.set_input("x", image), ErrorCode::invalid_argument, "input 'x'", what);
    EXPECT_VELLUM_ERROR(checked.submit({{"x", image}}), ErrorCode::invalid_argument, "input 'x'", what);
  }
  // Finite values whose squares are not.
  OnnxModel square;
  square.input("x", {4}).node("Mul", {"x", "x"}, {"y"}).output("y");
  const Tensor large = Tensor::f32({4}, std::vector<float>(4, 1e30f));
  Session session(device, load(square), {.check_finite = true});
  EXPECT_VELLUM_ERROR(session.run({{"x", large}}), ErrorCode::invalid_argument, "output 'y'", "element 0");
  EXPECT_VELLUM_ERROR(session.submit({{"x", large}}).wait(), ErrorCode::invalid_argument, "output 'y'");
  const Tensor ones = Tensor::f32({4}, std::vector<float>(4, 1));
  EXPECT_EQ(session.run({{"x", ones}}).at("y").to_floats(), std::vector<float>(4, 1.0f));
}

TEST_F(Api, MessagesAreOneLineWhateverAFileIsCalled) {
  EXPECT_VELLUM_ERROR(Model::load("no such\nmodel.onnx"), ErrorCode::not_found, "no such model.onnx");
  const std::string message = Error(ErrorCode::io, std::string(100000, 'x')).what();
  EXPECT_LE(message.size(), 2010u);
}

TEST_F(Api, RefusesFilesThatAreNoModels) {
  const TempFolder folder;
  EXPECT_VELLUM_ERROR(Model::load(folder / "missing.onnx"), ErrorCode::not_found, "missing.onnx");
  const auto garbage = folder.write("garbage.onnx", "this is not a model");
  EXPECT_VELLUM_ERROR(Model::load(garbage), ErrorCode::corrupt_model, "garbage.onnx");
}

// Compares a run with the host reference, for an input of that shape.
testing::AssertionResult runs_as_reference(Session& session, const Shape& shape, uint32_t seed) {
  Graph graph = small_model(shape).graph();
  const std::vector<HostTensor> inputs = random_inputs(graph, seed);
  const Tensor output = session.run({{"x", inputs.front()}}).at("y");
  return close(output, evaluate(graph, inputs).front());
}

TEST_F(Api, OpenDimensionsMayBeGivenBeforeRunning) {
  const Model open = load(small_model({1, 3, kUnknownDim, 11}));
  EXPECT_EQ(open.inputs().front().shape[2], kUnknownDim);
  Session session(device, open, {.input_shapes = {{"x", {1, 3, 7, 11}}}});
  EXPECT_EQ(session.outputs().front().shape, (Shape{1, 2, 3, 5}));
}

TEST_F(Api, ShapesMayChangeFromRunToRun) {
  const Model open = load(small_model({kUnknownDim, 3, kUnknownDim, kUnknownDim}));
  Session session(device, open, {.cached_shapes = 2});
  EXPECT_EQ(session.dispatch_count(), 0u);
  EXPECT_EQ(session.memory().weights_bytes, 0u);
  const std::vector<Shape> shapes{{1, 3, 9, 11}, {2, 3, 6, 8}, {1, 3, 40, 33}};
  for (uint32_t round = 0; round < 3; ++round)
    for (const Shape& shape : shapes) {
      EXPECT_TRUE(runs_as_reference(session, shape, round + 1)) << to_string(shape);
      EXPECT_EQ(session.inputs().front().shape, shape);
      EXPECT_EQ(session.outputs().front().shape, (Shape{shape[0], 2, shape[2] / 2, shape[3] / 2}));
    }
  EXPECT_GT(session.dispatch_count(), 0u);
}

TEST_F(Api, ABatchThatTheModelFixesMayChangeToo) {
  Session session(device, model);
  EXPECT_TRUE(runs_as_reference(session, {3, 3, 9, 11}, 4));
  EXPECT_TRUE(runs_as_reference(session, {1, 3, 9, 11}, 5));
}

TEST_F(Api, AShapeThatTheModelDoesNotAdmitChangesNothing) {
  Session session(device, model);
  EXPECT_TRUE(runs_as_reference(session, {1, 3, 9, 11}, 5));
  const Tensor before = session.output("y");
  EXPECT_VELLUM_ERROR(session.set_input("x", Tensor(DType::f32, {1, 3, 9, 12})), ErrorCode::invalid_argument,
                      "'x'");
  EXPECT_VELLUM_ERROR(session.prepare({{"x", {1, 4, 9, 11}}}), ErrorCode::invalid_argument, "'x'");
  session.run();
  EXPECT_EQ(distance(session.output("y"), before), 0);
}

TEST_F(Api, InputsOfTheSameShapeKeepTheirValuesWhenOthersChangeTheirs) {
  OnnxModel sum;
  sum.input("a", {kUnknownDim, 5}).input("b", {1, 5}).node("Add", {"a", "b"}, {"y"}).output("y");
  Session session(device, load(sum));
  session.set_input("b", Tensor::f32({1, 5}, std::vector<float>{1, 2, 3, 4, 5}));
  for (const int64_t rows : {2, 1, 3}) {
    session.set_input("a", Tensor(DType::f32, {rows, 5}));
    session.run();
    const std::vector<float> y = session.output("y").to_floats();
    ASSERT_EQ(y.size(), static_cast<size_t>(5 * rows));
    EXPECT_EQ(y.back(), 5.0f);
  }
}

TEST_F(Api, ManySessionsOfOneModelOnManyThreadsShareWeightsAndChangeShapes) {
  const Model open = load(small_model({kUnknownDim, 3, kUnknownDim, kUnknownDim}));
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Session session(device, open, {.cached_shapes = 1 + t % 2});
      for (const int64_t size : {6, 9, 6})
        right += runs_as_reference(session, {1 + t % 2, 3, size, 8}, t + 1) ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 12);
}

// Eight convolutions one after another, 16 to 16 channels, and a constant that grows with the image.
OnnxModel budget_model(const Shape& image) {
  OnnxModel model;
  model.input("x0", image).input("bias", {1, 16, 1, 1});
  for (int i = 0; i < 8; ++i) {
    const std::string at = std::to_string(i), next = std::to_string(i + 1);
    model.initializer("w" + at, random_tensor({16, 16, 3, 3}, static_cast<uint32_t>(i), -0.1f, 0.1f));
    model.node("Conv", {"x" + at, "w" + at}, {"x" + next},
               attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}), "conv" + at);
  }
  model.initializer("step", HostTensor::f32({1}, std::vector<float>{0.01f}))
      .initializer("axis", HostTensor::i64({}, std::vector<int64_t>{3}))
      .node("Shape", {"x0"}, {"shape"})
      .node("Expand", {"step", "shape"}, {"steps"})
      .node("CumSum", {"steps", "axis"}, {"position"})
      .node("Add", {"x8", "position"}, {"sum"}, {}, "placed")
      .node("Add", {"sum", "bias"}, {"y"});
  return std::move(model.output("y"));
}

TEST_F(Api, AWeightsBudgetBoundsTheirDeviceMemoryAndChangesNoBit) {
  const Model open = load(budget_model({kUnknownDim, 16, kUnknownDim, kUnknownDim}));
  const Tensor bias = random_tensor({1, 16, 1, 1}, 9);
  Session resident(device, open);
  resident.run({{"x0", random_tensor({1, 16, 6, 5}, 1)}, {"bias", bias}});
  EXPECT_EQ(resident.memory().streamed_weights_bytes, 0u);
  const uint64_t budget = resident.memory().weights_bytes / 2;
  Session session(device, open, {.weights_budget = budget});
  session.set_input("bias", bias);
  // The constant of the third does not fit beside the weights that are there by then.
  for (const Shape& shape :
       {Shape{1, 16, 6, 5}, Shape{2, 16, 9, 8}, Shape{1, 16, 20, 21}, Shape{1, 16, 6, 5}}) {
    SCOPED_TRACE(to_string(shape));
    for (const uint32_t seed : {2u, 3u}) {
      const Tensor x = random_tensor(shape, seed);
      const Tensor expected = resident.run({{"x0", x}, {"bias", bias}}).at("y");
      EXPECT_TRUE(same_bits(session.run({{"x0", x}}).at("y"), expected));
    }
    const MemoryReport memory = session.memory();
    EXPECT_LE(memory.peak_weights_bytes, budget);
    EXPECT_EQ(memory.weights_bytes, memory.peak_weights_bytes);
    EXPECT_GT(memory.total_weights_bytes, budget);
    EXPECT_GE(memory.streamed_weights_bytes, memory.total_weights_bytes - budget);
  }
}

TEST_F(Api, AWeightsBudgetGrowsWithTheShapesUpToItsEnd) {
  const Model open = load(budget_model({1, 16, kUnknownDim, kUnknownDim}));
  Session session(device, open, {.weights_budget = 1 << 20});
  const Tensor bias = random_tensor({1, 16, 1, 1}, 9);
  const Tensor small = random_tensor({1, 16, 6, 5}, 1), large = random_tensor({1, 16, 60, 64}, 1);
  const Tensor expected = session.run({{"x0", small}, {"bias", bias}}).at("y");
  const uint64_t at_first = session.memory().weights_bytes;
  session.run({{"x0", large}});
  EXPECT_GT(session.memory().weights_bytes, at_first);
  EXPECT_LE(session.memory().weights_bytes, uint64_t{1} << 20);
  EXPECT_TRUE(same_bits(session.run({{"x0", small}}).at("y"), expected)) << "the bias was kept";
  EXPECT_VELLUM_ERROR(session.run({{"x0", Tensor(DType::f32, {1, 16, 256, 256})}}), ErrorCode::out_of_memory,
                      "weights budget of 1048576 bytes", "'placed'", "4194304 bytes");
  EXPECT_TRUE(same_bits(session.run({{"x0", small}, {"bias", bias}}).at("y"), expected));
  EXPECT_VELLUM_ERROR(Session(device, model, {.weights_budget = 64}), ErrorCode::out_of_memory, "'conv1'");
}

TEST_F(Api, ReadinessForOneShapeAtLeast) {
  EXPECT_VELLUM_ERROR(Session(device, model, {.cached_shapes = 0}), ErrorCode::invalid_argument, "shapes");
}

TEST_F(Api, InputsKeepTheirValuesOverRuns) {
  Session session(device, model);
  const Tensor input = random_tensor({1, 3, 9, 11}, 5);
  session.set_input("x", input);
  session.run();
  const Tensor first = session.output("y");
  session.run();
  EXPECT_EQ(distance(session.output("y"), first), 0);
}

TEST_F(Api, PlanningSeesTheSessionsTensors) {
  const SessionOptions options{.planning = {.strategy = "greedy_by_size"}};
  const TensorUsage usage = tensor_usage(model, options, &device);
  EXPECT_EQ(usage.tensors.size(), usage.records.size());
  planner::PlanOptions plan_options;
  plan_options.object_bytes = usage.object_bytes;
  const auto plan =
      planner::plan_objects(usage.records, planner::ObjectStrategy::greedy_by_size, plan_options);
  const MemoryReport memory = Session(device, model, options).memory();
  EXPECT_EQ(plan.total_bytes, memory.planned_bytes);
  EXPECT_EQ(plan.objects.size(), memory.objects.size());
  plan_options = {.alignment = usage.offset_alignment};
  const auto arena =
      planner::plan_offsets(usage.arena_records, planner::OffsetStrategy::greedy_by_size, plan_options);
  const MemoryReport offsets =
      Session(device, model, {.memory = MemoryMode::offsets, .planning = {.strategy = "greedy_by_size"}})
          .memory();
  EXPECT_EQ(arena.total_bytes, offsets.planned_bytes);
  EXPECT_EQ(offsets.objects.size(), usage.records.size());
  EXPECT_GT(usage.any_order_bound, 0u);
  EXPECT_LE(usage.any_order_bound, offsets.planned_bytes);
}

TEST_F(Api, LayerTimesAreOneForEachTask) {
  Session session(device, model, {.profile = true});
  session.run({{"x", random_tensor({1, 3, 9, 11}, 5)}});
  const std::vector<LayerTime> layers = session.layer_times();
  EXPECT_EQ(layers.size(), session.dispatch_count());
  for (const LayerTime& layer : layers) {
    EXPECT_FALSE(layer.op.empty());
    EXPECT_FALSE(layer.gpu_ms < 0) << layer.name;
  }
}

TEST_F(Api, LayerTimesNeedProfile) {
  Session session(device, model);
  EXPECT_VELLUM_ERROR(session.layer_times(), ErrorCode::invalid_argument, "SessionOptions::profile");
}

// The file is fine: the message names the input and its shape, and the node that they do not fit.
TEST_F(Api, ShapesThatTheModelCannotRunWithAreTheCallersError) {
  OnnxModel sums;
  sums.input("x", {kUnknownDim, 3})
      .initializer("w", random_tensor({4, 3}, 1))
      .node("Add", {"x", "w"}, {"y"}, {}, "sum")
      .output("y");
  Session session(device, load(sums));
  EXPECT_VELLUM_ERROR(session.prepare({{"x", {2, 3}}}), ErrorCode::invalid_argument, "input 'x' of 2x3",
                      "'sum'");
  EXPECT_VELLUM_ERROR(Session(device, load(sums), {.input_shapes = {{"x", {5, 3}}}}),
                      ErrorCode::invalid_argument, "input 'x' of 5x3", "'sum'");
  EXPECT_VELLUM_ERROR(planned_memory(load(sums), {.input_shapes = {{"x", {5, 3}}}}),
                      ErrorCode::invalid_argument, "input 'x' of 5x3");
  session.prepare({{"x", {4, 3}}});
}

// Sessions share the device's queue, pipelines and memory; each must compute what it computes alone.
TEST_F(Api, SessionsOnTwoThreadsComputeWhatTheyDoAlone) {
  constexpr int kRuns = 20;
  const std::vector<Tensor> inputs{random_tensor({1, 3, 9, 11}, 21), random_tensor({1, 3, 9, 11}, 22)};
  std::vector<Tensor> alone;
  for (const Tensor& input : inputs) alone.push_back(Session(device, model).run({{"x", input}}).at("y"));

  std::atomic<int> different{0}, failed{0};
  const auto work = [&](size_t which) {
    try {
      Session session(device, model, {.tasks_per_submit = static_cast<uint32_t>(which)});
      for (int i = 0; i < kRuns; ++i)
        if (distance(session.run({{"x", inputs[which]}}).at("y"), alone[which]) != 0) ++different;
    } catch (const Error&) {
      ++failed;
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(different, 0);
}

TEST_F(Api, DevicesAreListedAndOpenedByNumber) {
  const std::vector<DeviceInfo> found = devices();
  ASSERT_FALSE(found.empty());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].index, i);
  DeviceOptions last = device_options();
  last.device = std::to_string(found.size() - 1);
  EXPECT_EQ(Device::open(last).info().name, found.back().name);
  EXPECT_EQ(Device::open(last).info().index, found.back().index);
}

}  // namespace
}  // namespace vellum::test
