// Loops whose number of iterations depends on the data: the host runs them, with layers on the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "public_interface.hpp"
#include "support/errors.hpp"
#include "support/loop_models.hpp"
#include "support/tensors.hpp"
#include "vellum/estimate.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

// Warnings that something runs on the host are what these tests expect.
Device quiet_device() {
  DeviceOptions options = device_options();
  options.log = {};
  return Device::open(options);
}

// A convolution and a product in each iteration, until the mean of the state exceeds 3.
OnnxModel layers_in_a_loop() {
  OnnxModel body;
  body.input("i", {}, DType::i64).input("c", {}, DType::boolean).input("image", {1, 4, 12, 16});
  body.initializer("kernel", random_tensor({4, 4, 3, 3}, 5, 0.0f, 0.1f))
      .initializer("most", HostTensor::f32({}, std::vector<float>{3.0f}))
      .initializer("step", HostTensor::f32({1}, std::vector<float>{0.5f}));
  body.node("Conv", {"image", "kernel"}, {"filtered"}, attributes({{"pads", Attributes::Ints{1, 1, 1, 1}}}))
      .node("Tanh", {"filtered"}, {"bounded"})
      .node("Add", {"bounded", "step"}, {"more"})
      .node("Add", {"image", "more"}, {"next"})
      .node("ReduceMean", {"next"}, {"mean"}, attributes({{"keepdims", int64_t{0}}}))
      .node("Less", {"mean", "most"}, {"go"})
      .node("Cast", {"i"}, {"seen"}, attributes({{"to", int64_t{1}}}));
  body.output("go").output("next").output("seen");
  OnnxModel model;
  HostTensor yes(DType::boolean, {});
  yes.mutable_as<uint8_t>()[0] = 1;
  model.input("x", {1, 4, 12, 16}).initializer("true", yes);
  add_body_node(model, "Loop", {"", "true", "x"}, {"last", "iterations"}, std::move(body));
  return std::move(model.output("last").output("iterations"));
}

// A state that doubles in each iteration, for as long as the largest element is less than 1.
TEST(LoopInTail, StatesThatGrowHaveALimit) {
  OnnxModel body;
  body.input("i", {}, DType::i64).input("c", {}, DType::boolean).input("s", {kUnknownDim});
  body.initializer("one", HostTensor::f32({}, std::vector<float>{1.0f}));
  body.node("Concat", {"s", "s"}, {"twice"}, attributes({{"axis", int64_t{0}}}))
      .node("ReduceMax", {"s"}, {"most"}, attributes({{"keepdims", int64_t{0}}}))
      .node("Less", {"most", "one"}, {"go"});
  body.output("go").output("twice");
  OnnxModel model;
  HostTensor yes(DType::boolean, {});
  yes.mutable_as<uint8_t>()[0] = 1;
  model.input("x", {128}).initializer("true", yes);
  add_body_node(model, "Loop", {"", "true", "x"}, {"last"}, std::move(body));
  model.output("last");
  const std::string bytes = model.bytes();
  LoadLimits limits;
  limits.folded_bytes = uint64_t{1} << 20;
  Session session(quiet_device(), Model::load(as_bytes(bytes), limits));
  EXPECT_VELLUM_ERROR(session.run({{"x", random_tensor({128}, 1)}}), ErrorCode::unsupported, "Loop 'repeat'",
                      "only a run determines", "folded_bytes");
  Tensor ends = random_tensor({128}, 1);
  ends.mutable_as<float>()[5] = 2.0f;
  EXPECT_EQ(session.run({{"x", ends}}).at("last").shape(), (Shape{256}));
}

TEST(LoopInTail, LayersInIterationsRunOnTheDevice) {
  const Device device = quiet_device();
  const OnnxModel model = layers_in_a_loop();
  const Graph graph = model.graph();
  const uint64_t large = uint64_t{1} << 30;
  SessionOptions memory_budget, weights_budget;
  memory_budget.memory_budget = weights_budget.weights_budget = large;
  for (const SessionOptions& options : {SessionOptions(), memory_budget, weights_budget}) {
    Session session(device, load(model), options);
    const bool has_budget = options.memory_budget + options.weights_budget > 0;
    const std::string place = has_budget ? "with a budget a group of layers among them runs on the host, too"
                                         : "a group of layers among them runs on the device";
    const auto says_place = [&](const std::string& warning) {
      return warning.find(place) != std::string::npos;
    };
    EXPECT_TRUE(std::ranges::any_of(session.warnings(), says_place));
    EXPECT_TRUE(std::ranges::any_of(estimate_memory(load(model), options, device).warnings, says_place));
    for (const uint32_t seed : {1u, 2u}) {
      const std::vector<HostTensor> inputs{random_tensor({1, 4, 12, 16}, seed)};
      const std::vector<HostTensor> expected = evaluate(graph, inputs);
      const Outputs outputs = session.run({{"x", inputs[0]}});
      EXPECT_GT(outputs.at("iterations").elements(), 2);
      EXPECT_TRUE(close(outputs.at("last"), expected[0]));
      EXPECT_TRUE(close(outputs.at("iterations"), expected[1], 0.0));
    }
  }
}

}  // namespace
}  // namespace vellum::test
