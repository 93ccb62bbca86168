#include "graph/layers.hpp"

#include <algorithm>

#include "graph/operators/control/subgraphs.hpp"

namespace vellum {
namespace {

// NOLINTNEXTLINE(misc-no-recursion): LoadLimits::nesting
bool has_layer(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) { return is_layer(graph, node); });
}

}  // namespace

// NOLINTNEXTLINE(misc-no-recursion)
bool is_layer(const Graph& graph, const Node& node) {
  constexpr int64_t kFewWeights = 4096;
  if (const auto* op = dynamic_cast<const GraphOperator*>(node.op.get()))
    return std::ranges::any_of(op->graphs(), [](const Graph* inner) { return has_layer(*inner); });
  const std::string_view type = node.op->type();
  if (type == "Conv" || type == "ConvTranspose" || type == "ConvInteger" || type == "QLinearConv" ||
      type == "Attention")
    return true;
  if (type != "Gemm" && type != "MatMul" && type != "MatMulInteger" && type != "QLinearMatMul") return false;
  return std::ranges::any_of(node.inputs, [&](ValueId id) {
    const HostTensor* weights = graph.constant(id);
    return weights && weights->elements() > kFewWeights;
  });
}

}  // namespace vellum
