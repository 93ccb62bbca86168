#include "selfcheck/pixel_move_cases.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace vellum {
namespace {

using namespace selfcheck;
using Sizes = std::vector<int64_t>;

// Appends the move of tokens to a picture of 4 x 5 pixels, or back.
SmallOperator with_move(SmallOperator made, Sizes shape, Sizes strides) {
  Graph& graph = made.graph;
  const Node& node = graph.nodes.back();
  const ValueId result = node.outputs[0];
  const DType dtype = node.op->infer(operator_inputs(graph, node)).front().dtype;
  const ValueId y = graph.add_value("moved", {dtype, shape}, true);
  Attributes attributes;
  attributes.set("offset", int64_t{0});
  attributes.set("shape", std::move(shape));
  attributes.set("strides", std::move(strides));
  append_node(graph, "AsStrided", {result}, attributes, y);
  graph.outputs = {y};
  made.name += " and AsStrided";
  return made;
}

}  // namespace

void add_pixel_moves(std::vector<SmallOperator>& list) {
  list.push_back(
      with_move(small_operator("Gemm", "Gemm", {computed({20, 40}), weights({40, 24}), weights({24}, 3)}),
                {1, 24, 4, 5}, {480, 1, 120, 24}));
  list.push_back(
      with_move(small_operator("1x1 Conv", "Conv", {computed({1, 40, 4, 5}), weights({24, 40, 1, 1})}),
                {20, 24}, {1, 20}));
}

}  // namespace vellum
