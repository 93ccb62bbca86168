// Several inferences under way on one session: what they compute, what goes wrong, and when.
#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

const Shape kInput{1, 3, 9, 11};
constexpr size_t kOutputs = 2 * 4 * 5;

class RunsInFlight : public testing::Test {
 protected:
  Device device = Device::open(device_options());
  Model model = load(small_model());

  // The results of run() for random_tensor(kInput, seed), for seeds from 0 on.
  std::vector<Tensor> wanted(uint32_t count) {
    Session session(device, model);
    std::vector<Tensor> outputs;
    for (uint32_t seed = 0; seed < count; ++seed)
      outputs.push_back(session.run({{"x", random_tensor(kInput, seed)}}).at("y"));
    return outputs;
  }
};

InputValues values_of(std::string_view name, const Tensor& tensor) {
  return {name, {tensor.data(), tensor.byte_size()}, tensor.shape()};
}

// A run whose output goes to memory of its own.
struct Delivered {
  Delivered(Session& session, const Tensor& x) : y(kOutputs) {
    const InputValues input = values_of("x", x);
    const OutputValues output{"y", std::as_writable_bytes(std::span(y))};
    run = session.submit({&input, 1}, {&output, 1});
  }
  std::vector<float> y;
  vellum::Run run;
};

TEST_F(RunsInFlight, AnInputIsGivenOnce) {
  Session session(device, model);
  const Tensor x = random_tensor(kInput, 1);
  const InputValues twice[] = {values_of("x", x), values_of("x", x)};
  EXPECT_VELLUM_ERROR(session.submit(twice, {}), ErrorCode::invalid_argument, "'x'", "given twice");
}

TEST_F(RunsInFlight, ComputeWhatRunDoes) {
  const std::vector<Tensor> want = wanted(8);
  for (const uint32_t in_flight : {1u, 2u, 3u}) {
    Session session(device, model, {.in_flight = in_flight});
    std::deque<vellum::Run> kept;
    for (uint32_t seed = 0; seed < want.size(); ++seed)
      kept.push_back(session.submit({{"x", random_tensor(kInput, seed)}}));
    std::deque<Delivered> delivered;
    for (uint32_t seed = 0; seed < want.size(); ++seed)
      delivered.emplace_back(session, random_tensor(kInput, seed));
    for (size_t i = want.size(); i-- > 0;) {  // also backwards
      EXPECT_TRUE(same_bits(kept[i].output("y"), want[i])) << i;
      delivered[i].run.wait();
      EXPECT_EQ(delivered[i].y, want[i].to_floats()) << i;
    }
  }
}

TEST_F(RunsInFlight, AreDoneAtSomeTime) {
  const std::vector<Tensor> want = wanted(2);
  Session session(device, model, {.in_flight = 2});
  const vellum::Run first = session.submit({{"x", random_tensor(kInput, 0)}});
  const vellum::Run second = session.submit({{"x", random_tensor(kInput, 1)}});
  while (!second.done()) std::this_thread::yield();
  EXPECT_TRUE(first.done());
  EXPECT_TRUE(same_bits(second.outputs().at("y"), want[1]));
  EXPECT_TRUE(same_bits(first.outputs().at("y"), want[0]));
}

TEST_F(RunsInFlight, OutliveTheirSession) {
  const std::vector<Tensor> want = wanted(3);
  std::deque<vellum::Run> runs;
  std::unique_ptr<Delivered> delivered;
  {
    Session session(device, model, {.in_flight = 3});
    for (uint32_t seed = 0; seed < 2; ++seed)
      runs.push_back(session.submit({{"x", random_tensor(kInput, seed)}}));
    delivered = std::make_unique<Delivered>(session, random_tensor(kInput, 2));
  }
  EXPECT_TRUE(delivered->run.done());
  EXPECT_EQ(delivered->y, want[2].to_floats());
  for (size_t i = 0; i < runs.size(); ++i) EXPECT_TRUE(same_bits(runs[i].output("y"), want[i]));
}

TEST_F(RunsInFlight, MayBeForgotten) {
  const std::vector<Tensor> want = wanted(3);
  Session session(device, model, {.in_flight = 2});
  session.submit({{"x", random_tensor(kInput, 0)}});
  { const Delivered gone(session, random_tensor(kInput, 1)); }
  EXPECT_TRUE(same_bits(session.submit({{"x", random_tensor(kInput, 2)}}).output("y"), want[2]));
  const vellum::Run none;
  EXPECT_FALSE(none.valid());
  EXPECT_VELLUM_ERROR(none.wait(), ErrorCode::invalid_argument, "no run");
}

