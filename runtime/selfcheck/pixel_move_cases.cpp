#include "selfcheck/pixel_move_cases.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace vellum {
namespace {

using namespace selfcheck;
using Sizes = std::vector<int64_t>;

// Tokens that become a picture of 4 x 5 pixels.
SmallOperator product_and_move() {
  SmallOperator made =
      small_operator("Gemm and AsStrided", "Gemm", {computed({20, 40}), weights({40, 24}), weights({24}, 3)});
  Graph& graph = made.graph;
  Attributes attributes;
  attributes.set("offset", int64_t{0});
  attributes.set("shape", Sizes{1, 24, 4, 5});
  attributes.set("strides", Sizes{480, 1, 120, 24});
  const ValueId y = graph.add_value("moved", {DType::f32, {1, 24, 4, 5}}, true);
  append_node(graph, "AsStrided", {graph.nodes.back().outputs[0]}, attributes, y);
  graph.outputs = {y};
  return made;
}

// Pixels of such a picture that become tokens.
SmallOperator move_and_product() {
  SmallOperator made =
      small_operator("AsStrided and Gemm", "AsStrided", {computed({1, 40, 4, 5})},
                     {{"offset", int64_t{0}}, {"shape", Sizes{20, 40}}, {"strides", Sizes{1, 20}}});
  Graph& graph = made.graph;
  const ValueId rows = graph.nodes.back().outputs[0];
  const ValueId matrix = graph.add_constant("matrix", weights({40, 24}).tensor);
  const ValueId y = graph.add_value("product", {DType::f32, {20, 24}}, true);
  append_node(graph, "Gemm", {rows, matrix}, {}, y);
  graph.outputs = {y};
  return made;
}

}  // namespace

void add_pixel_moves(std::vector<SmallOperator>& list) {
  list.push_back(product_and_move());
  list.push_back(move_and_product());
}

}  // namespace vellum
