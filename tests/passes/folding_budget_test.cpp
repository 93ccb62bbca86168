// Limits on a model's constants while it is loaded: small files that ask for minutes and gigabytes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/operator_support.hpp"
#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/small_tensors.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

// Adds a constant of any size: ConstantOfShape.
OnnxModel& add_filled(OnnxModel& model, const std::string& name, const std::vector<int64_t>& shape) {
  return model.initializer(name + "_shape", ints(shape)).node("ConstantOfShape", {name + "_shape"}, {name});
}

Graph folded(Graph graph) {
  infer_shapes_and_fold(graph, {});
  return graph;
}

void expect_refused(OnnxModel& model) {
  const Graph graph = model.output("y").graph();
  EXPECT_VELLUM_ERROR(folded(graph), ErrorCode::unsupported, "constant result", "folded_work");
}

TEST(FoldedWork, ProductsOfConstantsHaveALimit) {
  OnnxModel matmul, einsum, conv, chain;
  expect_refused(add_filled(matmul, "a", {4096, 4096}).node("MatMul", {"a", "a"}, {"y"}));
  expect_refused(add_filled(einsum, "a", {4096, 4096})
                     .node("Einsum", {"a", "a"}, {"y"}, attributes({{"equation", "ij,kl->"}})));
  add_filled(conv, "x", {1, 1, 512, 512});
  expect_refused(add_filled(conv, "w", {1, 1, 512, 512})
                     .node("Conv", {"x", "w"}, {"y"}, attributes({{"pads", Ints{255, 255, 256, 256}}})));
  add_filled(chain, "a", {512, 512});
  std::string last = "a";
  for (int i = 0; i < 64; ++i) {
    const std::string next = "m" + std::to_string(i);
    chain.node("MatMul", {last, "a"}, {next});
    last = next;
  }
  expect_refused(chain.node("Identity", {last}, {"y"}));
}

TEST(FoldedWork, WindowsHaveALimit) {
  OnnxModel pool, lrn, rois;
  expect_refused(
      add_filled(pool, "x", {1, 1, 1024, 1024})
          .node("LpPool", {"x"}, {"y"},
                attributes({{"kernel_shape", Ints{512, 512}}, {"pads", Ints{256, 256, 255, 255}}})));
  expect_refused(
      add_filled(lrn, "x", {1, 4096, 64}).node("LRN", {"x"}, {"y"}, attributes({{"size", int64_t{8192}}})));
  add_filled(rois, "x", {1, 16, 8, 8});
  add_filled(rois, "regions", {256, 4});
  expect_refused(rois.initializer("batches", ints(std::vector<int64_t>(256, 0)))
                     .node("RoiAlign", {"x", "regions", "batches"}, {"y"},
                           attributes({{"output_height", int64_t{64}},
                                       {"output_width", int64_t{64}},
                                       {"sampling_ratio", int64_t{64}}})));
}

TEST(FoldedWork, ShapeRulesThatComputeTheResultHaveALimit) {
  OnnxModel model;
  add_filled(model, "boxes", {1, 8192, 4});
  add_filled(model, "scores", {1, 64, 8192});
  expect_refused(model.initializer("most", ints({8192}))
                     .initializer("iou", HostTensor::f32({1}, std::vector<float>{2}))
                     .initializer("least", HostTensor::f32({1}, std::vector<float>{-1}))
                     .node("NonMaxSuppression", {"boxes", "scores", "most", "iou", "least"}, {"y"}));
}

TEST(FoldedWork, TheLimitIsAnOptionAndGrowsWithTheFilesConstants) {
  OnnxModel small, large;
  add_filled(small, "a", {64, 64}).node("MatMul", {"a", "a"}, {"y"}).output("y");
  Graph graph = small.graph();
  graph.limits.folded_work = 20000;
  EXPECT_VELLUM_ERROR(folded(graph), ErrorCode::unsupported, "MatMul 'y'", "20000");
  large.initializer("a", HostTensor(DType::f32, {64, 64})).node("MatMul", {"a", "a"}, {"y"}).output("y");
  Graph with_weights = large.graph();
  with_weights.limits.folded_work = 1000;
  EXPECT_EQ(folded(with_weights).nodes.size(), 0u);
}

TEST(FoldedWork, OfANodeCountsOnce) {
  OnnxModel model;
  model.initializer("a", HostTensor(DType::f32, {64, 64})).node("MatMul", {"a", "a"}, {"y"}).output("y");
  const Graph graph = model.graph();
  const Node& node = graph.nodes.front();
  const std::vector<TensorType> outputs{{DType::f32, {64, 64}}};
  EXPECT_EQ(folded(graph).folding.work, node.op->work(operator_inputs(graph, node), outputs));
}

TEST(FoldedWork, KernelsBeyondTheInputCostNothing) {
  OnnxModel model;
  const int64_t kernel = 1'000'000;
  model.initializer("x", random_tensor({1, 1, 4, 4}, 1))
      .node("MaxPool", {"x"}, {"y"},
            attributes({{"kernel_shape", Ints{kernel, kernel}},
                        {"pads", Ints(4, kernel - 1)},
                        {"strides", Ints{kernel, kernel}}}))
      .output("y");
  EXPECT_EQ(folded(model.graph()).nodes.size(), 0u);
}