TEST_F(RunsInFlight, RefuseWhatRunRefuses) {
  const std::vector<Tensor> want = wanted(1);
  Session session(device, model, {.in_flight = 2});
  const Tensor x = random_tensor(kInput, 0);
  std::vector<float> y(kOutputs);
  const InputValues unknown = values_of("z", x), input = values_of("x", x);
  const InputValues cut{"x", input.values.first(8)};
  const Tensor other = random_tensor({1, 3, 9, 10}, 0);
  const OutputValues none{"z", std::as_writable_bytes(std::span(y))};
  const OutputValues small{"y", std::as_writable_bytes(std::span(y).first(3))};
  EXPECT_VELLUM_ERROR(session.submit({}, {}), ErrorCode::invalid_argument, "'x'", "not given");
  EXPECT_VELLUM_ERROR(session.submit({&unknown, 1}, {}), ErrorCode::not_found, "'z'", "'x'");
  EXPECT_VELLUM_ERROR(session.submit({&cut, 1}, {}), ErrorCode::invalid_argument, "'x'", "1188",
                      "8 were given");
  EXPECT_VELLUM_ERROR(session.submit({{"x", other}}), ErrorCode::invalid_argument, "'x'", "1x3x9x10");
  EXPECT_VELLUM_ERROR(session.submit({{"x", Tensor(DType::i64, kInput)}}), ErrorCode::invalid_argument,
                      "int64");
  EXPECT_VELLUM_ERROR(session.submit({&input, 1}, {&none, 1}), ErrorCode::not_found, "'z'");
  EXPECT_VELLUM_ERROR(session.submit({&input, 1}, {&small, 1}), ErrorCode::invalid_argument, "'y'", "160",
                      "12 were given");
  const vellum::Run run = session.submit({{"x", x}});
  EXPECT_VELLUM_ERROR(run.output("z"), ErrorCode::not_found, "'z'");
  EXPECT_TRUE(same_bits(run.output("y"), want[0])) << "no place was lost";
  EXPECT_VELLUM_ERROR(Session(device, model, {.in_flight = 0}), ErrorCode::invalid_argument, "in flight");
  EXPECT_VELLUM_ERROR(Session(device, model, {.weights_budget = 4096, .in_flight = 2}),
                      ErrorCode::invalid_argument, "weights_budget", "in_flight");
}

TEST_F(RunsInFlight, TakeThePlaceOfTheLastRun) {
  const std::vector<Tensor> want = wanted(2);
  Session session(device, model);
  session.run({{"x", random_tensor(kInput, 0)}});
  const vellum::Run run = session.submit({{"x", random_tensor(kInput, 1)}});
  EXPECT_VELLUM_ERROR(session.output("y"), ErrorCode::invalid_argument, "submit()");
  EXPECT_VELLUM_ERROR(session.run(), ErrorCode::invalid_argument, "'x'", "not set");
  EXPECT_TRUE(same_bits(session.run({{"x", random_tensor(kInput, 0)}}).at("y"), want[0]));
  EXPECT_TRUE(same_bits(run.output("y"), want[1]));
}

TEST_F(RunsInFlight, MayDifferInShape) {
  model = load(small_model({-1, 3, -1, -1}));
  Session session(device, model, {.in_flight = 2});
  const std::vector<Shape> shapes{{1, 3, 9, 11}, {1, 3, 9, 11}, {2, 3, 6, 8}, {1, 3, 9, 11}, {1, 3, 7, 7}};
  std::deque<vellum::Run> runs;
  for (uint32_t i = 0; i < shapes.size(); ++i)
    runs.push_back(session.submit({{"x", random_tensor(shapes[i], i)}}));
  for (uint32_t i = 0; i < shapes.size(); ++i) {
    const Tensor want =
        evaluate(small_model(shapes[i]).graph(), std::vector{random_tensor(shapes[i], i)}).front();
    EXPECT_TRUE(close(runs[i].output("y"), want)) << i;
  }
}

