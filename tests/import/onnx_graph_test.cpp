// How the nodes, inputs and outputs of an ONNX file become a graph, and what is refused.
#include <gtest/gtest.h>
#include <vellum_onnx.pb.h>

#include "import/import.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

OnnxModel relu_model() {
  OnnxModel model;
  model.input("x", {1, 2, 3, 3}).node("Relu", {"x"}, {"y"}, {}, "rectify").output("y");
  return model;
}

TEST(OnnxGraph, ReadsInputsNodesAndOutputs) {
  OnnxModel model;
  model.input("x", {1, 2, 3, 3})
      .initializer("w", random_tensor({4, 2, 1, 1}, 1))
      .node("Conv", {"x", "w"}, {"c"}, attributes({{"kernel_shape", Attributes::Ints{1, 1}}}), "conv")
      .node("Relu", {"c"}, {"y"}, {}, "relu")
      .output("y");
  const Graph graph = model.graph();
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "x");
  EXPECT_EQ(graph.values[graph.inputs[0]].type, (TensorType{DType::f32, {1, 2, 3, 3}}));
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(describe(graph.nodes[0]), "Conv 'conv'");
  EXPECT_EQ(describe(graph.nodes[1]), "Relu 'relu'");
  EXPECT_TRUE(graph.values[graph.nodes[0].inputs[1]].constant);
  ASSERT_EQ(graph.outputs.size(), 1u);
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
}

TEST(OnnxGraph, NodesOutOfOrderAreSorted) {
  OnnxModel model;
  model.input("x", {2})
      .node("Relu", {"b"}, {"y"})
      .node("Relu", {"a"}, {"b"})
      .node("Relu", {"x"}, {"a"})
      .output("y");
  const Graph graph = model.graph();
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.values[graph.nodes[0].outputs[0]].name, "a");
  EXPECT_EQ(graph.values[graph.nodes[2].outputs[0]].name, "y");
}

TEST(OnnxGraph, NodeWithoutANameIsCalledByItsFirstOutput) {
  OnnxModel model;
  model.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_EQ(describe(model.graph().nodes[0]), "Relu 'y'");
}

TEST(OnnxGraph, InitializersAmongTheInputsAreConstants) {
  OnnxModel model;
  model.input("x", {2})
      .input("w", {2})
      .initializer("w", random_tensor({2}, 1))
      .node("Add", {"x", "w"}, {"y"})
      .output("y");
  const Graph graph = model.graph();
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "x");
}

TEST(OnnxGraph, OpenDimensionsAreUnknown) {
  OnnxModel model;
  model.input("x", {kUnknownDim, 3, kUnknownDim}).node("Relu", {"x"}, {"y"}).output("y");
  auto& shape = *model.proto()
                     .mutable_graph()
                     ->mutable_input(0)
                     ->mutable_type()
                     ->mutable_tensor_type()
                     ->mutable_shape();
  shape.add_dim();                     // neither a number nor a name
  shape.add_dim()->set_dim_value(-1);  // what some exporters write
  const Graph graph = model.graph();
  EXPECT_EQ(graph.values[graph.inputs[0]].type.shape,
            (Shape{kUnknownDim, 3, kUnknownDim, kUnknownDim, kUnknownDim}));
}

TEST(OnnxGraph, OptionalInputsCanBeLeftOut) {
  OnnxModel model;
  model.input("x", {2}).initializer("high", HostTensor::f32({}, std::vector<float>{6.0f}));
  model.node("Clip", {"x", "", "high"}, {"y"}).node("Clip", {"y", "", ""}, {"z"}).output("z");
  const Graph graph = model.graph();
  ASSERT_EQ(graph.nodes[0].inputs.size(), 3u);
  EXPECT_EQ(graph.nodes[0].inputs[1], kNoValue);
  EXPECT_EQ(graph.nodes[1].inputs.size(), 1u);
}

