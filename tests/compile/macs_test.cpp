// Dispatches carry the multiply-accumulates of their nodes.
#include <gtest/gtest.h>

#include <map>

#include "compile/compile.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Ints = std::vector<int64_t>;

std::map<std::string, uint64_t> macs_of_nodes(const Graph& graph) {
  std::map<std::string, uint64_t> macs;
  for (const Node& node : graph.nodes)
    if (const uint64_t count = node.op->macs(operator_inputs(graph, node))) macs[node.name] = count;
  return macs;
}

std::map<std::string, uint64_t> macs_of_dispatches(const Program& program) {
  std::map<std::string, uint64_t> macs;
  for (const Task& task : program.tasks)
    if (task.dispatch && task.dispatch->macs > 0) macs[task.dispatch->name] += task.dispatch->macs;
  return macs;
}

TEST(DispatchMacs, AreThoseOfTheNodes) {
  OnnxModel model;
  model.input("x", {2, 6, 9, 7})
      .initializer("w3", random_tensor({8, 6, 3, 3}, 1))
      .node("Conv", {"x", "w3"}, {"a"}, attributes({{"pads", Ints{1, 1, 1, 1}}}), "window")
      .initializer("w1", random_tensor({12, 8, 1, 1}, 2))
      .node("Conv", {"a", "w1"}, {"b"}, {}, "pointwise")
      .initializer("wd", random_tensor({12, 1, 3, 3}, 3))
      .node("Conv", {"b", "wd"}, {"c"}, attributes({{"group", int64_t{12}}}), "depthwise")
      .initializer("wg", random_tensor({12, 3, 3, 3}, 4))
      .node("Conv", {"c", "wg"}, {"d"}, attributes({{"group", int64_t{4}}}), "groups")
      .initializer("wt", random_tensor({12, 4, 2, 2}, 5))
      .node("ConvTranspose", {"d", "wt"}, {"e"}, attributes({{"strides", Ints{2, 2}}}), "transposed")
      .node("Transpose", {"e"}, {"f"}, attributes({{"perm", Ints{0, 1, 3, 2}}}), "turn")
      .node("MatMul", {"e", "f"}, {"g"}, {}, "product")
      .initializer("wm", random_tensor({10, 5}, 6))
      .node("MatMul", {"g", "wm"}, {"y"}, {}, "weights")
      .output("y");
  // Kernels for several layers compute some pixels twice.
  const CompiledModel compiled =
      compile(model.graph(), DeviceCaps{}, {.fuse_layers = false}, Stage::program);
  const auto nodes = macs_of_nodes(compiled.graph);
  EXPECT_EQ(nodes.size(), 7u);
  EXPECT_EQ(macs_of_dispatches(compiled.program), nodes);
}

TEST(DispatchMacs, AreFewerWithWinograd) {
  OnnxModel model;
  model.input("x", {1, 64, 32, 32})
      .initializer("w", random_tensor({64, 64, 3, 3}, 1))
      .node("Conv", {"x", "w"}, {"y"}, attributes({{"pads", Ints{1, 1, 1, 1}}}), "window")
      .output("y");
  const auto macs = [&](Winograd winograd) {
    const CompiledModel compiled =
        compile(model.graph(), DeviceCaps{}, {.winograd = winograd}, Stage::program);
    return macs_of_dispatches(compiled.program).at("window");
  };
  // Tiles of 4x4 results from 6x6 values: 36 products of 64 x 64 channels for each of 8x8 tiles.
  EXPECT_EQ(macs(Winograd::off), uint64_t{64} * 64 * 9 * 32 * 32);
  EXPECT_LT(macs(Winograd::f4), macs(Winograd::off) / 2);
}

}  // namespace
}  // namespace vellum::test
