// Variables of TFLite files: inputs and outputs of the graph that a caller hands from one run to the next.
#include <gtest/gtest.h>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

HostTensor pair_of(float a, float b) { return HostTensor::f32({2}, std::vector<float>{a, b}); }

std::string name_of(const Graph& graph, ValueId id) { return graph.values[id].name; }

TEST(TfliteVariable, IsAnInputAndAnOutputWithTheValueThatItBeginsWith) {
  const Graph graph = import_model(as_bytes(running_sum_model()));
  ASSERT_EQ(graph.inputs.size(), 2u);
  ASSERT_EQ(graph.outputs.size(), 2u);
  EXPECT_EQ(name_of(graph, graph.inputs[1]), "sum");
  EXPECT_EQ(name_of(graph, graph.outputs[1]), "sum.next");
  ASSERT_TRUE(graph.values[graph.inputs[1]].initial_value);
  EXPECT_TRUE(close(*graph.values[graph.inputs[1]].initial_value, pair_of(10, 20), 0));
  EXPECT_FALSE(graph.values[graph.inputs[0]].initial_value);
  for (const Graph& each : {graph, optimise(graph, {})}) {
    const auto results = evaluate(each, std::vector<HostTensor>{pair_of(1, 2), pair_of(10, 20)});
    EXPECT_TRUE(close(results[0], pair_of(11, 22), 0));
    EXPECT_TRUE(close(results[1], pair_of(11, 22), 0));
  }
}

// Reads before an assignment have the value of the run before, those after it the assigned one.
TEST(TfliteVariable, IsReadAsItWasAssignedLast) {
  TfliteModel m;
  const auto x = m.tensor("x", {2}), old = m.tensor("old", {2}), seen = m.tensor("seen", {2}),
             y = m.tensor("y", {2}), twice = m.tensor("twice", {2});
  const int32_t state = variable(m, "state");
  read_variable(m, state, old);
  assign_variable(m, state, x);
  read_variable(m, state, seen);
  add(m, old, seen, y);
  add(m, seen, seen, twice);
  assign_variable(m, state, twice);
  const Graph graph = import_model(as_bytes(m.finish({x}, {y})));
  EXPECT_TRUE(
      close(*graph.values[graph.inputs[1]].initial_value, pair_of(0, 0), 0));  // nothing initialises it
  const auto results = evaluate(graph, std::vector<HostTensor>{pair_of(1, 2), pair_of(100, 200)});
  EXPECT_TRUE(close(results[0], pair_of(101, 202), 0));
  EXPECT_TRUE(close(results[1], pair_of(2, 4), 0));
}

TEST(TfliteVariable, IsAConstantIfNothingAssignsIt) {
  TfliteModel m;
  const auto x = m.tensor("x", {2}), scale = m.tensor("scale", {2}), y = m.tensor("y", {2});
  call_once(m, 1);
  read_variable(m, variable(m, "scale"), scale);
  add(m, x, scale, y);
  m.end_graph({x}, {y});
  assign_variable(m, variable(m, "scale"), m.floats("value", {2}, {3, 4}));
  const Graph graph = import_model(as_bytes(m.finish({}, {})));
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.outputs.size(), 1u);
  EXPECT_TRUE(close(evaluate(graph, std::vector<HostTensor>{pair_of(1, 2)})[0], pair_of(4, 6), 0));
}

// A signature that only resets what others read.
TEST(TfliteVariable, IsAnOutputAloneIfItIsOnlyAssigned) {
  TfliteModel m;
  assign_variable(m, variable(m, "state"), m.floats("zero", {2}, {5, 6}));
  const Graph graph = import_model(as_bytes(m.finish({}, {})));
  EXPECT_TRUE(graph.inputs.empty());
  ASSERT_EQ(graph.outputs.size(), 1u);
  EXPECT_EQ(name_of(graph, graph.outputs[0]), "state.next");
  EXPECT_TRUE(close(evaluate(graph, {})[0], pair_of(5, 6), 0));
}

TEST(TfliteVariable, KeepsIntegersWhereItIsQuantised) {
  TfliteModel m;
  const auto quantised = [&](const char* name) {
    m.quantise_next({0.5f}, {3});
    return m.tensor(name, {2}, tfl::TensorType::int8);
  };
  const auto x = quantised("x"), before = quantised("before"), y = quantised("y");
  const int32_t state = variable(m, "state");
  read_variable(m, state, before);
  add(m, x, before, y);
  assign_variable(m, state, y);
  const Graph graph = import_model(as_bytes(m.finish({x}, {y})));
  EXPECT_EQ(graph.values[graph.inputs[1]].type.dtype, DType::i8);
  const auto bytes = [](int64_t a, int64_t b) {
    return HostTensor::from<int64_t>(DType::i8, {2}, std::vector<int64_t>{a, b});
  };
  const auto results = evaluate(graph, std::vector<HostTensor>{bytes(5, 7), bytes(4, 4)});  // 1, 2; 0.5
  EXPECT_EQ(results[0].to_ints(), (std::vector<int64_t>{6, 8}));
  EXPECT_EQ(results[1].to_ints(), (std::vector<int64_t>{6, 8}));
}

TEST(TfliteVariable, WhatCannotBeReadIsRefused) {
  TfliteModel computed;  // the value that it begins with
  const auto x = computed.tensor("x", {2}), y = computed.tensor("y", {2});
  call_once(computed, 1);
  read_variable(computed, variable(computed, "state"), y);
  computed.end_graph({x}, {y});
  const auto a = computed.floats("a", {2}, {1, 2}), b = computed.tensor("b", {2});
  add(computed, a, a, b);
  assign_variable(computed, variable(computed, "state"), b);
  EXPECT_VELLUM_ERROR(import_model(as_bytes(computed.finish({}, {}))), ErrorCode::unsupported, "'state'",
                      "computed");

  TfliteModel other_type;
  const auto z = other_type.tensor("z", {3});
  call_once(other_type, 1);
  read_variable(other_type, variable(other_type, "state"), z);
  other_type.end_graph({}, {z});
  assign_variable(other_type, variable(other_type, "state"), other_type.floats("a", {2}, {1, 2}));
  EXPECT_VELLUM_ERROR(import_model(as_bytes(other_type.finish({}, {}))), ErrorCode::corrupt_model, "'state'",
                      "3");

  TfliteModel no_handle;
  const auto from = no_handle.tensor("from", {2}), to = no_handle.tensor("to", {2});
  read_variable(no_handle, from, to);
  EXPECT_VELLUM_ERROR(import_model(as_bytes(no_handle.finish({from}, {to}))), ErrorCode::corrupt_model,
                      "'from'");

  TfliteModel given;
  const auto handle = given.tensor("handle", {}, tfl::TensorType::resource), v = given.tensor("v", {2});
  read_variable(given, handle, v);
  EXPECT_VELLUM_ERROR(import_model(as_bytes(given.finish({handle}, {v}))), ErrorCode::unsupported,
                      "'handle'");

  TfliteModel no_graph;
  call_once(no_graph, 9);
  EXPECT_VELLUM_ERROR(import_model(as_bytes(no_graph.finish({}, {}))), ErrorCode::corrupt_model, "graph 9");
}

}  // namespace
}  // namespace vellum::test