TEST(OnnxGraph, GraphOutputCanBeAnInputOrAConstant) {
  OnnxModel model;
  model.input("x", {2}).initializer("c", random_tensor({2}, 3)).output("x").output("c");
  const Graph graph = model.graph();
  const auto results = evaluate(graph, random_inputs(graph, 9));
  EXPECT_TRUE(close(results[1], random_tensor({2}, 3), 0.0));
}

TEST(OnnxGraph, ConstantNodesBecomeConstants) {
  OnnxModel model;
  model.node("Constant", {}, {"t"}, attributes({{"value", random_tensor({2, 2}, 5)}}))
      .node("Constant", {}, {"f"}, attributes({{"value_float", 2.5f}}))
      .node("Constant", {}, {"i"}, attributes({{"value_int", int64_t{7}}}))
      .node("Constant", {}, {"fs"}, attributes({{"value_floats", Attributes::Floats{1, 2, 3}}}))
      .node("Constant", {}, {"is"}, attributes({{"value_ints", Attributes::Ints{4, 5}}}));
  for (const char* name : {"t", "f", "i", "fs", "is"}) model.output(name);
  const Graph graph = model.graph();
  EXPECT_TRUE(graph.nodes.empty());
  const auto results = evaluate(graph, {});
  EXPECT_TRUE(close(results[0], random_tensor({2, 2}, 5), 0.0));
  EXPECT_TRUE(close(results[1], HostTensor::f32({}, std::vector<float>{2.5f}), 0.0));
  EXPECT_TRUE(close(results[2], HostTensor::i64({}, std::vector<int64_t>{7}), 0.0));
  EXPECT_TRUE(close(results[3], HostTensor::f32({3}, std::vector<float>{1, 2, 3}), 0.0));
  EXPECT_TRUE(close(results[4], HostTensor::i64({2}, std::vector<int64_t>{4, 5}), 0.0));
}

TEST(OnnxGraph, DefaultDomainMayBeSpelledOut) {
  OnnxModel model = relu_model();
  model.proto().mutable_opset_import(0)->set_domain("ai.onnx");
  model.proto().mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  EXPECT_EQ(model.graph().nodes.size(), 1u);
}

TEST(OnnxGraph, AllUnknownOperatorsAreListedAtOnce) {
  OnnxModel model = relu_model();
  model.node("Frobnicate", {"y"}, {"z"}, {}, "first").node("Frobnicate", {"z"}, {"u"}, {}, "second");
  model.node("Relu", {"u"}, {"v"}, {}, "foreign");
  model.proto().mutable_graph()->mutable_node(3)->set_domain("com.example");
  EXPECT_VELLUM_ERROR(model.graph(), ErrorCode::unsupported, "'Frobnicate'", "'first' and 1 more",
                      "'com.example.Relu'", "'foreign'");
}

TEST(OnnxGraph, OperatorsOfOnnxRuntimeAreKnownByTheirDomain) {
  OnnxModel model(13);
  model.input("x", {2}).initializer("scale", HostTensor::f32({2}, std::vector<float>{5, 10}));
  model.node("BiasAdd", {"x", "scale", "x"}, {"sum"})
      .node("SimplifiedLayerNormalization", {"x", "scale"}, {"y"}, attributes({{"epsilon", 0.0f}}))
      .output("sum")
      .output("y");
  EXPECT_VELLUM_ERROR(model.graph(), ErrorCode::unsupported, "'BiasAdd'");
  model.proto().mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  const auto outputs = evaluate(model.graph(), std::vector{HostTensor::f32({2}, std::vector<float>{1, 7})});
  EXPECT_EQ(outputs[0].to_floats(), (std::vector<float>{7, 24}));
  EXPECT_EQ(outputs[1].to_floats(), (std::vector<float>{1, 14}));
}