TEST_F(RunsInFlight, ComeFromSeveralThreads) {
  constexpr uint32_t kThreads = 3, kRuns = 12;
  const std::vector<Tensor> want = wanted(kThreads * kRuns);
  Session session(device, model, {.in_flight = 2});
  std::vector<std::vector<Tensor>> got(kThreads);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::deque<vellum::Run> runs;
      for (uint32_t i = 0; i < kRuns; ++i) {
        runs.push_back(session.submit({{"x", random_tensor(kInput, t * kRuns + i)}}));
        if (runs.size() < 2) continue;
        if (i % 2) runs.front().done();
        got[t].push_back(runs.front().output("y"));
        runs.pop_front();
      }
      got[t].push_back(runs.front().output("y"));
    });
  for (std::thread& thread : threads) thread.join();
  for (uint32_t t = 0; t < kThreads; ++t)
    for (uint32_t i = 0; i < kRuns; ++i) EXPECT_TRUE(same_bits(got[t].at(i), want[t * kRuns + i]));
}

// ConvTranspose in three dimensions has no kernel.
TEST_F(RunsInFlight, WaitForWhatRunsOnTheHost) {
  OnnxModel onnx;
  onnx.input("x", {1, 3, 2, 5, 7})
      .initializer("w", random_tensor({3, 2, 1, 1, 1}, 1))
      .node("Relu", {"x"}, {"a"}, {}, "relu")
      .node("ConvTranspose", {"a", "w"}, {"b"}, {}, "deconv")
      .node("Sigmoid", {"b"}, {"y"}, {}, "sigmoid")
      .output("y");
  DeviceOptions options = device_options();
  options.log = nullptr;  // it warns
  Session session(Device::open(options), load(onnx), {.in_flight = 2});
  std::deque<vellum::Run> runs;
  for (uint32_t seed = 0; seed < 4; ++seed)
    runs.push_back(session.submit({{"x", random_tensor({1, 3, 2, 5, 7}, seed)}}));
  while (!runs[2].done()) std::this_thread::yield();
  for (uint32_t seed = 0; seed < 4; ++seed) {
    const Tensor want = evaluate(onnx.graph(), std::vector{random_tensor({1, 3, 2, 5, 7}, seed)}).front();
    EXPECT_TRUE(close(runs[seed].output("y"), want)) << seed;
  }
}

TEST_F(RunsInFlight, KeepOutputsWhoseShapesOnlyARunTells) {
  OnnxModel onnx;
  onnx.input("x", {4})
      .node("Relu", {"x"}, {"positive"})
      .node("NonZero", {"positive"}, {"places"})
      .output("positive")
      .output("places");
  DeviceOptions options = device_options();
  options.log = nullptr;  // it warns
  Session session(Device::open(options), load(onnx), {.in_flight = 2});
  std::vector<float> positive(4);
  const Tensor first = Tensor::f32({4}, std::vector<float>{0, 2, 0, 3}),
               second = Tensor::f32({4}, std::vector<float>{1, 1, 1, -1});
  const InputValues in = values_of("x", first);
  const OutputValues out{"positive", std::as_writable_bytes(std::span(positive))}, places{"places", {}};
  const vellum::Run delivered = session.submit({&in, 1}, {&out, 1});
  const vellum::Run kept = session.submit({{"x", second}});
  EXPECT_EQ(delivered.output("places").to_ints(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(positive, (std::vector<float>{0, 2, 0, 3}));
  EXPECT_EQ(kept.output("places").to_ints(), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(kept.output("positive").to_floats(), (std::vector<float>{1, 1, 1, 0}));
  EXPECT_VELLUM_ERROR(session.submit({&in, 1}, {&places, 1}), ErrorCode::invalid_argument, "'places'",
                      "kept");
}

TEST_F(RunsInFlight, MayStreamTheirWeightsOneByOne) {
  const std::vector<Tensor> want = wanted(3);
  Session session(device, model, {.weights_budget = 2048});
  std::deque<vellum::Run> runs;
  for (uint32_t seed = 0; seed < 3; ++seed)
    runs.push_back(session.submit({{"x", random_tensor(kInput, seed)}}));
  for (size_t i = 0; i < runs.size(); ++i) EXPECT_TRUE(same_bits(runs[i].output("y"), want[i]));
}

TEST_F(RunsInFlight, HaveTensorsOfTheirOwnAndShareTheWeights) {
  const MemoryReport one = Session(device, model).memory();
  const MemoryReport three = Session(device, model, {.in_flight = 3}).memory();
  EXPECT_EQ(one.in_flight, 1u);
  EXPECT_EQ(three.in_flight, 3u);
  EXPECT_EQ(three.allocated_bytes, 3 * one.allocated_bytes);
  EXPECT_EQ(three.in_out_bytes, 3 * one.in_out_bytes);
  EXPECT_EQ(three.weights_bytes, one.weights_bytes);
  EXPECT_EQ(three.planned_bytes, one.planned_bytes);
}

}  // namespace
}  // namespace vellum::test