TEST(FoldedBytes, HaveALimitOverTheWholeGraph) {
  OnnxModel model;
  constexpr int kNodes = 64;
  std::vector<std::string> names;
  for (int i = 0; i < kNodes; ++i) {
    names.push_back("v" + std::to_string(i));
    add_filled(model, names.back(), {1 << 20});
  }
  Graph graph = model.node("Concat", names, {"y"}, attributes({{"axis", int64_t{0}}})).output("y").graph();
  graph.limits.folded_bytes = uint64_t{16} << 20;  // four of them
  graph = folded(graph);
  uint64_t bytes = 0;
  for (const Value& value : graph.values)
    if (value.constant) bytes += value.constant->byte_size();
  EXPECT_LE(bytes, uint64_t{17} << 20);
  EXPECT_GT(graph.nodes.size(), 1u) << "the rest is left to the device";
}

TEST(FoldedBytes, ConstantsThatNobodyReadsAnyMoreAreFreed) {
  OnnxModel model;
  add_filled(model, "v0", {1 << 20});
  for (int i = 0; i < 16; ++i) model.node("Neg", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  Graph graph = model.node("ReduceMax", {"v16"}, {"y"}).output("y").graph();
  graph.limits.folded_bytes = uint64_t{9} << 20;  // two of them and what is small
  EXPECT_EQ(folded(graph).nodes.size(), 0u);
}

TEST(FoldedBytes, DeadNodesCostNothing) {
  OnnxModel model;
  model.input("x", {1}).node("Relu", {"x"}, {"y"}).output("y");
  add_filled(model, "dead", {1 << 20}).node("MatMul", {"dead", "dead"}, {"more"});
  Graph graph = model.graph();
  graph.limits.folded_bytes = graph.limits.folded_work = 0;
  graph = folded(graph);
  EXPECT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.folding.work, 0u);
}

TEST(FoldedBytes, AnInputThatIsReadTwiceCountsOnce) {
  // 16 MiB, of which Concat makes 192 MiB: more than eight times.
  OnnxModel model;
  model.initializer("c", HostTensor(DType::f32, {1 << 22}));
  model.node("Concat", std::vector<std::string>(12, "c"), {"y"}, attributes({{"axis", int64_t{0}}}))
      .output("y");
  EXPECT_EQ(folded(model.graph()).nodes.size(), 1u);
}

TEST(FoldedBytes, TheShapeOfATensorTakesNone) {
  OnnxModel model;
  model
      .input("x", {1 << 20, 1 << 20})  // 4 TiB
      .node("Shape", {"x"}, {"s"})
      .node("Size", {"x"}, {"n"})
      .output("s")
      .output("n");
  const Graph graph = folded(model.graph());
  EXPECT_EQ(graph.nodes.size(), 0u);
  EXPECT_EQ(graph.constant(graph.outputs[0])->to_ints(), (Ints{1 << 20, 1 << 20}));
  EXPECT_EQ(graph.constant(graph.outputs[1])->to_ints(), (Ints{int64_t{1} << 40}));
}

TEST(FoldedBytes, PaddingATensorWithoutElementsMakesNoTables) {
  OnnxModel model;
  model.initializer("x", HostTensor(DType::f32, {0, 1}))
      .initializer("pads", ints({0, 0, 0, int64_t{1} << 40}))
      .node("Pad", {"x", "pads"}, {"p"})
      .node("Shape", {"p"}, {"y"})
      .output("y");
  const Graph graph = folded(model.graph());
  EXPECT_EQ(graph.constant(graph.outputs[0])->to_ints(), (Ints{0, (int64_t{1} << 40) + 1}));
}

TEST(LoadLimits, NodesAndElementsAndNesting) {
  OnnxModel model;
  model.input("x", {4}).node("Relu", {"x"}, {"a"}).node("Neg", {"a"}, {"y"}).output("y");
  const std::string bytes = model.bytes();
  LoadLimits limits;
  limits.nodes = 1;
  EXPECT_VELLUM_ERROR(import_model(as_bytes(bytes), limits), ErrorCode::unsupported, "2 nodes", "1");
  limits.nodes = 2;
  limits.elements = 3;
  Graph graph = import_model(as_bytes(bytes), limits);
  EXPECT_VELLUM_ERROR(folded(graph), ErrorCode::unsupported, "Relu 'a'", "more than 3 elements");
  limits.elements = 4;
  EXPECT_EQ(folded(import_model(as_bytes(bytes), limits)).nodes.size(), 2u);

  OnnxModel constant;
  constant.initializer("c", HostTensor(DType::f32, {5})).node("Relu", {"c"}, {"y"}).output("y");
  const std::string constant_bytes = constant.bytes();
  EXPECT_VELLUM_ERROR(import_model(as_bytes(constant_bytes), limits), ErrorCode::unsupported, "'c'",
                      "more than 4 elements");
}

TEST(LoadLimits, TensorsHaveAtMost64Dimensions) {
  OnnxModel model;
  model.initializer("shape", ints(std::vector<int64_t>(65, 1)))
      .node("ConstantOfShape", {"shape"}, {"y"})
      .output("y");
  EXPECT_VELLUM_ERROR(folded(model.graph()), ErrorCode::unsupported, "65 dimensions");
}

}  // namespace
}  // namespace vellum::test