TEST(OnnxGraph, AModelMayHaveOperatorsOfOtherDomainsOnly) {
  OnnxModel model(13);
  model.input("x", {2}).initializer("scale", HostTensor::f32({2}, std::vector<float>{5, 10}));
  model.node("com.microsoft.BiasAdd", {"x", "scale", "x"}, {"y"}).output("y");
  model.proto().mutable_opset_import(0)->set_domain("com.microsoft");
  model.proto().mutable_opset_import(0)->set_version(1);
  const auto outputs = evaluate(model.graph(), std::vector{HostTensor::f32({2}, std::vector<float>{1, 7})});
  EXPECT_EQ(outputs[0].to_floats(), (std::vector<float>{7, 24}));
  model.node("com.example.Frobnicate", {"y"}, {"z"});
  EXPECT_VELLUM_ERROR(model.graph(), ErrorCode::unsupported, "'com.example.Frobnicate'");
  model.node("Relu", {"y"}, {"u"});
  EXPECT_VELLUM_ERROR(model.graph(), ErrorCode::corrupt_model, "which version of the ONNX operators");
}

TEST(OnnxGraph, GraphAttributesAreRefused) {
  OnnxModel model = relu_model();
  auto& attribute = *model.proto().mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("body");
  attribute.set_type(onnx_schema::AttributeProto::GRAPH);
  attribute.mutable_g();
  EXPECT_VELLUM_ERROR(model.graph(), ErrorCode::unsupported, "Relu 'rectify'", "'body'");
}

TEST(OnnxGraph, UnknownAttributesAreRefused) {
  OnnxModel model;
  model.input("x", {2}).node("Relu", {"x"}, {"y"}, attributes({{"slope", 0.5f}}), "rectify").output("y");
  EXPECT_VELLUM_ERROR(model.graph(), ErrorCode::unsupported, "Relu 'rectify'", "'slope'");
}

TEST(OnnxGraph, DamagedAttributesAreRefused) {
  const auto with = [](auto&& change) {
    OnnxModel model = relu_model();
    change(*model.proto().mutable_graph()->mutable_node(0)->add_attribute());
    return model.graph();
  };
  EXPECT_VELLUM_ERROR(with([](auto& a) { a.set_name("alpha"); }), ErrorCode::corrupt_model, "'alpha'",
                      "no type");
  EXPECT_VELLUM_ERROR(with([](auto& a) { a.set_type(onnx_schema::AttributeProto::INT); }),
                      ErrorCode::corrupt_model, "no name");
  EXPECT_VELLUM_ERROR(with([](auto& a) {
                        a.set_name("alpha");
                        a.set_type(onnx_schema::AttributeProto::FLOAT);
                        a.set_ref_attr_name("outer");
                      }),
                      ErrorCode::corrupt_model, "'alpha'", "function");
  OnnxModel twice = relu_model();
  for (int i = 0; i < 2; ++i) {
    auto& attribute = *twice.proto().mutable_graph()->mutable_node(0)->add_attribute();
    attribute.set_name("alpha");
    attribute.set_type(onnx_schema::AttributeProto::FLOAT);
  }
  EXPECT_VELLUM_ERROR(twice.graph(), ErrorCode::corrupt_model, "'alpha'", "twice");
}

TEST(OnnxGraph, VersionsThatAreTooOldAreRefused) {
  OnnxModel old_opset(0);
  old_opset.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_VELLUM_ERROR(old_opset.graph(), ErrorCode::unsupported, "opset", "versions from 1 on");
  OnnxModel old_ir = relu_model();
  old_ir.proto().set_ir_version(2);
  EXPECT_VELLUM_ERROR(old_ir.graph(), ErrorCode::unsupported, "IR version 2");
  OnnxModel no_ir = relu_model();
  no_ir.proto().clear_ir_version();
  EXPECT_VELLUM_ERROR(no_ir.graph(), ErrorCode::corrupt_model, "IR version");
  OnnxModel no_opset = relu_model();
  no_opset.proto().clear_opset_import();
  EXPECT_VELLUM_ERROR(no_opset.graph(), ErrorCode::corrupt_model, "opset_import");
  OnnxModel two_opsets = relu_model();
  two_opsets.proto().add_opset_import()->set_version(11);
  EXPECT_VELLUM_ERROR(two_opsets.graph(), ErrorCode::corrupt_model, "two versions");
}

