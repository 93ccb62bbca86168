// Sessions of models with inputs whose values decide shapes, through every way in which inputs come.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "public_interface.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "vellum/caps.hpp"
#include "vellum/estimate.hpp"
#include "vellum/pack.hpp"
#include "vellum/plan.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

Tensor sizes(const std::vector<int64_t>& values) {
  return Tensor::i64({static_cast<int64_t>(values.size())}, values);
}

// Resizes to a size that an input gives.
OnnxModel resize_model(const Shape& of_sizes = {4}) {
  OnnxModel model;
  model.input("x", {1, 2, 3, 5})
      .input("sizes", of_sizes, DType::i64)
      .node("Relu", {"x"}, {"a"})
      .node("Resize", {"a", "", "", "sizes"}, {"b"}, attributes({{"mode", std::string("nearest")}}))
      .node("Neg", {"b"}, {"y"})
      .output("y");
  return model;
}

std::span<const std::byte> bytes_of(const Tensor& tensor) { return {tensor.data(), tensor.byte_size()}; }

class ShapeInputSession : public testing::Test {
 protected:
  Tensor expected(const Tensor& to) const {
    return evaluate(resize_model().graph(), std::vector<HostTensor>{x, to}).front();
  }

  Device device = Device::open(device_options());
  Model model = load(resize_model());
  Tensor x = random_tensor({1, 2, 3, 5}, 1);
  Tensor small = sizes({1, 2, 6, 10}), large = sizes({1, 2, 9, 7});
};

TEST_F(ShapeInputSession, ModelsSayWhichInputsTheyAre) {
  ASSERT_EQ(model.inputs().size(), 2u);
  EXPECT_FALSE(model.inputs()[0].decides_shapes);
  EXPECT_TRUE(model.inputs()[1].decides_shapes);
  EXPECT_EQ(model.nodes({}, {{"sizes", small}}).back().output_shapes.front(), (Shape{1, 2, 6, 10}));
}

TEST_F(ShapeInputSession, IsPreparedForTheValuesThatItMeets) {
  Session session(device, model);
  EXPECT_EQ(session.dispatch_count(), 0u);
  for (const Tensor& to : {small, large, small}) {
    const auto outputs = session.run({{"x", x}, {"sizes", to}});
    EXPECT_EQ(session.outputs()[0].shape, to.to_ints());
    EXPECT_TRUE(close(outputs.at("y"), expected(to)));
  }
  EXPECT_TRUE(session.inputs()[1].decides_shapes);
  EXPECT_EQ(device.validation_messages(), 0u);
}

TEST_F(ShapeInputSession, KeepsPreparedValuesAsItKeepsShapes) {
  Session session(device, model, {.cached_shapes = 2});
  session.run({{"x", x}, {"sizes", small}});
  session.run({{"x", x}, {"sizes", large}});
  const InputValues in{"x", bytes_of(x)}, known{"sizes", bytes_of(small)}, other{"sizes", bytes_of(large)};
  EXPECT_NO_THROW(session.try_submit(std::vector{in, other}, {}));
  EXPECT_VELLUM_ERROR(session.try_submit(std::vector{in, known}, {}), ErrorCode::invalid_argument,
                      "prepared");
  session.submit(std::vector{in, known}, {}).wait();
  EXPECT_NO_THROW(session.try_submit(std::vector{in, known}, {}));
}

TEST_F(ShapeInputSession, KeepsOtherInputsAndTheValuesOfTheLastRun) {
  Session session(device, model);
  session.run({{"x", x}, {"sizes", small}});
  session.set_input("sizes", large);
  session.run();
  EXPECT_TRUE(close(session.output("y"), expected(large)));
  x = random_tensor({1, 2, 3, 5}, 2);
  session.set_input("x", x);
  session.run();
  EXPECT_TRUE(close(session.output("y"), expected(large)));
  session.set_input("sizes", bytes_of(small));
  session.run();
  EXPECT_TRUE(close(session.output("y"), expected(small)));
}

TEST_F(ShapeInputSession, TakesValuesWithItsOptionsAndThenNeedsNoOthers) {
  Session session(device, model, {.input_values = {{"sizes", small}}});
  EXPECT_GT(session.dispatch_count(), 0u);
  EXPECT_EQ(session.outputs()[0].shape, small.to_ints());
  EXPECT_TRUE(close(session.run({{"x", x}}).at("y"), expected(small)));
  EXPECT_TRUE(close(session.run({{"x", x}, {"sizes", large}}).at("y"), expected(large)));
}

