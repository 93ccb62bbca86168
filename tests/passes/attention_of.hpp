// The attention of a graph that passes changed.
#pragma once

#include <stdexcept>

#include "graph/operators/matmul/attention.hpp"
#include "passes/pass_harness.hpp"

namespace vellum::test {

inline const Attention& attention_of(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (const auto* op = dynamic_cast<const Attention*>(node.op.get())) return *op;
  throw std::runtime_error("no Attention: " + types(graph));
}

}  // namespace vellum::test