TEST(OnnxGraph, MissingValuesAreNamed) {
  OnnxModel missing_input;
  missing_input.input("x", {2}).node("Add", {"x", "ghost"}, {"y"}, {}, "sum").output("y");
  EXPECT_VELLUM_ERROR(missing_input.graph(), ErrorCode::corrupt_model, "Add 'sum'", "'ghost'");
  OnnxModel missing_output = relu_model();
  missing_output.output("ghost");
  EXPECT_VELLUM_ERROR(missing_output.graph(), ErrorCode::corrupt_model, "graph output 'ghost'");
  OnnxModel no_outputs;
  no_outputs.input("x", {2}).node("Relu", {"x"}, {"y"});
  EXPECT_VELLUM_ERROR(no_outputs.graph(), ErrorCode::corrupt_model, "no outputs");
}

TEST(OnnxGraph, CyclesAreNamed) {
  OnnxModel model;
  model.input("x", {2}).node("Add", {"x", "b"}, {"a"}, {}, "loop").node("Relu", {"a"}, {"b"}).output("b");
  EXPECT_VELLUM_ERROR(model.graph(), ErrorCode::corrupt_model, "Add 'loop'", "cycle");
}

TEST(OnnxGraph, NamesDefinedTwiceAreRefused) {
  OnnxModel outputs = relu_model();
  outputs.node("Relu", {"x"}, {"y"}, {}, "again");
  EXPECT_VELLUM_ERROR(outputs.graph(), ErrorCode::corrupt_model, "Relu 'again'", "'y'");
  OnnxModel initializers = relu_model();
  initializers.initializer("w", random_tensor({2}, 1)).initializer("w", random_tensor({2}, 2));
  EXPECT_VELLUM_ERROR(initializers.graph(), ErrorCode::corrupt_model, "initializer 'w'");
  OnnxModel inputs = relu_model();
  inputs.input("x", {2});
  EXPECT_VELLUM_ERROR(inputs.graph(), ErrorCode::corrupt_model, "input 'x'", "twice");
  OnnxModel graph_outputs = relu_model();
  graph_outputs.output("y");
  EXPECT_VELLUM_ERROR(graph_outputs.graph(), ErrorCode::corrupt_model, "output 'y'", "twice");
  OnnxModel shadowed = relu_model();
  shadowed.initializer("y", random_tensor({2}, 1));
  EXPECT_VELLUM_ERROR(shadowed.graph(), ErrorCode::corrupt_model, "Relu 'rectify'", "'y'");
}

TEST(OnnxGraph, InputsThatAreNoTensorsAreRefused) {
  OnnxModel sequence = relu_model();
  sequence.proto().mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type();
  EXPECT_VELLUM_ERROR(sequence.graph(), ErrorCode::unsupported, "input 'x'", "not a tensor");
  OnnxModel string = relu_model();
  string.proto().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(8);
  EXPECT_VELLUM_ERROR(string.graph(), ErrorCode::unsupported, "input 'x'", "string");
}

TEST(OnnxGraph, SparseInitializersAreRefused) {
  OnnxModel model = relu_model();
  model.proto().mutable_graph()->add_sparse_initializer();
  EXPECT_VELLUM_ERROR(model.graph(), ErrorCode::unsupported, "sparse");
}

TEST(OnnxGraph, NamesOfDamagedFilesStayOnOneLine) {
  OnnxModel model = relu_model();
  model.node("Bad\nType", {"y"}, {"z"}, {}, std::string(5000, 'n') + "\n");
  EXPECT_VELLUM_ERROR(model.graph(), ErrorCode::unsupported, "Bad?Type", "nnn...");
}

TEST(OnnxGraph, OneOfTensOfThousandsOfInputsIsRefused) {
  OnnxModel model;
  for (int i = 0; i < 20000; ++i) model.input("x" + std::to_string(i), {1});
  const std::string bytes = model.node("Relu", {"x0"}, {"y"}).output("y").bytes();
  EXPECT_VELLUM_ERROR(import_model(as_bytes(bytes)), ErrorCode::unsupported, "20000 inputs");
}

}  // namespace
}  // namespace vellum::test