TEST_F(ShapeInputSession, TakesThemInAnOpenShape) {
  Session session(device, load(resize_model({kUnknownDim})));
  EXPECT_TRUE(close(session.run({{"x", x}, {"sizes", large}}).at("y"), expected(large)));
  session.set_input("sizes", small);
  session.prepare({});
  EXPECT_EQ(session.outputs()[0].shape, small.to_ints());
  EXPECT_TRUE(close(session.run({{"x", x}}).at("y"), expected(small)));
}

TEST_F(ShapeInputSession, SubmitsWithThem) {
  Session session(device, model, {.in_flight = 2});
  for (const Tensor& to : {small, large}) {
    vellum::Run run = session.submit({{"x", x}, {"sizes", to}});
    EXPECT_TRUE(close(run.output("y"), expected(to)));
  }
}

TEST_F(ShapeInputSession, FitsABudgetWithThem) {
  Session session(device, model, {.memory_budget = 1 << 20});
  for (const Tensor& to : {small, large})
    EXPECT_TRUE(close(session.run({{"x", x}, {"sizes", to}}).at("y"), expected(to)));
}

TEST_F(ShapeInputSession, WithoutValuesSaysWhichAreMissing) {
  Session session(device, model);
  session.set_input("x", x);
  EXPECT_VELLUM_ERROR(session.run(), ErrorCode::invalid_argument, "'sizes'", "not set");
  EXPECT_VELLUM_ERROR(session.prepare({}), ErrorCode::invalid_argument, "'sizes'", "decide shapes");
  EXPECT_VELLUM_ERROR(planned_memory(model, {}), ErrorCode::invalid_argument, "'sizes'", "decide shapes");
  EXPECT_VELLUM_ERROR(estimate_memory(model, {}, device), ErrorCode::invalid_argument, "'sizes'");
  const SessionOptions options{.input_values = {{"sizes", small}}};
  EXPECT_GT(planned_memory(model, options).planned_bytes, 0u);
  EXPECT_GT(estimate_memory(model, options, device).use.total(), 0u);
}

TEST_F(ShapeInputSession, ValuesThatDoNotFitLeaveTheSessionAsItWas) {
  Session session(device, model);
  session.run({{"x", x}, {"sizes", small}});
  EXPECT_VELLUM_ERROR(session.run({{"x", x}, {"sizes", sizes({1, 2, -1, 4})}}), ErrorCode::invalid_argument,
                      "'sizes' = 1,2,-1,4");
  EXPECT_VELLUM_ERROR(session.run({{"x", x}, {"sizes", sizes({1, 2, 1 << 20, 1 << 20})}}),
                      ErrorCode::unsupported, "Resize");
  EXPECT_TRUE(close(session.run({{"x", x}, {"sizes", small}}).at("y"), expected(small)));
  EXPECT_VELLUM_ERROR(Session(device, model, {.input_values = {{"x", x}}}), ErrorCode::invalid_argument,
                      "'x'", "decide no shape");
}

TEST_F(ShapeInputSession, BundlesAreMadeForTheirValues) {
  std::vector<std::byte> bundle;
  const std::string file = resize_model().bytes();
  const PackSink sink = [&](std::span<const std::byte> piece) {
    bundle.insert(bundle.end(), piece.begin(), piece.end());
  };
  const std::span<const std::byte> source = std::as_bytes(std::span(file));
  EXPECT_VELLUM_ERROR(pack(source, sink, Caps::of(device), {}, {}), ErrorCode::invalid_argument, "'sizes'");
  pack(source, sink, Caps::of(device), {.input_values = {{"sizes", small}}}, {});
  Session session(device, Model::load(bundle));
  EXPECT_TRUE(close(session.run({{"x", x}, {"sizes", small}}).at("y"), expected(small)));
}

TEST_F(ShapeInputSession, EmptyInputsNeedNoValues) {
  OnnxModel source;
  source.input("x", {2, 3})
      .input("axes", {0}, DType::i64)
      .node("ReduceSum", {"x", "axes"}, {"y"})
      .output("y");
  Session session(device, load(source));
  const Tensor data = random_tensor({2, 3}, 3);
  const auto outputs = session.run({{"x", data}, {"axes", Tensor(DType::i64, {0})}});
  EXPECT_EQ(outputs.at("y").shape(), (Shape{1, 1}));
  EXPECT_NO_THROW(session.run({{"x", data}}));
}

}  // namespace
}  // namespace vellum::test
