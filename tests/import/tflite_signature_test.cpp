// Signatures of TFLite files: their names for inputs and outputs, and the choice of one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "import/import.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

constexpr int32_t kReluOperator = 19;

Graph chosen(const std::string& bytes, std::string_view signature) {
  return import_model(as_bytes(bytes), {}, signature);
}

TEST(TfliteSignature, ModelsHaveTheGraphOfTheChosenOne) {
  const std::string bytes = model_of_two_signatures();
  const std::vector<HostTensor> x{HostTensor::f32({2}, std::vector<float>{1, -3})};
  EXPECT_TRUE(
      close(evaluate(chosen(bytes, "double"), x)[0], HostTensor::f32({2}, std::vector<float>{2, -6}), 0));
  const Graph negate = chosen(bytes, "negate");
  EXPECT_TRUE(close(evaluate(negate, x)[0], HostTensor::f32({2}, std::vector<float>{-1, 3}), 0));
  EXPECT_EQ(negate.signatures, (std::vector<std::string>{"negate", "double"}));
}

TEST(TfliteSignature, WithoutAChoiceServingDefaultOrTheFirstIsTaken) {
  EXPECT_EQ(chosen(model_of_two_signatures(), "").signatures.front(), "double");
  TfliteModel m;
  const auto x = m.tensor("x", {2}), y = m.tensor("y", {2});
  m.op(kReluOperator, {x}, {y});
  m.signature("train", 1, {{"in", 0}}, {{"out", 0}});
  m.signature("serving_default", 0, {{"in", x}}, {{"out", y}});
  m.end_graph({x}, {y});
  const auto z = m.tensor("z", {2});
  const Graph graph = chosen(m.finish({z}, {z}), "");
  EXPECT_EQ(graph.signatures, (std::vector<std::string>{"serving_default", "train"}));
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
}

TEST(TfliteSignature, TensorsHaveItsNamesBesideTheirOwn) {
  const Graph graph = chosen(model_of_two_signatures(), "negate");
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "serving_x:0");
  EXPECT_EQ(graph.values[graph.inputs[0]].signature_name, "in");
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "PartitionedCall:0");
  EXPECT_EQ(graph.values[graph.outputs[0]].signature_name, "out");
}

// A name means one tensor: that which has it in the file.
TEST(TfliteSignature, NamesOfOtherTensorsAreNotTaken) {
  TfliteModel m;
  const auto a = m.tensor("a", {2}), b = m.tensor("b", {2}), y = m.tensor("y", {2});
  m.op(0, {a, b}, {y}, tfl::BuiltinOptions::AddOptions, tfl::CreateAddOptions(m.builder()).Union());
  m.signature("serving_default", 0, {{"b", a}, {"c", b}}, {{"y", y}});
  const Graph graph = import_model(as_bytes(m.finish({a, b}, {y})));
  EXPECT_EQ(graph.values[graph.inputs[0]].signature_name, "");
  EXPECT_EQ(graph.values[graph.inputs[1]].signature_name, "c");
  EXPECT_EQ(graph.values[graph.outputs[0]].signature_name, "");
}

TEST(TfliteSignature, QuantisedInputsAndOutputsHaveItsNames) {
  TfliteModel m;
  m.quantise_next({0.5f}, {3});
  const auto x = m.tensor("x", {2}, tfl::TensorType::int8);
  m.quantise_next({0.5f}, {3});
  const auto y = m.tensor("y", {2}, tfl::TensorType::int8);
  m.op(kReluOperator, {x}, {y});
  m.signature("serving_default", 0, {{"in", x}}, {{"out", y}});
  const Graph graph = import_model(as_bytes(m.finish({x}, {y})));
  EXPECT_EQ(graph.values[graph.inputs[0]].signature_name, "in");
  EXPECT_EQ(graph.values[graph.outputs[0]].signature_name, "out");
}

TEST(TfliteSignature, UnknownOnesAreRefusedWithTheListOfTheFile) {
  EXPECT_VELLUM_ERROR(chosen(model_of_two_signatures(), "train"), ErrorCode::not_found, "'train'",
                      "'double', 'negate'");
  TfliteModel m;
  const auto x = m.tensor("x", {2}), y = m.tensor("y", {2});
  m.op(kReluOperator, {x}, {y});
  EXPECT_VELLUM_ERROR(chosen(m.finish({x}, {y}), "train"), ErrorCode::not_found, "none");
  OnnxModel onnx;
  onnx.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_VELLUM_ERROR(chosen(onnx.bytes(), "train"), ErrorCode::not_found, "'train'", "TFLite");
}

TEST(TfliteSignature, OnesThatContradictTheirGraphAreRefused) {
  for (const bool bad_graph : {true, false}) {
    TfliteModel m;
    const auto x = m.tensor("x", {2}), y = m.tensor("y", {2});
    m.op(kReluOperator, {x}, {y});
    m.signature("serving_default", bad_graph ? 7 : 0, {{"in", bad_graph ? x : y}}, {{"out", y}});
    EXPECT_VELLUM_ERROR(import_model(as_bytes(m.finish({x}, {y}))), ErrorCode::corrupt_model,
                        bad_graph ? "graph 7" : "'in'");
  }
}

// What graph a signature has is its own: one sets the variable that the other reads.
TEST(TfliteSignature, GraphsShareTheNamesOfVariables) {
  const std::string bytes = stream_model();
  const Graph accumulate = chosen(bytes, ""), reset = chosen(bytes, "reset");
  EXPECT_EQ(accumulate.values[accumulate.inputs[1]].name, "sum");
  EXPECT_TRUE(reset.inputs.empty());
  EXPECT_EQ(reset.values[reset.outputs[0]].name, "sum.next");
}

// For tests in other languages. VELLUM_TEST_RENEW=1 writes it anew.
TEST(TfliteSignature, TheFileOfTheTestsIsUpToDate) {
  const char* source = std::getenv("VELLUM_TEST_SOURCE");
  ASSERT_NE(source, nullptr);
  const std::filesystem::path file = std::filesystem::path(source) / "data/tflite/stream.tflite";
  if (std::getenv("VELLUM_TEST_RENEW") != nullptr) std::ofstream(file, std::ios::binary) << stream_model();
  std::ifstream stream(file, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), stream_model());
}

// What a composite operator may be computed by instead.
TEST(TfliteSignature, TheFirstOfSeveralGraphsIsTheModelWithoutAny) {
  TfliteModel m;
  const auto x = m.tensor("x", {2}), y = m.tensor("y", {2});
  m.op(kReluOperator, {x}, {y});
  m.end_graph({x}, {y});
  const auto z = m.tensor("z", {2});
  const Graph graph = import_model(as_bytes(m.finish({z}, {z})));
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
  EXPECT_TRUE(graph.signatures.empty());
}

}  // namespace
}  // namespace vellum::test
